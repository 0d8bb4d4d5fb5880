"""Judges tried: what they answer, repeat, agree with, and are swayed by."""
