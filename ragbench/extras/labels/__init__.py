"""People's labels: forms out and in, and a judge's mean that they correct."""
