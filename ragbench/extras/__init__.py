"""Annexes: each folder can be taken off, and nothing else changes. `ragbench.core.annexes` finds them."""
