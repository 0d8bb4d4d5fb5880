"""A measurement on some of its questions, or of two of its systems: statistics made anew, nothing measured anew.

Findings come from the functions that the tiers use, over the stored values of single questions, with the level, the
draws and the seed of the measurement. What needs more than is stored of single questions is left out and named.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ragbench import stats
from ragbench.core.measurement import Finding, Measurement, NamedComparison, NamedEstimate
from ragbench.core.metric import Metric
from ragbench.core.types import Question, Sample, Score, Status
from ragbench.core.types.reason import read
from ragbench.metrics import declaration
from ragbench.metrics.ranking_arrays import from_lists
from ragbench.tiers.answers import answer_scores, profiles, rag_metrics, stages
from ragbench.tiers.answers.written_answers import Answered, sample
from ragbench.tiers.basics import findings, frames, slices
from ragbench.tiers.basics.choices import BenchError
from ragbench.tiers.basics.families import Sureness
from ragbench.tiers.retrieval import curves, timing
from ragbench.tiers.scoring import repeats
from ragbench.tiers.scoring.ledger import Row
from ragbench.tiers.scoring.result import Scores

if TYPE_CHECKING:
    import pandas as pd

OF_QUESTIONS = ("answers", "judgements", "repeated", "latencies", "readings", "chunks", answer_scores.COUNTS)
"""Tables that are still true of some of the questions."""
COUNTED_ON_ALL = (
    "doubts", "n_without_relevant", "n_without_context", "n_history", "n_without_page", "n_page_gone",
    "n_without_vector", "n_users", "blame", "corrected", "slices_left_out", "sets", "listing",
)  # fmt: skip
"""Facts that are of all questions, and not counted again."""
LEFT_OUT = {
    "index": "indexes", "of": "lengths", "asked": "habits", "mean": "labels", "part": "blame", "perfect": "blame",
    "k": "curves", "words": "curves", "first": "curves", "other": "correlations",
}  # fmt: skip
"""What findings are of, by a key of their place."""
OTHERS = "others"
KNOWN = ("reference", "kind", "language", "cluster", "answerable", "source")
Found = tuple[Sequence[NamedEstimate], Sequence[NamedComparison], Sequence[Finding]]


def recomputed(
    made: Measurement, samples: Iterable[str] | None = None, systems: Sequence[str] = (), condition: str = ""
) -> Measurement:
    """The measurement of these questions and systems alone, its estimates, intervals, p and verdicts made anew.

    samples: ids of questions; None: all. systems: the baseline first; empty: all. condition: how the questions were
    chosen, in people's words. The fact `part` says what it is a part of: `condition`, `n` of `of` questions, `systems`
    where they were chosen, and `left_out`, the kinds of findings that are not made anew.
    Raises BenchError where findings are not made of values of single questions, and where no value is left.
    """
    return _Part(made.judged_alone(), None if samples is None else frozenset(samples), systems, condition).measurement


def check(made: Measurement) -> None:
    """Refuse a measurement whose findings are not made of values of single questions. Raises BenchError."""
    if _way(made) is None:
        raise BenchError(
            f"{made.notebook}: its findings are not made of values of single questions that are stored; parts can be "
            "taken of pages that retrieve or answer (tiers 1, 2 and 3, real users, tables of answers)"
        )


def _way(made: Measurement) -> Any:
    facts = made.facts
    if facts.get("describes") or facts.get("describes_decisions") or not len(made.scores):
        return None
    return _of_answers if "context" in facts else _of_rankings if "unit" in facts else _of_a_table


@dataclass(frozen=True)
class _Part:
    """What is wanted of a measurement."""

    made: Measurement
    samples: frozenset[str] | None
    given: Sequence[str]
    condition: str

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The systems, the baseline first."""
        known = dict.fromkeys(estimate.system for estimate in self.made.estimates)
        return tuple(self.given) or tuple(sorted(known, key=lambda name: name != self.made.facts.get("baseline")))

    @cached_property
    def scores(self) -> pd.DataFrame:
        """The values of these systems and questions."""
        return self.rows(self.made.scores)

    @cached_property
    def questions(self) -> pd.DataFrame:
        """The questions, as they are kept."""
        return self.rows(self.made.questions)

    @cached_property
    def asked(self) -> list[Question]:
        """The questions that have values, in the data set's order."""
        scored = set(self.scores["sample"])
        return [_question(row) for row in self.questions.to_dict("records") if row["sample"] in scored]

    @cached_property
    def clusters(self) -> dict[str, str] | None:
        """Question → cluster; None where they were taken as independent."""
        return None if self.made.facts.get("n_clusters") is None else frames.clusters(self.asked)

    @cached_property
    def labels(self) -> list[str] | None:
        """The clusters in the questions' order."""
        return None if self.clusters is None else list(self.clusters.values())

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics that were measured and are known here, in their order."""
        named = dict.fromkeys(estimate.metric for estimate in self.made.estimates)
        return tuple(metric for label in named if (metric := declaration(label)) is not None)

    @cached_property
    def sureness(self) -> Sureness:
        """As sure as the measurement is."""
        return Sureness(*(self.made.facts[name] for name in ("level", "resamples", "seed")))

    @cached_property
    def primary(self) -> Metric | None:
        """The primary metric, where it is known here."""
        wanted = self.made.facts.get("primary")
        return next((each for each in self.metrics if each.label == wanted), None)

    @property
    def dimensions(self) -> tuple[str, ...]:
        """What the questions were sliced by."""
        asked = {parameter["name"]: parameter["value"] for parameter in self.made.facts.get("request") or ()}
        told = [str(estimate.where["slice"]).partition(":")[0] for estimate in self.made.estimates_by("slice")]
        return slices.chosen(asked["slice_by"]) if "slice_by" in asked else tuple(dict.fromkeys(told))

    def rows(self, table: pd.DataFrame) -> pd.DataFrame:
        """The rows of these systems and questions."""
        if self.samples is not None and "sample" in table:
            table = table[table["sample"].isin(self.samples)]
        if self.given and "system" in table:
            table = table[table["system"].isin(["", *self.given])]
        return table.reset_index(drop=True)

    @property
    def measurement(self) -> Measurement:
        check(self.made)
        made, way = self.made, _way(self.made)
        if not self.asked:
            raise BenchError(f"{made.notebook}: none of these questions has a value to make statistics of")
        estimates, comparisons, placed = way(self)
        told = {
            name: finding for finding in (*made.placed, *made.comparisons) if (name := _margin_of(finding)) is not None
        }
        comparisons = [_with_margin(comparison, told) for comparison in comparisons]
        placed = [
            _with_margin(finding, told) if isinstance(finding, NamedComparison) else finding for finding in placed
        ]
        kept = self._kept(placed)
        extra = {name: self.rows(table) for name, table in made.extra.items() if self._is_kept(name)}
        if "repeated" in extra:
            extra["variance"] = repeats.variance(extra["repeated"], estimates, comparisons, frames.clusters(self.asked))
        return replace(
            made,
            facts=self._facts([*kept, *placed], {estimate.metric for estimate in estimates}),
            scores=self.scores,
            questions=self.questions,
            retrieved=self.rows(made.retrieved),
            estimates=tuple(estimates),
            comparisons=tuple(comparisons),
            extra=extra,
            placed=(*kept, *placed),
        )

    def _is_kept(self, name: str) -> bool:
        return name in OF_QUESTIONS or (self.samples is None and name not in ("corrected", "variance"))

    def _kept(self, placed: Sequence[Finding]) -> list[Finding]:
        """Of two systems on all questions: what is said of each of them stays as it is, with what they share."""
        if self.samples is not None:
            return []
        anew = {_place(finding) for finding in placed}
        return [
            finding
            for finding in self.made.placed
            if isinstance(finding, NamedEstimate)
            and finding.system in ("", *self.systems)
            and "mean" not in finding.where
            and _place(finding) not in anew
        ]

    def _facts(self, placed: Sequence[Finding], measured: Container[str]) -> dict[str, Any]:
        made, facts = self.made, dict(self.made.facts)
        before = facts.get("part") or {}
        if self.samples is not None:
            facts = {key: value for key, value in facts.items() if key not in COUNTED_ON_ALL} | self._counts()
        every = {estimate.system for estimate in made.estimates}
        for key, value in facts.items():
            if isinstance(value, Mapping) and every.issuperset(value):  # by system
                facts[key] = {name: value[name] for name in self.systems if name in value}
        facts["systems"] = [system for system in facts.get("systems", ()) if system.get("name") in self.systems]
        facts["baseline"] = self.systems[0] if len(self.systems) > 1 else None
        there = {_kind(finding) for finding in placed}
        lost = {_kind(finding): None for finding in made.placed if _kind(finding) not in there}
        unknown = [estimate.metric for estimate in made.estimates if estimate.metric not in measured]
        facts["part"] = {
            "condition": " / ".join(filter(None, (before.get("condition"), self.condition))),
            "n": len(self.asked),
            "of": before.get("of", len(set(made.scores["sample"]))),
            "systems": list(self.given) or before.get("systems", []),
            "left_out": list(dict.fromkeys([*before.get("left_out", ()), *lost, *unknown])),
        }
        return facts

    def _counts(self) -> dict[str, Any]:
        """The facts that count questions, counted again."""
        facts, clusters = self.made.facts, self.clusters
        counts: dict[str, Any] = {
            "n_questions": len(self.asked),
            "n_clusters": None if clusters is None else len(set(clusters.values())),
            "n_unanswerable": len(self.questions) - len(self.asked),
            "timed_questions": len(self._asked_by_the_clock),
        }
        if "unanswered" in facts:
            answered = self.rows(self.made.retrieved).groupby("system")["sample"].nunique()
            counts["unanswered"] = {name: len(self.asked) - int(answered.get(name, 0)) for name in facts["unanswered"]}
        if "answers" in self.made.extra and "cut" in facts:
            own = self.answered
            counts |= {"cut": profiles.cut(own), "failed": profiles.failed(own), "empty": profiles.empty(own)}
        return {name: value for name, value in counts.items() if name in facts} | {
            "slices_left_out": slices.left_out(self.asked, self.dimensions)
        }

    @property
    def _asked_by_the_clock(self) -> set[str]:
        timed = self.timed
        return set() if timed is None else set(timed.loc[timed["part"].isin(stages.BEFORE), "sample"])

    @property
    def timed(self) -> pd.DataFrame | None:
        """Readings of the clock, question by question; None where there are none."""
        table = next((self.made.extra[name] for name in ("latencies", "readings") if name in self.made.extra), None)
        return None if table is None else self.rows(table)

    @cached_property
    def answered(self) -> Answered:
        """The answers as they are kept, without the passages that they were written from."""
        generators = self.made.facts["generators"]
        return Answered(self.rows(self.made.extra["answers"]), {}, {name: generators[name] for name in self.systems})


def _of_rankings(part: _Part) -> Found:
    """What Tier 1 finds."""
    made, leading = part.made, part.primary
    estimates, comparisons = findings.find(
        part.scores, part.metrics, part.systems, part.clusters, part.sureness, made.facts.get("primary") or "",
        tops=made.facts.get("tops"),
    )  # fmt: skip
    placed: list[Finding] = []
    if part.timed is not None:
        placed += timing.quantiles(part.timed, part.sureness.level)
    if "gains" in part.questions and "labelled_text" not in made.facts:  # of pieces, single shares are not kept
        placed += curves.findings(_rankings(part), made.facts["k"], part.labels, part.sureness)
    if leading is not None:
        placed += _sliced(part, leading)
    return estimates, comparisons, placed


def _rankings(part: _Part) -> dict[str, Any]:
    """The rankings of every system, as deep as they are kept."""
    by_page, passages = part.made.facts["unit"] == "url", part.rows(part.made.retrieved)
    document = passages["url"].where(passages["url"].notna(), passages["chunk"]) if by_page else passages["chunk"]
    ordered = passages.assign(document=document).sort_values("rank", kind="stable")
    lists = ordered.groupby(["system", "sample"])["document"].agg(list).to_dict()
    relevant = {
        row["sample"]: dict(zip(row["relevant"], row["gains"], strict=True))
        for row in part.questions.to_dict("records")
    }
    return {
        name: from_lists([lists.get((name, q.id)) for q in part.asked], [relevant[q.id] for q in part.asked])
        for name in part.systems
    }


def _of_answers(part: _Part) -> Found:
    """What Tiers 2 and 3 find."""
    known = {(row["system"], row["sample"]): row["response"] for row in part.answered.first.table.to_dict("records")
             if row["status"] == Status.OK.value}  # fmt: skip
    ordered = sorted(part.asked, key=lambda question: question.id)
    aligned = {name: [sample(q, name, known.get((name, q.id)), ()) for q in ordered] for name in part.systems}
    estimates, comparisons = answer_scores.found(
        part.scores, aligned, ordered, part.metrics, part.sureness, part.made.facts.get("primary") or ""
    )
    asked = [_question(row) for row in part.questions.to_dict("records")]
    placed: list[Finding] = [*profiles.refusals(part.answered, asked, part.sureness)]
    if part.timed is not None:
        placed += stages.quantiles(part.timed, part.sureness.level)
    single = [each for each in part.metrics if each.grain == "sample"]
    metric = part.primary if part.primary in single else next(iter(single), None)
    return estimates, comparisons, [*placed, *(_sliced(part, metric) if metric is not None else ())]


def _of_a_table(part: _Part) -> Found:
    """What a table of answers is found to be worth."""
    clusters = {question.id: question.cluster for question in part.asked}
    by_label = {each.label: each for each in part.metrics}
    rows = tuple(
        Row(
            Sample(row["sample"], cluster=clusters[row["sample"]], system=row["system"]),
            by_label[row["metric"]],
            Score(float(row["value"]), Status(row["status"]), read(row["reason"])),
        )
        for row in part.scores.to_dict("records")
        if row["metric"] in by_label
    )
    s = part.sureness
    scores = Scores(rows, s.level, s.resamples, s.seed, baseline=part.systems[0], primary=_primary(part))
    groups = {name: cluster or name for name, cluster in clusters.items()}
    table = part.scores[part.scores["metric"].isin(by_label)]
    judgements = part.rows(part.made.extra["judgements"]) if "judgements" in part.made.extra else None
    placed: list[Finding] = [*rag_metrics.correlations(table, {}, groups, s)]
    if judgements is not None:
        placed += rag_metrics.side_by_side(judgements, part.metrics, groups, s)
    return [NamedEstimate(*place, mean) for place, mean in scores.means.items()], scores.differences, placed


def _primary(part: _Part) -> str:
    return part.primary.label if part.primary is not None else ""


def _sliced(part: _Part, metric: Metric) -> tuple[Finding, ...]:
    how = (part.dimensions, part.clusters, part.sureness)
    return slices.findings(part.scores, metric, part.systems, part.asked, *how)


def _question(row: Mapping[Any, Any]) -> Question:
    known = {name: _given(row.get(name)) for name in KNOWN}
    if known["answerable"] is not None:
        known["answerable"] = bool(known["answerable"])
    references = tuple(map(str, row.get("references", ())))
    return Question(str(row["sample"]), str(row["text"] or ""), references=references, **known)


def _given(value: Any) -> Any:
    return None if value is None or value != value else value


def _place(finding: Finding) -> tuple[Any, ...]:
    who = (
        finding.system
        if isinstance(finding, NamedEstimate)
        else (finding.comparison.baseline, finding.comparison.challenger)
    )
    return who, finding.metric, *sorted(finding.where.items(), key=str)


def _kind(finding: Finding) -> str:
    """What a finding is of, in the words of LEFT_OUT."""
    if finding.where.get("one") == rag_metrics.PEOPLE:
        return "people"
    return next((LEFT_OUT[key] for key in LEFT_OUT if key in finding.where), next(iter(finding.where), OTHERS))


def _margin_of(finding: Finding) -> str | None:
    return finding.metric if isinstance(finding, NamedComparison) and finding.comparison.margin is not None else None


def _with_margin(comparison: NamedComparison, told: Mapping[str, Any]) -> NamedComparison:
    """With the smallest difference of interest that the measurement has for the metric."""
    known = told.get(comparison.metric)
    margin = None if known is None else known.comparison.margin
    return replace(comparison, comparison=stats.with_margin(comparison.comparison, margin))
