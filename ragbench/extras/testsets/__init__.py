"""First questions to a knowledge base that has none."""

OFFERS = {
    "commands": {
        "draft": "ragbench.extras.testsets.command:draft",
        "drafts": "ragbench.extras.testsets.review_command:drafts",
        "form": "ragbench.extras.testsets.form_command:form",
        "pool": "ragbench.extras.testsets.pool_command:pool",
        "review": "ragbench.extras.testsets.review_command:review",
    },
    "front": {"review": "ragbench.extras.testsets.review:review"},
    "examined": {"drafts": "ragbench.extras.testsets.examined"},
}
