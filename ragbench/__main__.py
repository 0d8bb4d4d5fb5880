"""The command line: thin functions over the rooms of the house."""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Annotated

import typer

from ragbench.commands import (
    compare,
    database,
    doctor,
    gate,
    history,
    journal,
    lab,
    load,
    metrics,
    publish,
    render,
    run,
    runs,
    score,
    statistics,
    trec,
)

HELP = """Measure Retrieval-Augmented Generation systems, and say with evidence which one is better.

Begin with `ragbench run`: it measures the systems of ragbench.toml on its data set and writes a report.
`ragbench lab` opens the notebooks behind the report; `ragbench doctor` says what this machine can do.
"""

FILE_FAULTS = {
    *(errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.ENAMETOOLONG),
    *(errno.ENOENT, errno.EISDIR, errno.ENOTDIR, errno.EEXIST),
}
"""What the operating system refuses for reasons that people can mend."""

application = typer.Typer(
    name="ragbench",
    help=HELP,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
application.command("run")(run.run)
application.command("compare")(compare.compare)
application.command("gate")(gate.gate)
application.command("history")(history.history)
application.command("publish")(publish.publish)
application.command("render")(render.render)
application.command("trec")(trec.trec)
application.command("score")(score.score)
application.command("significance")(statistics.significance)
application.command("agree")(statistics.agree)
application.command("metrics")(metrics.metrics)
application.command("doctor")(doctor.doctor)
application.command("lab")(lab.lab)
application.add_typer(runs.application, name="runs")
application.add_typer(load.application, name="load")
application.add_typer(journal.application, name="journal")
application.add_typer(database.application, name="db")


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        typer.echo(f"ragbench {version('ragbench')}")
        raise typer.Exit


@application.callback()
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Options before the command."""
    if os.environ.get("NO_COLOR"):
        context.color = False


def main() -> None:
    """Run the command line. An error meant for people is printed as such, with exit code 2; others keep their trace."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a sign of ours shows its number
            stream.reconfigure(errors="backslashreplace")
    try:
        application()
    except Exception as error:
        if not _is_for_people(error):
            raise
        plain = False if os.environ.get("NO_COLOR") else None
        typer.secho(f"ragbench: {_words(error)}", err=True, fg=typer.colors.RED, color=plain)
        sys.exit(2)


def _words(error: Exception) -> str:
    """The message; of a refusal by the operating system its file and its reason, without numbers and calls."""
    if isinstance(error, OSError) and error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {error.strerror}"
    return str(error)


def _is_for_people(error: Exception) -> bool:
    """Whether the message helps: an error class of the house, a refusal by its code, or a file that cannot be used."""
    if type(error).__module__.startswith("ragbench."):
        return True
    if isinstance(error, OSError) and error.filename is not None and error.errno in FILE_FAULTS:
        return True
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    raised_in = trace.tb_frame.f_globals.get("__name__", "") if trace is not None else ""
    return isinstance(error, ValueError | FileNotFoundError) and raised_in.startswith("ragbench.")


if __name__ == "__main__":
    main()
