"""Sweeps: a grid of configurations measured on the same questions, and what may be said of the best one."""

OFFERS: dict[str, dict[str, str]] = {}
