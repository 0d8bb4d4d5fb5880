"""How the knowledge base is used: chunks that are ever retrieved, topics that find few, pages that are everywhere."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from ragbench.old import stats
from ragbench.old.core import stand_ins
from ragbench.old.core.facts import Facts
from ragbench.old.core.measurement import Evidence, Findings, NamedEstimate, columns
from ragbench.old.core.settings import Settings
from ragbench.old.core.types import Array, Chunk, Estimate, IntervalNote, Question, Vectors
from ragbench.old.data import Dataset
from ragbench.old.data.records import REAL
from ragbench.old.embed.threads import one_thread
from ragbench.old.metrics import ranking_arrays, source_use
from ragbench.old.metrics.ranking_arrays.coverage import LabelledText
from ragbench.old.metrics.source_use import TopicCoverage, Usage
from ragbench.old.tiers.basics import design, requests
from ragbench.old.tiers.basics.choices import BenchError, illegal
from ragbench.old.tiers.basics.design import Design
from ragbench.old.tiers.basics.requests import Request, tier
from ragbench.old.tiers.basics.session import Need, Needed, Session
from ragbench.old.tiers.data.persons import Masker
from ragbench.old.tiers.retrieval.real_users import as_question
from ragbench.old.tiers.retrieval.tier1_retrieval import told

if TYPE_CHECKING:
    import pandas as pd

    from ragbench.old.store import Store
    from ragbench.old.systems import Retrieval


PRIMARY = "utilization_rate"
MOST_TOPICS = 1000  # k-means is fitted for each number that is tried
MEASURES = (source_use.utilization_rate, source_use.total_chunks, source_use.used_chunks, source_use.unused_chunks)


class SourcesRequest(Request):
    """What is retrieved, and how the questions are grouped into topics."""

    dataset: requests.Dataset = ""
    systems: requests.Systems = ""
    users_log: bool = Field(
        False, description="True: what users asked, as the data set's log has it, in place of its own questions"
    )
    k: requests.Depth = Field(
        5, description="passages of each ranking that count as retrieved, as many as an answer is written from"
    )
    n_topics: int = Field(
        0, description="clusters of questions; 0: the number with the highest silhouette", ge=0, le=1000
    )
    fewest_topics: int = Field(2, description="the lowest number of topics that is tried", ge=2, le=MOST_TOPICS)
    most_topics: int = Field(20, description="the highest number of topics that is tried", ge=2, le=MOST_TOPICS)
    thin: float = Field(
        0.5, description="a topic is thin below this share of the median topic's distinct passages a question",
        gt=0, le=1,
    )  # fmt: skip
    embedder: str = Field("", description="of the questions, for their topics; empty: that of the first system")
    listed: int = Field(20, description="never-retrieved passages that are listed for each system", ge=1)
    mask: requests.Mask = True
    level: requests.Level = 0.95
    seed: requests.Seed = Field(0, description="of the clusters")
    language: requests.Language = "en"
    limit: requests.Limit = None
    notebook: str = "sources"

    @property
    def sampled_tables(self) -> tuple[str, ...]:
        """What is asked: the questions, or those of the log."""
        return ("history",) if self.users_log else ("questions",)

    def check(self) -> None:
        """Refuse numbers of topics of which the highest is below the lowest."""
        if self.most_topics < self.fewest_topics:
            expected = f"a whole number from {self.fewest_topics} to {MOST_TOPICS}"
            raise illegal("most_topics", self.most_topics, expected, "fewest_topics is the least")

    def needed(self, settings: Settings) -> tuple[Needed, ...]:
        """A base, and questions that are looked up in it."""
        return Needed.of(Need.PASSAGES), Needed.of(Need.HISTORY if self.users_log else Need.QUESTIONS)

    def asked(self, data: Dataset) -> Sequence[Question]:
        """The data set's own questions, or what its log has that can be asked."""
        if not self.users_log:
            return data.questions
        return [as_question(past) for past in data.history if past.id not in data.without_vector]


