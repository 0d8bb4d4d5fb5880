"""Pages and numbers for papers, sites and trackers."""

OFFERS = {"commands": {"publish": "ragbench.commands.publish:publish", "render": "ragbench.commands.publish:render"}}
