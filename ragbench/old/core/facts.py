"""What pages may say of how they were measured: every fact, with its type, by what it is a fact of.

Facts are stored as JSON beside the tables of a measurement; a page has those of what it measured. One that was not
measured, or that there is nothing to say of, is None or not there. An annex whose pages know more extends `Facts`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

Told = Mapping[str, Any]
"""What is said of one thing, in plain JSON values: a system, a judge, a parameter."""


class Provenance(TypedDict, total=False):
    """Where the numbers come from, and by whose code.

    left_out: how many rows of a kind were left out when the data were read. systems: `name`, `description`, and what
    was found out of each. stand_ins: see `ragbench.old.core.stand_ins`; answered_by: of runs, see
    `ragbench.old.core.answered_by`; known_items, unreviewed: how many questions are words of their passage, drafted and
    read by nobody; graded: who graded passages, and how many; part_of_all: that questions are a sample; part: that a
    page is stated of some questions or systems. tier: which one measured, by whose name what states findings is found.
    request: what was asked for. tables: side tables that are results, by the name that people know them by.
    unidentified: of a system's passages those that the data do not have, and of how many.
    """

    dataset: str | None
    dataset_title: str | None
    licence: str | None
    data_hash: str | None
    n_chunks: int
    left_out: Mapping[str, int]
    commit: str | None
    versions: Mapping[str, str]
    baseline: str | None
    systems: Sequence[Told]
    project_systems: Sequence[str]
    stand_ins: Sequence[Told]
    answered_by: Sequence[Told]
    known_items: int | None
    matching: Mapping[str, str]
    unreviewed: int
    graded: Mapping[str, int]
    part_of_all: Told
    part: Told
    tier: str
    request: Sequence[Told]
    tables: Mapping[str, str]
    unidentified: Mapping[str, Sequence[int]]
    raised: Sequence[Told]
    masked: bool


class Standing(TypedDict, total=False):
    """How numbers are stated, and what they are held to.

    key_metrics: those that stand on an index. describes: what a page describes, where no system on it is better.
    reachable, tops: by metric, the mean and the largest value that the questions leave room for. thresholds: the
    `set` and its `bands` by label. corrected: metrics whose means people's labels correct. void: what there was
    nothing to measure of: [system, metric, ids of questions].
    """

    level: float
    resamples: int
    seed: int
    primary: str | None
    key_metrics: Sequence[str]
    metric_labels: Sequence[str]
    describes: str
    thresholds: Told
    smallest_difference: Told
    own_metrics: Mapping[str, Told]
    signatures: Mapping[str, str]
    reachable: Mapping[str, float] | None
    tops: Mapping[str, float]
    corrected: Sequence[str]
    void: Sequence[Sequence[Any]]


class Asked(TypedDict, total=False):
    """How many questions were asked, of which groups and parts.

    doubts: how many labels are doubtful, by why. timed_questions: those that were timed; unanswered: by system.
    """

    n_questions: int
    n_clusters: int | None
    n_unanswerable: int
    n_without_relevant: int | None
    n_without_context: int
    cluster_by: str
    slice_by: Sequence[str]
    slices_left_out: Mapping[str, int]
    doubts: Mapping[str, int]
    repeats: int
    timed_questions: int
    unanswered: Mapping[str, int]


class Searched(TypedDict, total=False):
    """How systems were searched: unit: `chunk` or `url`. words: how much of the labelled text is read."""

    unit: str | None
    k: int
    words: Sequence[int]
    labelled_text: Told


class UsersLog(TypedDict, total=False):
    """Of the log of what users asked: how much of it there is, and how much of it cannot be asked."""

    users_log: bool
    proxy: bool
    describes_users: bool
    n_history: int
    n_users: int | None
    n_without_page: int
    n_page_gone: int
    n_without_vector: int


class Sources(TypedDict, total=False):
    """Of the sources of a base: topics, who embedded the questions, and under which share a topic is thin."""

    n_topics: int
    n_topics_given: bool
    thin: float
    topics_embedder: str


class Spaces(TypedDict, total=False):
    """Of spaces that texts were embedded in: which texts, how far they are apart, how many are drawn."""

    texts: str
    n_texts: int
    distance: str
    neighbors: int
    near: float
    listed: int
    projected: int


class Answered(TypedDict, total=False):
    """Who wrote answers from what, and what became of them.

    context: "ideal" or "none"; contexts: how many were read. shared: by system, others that have its generator.
    left_out_systems: by system, why. cut, failed, empty: by system, how many answers. refusals: who told refusals, and
    how well. sets: values of whole sets. listing: that a page lists some of very many questions. answers: whose they
    are.
    """

    answers: str
    context: str | None
    contexts: int
    length_limit: int | None
    generators: Mapping[str, Told]
    shared: Mapping[str, Sequence[str]]
    left_out_systems: Mapping[str, str]
    cut: Mapping[str, Mapping[str, int]]
    failed: Mapping[str, Mapping[str, int]]
    empty: Mapping[str, int]
    refusals: Told
    sets: Sequence[Told]
    listing: Told


class Judged(TypedDict, total=False):
    """Who judged, and how: see `ragbench.old.tiers.scoring.judged_metrics.Judged`.

    judged: metrics whose values a judge gave; judged_alone: those that offline judges alone gave, by metric.
    over_judges: what a panel's differences say of judges who were not asked. listeners: who listened.
    """

    judges: Sequence[Told]
    judged: Sequence[str]
    judged_alone: Mapping[str, str]
    aggregate: str | None
    quorum: int
    judge_coverage: Sequence[Told]
    over_judges: Sequence[Told]
    listeners: Sequence[Told]
    embedder: str | None


class Blamed(TypedDict, total=False):
    """By which standard an answer is right, and whose judge decides what is shown (`ragbench.old.tiers.answers.blame`)."""

    blame: Told
    production_judge: str | None
    perfect_parts: bool
    shown_logged: Sequence[str]


class Tried(TypedDict, total=False):
    """What a judge was tried on, and what is held against it.

    logged: that its judgements were read from a file. halves_tie: half of an answer may be as good as the whole.
    lower_is_better: of the metric; scores are turned round. good:
    the share of the scale from which an answer is good. rival: what the judge has to beat. limits: how far it may be
    swayed. alpha: the scale, "ordinal" or another, that agreement is counted on. raters: the people. modes: that it was
    asked in.
    """

    metric: str | None
    faithfulness: str | None
    modes: Sequence[str]
    calls: int
    n_tempted: int
    halves_tie: bool
    lower_is_better: bool
    constructed: bool
    languages: Sequence[str]
    logged: bool
    raters: Sequence[str]
    delta: float
    good: float
    judge_scale: Sequence[float]
    people_scale: Sequence[float]
    classes: Sequence[str]
    class_levels: Sequence[float]
    limits: Mapping[str, float]
    rival: str
    alpha: Mapping[str, str]


class Decided(TypedDict, total=False):
    """What decisions to show an answer are held to."""

    describes_decisions: bool
    cost_shown: float
    cost_hidden: float
    n_to_be_shown: int


class Conversed(TypedDict, total=False):
    """Of a cache of answers, and of dialogues: from which similarity it answers, from which score on it keeps.

    sessions: what a dialogue is; n_one_question, n_stopped: dialogues of one question, and those that broke off.
    logs: by embedder, whose vectors the cached questions have; asked: how many questions the cache was asked, by kind.
    """

    threshold: float
    asked: Mapping[str, int]
    logs: Mapping[str, Told]
    n_cached: int
    cached_score: float | None
    sessions: str | None
    n_sessions: int
    n_one_question: int
    n_stopped: int


class Examined(TypedDict, total=False):
    """Of a data set that was looked over: sampled, told: how many texts of a table were searched for names, and at
    most told a language of. consequences: what doubtful texts do to numbers."""

    data_language: str
    consequences: Sequence[Told]
    sampled: int
    told: int


class Overviewed(TypedDict, total=False):
    """Of a run: what its pages say of themselves, in their order."""

    pages: Sequence[Told]
    threshold_set: str


class Facts(
    Provenance, Standing, Asked, Searched, UsersLog, Sources, Spaces, Answered, Judged, Blamed, Tried, Decided,
    Conversed, Examined, Overviewed, total=False,
):  # fmt: skip
    """What any page may say; each has the facts of its tier."""
