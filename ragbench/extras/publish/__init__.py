"""What leaves a run: gates with exit codes, a static site, tables for papers and pipelines."""
