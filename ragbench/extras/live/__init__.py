"""Questions asked now, of all systems at once."""

OFFERS = {
    "front": {"ask": "ragbench.extras.live.typed_questions:ask", "slide": "ragbench.extras.live.slide:slide"},
    "commands": {"ask": "ragbench.extras.live.command:ask"},
}
