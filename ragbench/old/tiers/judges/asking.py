"""Judges asked: the same answers again and again, answers made to tempt them, and pairs in both orders."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ragbench.old import llm
from ragbench.old.core import settings
from ragbench.old.core.language import LANGUAGES
from ragbench.old.core.metric import Metric
from ragbench.old.core.settings import Settings
from ragbench.old.core.types import Array, Judge, Sample, Score, Status
from ragbench.old.core.types.reason import reason_of
from ragbench.old.core.waves import gather
from ragbench.old.judge import Again, Choice, Duel, asks_nobody, compare, open_judges
from ragbench.old.llm import BudgetSpent, ModelError, Replies, Tally
from ragbench.old.llm.journal import note
from ragbench.old.metrics.explanation import ENGLISH, Speaker, explain
from ragbench.old.metrics.judging import Choices, Sitting
from ragbench.old.store import pool
from ragbench.old.store.pool import Counter, Tell, Together
from ragbench.old.tiers.judges.items import Answers, Temptations
from ragbench.old.tiers.scoring.judge_assignment import kept_replies

NEVER_ASKED = (Status.MISSING_FIELD, Status.EMPTY_INPUT, Status.EMPTY_DECOMPOSITION)
"""A value that is missing through no fault of the judge: there was nothing to judge."""


@dataclass(frozen=True)
class Heard:
    """Everything that one judge said.

    answers: its scores of the answers, (answers, repeats). statuses: why each is there or is not, same shape.
    reasons: its reason for each answer, of the first repeat. turned, twins: (answers,) its scores with the scale in
    the opposite order, and of the same answers in the other language. prompted: (answers, languages) its scores of the
    same answers with the prompt in each of `ragbench.old.core.language.LANGUAGES`; None where there were no two.
    variants: (questions,) its scores of each variant by name. choices: (pairs, 2) which place won with the pair in the
    order given and the other way round: +1 the first place, −1 the second, 0 a tie, NaN without an answer.
    family: of the model, where known. variant_reasons: its reason for each score of a variant. stand_in: whether it is
    the offline judge.
    """

    name: str
    answers: Sitting
    statuses: np.ndarray[Any, Any]
    reasons: tuple[str, ...] = ()
    turned: Array | None = None
    twins: Array | None = None
    prompted: Array | None = None
    variants: Mapping[str, Array] = field(default_factory=dict)
    choices: Array | None = None
    family: str | None = None
    variant_reasons: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    stand_in: bool = False

    def chosen(self, labels: Array | None) -> Choices | None:
        """What it chose of pairs of which these answers are the better ones, if anybody said so; None without pairs."""
        if self.choices is None or not len(self.choices):
            return None
        if labels is None or not len(labels):
            labels = np.full(len(self.choices), np.nan)
        return Choices(self.choices, labels)

    @property
    def chooses(self) -> bool:
        """Whether it was asked to choose between answers, and for no score."""
        return self.choices is not None and not self.answers.asked.any()


@dataclass(frozen=True)
class Trial:
    """What every judge is asked: `metric` on all answers `repeats` times, on their twins in another language, on all
    variants, and which of each pair is better.

    prompts: by answer the language of the prompt in which it is judged once more, the one of LANGUAGES that its own
    prompt is not in; empty where the prompt's language is not tried.
    """

    metric: Metric
    answers: Answers
    temptations: Temptations
    twins: tuple[Sample | None, ...] = ()
    prompts: tuple[str, ...] = ()
    repeats: int = 2

    @property
    def calls(self) -> int:
        """How many scores and choices each judge is asked for."""
        several = len(self.answers.samples) * (self.repeats + 1) + sum(twin is not None for twin in self.twins)
        made = sum(map(len, self.temptations.variants.values())) + len(self.temptations.pairs)
        return several + len(self.prompts) + made


@dataclass(frozen=True)
class Assignment:
    """One thing that a judge is asked: for a score of a sample, or which of a pair is better.

    sample: None where there is no such answer. repeat, turned, language: see `ragbench.old.judge.Again`.
    """

    sample: Sample | None = None
    pair: tuple[Sample, Sample] | None = None
    repeat: int = 0
    turned: bool = False
    language: str = ""

    def by(self, judge: Judge) -> Judge:
        """The judge as this asks it."""
        plain = not (self.turned or self.language or self.repeat)
        return judge if plain else Again(judge, self.repeat, self.turned, self.language)


Said = Score | Duel


def assignments(trial: Trial) -> list[list[Assignment]]:
    """All that a trial asks, in groups: each repeat, the scale turned, the other prompt, twins, each variant, pairs."""
    samples = trial.answers.samples
    groups = [[Assignment(each, repeat=repeat) for each in samples] for repeat in range(trial.repeats)]
    groups.append([Assignment(each, turned=True) for each in samples])
    spoken = zip(samples, trial.prompts, strict=True) if trial.prompts else ()
    groups.append([Assignment(replace(each, language=own), language=own) for each, own in spoken])
    groups += [[Assignment(each) for each in group] for group in (trial.twins, *trial.temptations.variants.values())]
    groups.append([Assignment(pair=pair) for pair in trial.temptations.pairs])
    return groups


async def answered(
    judge: Judge, metric: Metric, asked: Sequence[Assignment], advance: Callable[[int], None] | None = None
) -> list[Said]:
    """What a judge says of each, all asked at once.

    A judge whose provider stops answering altogether has failed from then on; a spent budget raises BudgetSpent.
    """
    asker = _Asker(judge, metric, advance)
    return await gather(
        [
            asker.score(assignment.sample, assignment.by(judge))
            if assignment.pair is None
            else asker.choice(*assignment.pair)
            for assignment in asked
        ]
    )


async def hear(
    judge: Judge, trial: Trial, advance: Callable[[int], None] | None = None, speaker: Speaker = ENGLISH
) -> Heard:
    """Ask one judge everything, all at once; reasons are said in the speaker's language. Raises as `answered`."""
    everything = [assignment for group in assignments(trial) for assignment in group]
    said = await answered(judge, trial.metric, everything, advance)
    return together(judge.name, trial, said, speaker, stand_in=asks_nobody(judge))


