"""Answers judged: samples, metrics and judges in, scores with reasons out."""
