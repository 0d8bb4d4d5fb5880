"""How long answers are and how often systems refuse, apart for questions that can be answered and those that cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from ragbench import stats
from ragbench.bench.answers.written_answers import Answered
from ragbench.bench.basics import frames
from ragbench.bench.basics.families import Sureness
from ragbench.judge.words import words
from ragbench.measurement import NamedEstimate
from ragbench.types import Question, Status

PROBABILITIES = (0.1, 0.5, 0.9)
ANSWERABLE, UNANSWERABLE = "answerable", "unanswerable"


def lengths(answered: Answered, asked: Sequence[Question], level: float) -> tuple[NamedEstimate, ...]:
    """Quantiles with order-statistic intervals of the words of answers, of what they took and of their tokens.

    of: "answer" (refusals left out), "reference" (of the questions, the same in every system's rows), "contexts" (of
    what was shown), "input_tokens", "output_tokens". The first answer of repeats counts. What nobody knows has none.
    """
    questions = {question.id: question for question in asked}
    table = answered.table
    table = table[(table["repeat"] == 0) & (table["status"] == Status.OK.value) & table["sample"].isin(questions)]
    made: list[NamedEstimate] = []
    for system in answered.generators:
        own = table[table["system"] == system]
        said = own[~own["refused"]]
        shown = [answered.shown[system, identifier].contexts for identifier in own["sample"]]
        values: dict[str, Sequence[float]] = {
            "answer": [len(words(text)) for text in said["response"]],
            "reference": [len(words(question.reference)) for question in asked if question.reference],
            "contexts": [sum(len(words(chunk.text)) for chunk in chunks) for chunks in shown],
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
    failed or is empty is neither, and is unmeasured.
    """
    made: list[NamedEstimate] = []
    table = answered.table[answered.table["repeat"] == 0].set_index(["system", "sample"])
    for system in answered.generators:
        for group in (ANSWERABLE, UNANSWERABLE):
            own = [q for q in asked if (group == UNANSWERABLE) == (q.answerable is False)]
            if not own:
                continue
            found = table.loc[[(system, q.id) for q in own]]
            there = ((found["status"] == Status.OK.value) & (found["response"] != "")).to_numpy()
            refused = np.where(there, found["refused"].to_numpy(dtype=float), np.nan)
            clusters = frames.independent([frames.cluster(q) for q in own])
            share = stats.estimate(refused, clusters=clusters, bounds=(0.0, 1.0), **asdict(sureness))
            made.append(NamedEstimate(system, "refusals", share, {"group": group}))
    return tuple(made)


def cut(answered: Answered) -> dict[str, dict[str, int]]:
    """By system: answers written from less than there was, contexts shortened or left out, characters lost."""
    table = answered.table[answered.table["repeat"] == 0]
    found: dict[str, dict[str, int]] = {}
    for system in answered.generators:
        own = table[table["system"] == system]
        found[system] = {
            "answers": int((own["contexts_cut"] > 0).sum()),
            "contexts": int(own["contexts_cut"].sum()),
            "characters": int(own["characters_cut"].sum()),
        }
    return found


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