def state(evidence: Evidence) -> Findings:
    """How much of the base each system used, and what it found of each topic."""
    design, coverage = Design(evidence), evidence.extra["coverage"]
    rows, chunks = evidence.retrieved, evidence.extra["chunks"]["chunk"].tolist()
    passages = rows["passage" if "passage" in rows else "chunk"]
    by_system = {
        name: {sample: own.tolist() for sample, own in group.groupby(rows["sample"], sort=False)}
        for name, group in passages.groupby(rows["system"], sort=False)
    }
    clusters = [question.cluster for question in design.questions]
    estimates: list[NamedEstimate] = []
    for name in design.systems:
        found = by_system.get(name, {})
        usage = Usage(chunks, [found.get(question.id, []) for question in design.questions])
        topics_found = coverage.loc[coverage["system"] == name, "unique_chunks"]
        estimates += _estimates(name, usage, clusters, topics_found.to_numpy(dtype=float), evidence.facts["level"])
    return Findings(tuple(estimates))


@tier(SourcesRequest, state, by_question=False)
def sources(request: SourcesRequest) -> Evidence:
    """Retrieve for every question of the data set, or of its users' log, and see which sources that used.

    What mask replaces in real users' questions is replaced in everything that is kept and shown, the topics' words
    among it; the search has read them as they were asked. Topics are clusters of
    questions (KMeans). The numbers describe: a high utilization can be good coverage or noise, so no system is better
    or worse.
    Raises BenchError, DatasetError, EmbeddingError or StoreError, each with what is legal.
    """
    from ragbench.old.systems import make, once, steps

    session = Session.of(request, request.systems)
    history = session.dataset.history
    data = replace(session.dataset, questions=tuple(request.asked(session.dataset)))
    if not data.questions:
        of_log = f" in its users' log (users_log = True; {len(history)} stand there)" if request.users_log else ""
        raise BenchError(f"{data.label} has no questions{of_log}: nothing can be retrieved")
    if request.n_topics > len(data.questions):
        raise BenchError(f"n_topics = {request.n_topics}: {data.label} has only {len(data.questions)} questions")
    retrievals: dict[str, Retrieval] = {}
    with session.store() as store:
        opened = once(store)
        for name in session.systems:
            system = make(name, session.settings, store, data, opened)
            with session.progress(name, steps(len(data.chunks), len(data.questions))) as progress:
                retrievals[name] = system.retrieve(data.questions, request.k, progress=progress)
        chosen = _embedder(session, request.embedder)
        vectors = _question_vectors(store, replace(session, dataset=data), chosen)
    read = _masked(data) if request.mask else data
    rows = {
        name: [[hit.chunk for hit in hits[: request.k]] for hits in retrieval.hits]
        for name, retrieval in retrievals.items()
    }
    covered: dict[str, TopicCoverage] = {}
    for name in session.systems:  # all have the topics of the first
        number = next((coverage.n_topics for coverage in covered.values()), request.n_topics)
        covered[name] = _covered(vectors, rows[name], request, number)
    known, labelled = told(session, retrievals), LabelledText(data.chunks)
    topics_stand_in = [chosen] if session.settings.is_stand_in(chosen) else []
    return Evidence(
        notebook=session.notebook,
        facts={
            **session.facts(),
            "level": request.level,
            "seed": request.seed,
            "baseline": None,
            "describes": "sources",
            "primary": PRIMARY,
            "key_metrics": [PRIMARY, "unused_chunks", "n_topics", "avg_chunks_per_topic"],
            "n_questions": len(data.questions),
            "k": request.k,
            "n_topics": covered[session.systems[0]].n_topics,
            "tables": {"topic_coverage": "coverage"},
            "n_topics_given": bool(request.n_topics),
            **_of_log(request, session.dataset),
            "thin": request.thin,
            "topics_embedder": chosen,
            **known,
            "unanswered": {name: sum(not hits for hits in run.hits) for name, run in retrievals.items()},
            "stand_ins": [*known["stand_ins"], *stand_ins.facts("embedder", topics_stand_in)],
        },
        questions=design.questions(read.questions),
        retrieved=design.retrieved(
            (name, question.id, hits[: request.k], ranking_arrays.gains(question, hits[: request.k], labelled))
            for name, retrieval in retrievals.items()
            for question, hits in zip(data.questions, retrieval.hits, strict=True)
        ),
        extra=_tables(read, vectors, rows, covered, request.thin),
    )


