"""Nouns and small tools of the house: what flows through it, how a metric is declared, settings, names, languages."""
