"""Is the judge any good? Its four numbers, and whether to believe it: coverage, repeats, people, probes, baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragbench import llm, stand_ins
from ragbench import settings as configuration
from ragbench.bench.basics import ranges
from ragbench.bench.basics.families import Sureness
from ragbench.bench.basics.findings import bounds
from ragbench.bench.basics.session import BenchError, Session, kept, parted
from ragbench.bench.judges import asking, hearing, items, logged
from ragbench.bench.judges import classes as judge_classes
from ragbench.bench.judges import numbers as judge_numbers
from ragbench.bench.judges import tables as judge_tables
from ragbench.bench.judges.asking import Heard, Trial
from ragbench.bench.judges.items import Answers, Scale, Temptations
from ragbench.bench.judges.probes import Limits
from ragbench.bench.judges.tables import Settled
from ragbench.bench.scoring.judged_metrics import OFFLINE, Judging, described
from ragbench.judge import LexicalJudge, Rule
from ragbench.measurement import QUESTION_COLUMNS, RETRIEVED_COLUMNS, SCORE_COLUMNS, Measurement, NamedEstimate
from ragbench.metric import Metric, parse
from ragbench.metrics import catalogue
from ragbench.metrics.judging import Sitting
from ragbench.metrics.likert import faithfulness_rating
from ragbench.types import Estimate

if TYPE_CHECKING:
    import pandas as pd

MODES = ("direct", "reasoned")


@dataclass(frozen=True)
class _Request:
    """What is asked of `judge`, checked."""

    judging: Judging
    metric: str
    modes: tuple[str, ...]
    repeats: int
    tempted: int
    delta: float
    good: float
    people_scale: Scale
    judge_scale: Scale
    classes: tuple[str, ...]
    ratings: str
    rival: str
    fresh: bool
    limits: Limits
    sure: Sureness

    def __post_init__(self) -> None:
        ranges.check(repeats=self.repeats, tempted=self.tempted)
        if not 0 < self.good < 1:
            raise BenchError(f"good = {self.good!r}: a share of the scale above 0 and below 1, such as 0.7")
        if not self.delta >= 0:
            raise BenchError(f"delta = {self.delta!r}: 0 or more, in units of the judge's scale")
        try:
            Rule(self.judging.aggregate)  # type: ignore[arg-type]
        except ValueError as error:
            raise BenchError(str(error)) from None
        if wrong := [mode for mode in self.modes if mode not in MODES]:
            raise BenchError(f"modes = {wrong[0]!r}: each is one of {', '.join(MODES)}")


def tier_judge(
    dataset: str = "",
    judges: str | Sequence[str] = "",
    *,
    metric: str = "answer_correctness_rating",
    modes: str = "",
    repeats: int = 2,
    tempted: int = 100,
    delta: float = 0.5,
    good: float = 0.7,
    people_scale: str = "1, 5",
    classes: str | Sequence[str] = "",
    ratings: str = "",
    judge_scale: str = "0, 1",
    rival: str = OFFLINE,
    aggregate: str = "mean",
    bias_limit: float = Limits.bias,
    flips_limit: float = Limits.flips,
    changes_limit: float = Limits.changes,
    attacks_limit: float = Limits.attacks,
    ladder_limit: float = Limits.ladder,
    alike_limit: float = Limits.alike,
    level: float = 0.95,
    resamples: int = 10_000,
    seed: int = 0,
    fresh: bool = False,
    notebook: str = "tier_judge",
) -> Measurement:
    """Try judges on a data set's rated answers and on answers made to tempt them, or read what they said elsewhere.

    metric: the judged metric whose scores are on trial. modes: "direct, reasoned" asks every model in both; empty: as
    configured. repeats: how often each answer is scored. tempted: questions whose references are made into answers
    that try the judge (11 scores and two choices each); 0: none. delta: of consistency_score, in units of the scale.
    good: the share of a scale from which an answer is good, for judges and people alike. people_scale: "low, high".
    classes: names from the worst to the best, evenly over that scale ("contradicted, neutral, supported"); empty: the
    levels of people's ratings, where they are 3 to 7. From three classes on the page says which is taken for which.
    ratings: a JSON Lines, JSON, CSV or Parquet file inside the project (see `ragbench.bench.judges.records.Judgement`)
    instead of live judges; its judges' scale is `judge_scale`, and `rival` names the one that the others have to beat.
    bias_limit, flips_limit, changes_limit, attacks_limit, ladder_limit, alike_limit: how much of each nobody would
    mind; beyond them a probe finds a fault, see `ragbench.bench.judges.probes.Limits`. fresh: take new clock readings.

    A data set with neither rated answers nor questions with a reference gives a measurement of nothing, which says so.
    Raises BenchError, DatasetError, ModelError or StoreError, each with what is legal.
    """
    asked = parted(modes)
    request = _Request(
        Judging(judges, aggregate), metric, asked, repeats, tempted, delta, good, Scale.read(people_scale),
        Scale.read(judge_scale), judge_classes.names_of(classes), ratings, rival, fresh,
        Limits(bias_limit, flips_limit, changes_limit, attacks_limit, ladder_limit, alike_limit),
        Sureness(level, resamples, seed),
    )  # fmt: skip
    session = lambda: Session.begin(notebook, dataset, "", "")  # noqa: E731 - read only where nothing is kept yet
    return kept(notebook, lambda: (_logged if ratings else _live)(session(), request))


def _live(session: Session, request: _Request) -> Measurement:
    measured = _metric(request.metric)
    names = request.judging.names(session)
    known, names = hearing.in_modes(session.settings, names, request.modes)
    answers = items.rated(session.dataset, request.people_scale)
    temptations = items.temptations(session.dataset, request.tempted)
    if not answers.samples:
        answers = hearing.assorted(temptations)
    if not answers.samples:
        names = ()
    trial = Trial(measured, answers, temptations, hearing.twins(session, answers), request.repeats)
    heard, faithfulness, usage = hearing.all_heard(session, known, names, trial, faithfulness_rating)
    heard = hearing.with_families(heard, known.judges)
    baseline = next((one for one in heard if one.name == OFFLINE), None)
    if baseline is None and names:
        baseline = llm.run(asking.hear(LexicalJudge(), replace(trial, repeats=1, temptations=Temptations((), {}, ()))))
    heard = hearing.timed(session, known, names, trial, heard, request.fresh)
    scale = hearing.bounds(measured)
    how = Settled(
        scale, request.good, request.delta, OFFLINE, Rule(request.judging.aggregate),  # type: ignore[arg-type]
        request.limits, request.sure, judge_classes.classes_of(answers, request.people_scale, request.classes),
    )  # fmt: skip
    tables = judge_tables.tables(heard, answers, temptations, baseline, hearing.made_labels(temptations), how)
    facts = {
        **session.facts(),
        "judges": [
            {**one, **({"answered_by": usage[one["name"]].answered_by} if one["name"] in usage else {})}
            for one in described(replace(session, settings=known), names)
        ],
        "metric": measured.label,
        "faithfulness": faithfulness_rating.label,
        "modes": list(request.modes),
        "calls": trial.calls,
        "n_tempted": len(temptations.questions),
        "constructed": not session.dataset.ratings,
        "languages": sorted({one.language for one in (*answers.samples, *filter(None, trial.twins)) if one.language}),
    }
    return _measurement(session, request, how, heard, answers, tables, facts, faithfulness)


def _logged(session: Session, request: _Request) -> Measurement:
    path = _inside(request.ratings)
    found = logged.read(path, request.people_scale, request.judge_scale, request.classes)
    names = [one.name for one in found.heard]
    chosen = parted(request.judging.judges)
    if wrong := [name for name in chosen if name not in names]:
        raise BenchError(f"{path.name} has no judge {wrong[0]!r}; it has {', '.join(names)}")
    heard = hearing.with_families(
        [one for one in found.heard if not chosen or one.name in chosen], session.settings.judges
    )
    baseline = next((one for one in found.heard if one.name == request.rival), None)
    how = Settled(
        request.judge_scale, request.good, request.delta, request.rival,
        Rule(request.judging.aggregate), request.limits, request.sure,  # type: ignore[arg-type]
        judge_classes.classes_of(found.answers, request.people_scale, request.classes),
    )  # fmt: skip
    tables = judge_tables.tables(heard, found.answers, Temptations((), {}, ()), baseline, found.labels, how)
    facts = {
        **session.facts(),
        "dataset": path.name,
        "dataset_title": path.name,
        "licence": None,
        "data_hash": found.content_hash,
        "judges": [{"name": one.name, "stand_in": one.name == OFFLINE} for one in heard],
        "metric": None,
        "faithfulness": None,
        "logged": True,
        "n_tempted": 0,
        "constructed": False,
    }
    return _measurement(session, request, how, heard, found.answers, tables, facts, {})


def _metric(label: str) -> Metric:
    catalogue()
    try:
        found = parse(label)
    except ValueError as error:
        raise BenchError(str(error)) from None
    hearing.bounds(found)
    if found.grain != "sample" or set(found.needs) != {"judge"}:
        raise BenchError(f"metric = {label!r}: one is needed that asks a judge, and nothing else, about single answers")
    return found


def _inside(name: str) -> Path:
    root = configuration.project_folder().resolve()
    path = (root / name).resolve()
    if root not in path.parents:
        raise BenchError(f"ratings = {name!r} leads out of the project's folder; put the file inside it")
    if not path.is_file():
        raise BenchError(f"ratings = {name!r}: there is no such file in the project's folder")
    return path


def _measurement(
    session: Session, request: _Request, how: Settled, heard: Sequence[Heard], answers: Answers,
    tables: Mapping[str, pd.DataFrame], facts: Mapping[str, Any], faithfulness: Mapping[str, Sitting],
) -> Measurement:  # fmt: skip
    import pandas as pd

    label = facts["metric"] or "score"
    scores = [
        (one.name, label, sample.id, float(value), str(status), reason, one.name)
        for one in heard
        for sample, value, status, reason in zip(
            answers.samples, one.answers.scores[:, 0], one.statuses[:, 0], one.reasons or [""] * len(answers.samples),
            strict=True,
        )
    ]  # fmt: skip
    questions: list[tuple[Any, ...]] = [
        (one.id, one.user_input, one.reference, None, one.language, cluster, None, [])
        for one, cluster in zip(answers.samples, answers.clusters, strict=True)
    ]
    return Measurement(
        notebook=session.notebook,
        facts={
            **facts,
            "baseline": None,
            "describes": "judges",
            "primary": "consistency_score",
            "key_metrics": ["consistency_score", "error_rate", "avg_latency_ms", "avg_faithfulness"],
            "systems": [{"name": one.name} for one in heard],
            "stand_ins": stand_ins.facts(
                "judge", [one["name"] for one in facts["judges"] if one["stand_in"]], own=True
            ),
            "n_questions": len(answers.samples),
            "raters": list(answers.raters),
            "repeats": max((one.answers.scores.shape[1] for one in heard), default=0),
            "delta": request.delta,
            "good": request.good,
            "judge_scale": [how.scale.low, how.scale.high],
            "people_scale": [request.people_scale.low, request.people_scale.high],
            "classes": [] if how.classes is None else list(how.classes.names),
            "limits": asdict(how.limits),
            "rival": how.baseline,
            "aggregate": how.rule.label if len(heard) > 1 else None,
            "level": request.sure.level,
            "resamples": request.sure.resamples,
            "seed": request.sure.seed,
        },
        scores=pd.DataFrame(scores, columns=list(SCORE_COLUMNS)),
        questions=pd.DataFrame(questions, columns=list(QUESTION_COLUMNS)),
        retrieved=pd.DataFrame(columns=list(RETRIEVED_COLUMNS)),
        estimates=tuple(_four(heard, answers, how, faithfulness)),
        extra=tables,
    )


def _four(
    heard: Sequence[Heard], answers: Answers, how: Settled, faithfulness: Mapping[str, Sitting]
) -> list[NamedEstimate]:
    from ragbench import stats

    found: list[NamedEstimate] = []
    for one in heard:
        numbers: dict[str, Estimate] = judge_numbers.specified(one, answers.clusters, how.scale, how.delta, how.sure)
        if one.name in faithfulness:
            numbers["avg_faithfulness"] = stats.estimate(
                faithfulness[one.name].scores[:, 0],
                clusters=answers.clusters,
                bounds=bounds(faithfulness_rating),
                **asdict(how.sure),
            )
        found += [NamedEstimate(one.name, name, estimate) for name, estimate in numbers.items()]
    return found
