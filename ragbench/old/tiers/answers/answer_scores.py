"""What answers are worth and how they are: scored by judges, words, sets; how long, how often refused; stated.

Who says what a refusal is: the rule of `ragbench.old.systems.refusals`, or a judge.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from ragbench.old import embed, stats
from ragbench.old.core.facts import Facts
from ragbench.old.core.language import translator
from ragbench.old.core.measurement import SCORE_COLUMNS, Evidence, Finding, Findings, NamedComparison, NamedEstimate
from ragbench.old.core.metric import Metric, parse
from ragbench.old.core.settings import Settings
from ragbench.old.core.types import Array, Embedder, Question, Sample, Status
from ragbench.old.core.types.reason import Reason, kept
from ragbench.old.judge.words import words
from ragbench.old.metrics import catalogue, declaration, overlap
from ragbench.old.metrics.explanation import explain
from ragbench.old.systems.refusals import RECOGNISED
from ragbench.old.tiers.answers.written_answers import Answered, sample
from ragbench.old.tiers.basics import design, findings
from ragbench.old.tiers.basics.choices import BenchError, parted
from ragbench.old.tiers.basics.findings import Sureness, bounds
from ragbench.old.tiers.basics.session import Session
from ragbench.old.tiers.scoring import judge_assignment, own_metrics, sets
from ragbench.old.tiers.scoring.judged_metrics import JUDGEMENT_COLUMNS, Judging, judged

if TYPE_CHECKING:
    import pandas as pd


NAMES = frozenset(each.name for each in overlap.CORPUS)
TABLE = "corpus_counts"
"""Under which name what each answer adds to the totals is kept and published."""
PLACE = ("system", "metric", "sample", "answer")
GIVEN, NOTHING, REFERENCE = "given", "nothing", "reference"
"""As what an answer is counted: as it is; one that is missing also as an empty one, and as the reference itself, the
worst and the best that it could have been."""


@dataclass(frozen=True)
class Found:
    """estimates: of every system and measure. hypotheses: by measure, that another system is as the first."""

    estimates: tuple[NamedEstimate, ...] = ()
    hypotheses: Mapping[str, list[stats.Hypothesis]] = field(default_factory=dict)


def is_corpus(metric: Metric) -> bool:
    """Whether the metric is a measure of a whole set of answers."""
    return metric.name in NAMES


def find(
    samples: Mapping[str, Sequence[Sample]],
    metrics: Sequence[Metric],
    clusters: Sequence[str] | None,
    sureness: Sureness,
) -> Found:
    """Corpus values with intervals from resampled counts, and hypotheses to be tested in the page's families.

    samples: system → one sample a question, in one order for all.
    """
    estimates: list[NamedEstimate] = []
    hypotheses: dict[str, list[stats.Hypothesis]] = {}
    for metric in metrics:
        statistic = overlap.statistic(metric)
        rows = {name: overlap.sufficient(metric, each) for name, each in samples.items()}
        estimates += [
            NamedEstimate(
                name, metric.label,
                stats.resample(statistic, own, clusters=clusters, bounds=bounds(metric), **asdict(sureness)),
            )
            for name, own in rows.items()
        ]  # fmt: skip
        first, *others = rows
        better = metric.better or "higher"
        hypotheses[metric.label] = [
            stats.statistic_hypothesis(
                statistic, rows[first], rows[name], clusters=clusters, better=better, names=(first, name),
                bounds=bounds(metric), completed=_completed(metric, samples[first], samples[name]),
                void=[not (sample.reference or "").strip() for sample in samples[first]], **asdict(sureness),
            )
            for name in others
        ]  # fmt: skip
    return Found(tuple(estimates), hypotheses)


def counts(samples: Mapping[str, Sequence[Sample]], metrics: Sequence[Metric]) -> pd.DataFrame:
    """What each answer adds to the totals of every corpus measure among the metrics: PLACE, and `count_1`, ….

    Of corpus BLEU: tokens of the answer and of the reference, 1- to 4-grams that both have, and those of the answer; of
    corpus ROUGE: what both have, what the answer has, what the reference has. NaN where there was nothing to count.
    samples: system → one sample a question.
    """
    import pandas as pd

    parts = []
    for metric in filter(is_corpus, metrics):
        for name, own in samples.items():
            lacking = [sample for sample in own if sample.response is None]
            counted = {GIVEN: own, NOTHING: [_filled(sample, False) for sample in lacking]}
            counted[REFERENCE] = [_filled(sample, True) for sample in lacking]
            for answer, some in counted.items():
                rows = overlap.sufficient(metric, some)
                table = pd.DataFrame(rows, columns=[f"count_{place + 1}" for place in range(rows.shape[1])])
                place = dict(zip(PLACE, (name, metric.label, [sample.id for sample in some], answer), strict=True))
                parts.append(pd.DataFrame(place, index=table.index).join(table))
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=list(PLACE))


def _completed(
    metric: Metric, first: Sequence[Sample], second: Sequence[Sample]
) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    """The counts of both where every answer that is missing says nothing, or is the reference, so that the difference
    is smallest, and where it is largest."""
    empty, full = (
        [overlap.sufficient(metric, [_filled(sample, best) for sample in side]) for side in (first, second)]
        for best in (False, True)
    )
    return (full[0], empty[1]), (empty[0], full[1])


def _filled(sample: Sample, best: bool) -> Sample:
    return sample if sample.response is not None else replace(sample, response=sample.reference if best else "")


REPEATED = ("response_exact_match_rate", "response_semantic_consistency")
ONCE = Reason("every question was answered once: repeats = 2 or more are needed")
LOGGED = Reason("fewer answers than repeats were given: nothing can be compared")
COUNTS = TABLE
TEXTS = ("rouge1_f", "rouge2_f", "rougeL_f", "bleu", "corpus_bleu")


@dataclass(frozen=True)
class Worth:
    """What was measured of the answers.

    scores: one row a system, metric and question (SCORE_COLUMNS), of all metrics but those of a whole set; where a
    question was answered several times, the mean over its answers. judgements: as
    `ragbench.old.tiers.scoring.judged_metrics.Judged.judgements`, of the first answers. facts: `judges`, `aggregate`,
    `embedder`. repeated: the score of each answer (`ragbench.old.tiers.scoring.sets.REPEATED`), of what was asked once
    none.
    """

    scores: pd.DataFrame
    judgements: pd.DataFrame
    facts: Facts
    repeated: pd.DataFrame

    @property
    def tables(self) -> dict[str, pd.DataFrame]:
        """The tables `judgements` and, of what was asked several times, `repeated`."""
        return {"judgements": self.judgements, **({"repeated": self.repeated} if len(self.repeated) else {})}

    @property
    def firsts(self) -> pd.DataFrame:
        """The scores of the first answers, as `scores`."""
        if not len(self.repeated):
            return self.scores
        place, told = ["system", "metric", "sample"], ["value", "status", "reason"]
        own = self.repeated[self.repeated["repeat"] == 0].set_index(place)[told]
        table = self.scores.set_index(place)
        table.loc[own.index, told] = own
        return table.reset_index()[self.scores.columns.tolist()]


def chosen(labels: str | Sequence[str], default: Sequence[str]) -> tuple[Metric, ...]:
    """The metrics of these labels, or the tier's own; each reads one answer, repeats of one, or a set of answers.

    Raises BenchError for one that reads something else, ValueError for one that does not exist.
    """
    own_metrics.check()
    catalogue()
    selected = tuple(parse(label) for label in parted(labels) or default)
    for each in selected:
        if not (each.grain == "sample" or _of_repeats(each) or is_corpus(each)):
            raise BenchError(
                f"{each.label} reads a {each.grain}, not answers; `ragbench metrics --grain sample` lists those that do"
            )
    return selected


def _of_repeats(each: Metric) -> bool:
    """Whether it reads all answers to one question: one of the house that does, or a function of the user's."""
    return each.name in REPEATED or (each.grain == "turns" and each.is_users)


