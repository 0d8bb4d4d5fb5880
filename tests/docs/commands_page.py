"""`python -m tests.docs.commands_page`: docs/commands.md, every command as its --help has it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ragbench.__main__ import application

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "commands.md"
HEAD = """# Commands

What `ragbench --help` and `ragbench COMMAND --help` say, of every command. Exit codes: 0 when all is well, 1 when
something failed, 2 when the command line or the settings cannot be obeyed or there is not enough evidence; each
command says more where it has more. Made by `python -m tests.docs.commands_page`.
"""
UNSAID = ("help", "install_completion", "show_completion")


def tree() -> Any:
    """The commands as typer builds them."""
    import typer.main

    return typer.main.get_command(application)


def commands(node: Any, words: tuple[str, ...] = ("ragbench",)) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command and group below a node, itself first: the words that call it, and it."""
    yield words, node
    for name, one in sorted(getattr(node, "commands", {}).items()):
        if not one.hidden:
            yield from commands(one, (*words, name))


def page() -> str:
    """The reference of all commands."""
    whole = tree()
    context = whole.make_context("ragbench", ["metrics"], resilient_parsing=True)
    return HEAD + "".join(f"\n{section(words, one, context)}" for words, one in commands(whole))


def section(words: tuple[str, ...], one: Any, context: Any) -> str:
    """A command: what it says of itself, and a table of what it takes."""
    taken = [each for each in one.params if each.name not in UNSAID and not getattr(each, "hidden", False)]
    rows = [row(each, context) for each in taken]
    title = f"{'#' * min(len(words) + 1, 4)} `{' '.join(words)}`\n\n{one.help.strip()}\n"
    if not rows:
        return title
    return title + "\n| takes | type | default | meaning |\n|---|---|---|---|\n" + "".join(rows)


def row(one: Any, context: Any) -> str:
    """An argument or an option in the order of the page's columns."""
    positional = one.param_type_name == "argument"
    names = [one.metavar or one.name.upper()] if positional else [*one.opts, *one.secondary_opts]
    default = "required" if one.required else shown(one.default)
    cells = (
        ", ".join(f"`{name}`" for name in names),
        f"`{one.display_type(context).replace('Path', 'path')}`",
        default,
        one.help or "",
    )
    return f"| {' | '.join(' '.join(str(cell).split()).replace('|', '&#124;') for cell in cells)} |\n"


def shown(default: Any) -> str:
    """A default as it is typed; nothing for what is not set or off."""
    return "" if default in (None, "", False, (), []) or callable(default) else f"`{default}`"


def write() -> None:
    """Write what the commands say."""
    PAGE.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    write()
