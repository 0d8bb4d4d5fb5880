"""A question that somebody types now, to all systems at once."""
