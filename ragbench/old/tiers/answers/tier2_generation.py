"""Tier 2: how well systems answer from the ideal context, so that nothing which was not found can be blamed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

from pydantic import Field

from ragbench.old.core import stand_ins
from ragbench.old.core.facts import Facts
from ragbench.old.core.measurement import Evidence
from ragbench.old.core.metric import Metric
from ragbench.old.core.settings import Settings
from ragbench.old.core.types import Hit, Question
from ragbench.old.tiers.answers import answer_scores
from ragbench.old.tiers.answers.written_answers import Answered, Own, answered, generator_name, ideal_contexts
from ragbench.old.tiers.basics import design, requests
from ragbench.old.tiers.basics.choices import BenchError, Reads, parted
from ragbench.old.tiers.basics.findings import Sureness, leading
from ragbench.old.tiers.basics.requests import Draws, tier
from ragbench.old.tiers.basics.session import Need, Needed, Session, described
from ragbench.old.tiers.scoring.judged_metrics import Judging

METRICS = (
    "faithfulness_rating", "answer_relevance", "answer_correctness_rating", *answer_scores.TEXTS,
    *answer_scores.REPEATED,
)  # fmt: skip
PRIMARY = "answer_correctness_rating"
KEYS = ("faithfulness_rating", "answer_relevance", PRIMARY, "rougeL_f")


class Answering(Draws):
    """What is answered and measured, by whom, and how sure one wants to be of it.

    usual, foremost: the metrics where none is named, and the primary one of them.
    """

    writes: ClassVar[bool] = True
    usual: ClassVar[tuple[str, ...]]
    foremost: ClassVar[str]

    dataset: requests.Dataset = ""
    systems: requests.Systems = ""
    baseline: requests.Baseline = ""
    metrics: requests.AnswerMetrics = ""
    primary: requests.Primary = ""
    judges: requests.Judges = ""
    aggregate: requests.How = None
    tolerance: requests.Tolerance = None
    quorum: requests.Quorum = None
    embedder: requests.Embedder = ""

    @cached_property
    def chosen(self) -> tuple[Metric, ...]:
        """The metrics; those of the specification where none is named."""
        return answer_scores.chosen(self.metrics, self.usual)

    @property
    def leading(self) -> Metric:
        """The primary metric, by which slices are compared too where single questions have it."""
        return leading(self.primary, self.chosen, self.foremost)


class Tier2Request(Answering):
    """Of answers from the ideal context."""

    reads: ClassVar[Reads] = "writers"
    usual, foremost = METRICS, PRIMARY

    repeats: requests.Repeats = 2
    context: Literal["ideal", "none"] = Field(
        "ideal", description='"ideal": all relevant passages; "none": no passage at all'
    )
    length_limit: requests.LengthLimit = None
    slice_by: requests.SliceBy = "kind, language, source"
    refusals: answer_scores.Decider = answer_scores.RULE
    labels: requests.Labels = ""
    limit: requests.Limit = None
    notebook: str = "tier2_generation"

    def check(self) -> None:
        """Refuse metrics that answers cannot be measured by, a primary one that is not among them, and slices that
        there are not."""
        _ = self.leading, design.chosen(self.slice_by)

    def needed(self, settings: Settings) -> tuple[Needed, ...]:
        """Ideal contexts, if answers are written from them."""
        return (Needed.of(Need.RELEVANT if self.context == "ideal" else Need.QUESTIONS),)


@dataclass
class _Writers:
    """Whose answers are measured. own: answers that were logged. themselves: systems that are given the context by
    themselves. shared: system → those that would answer alike.

    left_out: system → why it cannot answer from a given context.
    """

    systems: list[str] = field(default_factory=list)
    own: dict[str, Own] = field(default_factory=dict)
    themselves: list[str] = field(default_factory=list)
    shared: dict[str, list[str]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)


def embedding_stand_ins(session: Session, metrics: Sequence[Metric], facts: Facts) -> list[dict[str, Any]]:
    """The embedders that stand in for models, of those that these metrics needed."""
    if not any("embedder" in each.needs for each in metrics):
        return []
    names = parted(str(facts.get("embedder") or session.settings.metric_embedder))
    return stand_ins.facts("embedder", [name for name in names if session.settings.is_stand_in(name)])


@tier(Tier2Request, answer_scores.state)
def tier2_generation(request: Tier2Request) -> Evidence:
    """Have every system's generator answer every question from its relevant chunks, and measure the answers.

    A service or a function that takes contexts is given them; one that does not is left out, and named in the facts.
    Systems that share a generator would give the same answers: the first of them is measured and the others are named
    in the facts. Where contexts are cut to the length limit, that is counted. Means are over the questions with a
    relevant chunk. Those that the base cannot answer are asked as well, without context, and only their refusals are
    counted. An answer that fails is unmeasured with its status.
    Raises BenchError, DatasetError or StoreError, each with what is legal; ModelError when a provider refuses
    altogether.
    """
    session = Session.of(request, request.systems, request.baseline)
    answer_scores.check(request.refusals, session.settings)
    ideal = ideal_contexts(session, session.dataset.questions)
    without = request.context == "none" and not any(ideal.values())  # no base: every question is answered by heart
    scored = [q for q in session.dataset.questions if (without or ideal[q.id]) and q.answerable is not False]
    apart = [q for q in session.dataset.questions if q.answerable is False]
    if not scored:
        raise BenchError(
            f"no question of {session.dataset.label} names a relevant chunk: there is no ideal context to answer from"
        )
    asked = [*scored, *apart]
    writers = _writers(session, asked)
    given = {q.id: ideal[q.id] if request.context == "ideal" and q in scored else () for q in asked}
    answers = answered(
        session,
        asked,
        dict.fromkeys(writers.systems, given),
        repeats=request.repeats,
        length_limit=request.length_limit,
        own=writers.own,
        themselves=writers.themselves,
    )
    answers, refusing = answer_scores.decided(session, asked, answers, request.refusals, request.take(Judging))
    worth = answer_scores.measured(session, scored, answers, request.chosen, request.take(Judging))
    return Evidence(
        notebook=session.notebook,
        facts={
            **session.facts(),
            **request.take(Sureness).facts,
            **worth.facts,
            "baseline": writers.systems[0] if len(writers.systems) > 1 else None,
            "metric_labels": [each.label for each in request.chosen],
            "primary": request.leading.label,
            "key_metrics": [name for name in KEYS if name in {each.label for each in request.chosen}],
            "n_without_context": len(session.dataset.questions) - len(asked),
            "tables": {answer_scores.COUNTS: answer_scores.COUNTS},
            "context": request.context,
            "length_limit": request.length_limit,
            "repeats": request.repeats,
            "slice_by": list(design.chosen(request.slice_by)),
            "generators": {name: dict(told) for name, told in answers.generators.items()},
            "refusals": refusing,
            "shared": writers.shared,
            "left_out_systems": writers.left_out,
            "systems": described_writers(session, writers.systems, answers),
            "stand_ins": embedding_stand_ins(session, request.chosen, worth.facts),
        },
        scores=worth.scores,
        questions=design.questions(asked, "source"),
        retrieved=design.retrieved(
            (name, q.id, map(Hit, answers.shown[name, q.id].contexts), q.relevant)
            for name in answers.generators
            for q in scored
        ),
        extra={"answers": answers.table, **worth.tables},
    )


def _writers(session: Session, asked: Sequence[Question]) -> _Writers:
    """Systems by who writes for them: each generator once, logged answers as they are."""
    from ragbench.old.systems import make, own_writer

    writers = _Writers()
    by_generator: dict[str, str] = {}
    with session.store() as store:
        for name in session.systems:
            system = session.settings.systems[name]
            if own_writer(name, session.settings, store, session.dataset) is not None:
                writers.themselves.append(name)
                writers.systems.append(name)
                continue
            if system.generator is None and system.url is not None and system.answer is not None:
                writers.left_out[name] = "answers by itself"
                continue
            if system.generator is None and session.settings.retriever(name) is None and system.url is None:
                probe = asked if system.results is not None else asked[:1]
                answers = make(name, session.settings, store, session.dataset).retrieve(probe, 1).answers
                if answers and system.results is not None:
                    writers.own[name] = answers
                    writers.systems.append(name)
                    continue
                if answers:
                    writers.left_out[name] = "answers by itself"
                    continue
            generator = generator_name(session, name)
            if generator in by_generator:
                writers.shared.setdefault(by_generator[generator], []).append(name)
                continue
            by_generator[generator] = name
            writers.systems.append(name)
    if not writers.systems:
        raise BenchError(
            f"{', '.join(session.systems)}: what answers by itself cannot be given the ideal context; name "
            "{contexts} in the `body` of a service, give a function a parameter `contexts`, name a `generator` in "
            "the table, or measure it end to end: ragbench run tier3_end_to_end"
        )
    return writers


def described_writers(
    session: Session, systems: Sequence[str], answers: Answered, more: Mapping[str, Mapping[str, Any]] | None = None
) -> list[dict[str, Any]]:
    """The systems as a page's facts list them, each with its generator and what else was found out about it."""
    known: dict[str, dict[str, Any]] = {}
    for name, description in answers.generators.items():
        generator = {
            key: value for key, value in description.items() if value not in (None, False) and key != "stand_in"
        }
        known[name] = {**({} if more is None else more.get(name, {})), "generator": generator}
    return described(session.settings, systems, known)
