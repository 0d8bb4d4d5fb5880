"""`ragbench ask`: a question to all systems at once."""

from __future__ import annotations

from typing import Annotated

import typer

from ragbench.old.cli.console import consent, options
from ragbench.old.core import terminal


def ask(
    question: Annotated[list[str], typer.Argument(help="The question; several, each in quotes.")],
    systems: Annotated[str, typer.Option("--systems", "-s", help="Systems, comma-separated; all if not given.")] = "",
    dataset: Annotated[
        str, typer.Option("--dataset", "-d", help="Data set below data/; `name:ru` for a language.")
    ] = "",
    k: Annotated[int, typer.Option("-k", help="Passages that are retrieved, and answered from.")] = 5,
    answer: Annotated[bool, typer.Option(help="Whether the generators answer; else only what is retrieved.")] = True,
    language: options.Language = "",
    as_json: options.AsJson = False,
    trusted: consent.Trust = False,
) -> None:
    """Ask every system a question: what each retrieves and answers, side by side, and how long it takes.

    Examples:

    - `ragbench ask "How do I extend my library card?"`
    - `ragbench ask "Как продлить читательский билет?" -d campus:ru -s bm25,hybrid -k 3 --no-answer`

    Exit code 0 when the systems were asked, also where one of them failed and says why; 3 when none could be.
    """
    from ragbench.old.core import trust
    from ragbench.old.core.measurement import without_nan
    from ragbench.old.extras.live import typed_questions

    consent.required(trust.named(), trusted)
    responses = typed_questions.ask(question, systems, dataset=dataset, k=k, answer=answer, language=language)
    if as_json:
        terminal.dump(without_nan(responses.as_json()))
        return
    for line in responses.lines():
        terminal.say(line)
