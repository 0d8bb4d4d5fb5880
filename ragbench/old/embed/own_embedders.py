"""Embedders of a caller's own: a function or object in memory, and vectors that lie in the user's own tables."""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ragbench.old.core import settings as configuration
from ragbench.old.core.settings import ChunkTable, QuestionTable, Settings
from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.core.types import Array, Embedder, EmbeddingError, TextKind, Vectors
from ragbench.old.data import normalise
from ragbench.old.llm.client import run
from ragbench.old.store import Source

Encoder = Callable[[Source], Embedder]


class TableEmbedder:
    """No model: a text's vector is the stored one of a row with that text, in the chunk or in the question table.

    Where several rows have the same text, the one with the lowest id speaks for all. `identity` holds a hash of all the
    vectors, so that a table embedded anew is another embedder. queries: gives, for the open database, the
    embedder that embeds all questions in place of the question table, so that any can be asked; with
    `without_embedding = "embed"` also every passage that no row has a vector of.
    """

    def __init__(self, name: str, database: str, settings: Settings, queries: Encoder | None = None) -> None:
        self.name, self.database = name, database
        self.queries: Embedder | None = None
        with Source.open(database, settings) as source:
            tables = source.tables
            self._vectors = {"passage": _by_text(*source.vectors(tables.chunks, tables.chunks.text))}
            self._without = {"passage": _without(source, tables.chunks)}
            if tables.without_embedding == "refuse" and self._without["passage"]:
                raise EmbeddingError(f"databases.{database}: {self._without['passage']}")
            self._fills = tables.without_embedding == "embed"
            if self._fills and queries is None:
                raise EmbeddingError(
                    f'databases.{database}.without_embedding = "embed": name the model that made the vectors: '
                    f'embedders.{name}.queries = "NAME"'
                )
            if queries is not None:
                self.queries = queries(source)
            elif tables.questions is not None and tables.questions.embedding is not None:
                stored = source.vectors(tables.questions, tables.questions.question)
                self._vectors["query"] = _by_text(*stored)
                self._without["query"] = _without(source, tables.questions)
        digest = hashlib.sha256()
        for kind, (places, matrix) in sorted(self._vectors.items()):
            digest.update(f"{kind}{len(places)}{matrix.shape}".encode())
            digest.update(np.ascontiguousarray(matrix).data)
            for number, text in enumerate(places):
                digest.update(f"\0{text}".encode() if number else text.encode())
        asking = "" if self.queries is None else f" questions: {self.queries.identity}"
        filling = ", and passages without a vector" if self._fills else ""
        self.identity = f"database {database} {digest.hexdigest()}{asking}{filling}"

    def embed(self, texts: Sequence[str], *, kind: Literal["passage", "query"] = "passage") -> Vectors:
        """The stored vectors. Raises EmbeddingError for a text that no row has, with how many rows have none."""
        if kind == "query" and self.queries is not None:
            return self.queries.embed(texts, kind=kind)
        if kind not in self._vectors:
            raise EmbeddingError(
                f"the embedder {self.name}: the database {self.database} holds no vectors of questions; name their "
                f"column (databases.{self.database}.questions.embedding), or the embedder that made the vectors: "
                f'embedders.{self.name}.queries = "NAME"'
            )
        places, matrix = self._vectors[kind]
        missing = [number for number, text in enumerate(texts) if text not in places]
        if missing and self._fills and self.queries is not None:
            return self._filled(texts, missing, self.queries)
        if missing:
            what = "chunk" if kind == "passage" else "question"
            way = "" if kind == "passage" else f'; to ask any question: embedders.{self.name}.queries = "NAME"'
            raise EmbeddingError(
                f"the embedder {self.name}: the {what} {excerpt(texts[missing[0]], 60)!r} has no vector in the "
                f"database {self.database}; {self._without[kind] or 'no row of its table has this text'}{way}",
                tuple(missing),
            )
        return matrix[[places[text] for text in texts]]

    def _filled(self, texts: Sequence[str], missing: Sequence[int], maker: Embedder) -> Vectors:
        """The stored vectors of passages, and those that `maker` makes of the missing ones."""
        places, matrix = self._vectors["passage"]
        vectors = np.array([matrix[places.get(text, 0)] for text in texts])
        try:
            vectors[missing] = maker.embed([texts[number] for number in missing])
        except EmbeddingError as error:
            faulty = tuple(missing[place] for place in error.positions)
            raise EmbeddingError(str(error), faulty, reason=error.reason, dead=error.dead) from error
        return vectors

    def logged(self) -> Mapping[str, Array]:
        """The stored vectors of the questions in the log, by text, where `queries` embeds all others; else none.

        Empty too where the log has no column of vectors, or no row with one. Raises EmbeddingError for vectors of
        another width than those of `queries`: they are some other model's.
        """
        if self.queries is None:
            return {}
        with Source.open(self.database, configuration.load()) as source:
            table = source.tables.questions
            if table is None or table.embedding is None:
                return {}
            rows, without = source.counts(table)
            if rows == without:
                return {}
            places, matrix = _by_text(*source.vectors(table, table.question))
        width = self._vectors["passage"][1].shape[1]
        if matrix.shape[1] != width:
            raise EmbeddingError(
                f"databases.{self.database}: the vectors of {table.table}.{table.embedding} have {matrix.shape[1]} "
                f"dimensions, those of embedders.{self.name}.queries = {self.queries.name!r} have {width}: another "
                f"model made them. Name the column of this one's (databases.{self.database}.questions.embedding), or "
                f"embed the log anew: -p embedders={self.queries.name}"
            )
        return {text: matrix[place] for text, place in places.items()}


