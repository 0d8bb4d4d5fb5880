"""The command line: thin functions over the rooms of the house."""

from __future__ import annotations

if __name__ == "__main__":
    import os
    import sys

    if sys.path[:1] in ([os.getcwd()], [""]):  # noqa: PTH109 - pathlib would come from there: `python -m` looks there first
        del sys.path[0]
    from ragbench.old.cli.console.interruption import program

    program()

import contextlib
import copy
import io
import os
import shlex
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from ragbench.old.cli import db, doctor, init, load, metrics, run, score
from ragbench.old.cli.console import consent
from ragbench.old.core import annexes, folders, names, terminal
from ragbench.old.core.endings import Ending

HELP = """Measure Retrieval-Augmented Generation systems, and say with evidence which one is better.

Begin with `ragbench init`: it writes a ragbench.toml for what you have. `ragbench run` measures its systems on its data
set and writes a report.
`ragbench lab` opens the notebooks behind the report; `ragbench doctor` says what this machine can do.
"""


class _Commands(TyperGroup):
    """The commands; what is wrong with a command line is said without obeying what stands in it."""

    def make_context(self, *given: Any, **more: Any) -> Any:
        """The context, from a command line."""
        with _refusing():
            return super().make_context(*given, **more)

    def invoke(self, ctx: Any) -> Any:
        """What the command gives back."""
        with _refusing():
            return super().invoke(ctx)


@contextlib.contextmanager
def _refusing() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        if hasattr(error, "format_message"):  # typer's own; where its class lives depends on its version
            message = "\n".join(terminal.lines(error.format_message()))
            vars(error).update(format_message=lambda: message, exit_code=Ending.REFUSED)
        raise


application = typer.Typer(
    name="ragbench",
    cls=_Commands,
    help=HELP,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
application.command("init")(init.init)
application.command("run")(run.run)
application.command("gate")(run.gate)
application.command("score")(score.score)
application.command("metrics")(metrics.metrics)
application.command("doctor")(doctor.doctor)
application.command("lab")(run.lab)
application.command("trust")(consent.trust)
application.add_typer(load.application, name="load")
application.add_typer(db.application, name="db")
for _name in annexes.offered("commands"):
    if isinstance(_command := annexes.taken("commands", _name), typer.Typer):
        application.add_typer(_command, name=_name)
    else:
        application.command(_name)(_command)
for _name in annexes.offered("load"):
    annexes.taken("load", _name)  # adds its command to the group


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        terminal.say(f"ragbench {version('ragbench')}")
        raise typer.Exit


@application.callback()
def root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
    encoding: Annotated[
        str, typer.Option(help="Of data files that are neither UTF-8 nor UTF-16, where it is not found out: koi8-r.")
    ] = "",
) -> None:
    """Options before the command."""
    if encoding:
        os.environ["RAGBENCH_ENCODING"] = encoding  # notebooks' processes read files, too
    if os.environ.get("NO_COLOR"):
        context.color = False


def main() -> None:
    """Run the command line. An error meant for people is printed as such; others keep their trace. See `endings`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # a terminal that lacks a sign of ours shows its number
            stream.reconfigure(errors="backslashreplace")
    try:
        names.refuse_torn(sys.argv[1:])
        _reduced(sys.argv[1:])()
    except Exception as error:
        if not _is_for_people(error):
            raise
        terminal.tell(f"ragbench: {_words(error)}", err=True, colour="red")
        sys.exit(getattr(error, "exit_code", Ending.REFUSED))


def _reduced(arguments: list[str]) -> typer.Typer:
    """The application with the command that stands first, where one does: to build all takes as long as a small one."""
    named = arguments[:1]
    commands = [command for command in application.registered_commands if command.name in named]
    groups = [group for group in application.registered_groups if group.name in named]
    if not commands and not groups:
        return application
    reduced = copy.copy(application)
    reduced.registered_commands, reduced.registered_groups = commands, groups
    return reduced


def _words(error: Exception) -> str:
    """The message; of a refusal by the operating system its file and its reason, without numbers and calls."""
    if not isinstance(error, OSError) or error.filename is None:
        return str(error)
    said = folders.said(error)
    if error.errno not in folders.MENDED:
        return said
    again = shlex.join(["ragbench", *sys.argv[1:]])
    return (
        f"{said}; what was there is as it was, and what models have answered is in the journal: "
        f"{folders.MENDED[error.errno]}, then {again}"
    )


def _is_for_people(error: Exception) -> bool:
    """Whether the message helps: an error class of the house, a refusal by its code, or a file that cannot be used."""
    if type(error).__module__.startswith("ragbench."):
        return True
    if isinstance(error, OSError) and error.filename is not None and error.errno in folders.FAULTS:
        return True
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    raised_in = trace.tb_frame.f_globals.get("__name__", "") if trace is not None else ""
    return isinstance(error, ValueError | FileNotFoundError | FileExistsError) and raised_in.startswith("ragbench.")
