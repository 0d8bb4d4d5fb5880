"""Who decides which answers are shown, and how well."""
