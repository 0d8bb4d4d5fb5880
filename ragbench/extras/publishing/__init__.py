"""Pages and numbers for papers, sites and trackers."""

OFFERS = {
    "commands": {
        "publish": "ragbench.extras.publishing.command:publish",
        "render": "ragbench.extras.publishing.command:render",
    },
}
