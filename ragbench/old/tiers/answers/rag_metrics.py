"""A table of answers by every metric that its fields allow: estimates, comparisons, correlations, single verdicts."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from pydantic import Field

from ragbench.old import llm, stats
from ragbench.old.core import settings as configuration
from ragbench.old.core.facts import Facts
from ragbench.old.core.measurement import QUESTION_COLUMNS, Evidence, Findings, Measurement, NamedEstimate
from ragbench.old.core.metric import Metric, parse
from ragbench.old.core.progress import Progress
from ragbench.old.core.settings import Settings
from ragbench.old.core.types import Array, Chunk, Hit, Sample, Score, Status
from ragbench.old.core.types.reason import read
from ragbench.old.judge import Rule
from ragbench.old.metrics import catalogue
from ragbench.old.tiers.basics import design, requests
from ragbench.old.tiers.basics.choices import BenchError, Reads, parted
from ragbench.old.tiers.basics.design import Design
from ragbench.old.tiers.basics.findings import Sureness, bounds, leading
from ragbench.old.tiers.basics.requests import Draws, tier
from ragbench.old.tiers.basics.session import Need, Needed, commit, part, versions
from ragbench.old.tiers.basics.withholding import stated
from ragbench.old.tiers.scoring import judge_assignment, judged_metrics, parts, sets
from ragbench.old.tiers.scoring import measure as scoring
from ragbench.old.tiers.scoring.ledger import SYSTEM, Row, system_name
from ragbench.old.tiers.scoring.scored_answers import Scores
from ragbench.old.tiers.scoring.table_sources import AnswerTable, find_answers, logged_answers

if TYPE_CHECKING:
    import pandas as pd


NOTEBOOK = "rag_metrics"
PEOPLE = "people"
RATED = "rated"
"""The table of what people thought of the answers: system, sample, value."""
CORRELATION_RESAMPLES = 2000  # a pair of metrics each: with 20 there are 190


class RagMetricsRequest(Draws):
    """Which answers are scored, by what and by whom."""

    reads: ClassVar[Reads] = "answers"

    answers: str = Field(
        "",
        description='a table of answers (JSON Lines, JSON, CSV, Parquet), or "run:latest/NOTEBOOK"; empty: the data '
        "set's own",
    )
    dataset: str = Field(
        "",
        description="whose logged or rated answers are taken if `answers` is empty; empty: as in ragbench.toml",
    )
    systems: requests.Names = Field(
        "",
        description="of a table that names systems only these; answers that name none are always measured; empty: all",
    )
    metrics: requests.Names = Field(
        "",
        description='labels such as "faithfulness, noise_sensitivity(mode=irrelevant)"; empty: all that the fields '
        "allow",
    )
    primary: str = Field("", description="the metric that the page answers with, its own family; empty: the first")
    judges: requests.Judges = ""
    aggregate: requests.How = None
    tolerance: requests.Tolerance = None
    quorum: requests.Quorum = None
    embedder: requests.Embedder = ""
    repeats: int = Field(
        1, description="how often a judge is asked each question, each time anew; a score is the mean", ge=1, le=100
    )
    baseline: str = Field(
        "", description="the system that the others are compared with, where the table names several; empty: the first"
    )
    prompts: str = Field("", description='language in which judges are asked: "en" or "ru"; empty: that of each answer')
    labels: requests.Labels = ""
    limit: requests.Limit = None
    notebook: str = NOTEBOOK

    def needed(self, settings: Settings) -> tuple[Needed, ...]:
        """Answers: the data set's own, where neither a table of them nor a system that answers was named."""
        if self.answers or logged_answers(self.dataset, settings):
            return ()
        if self.answering(settings):
            return (Needed.of(Need.QUESTIONS),)
        return (Needed.of(Need.LOGGED, Need.RATINGS),)

    def answering(self, settings: Settings) -> list[str]:
        """The systems that were named and answer by themselves: services, and functions of the user's."""
        known = {name: settings.systems[name] for name in parted(self.systems) if name in settings.systems}
        return [name for name, system in known.items() if system.callable or (system.url and system.answer)]

    @property
    def asks_judges(self) -> bool:
        """Whether a metric that was named needs one; without names it depends on the answers."""
        return self._needs("judge")

    @property
    def embeds(self) -> bool:
        """Likewise of embedders."""
        return self._needs("embedder")

    def _needs(self, what: str) -> bool:
        catalogue()  # declares them all
        named = [parse(label) for label in parted(self.metrics)]
        return not named or any(what in each.needs for each in named)