def _without(source: Source, table: ChunkTable | QuestionTable) -> str:
    """How many rows of the whole table have no vector, and what can be done; "" where all have one."""
    rows, missing = source.counts(table)
    if not missing:
        return ""
    way = ', or set without_embedding = "leave_out", or "embed"' if isinstance(table, ChunkTable) else ""
    return f"{missing:,} of {rows:,} rows of {table.table} have no vector in {table.embedding}; embed them{way}"


def _by_text(texts: Sequence[str], matrix: Vectors) -> tuple[dict[str, int], Vectors]:
    places: dict[str, int] = {}
    for number, text in enumerate(texts):
        places.setdefault(normalise(text.replace("\0", "")).strip(), number)
    return places, matrix


PROBES = ("When does the library open on Saturday?", "Когда библиотека открыта в субботу?", "0 1 2")
"""Texts by whose vectors an object is known: one that embeds them otherwise is another one."""
PASSAGES, QUERIES = ("embed_documents", "encode_document"), ("encode_query",)
PLAIN = ("get_text_embedding_batch", "encode")


class ObjectEmbedder:
    """LangChain's `embed_documents` and `embed_query`, LlamaIndex' `get_text_embedding_batch`, `encode` of
    sentence-transformers, ragbench's own `embed`, or a function of a list of texts that returns a vector for each.

    identity: of its vectors of a few texts, so that nothing is taken from the store that another object has made.
    Raises EmbeddingError for an object of no such kind, and where it gives no such vectors.
    """

    is_stand_in = False

    def __init__(self, name: str, given: Any, batch: int) -> None:
        self.name, self._given, self._batch = name, given, batch
        self._passages, self._queries = _ways(given)
        if self._passages is None:
            raise EmbeddingError(
                f"embedders {name}: {type(given).__qualname__} is no embedder: a function of a list of texts is "
                f"expected, or an object with {', '.join((*PASSAGES, *PLAIN))} or embed"
            )
        probed = [self.embed(PROBES, kind=kind) for kind in ("passage", "query")]
        digest = hashlib.sha256(b"".join(np.round(matrix, 4).tobytes() for matrix in probed)).hexdigest()
        self.identity = f"object {type(given).__module__}.{type(given).__qualname__} {digest[:32]}"

    def embed(self, texts: Sequence[str], *, kind: TextKind = "passage") -> Vectors:
        """(texts, width) float32. Raises EmbeddingError where it raises, or gives no finite vector a text."""
        way = self._queries if kind == "query" else self._passages
        assert way is not None, "refused when it was made"
        try:
            parts = [_rows(way(list(texts[at : at + self._batch]))) for at in range(0, len(texts), self._batch)]
            vectors = np.asarray(
                [np.asarray(vector, dtype=np.float32) for part in parts for vector in part], dtype=np.float32
            )
        except Exception as error:
            raise EmbeddingError(
                f"embedders {self.name}: {type(error).__name__}: {error}; it is called with a list of texts, and a "
                "vector of numbers is expected for each",
                dead=True,
            ) from error
        if vectors.ndim != 2 or len(vectors) != len(texts) or not vectors.shape[1] or not np.isfinite(vectors).all():
            raise EmbeddingError(
                f"embedders {self.name}: {len(texts)} texts gave an array of shape {vectors.shape}; a vector of finite "
                "numbers is expected for each",
                dead=True,
            )
        return vectors


Way = Callable[[list[str]], Any]


def _rows(vectors: Any) -> Any:
    """What an embedder gave, awaited where it is a coroutine's; of a sparse matrix and a data frame the numbers."""
    if inspect.isawaitable(vectors):
        vectors = run(_awaited(vectors))
    dense = getattr(vectors, "toarray", None) or getattr(vectors, "to_numpy", None)
    return vectors if dense is None else dense()


async def _awaited(vectors: Awaitable[Any]) -> Any:
    return await vectors


def _ways(given: Any) -> tuple[Way | None, Way | None]:
    """How passages and how questions are embedded; None where the object is none of those that are known."""

    def of(names: Sequence[str]) -> Way | None:
        return next((getattr(given, name) for name in names if callable(getattr(given, name, None))), None)

    if hasattr(given, "identity") and callable(getattr(given, "embed", None)):  # one of ragbench's own kind
        return (lambda texts: given.embed(texts, kind="passage")), (lambda texts: given.embed(texts, kind="query"))
    plain = of(PASSAGES) or of(PLAIN) or (given if callable(given) else None)
    queries = of(QUERIES)
    for attribute in ("embed_query", "get_query_embedding"):
        if queries is None and callable(alone := getattr(given, attribute, None)):
            return plain, lambda texts, alone=alone: [alone(text) for text in texts]
    return plain, queries or plain
