"""Pages and numbers for papers, sites and trackers."""

OFFERS = {
    "commands": {
        "publish": "ragbench.extras.publishing.command:publish",
        "render": "ragbench.extras.publishing.command:render",
    },
    "page": {
        "save": "ragbench.extras.publishing.pages:save",
        "latex": "ragbench.extras.publishing.papers:latex",
        "markdown": "ragbench.extras.publishing.papers:markdown",
        "typst": "ragbench.extras.publishing.papers:typst",
    },
    "scores": {"page": "ragbench.extras.publishing.pages:page_of", "said": "ragbench.views.sentences.scored:said"},
}
