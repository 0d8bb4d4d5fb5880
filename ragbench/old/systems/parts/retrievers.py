"""Retrievers: passages by the words of a question (BM25), or by an embedder's vectors, exactly or approximately."""

from __future__ import annotations

import hashlib
import time
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, partial
from importlib.metadata import version
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ragbench.old.core import folders
from ragbench.old.core import settings as configuration
from ragbench.old.core.settings import EmbedderSettings, RetrieverSettings
from ragbench.old.core.types import Array, Embedder, EmbeddingError, Hit, Vectors
from ragbench.old.data import Dataset
from ragbench.old.embed import wheels
from ragbench.old.embed.model import ModelEmbedder
from ragbench.old.embed.openai_embeddings import EndpointEmbedder
from ragbench.old.embed.texts import content_hash
from ragbench.old.judge import words
from ragbench.old.store import Neighbours, Source, Store, recall_against_exact
from ragbench.old.store.arrays import Arrays
from ragbench.old.store.embeddings import check
from ragbench.old.store.foreign import OwnIndex, found_apart
from ragbench.old.store.search import Index
from ragbench.old.systems.retrieval import Found, Progress

if TYPE_CHECKING:
    from bm25s import BM25
    from scipy.sparse import csr_array


BUILT = {
    "exact": (),
    "hnsw": ("m", "ef_construction", "ef_search"),
    "ivfflat": ("lists", "probes"),
}
"""What an index is built and searched by."""
EFFORT = {"hnsw": "ef_search", "ivfflat": "probes"}
"""How much an index looks at, by its kind."""
_ANEW: WeakKeyDictionary[Embedder, dict[tuple[int, str], Vectors]] = WeakKeyDictionary()
"""Vectors by which time it is that a retriever embeds these texts anew: retrievers of one embedder share them."""


