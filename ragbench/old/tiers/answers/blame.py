"""Which part is to blame: for every question the first part that failed, the share of every part, and differences.

An answer is good when it is right, stays within what the system read, and is shown. Where one of these fails, the parts
are gone through in the order in which they work, and the first that failed takes the blame. What cannot be told from
what was measured is unmeasured: a bar of its own, never a part.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np

from ragbench.old import stats
from ragbench.old.core.measurement import NamedComparison, NamedEstimate
from ragbench.old.core.metric import Metric, parse
from ragbench.old.core.types import Better, Chunk, Piece, Question, Status
from ragbench.old.metrics import catalogue
from ragbench.old.metrics.ranking_arrays.coverage import NOTHING, Added, LabelledText
from ragbench.old.tiers.basics import findings
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.tiers.basics.findings import Group, Sureness

if TYPE_CHECKING:
    import pandas as pd


ANSWERABLE, UNANSWERABLE = "answerable", "unanswerable"
ENOUGH = 0.75  # of a rating's scale: 4 of 1 to 5
WHOLE = frozenset({"faithfulness"})
"""Shares of claims: one claim beyond the context is one too many."""


class Part(StrEnum):
    """What failed first, in the order of work; GOOD: nothing. The last three are of unanswerable questions, and of all.

    MISSING: no passage of the base holds the answer. NOT_RETRIEVED: none that does was retrieved. TOO_LOW: one was,
    below what the generator read. NOT_USED: it was read, and the answer is wrong or a refusal. BEYOND: the answer is
    right and claims what was not read. WITHHELD: it is good, and was not shown.
    """

    MISSING = "missing"
    NOT_RETRIEVED = "not_retrieved"
    TOO_LOW = "too_low"
    NOT_USED = "not_used"
    BEYOND = "beyond"
    WITHHELD = "withheld"
    GOOD = "good"
    RIGHT_REFUSAL = "right_refusal"
    INVENTED = "invented"
    UNMEASURED = "unmeasured"


PARTS = {
    ANSWERABLE: (
        Part.MISSING, Part.NOT_RETRIEVED, Part.TOO_LOW, Part.NOT_USED, Part.BEYOND, Part.WITHHELD, Part.GOOD,
    ),
    UNANSWERABLE: (Part.INVENTED, Part.RIGHT_REFUSAL),
}  # fmt: skip
GOOD = (Part.GOOD, Part.RIGHT_REFUSAL)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of one answer; None: nobody can tell.

    in_base, retrieved, read: whether a passage that holds the answer is in the base, in the ranking, among what the
    generator was given. right, faithful, shown: of the answer.
    """

    answerable: bool
    in_base: bool | None
    retrieved: bool | None
    read: bool | None
    refused: bool | None
    right: bool | None
    faithful: bool | None
    shown: bool | None


def first_failure(known: Known) -> tuple[Part, str]:
    """The part to blame and why it is this one: a word for people's eyes.

    The word of GOOD tells where an answer is good although a part before it failed; that of UNMEASURED what is missing.
    """
    if not known.answerable:
        return _unanswerable(known)
    good = _all(known.right, known.faithful, known.shown)
    if good is None:
        return Part.UNMEASURED, next(name for name in ("right", "faithful", "shown") if getattr(known, name) is None)
    before = (
        (Part.MISSING, known.in_base), (Part.NOT_RETRIEVED, known.retrieved), (Part.TOO_LOW, known.read),
    )  # fmt: skip
    first = next(((part, held) for part, held in before if held is not True), None)
    if good:
        return Part.GOOD, "" if first is None or first[1] is None else f"although_{first[0]}"
    if first is not None:
        return (Part.UNMEASURED, "retrieved") if first[1] is None else (first[0], "")
    if known.right is not True:
        return (Part.UNMEASURED, "right") if known.right is None else (Part.NOT_USED, _wrong(known))
    if known.faithful is not True:
        return (Part.UNMEASURED, "faithful") if known.faithful is None else (Part.BEYOND, "")
    return Part.WITHHELD, ""


def _unanswerable(known: Known) -> tuple[Part, str]:
    if known.refused is None:
        return Part.UNMEASURED, "right"
    if known.refused:
        return Part.RIGHT_REFUSAL, "refused"
    if known.shown is None:
        return Part.UNMEASURED, "shown"
    return (Part.INVENTED, "") if known.shown else (Part.RIGHT_REFUSAL, "withheld")


