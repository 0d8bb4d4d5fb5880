"""Questions asked now, of all systems at once."""

OFFERS = {"front": {"ask": "ragbench.bench.live.inquiry:ask"}, "commands": {"ask": "ragbench.commands.ask:ask"}}
