"""The tiers: a module each, with what is asked (Request), measured and stated."""
