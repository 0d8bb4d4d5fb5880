"""The command line: which commands there are, and how each ends.

Exit codes: 0 held, 1 failed gate, 2 not enough evidence, 3 wrong input, 4 nothing measured, 5 not
trusted, 70 a fault of ragbench itself, 130 and 143 interrupted.
"""

from __future__ import annotations

import gc
import importlib
import importlib.util
import shlex
import signal
import sys
import traceback
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

from ragbench.core.errors import BenchError, NotEnoughError, UntrustedError, suggest
from ragbench.core.secrets import mask, visible

WRONG_INPUT = 3
NOTHING_MEASURED = 4
NOT_TRUSTED = 5
OUR_FAULT = 70  # not 1, which is a failed gate
INTERRUPTED = 130
SIGNALLED = 128  # and the number of the signal
PANELS = "Begin", "Measure", "Compare", "Judge and label", "Publish"
# command: (module, panel of the help, what it does). A module that is not there takes its command
# along: annexes come off by deleting their folder.
COMMANDS = {
    "init": ("ragbench.cli.init", "Begin", "Write a ragbench.toml for what lies in this folder."),
    "doctor": (
        "ragbench.cli.doctor",
        "Begin",
        "Say what this machine can do, and what is missing.",
    ),
    "load": ("ragbench.cli.load", "Begin", "Bring a data set into data/: documents, questions, …"),
    "trust": ("ragbench.cli.trust", "Begin", "Say that a folder's settings and code may be used."),
    "run": ("ragbench.cli.run", "Measure", "Measure all systems and write a report."),
    "score": ("ragbench.cli.score", "Measure", "Score a table of answers."),
    "metrics": ("ragbench.cli.metrics", "Measure", "List the metrics, or explain one."),
    "lab": ("ragbench.cli.lab", "Measure", "Open the notebooks in JupyterLab."),
    "trec": ("ragbench.extras.tables.trec", "Measure", "Measure runs against judgements."),
    "sweep": ("ragbench.extras.sweeps.command", "Measure", "Measure a table of configurations."),
    "compare": ("ragbench.extras.runs.command", "Compare", "Compare two runs and more, paired."),
    "significance": (
        "ragbench.extras.tables.significance",
        "Compare",
        "Say whether one table of scores is better than another.",
    ),
    "plan": ("ragbench.extras.planning.command", "Compare", "Say how many questions are needed."),
    "agree": ("ragbench.extras.tables.agree", "Judge and label", "Say how far raters agree."),
    "label": ("ragbench.extras.labels.command", "Judge and label", "Have people mark answers."),
    "draft": ("ragbench.extras.testsets.draft", "Judge and label", "Draft questions to a base."),
    "pool": ("ragbench.extras.testsets.pool", "Judge and label", "Judge what systems retrieved."),
    "nuggets": (
        "ragbench.extras.answers.command",
        "Judge and label",
        "List the facts that a good answer says.",
    ),
    "gate": (
        "ragbench.extras.publish.gate",
        "Publish",
        "Hold a run to the gates of ragbench.toml.",
    ),
    "publish": ("ragbench.extras.publish.command", "Publish", "Write a run as a static site."),
}
# Options as other programs call them, and what ours are called.
OTHER_WORDS = {
    "--format": "; write --latex FILE, --json FILE or --out FOLDER",
    "--output": "; write --out",
    "--model": "; write --judge NAME, of [judges.NAME] in ragbench.toml",
    "--config": "; the environment variable RAGBENCH_CONFIG names another ragbench.toml",
}
HELP = """Measure Retrieval-Augmented Generation systems, and say with evidence which one is better.

Begin with `ragbench init` in a folder of yours, then `ragbench run`.
"""


class LazyCommand(TyperCommand):
    """A command whose module is imported when it is run, so that help is there at once."""

    def make_context(
        self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any
    ) -> typer.Context:
        """Make the context of the command itself."""
        return load_command(str(info_name)).make_context(info_name, args, parent, **extra)


