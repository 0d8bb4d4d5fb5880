"""The vectors that lie in a user's own tables, beside the texts that they were made from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

import numpy as np

from ragbench.core import settings as configuration
from ragbench.core.settings import ChunkTable, QuestionTable, Settings
from ragbench.core.settings.secrets import excerpt
from ragbench.core.types import Array, Embedder, EmbeddingError, Vectors
from ragbench.data import normalise
from ragbench.store import Source

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
