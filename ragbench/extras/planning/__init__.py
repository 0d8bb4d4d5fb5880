"""How many questions the next study needs."""

OFFERS = {"commands": {"plan-study": "ragbench.extras.planning.command:plan_study"}}