def load_command(name: str) -> Any:
    """Import a command: the function `main` of its module."""
    # What imports make stays: Python's collector would look through it again and again.
    gc.disable()
    module = importlib.import_module(COMMANDS[name][0])
    app = typer.Typer(add_completion=False, rich_markup_mode="markdown")
    settings = {"help_option_names": ["-h", "--help"], **getattr(module, "CONTEXT", {})}
    app.command(name, context_settings=settings)(module.main)
    gc.freeze()
    gc.enable()
    return typer.main.get_command(app)


class Commands(TyperGroup):
    """All commands that are installed; a wrong name is answered with the nearest."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names in the order of their panels."""
        installed = [name for name, entry in COMMANDS.items() if is_installed(entry[0])]
        return sorted(installed, key=lambda name: PANELS.index(COMMANDS[name][1]))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command that knows its line of help."""
        _, panel, line = COMMANDS[cmd_name]
        return LazyCommand(cmd_name, help=line, rich_help_panel=panel)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Refuse an unknown name with the nearest one."""
        names = self.list_commands(ctx)
        if args[0] not in names:
            hint = suggest(args[0], names) or f"; there are {', '.join(names)}"
            raise BenchError(f"there is no command {args[0]!r}{hint}")
        return super().resolve_command(ctx, args)


def is_installed(module: str) -> bool:
    """Tell whether a module is there, without importing it."""
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


app = typer.Typer(
    cls=Commands,
    help=HELP,
    add_completion=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
)


@app.callback(invoke_without_command=True)
def options(version: Annotated[bool, typer.Option("--version", help="Print it.")] = False) -> None:
    """Take what stands before the command."""
    if version:
        from importlib.metadata import version as installed_version

        print(installed_version("ragbench"))
        raise typer.Exit


def program() -> NoReturn:
    """Run the command line, and end with the code that says how it went.

    SIGTERM is dealt with like Ctrl+C: what was begun is brought to an end and kept.
    """
    received: list[int] = []

    def interrupt(number: int, frame: object) -> None:
        received.append(number)
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN:
        signal.signal(signal.SIGTERM, interrupt)
    code = run(sys.argv[1:])
    gc.freeze()  # the end would look through it all once more
    sys.exit(SIGNALLED + received[0] if received else code)


def run(arguments: list[str]) -> int:
    """Run a command line; returns its exit code. Errors are one sentence on standard error."""
    try:
        code = typer.main.get_command(app).main(
            arguments or ["--help"], prog_name="ragbench", standalone_mode=False
        )
    except typer.TyperException as error:
        return complain(misuse_text(error), WRONG_INPUT)
    except UntrustedError as error:
        return complain(error, NOT_TRUSTED)
    except NotEnoughError as error:
        return complain(error, NOTHING_MEASURED)
    except (BenchError, OSError, typer.Abort) as error:
        return complain(error, WRONG_INPUT)
    except SystemExit:
        # typer's way to end where whoever read the output, such as `head`, has seen enough.
        return 0
    except Exception:
        # A traceback may hold a key; it is masked like every error.
        return complain(f"this is a fault of ours:\n{traceback.format_exc()}", OUR_FAULT)
    if code == INTERRUPTED:
        again = shlex.join(["ragbench", *arguments])
        return complain(f"interrupted; what was paid for is kept. Go on with: {again}", code)
    return code if isinstance(code, int) else 0


def misuse_text(error: Any) -> str:
    """Say what is wrong with a command line. error: typer's."""
    command = error.ctx.command_path if error.ctx else "ragbench"
    if not hasattr(error, "possibilities"):
        return f"{error.format_message().rstrip('.')}; see {command} --help"
    option = error.option_name
    names = [name for each in error.ctx.command.params for name in each.opts]
    hint = OTHER_WORDS.get(option) or suggest(option, names)
    return f"{command} has no option {option}{hint}; see {command} --help"


def complain(error: object, code: int) -> int:
    """Print an error without secrets and control characters; returns the code."""
    print(f"ragbench: {visible(mask(error))}", file=sys.stderr)
    return code
