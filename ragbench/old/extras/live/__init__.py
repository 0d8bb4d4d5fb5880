"""Questions asked now, of all systems at once."""

OFFERS = {
    "front": {"ask": "ragbench.old.extras.live.typed_questions:ask", "slide": "ragbench.old.extras.live.slide:slide"},
    "commands": {"ask": "ragbench.old.extras.live.command:ask"},
}