def _of_log(request: SourcesRequest, data: Dataset) -> Facts:
    """Of the users' log: how long it is, how many of it cannot be asked, whether persons are masked."""
    if not request.users_log:
        return {}
    return {
        "users_log": True,
        "n_history": len(data.history),
        "n_without_vector": sum(past.id in data.without_vector for past in data.history),
        "masked": request.mask,
    }


def _masked(data: Dataset) -> Dataset:
    """With the questions that real users asked, and their groups, without what names a person."""
    masker = Masker(dict.fromkeys(past.user for past in data.history if past.user is not None))
    shown = [
        replace(
            question,
            text=str(masker.text(question.text)),
            reference=masker.text(question.reference),
            cluster=masker.user(question.cluster),
        )
        if question.source == REAL
        else question
        for question in data.questions
    ]
    return replace(data, questions=tuple(shown))


def _embedder(session: Session, named: str) -> str:
    """The embedder of the questions' clusters."""
    known = session.settings.embedders
    if named and named not in known:
        raise BenchError(f"there is no embedder {named!r}; there are {', '.join(known)}")
    of_systems = (embedder for name in session.systems for embedder in session.settings.embedders_of(name))
    return named or next(of_systems, next(iter(known)))


def _question_vectors(store: Store, session: Session, name: str) -> Vectors:
    from ragbench.old.embed import make

    settings = session.settings.embedders[name]
    model = make(name, settings, [chunk.text for chunk in session.dataset.chunks], store.arrays)
    texts = [question.text for question in session.dataset.questions]
    return store.vectors(model, texts, kind="query", batch=settings.batch)


def _covered(
    vectors: Vectors, retrieved: Sequence[Sequence[Chunk]], request: SourcesRequest, n_topics: int
) -> TopicCoverage:
    """The same topics for every system: equal vectors, seed and number give equal clusters."""
    with one_thread():
        return source_use.topic_coverage(
            directions(vectors),
            retrieved,
            n_topics=n_topics or None,
            choices=range(request.fewest_topics, request.most_topics + 1),
            seed=request.seed,
        )


def _estimates(
    name: str, usage: Usage, clusters: Sequence[str | None], by_topic: Array, level: float
) -> list[NamedEstimate]:
    """Used, unused and their share with the interval of a number of distinct items; counts and topics without one.
    by_topic: distinct chunks that were found of each."""
    values = {each.name: each(usage) for each in MEASURES}
    known, total, asked = usage.used, len(usage.chunks), len(usage.retrieved)
    used = stats.distinct(
        [known & set(row) for row in usage.retrieved],
        clusters=clusters if any(clusters) else None,
        most=total,
        level=level,
    )

    def bare(value: float, note: IntervalNote) -> Estimate:
        return Estimate(float(value), None, None, level, "none", asked, note=note)

    estimates = {
        "utilization_rate": _scaled(used, lambda x: x / total),
        "total_chunks": bare(values["total_chunks"], "count"),
        "used_chunks": used,
        "unused_chunks": _scaled(used, lambda x: total - x),
        "n_topics": bare(len(by_topic), "count"),
        "total_questions": bare(asked, "count"),
        "avg_chunks_per_topic": bare(by_topic.mean(), "topics"),
    }
    return [
        NamedEstimate(name, metric, replace(estimate, value=values.get(metric, estimate.value)))
        for metric, estimate in estimates.items()
    ]


def _scaled(estimate: Estimate, change: Any) -> Estimate:
    """The estimate of a monotone function of the number."""
    if estimate.low is None or estimate.high is None:
        return replace(estimate, value=change(estimate.value))
    low, high = sorted((change(estimate.low), change(estimate.high)))
    return replace(estimate, value=change(estimate.value), low=low, high=high, intervals={estimate.method: (low, high)})


class TopicRow(TypedDict):
    """A topic, with its typical words and its questions, those nearest the centre first."""

    topic: int
    words: Sequence[str]
    samples: Sequence[str]


