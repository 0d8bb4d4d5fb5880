"""Statistics for tables of anybody: significance, agreement, TREC files."""

OFFERS = {
    "commands": {
        "agree": "ragbench.extras.significance.command:agree",
        "significance": "ragbench.extras.significance.command:significance",
        "trec": "ragbench.extras.significance.command:trec",
    }
}
