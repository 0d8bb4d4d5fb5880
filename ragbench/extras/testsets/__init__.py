"""First questions to a knowledge base that has none."""

OFFERS = {"commands": {"draft": "ragbench.commands.draft:draft"}}
