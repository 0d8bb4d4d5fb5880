"""Metrics in the shapes in which other tools ask for their evaluators."""

OFFERS = {"front": {"evaluators": "ragbench.extras.evaluators.adapters"}}
