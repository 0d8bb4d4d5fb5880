"""`ragbench draft`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import pandas as pd
import typer

from ragbench.cli.options import Judges, LanguageCode, Plan, Primary, Seed, split_list
from ragbench.cli.output import print_frame, print_plans, say
from ragbench.core.errors import BenchError, suggest
from ragbench.core.language import load_language
from ragbench.core.settings import Settings
from ragbench.core.trust import open_settings

if TYPE_CHECKING:
    from ragbench.core.types import Dataset
    from ragbench.extras.testsets.drafting import Drafts


def main(
    dataset: Annotated[str, typer.Argument(help="The base: a name, a folder, db:NAME.")] = "",
    count: Annotated[int, typer.Option("--questions", min=1, help="So many passages.")] = 60,
    judges: Judges = [],  # noqa: B006  typer reads it
    name: Annotated[str, typer.Option(help="Data set that the questions go to.")] = "",
    review: Annotated[Path | None, typer.Option(help="Write a table to be reviewed first.")] = None,
    take: Annotated[Path | None, typer.Option(help="Take a reviewed table in.")] = None,
    beside: Annotated[
        str, typer.Option(help="A run: do drafts order its systems as questions do?")
    ] = "",
    primary: Primary = "",
    language: LanguageCode = "",
    plan: Plan = False,
    seed: Seed = 0,
) -> None:
    """Draft questions to a base, with answers and checked quotes.

    A model of ragbench.toml writes them (--judge NAME); two filters turn down what it did not
    quote from the passage, or copied, and what the passage does not answer. Without a model,
    queries are made of the words that set a passage apart: for retrieval, and named so.

    Examples: `ragbench draft docs --questions 120`,
    `ragbench draft docs --judge mini --review drafts.csv`,
    `ragbench draft docs --take drafts.csv`, `ragbench draft --beside latest`
    """
    settings = open_settings()
    if beside:
        print_beside(beside, primary, settings, seed)
        return
    base = read_base(dataset, settings, language)
    target = settings.path(settings.data_folder) / (name or Path(base.name).name)
    if take is not None:
        from ragbench.extras.testsets.drafting import read_review

        write(base, read_review(take), target)
        return
    drafts = make_drafts(base, count, split_list(judges), settings, plan, seed)
    if drafts is None:
        return
    reasons = drafts.frame.loc[drafts.frame["filter"] != "", "filter"]
    for reason, n in reasons.str.split(":").str[0].value_counts().items():
        say(f"{n} turned down: {reason}")
    if review is not None:
        drafts.frame.to_csv(review, index=False)
        again = " ".join(["ragbench draft", dataset, "--take", str(review)])
        print(f"{review}: write yes or no under keep, then: {again.replace('  ', ' ')}")
        return
    write(base, drafts.kept, target)


def read_base(name: str, settings: Settings, language: str) -> Dataset:
    """Read the base of passages: a data set, or one's own database."""
    from ragbench.tiers.common import Options, open_dataset

    request = Options(dataset=name)
    return open_dataset(request, settings, language or settings.language, None, None)


def make_drafts(
    base: Dataset, count: int, judges: list[str], settings: Settings, plan: bool, seed: int
) -> Drafts | None:
    """Draft by a model, or without one; of a plan only what it would cost is printed."""
    from ragbench.extras.testsets.drafting import choose_passages, draft_questions, known_items
    from ragbench.judge import open_judge

    passages = choose_passages(base, count, seed)
    if not judges or judges == ["lexical"]:
        say("no model: queries are the words that set a passage apart; --judge names a model")
        return None if plan else known_items(base, passages)
    if len(judges) > 1:
        raise BenchError("one model drafts; name one judge")
    judge = open_judge(judges[0], settings, base.language, planning=plan)
    drafts = draft_questions(passages, judge)
    if plan:
        print_plans([judge.plan()])
        say("as many calls again check whether the passage answers")
        return None
    return drafts


def write(base: Dataset, drafts: pd.DataFrame, target: Path) -> None:
    """Write the base with the drafts as questions."""
    from ragbench.data import write_dataset
    from ragbench.extras.testsets.drafting import add_to_dataset, check_target

    check_target(target)
    together = add_to_dataset(replace(base, name=target.name), drafts)
    write_dataset([together], target)
    added = len(together.questions) - len(base.questions)
    print(f"{target}: {added} questions more, {len(together.questions)} in all; next: ragbench run")


def print_beside(run: str, primary: str, settings: Settings, seed: int) -> None:
    """Print, pair by pair, whether drafts order the systems of a run as questions do."""
    from ragbench import stats
    from ragbench.extras.testsets.drafting import DRAFTED, KNOWN_ITEM
    from ragbench.report.finished import find_run, read_run
    from ragbench.stats.drafts import compare_drafts

    finished = read_run(find_run(run, settings))
    folder = finished.folder / "frames" / "tier1_retrieval"
    if not folder.is_dir():
        raise BenchError(f"{run} has no page tier1_retrieval; `ragbench run tier1_retrieval`")
    scores = pd.read_parquet(folder / "scores.parquet")
    questions = pd.read_parquet(folder / "questions.parquet").set_index("question_id")
    about = next(page for page in finished.manifest["pages"] if page["name"] == folder.name)
    metric = primary or about["request"]["primary"]
    known = list(scores["metric"].unique())
    if metric not in known:
        hint = suggest(metric, known) or f"; there are {', '.join(known)}"
        raise BenchError(f"the run has no metric {metric!r}{hint}")
    wide = scores[scores["metric"] == metric].pivot(
        index=["question_id", "unit"], columns="system", values="value"
    )
    wide = wide[about["request"]["systems"]]
    is_draft = questions.loc[wide.index.get_level_values("question_id"), "source"].isin(
        [DRAFTED, KNOWN_ITEM]
    )
    drafted, asked = wide[is_draft.to_numpy()], wide[~is_draft.to_numpy()]
    if drafted.empty or asked.empty:
        raise BenchError("the run needs drafted questions and others in one data set")
    pairs = compare_drafts(
        drafted.to_numpy(),
        asked.to_numpy(),
        list(wide.columns),
        drafted.index.get_level_values("unit").to_numpy(),
        asked.index.get_level_values("unit").to_numpy(),
        stats.Confidence(seed=seed),
    )
    counts = pairs["word"].value_counts()
    print(
        f"On {metric} {len(drafted)} drafts order {counts.get('same order', 0)} of {len(pairs)} "
        f"pairs of systems as {len(asked)} questions do; on {counts.get('opposite order', 0)} they "
        f"contradict, on {counts.get('not shown', 0)} the order is not shown."
    )
    print_frame(readable(pairs))


def readable(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the pairs as a table for people: second minus first."""
    language = load_language("en")
    rows = []
    for row in pairs.to_dict("records"):
        ends = [("on_drafts", "drafts"), ("on_questions", "questions"), ("gap", "gap")]
        numbers = [
            language.interval(row[name], row[f"{key}_low"], row[f"{key}_high"], signed=True)
            for name, key in ends
        ]
        rows.append((f"{row['second']} − {row['first']}", *numbers, row["word"]))
    return pd.DataFrame(rows, columns=["pair", "drafts", "questions", "gap", "order"])