class CoverageRow(TypedDict):
    """What a system found for the questions of a topic; thin: little beside the others."""

    system: str
    topic_id: int
    words: str
    question_count: int
    unique_chunks: int
    unique_urls: int
    thin: bool


class ChunkRow(TypedDict):
    """A passage of the base. needed: how many questions are labelled with it."""

    chunk: str
    text: str
    url: str | None
    title: str | None
    section: str | None
    needed: int


class UseRow(TypedDict):
    """For how many questions a system retrieved a passage."""

    system: str
    chunk: str
    questions: int


class PageRow(TypedDict):
    """How often a page is retrieved; see `_pages`."""

    system: str
    page: str
    title: str
    chunks: int
    questions: int
    excess: float
    needed: int


def _tables(
    data: Dataset,
    vectors: Vectors,
    retrieved: Mapping[str, Sequence[Sequence[Chunk]]],
    covered: Mapping[str, TopicCoverage],
    share: float,
) -> dict[str, pd.DataFrame]:
    """What is listed and drawn.

    `topics`: with their typical words and their questions, those nearest the centre first. `question_topics`.
    `coverage`: the specification's topic_coverage, a row a system and topic, with the topic's words, and whether it is
    thin. `silhouettes`: by the
    number of topics that was tried. `chunks`: all, each with how many questions are labelled with it. `uses`: for how
    many questions each chunk was retrieved, by every system; 0 for those never retrieved. `pages`: see `_pages`.
    """
    import pandas as pd

    first, samples = next(iter(covered.values())), [question.id for question in data.questions]
    members = central(directions(vectors), first.labels)
    words = typical_words([question.text for question in data.questions], first.labels)
    coverage = [
        (name, topic.topic_id + 1, ", ".join(words[topic.topic_id]), topic.question_count, topic.unique_chunks,
         topic.unique_urls, topic in thin)
        for name, cover in covered.items()
        for thin in [cover.thin(share)]
        for topic in cover.topics
    ]  # fmt: skip
    needed = Counter(chunk for question in data.questions for chunk in question.relevant)
    counts = {
        name: Counter(i for row in rows for i in {chunk.passage for chunk in row}) for name, rows in retrieved.items()
    }
    return {
        "topics": pd.DataFrame(
            {
                "topic": range(1, first.n_topics + 1),
                "words": words,
                "samples": [[samples[row] for row in rows] for rows in members],
            }
        ),
        "question_topics": pd.DataFrame({"sample": samples, "topic": first.labels + 1}),
        "coverage": pd.DataFrame(coverage, columns=columns(CoverageRow)),
        "silhouettes": pd.DataFrame(
            {"topics": list(first.silhouettes), "silhouette": [round(x, 9) for x in first.silhouettes.values()]}
        ),
        "chunks": pd.DataFrame(
            [(c.id, c.text, c.url, c.title, c.section, needed[c.id]) for c in data.chunks],
            columns=columns(ChunkRow),
        ),
        "uses": pd.DataFrame(
            [(name, chunk.id, count[chunk.id]) for name, count in counts.items() for chunk in data.chunks],
            columns=columns(UseRow),
        ),
        "pages": pd.DataFrame(_pages(data, retrieved), columns=columns(PageRow)),
    }


def _pages(data: Dataset, retrieved: Mapping[str, Sequence[Sequence[Chunk]]]) -> Iterator[tuple[Any, ...]]:
    """How often each page is retrieved, against its share of the base and against how many questions need it.

    excess: the page's share of all retrieved places over its share of all chunks; above 1 it takes more than its part.
    """
    sizes = Counter(chunk.url for chunk in data.chunks if chunk.url)
    page_of = {chunk.id: chunk.url for chunk in data.chunks}
    titles = {chunk.url: chunk.title for chunk in reversed(data.chunks) if chunk.url}
    needed = Counter(
        page
        for question in data.questions
        for page in {*question.relevant_urls, *(page_of.get(chunk) for chunk in question.relevant)} - {None}
    )
    for name, lists in retrieved.items():
        places = Counter(chunk.url for row in lists for chunk in row)
        total = max(sum(places.values()), 1)
        for page, questions in source_use.page_use(lists).items():
            excess = places[page] / total * len(data.chunks) / sizes[page] if sizes[page] else np.nan
            yield name, page, titles.get(page), sizes[page], questions, round(excess, 6), needed[page]


