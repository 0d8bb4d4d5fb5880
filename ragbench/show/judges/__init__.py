"""Whether to believe a judge."""
