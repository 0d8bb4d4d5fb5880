"""Texts to vectors: hashed n-grams, models of wheels, sentence-transformers, any OpenAI-compatible endpoint."""

from __future__ import annotations

from collections.abc import Sequence

from ragbench.settings import EmbedderSettings
from ragbench.types import Embedder


def make(name: str, settings: EmbedderSettings, corpus: Sequence[str] | None = None) -> Embedder:
    """The embedder of the table `[embedders.NAME]`.

    `corpus` are the texts that `hashing` and `navec` are fitted on; of the others only `auto` looks at them, at their
    language.
    Raises EmbeddingError for settings that cannot give vectors.
    """
    if settings.kind == "auto":
        from ragbench.embed import wheels

        settings = wheels.suiting(settings, wheels.language_of(corpus or ()))
    if settings.kind == "hashing":
        from ragbench.embed.hashing import HashingEmbedder

        return HashingEmbedder(name, settings, corpus)
    if settings.kind == "navec":
        from ragbench.embed.means import NavecEmbedder

        return NavecEmbedder(name, settings, corpus)
    if settings.kind in ("sentence_transformers", "minilm"):
        from ragbench.embed.model import ModelEmbedder

        return ModelEmbedder(name, settings)
    if settings.kind == "database":
        from ragbench import settings as configuration
        from ragbench.embed.tables import TableEmbedder

        return TableEmbedder(name, str(settings.database), configuration.load())
    from ragbench.embed.endpoint import EndpointEmbedder

    return EndpointEmbedder(name, settings)
