"""What was found, how fast, and how the texts lie in their space."""
