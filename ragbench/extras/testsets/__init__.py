"""First questions to a knowledge base that has none."""

OFFERS = {
    "commands": {"draft": "ragbench.extras.testsets.command:draft"},
    "examined": {"drafts": "ragbench.extras.testsets.examined"},
}
