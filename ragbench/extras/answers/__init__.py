"""Pages of nuggets, citations and agents: what the judge said, item by item, counted."""