class DenseRetriever:
    """Passages and questions are embedded, once per text, ever. Raises StoreError for an index that so few passages
    are too few for."""

    def __init__(
        self, settings: RetrieverSettings, embedder: EmbedderSettings, made: Embedder, store: Store, dataset: Dataset
    ) -> None:
        self.settings, self.embedder, self.store, self.dataset = settings, made, store, dataset
        self.batch = embedder.batch
        self.asking: Embedder = getattr(made, "queries", None) or made  # what embeds the questions
        self.is_stand_in = embedder.is_stand_in or bool(getattr(self.asking, "is_stand_in", False))
        self._before: tuple[Vectors, int, Neighbours] | None = None
        self._database = str(embedder.database)
        self._times = 0
        self._model = embedder.model or wheels.MODELS.get(embedder.kind)
        self.own = self._own_index() if settings.index == "own" else None
        _ = self.searched

    def _own_index(self) -> OwnIndex:
        with self._source() as source:
            return source.own_index()

    def _source(self) -> Source:
        return Source.open(self._database, configuration.load())

    @property
    def description(self) -> Mapping[str, Any]:
        return {
            "embedder": self.embedder.name,
            **({"model": self._model} if self._model else {}),
            "embedder_identity": self.embedder.identity,
            **({"own_index": self.own.name} if self.own else {}),
            **{key: value for key, value in self.how.items() if value is not None},
        }

    @property
    def how(self) -> dict[str, Any]:
        """The index that is searched, and how, as `nearest` takes it."""
        if self.own is None:
            return {"index": self.settings.index, **self.settings.model_dump(include=set(BUILT[self.settings.index]))}
        return self.own_at(getattr(self.settings, EFFORT[self.own.built.kind]))

    def own_at(self, effort: int) -> dict[str, Any]:
        """The same of the user's own index with so much effort."""
        assert self.own is not None, "only where its own index is searched"
        built = self.own.built
        known = {key: getattr(built, key) for key in BUILT[built.kind] if hasattr(built, key)}
        return {"index": "own", **known, EFFORT[built.kind]: effort}

    @property
    def searched(self) -> Index | None:
        """The index of so many passages; None where the user's own is searched, and nothing is built."""
        settings = self.settings
        if settings.index == "own":
            return None
        return Index.of(settings.index, len(self.dataset.chunks), settings.m, settings.ef_construction, settings.lists)

    def prepare(self, progress: Progress | None = None) -> None:
        """Store the passages and their vectors."""
        self.store.load_chunks(self.dataset.content_hash, self.dataset.name, self.dataset.chunks)
        self.store.embed(self.embedder, self.passages, batch=self.batch, progress=progress)

    def search(
        self,
        texts: Sequence[str],
        k: int,
        *,
        progress: Progress | None = None,
        fresh: bool = False,
        alone: bool = False,
    ) -> Found:
        """As `Retriever.search`. alone: without looking what an index costs.

        A text whose vector cannot be used is an error of its own, but where that is so of all. Raises EmbeddingError
        for these, and for an embedder that does not answer, StoreError when the database cannot answer.
        """
        begun = time.perf_counter()
        places, queries, errors = self._usable(texts, fresh, progress, alone)
        embed_ms = (time.perf_counter() - begun) * 1000 / len(texts)
        neighbours = self._found(queries, k, progress, alone)
        hits: list[list[Hit]] = [[] for _ in texts]
        search_ms = np.zeros(len(texts))
        search_ms[places] = neighbours.milliseconds
        for place, row in zip(places, self._hits(neighbours), strict=True):
            hits[place] = row
        milliseconds = {"embed": np.full(len(texts), embed_ms), "search": search_ms}
        facts = self.description if alone else {**self.description, **self._facts(queries, neighbours, k, fresh)}
        return Found(hits, milliseconds, facts, errors)

    def _found(self, queries: Vectors, k: int, progress: Progress | None, alone: bool) -> Neighbours:
        """Exact search is a function of its vectors: the same ones again are not compared again, unless to be timed."""
        if alone:
            return self.nearest(queries, k, self.how, alone=True, progress=progress)
        if self._before is not None and k == self._before[1] and np.array_equal(queries, self._before[0]):
            if progress is not None:
                progress(len(queries))
            return self._before[2]
        neighbours = self.nearest(queries, k, self.how, progress=progress)
        if self.settings.index == "exact":
            self._before = queries, k, neighbours
        return neighbours

    def nearest(
        self, queries: Vectors, k: int, how: Mapping[str, Any], *, alone: bool = False, progress: Progress | None = None
    ) -> Neighbours:
        """As `Store.search`, of which `how` has the options; or in the user's own table, where its index is searched:
        by that index, or comparing every vector. A row that is no passage of the data set is left out.

        alone: each question by itself. Raises StoreError.
        """
        if self.own is None:
            batch: dict[str, Any] = {"batch": 1} if alone else {}
            data = self.dataset.content_hash
            return self.store.search(data, self.embedder, queries, k, progress=progress, **batch, **how)
        index = self.own if how["index"] == "own" else None
        effort = how[EFFORT[index.built.kind]] if index else 0
        parts = None
        if index and not alone:
            find = partial(found_apart, self._database, k, index, effort)
            parts = self.store.in_parts(find, queries, progress)
        if parts is not None:
            ids, similarities = ([*chain(*of_all)] for of_all in zip(*parts, strict=True))
            milliseconds = np.full(len(queries), np.nan)
        else:
            with self._source() as source:
                connections = 1 if alone else self.store.at_once
                ids, similarities, milliseconds = source.nearest(
                    queries, k, index, effort, connections=connections, progress=progress
                )
        kept = [
            sorted((-similarity, name) for name, similarity in zip(*row, strict=True) if name in self._places)
            for row in zip(ids, similarities, strict=True)
        ]
        return Neighbours(
            [[name for _, name in row] for row in kept],
            [np.array([-distance for distance, _ in row], np.float32) for row in kept],
            milliseconds,
        )

    @cached_property
    def _places(self) -> frozenset[str]:
        return frozenset(chunk.id for chunk in self.dataset.chunks)

    def _usable(
        self, texts: Sequence[str], fresh: bool, progress: Progress | None, alone: bool
    ) -> tuple[list[int], Vectors, dict[int, str]]:
        """Places of the texts that have a vector, those vectors, and why the others have none."""
        places, errors = list(range(len(texts))), dict[int, str]()
        done = 0

        def advance(more: int) -> None:
            """What was told before a batch was refused is not told again."""
            nonlocal done
            done += more
            if progress is not None and done > told[0]:
                progress(done - told[0])
                told[0] = done

        told = [0]
        again = self.embedded if alone or self.asks_elsewhere else self._again
        self._times += fresh and not alone
        while True:
            wanted = [texts[place] for place in places]
            try:
                made = (
                    again(wanted, advance)
                    if fresh
                    else self.store.vectors(self.embedder, wanted, kind="query", batch=self.batch, progress=advance)
                )
            except EmbeddingError as error:
                if error.dead or not error.positions or len(error.positions) == len(places):
                    raise
                errors |= {places[position]: str(error) for position in error.positions}
                places = [place for place in places if place not in errors]
                done = 0
                continue
            if progress is not None and errors:
                progress(len(errors) * 2)
            return places, made, errors

    @property
    def asks_elsewhere(self) -> bool:
        """Whether a vector is paid for."""
        return isinstance(self.asking, EndpointEmbedder)

    @property
    def together(self) -> int:
        """How many texts are embedded anew by one call: of an endpoint so many batches as it takes at a time."""
        if isinstance(self.asking, EndpointEmbedder):
            return self.batch * self.asking.concurrency
        return max(self.batch, getattr(self.asking, "together", 0))

    def _again(self, texts: Sequence[str], progress: Progress) -> Vectors:
        """As `embedded`, unless another retriever of this embedder has done so as often as this one."""
        known = _ANEW.setdefault(self.embedder, {})
        place = self._times, content_hash(texts)
        if place not in known:
            known[place] = self.embedded(texts, progress)
        else:
            progress(len(texts))
        return known[place]

    def embedded(self, texts: Sequence[str], progress: Progress | None = None) -> Vectors:
        """Vectors of questions, computed now: what is stored of them is not read, nor are these stored."""
        vectors = []
        for start in range(0, len(texts), self.together):
            part = texts[start : start + self.together]
            try:
                vectors.append(check(self.embedder.embed(part, kind="query"), part, self.embedder.name))
            except EmbeddingError as error:
                where = tuple(start + place for place in error.positions)
                raise EmbeddingError(str(error), where, reason=error.reason, dead=error.dead) from error
            if progress is not None:
                progress(len(part))
        return np.concatenate(vectors)

    @property
    def passages(self) -> list[str]:
        """What is searched, as texts."""
        return [chunk.text for chunk in self.dataset.chunks]

    def _facts(self, queries: Vectors, neighbours: Neighbours, k: int, fresh: bool) -> dict[str, Any]:
        facts: dict[str, Any] = {"width": queries.shape[1]}
        if self.settings.index != "exact":
            exact = self.store.exact_in_blocks(self.dataset.content_hash, self.embedder, queries, k)
            facts["recall_against_exact"] = round(recall_against_exact(neighbours, exact), 6)
        if isinstance(self.asking, EndpointEmbedder) and (named := self._answered_by(self.asking, fresh)):
            facts["embedder_answered_by"] = {"asked": self.asking.settings.model, "replies": named}
        if isinstance(self.embedder, ModelEmbedder) and (
            truncated := self.embedder.truncated(self.passages, self.store.arrays)
        ):
            facts["chunks_truncated"] = truncated
        return facts

    def _hits(self, neighbours: Neighbours) -> list[list[Hit]]:
        chunks = {chunk.id: chunk for chunk in self.dataset.chunks}
        return [
            [Hit(chunks[name], float(similarity)) for name, similarity in zip(ids, similarities, strict=True)]
            for ids, similarities in zip(neighbours.ids, neighbours.similarities, strict=True)
        ]

    def _answered_by(self, embedder: EndpointEmbedder, fresh: bool) -> dict[str, int]:
        """How many texts came back with which model's name, also in earlier runs: stored vectors are not asked again.

        Of texts that were embedded `fresh`, for the clock's sake, only a name counts that was not met before.
        """
        about = {"what": "models that embedded", "embedder": embedder.identity}
        known = {name: int(count[0]) for name, count in self.store.readings(about, dict).items()}
        new = {name: count for name, count in embedder.answered_by.items() if not fresh or name not in known}
        embedder.answered_by.clear()
        if new:
            known = dict(Counter(known) + Counter(new))
            counts = {name: np.array([count], float) for name, count in known.items()}
            self.store.readings(about, lambda: counts, fresh=True)
        return dict(sorted(known.items()))


