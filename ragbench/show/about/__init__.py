"""A page about itself: its method, its origin, its summary, and what its metrics mean."""
