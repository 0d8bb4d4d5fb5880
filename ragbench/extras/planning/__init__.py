"""How many questions the next study needs."""

OFFERS = {"commands": {"plan-study": "ragbench.commands.plan_study:plan_study"}}
