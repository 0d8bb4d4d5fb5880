"""Statistics for tables of anybody: significance, agreement, TREC files."""

OFFERS = {
    "commands": {
        "agree": "ragbench.commands.statistics:agree",
        "significance": "ragbench.commands.statistics:significance",
        "trec": "ragbench.commands.trec:trec",
    }
}
