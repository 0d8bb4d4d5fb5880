"""Judged metrics inside a tier: the answers of all systems by all judges at once, as score rows with what made them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, TypedDict

from ragbench.old import llm
from ragbench.old.core.facts import Facts
from ragbench.old.core.measurement import SCORE_COLUMNS, columns, without_nan
from ragbench.old.core.metric import Metric
from ragbench.old.core.names import unknown_judge
from ragbench.old.core.settings import Settings
from ragbench.old.core.types import Sample, Score, Status
from ragbench.old.core.types.reason import kept
from ragbench.old.judge import Rule, asks_nobody, leave_one_out, legal_names
from ragbench.old.metrics.rulings import suspected
from ragbench.old.tiers.basics import design
from ragbench.old.tiers.basics.choices import BenchError, parted
from ragbench.old.tiers.scoring import judge_assignment, measure, parts, sets
from ragbench.old.tiers.scoring.ledger import Row
from ragbench.old.tiers.scoring.scored_answers import Scores

if TYPE_CHECKING:
    import pandas as pd

    from ragbench.old.tiers.basics.session import Session


class JudgementRow(TypedDict):
    """What a judge said of an answer. detail: JSON of statements, verdicts, and what was reckoned of them."""

    system: str
    metric: str
    sample: str
    judge: str | None
    value: float
    status: str
    reason: str
    seconds: float
    detail: str


JUDGEMENT_COLUMNS = tuple(columns(JudgementRow))


@dataclass(frozen=True)
class Judging:
    """Who judges, and how several become one.

    judges: names from ragbench.toml, comma-separated or as a list, `METRIC=NAME` among them for one metric alone;
    empty: all of them, or the offline judge where there are none. aggregate, tolerance, quorum: see
    `ragbench.old.judge.Rule`; None: as in the settings. embedder: of metrics that embed, several comma-separated; empty:
    the offline one. prompts: their language where a sample names none, and of the reasons; empty: the settings'.
    """

    judges: str | Sequence[str] = ""
    aggregate: str | None = None
    tolerance: float | None = None
    embedder: str = ""
    prompts: str = ""
    quorum: int | None = None

    def on(self, metrics: Sequence[Metric]) -> tuple[list[Metric], Judging]:
        """The metrics with the judges that are named for one alone, as `METRIC=JUDGE`, and who judges the others.

        Raises BenchError."""
        try:
            with_judges, common = judge_assignment.assigned(metrics, parted(self.judges))
        except ValueError as error:
            raise BenchError(str(error)) from None
        return with_judges, replace(self, judges=tuple(map(str, common)))

    def names(self, session: Session) -> tuple[str, ...]:
        """The judges' names, each of them configured: those named, else all; raises BenchError for one that is not."""
        return session.settings.judge_names(self.named(session.settings))

    def asking(self, settings: Settings, metrics: Sequence[Metric]) -> tuple[str, ...]:
        """Everybody who judges any of the metrics, by name: those named, else a metric's own, else all.

        Raises BenchError."""
        return tuple(map(str, judge_assignment.asking(metrics, self.named(settings))))

    def named(self, settings: Settings) -> tuple[str, ...]:
        """The judges that are named, each of them configured; raises BenchError for one that is not."""
        names = parted(self.judges)
        legal = legal_names(settings)
        for name in names:
            if name not in legal:
                raise BenchError(unknown_judge(name, legal))
        return names

    def rule(self, judges: Sequence[str]) -> Rule:
        """How these judges become one. Raises BenchError."""
        try:
            return judge_assignment.rule_of(self.aggregate, self.tolerance, self.quorum, judges)
        except ValueError as error:
            raise BenchError(str(error)) from None


@dataclass(frozen=True)
class Judged:
    """What judging gave.

    scores: one row a system, metric and sample (SCORE_COLUMNS), the panel's aggregate where several judge, the mean of
    repeats where a sample is given several times; repeated: the single ones (`ragbench.old.tiers.scoring.sets`).
    judgements: one row a system, metric, sample and judge (JUDGEMENT_COLUMNS); `detail` is JSON: statements, verdicts,
    cited chunks, formula. A panel's aggregate is no row of its own here.
    facts: `judged` (labels of the metrics that a judge gave values of), `judges` (name, model, mode, stand_in of each,
    and how it did its work: `ragbench.old.tiers.scoring.judged_metrics`), `aggregate`, `quorum`, `judge_coverage` (see
    `ragbench.old.tiers.scoring.judge_assignment`), `embedder`. The view `judges` shows them, and `answer` says that a
    stand-in is one.
    """

    scores: pd.DataFrame
    judgements: pd.DataFrame
    facts: Facts
    repeated: pd.DataFrame


