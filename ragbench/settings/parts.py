"""The tables of ragbench.toml that say what a system of configured parts is made of."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from ragbench.settings.tables import IndexSettings


class RetrieverSettings(IndexSettings):
    """How passages are found. `bm25` is there without a table: by their words, without a model."""

    kind: Literal["bm25", "dense", "hybrid"] = Field(
        default="bm25",
        description="bm25: by shared words, stemmed; dense: by the vectors of an embedder; hybrid: the rankings of "
        "several retrievers fused",
    )
    embedder: str | None = Field(default=None, description="the NAME of [embedders.NAME], for kind dense")
    variant: Literal["lucene", "robertson", "atire", "bm25l", "bm25+"] = Field(
        default="lucene", description="of BM25, after Kamphuis et al. 2020"
    )
    k1: float = Field(default=1.5, ge=0, le=10, description="of BM25: how long a repeated word goes on to count")
    b: float = Field(default=0.75, ge=0, le=1, description="of BM25: how much long passages are marked down")
    retrievers: tuple[str, ...] = Field(default=(), description="of a hybrid: the NAMEs of two or more others")
    fusion: Literal["rrf", "weighted"] = Field(
        default="rrf",
        description="of a hybrid: rrf, by ranks (Cormack, Clarke and Buettcher 2009); weighted, by scores, each "
        "ranking's from 0 to 1 at every question (Lee 1997)",
    )
    constant: float = Field(default=60.0, ge=0, description="of rrf: what is added to every rank")
    weights: tuple[Annotated[float, Field(ge=0)], ...] = Field(
        default=(), description="of weighted: a weight for each retriever; not set: all the same"
    )
    depth: int = Field(default=100, ge=1, le=10_000, description="of a hybrid: passages of each ranking that are fused")

    @model_validator(mode="after")
    def _complete(self) -> RetrieverSettings:
        if (self.kind == "dense") != (self.embedder is not None):
            raise ValueError("a retriever of kind 'dense', and no other, needs `embedder`")
        if (self.kind == "hybrid") != bool(self.retrievers):
            raise ValueError("a retriever of kind 'hybrid', and no other, needs `retrievers`")
        if self.retrievers and len(set(self.retrievers)) < max(2, len(self.retrievers)):
            raise ValueError(f"retrievers = {list(self.retrievers)}: two or more, each once")
        if self.weights and (self.fusion != "weighted" or len(self.weights) != len(self.retrievers)):
            raise ValueError(
                f"weights = {list(self.weights)}: one for each of the {len(self.retrievers)} retrievers, with "
                'fusion = "weighted"'
            )
        if self.weights and not any(self.weights):
            raise ValueError("weights are all 0: then nothing is ranked")
        return self
