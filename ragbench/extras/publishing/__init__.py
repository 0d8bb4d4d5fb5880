"""Pages and numbers for papers, sites and trackers."""

OFFERS = {
    "commands": {
        "publish": "ragbench.extras.publishing.command:publish",
        "render": "ragbench.extras.publishing.command:render",
    },
    "page": {
        "save": "ragbench.extras.publishing.publish:save",
        "latex": "ragbench.report.papers:latex",
        "markdown": "ragbench.report.papers:markdown",
        "typst": "ragbench.report.papers:typst",
    },
    "scores": {
        "page": "ragbench.extras.publishing.publish:page_of",
        "said": "ragbench.views.sentences.conclusions:said",
    },
}
