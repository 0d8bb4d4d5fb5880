"""Judges tried, what they answer, repeat, agree with and are swayed by; and the decisions that they make."""
