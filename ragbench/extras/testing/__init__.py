"""What a gate says, as assertions of a test runner."""

OFFERS = {"front": {"testing": "ragbench.extras.testing.assertions"}}
