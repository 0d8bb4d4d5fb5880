"""How a page's findings are made: of whom, on which questions, which are independent, on which parts, how sure."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np

from ragbench.old import stats
from ragbench.old.core.facts import Facts
from ragbench.old.core.measurement import (
    QUESTION_COLUMNS,
    RETRIEVED_COLUMNS,
    Evidence,
    Finding,
    NamedComparison,
    NamedEstimate,
)
from ragbench.old.core.metric import Metric
from ragbench.old.core.types import Hit, Piece, Question, Sample
from ragbench.old.metrics import declaration
from ragbench.old.tiers.basics.choices import BenchError, parted
from ragbench.old.tiers.basics.findings import Group, Sureness, Unknown, bounds, columns, compared, find, void

if TYPE_CHECKING:
    import pandas as pd


KNOWN = ("reference", "kind", "language", "cluster", "answerable", "source")


@dataclass(frozen=True)
class Design:
    """What all findings of a page have in common."""

    evidence: Evidence

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The systems, the baseline first."""
        named = dict.fromkeys(str(each["name"]) for each in self.evidence.facts.get("systems") or ())
        return tuple(sorted(named, key=lambda name: name != self.evidence.facts.get("baseline")))

    @cached_property
    def questions(self) -> list[Question]:
        """All questions that are kept, in the data set's order."""
        return [question_of(row) for row in self.evidence.questions.to_dict("records")]

    @cached_property
    def asked(self) -> list[Question]:
        """Those that means are over: the base may answer them, as far as anybody says."""
        return [question for question in self.questions if question.answerable is not False]

    @cached_property
    def clusters(self) -> dict[str, str] | None:
        """Question → cluster; None where all are independent, or taken as such."""
        return None if self.evidence.facts.get("cluster_by") == "none" else clusters(self.asked)

    @cached_property
    def labels(self) -> list[str] | None:
        """The clusters in the questions' order."""
        return None if self.clusters is None else list(self.clusters.values())

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics that were measured and are known here, in their order."""
        labels = dict.fromkeys(self.evidence.scores["metric"])
        return tuple(metric for label in labels if (metric := declaration(label)) is not None)

    @cached_property
    def sureness(self) -> Sureness:
        """Level, draws and seed."""
        facts = self.evidence.facts
        return Sureness(facts["level"], facts["resamples"], facts["seed"])

    @cached_property
    def primary(self) -> str:
        """The label of the primary metric; empty where none is."""
        return str(self.evidence.facts.get("primary") or "")

    @cached_property
    def dimensions(self) -> tuple[str, ...]:
        """What the questions are sliced by."""
        return tuple(self.evidence.facts.get("slice_by") or ())

    def means(
        self, metrics: Sequence[Metric | Unknown] | None = None, pairs: Sequence[tuple[str, str]] = ()
    ) -> tuple[tuple[NamedEstimate, ...], tuple[NamedComparison, ...]]:
        """Estimates and comparisons of single scores, as every page has them and every comparison of runs.

        metrics: what is stated; None: all that are known here. pairs: see `ragbench.old.tiers.basics.findings.find`.
        """
        tops = self.evidence.facts.get("tops")
        return find(
            self.evidence.scores, self.metrics if metrics is None else metrics, self.systems, self.clusters,
            self.sureness, self.primary, tops=tops, pairs=pairs,
        )  # fmt: skip

    def counts(self) -> Facts:
        """How many questions and groups of them there are."""
        return {
            "n_questions": len(self.asked),
            "n_clusters": None if self.clusters is None else len(set(self.clusters.values())),
        }


def question_of(row: Mapping[Any, Any]) -> Question:
    """A question as tables keep it, without what is relevant to it."""
    known = {name: _given(row.get(name)) for name in KNOWN}
    if known["answerable"] is not None:
        known["answerable"] = bool(known["answerable"])
    references = tuple(map(str, row.get("references", ())))
    return Question(str(row["sample"]), str(row["text"] or ""), references=references, **known)


def _given(value: Any) -> Any:
    return None if value is None or value != value else value


Label = TypeVar("Label", bound=Hashable)
AT_ONCE = 20_000
"""Rows that are held as Python's objects, which take many times what a column of them takes."""