def _wrong(known: Known) -> str:
    return "refused" if known.refused else "wrong_and_beyond" if known.faithful is False else "wrong"


def _all(*given: bool | None) -> bool | None:
    return False if False in given else None if None in given else True


@dataclass(frozen=True)
class Standard:
    """What counts as right and as faithful: metrics, and the values from which on an answer is.

    right_from, faithful_from: on the metric's own scale; None: three quarters of the way up (4 of 1 to 5), and 1 for
    the share of supported claims.
    """

    correctness: str = "e2e_score"
    faithfulness: str = "faithfulness_rating"
    right_from: float | None = None
    faithful_from: float | None = None

    @property
    def metrics(self) -> tuple[Metric, Metric]:
        """The two metrics. Raises BenchError for one that does not rate single answers on a scale with two ends."""
        return _rating(self.correctness, "correctness"), _rating(self.faithfulness, "faithfulness")

    @property
    def limits(self) -> tuple[float, float]:
        """The values from which on an answer is right, and faithful."""
        given = (self.right_from, self.faithful_from)
        return tuple(_limit(each, value) for each, value in zip(self.metrics, given, strict=True))  # type: ignore[return-value]

    def facts(self) -> dict[str, Any]:
        """The standard as a page states it."""
        right_from, faithful_from = self.limits
        names = {"correctness": self.correctness, "faithfulness": self.faithfulness}
        scales = {f"{name}_scale": list(each.bounds) for name, each in zip(names, self.metrics, strict=True)}
        return {**names, **scales, "right_from": right_from, "faithful_from": faithful_from}


def _rating(label: str, what: str) -> Metric:
    catalogue()
    metric = parse(label)
    if metric.grain != "sample" or None in metric.bounds or metric.better != "higher":
        raise BenchError(f"{what} = {label!r}: a metric of single answers is expected, higher is better, 0 to 1 or so")
    return metric


def _limit(metric: Metric, given: float | None) -> float:
    low, high = metric.bounds
    if low is None or high is None:
        raise BenchError(f"{metric.label} has no two ends")
    if given is None:
        return high if metric.name in WHOLE else low + ENOUGH * (high - low)
    if isinstance(given, bool) or not low < given <= high:
        raise BenchError(f"an answer counts from {given!r} on of {metric.label}, which goes from {low:g} to {high:g}")
    return float(given)


COLUMNS = (
    "system", "sample", "group", "part", "cause", "rank", "read", "refused", "correctness", "faithfulness", "shown",
    "reason",
)  # fmt: skip
Hit = Mapping[Any, Any]
"""A row of what was retrieved."""
METRIC = "blame"
"""The name under which findings stand: the share of a part of the questions of its group, at `part`."""


@dataclass(frozen=True)
class Seen:
    """What was retrieved, and by what one knows that it holds the answer.

    table: RETRIEVED_COLUMNS. labelled: the labelled text of the questions, to which pieces of passages are held.
    pieces: those that were retrieved, by id; empty where passages are not cut.
    """

    table: pd.DataFrame
    labelled: LabelledText
    pieces: Mapping[str, Piece] = field(default_factory=dict)

    def added(self, question: Question, hits: Iterable[Hit]) -> list[Added]:
        """What each of these hits, in rank order, adds to what those above it show of the labelled text.

        A labelled passage, or any of a labelled page, holds the answer whatever stands above it. What is cut holds it
        with those above it, from the piece on with which enough has been shown.
        """
        rows = list(hits)
        chunks = [self.pieces.get(hit["chunk"]) or Chunk(hit["chunk"], "") for hit in rows]
        return [
            addition if chunk.id in self.pieces and hit["url"] not in question.relevant_urls else _whole(question, hit)
            for hit, chunk, addition in zip(rows, chunks, self.labelled.added(question, chunks), strict=True)
        ]

    def holding(self, question: Question, hits: Iterable[Hit]) -> list[Hit]:
        """Those of these hits with which the answer was there to be read."""
        rows = list(hits)
        return [hit for hit, addition in zip(rows, self.added(question, rows), strict=True) if addition.reached]


@dataclass(frozen=True)
class Workings:
    """What the parts did: the tables of a measurement, and what the base holds.

    base: ids and addresses of all its passages. seen: what was retrieved. answers: one row a system, question and
    repeat, of which the first counts, with `contexts` (ids of what the generator was given), `refused`, `status`.
    scores: SCORE_COLUMNS with the standard's two metrics. shown: (system, question) → whether the answer was shown,
    None where that failed; empty where every answer is.
    """

    asked: Sequence[Question]
    base: Collection[str]
    seen: Seen
    answers: pd.DataFrame
    scores: pd.DataFrame
    shown: Mapping[tuple[str, str], bool | None]


