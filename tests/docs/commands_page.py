"""`python -m tests.docs.commands_page`: docs/commands.md and a page a command, each as its --help has it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ragbench.__main__ import application
from tests.docs import chapters

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


def pages() -> dict[Path, str]:
    """The index, and a page a command; a group has its commands on its page, or as many pages where they are long."""
    whole = tree()
    context = whole.make_context("ragbench", ["metrics"], resilient_parsing=True)
    (_, root), *known = commands(whole)
    first = [(words, each) for words, each in known if len(words) == 2]
    text = f"{HEAD}\n{listed(first, PAGE.stem)}\n{section(('ragbench',), root, context, 2)}"
    found = {PAGE: chapters.index(text, PAGE, [words[1] for words, _ in first])}
    for name in (words[1] for words, _ in first):
        path = PAGE.with_suffix("") / f"{name}.md"
        parts = [(words, each) for words, each in known if words[1] == name]
        own, *inner = [section(words, each, context, len(words) - 1) for words, each in parts]
        if len(" ".join((own, *inner)).split()) < chapters.MOST_WORDS:
            found[path] = "\n".join((own, *inner))
            continue
        found[path] = chapters.index(f"{own}\n{listed(parts[1:], name)}", path, [words[-1] for words, _ in parts[1:]])
        for words, each in parts[1:]:
            found[path.with_suffix("") / f"{words[-1]}.md"] = section(words, each, context, 1)
    return found


def listed(known: list[tuple[tuple[str, ...], Any]], folder: str) -> str:
    """A table that leads to the pages of commands: what each does."""
    rows = [
        f"| [`{' '.join(words)}`]({folder}/{words[-1]}.md) | {_cell(each.help.strip().split(chr(10) * 2)[0])} |\n"
        for words, each in known
    ]
    return f"| command | meaning |\n|---|---|\n{''.join(rows)}"


def section(words: tuple[str, ...], one: Any, context: Any, level: int) -> str:
    """A command: what it says of itself, and a table of what it takes."""
    taken = [each for each in one.params if each.name not in UNSAID and not getattr(each, "hidden", False)]
    rows = [row(each, context) for each in taken]
    title = f"{'#' * level} `{' '.join(words)}`\n\n{one.help.strip()}\n"
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
    return f"| {' | '.join(map(_cell, cells))} |\n"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "&#124;")


def shown(default: Any) -> str:
    """A default as it is typed; nothing for what is not set or off."""
    return "" if default in (None, "", False, (), []) or callable(default) else f"`{default}`"


if __name__ == "__main__":
    chapters.write(PAGE, pages())
