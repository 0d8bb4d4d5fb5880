"""Questions asked now, of all systems at once."""

OFFERS = {"front": {"ask": "ragbench.extras.live.inquiry:ask"}, "commands": {"ask": "ragbench.extras.live.command:ask"}}