DELTAS = {"bm25l": 0.5, "bm25+": 1.0}
"""Of Lv and Zhai 2011 (both papers), who made these variants."""

MOST_KEPT = 4  # indexes of words in memory, those of late


class Bm25Retriever:
    """Words are compared by their Snowball stems, Russian and English each by its own; words of grammar do not count.

    A passage that shares no word with the question is not found, so that there may be fewer than k. A hit's
    `similarity` is its score: from 0, without an upper end, and to be compared within one question alone.

    Scores are bm25s' own, in double precision. rank-bm25 gives a word of more than half of the passages epsilon (0.25)
    times the mean weight of a word, where "robertson" gives it none and "lucene" a small one of its own: with the same
    weights the rankings are the same. Its BM25L counts a word's frequency once more than Lv and Zhai, and "bm25l" do.

    store: keeps the index, by what the passages hold and how it is made; None: it is made by every process. Of 20,000
    and 200,000 passages of 110 words it takes 4 and 50 seconds of a processor to make and 0.15 and 1.8 to read.
    """

    is_stand_in = False

    def __init__(self, settings: RetrieverSettings, dataset: Dataset, store: Store | None = None) -> None:
        self.settings, self.dataset, self.store = settings, dataset, store
        self.chunks = sorted(dataset.chunks, key=lambda chunk: chunk.id)

    @property
    def description(self) -> Mapping[str, Any]:
        how = self.settings.model_dump(include={"variant", "k1", "b"})
        return {"retriever": "bm25", **how, "stems": f"snowball {version('snowballstemmer')}"}

    @property
    def is_kept(self) -> bool:
        """Whether the index of the passages has been made, and is kept."""
        texts = [chunk.text for chunk in self.chunks]
        return self.store is not None and self.store.has_arrays(_about(self.settings, texts))

    def prepare(self, progress: Progress | None = None) -> None:
        """Read the index of the passages, or make it."""
        self._index()
        if progress is not None:
            progress(len(self.chunks))

    def search(
        self,
        texts: Sequence[str],
        k: int,
        *,
        progress: Progress | None = None,
        fresh: bool = False,
        alone: bool = False,
    ) -> Found:
        """As `Retriever.search`; a text is always searched by itself, and anew."""
        index = self._index()
        hits, milliseconds = [], np.zeros(len(texts))
        for place, text in enumerate(texts):
            begun = time.perf_counter()
            scores = index.scores(tokens(text))
            rows = best(scores, k)
            scored = zip(rows.tolist(), scores[rows].tolist(), strict=True)
            hits.append([Hit(self.chunks[row], score) for row, score in scored])
            milliseconds[place] = (time.perf_counter() - begun) * 1000
            if progress is not None:
                progress(2)
        return Found(hits, {"search": milliseconds}, self.description)

    def _index(self) -> _Index:
        key = (self.settings, self.dataset.content_hash)
        if key not in _KEPT:
            while len(_KEPT) >= MOST_KEPT:
                del _KEPT[next(iter(_KEPT))]
            _KEPT[key] = _Index.of(self.settings, [chunk.text for chunk in self.chunks], self.store)
        return _KEPT[key]


