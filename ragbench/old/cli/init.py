"""`ragbench init`: a commented ragbench.toml for what is there, and the command that comes next."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from ragbench.old.cli.console import consent
from ragbench.old.core import terminal


def init(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="WHAT",
            help="A data set's folder, tables of answers or questions, TREC files, module:function, the address of "
            "a service or a database; what lies in this folder if none.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a ragbench.toml that is there.")] = False,
    only_schema: Annotated[
        bool, typer.Option("--schema", help="Only write ragbench.schema.json anew, which editors check the file by.")
    ] = False,
) -> None:
    """Write a commented ragbench.toml into this folder for what you have, and say which command comes next.

    Looks for data sets below data/, for tables of answers or questions, TREC files, folders of BEIR and of documents,
    and for RAGBENCH_DATABASE_URL; or takes what is named. Every file, and every table of a database, is named with what
    it is taken for, and which column is which field. Nothing of yours is imported, sent or changed. Beside it stands
    ragbench.schema.json: editors that know TOML complete and check the file by it as you write. The folder is trusted
    from then on, see `ragbench trust`.

    Examples:

    - `ragbench init`: what lies in this folder
    - `ragbench init answers.csv`: a table of answers; next, `ragbench score answers.csv`
    - `ragbench init data/helpdesk`: a data set, or a folder with chunks.en.jsonl and questions.en.jsonl
    - `ragbench init questions.jsonl my_package.search:retrieve`: your questions, and your function of (question, k)
    - `ragbench init questions.csv https://assistant.example/ask`: your questions, and a service that is asked them
    - `ragbench init postgresql://me@host/assistant`: your own tables; its address is in a variable, not in the file

    Exit code 3 where nothing is found, where something named is not there, and where a ragbench.toml is (see --force).
    """
    from ragbench.old.cli.beginnings import MOST_SAID, Beginning
    from ragbench.old.core import folders, settings
    from ragbench.old.core.settings import schema

    here = Path.cwd()
    if only_schema:
        folders.write(here / schema.NAME, schema.text())
        terminal.say(f"written: {schema.NAME}; begin ragbench.toml with the line {schema.LINE}")
        return
    target = here / "ragbench.toml"
    if target.exists() and not force:
        raise typer.BadParameter(
            f"{target} is there already: `ragbench run --plan` says what it measures, and with what; `ragbench init "
            f"{shlex.join([*(what or ()), '--force'])}` replaces it by what suits what you have",
            param_hint="ragbench init",
        )
    with settings.held(None):  # nothing of a file that is replaced goes into the one that replaces it
        beginning = Beginning.named(what, here) if what else Beginning.there(here)
    for said in beginning.said:
        terminal.say(said, mark="✓", colour="green")
    for unused in beginning.unused[:MOST_SAID]:
        terminal.say(f"not used: {unused}", mark="–")
    if (left := len(beginning.unused) - MOST_SAID) > 0:
        terminal.say(f"not used: {left} more files", mark="–")
    beginning.write()
    settings.load.cache_clear()
    settings.load()  # refuses what an environment variable says against it
    if settings.config_path() != target:
        terminal.say(f"read is another file, which RAGBENCH_CONFIG names: {settings.config_path()}", mark="–")
    else:
        consent.allow()  # who has written it need not be asked about it
    first, *more = beginning.next()
    terminal.say(f"Next: {first}", bold=True)
    for command in more:
        terminal.say(f"Then: {command}")
