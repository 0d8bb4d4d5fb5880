"""`ragbench nuggets`: lists of what good answers say: made by a judge, edited by people, kept, and tried on people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragbench.old.cli.console import consent, options
from ragbench.old.core import terminal
from ragbench.old.core.endings import Ending

if TYPE_CHECKING:
    from ragbench.old.extras.standards.nugget_lists import Made, Topic
    from ragbench.old.llm import Outlook

application = typer.Typer(help="Nuggets: what a good answer says, as lists that a judge makes and people edit.")
Lists = Annotated[Path, typer.Argument(parser=options.source, metavar="LISTS", help="A file that `make` has written.")]
Answers = Annotated[
    Path,
    typer.Argument(parser=options.source, metavar="ANSWERS", help="A table of answers, as `ragbench score` reads."),
]


@application.command()
def make(
    context: typer.Context,
    answers: Answers,
    out: Annotated[Path, typer.Argument(metavar="LISTS", help="Where to write: .csv or .jsonl, a row a nugget.")],
    judge: Annotated[str, typer.Option("--judge", help="A judge of ragbench.toml, or lexical.")] = "",
    language: Annotated[str | None, typer.Option(help="Of prompts: en or ru; of each question if not set.")] = None,
    limit: options.Limit = None,
    plan: options.PlanOnly = False,
    trusted: consent.Trust = False,
) -> None:
    """Make a list for each question of a table: of its labelled passages, or where there are none of all that any
    answer had. Edit the file, take rows out and add some, then put the lists where they are kept with `keep`.

    Example: ragbench nuggets make answers.jsonl nuggets.csv --judge lexical
    """
    from ragbench.old.cli.console import outputs
    from ragbench.old.core import settings, trust
    from ragbench.old.data.joined_tables import read_all
    from ragbench.old.extras.standards import nugget_lists
    from ragbench.old.extras.standards.nuggets import nugget_score
    from ragbench.old.judge import asks_nobody
    from ragbench.old.llm import run
    from ragbench.old.tiers.scoring.judge_assignment import kept_replies
    from ragbench.old.tiers.scoring.table_sources import sample_of

    if plan:
        context.with_resource(trust.planned())
    if out.suffix not in (".csv", ".jsonl"):
        raise typer.BadParameter(f"{out.name}: a name that ends in .csv or .jsonl is expected", param_hint="LISTS")
    samples = read_all([answers])
    topics = nugget_lists.topics_of(samples if limit is None else sample_of(samples, limit)[0])
    known = settings.load()
    (name,) = known.judge_names((judge,) if judge else ())[:1]
    if not asks_nobody(name):
        consent.required(trust.named(), trusted)
    with kept_replies([name], [nugget_score]) as journal:
        lists, outlooks = run(_made(name, topics, journal, language, plan))
    if plan:
        outputs.show(outlooks, known.budget)
        return
    rows = nugget_lists.rows_of(lists, name)
    empty = [one for one in lists if not one.nuggets]
    terminal.say(f"{len(rows)} nuggets of {len(lists) - len(empty)} questions, by {name}; none of them reviewed")
    if empty:
        terminal.say(f"{len(empty)} questions without a list, the first {empty[0].topic.id}: {empty[0].why}", err=True)
    if not rows:
        raise typer.Exit(Ending.UNMEASURED)
    if out.suffix == ".csv":
        import pandas as pd

        from ragbench.old.report import exports

        exports.write_csv(out, pd.DataFrame(rows, columns=list(nugget_lists.COLUMNS)))
    else:
        import json

        from ragbench.old.core import folders

        folders.write(out, "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows))
    terminal.say(f"Next: edit {out}, then ragbench nuggets keep {out} {answers} answers-with-nuggets.jsonl")


async def _made(
    judge: str, topics: list[Topic], journal: object, language: str | None, plan: bool
) -> tuple[list[Made], list[Outlook]]:
    from ragbench.old.extras.standards import nugget_lists
    from ragbench.old.tiers.scoring.judge_assignment import opened

    async with opened([judge], journal, language, None, plan) as judges:  # type: ignore[arg-type]
        return await nugget_lists.made(judges.judges[0], topics), await judges.outlooks()


@application.command()
def keep(
    lists: Lists,
    target: Annotated[str, typer.Argument(help="The data set (kb, kb:ru) or the table of answers that they are for.")],
    out: Annotated[Path | None, typer.Argument(help="Of a table: where to write it with its lists, .jsonl.")] = None,
) -> None:
    """Put lists where they are kept: with the questions of a data set, or in a column `nuggets` of a table of answers.

    Example: ragbench nuggets keep nuggets.csv answers.jsonl answers-with-nuggets.jsonl
    """
    from ragbench.old import data
    from ragbench.old.core import folders, trust
    from ragbench.old.extras.standards import nugget_lists

    found = nugget_lists.read(lists)
    if Path(target).is_file():
        if out is None:
            raise typer.BadParameter("where to write the table with its lists is expected", param_hint="OUT")
        lines, there = nugget_lists.joined(Path(target), found)
        if not there:
            raise ValueError(f"{target}: no row has an id of {lists.name}, such as {next(iter(found))!r}")
        folders.write(out, "\n".join(lines) + "\n")
        terminal.say(f"{there} of {len(lines)} rows have a list. Next: ragbench score {out} -m nugget_score")
        return
    folder = trust.folder_of("data_folder")
    place, language, records = data.records_named(target, folder)
    changed = [
        record.model_copy(update={"nuggets": found[record.id]}) for record in records.questions if record.id in found
    ]
    if not changed:
        raise ValueError(f"{place.name}: no question has an id of {lists.name}, such as {next(iter(found))!r}")
    data.add(f"{place.name}:{language}", folder, data.Records(questions=changed), replace=True)
    terminal.say(f"{len(changed)} questions of {place.name} have a list")


@application.command()
def agree(
    judge: Annotated[Path, typer.Argument(parser=options.source, metavar="JUDGE", help="Columns system, id, value.")],
    people: Annotated[Path, typer.Argument(parser=options.source, metavar="PEOPLE", help="The same, by people.")],
    metric: Annotated[str, typer.Option(help="Of a table with a column metric: which one.")] = "",
    level: options.Level = 0.95,
    resamples: options.Resamples = 2_000,
    seed: options.Seed = 0,
    as_json: options.AsJson = False,
) -> None:
    """How far a judge's scores agree with people's, by Kendall's τ: over systems, within questions, and over answers.

    A judge may order systems well and single answers badly, and the other way round, so that each is printed. Tables
    are those that `ragbench score --out` writes, or any with such columns.

    Example: ragbench nuggets agree scores.csv people.csv --metric nugget_score
    """
    from dataclasses import asdict

    from ragbench.old.core.language import translator
    from ragbench.old.core.measurement import without_nan
    from ragbench.old.extras.standards.nugget_lists import by_run_and_topic, judged_values
    from ragbench.old.tiers.basics import verdict_tables

    found = by_run_and_topic(
        judged_values(judge, metric), judged_values(people, metric), level=level, resamples=resamples, seed=seed
    )  # fmt: skip
    if as_json:
        terminal.dump({name: asdict(estimate) for name, estimate in found.items()}, clean=without_nan)
        return
    what = {"run": "systems' means", "topic": "within a question", "answer": "all answers"}
    named = [((what[name],), estimate) for name, estimate in found.items()]
    verdict_tables.estimates(("agreement, τ",), named, translator("en")).say()