def tokens(text: str) -> list[str]:
    """The stems of the words that count."""
    return [words.stem(word) for word in words.words(text) if word not in words.FUNCTION_WORDS]


GROUP = 32  # scores of which the highest is taken first: a third of the time of parting all


def best(scores: Array, k: int) -> NDArray[np.intp]:
    """Places of the k highest scores above 0, highest first, ties by place."""
    least, groups = 0.0, len(scores) // GROUP
    if groups > k:  # the k-th highest of all is no lower than that of the groups' highest
        highest = scores[: groups * GROUP].reshape(GROUP, groups).max(axis=0)
        least = np.partition(highest, groups - k)[groups - k]
    above = np.flatnonzero(scores >= least) if least > 0 else np.flatnonzero(scores > 0)
    return above[np.lexsort((above, -scores[above]))[:k]]


class _Index:
    """bm25s in double precision; of the variants that give every passage something, what it gives to all is left
    out."""

    def __init__(self, settings: RetrieverSettings, arrays: Arrays) -> None:
        spelt = arrays["words"].tobytes().decode("utf-8", "surrogatepass")
        self._numbers = {word: number for number, word in enumerate(spelt.split("\0"))} if spelt else {}
        self._columns = {name: arrays[name] for name in ("data", "indices", "indptr")}
        self._rows = int(arrays["rows"][0])
        self._bm25 = _library(settings)
        self._bm25.scores = {**self._columns, "num_docs": self._rows}
        self._bm25.nonoccurrence_array = arrays.get("to_all")

    @classmethod
    def of(cls, settings: RetrieverSettings, texts: Sequence[str], store: Store | None) -> _Index:
        """Read, or made and kept."""

        def make() -> Arrays:
            return _made(settings, texts)

        return cls(settings, make() if store is None else store.arrays(_about(settings, texts), make))

    def scores(self, asked: Sequence[str]) -> Array:
        """(passages,) the score of each, 0 where no word is shared."""
        known = [self._numbers[word] for word in asked if word in self._numbers]
        if not known:
            return np.zeros(self._rows)
        scores = np.asarray(self._bm25.get_scores_from_ids(known), float)
        if self._bm25.nonoccurrence_array is not None:
            shares = np.zeros(self._rows, bool)
            starts = self._columns["indptr"]
            for number in known:
                shares[self._columns["indices"][starts[number] : starts[number + 1]]] = True
            scores[~shares] = 0.0
        return scores


