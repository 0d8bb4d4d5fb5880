"""The part that failed first."""