def measured(
    session: Session, asked: Sequence[Question], answered: Answered, metrics: Sequence[Metric], judging: Judging
) -> Worth:
    """Every metric on the answers of all systems to these questions, each repeat by itself; a question that was not
    answered once has its status. An answer that came again word for word is judged once.

    What a question lacks (a reference, contexts) leaves its metrics unmeasured, never 0.
    """
    import pandas as pd

    questions = {question.id for question in asked}
    single = [each for each in metrics if each.grain == "sample"]
    numbers = sorted(set(answered.table["repeat"]))
    turns = {
        number: [answer for answer in answered.samples(asked, number) if answer.id in questions] for number in numbers
    }
    samples = [answer for own in turns.values() for answer in own]
    parts = []
    judgements, facts, repeated = pd.DataFrame(columns=list(JUDGEMENT_COLUMNS)), Facts(), sets.table([])
    if single and samples:
        verdicts = judged(session, samples, single, judging)
        parts.append(verdicts.scores)
        judgements, facts = verdicts.judgements, verdicts.facts
        repeated = _numbered(verdicts.repeated, verdicts.scores, turns, answered, questions)
    there = {(answer.system, answer.id) for answer in samples}
    rows = [
        (*place, float("nan"), *why, None)
        for place, why in _unanswered(answered.unanswered(), questions, single)
        if (place[0], place[2]) not in there
    ]
    rows += _repeated(session, asked, answered, [each for each in metrics if _of_repeats(each)], judging)
    parts.append(pd.DataFrame(rows, columns=list(SCORE_COLUMNS)))
    scores = pd.concat([part for part in parts if len(part)] or parts, ignore_index=True)
    return Worth(_in_order(scores, session, asked, metrics), judgements, facts, repeated)