def gathered(rows: Iterable[tuple[Any, ...]], columns: Sequence[str]) -> pd.DataFrame:
    """The frame that pandas makes of the list of these rows, which come by and are not held."""
    import pandas as pd

    left, parts = iter(rows), []
    while part := list(islice(left, AT_ONCE)):
        parts.append(pd.DataFrame(part, columns=list(columns)))
    if len(parts) < 2:
        return parts[0] if parts else pd.DataFrame([], columns=list(columns))
    return pd.DataFrame({name: _joined([part.pop(name) for part in parts]) for name in columns}, columns=list(columns))


def _joined(parts: list[pd.Series[Any]]) -> pd.Series[Any]:
    """One column of its parts: those without a value are of the others' kind, as they would be in one list."""
    import pandas as pd

    kinds = [part.dtype for part in parts if part.notna().any()]
    kind = kinds[0] if kinds else parts[0].dtype
    alike = [part if part.dtype == kind or part.notna().any() else part.astype(kind) for part in parts]
    made = pd.concat(alike, ignore_index=True)
    if isinstance(made.dtype, pd.StringDtype):  # one piece of memory, or Parquet cuts its pages elsewhere
        kind, held = cast(Any, made.dtype), cast(Any, made.array)
        return pd.Series(kind.__from_arrow__(held.__arrow_array__().combine_chunks()))
    return made


def questions(asked: Iterable[Question] = (), *more: str) -> pd.DataFrame:
    """One row a question (QUESTION_COLUMNS). more: further fields of the question, a column each."""
    import pandas as pd

    asked = list(asked)
    rows: list[tuple[Any, ...]] = [
        (q.id, q.text, q.reference, q.kind, q.language, q.cluster, q.answerable, sorted(q.relevant),
         *(getattr(q, name) for name in more))
        for q in asked
    ]  # fmt: skip
    return with_references(pd.DataFrame(rows, columns=[*QUESTION_COLUMNS, *more]), [q.references for q in asked])


def with_references(table: pd.DataFrame, references: Sequence[Sequence[str]]) -> pd.DataFrame:
    """The same with a column of all references of each row, where a row has several."""
    import pandas as pd

    if not any(references):
        return table
    return table.assign(references=pd.Series([list(each) for each in references], index=table.index, dtype=object))


def retrieved(rankings: Iterable[tuple[str, str, Iterable[Hit], Mapping[str, float]]] = ()) -> pd.DataFrame:
    """One row a passage or piece (RETRIEVED_COLUMNS). rankings: system, sample, what came in rank order, and gains by
    chunk. Where pieces are among it, `passage` says of what each is one: itself, for a passage."""
    import pandas as pd

    rows, passages, cut = [], [], False
    for system, sample, hits, gains in rankings:
        for rank, hit in enumerate(hits, 1):
            chunk = hit.chunk
            gain = float(gains.get(chunk.id, 0.0))
            rows.append((system, sample, rank, chunk.id, chunk.url, hit.similarity, gain, chunk.text))
            passages.append(chunk.passage)
            cut = cut or isinstance(chunk, Piece)
    made = pd.DataFrame(rows, columns=list(RETRIEVED_COLUMNS))
    return made.assign(passage=passages) if cut else made


def cluster(member: Question | Sample) -> str:
    """The group whose members are not independent; one of its own for what names none."""
    return member.cluster or f"\0{member.id}"


def clusters(asked: Iterable[Question | Sample]) -> dict[str, str] | None:
    """Sample → cluster; None where every one stands alone."""
    labels = {member.id: cluster(member) for member in asked}
    return None if independent(list(labels.values())) is None else labels


