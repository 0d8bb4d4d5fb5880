"""What other tools call: assertions of a test runner, and metrics in the shapes that they ask of their evaluators."""

OFFERS = {
    "front": {"testing": "ragbench.old.extras.testing.assertions", "evaluators": "ragbench.old.extras.testing.adapters"}
}