def _library(settings: RetrieverSettings) -> BM25:
    from bm25s import BM25

    return BM25(
        k1=settings.k1, b=settings.b, delta=DELTAS.get(settings.variant, 0.0), method=settings.variant, dtype="float64",
        auto_compile=False,
    )  # fmt: skip


def indexed(library: BM25, texts: Iterable[Sequence[str]]) -> dict[str, int]:
    """Gives the library its index of the words of texts, in double precision its own to the bit, and word → column.

    By the library's formulas, but of all texts at once: it counts the words of each text by itself, which takes three
    times as long.
    """
    from bm25s import scoring

    counts, columns = counted(texts)
    lengths, often, number = np.asarray(counts.sum(axis=1)).astype(int), counts.tocsc(), counts.shape[0]
    idf, tfc = scoring._select_idf_scorer(library.idf_method), scoring._select_tfc_scorer(library.method)
    how = {"l_avg": lengths.mean() if number else 0.0, "k1": library.k1, "b": library.b, "delta": library.delta}
    spread = np.diff(often.indptr)
    weights = np.array([idf(texts_with, N=number) for texts_with in spread.tolist()], library.dtype)
    often.data = often.data.astype(library.dtype)
    scores = np.repeat(weights, spread) * tfc(tf_array=often.data, l_d=lengths[often.indices], **how)
    library.nonoccurrence_array = None
    if library.method in library.methods_requiring_nonoccurrence:
        to_all = [idf(texts_with, N=number) * tfc(tf_array=0, l_d=how["l_avg"], **how) for texts_with in spread]
        library.nonoccurrence_array = np.array(to_all, library.dtype)
        scores = scores.astype(library.dtype) - np.repeat(library.nonoccurrence_array, spread)
    library.scores = {
        "data": scores.astype(library.dtype), "indices": often.indices, "indptr": often.indptr.astype(np.int64),
        "num_docs": number,
    }  # fmt: skip
    return columns


def counted(texts: Iterable[Sequence[str]]) -> tuple[csr_array, dict[str, int]]:
    """(texts, words) how often each text has each word, in double precision; and word → column, as they first come."""
    from scipy.sparse import coo_array

    columns: defaultdict[str, int] = defaultdict(count().__next__)
    codes = [np.fromiter(map(columns.__getitem__, text), np.int32, len(text)) for text in texts]
    owners = np.repeat(np.arange(len(codes), dtype=np.int32), [len(text) for text in codes])
    held = np.concatenate([*codes, np.zeros(0, np.int32)])
    counts = coo_array((np.ones(len(held)), (owners, held)), (len(codes), len(columns))).tocsr()
    return counts, dict(columns)


def _made(settings: RetrieverSettings, texts: Sequence[str]) -> dict[str, NDArray[Any]]:
    """A sparse matrix of scores, (rows of passages, columns of words), and its words, parted by NUL."""
    made, rows = _library(settings), np.array([len(texts)])
    spelt = "\0".join(indexed(made, map(tokens, texts)))
    if not spelt:
        nothing = np.zeros(0)
        return {"data": nothing, "indices": nothing, "indptr": nothing, "rows": rows, "words": np.zeros(0, np.uint8)}
    to_all = {} if made.nonoccurrence_array is None else {"to_all": made.nonoccurrence_array}
    return {
        **{name: made.scores[name] for name in ("data", "indices", "indptr")}, "rows": rows, **to_all,
        "words": np.frombuffer(spelt.encode("utf-8", "surrogatepass"), np.uint8),
    }  # fmt: skip


def _about(settings: RetrieverSettings, texts: Sequence[str]) -> dict[str, Any]:
    """All that an index is made of: the texts in order, the settings, and the code and tables that words come from."""
    content, code = hashlib.sha256(), hashlib.sha256()
    for text in texts:
        held = text.encode("utf-8", "surrogatepass")
        content.update(len(held).to_bytes(8, "big") + held)
    for module in (words.__file__, __file__):
        code.update(folders.content(Path(module)))
    return {
        "what": "index of words", "texts": content.hexdigest(), "code": code.hexdigest(),
        "unicode": unicodedata.unidata_version, **settings.model_dump(include={"variant", "k1", "b"}),
        **{library: version(library) for library in ("bm25s", "snowballstemmer")},
    }  # fmt: skip


_KEPT: dict[tuple[RetrieverSettings, str], _Index] = {}
"""The latest indexes of this process, so that a question that is typed now does not wait for one."""
