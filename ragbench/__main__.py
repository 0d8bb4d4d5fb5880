"""`python -m ragbench`: the command line."""

import sys

if not sys.flags.safe_path:
    del sys.path[0]  # the folder we are in: none of its files stands in for an installed package

from ragbench.cli.main import program

if __name__ == "__main__":
    program()
