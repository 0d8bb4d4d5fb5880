"""Notebooks with parameters, executed in kernels that end with the run."""