def judged(session: Session, samples: Sequence[Sample], metrics: Sequence[Metric], judging: Judging) -> Judged:
    """Every metric (grain `sample`) on every sample by every judge; samples name their system. Samples of one system
    and id are repeats of one question.

    Replies of models are in the journal before they are scored, so an interrupted run goes on where it stopped.
    Raises BenchError for a judge or an embedder that is not configured, ModelError when a provider refuses altogether
    or the budget is spent.
    """
    metrics, judging = judging.on(metrics)
    named, names = judging.named(session.settings), judging.asking(session.settings, metrics)
    rule = judging.rule(names)
    embedder = judging.embedder or session.settings.metric_embedder
    for name in parted(embedder):
        if name not in session.settings.embedders:
            raise BenchError(
                f"there is no embedder {name!r}; there are {', '.join(sorted(session.settings.embedders))}"
            )
    paid = any("judge" in metric.needs for metric in metrics) and not all(map(asks_nobody, names))
    with (
        judge_assignment.kept_replies(named, metrics) if paid else nullcontext() as journal,
        session.progress("judging", len(samples) * len(metrics)) as progress,
    ):
        asked = measure.Asked(
            judges=named,
            embedder=embedder,
            language=judging.prompts or session.settings.language,
            rule=rule,
            journal=journal,
            advance=progress,
            on_change=measure.live_line(progress),
        )
        scores = llm.run(measure.measure(samples, metrics, asked))
    facts: Facts = {
        "judges": listed(session.settings, names, scores, rule),
        **of_panel(names, rule, scores),
        "judged": judged_labels(metrics),
        "embedder": embedder,
        "listeners": parts.listener_facts(scores.listeners),
    }
    return Judged(frame_of(scores), judgements(scores, names), facts, repeated(scores))


def judged_labels(metrics: Sequence[Metric]) -> list[str]:
    """The metrics whose values a judge gave."""
    return [metric.label for metric in metrics if "judge" in metric.needs]


def of_panel(names: Sequence[str], rule: Rule, scores: Scores) -> Facts:
    """Of several judges how they become one, how many are needed, and where they measured different answers."""
    if len(names) < 2:
        return {"aggregate": None}
    uneven = judge_assignment.facts(scores.judge_coverages)
    return {"aggregate": rule.label, "quorum": rule.needed(len(names)), "judge_coverage": uneven}


def described(session: Session, names: Sequence[str]) -> list[dict[str, Any]]:
    """The judges as a page's facts list them."""
    return _described(session.settings, names)


def listed(settings: Settings, names: Sequence[str], scores: Scores, rule: Rule) -> list[dict[str, Any]]:
    """The judges with how they did their work, as the facts `judges` of a page that shows the scores."""
    work = judge_work(scores, names, rule)
    return [{**judge, **work[judge["name"]]} for judge in _described(settings, names)]


def _described(settings: Settings, names: Sequence[str]) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = []
    for name in names:
        if asks_nobody(name):
            entries.append({"name": name, "stand_in": True})
            continue
        judge = settings.judge(name)
        own = {"set": judge.own_decoding} if judge.own_decoding else {}
        entries.append({"name": name, "model": judge.model, "mode": judge.mode, "stand_in": False, **own})
    return entries


def frame_of(scores: Scores, told: Collection[str] | None = None) -> pd.DataFrame:
    """Scores as a data frame (SCORE_COLUMNS): one row a system, metric and sample.

    told: ids of samples; the reason of any other's value is left out, that of an absent value never. None: all.
    """
    rows = (
        (
            row.sample.system,
            row.metric.label,
            row.sample.id,
            score.value,
            score.status.value,
            kept(score.reason) if told is None or row.sample.id in told or score.status is not Status.OK else "",
            score.judge,
        )
        for row in scores.rows
        for score in [row.score]
    )
    return design.gathered(rows, SCORE_COLUMNS)


def repeated(scores: Scores) -> pd.DataFrame:
    """The single scores of what was scored several times, as `ragbench.old.tiers.scoring.sets.REPEATED`."""
    return sets.table(
        (
            row.sample.system,
            row.metric.label,
            row.sample.id,
            number,
            single.value,
            single.status.value,
            kept(single.reason),
        )
        for row in scores.rows
        for number, single in enumerate(row.repeats)
    )


def judgements(scores: Scores, judges: Sequence[str], told: Collection[str] | None = None) -> pd.DataFrame:
    """One row a system, metric, sample and judge, with the data that the score was made from as JSON; of repeats the
    first. told: ids of the only samples that are told of; None: all."""
    rows = (row for row in scores.rows if told is None or row.sample.id in told)
    table = design.gathered((line for row in rows for line in _lines(row, judges)), JUDGEMENT_COLUMNS)
    return table.astype({"value": float, "seconds": float})