def _unanswered(
    failed: Mapping[tuple[str, str], tuple[str, str]], questions: Container[str], metrics: Sequence[Metric]
) -> Iterator[tuple[tuple[str, str, str], tuple[str, str]]]:
    """(system, metric, question) → (status, reason) of what has no answer to be measured."""
    for (system, identifier), why in failed.items():
        if identifier in questions:
            for each in metrics:
                yield (system, each.label, identifier), why


def _numbered(
    repeated: pd.DataFrame,
    scores: pd.DataFrame,
    turns: Mapping[int, Sequence[Sample]],
    answered: Answered,
    questions: Container[str],
) -> pd.DataFrame:
    """The single scores under the numbers of their answers, with those that failed to come; of what was asked once
    nothing. repeated: single scores, counted one by one as they came."""
    if len(turns) < 2:
        return sets.table([])
    came: dict[tuple[str | None, str], list[int]] = {}
    for number, own in turns.items():
        for answer in own:
            came.setdefault((answer.system, answer.id), []).append(number)
    known = {
        (row["system"], row["metric"], row["sample"]): (row["value"], row["status"], row["reason"])
        for row in scores.to_dict("records")
    }
    rows = [
        (row["system"], row["metric"], row["sample"], came[row["system"], row["sample"]][row["repeat"]],
         row["value"], row["status"], row["reason"])
        for row in repeated.to_dict("records")
    ]  # fmt: skip
    rows += [
        (*place, came[place[0], place[2]][0], *told)
        for place, told in known.items()
        if len(came[place[0], place[2]]) == 1
    ]
    metrics = list(dict.fromkeys(scores["metric"]))
    for number in turns:
        for (system, identifier), why in answered.unanswered(number).items():
            if identifier in questions:
                rows += [(system, metric, identifier, number, float("nan"), *why) for metric in metrics]
    return sets.table(rows)


def found(
    scores: pd.DataFrame,
    aligned: Mapping[str, Sequence[Sample]],
    asked: Sequence[Question],
    metrics: Sequence[Metric],
    sureness: Sureness,
    primary: str,
) -> tuple[tuple[NamedEstimate, ...], tuple[NamedComparison, ...]]:
    """Estimates of every system and metric in the metrics' order, and all comparisons with the first, of scores and
    first answers. aligned: system → one sample a question, its response None where there is no answer, in the order of
    `asked`, which is by id; the baseline first."""
    systems, clusters = tuple(aligned), design.clusters(asked)
    single = [each for each in metrics if not is_corpus(each)]
    whole = [each for each in metrics if is_corpus(each)]
    labels = None if clusters is None else [clusters[question.id] for question in asked]
    corpus = find(aligned, whole, labels, sureness)
    estimates, comparisons = findings.find(
        scores, single, systems, clusters, sureness, primary, corpus.hypotheses, [each.id for each in asked]
    )
    order = {each.label: place for place, each in enumerate(metrics)}
    place = {name: number for number, name in enumerate(systems)}
    return (
        tuple(sorted((*estimates, *corpus.estimates), key=lambda e: (place[e.system], order[e.metric]))),
        tuple(sorted(comparisons, key=lambda c: (place[c.comparison.challenger], order[c.metric]))),
    )


