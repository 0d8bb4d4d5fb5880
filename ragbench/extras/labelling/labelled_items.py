"""What people label: answers with their questions and passages, out of what a notebook measured."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ragbench.core.measurement import Measurement
from ragbench.core.metric import grades, parse
from ragbench.metrics import catalogue, declaration
from ragbench.tiers.answers.rag_metrics import AT_RANDOM
from ragbench.tiers.scoring.corrections import of_shared_answers

if TYPE_CHECKING:
    import pandas as pd

TIERS = ("tier2_generation", "tier3_end_to_end", "rag_metrics", "tier_judge", "tier_judge_pipeline")
STEPS = 5  # buttons of a scale that is no short row of whole numbers


@dataclass(frozen=True)
class Item:
    """An answer to be labelled on a metric.

    id, system, metric: what it is, which the annotator never sees; no system where several judges judged it. code: what
    stands for these three outside.
    """

    id: str
    system: str
    metric: str
    question: str
    answer: str
    contexts: tuple[str, ...] = ()
    reference: str | None = None

    @property
    def code(self) -> str:
        """A short name that tells nothing of sample, system and metric."""
        return hashlib.sha256("\0".join((self.id, self.system, self.metric)).encode()).hexdigest()[:12]


def items(measurement: Measurement, metric: str, *, count: int | None = 100, seed: int = 0) -> list[Item]:
    """Answers of a measurement in random order, at most `count`: the first ones are a random sample of all.

    Of a page that lists some of very many questions only those are drawn from that it drew at random itself.
    Questions are drawn, and all systems' answers to a drawn question are labelled, so that systems can be compared on
    the same questions; the order of answers is mixed. An answer that several judges judged is one item, and its label
    stands beside each of their scores. Only answers whose metric was measured are drawn: a label beside which no score
    stands corrects nothing. The same seed gives every annotator the same order.
    Raises ValueError for a metric that was not measured or is of many answers at once, and for a measurement that keeps
    no answers.
    """
    answers = _answers(measurement, metric)
    if not answers:
        raise ValueError(
            f"{measurement.notebook} keeps no answers: label those of one that judges answers ({', '.join(TIERS)})"
        )
    scores = measurement.scores
    own = scores[(scores["metric"] == metric) & scores["value"].notna()]
    if own.empty:
        known = ", ".join(dict.fromkeys(scores["metric"])) or "nothing"
        raise ValueError(f"metric = {metric!r}: no score of it was measured; measured: {known}")
    if (declared := declaration(metric)) is not None and declared.grain != "sample":
        raise ValueError(f"metric = {metric!r} is no measure of single answers: people cannot label one on it")
    shared = of_shared_answers(measurement)
    systems = [""] * len(own) if shared else own["system"].astype(str)
    judged = set(zip(systems, own["sample"].astype(str), strict=True))
    answers = [answer for answer in answers if (answer.system, answer.id) in judged]
    rng = np.random.default_rng(seed)
    samples = sorted({answer.id for answer in answers})
    place = {samples[number]: rank for rank, number in enumerate(rng.permutation(len(samples)))}
    answers.sort(key=lambda answer: (place[answer.id], answer.system))
    chosen = answers if count is None else answers[:count]
    return [chosen[number] for number in _mixed(chosen, place, rng)]


def _mixed(chosen: Sequence[Item], place: Mapping[str, int], rng: np.random.Generator) -> list[int]:
    """Positions in random order within stretches of whole questions, so that a beginning is still a random sample."""
    stretch = 20
    groups: dict[int, list[int]] = {}
    for number, answer in enumerate(chosen):
        groups.setdefault(place[answer.id] // stretch, []).append(number)
    return [int(number) for _, group in sorted(groups.items()) for number in rng.permutation(group)]


def _answers(measurement: Measurement, metric: str) -> list[Item]:
    """What a measurement keeps of answers, each once."""
    if of_shared_answers(measurement):
        table = measurement.extra.get("decisions", measurement.extra.get("answers"))
        return [] if table is None else _judged(table, metric)
    if "answers" not in measurement.extra:
        return []
    table = measurement.questions
    if drawn := "listed" in table:
        table = table[table["listed"] == AT_RANDOM]
    questions = {str(row["sample"]): row for row in table.to_dict("records")}
    passages: dict[tuple[str, str], list[str]] = {}
    for row in measurement.retrieved.sort_values(["system", "sample", "rank"], kind="stable").to_dict("records"):
        passages.setdefault((str(row["system"]), str(row["sample"])), []).append(str(row["text"]))
    answers = []
    for row in measurement.extra["answers"].drop_duplicates(["system", "sample"]).to_dict("records"):
        sample, system, answer = str(row["sample"]), str(row["system"]), row["response"]
        question: Mapping[Any, Any] = questions.get(sample, {})
        if isinstance(answer, str) and (sample in questions or not drawn):
            text, reference = str(question.get("text") or ""), _text(question.get("reference"))
            answers.append(
                Item(sample, system, metric, text, answer, tuple(passages.get((system, sample), ())), reference)
            )
    return answers


def _judged(table: pd.DataFrame, metric: str) -> list[Item]:
    """Answers that were given to several judges, each once, and of no system: what a judge said is not shown."""
    answers = []
    for row in table.drop_duplicates("sample").to_dict("records"):
        if isinstance(row["answer"], str):
            passages = tuple(map(str, row["contexts"])) if "contexts" in row else ()
            question, reference = _text(row["question"]) or "", _text(row.get("reference"))
            answers.append(Item(str(row["sample"]), "", metric, question, row["answer"], passages, reference))
    return answers


def _text(given: object) -> str | None:
    return given if isinstance(given, str) else None


def scale_of(metric: str, measurement: Measurement | None = None) -> tuple[float, ...]:
    """The values that an annotator can give: those that the metric declares, whole numbers of its scale, or equal
    steps of a short or signed one.

    measurement: of a metric that was read out of a file of judgements, and is not in the catalogue, its judges' scale.
    Raises ValueError for a metric without ends: name the values yourself.
    """
    catalogue()
    ends = None if measurement is None else measurement.facts.get("judge_scale")
    try:
        declared = parse(metric)
    except ValueError:
        if ends is None:
            raise
        return _steps(float(ends[0]), float(ends[1]))
    low, high = declared.bounds
    if declared.levels:
        return declared.levels
    if low is None or high is None:
        raise ValueError(f"{metric}: its scale has no ends; name the values that can be given: scale=(1, 2, 3)")
    return _steps(low, high)


def _steps(low: float, high: float) -> tuple[float, ...]:
    return grades(low, high) or tuple(float(value) for value in np.linspace(low, high, STEPS))
