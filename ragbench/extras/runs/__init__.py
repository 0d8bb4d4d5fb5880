"""Runs that are kept: listed, compared, followed over time, given to others."""

OFFERS = {
    "commands": {
        "compare": "ragbench.commands.compare:compare",
        "history": "ragbench.commands.history:history",
        "journal": "ragbench.commands.journal:application",
        "runs": "ragbench.commands.stored_runs:application",
    },
    "load": {"history": "ragbench.commands.load_runs", "result": "ragbench.commands.load_runs"},
    "published": {"sheet": "ragbench.extras.runs.sheet"},
    "front": {"compare": "ragbench.extras.runs.front:compare"},
}
