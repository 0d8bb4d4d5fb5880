"""What is answered, from ideal context or end to end, and which part is to blame."""
