"""People's labels: forms out and in, marking in Jupyter, and a judge's mean that they correct."""