def together(
    name: str, trial: Trial, said: Sequence[Said], speaker: Speaker = ENGLISH, *, stand_in: bool = False
) -> Heard:
    """What a judge said of a trial's assignments, in their order, as one."""
    samples, variants = trial.answers.samples, trial.temptations.variants
    flat: Iterator[Any] = iter(said)
    heard = [[next(flat) for _ in group] for group in assignments(trial)]
    scores, turned, prompted, twins, *made, duels = [heard[: trial.repeats], *heard[trial.repeats :]]

    def table(of: Callable[[Score], Any], kind: Any) -> Any:
        matrix = np.array([[of(score) for score in row] for row in scores], dtype=kind)
        return matrix.T.reshape(len(samples), trial.repeats)

    return Heard(
        name,
        Sitting(
            table(lambda score: score.value, np.float64),
            table(lambda score: score.status not in NEVER_ASKED, np.bool_),
            table(lambda score: math.nan if score.seconds is None else score.seconds, np.float64),
        ),
        table(lambda score: score.status.value, object),
        tuple(explain(score, speaker) for score in scores[0]),
        _values(turned),
        _values(twins) if any(trial.twins) else None,
        _by_prompt(scores[0], prompted, trial.prompts),
        {name: _values(group) for name, group in zip(variants, made, strict=True)},
        np.array([_places(duel) for duel in duels], dtype=np.float64).reshape(-1, 2),
        variant_reasons={
            name: tuple(explain(score, speaker) for score in group) for name, group in zip(variants, made, strict=True)
        },
        stand_in=stand_in,
    )


@dataclass
class _Asker:
    judge: Judge
    metric: Metric
    advance: Callable[[int], None] | None
    out: ModelError | None = None

    async def score(self, sample: Sample | None, judge: Judge) -> Score:
        if sample is None:
            return Score.unmeasured(Status.MISSING_FIELD, "there is no such answer")
        scored = await self._guarded(lambda: self.metric(sample, judge=judge))
        if not isinstance(scored, Score):
            return Score.unmeasured(Status.JUDGE_ERROR, reason_of(self.out) if self.out else "")
        if scored.detail.get("unasked"):  # an empty answer has its value by rule, which says nothing of the judge
            return Score.unmeasured(Status.EMPTY_INPUT, scored.reason)
        if self.metric.better == "lower":  # so that better answers have higher scores throughout
            low, high = self.metric.bounds
            return replace(scored, value=(low or 0.0) + (high or 0.0) - scored.value)
        return scored

    async def choice(self, first: Sample, second: Sample) -> Duel:
        texts = (first.user_input or "", first.response or "", second.response or "")
        more = {"reference": first.reference or "", "language": first.language}
        duel = await self._guarded(lambda: compare(self.judge, *texts, **more))  # type: ignore[arg-type]
        return duel if isinstance(duel, Duel) else Duel(None, None, None, Status.JUDGE_ERROR, str(self.out))

    async def _guarded(self, work: Callable[[], Any]) -> Any:
        if self.out is not None:
            return None
        try:
            return await work()
        except BudgetSpent:
            raise
        except ModelError as error:
            self.out = error
            return None
        finally:
            if self.advance is not None:
                self.advance(1)