def state(evidence: Evidence) -> Findings:
    """Means and comparisons of single answers, correlations, and what each judge and embedder says; values of whole
    sets are no function of stored ones."""
    return _findings(evidence, _scores_of(evidence))


@tier(RagMetricsRequest, state)
def rag_metrics(request: RagMetricsRequest) -> Measurement:
    """Score a table of answers by all metrics that its fields allow, or by those named.

    answers: a file as `ragbench score` reads it; `run:FOLDER` for the answers that a stored run has kept; empty: what
    what the systems say that are named, each asked once, if they answer by themselves; else what is logged beside the
    data set, else its rated answers.

    Raises BenchError, DatasetError or ValueError, before anything is paid for, each with what is legal.
    """
    answers = answers_of(request)
    return scored(request, answers, scoring.applicable(tuple(answers.samples), parted(request.metrics) or None))


def answers_of(request: RagMetricsRequest) -> AnswerTable:
    """The answers that are asked for, or the sample of them. Raises BenchError, DatasetError or ValueError."""
    known = configuration.load()
    answers = find_answers(request.answers, request.dataset, known, request.language, request.answering(known))
    answers = answers.of(parted(request.systems))
    return answers if request.limit is None else answers.drawn(request.limit)


def scored(request: RagMetricsRequest, answers: AnswerTable, metrics: Sequence[Metric]) -> Measurement:
    """The answers by these metrics, as a measurement. Raises BenchError or ValueError, before anything is paid for."""
    known, samples = configuration.load(), tuple(answers.samples)
    _ = leading(request.primary, metrics)
    if request.baseline and request.baseline not in answers.systems:
        raise BenchError(
            f"baseline = {request.baseline!r} is not among the systems of the table: {', '.join(answers.systems)}"
        )
    metrics, judging = request.take(judged_metrics.Judging).on(metrics)
    embedder = request.embedder or known.metric_embedder
    named, names = judging.named(known), judging.asking(known, metrics)
    rule = judging.rule(names)
    total = len(samples) * sum(request.repeats if "judge" in metric.needs else 1 for metric in metrics)
    with (
        judge_assignment.kept_replies(named, metrics) as journal,
        Progress("judging", total, part(request.notebook)) as progress,
    ):
        asked = scoring.Asked(
            judges=named,
            embedder=embedder,
            language=request.prompts or None,
            rule=rule,
            journal=journal,
            advance=progress,
            on_change=scoring.live_line(progress),
            baseline=request.baseline,
            primary=request.primary,
            repeats=request.repeats,
            **asdict(request.take(Sureness)),
        )
        scores = llm.run(scoring.measure(samples, metrics, asked))
    return measurement_of(scores, answers, Made(names, rule, parted(embedder)), request.notebook)


@dataclass(frozen=True)
class Made:
    """Who made the scores: judges by name, how they become one, embedders by name."""

    judges: tuple[str, ...]
    rule: Rule
    embedders: tuple[str, ...]


def request_of(scores: Scores, answers: AnswerTable, language: str, judges: Sequence[str] = ()) -> RagMetricsRequest:
    """What the notebook would have been asked for to make these scores. judges: as they were named, where they were."""
    given: dict[str, Any] = {
        "answers": str(answers.facts["dataset"]),
        "metrics": ", ".join(metric.label for metric in scores.metrics),
        "judges": ", ".join(judges or scores.judges),
        "aggregate": scores.rule.how,
        "tolerance": scores.rule.tolerance,
        "quorum": scores.rule.quorum,
        "embedder": ", ".join(scores.embedders) or configuration.load().metric_embedder,
        **{name: getattr(scores, name) for name in ("baseline", "primary", "level", "resamples", "seed")},
        "language": language,
        "limit": (answers.facts.get("part_of_all") or {}).get("n"),
    }
    return RagMetricsRequest(**given)


