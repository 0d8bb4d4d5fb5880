"""The judges of a page opened, asked, and timed: what stands between the settings and what was heard."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ragbench import llm
from ragbench.core.language import LANGUAGES, translator
from ragbench.core.metric import Metric
from ragbench.core.settings import OWN_TABLES, JudgeSettings, Settings
from ragbench.core.types import Sample
from ragbench.core.waves import gather
from ragbench.data import DatasetError
from ragbench.judge import Rehearsed, asks_nobody, open_judges
from ragbench.llm import planning
from ragbench.metrics.judging import Sitting
from ragbench.tiers.basics.choices import BenchError
from ragbench.tiers.basics.session import Session, dataset_of
from ragbench.tiers.judges import asking, biases, items
from ragbench.tiers.judges.asking import Heard, Trial
from ragbench.tiers.judges.distributed import said_by_workers
from ragbench.tiers.judges.items import Answers, Scale, Temptations
from ragbench.tiers.scoring import judge_assignment, measure


def bounds(metric: Metric) -> Scale:
    low, high = metric.bounds
    if low is None or high is None:
        raise BenchError(f"metric = {metric.label!r}: its scale has no ends, so nothing can be said in shares of it")
    return Scale(low, high)


def in_modes(known: Settings, names: Sequence[str], modes: Sequence[str]) -> tuple[Settings, tuple[str, ...]]:
    """Settings with every model of `names` once in each mode, as judges `NAME, MODE`; unchanged without modes."""
    if not modes:
        return known, tuple(names)
    judges, wanted = dict(known.judges), []
    for name in names:
        for mode in modes if name in known.judges else ():
            judges[f"{name}, {mode}"] = known.judge(name).model_copy(update={"mode": mode})
        wanted += [f"{name}, {mode}" for mode in modes] if name in known.judges else [name]
    return known.model_copy(update={"judges": judges}), tuple(wanted)


def assorted(temptations: Temptations) -> Answers:
    """Where nobody rated anything: the rungs of the ladder in turns, so that there are good and bad answers."""
    rungs = ("reference", "partial", "off_topic", "paraphrase", "contradiction")
    places = range(len(temptations.questions))
    samples = tuple(temptations.variants[rungs[place % len(rungs)]][place] for place in places)
    return Answers(samples, temptations.clusters, (), np.zeros((len(samples), 0)))


def twins(session: Session, answers: Answers) -> tuple[Sample | None, ...]:
    """The same answers in the data set's other language, where it has one; none for answers that were made."""
    dataset = session.dataset
    other = next((each for each in LANGUAGES if each != dataset.language), None)
    if not dataset.ratings or dataset.name.startswith(OWN_TABLES) or other is None:
        return ()
    try:
        there = dataset_of(f"{dataset.name}:{other}", session.settings)
    except DatasetError:
        return ()
    known = {sample.id: sample for sample in items.rated_samples(there)}
    return tuple(known.get(sample.id) for sample in answers.samples)


def prompts(session: Session, answers: Answers) -> tuple[str, ...]:
    """By answer the language that its prompt is not in. A judge is asked in an answer's language, else in the data
    set's, else in the first that prompts are written in."""
    own = [
        next(each for each in (sample.language, session.dataset.language, *LANGUAGES) if each in LANGUAGES)
        for sample in answers.samples
    ]
    return tuple(next(each for each in LANGUAGES if each != language) for language in own)


def made_labels(temptations: Temptations) -> np.ndarray[Any, Any]:
    """Which answer of a made pair is better: a whole one than half of it; none is, where both say the same."""
    order = {"reference": 1.0, "partial": 0.0, "paraphrase": 1.0}
    named = {id(sample): order[name] for name in order for sample in temptations.variants.get(name, ())}
    return np.array([named[id(first)] - named[id(second)] for first, second in temptations.pairs])


def all_heard(
    session: Session, known: Settings, names: Sequence[str], trial: Trial, faithful: Metric
) -> tuple[list[Heard], dict[str, Sitting], Mapping[str, llm.Usage]]:
    """What the judges said of everything, how faithful each found the answers, and what their replies took."""
    if not names:
        return [], {}, {}
    with (
        judge_assignment.kept_replies(names, [trial.metric]) as journal,
        session.progress("judging", trial.calls * len(names)) as progress,
    ):
        dry = planning.folder() is not None
        speaker = translator(session.language or session.settings.language)
        bare = replace(trial, metric=faithful, repeats=1, twins=(), prompts=(), temptations=items.NOTHING)
        line = measure.live_line(progress)
        if known.cluster is not None and not dry:
            told, used = said_by_workers(
                known, names, (trial, bare), session.dataset.language, advance=progress, on_change=line
            )
            by_judge, ratings = (
                [asking.together(name, attempt, said[name], speaker, stand_in=asks_nobody(name)) for name in names]
                for attempt, said in zip((trial, bare), told, strict=True)
            )
            sittings = {rating.name: rating.answers for rating in ratings}
            return by_judge, sittings, {name: replies.usage for name, replies in used.items()}

        async def everything() -> tuple[list[Heard], dict[str, Sitting], Mapping[str, llm.Usage]]:
            how: dict[str, Any] = {"language": session.dataset.language, "on_change": line}
            async with open_judges(known, names, journal=journal, rehearsed=dry, **how) as opened:
                heard = await gather([asking.hear(each, trial, progress, speaker) for each in opened.judges])
                rated = await gather([asking.hear(each, bare) for each in opened.judges])
                if isinstance(opened, Rehearsed):
                    planning.keep(await opened.outlooks())
            return heard, {rating.name: rating.answers for rating in rated}, opened.usage()

        return llm.run(everything())


def with_families(heard: Sequence[Heard], judges: Mapping[str, JudgeSettings]) -> list[Heard]:
    """The same with the model family of each configured judge: as settings name it, else as its model's name tells."""
    return [
        replace(judge, family=biases.family_of_judge(judges[judge.name])) if judge.name in judges else judge
        for judge in heard
    ]


def timed(
    session: Session, known: Settings, names: Sequence[str], trial: Trial, heard: Sequence[Heard], fresh: bool
) -> list[Heard]:
    """The same with the seconds of the first time that these judges scored these answers: a page drawn twice is the
    same page, though a clock is never."""

    if planning.folder() is not None or not heard:
        return list(heard)
    configured = known.judges
    about = {
        "what": "seconds of a judge",
        "metric": trial.metric.label,
        "data": session.dataset.content_hash,
        **({"part": taken} if (taken := session.dataset.taken()) else {}),
        "repeats": trial.repeats,
        "judges": [
            configured[name].model_dump(mode="json", exclude={"family"}) if name in configured else name
            for name in names
        ],
        "names": list(names),
    }

    def read() -> dict[str, Any]:
        nothing = {judge.name: np.full(judge.answers.scores.size, np.nan) for judge in heard}
        return nothing | {
            judge.name: judge.answers.seconds.ravel() for judge in heard if judge.answers.seconds is not None
        }

    with session.store() as store:
        readings = store.readings(about, read, fresh=fresh)
    return [
        replace(judge, answers=replace(judge.answers, seconds=readings[judge.name].reshape(judge.answers.scores.shape)))
        for judge in heard
    ]
