"""First questions to a knowledge base that has none."""

OFFERS = {
    "commands": {
        "draft": "ragbench.extras.testsets.command:draft",
        "drafts": "ragbench.extras.testsets.command:drafts",
        "form": "ragbench.extras.testsets.command:form",
        "pool": "ragbench.extras.testsets.pool_command:pool",
    },
    "examined": {"drafts": "ragbench.extras.testsets.examined"},
}
