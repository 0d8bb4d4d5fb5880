"""The files that a run leaves, and how they are read again."""
