"""`python -m ragbench`: the command line, of the old house still."""

import os
import sys

if sys.path[:1] in ([os.getcwd()], [""]):  # noqa: PTH109 - pathlib would come from there: `python -m` looks there first
    del sys.path[0]

from ragbench.old.cli.console.interruption import program

if __name__ == "__main__":
    program()
