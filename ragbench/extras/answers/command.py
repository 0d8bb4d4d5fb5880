"""`ragbench nuggets`."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from ragbench.cli.options import (
    Columns,
    Judges,
    LanguageCode,
    Limit,
    Plan,
    read_columns,
    split_list,
)
from ragbench.cli.output import print_plans, say, write_text
from ragbench.core.errors import BenchError, NotEnoughError
from ragbench.core.trust import open_settings
from ragbench.core.types import Sample


def main(
    answers: Annotated[Path, typer.Argument(help="A table of answers.")],
    judges: Judges = [],  # noqa: B006  typer reads it
    columns: Columns = [],  # noqa: B006
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Answers with their nuggets, JSON Lines.")
    ] = Path("nuggets.jsonl"),
    limit: Limit = None,
    language: LanguageCode = "",
    plan: Plan = False,
) -> None:
    """List, with a judge, the facts that a good answer says; people edit the list.

    The table that comes out has the answers with a column of nuggets, ready to be scored.

    Example: `ragbench nuggets answers.csv --judge mini && ragbench score nuggets.jsonl -m
    nugget_score`
    """
    from ragbench.data import read_answers
    from ragbench.extras.answers.listing import list_nuggets
    from ragbench.judge import open_judge

    settings = open_settings()
    named = split_list(judges)
    if len(named) != 1 or named == ["lexical"]:
        raise BenchError("one judge lists nuggets: --judge NAME of ragbench.toml")
    samples = read_answers(answers, read_columns(columns)).samples
    if limit is not None:
        kept = list(dict.fromkeys(sample.id for sample in samples))[:limit]
        samples = [sample for sample in samples if sample.id in set(kept)]
    judge = open_judge(named[0], settings, language or settings.language, planning=plan)
    if plan:
        with suppress(NotEnoughError):
            list_nuggets(samples, judge)
        print_plans([judge.plan()])
        return
    nuggets = list_nuggets(samples, judge)
    missing = {sample.id for sample in samples} - set(nuggets)
    if missing:
        say(f"{len(missing)} questions have no nuggets: the judge listed none")
    lines = [json.dumps(row_of(sample, nuggets), ensure_ascii=False) for sample in samples]
    write_text(out, "\n".join(lines) + "\n")
    print(f"{out}: edit the nuggets, then: ragbench score {out} -m nugget_score")


def row_of(sample: Sample, nuggets: dict[str, dict[str, str]]) -> dict[str, object]:
    """Return an answer as a row of canonical names, without what it does not have."""
    row = {
        "id": sample.id,
        "system": sample.system,
        "repeat": sample.repeat,
        "cluster": sample.cluster,
        "question": sample.question,
        "answer": sample.answer,
        "reference": sample.reference,
        "contexts": [passage.text for passage in sample.contexts or ()],
        "nuggets": nuggets.get(sample.id, {}),
    }
    return {name: value for name, value in row.items() if value not in (None, "", [], {})}