def _in_order(
    scores: pd.DataFrame, session: Session, asked: Sequence[Question], metrics: Sequence[Metric]
) -> pd.DataFrame:
    """Rows by system, metric and question, each in the order in which they are known."""
    orders = {
        "system": {name: place for place, name in enumerate(session.systems)},
        "metric": {each.label: place for place, each in enumerate(metrics)},
        "sample": {question.id: place for place, question in enumerate(asked)},
    }
    keys = scores[list(orders)].copy()
    for column, order in orders.items():
        keys[column] = keys[column].map(order)
    return scores.loc[keys.sort_values(list(orders), kind="stable").index].reset_index(drop=True)


def _repeated(
    session: Session, asked: Sequence[Question], answered: Answered, metrics: Sequence[Metric], judging: Judging
) -> list[tuple[Any, ...]]:
    """Rows of the metrics over repeats; unmeasured, with the reason, where nothing was repeated."""
    if not metrics:
        return []
    questions = {question.id: question for question in asked}
    turns: dict[tuple[str, str], list[Sample]] = {
        (system, question.id): [] for system in answered.generators for question in asked
    }
    for row in answered.table.sort_values("repeat", kind="stable").to_dict("records"):
        if row["sample"] in questions:
            question = questions[row["sample"]]
            turns[row["system"], question.id].append(sample(question, row["system"], row["response"], ()))
    failed = answered.unanswered()
    nothing = [(place, metric) for place, metric in itertools.product(turns, metrics)
               if metric.is_users and all(turn.response is None for turn in turns[place])]  # fmt: skip
    works = [
        ((place, _given(metric, group)), metric)
        for (place, group), metric in itertools.product(turns.items(), metrics)
        if (place, metric) not in nothing
    ]
    embedder = _embedder(session, turns, metrics, judging)
    scores = sets.scored_groups([(metric, group) for (_, group), metric in works], embedder, session.settings)
    once = all(len(group) < 2 for group in turns.values())
    speaker = translator(judging.prompts or session.settings.language)
    rows = []
    for (((system, identifier), group), metric), score in zip(works, scores, strict=True):
        reason = explain(score, speaker) if score.status is Status.OK else score.reason
        if len(group) < 2 and not metric.is_users:
            reason = ONCE if once else LOGGED
        rows.append((system, metric.label, identifier, score.value, score.status.value, kept(reason), None))
    for (system, identifier), metric in nothing:
        why = failed.get((system, identifier), (Status.MISSING_FIELD.value, "there is no answer to it"))
        rows.append((system, metric.label, identifier, float("nan"), *why, None))
    return rows


def _given(metric: Metric, turns: Sequence[Sample]) -> Sequence[Sample]:
    """What a metric of repeats is given: a function of the user's only answers that came."""
    return [turn for turn in turns if turn.response is not None] if metric.is_users else turns


def _embedder(
    session: Session, turns: Mapping[Any, Sequence[Sample]], metrics: Sequence[Metric], judging: Judging
) -> Embedder:
    """The first of the embedders asked for; one that embeds nothing where no metric needs it."""
    name = parted(judging.embedder or session.settings.metric_embedder)[0]
    known = session.settings.embedders
    if name not in known:
        raise BenchError(f"there is no embedder {name!r}; there are {', '.join(sorted(known))}")
    texts = sorted({turn.response for group in turns.values() for turn in group if turn.response})
    with session.store() as store:
        return embed.make(name, known[name], texts or ["."], store.arrays)


PROBABILITIES = (0.1, 0.5, 0.9)  # the middle, and what nine in ten are above and below
ANSWERABLE, UNANSWERABLE = "answerable", "unanswerable"
RULE = "rule"
REFUSES = "aspect_critique(aspect=refusal)"
"""What a judge is asked of every answer where a judge says which are refusals."""
Decider = Annotated[
    str,
    Field(description='who says which answers are refusals: "rule", by words, or one judge of ragbench.toml'),
]


