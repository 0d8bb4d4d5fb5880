"""Pages and numbers for papers, sites and trackers."""

OFFERS = {
    "commands": {
        "publish": "ragbench.old.extras.publishing.command:publish",
        "render": "ragbench.old.extras.publishing.command:render",
    },
}
