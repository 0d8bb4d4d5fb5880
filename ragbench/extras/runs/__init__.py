"""Runs beside each other: what changed, and whether it is better."""
