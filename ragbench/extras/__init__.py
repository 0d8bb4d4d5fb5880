"""Annexes: each comes off by deleting its folder, and none imports another."""