def check(by: str, settings: Settings) -> None:
    """Refuse a decider that there is not, before anything is paid for. Raises BenchError with who there is."""
    if by != RULE and by not in settings.judges:
        legal = ", ".join(sorted(settings.judges)) or "none"
        raise BenchError(
            f'refusals = {by!r}: "{RULE}" or one model is expected; judges are {legal} (tables [judges.NAME])'
        )


def decided(
    session: Session, asked: Sequence[Question], answered: Answered, by: str, judging: Judging
) -> tuple[Answered, dict[str, Any]]:
    """The answers with `refused` as the decider says it, and the facts of who that is.

    by: RULE, or a judge's name; an answer that the judge gave no verdict on is neither a refusal nor none: `refused` is
    missing, and every share of refusals counts it as unmeasured. facts: `by`; of the rule its `recall` and `precision`,
    `found` of `refusals` labelled ones and `taken`; of a judge what it was asked, and how it did its work.
    Raises ModelError as every judged metric does.
    """
    import pandas as pd

    if by == RULE:
        rule = RECOGNISED
        return answered, {"by": RULE, **rule._asdict(), "recall": rule.recall, "precision": rule.precision}
    metric = parse(REFUSES)
    asking = replace(judging, judges=by, aggregate=None, tolerance=None, quorum=None)
    table, facts = answered.table.copy(), {}
    said: dict[tuple[str, str, int], float] = {}
    for repeat in sorted(set(table["repeat"])):
        samples = [each for each in answered.samples(asked, repeat) if each.response]
        if samples:
            scored = judged(session, samples, [metric], asking)
            facts = {"judges": scored.facts["judges"], "metric": metric.label}
            for row in scored.scores.to_dict("records"):
                said[row["system"], row["sample"], repeat] = row["value"]
    places = zip(table["system"], table["sample"], table["repeat"], table["response"], strict=True)
    verdicts = [said.get((system, sample, repeat), np.nan) if text else 0.0 for system, sample, repeat, text in places]
    table["refused"] = pd.Series(
        [None if np.isnan(verdict) else bool(verdict) for verdict in verdicts], table.index, object
    )
    return replace(answered, table=table), {"by": by, **facts}


def lengths(answered: Answered, asked: Sequence[Question], level: float) -> tuple[NamedEstimate, ...]:
    """Quantiles with order-statistic intervals of the words of answers, of what they took and of their tokens.

    of: "answer" (refusals, and what nobody could tell to be one, left out), "reference" (of the questions, the same in
    every system's rows), "contexts" (of what was shown), "input_tokens", "output_tokens". The first answer of repeats
    counts. What nobody knows has none.
    """
    questions = {question.id: question for question in asked}
    table = answered.table
    table = table[(table["repeat"] == 0) & (table["status"] == Status.OK.value) & table["sample"].isin(questions)]
    made: list[NamedEstimate] = []
    for system in answered.generators:
        own = table[table["system"] == system]
        said = own[own["refused"].eq(False)]
        values: dict[str, Sequence[float]] = {
            "answer": [len(words(text)) for text in said["response"]],
            "reference": [len(words(question.reference)) for question in asked if question.reference],
            "contexts": own["context_words"].tolist(),
            "input_tokens": own["input_tokens"].dropna().astype(float).tolist(),
            "output_tokens": own["output_tokens"].dropna().astype(float).tolist(),
        }
        for what, numbers in values.items():
            for probability in PROBABILITIES if len(numbers) else ():
                e = stats.quantile(np.asarray(numbers, float), probability, level=level)
                made.append(NamedEstimate(system, "length", e, {"of": what, "probability": probability}))
    return tuple(made)


