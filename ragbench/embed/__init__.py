"""Texts to vectors: the offline default, sentence-transformers, any OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Sequence

from ragbench.settings import EmbedderSettings
from ragbench.types import Embedder


def make(name: str, settings: EmbedderSettings, corpus: Sequence[str] | None = None) -> Embedder:
    """The embedder of the table `[embedders.NAME]`.

    `corpus` are the texts that the hashing embedder takes its weights and axes from; the others ignore it.
    Raises EmbeddingError for settings that cannot give vectors.
    """
    if settings.kind == "hashing":
        from ragbench.embed.hashing import HashingEmbedder

        return HashingEmbedder(name, settings, corpus)
    if settings.kind == "sentence_transformers":
        from ragbench.embed.model import ModelEmbedder

        return ModelEmbedder(name, settings)
    if settings.kind == "database":
        from ragbench import settings as configuration
        from ragbench.embed.tables import TableEmbedder

        return TableEmbedder(name, str(settings.database), configuration.load(), settings.queries)
    from ragbench.embed.endpoint import EndpointEmbedder

    return EndpointEmbedder(name, settings)
