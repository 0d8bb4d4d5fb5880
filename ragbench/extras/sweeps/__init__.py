"""Sweeps: a table of settings measured on the same questions, its best corrected for the choice."""
