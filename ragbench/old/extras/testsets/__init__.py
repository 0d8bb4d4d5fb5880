"""First questions to a knowledge base that has none."""

OFFERS = {
    "commands": {
        "draft": "ragbench.old.extras.testsets.command:draft",
        "drafts": "ragbench.old.extras.testsets.command:drafts",
        "form": "ragbench.old.extras.testsets.command:form",
        "pool": "ragbench.old.extras.testsets.pool_command:pool",
    },
    "examined": {"drafts": "ragbench.old.extras.testsets.examined"},
}
