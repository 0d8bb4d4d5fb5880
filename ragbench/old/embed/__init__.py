"""Texts to vectors: hashed n-grams, models of wheels, sentence-transformers, any OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from ragbench.old.core.settings import EmbedderSettings, Settings
from ragbench.old.core.types import Embedder, EmbeddingError

if TYPE_CHECKING:
    from ragbench.old.embed.texts import Keep
    from ragbench.old.store import Source


def make(
    name: str, settings: EmbedderSettings, corpus: Sequence[str] | None = None, keep: Keep | None = None
) -> Embedder:
    """The embedder of the table `[embedders.NAME]`.

    `corpus` are the texts that `hashing` and `navec` are fitted on; of the others only `auto` looks at them, at their
    language. keep: gives what `hashing` has been fitted to before, as `Store.arrays` does; None fits it anew.
    Raises EmbeddingError for settings that cannot give vectors.
    """
    if settings.given is not None:
        from ragbench.old.embed.own_embedders import ObjectEmbedder

        return ObjectEmbedder(name, settings.given, settings.batch)
    if settings.kind == "auto":
        from ragbench.old.core.segmentation import language_of
        from ragbench.old.embed import wheels

        settings = wheels.suiting(settings, language_of(corpus or ()))
    if settings.kind == "hashing":
        from ragbench.old.embed.hashing import HashingEmbedder

        return HashingEmbedder(name, settings, corpus, keep)
    if settings.kind == "navec":
        from ragbench.old.embed.wheels import NavecEmbedder

        return NavecEmbedder(name, settings, corpus)
    if settings.kind in ("sentence_transformers", "minilm"):
        from ragbench.old.embed.model import ModelEmbedder

        return ModelEmbedder(name, settings)
    if settings.kind == "database":
        from ragbench.old.core import settings as configuration
        from ragbench.old.embed.own_embedders import TableEmbedder

        known = configuration.load()
        queries = settings.queries and partial(query_encoder, name, settings.queries, settings=known)
        return TableEmbedder(name, str(settings.database), known, queries or None)
    from ragbench.old.embed.openai_embeddings import EndpointEmbedder

    return EndpointEmbedder(name, settings)


def query_encoder(name: str, queries: str, source: Source, *, settings: Settings) -> Embedder:
    """The embedder `queries`, for the questions of the embedder `name`.

    Raises EmbeddingError where it cannot be had, or its vectors have another width than those of the chunks.
    """
    import numpy as np

    tables = source.tables.chunks
    width = source.width(tables)
    encoder = make(queries, settings.embedders[queries], [str(row[1]) for row in source.chunks() if row[1]])
    dimensions = np.asarray(encoder.embed(["?"], kind="query")).shape[1]
    if dimensions != width:
        raise EmbeddingError(
            f"embedders.{name}.queries = {queries!r}: its vectors have {dimensions} dimensions, those of "
            f"{tables.table}.{tables.embedding} in the database {source.name} have {width}; name "
            "the model that made them"
        )
    return encoder
