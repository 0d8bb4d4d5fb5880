"""What pages of runs say: their facts, and the rows of their side tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypedDict, cast

from ragbench.old.core.facts import Facts, Told
from ragbench.old.core.types import Better, Estimate


class RunFacts(Facts, total=False):
    """run, runs: what is told of each; sections: the parts of a history. fallen: how many questions fell out, by run.

    other_data: that not all runs are of the same data. identified: that all say what their numbers depend on.
    topic_coverage: how many passages each topic of a loaded run found. pairs: systems that are compared, with whom.
    """

    run: str
    runs: Sequence[Told]
    sections: Sequence[Told]
    fallen: Sequence[Told]
    other_data: bool
    identified: bool
    topic_coverage: Sequence[Told]
    pairs: Sequence[Sequence[str]]


def run_facts(facts: Facts) -> RunFacts:
    """The facts of a page of runs, or of a part of a loaded run."""
    return cast(RunFacts, facts)


class PageRow(TypedDict):
    """A page of a comparison. equal: whether no question tells its runs apart."""

    page: str
    title: str
    equal: bool


class SettingRow(TypedDict):
    """See `ragbench.old.extras.runs.changes.Setting`. values: one a run, in the runs' order."""

    kind: str
    name: str
    differs: bool
    values: Sequence[str | None]


class RefusedRow(TypedDict):
    """See `ragbench.old.extras.runs.changes.Refusal`. run: the letter of the run that is not compared."""

    notebook: str
    kind: str
    first: str
    second: str
    dataset: str
    run: str


class SummaryRow(TypedDict):
    """A number of the baseline and of another run, which nothing pairs. why: why they are not compared, "" where they
    are; what was not compared, and what nobody says, is NaN."""

    notebook: str
    run: str
    first: str
    second: str
    metric: str
    value_first: float
    low_first: float | None
    high_first: float | None
    n_first: float | None
    value_second: float
    low_second: float | None
    high_second: float | None
    n_second: float | None
    difference: float
    low: float
    high: float
    p: float
    verdict: str
    effect_size: float | None
    minimum_detectable: float | None
    margin: float | None
    questions_needed: float | None
    withheld: str
    why: str


class Side(NamedTuple):
    """The number of one run."""

    value: float
    low: float | None
    high: float | None
    n: int | None


def sides(row: SummaryRow) -> tuple[Side, Side]:
    """The baseline's number and the other run's."""
    return (
        Side(row["value_first"], row["low_first"], row["high_first"], counted(row["n_first"])),
        Side(row["value_second"], row["low_second"], row["high_second"], counted(row["n_second"])),
    )


def known(number: float | None) -> float | None:
    """A number as tables hold it; None where nobody says."""
    return None if number is None or number != number else number


def counted(n: float | None) -> int | None:
    """A count as tables hold it; None where nobody says."""
    return None if n is None or n != n else int(n)


class NumberRow(TypedDict):
    """A number of a loaded run. reason: why it must not be compared, "" where it may be."""

    notebook: str
    system: str
    metric: str
    value: float
    low: float | None
    high: float | None
    n: float | None
    n_unmeasured: float | None
    unit: str | None
    reason: str


class TopicRow(TypedDict):
    """How many passages a topic of a loaded run found, NaN where it does not say."""

    topic_id: int
    question_count: int
    unique_chunks: float | None
    unique_urls: float | None


class PointRow(TypedDict):
    """A value of a history. section, place: where its run stands. n, n_unmeasured: NaN where nobody says. stretch: goes
    up where the data, the unit or the scale is another than before. judged_by: the offline judge that alone judged it,
    else ""."""

    section: int
    place: int
    run: str
    started: str
    notebook: str
    system: str
    metric: str
    n: float | None
    n_unmeasured: float | None
    better: Better | None
    stretch: int
    comparable: bool
    reason: str
    judged_by: str


class Point(PointRow):
    """The same with its number."""

    estimate: Estimate


class ChangeRow(TypedDict):
    """What differs from the run before, in a section of a history."""

    section: int
    place: int
    kind: str
    name: str
    before: str
    after: str
