"""The tables of ragbench.toml that say what a system of configured parts is made of."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from ragbench.core.settings.endpoints import MOST_AT_ONCE, Provider, WebSettings
from ragbench.core.settings.tables import IndexSettings, Table

Callable = Annotated[str | None, Field(description="your function, as module:function, for kind callable")]


def _callable_if_so(kind: str, path: str | None) -> None:
    if (kind == "callable") != (path is not None):
        raise ValueError("kind 'callable', and no other, needs `callable`: write it module:function")
    if path is not None and ":" not in path:
        raise ValueError(f"callable = {path!r}: write it as module:function")


class RetrieverSettings(IndexSettings):
    """How passages are found. `bm25` is there without a table: by their words, without a model."""

    kind: Literal["bm25", "dense", "hybrid"] = Field(
        default="bm25",
        description="bm25: by shared words, stemmed; dense: by the vectors of an embedder; hybrid: the rankings of "
        "several retrievers fused",
    )
    embedder: str | None = Field(default=None, description="the NAME of [embedders.NAME], for kind dense")
    variant: Literal["lucene", "robertson", "atire", "bm25l", "bm25+"] = Field(
        default="lucene",
        description="of BM25, after Kamphuis et al. 2020; robertson is BM25Okapi of rank-bm25 with epsilon = 0, bm25+ "
        "its BM25Plus; bm25l is that of Lv and Zhai 2011, which its BM25L is not",
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


class RerankerSettings(WebSettings):
    """Who looks at the first passages of a ranking again, question and passage together."""

    kind: Literal["cross_encoder", "endpoint", "callable"] = Field(
        description="cross_encoder: a model of sentence-transformers; endpoint: base_url, to which /rerank is added, "
        "as Cohere, Jina, vLLM and Infinity speak it; callable: your function of (question, texts) that returns scores",
    )
    model: str | None = Field(default=None, description="its name at the endpoint or on a hub, or its folder")
    provider: Provider = None
    callable: Callable = None
    depth: int = Field(default=20, ge=1, le=1000, description="passages that it looks at; those below stay in order")
    batch: int = Field(default=32, ge=1, description="pairs that a cross_encoder reads together")

    @property
    def concurrency(self) -> int:
        """It asks one question after the other; how many calls its endpoint gets at once is for others to say."""
        return MOST_AT_ONCE

    @model_validator(mode="after")
    def _complete(self) -> RerankerSettings:
        _callable_if_so(self.kind, self.callable)
        if self.kind != "callable" and not self.model:
            raise ValueError(f"a reranker of kind {self.kind!r} needs `model`")
        if (self.kind == "endpoint") != ([self.base_url, self.provider, self.client].count(None) == 2):
            raise ValueError("a reranker of kind 'endpoint', and no other, needs `base_url` or a shared `provider`")
        return self


class RewriterSettings(Table):
    """What is searched for in place of a question."""

    kind: Literal["rewrite", "hyde", "queries", "callable"] = Field(
        description="rewrite: the question put better; hyde: a passage that would answer it (Gao et al. 2023); "
        "queries: several questions, whose rankings are fused by ranks; callable: your function of the question that "
        "returns a text or several"
    )
    generator: str | None = Field(default=None, description="the NAME of [generators.NAME] whose model writes it")
    number: int = Field(default=3, ge=2, le=20, description="of queries")
    callable: Callable = None
    timeout_seconds: float = Field(default=60.0, gt=0, description="of one call of your function")

    @model_validator(mode="after")
    def _complete(self) -> RewriterSettings:
        _callable_if_so(self.kind, self.callable)
        if (self.kind == "callable") == (self.generator is not None):
            raise ValueError("a rewriter that is no callable needs `generator`, and a callable none")
        return self


class ChunkerSettings(Table):
    """Into which pieces passages are cut before they are searched. A piece counts by the share of the labelled text
    that it shows for the first time, and the generator reads pieces."""

    kind: Literal["words", "sentences", "callable"] = Field(
        default="words",
        description="words: as many words a piece; sentences: whole sentences, as many as fit; callable: your function "
        "of a text that returns its pieces, parts of it word for word and in its order",
    )
    size: int = Field(default=120, ge=1, le=100_000, description="words of a piece at most; a sentence is never cut")
    overlap: int = Field(default=0, ge=0, description="words that a piece of kind words has of the one before it")
    callable: Callable = None
    timeout_seconds: float = Field(default=60.0, gt=0, description="of one call of your function")

    @model_validator(mode="after")
    def _complete(self) -> ChunkerSettings:
        _callable_if_so(self.kind, self.callable)
        if self.overlap >= self.size:
            raise ValueError(f"overlap = {self.overlap} is not below size = {self.size}")
        if self.overlap and self.kind != "words":
            raise ValueError(f"overlap is of kind 'words'; this is {self.kind!r}")
        return self
