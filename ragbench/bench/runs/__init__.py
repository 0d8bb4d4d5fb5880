"""Runs kept, compared, held to their gates, and followed over time."""
