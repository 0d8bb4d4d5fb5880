"""Is the judge any good? Its four numbers, and whether to believe it: coverage, repeats, people, probes, baseline."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Annotated, Any, cast

import numpy as np
from pydantic import Field

from ragbench.old import llm
from ragbench.old.core import settings as configuration
from ragbench.old.core import stand_ins
from ragbench.old.core.facts import Facts
from ragbench.old.core.language import LANGUAGES, translator
from ragbench.old.core.measurement import SCORE_COLUMNS, Evidence, Findings, NamedEstimate
from ragbench.old.core.metric import Metric, parse
from ragbench.old.core.settings import OFFLINE, OWN_TABLES, JudgeSettings, Settings
from ragbench.old.core.types import Array, Question, Sample
from ragbench.old.core.waves import gather
from ragbench.old.data import DatasetError
from ragbench.old.judge import OFFLINE_JUDGES, DryRunJudges, Rule, asks_nobody, open_judges
from ragbench.old.llm import planning
from ragbench.old.metrics import catalogue
from ragbench.old.metrics.judging import Sitting
from ragbench.old.metrics.likert import faithfulness_rating
from ragbench.old.tiers.basics import design, requests
from ragbench.old.tiers.basics.choices import BenchError, parted
from ragbench.old.tiers.basics.design import Design
from ragbench.old.tiers.basics.findings import Sureness
from ragbench.old.tiers.basics.requests import Draws, tier
from ragbench.old.tiers.basics.session import Need, Needed, Session, dataset_of
from ragbench.old.tiers.judges import asking, items, judge_findings, judgement_files, numbers, probes
from ragbench.old.tiers.judges import classes as judge_classes
from ragbench.old.tiers.judges.asking import Heard, Trial, said_by_workers
from ragbench.old.tiers.judges.items import NOTHING, Answers, Scale, Temptations
from ragbench.old.tiers.judges.judge_findings import Settled
from ragbench.old.tiers.judges.probes import Limits, Tried
from ragbench.old.tiers.scoring import judge_assignment, measure, own_metrics
from ragbench.old.tiers.scoring.judged_metrics import Judging, described

MODES = ("direct", "reasoned")
FOUR = ("consistency_score", "error_rate", "avg_latency_ms", "avg_faithfulness")
CHOSEN = ("pairwise_accuracy", "position_consistency")
"""What pages say of a judge first: of one that scores answers, and of one that was asked to choose between them."""
ANSWERED = {"response", "trajectory"}
"""Fields that hold what was answered."""
COMPLETE = {"contexts", "reference", "nuggets"}
"""Fields that an answer is held against: a metric that reads the contexts alone asks nothing of what is not said."""
Share = Annotated[float, Field(ge=0, le=0.99)]


class TierJudgeRequest(Draws):
    """Who is tried, on what, and how much of each fault nobody would mind."""

    dataset: requests.Dataset = ""
    judges: requests.Judges = ""
    metric: str = Field("answer_correctness_rating", description="the judged metric whose scores are on trial")
    modes: requests.Names = Field("", description='"direct, reasoned": every model in both; empty: as configured')
    aggregate: requests.How = None
    repeats: requests.Repeats = 2
    tempted: int = Field(
        100, description="questions whose references are made into answers that try the judge; 0: none", ge=0
    )
    delta: float = Field(0.5, description="of consistency_score, in units of the judge's scale", ge=0)
    good: float = Field(0.7, description="the share of a scale from which on an answer counts as good", gt=0, lt=1)
    people_scale: str = Field("1, 5", description="lowest and highest rating of people")
    classes: requests.Names = Field(
        "",
        description='"contradicted, neutral, supported": names, worst first; empty: the levels of people\'s scale',
    )
    ratings: str = Field(
        "",
        description="logged judgements, instead of asking: a file (.jsonl, .json, .csv, .parquet) in the project",
    )
    judge_scale: str = Field("0, 1", description="lowest and highest score of the judges in that file")
    rival: str = Field(OFFLINE, description="the judge that the others have to beat")
    bias_limit: Share = Field(
        Limits.bias, description="how far a score may move for no reason, as a share of the scale"
    )
    flips_limit: Share = Field(Limits.flips, description="the share of repeats that may change the decision")
    changes_limit: Share = Field(
        Limits.changes,
        description="the share of choices or scores that may change with order, language or scale",
    )
    attacks_limit: Share = Field(Limits.attacks, description="the share of worthless answers that may be called good")
    ladder_limit: float = Field(
        Limits.ladder, description="the share of the pairs of rungs that must be in order", ge=0.01, le=1
    )
    alike_limit: Share = Field(Limits.alike, description="the correlation with the baseline's errors that is allowed")
    fresh_timings: requests.FreshTimings = False
    limit: requests.Limit = None
    notebook: str = "tier_judge"

    def check(self) -> None:
        """Refuse a rule, modes, scales and classes that cannot be."""
        _ = self.scales, judge_classes.names_of(self.classes)
        try:
            _ = self.rule
        except ValueError as error:
            raise BenchError(str(error)) from None
        if wrong := [mode for mode in parted(self.modes) if mode not in MODES]:
            raise BenchError(f"modes = {wrong[0]!r}: each is one of {', '.join(MODES)}")

    def needed(self, settings: Settings) -> tuple[Needed, ...]:
        """Answers that people rated, or references to make some of; none where judgements were logged."""
        return () if self.ratings else (Needed.of(Need.RATINGS, Need.REFERENCES),)

    @property
    def asks_judges(self) -> bool:
        """Whether they are asked; what they said elsewhere is read."""
        return not self.ratings

    @property
    def rule(self) -> Rule:
        """How several judges become one, of all that are there. Raises ValueError."""
        return replace(Rule.of(configuration.load(), self.aggregate), quorum=None)

    @property
    def scales(self) -> tuple[Scale, Scale]:
        """Of people, and of the judges in a file."""
        return Scale.read(self.people_scale), Scale.read(self.judge_scale)

    def settled(self, answers: Answers) -> Settled:
        """How numbers and findings are made of these answers."""
        limits = Limits(**{each.name: getattr(self, f"{each.name}_limit") for each in fields(Limits)})
        named = judge_classes.classes_of(answers, self.scales[0], judge_classes.names_of(self.classes))
        return Settled(self.delta, self.rule, limits, self.take(Sureness), named)


def state(evidence: Evidence) -> Findings:
    """The four numbers of every judge, and all that tells whether to believe it, of what it and people said."""
    facts, said, design = evidence.facts, evidence.extra["said"], Design(evidence)
    heard = [judge for name in design.systems if (judge := judge_findings.heard(said, name)) is not None]
    tried = judge_findings.tried(said, facts)
    named = facts["classes"] and judge_classes.Classes(tuple(facts["classes"]), tuple(facts["class_levels"]))
    limits = Limits(**facts["limits"])
    settled = Settled(facts["delta"], _rule(facts["aggregate"] or "mean"), limits, design.sureness, named or None)
    how = settled.on_grades(heard, tried)
    baseline = judge_findings.heard(said, facts["rival"])
    labels = said.loc[said["kind"] == "label", "value"].to_numpy(dtype=float)
    placed, tables = judge_findings.found(heard, tried, baseline, labels, how)
    faithfulness = judge_findings.single_scores(said, "faithfulness")
    estimates = tuple(each for judge in heard for each in _leading(judge, labels, tried, how, faithfulness))
    return Findings(estimates, (), placed, {"alpha": how.scales}, tables)


def _rule(label: str) -> Rule:
    """The rule that a label (`ragbench.old.judge.Rule.label`) names."""
    how, _, tolerance = label.removesuffix(")").partition("(")
    return Rule(cast(Any, how), float(tolerance) if tolerance else None)


@tier(TierJudgeRequest, state, by_question=False)
def tier_judge(request: TierJudgeRequest) -> Evidence:
    """Try judges on a data set's rated answers and on answers made to tempt them, or read what they said elsewhere.

    An answer costs `repeats` + 2 scores, one of them with the scale turned and one with the prompt in the other
    language, and another where it stands in two languages; a tempting question costs 9 and two choices. Classes lie
    evenly over people's scale; where none are named, its levels are classes if they are 3 to 7. From three classes on
    the page says which is taken for which. A file of ratings holds
    `ragbench.old.tiers.judges.judgement_files.Judgement`. Beyond a limit a probe finds a fault, see
    `ragbench.old.tiers.judges.probes.Limits`.

    A data set with neither rated answers nor questions with a reference gives a measurement of nothing, which says so.
    Raises BenchError, DatasetError, ModelError or StoreError, each with what is legal.
    """
    session = Session.of(request)
    return (_logged if request.ratings else _live)(session, request)


def _live(session: Session, request: TierJudgeRequest) -> Evidence:
    measured = _metric(request.metric)
    names = request.take(Judging).names(session)
    known, names = in_modes(session.settings, names, parted(request.modes))
    answers = items.rated(session.dataset, request.scales[0])
    temptations = items.temptations(session.dataset, request.tempted)
    if halves_tie := measured.better == "lower" or set(measured.fields) & COMPLETE == {"contexts"}:
        temptations = replace(temptations, equals=items.HALVES_TIE)
    if not answers.samples:
        answers = assorted(temptations)
    if not answers.samples:
        names = ()
    others = twins(session, answers), prompts(session, answers)
    trial = Trial(measured, answers, temptations, *others, request.repeats)
    heard, faithfulness, usage = all_heard(session, known, names, trial, faithfulness_rating)
    heard = with_families(heard, known.judges)
    baseline = next((judge for judge in heard if judge.name == OFFLINE), None)
    if baseline is None and names:
        baseline = llm.run(asking.hear(OFFLINE_JUDGES[OFFLINE](), replace(trial, repeats=1, temptations=NOTHING)))
    heard = timed(session, known, names, trial, heard, request.fresh_timings)
    tried = Tried(answers, temptations, bounds(measured), request.good, OFFLINE)
    facts: Facts = {
        "judges": [
            {**judge, **({"answered_by": usage[judge["name"]].answered_by} if judge["name"] in usage else {})}
            for judge in described(replace(session, settings=known), names)
        ],
        "metric": measured.label,
        "faithfulness": faithfulness_rating.label,
        "modes": list(parted(request.modes)),
        "calls": trial.calls,
        "n_tempted": len(temptations.questions),
        "halves_tie": halves_tie,
        "lower_is_better": measured.better == "lower",
        "constructed": not session.dataset.ratings,
        "languages": sorted(
            {sample.language for sample in (*answers.samples, *filter(None, trial.twins)) if sample.language}
        ),
    }
    labels = made_labels(temptations)
    return _measurement(session, request, heard, tried, baseline, labels, facts, faithfulness)


def _logged(session: Session, request: TierJudgeRequest) -> Evidence:
    path = _inside(request.ratings)
    logged = judgement_files.read(path, *request.scales, judge_classes.names_of(request.classes))
    names = [judge.name for judge in logged.heard]
    chosen = parted(request.judges)
    if wrong := [name for name in chosen if name not in names]:
        raise BenchError(f"{path.name} has no judge {wrong[0]!r}; it has {', '.join(names)}")
    heard = with_families(
        [judge for judge in logged.heard if not chosen or judge.name in chosen], session.settings.judges
    )
    baseline = next((judge for judge in logged.heard if judge.name == request.rival), None)
    tried = Tried(logged.answers, NOTHING, request.scales[1], request.good, request.rival)
    facts: Facts = {
        "dataset": path.name,
        "dataset_title": path.name,
        "licence": None,
        "data_hash": logged.content_hash,
        "judges": [{"name": judge.name, "stand_in": judge.stand_in} for judge in heard],
        "metric": None,
        "faithfulness": None,
        "logged": True,
        "n_tempted": 0,
        "halves_tie": False,
        "lower_is_better": False,
        "constructed": False,
    }
    return _measurement(session, request, heard, tried, baseline, logged.labels, facts, {})


def _metric(label: str) -> Metric:
    own_metrics.check()
    catalogue()
    try:
        metric = parse(label)
    except ValueError as error:
        raise BenchError(str(error)) from None
    bounds(metric)
    if metric.grain != "sample" or set(metric.needs) != {"judge"}:
        raise BenchError(f"metric = {label!r}: one is needed that asks a judge, and nothing else, about single answers")
    held = "reference" in metric.fields and any(purpose.goal == "hallucinations" for purpose in metric.purposes)
    blind = metric.better == "lower" and not (metric.is_users or held)  # what no made answer makes worse
    if blind or not (metric.is_users or ANSWERED & set(metric.fields)):
        raise BenchError(
            f"metric = {label!r}: probes compare better and worse answers: one is needed that reads the answer and "
            "says which is better, such as answer_correctness_rating, nugget_score or claim_hallucination"
        )
    return metric


def _inside(name: str) -> Path:
    root = configuration.project_folder().resolve()
    path = (root / name).resolve()
    if root not in path.parents:
        raise BenchError(f"ratings = {name!r} leads out of the project's folder; put the file inside it")
    if not path.is_file():
        raise BenchError(f"ratings = {name!r}: there is no such file in the project's folder")
    return path


def _measurement(
    session: Session,
    request: TierJudgeRequest,
    heard: Sequence[Heard],
    tried: Tried,
    baseline: Heard | None,
    labels: Array,
    facts: Facts,
    faithfulness: Mapping[str, Sitting],
) -> Evidence:
    answers, how = tried.answers, request.settled(tried.answers)
    tables = judge_findings.listed(heard, tried, baseline, labels, faithfulness)
    label, judged = facts["metric"] or "score", tables["answers"]
    scores = judged[["judge", "sample", "status", "reason"]].rename(columns={"judge": "system"})
    given = [value for judge in heard for value in judge.answers.scores[:, 0]]
    scores = scores.assign(metric=label, value=given, judge=scores["system"])[list(SCORE_COLUMNS)]
    scored = {judge.name for judge in heard if judge.answers.asked.any()}  # others were asked for choices alone
    chooses = any(judge.chooses for judge in heard)
    key = [*(FOUR if scored or not chooses else ()), *(CHOSEN if chooses else ())]
    questions = [
        Question(sample.id, sample.user_input or "", sample.reference, language=sample.language, cluster=cluster)
        for sample, cluster in zip(answers.samples, answers.clusters, strict=True)
    ]
    return Evidence(
        notebook=session.notebook,
        facts={
            **session.facts(),
            **facts,
            "baseline": None,
            "describes": "judges",
            "tables": {"said": "said", "probes": "probes"},
            "primary": key[0],
            "key_metrics": key,
            "systems": [{"name": judge.name} for judge in heard],
            "stand_ins": stand_ins.facts(
                "judge", [judge["name"] for judge in facts["judges"] if judge["stand_in"]], own=True
            ),
            "n_questions": len(answers.samples),
            "raters": list(answers.raters),
            "repeats": max((judge.answers.scores.shape[1] for judge in heard), default=0),
            "delta": request.delta,
            "good": request.good,
            "judge_scale": list(asdict(tried.scale).values()),
            "people_scale": list(asdict(request.scales[0]).values()),
            "classes": [] if how.classes is None else list(how.classes.names),
            "class_levels": [] if how.classes is None else list(how.classes.levels),
            "limits": asdict(how.limits),
            "rival": tried.rival,
            "aggregate": how.rule.label if len(heard) > 1 else None,
            **how.sure.facts,
        },
        scores=scores[scores["system"].isin(scored)].reset_index(drop=True),
        questions=design.questions(questions),
        retrieved=design.retrieved(),
        extra=tables,
    )


def _leading(
    heard: Heard, labels: Array, tried: Tried, how: Settled, faithfulness: Mapping[str, Array]
) -> list[NamedEstimate]:
    """The specification's four numbers, or of a judge that chose between answers only those of its choices."""
    if heard.chooses:
        return numbers.placed(heard.name, judge_findings.chosen(heard, labels, tried, how.sure))
    clusters = tried.answers.clusters
    estimates = numbers.specified(heard, clusters, how.delta, how.sure)
    if heard.name in faithfulness:
        estimates |= numbers.faithful(faithfulness[heard.name], clusters, how.sure)
    return numbers.placed(heard.name, estimates)


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
            async with open_judges(known, names, journal=journal, dry_run=dry, **how) as opened:
                heard = await gather([asking.hear(each, trial, progress, speaker) for each in opened.judges])
                rated = await gather([asking.hear(each, bare) for each in opened.judges])
                if isinstance(opened, DryRunJudges):
                    planning.keep(await opened.outlooks())
            return heard, {rating.name: rating.answers for rating in rated}, opened.usage()

        return llm.run(everything())


def with_families(heard: Sequence[Heard], judges: Mapping[str, JudgeSettings]) -> list[Heard]:
    """The same with the model family of each configured judge: as settings name it, else as its model's name tells."""
    return [
        replace(judge, family=probes.family_of_judge(judges[judge.name])) if judge.name in judges else judge
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
