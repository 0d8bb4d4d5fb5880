"""How long answers are and how often systems refuse, apart for questions that can be answered and those that cannot.

Who says what a refusal is: the rule of `ragbench.systems.refusals`, or a judge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from ragbench import stats
from ragbench.core.measurement import NamedEstimate
from ragbench.core.metric import parse
from ragbench.core.settings import Settings
from ragbench.core.types import Question, Status
from ragbench.judge.words import words
from ragbench.systems.refusals import RECOGNISED
from ragbench.tiers.answers.written_answers import Answered
from ragbench.tiers.basics import frames
from ragbench.tiers.basics.choices import BenchError
from ragbench.tiers.basics.families import Sureness
from ragbench.tiers.basics.session import Session
from ragbench.tiers.scoring.judged_metrics import Judging, judged

PROBABILITIES = (0.1, 0.5, 0.9)
ANSWERABLE, UNANSWERABLE = "answerable", "unanswerable"
RULE = "rule"
REFUSES = "aspect_critique(aspect=refusal)"
"""What a judge is asked of every answer where a judge says which are refusals."""
Decider = Annotated[
    str,
    Field(description='who says which answers are refusals: "rule", by words, or one judge of ragbench.toml'),
]


def check(by: str, settings: Settings) -> None:
    """Refuse a decider that there is not, before anything is paid for. Raises BenchError with who there is."""
    if by != RULE and by not in settings.judges:
        legal = ", ".join(sorted(settings.judges)) or "none"
        raise BenchError(
            f'refusals = {by!r}: "{RULE}" or one model is expected; judges are {legal} (tables [judges.NAME])'
        )


def decided(
    session: Session, asked: Sequence[Question], answered: Answered, by: str, judging: Judging
) -> tuple[Answered, dict[str, Any]]:
    """The answers with `refused` as the decider says it, and the facts of who that is.

    by: RULE, or a judge's name; an answer that the judge gave no verdict on is neither a refusal nor none: `refused` is
    missing, and every share of refusals counts it as unmeasured. facts: `by`; of the rule its `recall` and `precision`,
    `found` of `refusals` labelled ones and `taken`; of a judge what it was asked, and how it did its work.
    Raises ModelError as every judged metric does.
    """
    import pandas as pd

    if by == RULE:
        rule = RECOGNISED
        return answered, {"by": RULE, **rule._asdict(), "recall": rule.recall, "precision": rule.precision}
    metric = parse(REFUSES)
    asking = replace(judging, judges=by, aggregate=None, tolerance=None, quorum=None)
    table, facts = answered.table.copy(), {}
    said: dict[tuple[str, str, int], float] = {}
    for repeat in sorted(set(table["repeat"])):
        samples = [each for each in answered.samples(asked, repeat) if each.response]
        if samples:
            scored = judged(session, samples, [metric], asking)
            facts = {"judges": scored.facts["judges"], "metric": metric.label}
            for row in scored.scores.to_dict("records"):
                said[row["system"], row["sample"], repeat] = row["value"]
    places = zip(table["system"], table["sample"], table["repeat"], table["response"], strict=True)
    verdicts = [said.get((system, sample, repeat), np.nan) if text else 0.0 for system, sample, repeat, text in places]
    table["refused"] = pd.Series(
        [None if np.isnan(verdict) else bool(verdict) for verdict in verdicts], table.index, object
    )
    return replace(answered, table=table), {"by": by, **facts}


def lengths(answered: Answered, asked: Sequence[Question], level: float) -> tuple[NamedEstimate, ...]:
    """Quantiles with order-statistic intervals of the words of answers, of what they took and of their tokens.

    of: "answer" (refusals, and what nobody could tell to be one, left out), "reference" (of the questions, the same in
    every system's rows), "contexts" (of what was shown), "input_tokens", "output_tokens". The first answer of repeats
    counts. What nobody knows has none.
    """
    questions = {question.id: question for question in asked}
    table = answered.table
    table = table[(table["repeat"] == 0) & (table["status"] == Status.OK.value) & table["sample"].isin(questions)]
    made: list[NamedEstimate] = []
    for system in answered.generators:
        own = table[table["system"] == system]
        said = own[own["refused"].eq(False)]
        values: dict[str, Sequence[float]] = {
            "answer": [len(words(text)) for text in said["response"]],
            "reference": [len(words(question.reference)) for question in asked if question.reference],
            "contexts": own["context_words"].tolist(),
            "input_tokens": own["input_tokens"].dropna().astype(float).tolist(),
            "output_tokens": own["output_tokens"].dropna().astype(float).tolist(),
        }
        for what, numbers in values.items():
            for probability in PROBABILITIES if len(numbers) else ():
                e = stats.quantile(np.asarray(numbers, float), probability, level=level)
                made.append(NamedEstimate(system, "length", e, {"of": what, "probability": probability}))
    return tuple(made)


def refusals(answered: Answered, asked: Sequence[Question], sureness: Sureness) -> tuple[NamedEstimate, ...]:
    """Share of refusals at each `group`: among questions that can be answered (wrong ones), and those that cannot.

    A question whose answerability nobody labelled counts as answerable. The first answer of repeats counts; one that
    failed, is empty or got no verdict is neither, and is unmeasured.
    """
    made: list[NamedEstimate] = []
    table = answered.table[answered.table["repeat"] == 0].set_index(["system", "sample"])
    for system in answered.generators:
        for group in (ANSWERABLE, UNANSWERABLE):
            own = [q for q in asked if (group == UNANSWERABLE) == (q.answerable is False)]
            if not own:
                continue
            rows = table.loc[[(system, q.id) for q in own]]
            there = ((rows["status"] == Status.OK.value) & (rows["response"] != "")).to_numpy()
            refused = np.where(there, rows["refused"].to_numpy(dtype=float), np.nan)
            clusters = frames.independent([frames.cluster(q) for q in own])
            share = stats.estimate(refused, clusters=clusters, bounds=(0.0, 1.0), **asdict(sureness))
            made.append(NamedEstimate(system, "refusals", share, {"group": group}))
    return tuple(made)


def cut(answered: Answered) -> dict[str, dict[str, int]]:
    """By system: answers written from less than there was, contexts shortened or left out, characters lost."""
    table = answered.table[answered.table["repeat"] == 0]
    counts: dict[str, dict[str, int]] = {}
    for system in answered.generators:
        own = table[table["system"] == system]
        counts[system] = {
            "answers": int((own["contexts_cut"] > 0).sum()),
            "contexts": int(own["contexts_cut"].sum()),
            "characters": int(own["characters_cut"].sum()),
        }
    return counts


def empty(answered: Answered) -> dict[str, int]:
    """By system: how many answers are empty; systems without one are left out."""
    table = answered.table[answered.table["response"] == ""]
    return {str(system): len(own) for system, own in table.groupby("system", sort=False)}


def failed(answered: Answered) -> dict[str, Mapping[str, int]]:
    """By system: how many answers failed, by status; systems without a failure are left out."""
    table = answered.table[answered.table["status"] != Status.OK.value]
    return {
        str(system): {str(status): int(n) for status, n in own["status"].value_counts().sort_index().items()}
        for system, own in table.groupby("system", sort=False)
    }