def measured_scores(scores: Scores, answers: AnswerTable, language: str, judges: Sequence[str] = ()) -> Measurement:
    """Scores of a table of answers as the notebook would have measured them; judges: see `request_of`."""
    made = measurement_of(scores, answers, Made(scores.judges, scores.rule, scores.embedders))
    return replace(made, facts={**made.facts, "request": request_of(scores, answers, language, judges).told()})


def measurement_of(
    scores: Scores,
    answers: AnswerTable,
    made: Made,
    notebook: str = NOTEBOOK,
) -> Measurement:
    """Scores of a table of answers as a measurement that a page shows.

    Of very many questions (`ragbench.old.tiers.answers.rag_metrics`) only some have answers, passages and judgements there,
    and `listed` says in `questions` which, and why; values are of all.
    """
    listed = chosen(scores)
    told = None if listed is None else listed.why.keys()
    frame = judged_metrics.frame_of(scores, told)
    frame["system"] = frame["system"].fillna(SYSTEM)
    judgements = judged_metrics.judgements(scores, made.judges, told)
    judgements["system"] = judgements["system"].fillna(SYSTEM)
    answered: list[Sample] = []
    questions = _questions(_taken(_firsts(answers.samples), answered, told))
    labelled = _labelled(answered)
    questions["relevant"] = [
        _relevant(labelled[sample]) if sample in labelled else own
        for sample, own in zip(questions["sample"], questions["relevant"], strict=True)
    ]
    if listed is not None:
        questions["listed"] = questions["sample"].map(listed.why)
    facts = _facts(scores, answers, made)
    evidence = Evidence(
        notebook=notebook,
        facts=facts if listed is None else {**facts, "listing": listed.fact},
        scores=frame,
        questions=questions,
        retrieved=_retrieved(answered, labelled),
        extra={
            "judgements": judgements,
            "answers": _answers(answered),
            "chunks": _texts(answered, labelled),
            **_repeated(scores),
            **_rated(answers.people),
            **scores.sets.tables,
        },
    )
    return stated(evidence, lambda known: _findings(known, scores))


def _findings(evidence: Evidence, scores: Scores) -> Findings:
    """scores: those of the evidence, with what is no more told by its tables."""
    questions, judgements = evidence.questions, evidence.extra["judgements"]
    pairs = zip(questions["sample"], questions["cluster"], strict=True)
    clusters = {sample: cluster if cluster and isinstance(cluster, str) else sample for sample, cluster in pairs}
    judged, sureness = evidence.facts.get("judged") or (), _sureness(scores)
    estimates = tuple(NamedEstimate(*place, estimate) for place, estimate in scores.means.items())
    known = set(scores.columns.metrics)
    table = evidence.scores[evidence.scores["metric"].isin(known)]
    rated = evidence.extra.get(RATED)
    people = {} if rated is None else {(row["system"], row["sample"]): row["value"] for row in rated.to_dict("records")}
    extra = {}
    if (repeated := evidence.extra.get("repeated")) is not None:
        extra["variance"] = sets.variance(repeated, estimates, scores.differences, design.clusters(scores.samples))
    return Findings(
        estimates,
        scores.differences,
        (
            *correlations(table, people, clusters, sureness),
            *side_by_side(judgements, scores.singles, clusters, sureness),
        ),
        {
            "n_questions": len(questions),
            **judge_assignment.over_judges(judgements, scores.differences, judged, clusters, scores.level),
        },
        extra,
    )


def _scores_of(evidence: Evidence) -> Scores:
    """The scores that a table has of single answers, by metrics that are known here."""
    design, primary = Design(evidence), evidence.facts.get("primary")
    by_label = {each.label: each for each in design.metrics}
    clusters = {question.id: question.cluster for question in design.questions}
    rows = tuple(
        Row(
            Sample(row["sample"], cluster=clusters[row["sample"]], system=row["system"]),
            by_label[row["metric"]],
            Score(float(row["value"]), Status(row["status"]), read(row["reason"])),
        )
        for row in evidence.scores.to_dict("records")
        if row["metric"] in by_label
    )
    how: dict[str, Any] = asdict(design.sureness)
    return Scores(
        rows,
        **how,
        baseline=design.systems[0],
        primary=primary if primary in by_label else "",
    )