Labels = NDArray[np.int64]

_WORD = re.compile(r"[^\W\d_]{3,}")
_EMPTY_WORDS = (
    "без будет является являются называется называются образом каком какими согласно относительно бы был была были "
    "было быть вам вас ваш весь вот все всех вы где для его ее если есть еще за зачем или им их как какая какие "
    "каким каких какого какое какой какую кем ко когда кого кому который кто куда ли либо между меня мне могу мое "
    "моего можно мой мою моя мы надо нам нас наш не него нее нельзя нет них ни но нужен нужна нужно ну об он она "
    "они от очень по под почему при про раз сам свой своего себе себя со так такое там тебя то того тоже той только "
    "том тот ты у уже хочу чего чем через что чтобы эта эти это этого этой этом этот эту я about after all and any "
    "are but can could did does for from get had has have her his how into its may more most much must not now off "
    "one our out should than that the their them then there they this was were what when where which who whom whose "
    "why will with would you your"
)
_EMPTY = frozenset(_EMPTY_WORDS.split())
_COMMON = 0.08  # of the texts: a word in more of them (how, what, for) says nothing of a topic
_FLOOR = 0.01  # of a share outside the group: a word of one text is no proof that others lack it


def clusters(vectors: ArrayLike, seed: int) -> Labels:
    """(N,) the cluster of each vector, by KMeans with the number of clusters that silhouette chooses."""
    from ragbench.old.metrics.source_use import topic_coverage

    rows = directions(vectors)
    with one_thread():
        return topic_coverage(rows, [()] * len(rows), seed=seed).labels


def directions(vectors: ArrayLike) -> NDArray[np.float64]:
    """(N, width) rows of length 1: what search by cosine compares; a row of length 0 stays."""
    rows = np.asarray(vectors, dtype=float)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths > 0, lengths, 1))


def central(vectors: ArrayLike, labels: Labels) -> list[list[int]]:
    """Rows of each group, those nearest to its mean first."""
    rows = np.asarray(vectors, dtype=float)
    ordered = []
    for group in range(int(labels.max(initial=-1)) + 1):
        members = np.flatnonzero(labels == group)
        distances = np.linalg.norm(rows[members] - rows[members].mean(axis=0), axis=1).round(9)
        ordered.append(members[np.argsort(distances, kind="stable")].tolist())
    return ordered


def typical_words(texts: Sequence[str], labels: Labels, most: int = 4) -> list[list[str]]:
    """For each group the words whose share of its texts is highest against their share of the others.

    A word counts once a text and has at least three letters; words of one text alone, and those that texts of every
    kind have, come last.
    """
    groups = int(labels.max(initial=-1)) + 1
    inside = [Counter[str]() for _ in range(groups)]
    for text, label in zip(texts, labels, strict=True):
        inside[int(label)].update(set(words(text)))
    everywhere = Counter[str]()
    for counts in inside:
        everywhere.update(counts)
    common = max(_COMMON * len(texts), 3) if groups > 1 else len(texts)
    sizes = np.bincount(labels, minlength=groups)

    def rank(word: str, group: int) -> tuple[bool, float, str]:
        own = inside[group][word] / sizes[group]
        other = (everywhere[word] - inside[group][word]) / max(len(texts) - int(sizes[group]), 1)
        unusable = everywhere[word] < 2 or everywhere[word] > common
        return unusable, -float(own * np.log((own + _FLOOR) / (other + _FLOOR))), word

    return [sorted(counts, key=partial(rank, group=group))[:most] for group, counts in enumerate(inside)]


def words(text: str) -> list[str]:
    """The words of a text with three letters and more, case folded, ё as е, without those that carry no subject."""
    spelled = (word.replace("ё", "е") for word in _WORD.findall(text.casefold()))
    return [word for word in spelled if word not in _EMPTY]