def _values(scores: Sequence[Score]) -> Array:
    return np.array([score.value for score in scores], dtype=np.float64)


def _by_prompt(own: Sequence[Score], other: Sequence[Score], prompts: Sequence[str]) -> Array | None:
    """(answers, languages) the first scores beside those with the prompt in the other language; None where the metric's
    prompts could not be put in another one."""
    if all(score.status in NEVER_ASKED for score in other):
        return None
    asked = np.array([[language == each for each in LANGUAGES] for language in prompts])
    return np.where(asked, _values(other)[:, None], _values(own)[:, None])


def _places(duel: Duel) -> tuple[float, float]:
    """Which place won, forward and backward; `Duel.backward` is already turned back to the pair's own order."""
    sign = {Choice.A: 1.0, Choice.B: -1.0, Choice.TIE: 0.0}
    forward = math.nan if duel.forward is None else sign[duel.forward]
    backward = math.nan if duel.backward is None else -sign[duel.backward]
    return forward, backward


QUESTIONS = 256
"""Of a part at most; fewer where that gives each worker several."""
PARTS_A_WORKER = 4  # parts take unequally long: nobody waits for the last with nothing to do


@dataclass(frozen=True)
class _Common:
    """language: of prompts."""

    language: str
    metrics: tuple[Metric, ...]


@dataclass(frozen=True)
class _Part:
    """metric: its place among those of `_Common`."""

    judge: str
    metric: int
    asked: tuple[Assignment, ...]


def said_by_workers(
    known: Settings,
    names: Sequence[str],
    trials: Sequence[Trial],
    language: str,
    *,
    advance: Callable[[int], None],
    on_change: Callable[[Tally], None],
) -> tuple[list[dict[str, list[Said]]], Mapping[str, Replies]]:
    """By trial and judge what was said of the trial's assignments, in their order, and the replies that took.

    advance: told of the first trial alone. Raises ClusterError besides what `asking.hear` raises.
    """
    everything = [[assignment for group in assignments(trial) for assignment in group] for trial in trials]
    with pool.opened(known) as workers:
        assert workers is not None, "the settings name a cluster"
        whole = len(names) * sum(map(len, everything))
        size = max(1, min(QUESTIONS, -(-whole // (PARTS_A_WORKER * max(1, workers.count)))))
        parts = [
            _Part(name, place, tuple(asked[start : start + size]))
            for place, asked in enumerate(everything)
            for name in names
            for start in range(0, len(asked), size)
        ]
        together = Together(advance, on_change)
        common = _Common(language, tuple(trial.metric for trial in trials))
        outcomes = workers.map(_said, common, parts, together.heard)
    said: list[dict[str, list[Said]]] = [{name: [] for name in names} for _ in trials]
    used: dict[str, Replies] = {}
    for number, (part, (told, replies, state)) in enumerate(zip(parts, outcomes, strict=True)):
        together.heard(number, state)
        said[part.metric][part.judge] += told
        for name, own in replies.items():
            used.setdefault(name, Replies(own.model, own.free)).by_key.update(own.by_key)
    note(key for own in used.values() for key in own.by_key)
    return said, used


def _said(common: _Common, part: _Part, tell: Tell) -> tuple[list[Said], Mapping[str, Replies], Any]:
    """What a worker does."""
    counter, metric = Counter(tell), common.metrics[part.metric]

    async def everything() -> tuple[list[Said], Mapping[str, Replies]]:
        how: dict[str, Any] = {"language": common.language, "on_change": counter.changed}
        async with open_judges(settings.load(), [part.judge], journal=journal, **how) as opened:
            counted = counter.advance if part.metric == 0 else None
            return await answered(opened.judges[0], metric, part.asked, counted), opened.used()

    with kept_replies([part.judge], [metric]) as journal:
        said, used = llm.run(everything())
    return said, used, counter.state
