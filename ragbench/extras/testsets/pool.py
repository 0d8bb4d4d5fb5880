"""`ragbench pool`."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd
import typer

from ragbench.cli.options import Judges, LanguageCode, Limit, Plan, Seed, split_list
from ragbench.cli.output import print_plans, say
from ragbench.core.errors import BenchError, NotEnoughError, Unmeasured
from ragbench.core.metric import run_async
from ragbench.core.progress import bar
from ragbench.core.trust import open_settings

if TYPE_CHECKING:
    from ragbench.core.types import Dataset

SHEET = ["question_id", "question", "passage_id", "passage", "grade"]
NOT_JUDGED = -1.0  # of infAP: pooled, and left unjudged by the draw


def main(
    run: Annotated[str, typer.Argument(help="The run whose Tier 1 retrieved.")] = "latest",
    depth: Annotated[int, typer.Option(min=1, help="First passages of every system.")] = 10,
    judges: Judges = [],  # noqa: B006  typer reads it
    sheet: Annotated[Path | None, typer.Option(help="Write a sheet for people: 0 to 3.")] = None,
    take: Annotated[Path | None, typer.Option(help="Take a filled sheet in.")] = None,
    sample: Annotated[
        float, typer.Option(min=0.01, max=1, help="Judge this share; infAP tells the rest.")
    ] = 1.0,
    name: Annotated[str, typer.Option(help="Data set that the grades go to.")] = "",
    limit: Limit = None,
    language: LanguageCode = "",
    plan: Plan = False,
    seed: Seed = 0,
) -> None:
    """Judge what systems retrieved and nobody has judged: the union of their first passages.

    Grades are UMBRELA's: 3 answers the question, 2 in part, 1 is about the subject, 0 is not; from
    2 on a passage counts as relevant. The grades become labels of a copy of the data set.

    Examples: `ragbench pool latest --judge mini --name campus-pooled`,
    `ragbench pool latest --sheet grades.csv`, `ragbench pool latest --take grades.csv`
    """
    from ragbench.report.finished import find_run, read_run

    settings = open_settings()
    finished = read_run(find_run(run, settings))
    folder = finished.folder / "frames" / "tier1_retrieval"
    if not folder.is_dir():
        raise BenchError(f"{run} has no page tier1_retrieval; `ragbench run tier1_retrieval`")
    about = next(page for page in finished.manifest["pages"] if page["name"] == folder.name)
    request = about["request"]
    # The data of the run, in the run's language.
    language = language or request["language"]
    pool = retrieved = make_pool(folder, depth, limit)
    if sample < 1:
        pool = retrieved.sample(frac=sample, random_state=np.random.default_rng(seed))
    say(f"{len(retrieved)} pairs of question and passage are retrieved and not judged")
    if sheet is not None:
        pool.assign(grade="")[SHEET].to_csv(sheet, index=False)
        print(f"{sheet}: {len(pool)} pairs; write 0 to 3 under grade")
        return
    if take is not None:
        grades = read_sheet(take)
    else:
        judge = open_one(split_list(judges), settings, language, plan)
        grades = grade_pool(pool, judge)
        if plan:
            print_plans([judge.plan()])
            return
    base = read_base(request["dataset"], settings, language)
    target = settings.path(settings.data_folder) / (name or f"{base.name}-pooled")
    write_labels(base, grades, retrieved, target)


def make_pool(folder: Path, depth: int, limit: int | None) -> pd.DataFrame:
    """Return the pairs that a system retrieved among its first and nobody has judged."""
    retrieved = pd.read_parquet(folder / "retrieved.parquet")
    questions = pd.read_parquet(folder / "questions.parquet").set_index("question_id")["text"]
    texts = pd.read_parquet(folder / "passages.parquet").set_index("passage_id")["text"]
    first = retrieved[(retrieved["rank"] <= depth) & retrieved["gain"].isna()]
    pairs = first[first["passage_id"].isin(texts.index)]
    pairs = pairs.drop_duplicates(["question_id", "passage_id"])[["question_id", "passage_id"]]
    if limit is not None:
        kept = sorted(pairs["question_id"].unique())[:limit]
        pairs = pairs[pairs["question_id"].isin(kept)]
    if pairs.empty:
        raise NotEnoughError("everything that was retrieved is judged")
    pairs = pairs.sort_values(["question_id", "passage_id"], ignore_index=True)
    return pairs.assign(
        question=pairs["question_id"].map(questions), passage=pairs["passage_id"].map(texts)
    )


def open_one(judges: list[str], settings: Any, language: str, plan: bool) -> Any:
    """Open the judge that grades. Raises BenchError without one."""
    from ragbench.judge import open_judge

    if len(judges) != 1:
        raise BenchError("one judge grades: --judge NAME; or --sheet FILE for people")
    return open_judge(judges[0], settings, language, planning=plan)


def grade_pool(pool: pd.DataFrame, judge: Any) -> pd.DataFrame:
    """Let a judge grade the pairs: question_id, passage_id, grade; NaN where it gave none."""
    from ragbench.metrics.relevance_grade import grade_passage

    async def grade(question: str, passage: str) -> float:
        try:
            return (await grade_passage(judge, question, passage)).rating
        except Unmeasured:
            return np.nan  # it stays unjudged, and is counted
        finally:
            shown.update()

    async def grade_all() -> list[float]:
        pairs = zip(pool["question"], pool["passage"], strict=True)
        # The judge limits its calls itself.
        async with judge, asyncio.TaskGroup() as group:
            tasks = [group.create_task(grade(*pair)) for pair in pairs]
        return [task.result() for task in tasks]

    with bar("grading", len(pool)) as shown:
        grades = run_async(grade_all())
    return pool[["question_id", "passage_id"]].assign(grade=grades)


def read_sheet(path: Path) -> pd.DataFrame:
    """Return the grades of a filled sheet. Raises BenchError for one that is not 0 to 3."""
    from ragbench.core.numbers import read_numbers
    from ragbench.data import read_table

    table = read_table(path)
    missing = [name for name in ("question_id", "passage_id", "grade") if name not in table.columns]
    if missing:
        raise BenchError(f"{path} has no column {', '.join(missing)}; --sheet writes one")
    grades = read_numbers([row.get("grade") for row in table.rows], "grade")
    odd = grades[~np.isnan(grades) & ~np.isin(grades, (0, 1, 2, 3))]
    if len(odd):
        raise BenchError(f"{path}: the grade {odd[0]:g} is none of 0, 1, 2, 3")
    return pd.DataFrame(
        {
            "question_id": [str(row["question_id"]) for row in table.rows],
            "passage_id": [str(row["passage_id"]) for row in table.rows],
            "grade": grades,
        }
    )


def read_base(name: str, settings: Any, language: str) -> Dataset:
    """Read the data set that the run was measured on."""
    from ragbench.tiers.common import Options, open_dataset

    return open_dataset(Options(dataset=name), settings, language, None, None)


def write_labels(base: Dataset, grades: pd.DataFrame, pool: pd.DataFrame, target: Path) -> None:
    """Write a copy of the data set with the grades as labels, its own before them.

    Grades below 2 are judged and not relevant: 0. What a draw left out is -1, as infAP reads it.
    """
    from ragbench.data import write_dataset
    from ragbench.extras.testsets.drafting import check_target
    from ragbench.metrics.relevance_grade import RELEVANT

    check_target(target)

    judged = grades.dropna(subset="grade")
    counted = judged["grade"].where(judged["grade"] >= RELEVANT, 0.0)
    new = judged[["question_id", "passage_id"]].assign(grade=counted)
    pairs = pool[["question_id", "passage_id"]].assign(grade=NOT_JUDGED)
    labels = pd.concat([base.labels, new, pairs], ignore_index=True)
    labels = labels.drop_duplicates(["question_id", "passage_id"], ignore_index=True)
    if "group" in labels:
        labels["group"] = labels["group"].fillna(0).astype(int)
    write_dataset([replace(base, name=target.name, labels=labels)], target)
    n_relevant = int((counted >= RELEVANT).sum())
    print(f"{target}: {len(judged)} grades, {n_relevant} of them relevant")
    if len(judged) < len(grades):
        say(f"{len(grades) - len(judged)} pairs stay without a grade")
