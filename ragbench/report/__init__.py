"""Pages and reports: parts, a page of them, notebooks executed and turned into pages, the index."""
