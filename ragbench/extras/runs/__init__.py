"""Runs that are kept: listed, compared, followed over time, given to others."""

OFFERS = {
    "commands": {
        "compare": "ragbench.extras.runs.compare_command:compare",
        "history": "ragbench.extras.runs.history_command:history",
        "journal": "ragbench.extras.runs.journal_command:application",
        "runs": "ragbench.extras.runs.runs_command:application",
    },
    "load": {"history": "ragbench.extras.runs.load_command", "result": "ragbench.extras.runs.load_command"},
    "published": {"sheet": "ragbench.extras.runs.sheet"},
    "front": {"compare": "ragbench.extras.runs.front:compare"},
}
