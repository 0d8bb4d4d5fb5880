"""How many questions the next study needs."""

OFFERS = {"commands": {"plan-study": "ragbench.old.extras.planning.command:plan_study"}}
