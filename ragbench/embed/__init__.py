"""Texts to vectors: models on this machine, endpoints, your own functions, and a stand-in."""

from ragbench.embed.embedder import TextEmbedder
from ragbench.embed.opening import open_embedder

__all__ = ["TextEmbedder", "open_embedder"]
