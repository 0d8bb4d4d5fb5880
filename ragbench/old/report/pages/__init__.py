"""HTML out of executed notebooks and what they measured."""
