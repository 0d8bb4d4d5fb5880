"""Runs that are kept: listed, compared, followed over time, given to others."""

OFFERS = {
    "commands": {
        "compare": "ragbench.old.extras.runs.command:compare",
        "history": "ragbench.old.extras.runs.command:history",
        "journal": "ragbench.old.extras.runs.journal_command:application",
        "runs": "ragbench.old.extras.runs.command:application",
    },
    "load": {"history": "ragbench.old.extras.runs.load_command", "result": "ragbench.old.extras.runs.load_command"},
    "published": {"sheet": "ragbench.old.extras.runs.made_pages"},
    "front": {"compare": "ragbench.old.extras.runs.compared:compare"},
}