def blame(evidence: Workings, standard: Standard) -> pd.DataFrame:
    """One row a system and question (COLUMNS): the part that failed first, and what that was told from.

    rank: of the first passage that holds the answer, or of the piece with which enough of one is shown; NaN where none
    was retrieved. read: how many passages the
    generator was given. A question without a label of relevance, of which nobody says that it can be answered, is
    unmeasured ("label").
    """
    import pandas as pd

    labels = (standard.correctness, standard.faithfulness)
    ranked = by_question(evidence.seen.table.sort_values("rank", kind="stable"))
    values = {
        (row["system"], row["metric"], row["sample"]): row
        for row in evidence.scores.to_dict("records")
        if row["metric"] in labels
    }
    held = set(evidence.base)
    firsts = evidence.answers[evidence.answers["repeat"] == 0].to_dict("records")
    searched = {system for system, _ in ranked}
    by_place = {(row["system"], row["sample"]): row for row in firsts}
    rows = []
    for system in dict.fromkeys(row["system"] for row in firsts):
        for question in evidence.asked:
            answer = by_place.get((system, question.id))
            if answer is None:
                continue
            hits = ranked.get((system, question.id), ()) if system in searched else None
            scores = [
                values.get((system, label, question.id)) for label in (standard.correctness, standard.faithfulness)
            ]
            shown = evidence.shown.get((system, question.id)) if evidence.shown else True
            rows.append(_row(system, question, answer, hits, scores, shown, held, standard, evidence.seen))
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.astype(dict.fromkeys(("rank", "read", "correctness", "faithfulness", "refused", "shown"), float))


def _row(
    system: str,
    question: Question,
    answer: Mapping[Any, Any],
    hits: Sequence[Hit] | None,
    scores: Sequence[Mapping[Any, Any] | None],
    shown: bool | None,
    held: set[str],
    standard: Standard,
    seen: Seen,
) -> tuple[Any, ...]:
    there = answer["status"] == Status.OK.value
    told = there and answer["response"] != "" and answer["refused"] in (True, False)  # silence is no refusal
    refused = bool(answer["refused"]) if told else None
    right_from, faithful_from = standard.limits
    right = _reaches(scores[0], right_from) if there else None
    faithful = _reaches(scores[1], faithful_from) if there else None
    ranks = None if hits is None else [int(hit["rank"]) for hit in seen.holding(question, hits)]
    given = set(answer["contexts"])
    read = None if hits is None else seen.holding(question, (hit for hit in hits if hit["chunk"] in given))
    known = Known(
        answerable=question.answerable is not False,
        in_base=bool(_labelled(question) & held),
        retrieved=None if hits is None else _held(ranks, hits, held, seen),
        read=None if hits is None else _held(read, (hit for hit in hits if hit["chunk"] in given), held, seen),
        refused=refused,
        right=False if refused else right,
        faithful=True if refused else faithful,
        shown=shown,
    )
    part, cause = first_failure(known)
    if known.answerable and question.answerable is None and not _labelled(question):
        part, cause = Part.UNMEASURED, "label"
    return (
        system, question.id, ANSWERABLE if known.answerable else UNANSWERABLE, part.value, cause,
        min(ranks) if ranks else math.nan, math.nan if hits is None else len(given), _number(refused),
        _value(scores[0]), _value(scores[1]), _number(shown), _said(answer, scores, part, cause),
    )  # fmt: skip


def _held(holding: Sequence[Any] | None, hits: Iterable[Hit], base: Collection[str], seen: Seen) -> bool | None:
    """Whether some of these passages hold the answer; None where none is known to, and nobody knows what one of them
    is."""
    if holding:
        return True
    known = (hit["chunk"] in base or hit["chunk"] in seen.pieces or hit["url"] in base for hit in hits)
    return False if all(known) else None


def _labelled(question: Question) -> set[str]:
    """Ids and addresses of the passages that hold the answer."""
    return {name for labels in (question.relevant, question.relevant_urls) for name, gain in labels.items() if gain > 0}