def refusals(answered: Answered, asked: Sequence[Question], sureness: Sureness) -> tuple[NamedEstimate, ...]:
    """Share of refusals at each `group`: among questions that can be answered (wrong ones), and those that cannot.

    A question whose answerability nobody labelled counts as answerable. The first answer of repeats counts; one that
    failed, is empty or got no verdict is neither, and is unmeasured.
    """
    made: list[NamedEstimate] = []
    table = answered.table[answered.table["repeat"] == 0].set_index(["system", "sample"])
    for system in answered.generators:
        for group in (ANSWERABLE, UNANSWERABLE):
            own = [q for q in asked if (group == UNANSWERABLE) == (q.answerable is False)]
            if not own:
                continue
            rows = table.loc[[(system, q.id) for q in own]]
            there = ((rows["status"] == Status.OK.value) & (rows["response"] != "")).to_numpy()
            refused = np.where(there, rows["refused"].to_numpy(dtype=float), np.nan)
            clusters = design.independent([design.cluster(q) for q in own])
            share = stats.estimate(refused, clusters=clusters, bounds=(0.0, 1.0), **asdict(sureness))
            made.append(NamedEstimate(system, "refusals", share, {"group": group}))
    return tuple(made)


def cut(answered: Answered) -> dict[str, dict[str, int]]:
    """By system: answers written from less than there was, contexts shortened or left out, characters lost."""
    table = answered.table[answered.table["repeat"] == 0]
    counts: dict[str, dict[str, int]] = {}
    for system in answered.generators:
        own = table[table["system"] == system]
        counts[system] = {
            "answers": int((own["contexts_cut"] > 0).sum()),
            "contexts": int(own["contexts_cut"].sum()),
            "characters": int(own["characters_cut"].sum()),
        }
    return counts


def empty(answered: Answered) -> dict[str, int]:
    """By system: how many answers are empty; systems without one are left out."""
    table = answered.table[answered.table["response"] == ""]
    return {str(system): len(own) for system, own in table.groupby("system", sort=False)}


def failed(answered: Answered) -> dict[str, Mapping[str, int]]:
    """By system: how many answers failed, by status; systems without a failure are left out."""
    table = answered.table[answered.table["status"] != Status.OK.value]
    return {
        str(system): {str(status): int(n) for status, n in own["status"].value_counts().sort_index().items()}
        for system, own in table.groupby("system", sort=False)
    }


def state(evidence: Evidence) -> Findings:
    """Means and comparisons by every metric; lengths, refusals and slices."""
    return answer_findings(evidence, ())


def answer_findings(evidence: Evidence, more: Sequence[Finding]) -> Findings:
    """The same, with further findings before the slices."""
    page, answered = design.Design(evidence), answered_of(evidence)
    if not page.asked:
        return Findings()
    metrics = tuple(metric for label in evidence.facts["metric_labels"] if (metric := declaration(label)) is not None)
    ordered = sorted(page.asked, key=lambda question: question.id)
    firsts = answered.first.table
    known = {
        (row["system"], row["sample"]): row["response"]
        for row in firsts.to_dict("records")
        if row["status"] == Status.OK.value
    }
    aligned = {name: [sample(q, name, known.get((name, q.id)), ()) for q in ordered] for name in page.systems}
    estimates, comparisons = found(evidence.scores, aligned, ordered, metrics, page.sureness, page.primary)
    single = [each for each in metrics if each.grain == "sample"]
    leading = next((each for each in single if each.label == page.primary), next(iter(single), None))
    placed: list[Finding] = [
        *lengths(answered, page.asked, page.sureness.level),
        *refusals(answered, page.questions, page.sureness),
        *more,
    ]
    if leading is not None:
        placed += design.of_slices(
            evidence.scores, leading, page.systems, page.asked, page.dimensions, page.clusters, page.sureness
        )
    counted: Facts = {
        **page.counts(),
        "n_unanswerable": len(page.questions) - len(page.asked),
        "slices_left_out": design.left_out(page.asked, page.dimensions),
        "cut": cut(answered),
        "failed": failed(answered),
        "empty": empty(answered),
        **judge_assignment.over_judges(
            evidence.extra["judgements"], comparisons, evidence.facts.get("judged", ()), page.clusters,
            page.sureness.level,
        ),
    }  # fmt: skip
    extra = {TABLE: counts(aligned, metrics)} if any(map(is_corpus, metrics)) else {}
    if (repeated := evidence.extra.get("repeated")) is not None:
        extra["variance"] = sets.variance(repeated, estimates, comparisons, page.clusters)
    return Findings(estimates, comparisons, tuple(placed), counted, extra)


def answered_of(evidence: Evidence) -> Answered:
    """The answers as they are kept, without the passages that they were written from."""
    return Answered(evidence.extra["answers"], {}, evidence.facts["generators"])
