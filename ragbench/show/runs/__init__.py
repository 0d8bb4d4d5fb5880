"""Several runs side by side and over time."""