def _lines(row: Row, judges: Sequence[str]) -> list[tuple[Any, ...]]:
    place = (row.sample.system, row.metric.label, row.sample.id)
    score = row.singles[0]
    panel = score.detail.get("judges")
    if panel is not None:
        return [
            (
                *place,
                name,
                ruling["value"],
                ruling["status"],
                ruling["reason"],
                ruling.get("seconds"),
                _json(ruling.get("detail", {})),
            )
            for name, ruling in panel.items()
        ]
    judge = (score.judge or judges[0]) if "judge" in row.metric.needs else None
    return [(*place, judge, score.value, score.status.value, kept(score.reason), score.seconds, _json(score.detail))]


def _json(detail: Any) -> str:
    return json.dumps(without_nan(detail), ensure_ascii=False, sort_keys=True, default=str, allow_nan=False)


UNASKED = frozenset({Status.MISSING_FIELD.value, Status.EMPTY_INPUT.value, Status.INVALID_INPUT.value})
"""There was nothing to ask a judge about."""
ANSWERED = frozenset(
    {
        Status.OK.value, Status.EMPTY_DECOMPOSITION.value, Status.EMBEDDING_ERROR.value, Status.FUNCTION_ERROR.value
    }
)  # fmt: skip
"""The judge did its part: it gave a verdict, or found that there is nothing to give one on, or somebody else failed: an
embedder, or the function that asked."""


def judge_work(scores: Scores, judges: Sequence[str], rule: Rule) -> dict[str, dict[str, Any]]:
    """What is known of each judge's work, by name, as plain JSON values.

    asked: scores that it was to give (those of answers without a needed field are not); failed: how many of them it
    gave no score for, by its own or its provider's fault; statuses: how often each fault. suspected: answers with a
    text in which somebody seems to address the judge. usage: see `ragbench.old.llm.Usage`; only of judges with a model.
    influence: of a panel, for each metric what its mean becomes without this judge, see `ragbench.old.judge.Influence`.
    """
    influence = _influence(scores, rule) if len(judges) > 1 else {}
    known = {}
    work = {judge: _Work() for judge in judges}
    for row in scores.rows if judges else ():
        for score in row.singles:
            for judge in judges:
                if (line := _line(row, score, judge, judges)) is not None:
                    work[judge].add(*line)
    for judge in judges:
        statuses = work[judge].statuses
        faults = {status: count for status, count in sorted(statuses.items()) if status not in ANSWERED}
        known[judge] = {
            "asked": statuses.total(),
            "failed": sum(faults.values()),
            "statuses": faults,
            "suspected": len(work[judge].suspected),
            **({"usage": asdict(scores.usage[judge])} if judge in scores.usage else {}),
            **({"influence": influence[judge]} if judge in influence else {}),
        }
    return known


class _Work:
    """What one judge was asked. statuses: how often each. suspected: answers, as system and sample."""

    def __init__(self) -> None:
        self.statuses: Counter[str] = Counter()
        self.suspected: set[tuple[str | None, str]] = set()

    def add(self, status: str, is_suspected: bool, answer: tuple[str | None, str]) -> None:
        if status not in UNASKED:
            self.statuses[status] += 1
        if is_suspected:
            self.suspected.add(answer)


def _line(row: Row, score: Score, judge: str, judges: Sequence[str]) -> tuple[str, bool, tuple[str | None, str]] | None:
    """(status, whether an injection is suspected, system and sample) of what one judge made of one answer."""
    if "judge" not in row.metric.needs:
        return None
    answer = (row.sample.system, row.sample.id)
    panel: Mapping[str, Any] | None = score.detail.get("judges")
    if panel is None:
        named = score.judge or judges[0]
        return (score.status.value, bool(suspected(score.detail)), answer) if named == judge else None
    ruling = panel.get(judge)
    return None if ruling is None else (str(ruling["status"]), bool(suspected(ruling["detail"])), answer)


def _influence(all_scores: Scores, rule: Rule) -> dict[str, list[dict[str, Any]]]:
    known: dict[str, list[dict[str, Any]]] = {}
    for metric in all_scores.metrics:
        scores = [
            row.score for row in all_scores.rows if row.metric.label == metric.label and "judges" in row.score.detail
        ]
        if scores:
            for influence in leave_one_out(scores, rule.on(metric.bounds)):
                line = {
                    "metric": metric.label,
                    "whole": influence.whole,
                    "without": influence.without,
                    "shift": influence.shift,
                }
                known.setdefault(influence.judge, []).append({**line, "largest": influence.largest, "n": influence.n})
    return known