def _firsts(samples: Iterable[Sample]) -> Iterator[Sample]:
    """Of repeats the first."""
    seen: dict[str | None, set[str]] = {}
    for sample in samples:
        own = seen.setdefault(sample.system, set())
        if sample.id not in own:
            own.add(sample.id)
            yield sample


def _taken(samples: Iterable[Sample], answered: list[Sample], told: Collection[str] | None) -> Iterator[Sample]:
    """The same as they go by; those of the ids, all if None, are added to `answered`."""
    for sample in samples:
        if told is None or sample.id in told:
            answered.append(sample)
        yield sample


def _repeated(scores: Scores) -> dict[str, pd.DataFrame]:
    """The single scores of what was asked several times; no table else."""
    if scores.columns.repeats < 2:
        return {}
    table = judged_metrics.repeated(scores)
    table["system"] = table["system"].fillna(SYSTEM)
    return {"repeated": table}


def _rated(people: Mapping[tuple[str, str], float]) -> dict[str, pd.DataFrame]:
    """What people thought of the answers, where it is known."""
    import pandas as pd

    rows = [(*place, value) for place, value in people.items()]
    return {RATED: pd.DataFrame(rows, columns=["system", "sample", "value"])} if rows else {}


def _facts(scores: Scores, answers: AnswerTable, made: Made) -> Facts:
    known = configuration.load()
    judging = any("judge" in metric.needs for metric in scores.metrics)
    embedding = any("embedder" in metric.needs for metric in scores.metrics)
    return {
        **answers.facts,
        "level": scores.level,
        "resamples": scores.resamples,
        "seed": scores.seed,
        "tier": NOTEBOOK,
        **({"repeats": asked} if (asked := scores.columns.repeats) > 1 else {}),
        "systems": [{"name": name} for name in scores.systems],
        "baseline": scores.systems[0] if len(scores.systems) > 1 else None,
        "primary": scores.leading,
        "key_metrics": list(dict.fromkeys([scores.leading, *(metric.label for metric in scores.metrics)]))[:4],
        "judges": judged_metrics.listed(known, made.judges, scores, made.rule) if judging else [],
        **(judged_metrics.of_panel(made.judges, made.rule, scores) if judging else {"aggregate": None}),
        **({"sets": [score.fact for score in scores.sets.scores]} if scores.sets.scores else {}),
        **({"tables": {name: name for name in own}} if (own := scores.sets.tables) else {}),
        "judged": judged_metrics.judged_labels(scores.metrics),
        "listeners": parts.listener_facts(scores.listeners),
        "embedder": ", ".join(made.embedders) if embedding else None,
        "stand_ins": [
            stand_in.fact
            for stand_in in scores.stand_ins
            if stand_in.part not in ("people", "order", "panel", "sample")
        ],
        "commit": commit(),
        "versions": versions(),
    }


def _sureness(scores: Scores) -> Sureness:
    return Sureness(scores.level, scores.resamples, scores.seed)


def correlations(
    scores: pd.DataFrame,
    people: Mapping[tuple[str, str], float],
    clusters: Mapping[str, str],
    sureness: Sureness,
) -> tuple[NamedEstimate, ...]:
    """Spearman's ρ of every two metrics, `one` and `other`, over the answers of all systems; answers to one question
    go together. What people thought of the answers, where it is known, is one metric more."""
    import pandas as pd

    wide = scores.pivot_table(
        index=["system", "sample"], columns="metric", values="value", dropna=False, sort=False, aggfunc="first"
    )
    columns = {label: wide[label].to_numpy(dtype=float) for label in dict.fromkeys(scores["metric"]) if label in wide}
    if people:
        columns = {PEOPLE: pd.Series(people).reindex(wide.index).to_numpy(dtype=float), **columns}
    labels = design.independent([clusters[sample] for _, sample in wide.index])
    how = asdict(replace(sureness, resamples=min(sureness.resamples, CORRELATION_RESAMPLES)))
    return tuple(
        NamedEstimate(
            "", "spearman", stats.spearman(first, second, clusters=labels, **how), {"one": metric, "other": other}
        )
        for (metric, first), (other, second) in combinations(columns.items(), 2)
    )


