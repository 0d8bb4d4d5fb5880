"""What is found, and where it lies: embeddings, rankings, real questions, sources."""
