"""First questions to a knowledge base that has none."""

OFFERS = {
    "commands": {
        "draft": "ragbench.extras.testsets.command:draft",
        "drafts": "ragbench.extras.testsets.drafts_command:drafts",
        "form": "ragbench.extras.testsets.form_command:form",
        "pool": "ragbench.extras.testsets.pool_command:pool",
    },
    "examined": {"drafts": "ragbench.extras.testsets.examined"},
}