def _whole(question: Question, passage: Hit) -> Added:
    """Of a passage (`chunk`, `url`), whether it holds the answer, by the labels of the question."""
    labelled = _labelled(question)
    holds = passage["chunk"] in labelled or passage["url"] in labelled
    return Added(1.0, 1.0, True) if holds else NOTHING


def _reaches(score: Mapping[Any, Any] | None, limit: float) -> bool | None:
    """Whether a value reaches its limit; an answer without claims goes beyond nothing."""
    if score is None:
        return None
    if score["status"] == Status.EMPTY_DECOMPOSITION.value:
        return True
    return None if math.isnan(score["value"]) else bool(score["value"] >= limit)


def _value(score: Mapping[Any, Any] | None) -> float:
    return math.nan if score is None else float(score["value"])


def _number(flag: bool | None) -> float:
    return math.nan if flag is None else float(flag)


def _said(answer: Mapping[Any, Any], scores: Sequence[Mapping[Any, Any] | None], part: Part, cause: str) -> str | None:
    """What the judge, or whoever failed, said of it."""
    if answer["status"] != Status.OK.value:
        return str(answer["reason"])
    place = {"right": 0, "faithful": 1}.get(cause, 1 if part is Part.BEYOND else 0)
    score = scores[place]
    return None if score is None else str(score["reason"])


def by_question(table: pd.DataFrame) -> dict[tuple[str, str], list[Hit]]:
    """(system, question) → what was retrieved, in the table's order."""
    hits: dict[tuple[str, str], list[Hit]] = {}
    for row in table[["system", "sample", "rank", "chunk", "url"]].to_dict("records"):
        hits.setdefault((row["system"], row["sample"]), []).append(row)
    return hits


def shares(table: pd.DataFrame, clusters: Mapping[str, str] | None, sureness: Sureness) -> tuple[NamedEstimate, ...]:
    """Of every system and part: for which share of the questions of its group that were measured it is to blame.

    The same questions are drawn for all parts, so that shares add up to 1 in every draw; clusters are drawn whole.
    floor, ceiling: the share if every unmeasured question were of another part, or of this one.
    """
    made: list[NamedEstimate] = []
    for (system, group), own in table.groupby(["system", "group"], sort=False):
        flags = indicators(own["part"], PARTS[str(group)])
        labels = None if clusters is None else [clusters[sample] for sample in own["sample"]]
        estimates = stats.estimate_many(flags, clusters=labels, bounds=(0.0, 1.0), **asdict(sureness))
        made += [NamedEstimate(str(system), METRIC, estimate, {"part": part}) for part, estimate in estimates.items()]
    return tuple(made)


def indicators(parts: Iterable[str], of: Sequence[Part]) -> dict[str, Any]:
    """Part → one number a question: 1 where it is to blame, 0 where another is, NaN where nobody can tell."""
    column = np.array(list(parts), dtype=object)
    unmeasured = column == Part.UNMEASURED.value
    return {part.value: np.where(unmeasured, np.nan, (column == part.value).astype(float)) for part in of}


def compared(
    table: pd.DataFrame, systems: Sequence[str], clusters: Mapping[str, str] | None, sureness: Sureness
) -> tuple[NamedComparison, ...]:
    """Every system against the first, part by part, paired by question; all of them one family.

    Of parts that nobody had to answer for there is nothing to compare.
    """
    groups: dict[str, Group] = {}
    samples = list(dict.fromkeys(table["sample"]))
    labels = None if clusters is None else [clusters[sample] for sample in samples]
    for group, parts in PARTS.items():
        own = table[table["group"] == group]
        wide = own.pivot_table(index="sample", columns="system", values="part", aggfunc="first", sort=False)
        if set(systems) - set(wide.columns) or len(systems) < 2:
            continue
        places = np.flatnonzero(np.isin(samples, wide.index))
        wide = wide.reindex(samples)
        flags = {name: indicators(wide[name].fillna(Part.UNMEASURED.value), parts) for name in systems}
        for part in parts:
            if part is Part.RIGHT_REFUSAL:
                continue  # it is what answers that were invented leave
            better: Better = "higher" if part in GOOD else "lower"
            values = {name: flags[name][part.value] for name in systems}
            if any(np.nansum(column) > 0 for column in values.values()):
                groups[part.value] = Group(values, better, places, (0.0, 1.0))
    comparisons = findings.compared(groups, labels, sureness)
    return tuple(
        NamedComparison(METRIC, comparison, {"part": part})
        for part, against in comparisons.items()
        for comparison in against
    )