def side_by_side(
    judgements: pd.DataFrame, metrics: Sequence[Metric], clusters: Mapping[str, str], sureness: Sureness
) -> tuple[NamedEstimate, ...]:
    """The means of each `judge` and of each `embedder`, where there are several; none where there is one of each."""
    scales = {metric.label: bounds(metric) for metric in metrics}
    columns: dict[tuple[str, str, str, str], dict[str, float]] = {}
    for row in judgements.to_dict("records"):
        system, label, sample = str(row["system"]), str(row["metric"]), str(row["sample"])
        detail = json.loads(str(row["detail"]))
        if row["judge"] is not None:
            columns.setdefault((system, label, "judge", str(row["judge"])), {})[sample] = float(row["value"])
        for name, value in (detail.get("embedders") or {}).items():
            columns.setdefault((system, label, "embedder", name), {}).setdefault(sample, float(value))
    rows = []
    for (system, label, kind, name), values in columns.items():
        if sum(other[:3] == (system, label, kind) for other in columns) > 1:
            groups = design.independent([clusters[sample] for sample in values])
            mean = stats.estimate(list(values.values()), clusters=groups, bounds=scales.get(label), **asdict(sureness))
            rows.append(NamedEstimate(system, label, mean, {kind: name}))
    return tuple(rows)


def _questions(samples: Iterable[Sample]) -> pd.DataFrame:
    """Each question where it first stands, as its last answer has it."""
    references: list[Sequence[str]] = []

    def row(sample: Sample) -> tuple[Any, ...]:
        references.append(sample.references)
        asked = sample.user_input if sample.user_input is not None else sample.response or ""
        relevant = _relevant(sample.reference_contexts or ())
        return sample.id, asked, sample.reference, None, sample.language, sample.cluster, None, relevant

    table = design.with_references(design.gathered(map(row, samples), QUESTION_COLUMNS), references)
    if not table["sample"].duplicated().any():
        return table
    places = dict(zip(table["sample"], table.index, strict=True))
    table = table.loc[list(places.values())].reset_index(drop=True)
    empty = [str(name) for name in table if table[name].isna().all()]
    return table.assign(**dict.fromkeys(empty))


def _relevant(labelled: Iterable[Chunk]) -> str:
    return json.dumps({chunk.id: 1.0 for chunk in labelled}, sort_keys=True)


def _labelled(samples: Sequence[Sample]) -> dict[str, list[Chunk]]:
    """By question the passages that the rows of its answers label as relevant, each once. One that is labelled by its
    id alone has the text that answers to the question were given under this id."""
    texts: dict[tuple[str, str], set[str]] = {}
    for sample in samples:
        for chunk in (*(sample.contexts or ()), *(sample.reference_contexts or ())):
            if chunk.text.strip():
                texts.setdefault((sample.id, chunk.id), set()).add(chunk.text)
    labels: dict[str, dict[str, Chunk]] = {}
    for sample in samples:
        own = labels.setdefault(sample.id, {})
        for chunk in sample.reference_contexts or ():
            known = texts.get((sample.id, chunk.id), set())
            own[chunk.id] = replace(chunk, text=next(iter(known))) if len(known) == 1 else chunk
    by_question: dict[str, list[Chunk]] = {}
    for question, own in labels.items():
        every = by_question[question] = []
        for chunk in sorted(
            own.values(), key=lambda passage: passage.is_nameless
        ):  # an id serves those without texts, too
            if not chunk.is_among(every):
                every.append(chunk)
    return by_question


def _once(chunks: Iterable[Chunk]) -> Iterable[Chunk]:
    return {chunk.id: chunk for chunk in chunks}.values()


