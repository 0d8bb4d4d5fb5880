"""Every question, answer, turn or passage behind the numbers."""
