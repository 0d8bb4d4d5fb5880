"""Annexes: each folder can be taken off, and nothing else changes. `ragbench.old.core.annexes` finds them."""
