"""Statistics for tables of anybody: significance, agreement, TREC files."""

OFFERS = {
    "commands": {
        "agree": "ragbench.old.extras.significance.command:agree",
        "significance": "ragbench.old.extras.significance.command:significance",
        "trec": "ragbench.old.extras.significance.command:trec",
    }
}
