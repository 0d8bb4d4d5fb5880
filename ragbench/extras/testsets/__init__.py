"""First questions to a knowledge base that has none."""

OFFERS = {
    "commands": {
        "draft": "ragbench.extras.testsets.command:draft",
        "form": "ragbench.extras.testsets.form_command:form",
    },
    "examined": {"drafts": "ragbench.extras.testsets.examined"},
}