def independent(labels: Sequence[Label]) -> list[Label] | None:
    """The clusters; None where each stands alone."""
    return None if len(set(labels)) == len(labels) else list(labels)


DIMENSIONS = ("kind", "language", "source")
FEWEST = 20
"""Questions below which a slice is shown without a verdict: they could hardly show any difference."""
MOST = 12
"""Slices of a dimension: the largest are shown, the others counted."""


def chosen(given: str | Sequence[str]) -> tuple[str, ...]:
    """The dimensions that a text or a list names. Raises BenchError for others than kind, language and source."""
    named = parted(given)
    for name in named:
        if name not in DIMENSIONS:
            raise BenchError(f"slice_by names {name!r}; questions are sliced by {', '.join(DIMENSIONS)}")
    return named


def of_slices(
    scores: pd.DataFrame,
    metric: Metric,
    systems: Sequence[str],
    asked: Sequence[Question],
    dimensions: Sequence[str],
    clusters: Mapping[str, str] | None,
    sureness: Sureness,
) -> tuple[Finding, ...]:
    """An estimate for each slice and system, and its comparison with the first system, at `slice=dimension:value`.

    A dimension with one value is not sliced by; questions without a value are at the dimension alone. The comparisons
    of all slices form one family of their own; a slice of fewer than 20 questions is not compared and not in the
    family. Slices are made from what is known of the questions, never from how systems fared on them: the family does
    not hang on what was found.
    """
    asked = sorted(asked, key=lambda question: question.id)  # as the columns are
    parts = _parts(asked, dimensions)
    values = {name: columns(scores, name, [metric])[metric.label] for name in systems}
    nothing = {name: void(scores, name, [metric])[metric.label] for name in systems}
    labels = None if clusters is None else [clusters[question.id] for question in asked]
    groups: dict[str, Group] = {}
    for part, places in parts.items():
        groups[part] = Group(values, metric.better or "higher", places, bounds(metric), nothing)
    large = {part: group for part, group in groups.items() if len(parts[part]) >= FEWEST and metric.better}
    comparisons = compared(large, labels, sureness)
    made: list[Finding] = []
    for part in groups:
        where = {"slice": part}
        own_labels = None if labels is None else [labels[place] for place in parts[part]]
        how: dict[str, Any] = {"clusters": own_labels, "bounds": bounds(metric), **asdict(sureness)}
        made += [
            NamedEstimate(name, metric.label, stats.estimate(values[name][parts[part]], **how), where)
            for name in systems
        ]
        made += [NamedComparison(metric.label, comparison, where) for comparison in comparisons.get(part, ())]
    return tuple(made)


def left_out(asked: Sequence[Question], dimensions: Sequence[str]) -> dict[str, int]:
    """How many smaller slices of a dimension are not in the table."""
    counts = {name: len({_value(question, name) for question in asked}) - MOST for name in dimensions}
    return {name: count for name, count in counts.items() if count > 0}


def _parts(asked: Sequence[Question], dimensions: Sequence[str]) -> dict[str, np.ndarray]:
    """Slice → places of its questions, the largest of a dimension first; the dimension alone: value not given."""
    parts: dict[str, np.ndarray] = {}
    for dimension in dimensions:
        places: dict[str | None, list[int]] = {}
        for place, question in enumerate(asked):
            places.setdefault(_value(question, dimension), []).append(place)
        if len(places) < 2:
            continue
        ordered = sorted(places, key=lambda value: (-len(places[value]), value is None, value or ""))
        for value in ordered[:MOST]:
            parts[dimension if value is None else f"{dimension}:{value}"] = np.array(places[value])
    return parts


def _value(question: Question, dimension: str) -> str | None:
    """What is known of the question as a text, whatever made it; None: not given."""
    value = getattr(question, dimension)
    return None if value is None or value != value else str(value) or None  # NaN: as tables hold what is missing
