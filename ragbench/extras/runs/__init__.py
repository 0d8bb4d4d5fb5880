"""Runs that are kept: listed, compared, followed over time, given to others."""

OFFERS = {
    "commands": {
        "compare": "ragbench.extras.runs.command:compare",
        "history": "ragbench.extras.runs.command:history",
        "journal": "ragbench.extras.runs.journal_command:application",
        "runs": "ragbench.extras.runs.command:application",
    },
    "load": {"history": "ragbench.extras.runs.load_command", "result": "ragbench.extras.runs.load_command"},
    "published": {"sheet": "ragbench.extras.runs.made_pages"},
    "front": {"compare": "ragbench.extras.runs.compared:compare"},
}
