"""Labels by people, in the notebook and in a page."""

OFFERS = {"front": {"label": "ragbench.labelling:label", "settle": "ragbench.labelling:settle"}}
