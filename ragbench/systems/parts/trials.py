"""Users' functions that are parts of systems, each called once or twice before a run, in a process of its own."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from ragbench.core import settings as configuration
from ragbench.core.folders import write
from ragbench.core.settings import Settings
from ragbench.core.settings.secrets import excerpt
from ragbench.core.types import Question
from ragbench.systems.callables import of_table, told
from ragbench.systems.function_thread import OutOfTimeError
from ragbench.systems.parts.reranking import FunctionReranker, checked
from ragbench.systems.parts.rewriting import FunctionRewriter
from ragbench.systems.retrieval import RetrievalError


def tell_failing() -> None:
    """Write which functions fail at all that they are given, and why: an object of JSON, by the table's name.

    This process's argument: the file that takes it. At its input: the tables' names, the questions and the texts. One
    that takes longer than its limit is no fault: a run has more patience than a trial.
    """
    about = json.load(sys.stdin)
    known = configuration.load()
    failing = {}
    for table in about["tables"]:
        try:
            why = _why(table, known, about["questions"], about["texts"])
        except RetrievalError as error:
            why = str(error)
        if why:
            failing[table] = why
    write(Path(sys.argv[1]), json.dumps(failing))


def _why(table: str, known: Settings, questions: list[str], texts: list[str]) -> str:
    """Of the first question or text, where the function fails at every one; else nothing."""
    part, _, name = table.partition(".")
    reasons = []
    for place, given in enumerate(texts if part == "chunkers" else questions):
        try:
            _call(part, name, known, given, texts)
            return ""
        except OutOfTimeError:
            return ""
        except Exception as error:
            reasons.append(told(error) if place == 0 else "")
    return reasons[0] if reasons else ""


def _call(part: str, name: str, known: Settings, given: str, texts: list[str]) -> Any:
    if part == "rewriters":
        [made] = FunctionRewriter(name, known.rewriters[name]).rewrite([Question("trial", given)])
        if made.reason and "no answer within" not in made.reason:
            raise RetrievalError(made.reason)
    elif part == "rerankers":
        checked(FunctionReranker(name, known.rerankers[name]).scores(given, texts), len(texts))
    else:
        chunker = known.chunkers[name]
        function = of_table(
            f"chunkers.{name}", str(chunker.callable), "a text", chunker.timeout_seconds, RetrievalError
        )
        made = function(given)
        if not all(isinstance(piece, str) for piece in ([made] if isinstance(made, str) else list(made))):
            raise RetrievalError(f"{chunker.callable} gave {excerpt(repr(made), 80)}: texts are expected")