def _retrieved(samples: Sequence[Sample], labelled: Mapping[str, Sequence[Chunk]]) -> pd.DataFrame:
    """What stands in the contexts. gain: 1 of a passage that is labelled, by its own row where that labels any, else by
    another answer's; 0 of others; NaN where that cannot be said: nothing is labelled, or only by ids that the retrieved
    ones lack. `passage` is there where a labelled passage has another id than a retrieved one."""
    gains = {True: 1.0, False: 0.0, None: math.nan}
    told, passages = [], []
    for sample in samples:
        wanted, chunks = labelled[sample.id], sample.contexts or ()
        own = sample.reference_contexts or wanted
        by_chunk = {chunk.id: gains[chunk.is_among(own) if own else None] for chunk in _once(chunks)}
        told.append((system_name(sample), sample.id, map(Hit, chunks), by_chunk))
        passages += [next((passage.id for passage in wanted if chunk.is_same(passage)), chunk.id) for chunk in chunks]
    table = design.retrieved(told).astype({"rank": int, "similarity": float, "gain": float})
    return table if passages == table["chunk"].tolist() else table.assign(passage=passages)


def _texts(samples: Iterable[Sample], labelled: Mapping[str, Sequence[Chunk]]) -> pd.DataFrame:
    """`chunk` and `text` of the labelled passages; none of an id that stands for several texts."""
    import pandas as pd

    wanted = [chunk for chunks in labelled.values() for chunk in chunks if chunk.text.strip()]
    texts = {chunk.id: chunk.text for chunk in wanted}
    every = (*wanted, *(chunk for sample in samples for chunk in sample.contexts or ()))
    for chunk in every:
        if chunk.text.strip() and not chunk.is_nameless and chunk.text != texts.get(chunk.id):
            texts.pop(chunk.id, None)
    return pd.DataFrame(sorted(texts.items()), columns=["chunk", "text"])


def _answers(samples: Sequence[Sample]) -> pd.DataFrame:
    import pandas as pd

    rows = [(system_name(sample), sample.id, sample.response) for sample in samples]
    return pd.DataFrame(rows, columns=["system", "sample", "response"])


MOST = 20_000
"""Questions that are all listed: their table opens in some seconds."""
DRAWN = 10_000
"""Of more, those that are drawn, whatever their values."""
ENDS = 10_000
"""And about as many for their values, shared by systems and metrics."""
LEAST = 20
"""At each end of a metric, however many systems and metrics there are."""
AT_RANDOM, AT_ENDS = "at random", "at an end"
"""Why a question is listed: a sample of all is made of the first alone."""


@dataclass(frozen=True)
class Listing:
    """Some questions, and how they came to be chosen.

    why: by id, AT_RANDOM or AT_ENDS. of: how many there are. each: how many at most of a system and a metric with the
    lowest values, with the highest, and without one. drawn: how many at random, by the seed.
    """

    why: Mapping[str, str]
    of: int
    each: int
    drawn: int
    seed: int

    @property
    def fact(self) -> dict[str, Any]:
        """The same for a page's facts, in numbers."""
        return {"n": len(self.why), "of": self.of, "each": self.each, "drawn": self.drawn, "seed": self.seed}


def chosen(scores: Scores) -> Listing | None:
    """The questions that a page lists; None: all. Equal values are taken in an order that the seed draws."""
    ids = list(scores.columns.clusters)
    if len(ids) <= MOST:
        return None
    drawn = np.random.default_rng(scores.seed)
    listed = {ids[place]: AT_RANDOM for place in drawn.permutation(len(ids))[:DRAWN].tolist()}
    known = [values for answers in scores.columns.systems.values() for values in answers.values.values()]
    each = max(LEAST, ENDS // (3 * len(known)))
    for values in known:
        for place in _ends(np.array(values.values), each, drawn):
            listed.setdefault(values.ids[place], AT_ENDS)
    return Listing(listed, len(ids), each, DRAWN, scores.seed)


def _ends(values: Array, each: int, drawn: np.random.Generator) -> Iterator[int]:
    """The places of so many lowest, highest and absent values."""
    order = np.lexsort((drawn.permutation(len(values)), values))  # NaN comes last
    there = len(values) - int(np.isnan(values).sum())
    for places in (order[: min(each, there)], order[max(there - each, 0) : there], order[there : there + each]):
        yield from places.tolist()
