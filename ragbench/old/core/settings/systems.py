"""The tables `[systems.NAME]`: a retriever of ragbench, your callable, logged results, or a service over HTTP.

And the tables of what a system of configured parts is made of.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal
from urllib.parse import parse_qsl, quote, urlsplit

from pydantic import Field, field_validator, model_validator

from ragbench.old.core.settings.endpoints import MOST_AT_ONCE, Patience, Provider, WebSettings
from ragbench.old.core.settings.tables import (
    PARTS,
    SECRET,
    SLOT,
    IndexSettings,
    Table,
    filled,
    numbered,
    refuse_open_secrets,
    refuse_unfit,
)
from ragbench.old.core.settings.urls import check_host, without_credentials

KINDS = ("embedder", "retriever", "callable", "results", "url")
EXPRESSIONS = ("answer", "passages", "ids", "scores", "latency")
OF_A_SERVICE = (*EXPRESSIONS, "method", "body", "headers", "stream", "concurrency", "requests_per_minute")
BODY = '{"question": "{question}", "k": {k}}'
SLOTS = ("question", "k")
CONTEXTS = "contexts"
"""The slot of a body, and of no address, that takes passages to answer from."""
_STRING = re.compile(r'("(?:[^"\\]|\\[\s\S]?)*(?:"|\Z))')  # an open one ends with the text: one look at each letter


class SystemSettings(IndexSettings, Patience):
    """One system under test: a retriever of ragbench, your callable, logged results, or a service; exactly one."""

    embedder: str | None = Field(
        default=None, description="the NAME of [embedders.NAME]: short for a dense retriever with this index"
    )
    retriever: str | None = Field(default=None, description="the NAME of [retrievers.NAME]; bm25 needs no table")
    chunker: str | None = Field(
        default=None, description="the NAME of [chunkers.NAME] that cuts the passages; not set: as they are"
    )
    rewriter: str | None = Field(default=None, description="the NAME of [rewriters.NAME] that puts the question anew")
    reranker: str | None = Field(default=None, description="the NAME of [rerankers.NAME] that looks at the first again")
    callable: str | None = Field(
        default=None,
        description="your function of (question, k), or of the question, that returns ids in rank order, or an object "
        "of LangChain, LlamaIndex or Haystack, as module:name",
    )
    results: Path | None = Field(
        default=None,
        description="JSON Lines of what your system retrieved, and answered, question by question; unless it is named, "
        "such a system is not measured on another data set than that in whose folder they lie",
    )
    url: str | None = Field(
        default=None,
        description="http or https address of a service that is asked question by question; {question} and {k} may "
        "stand in its path and query",
    )
    method: Literal["POST", "GET", "PUT"] = Field(default="POST", description="of a service's requests; GET: no body")
    body: str = Field(
        default=BODY,
        description="of a request, in JSON, with the slots {question} and {k}; where it names {contexts}, "
        "tier2_generation gives it the passages to answer from: a list of texts, or, within quotes, one numbered "
        "text, as a prompt has it",
    )
    headers: dict[str, str] = Field(
        default={},
        description='of a request; the values of environment variables by their names: "Bearer {PROD_KEY}". A secret '
        "stands in no other way",
    )
    answer: str | None = Field(
        default=None,
        description="where a reply has its answer, in JMESPath: data.answer; with stream: where an event has its piece",
    )
    passages: str | None = Field(default=None, description="where it has the texts of its passages: hits[].text")
    ids: str | None = Field(default=None, description="where it has their ids: hits[].id")
    scores: str | None = Field(default=None, description="where it has their scores: hits[].score")
    latency: str | None = Field(
        default=None,
        description="where it says how many milliseconds it took, which are then taken instead of those waited here",
    )
    stream: bool = Field(
        default=False,
        description="whether it replies in server-sent events or lines of JSON, so that the first piece is timed",
    )
    concurrency: int = Field(
        default=1,
        ge=1,
        le=1024,
        description="requests of a service in flight at most; 1: its latencies are of one user",
    )
    requests_per_minute: int | None = Field(default=None, ge=1, description="of a service, begun in a minute at most")
    generator: str | None = Field(
        default=None,
        description="the NAME of [generators.NAME] that writes its answers; not set: those that it gives itself, else "
        "the extractive stand-in's",
    )

    @property
    def header_variables(self) -> tuple[str, ...]:
        """The environment variables whose values are sent in headers, each once."""
        return tuple(dict.fromkeys(name for value in self.headers.values() for name in SLOT.findall(value)))

    @property
    def takes_contexts(self) -> bool:
        """Whether it is a service that can be given the passages to answer from."""
        return self.url is not None and self.method != "GET" and f"{{{CONTEXTS}}}" in self.body

    def asked(self, question: str, k: int, contexts: Sequence[str] | None = None) -> tuple[str, str]:
        """The address and the body of the request for a question; the body is empty for GET.

        contexts: texts to answer from, where the body names them; None, which is null in a list's place: it is to
        retrieve by itself.
        """
        address = filled(str(self.url), {"question": quote(question, safe=""), "k": str(k)})
        return address, "" if self.method == "GET" else _body(self.body, question, k, contexts)

    _no_secrets = field_validator("headers")(refuse_open_secrets)

    @field_validator("url")
    @classmethod
    def _address(cls, given: str | None) -> str | None:
        if given is None:
            return None
        parts, shown = urlsplit(given), without_credentials(given)
        if parts.scheme not in ("http", "https") or not parts.hostname or SLOT.search(parts.netloc):
            raise ValueError(f"url = {shown!r}: only http and https are spoken, to one host")
        secret = [name for name, value in parse_qsl(parts.query) if SECRET.search(name) and not SLOT.search(value)]
        if parts.username or parts.password or parts.fragment or secret:
            raise ValueError(
                f"url = {shown!r} holds a user, a password, a key or a fragment: name its variable in `headers`"
            )
        check_host("url", given)
        _check_slots("url", given, SLOTS)
        return given

    @field_validator("body")
    @classmethod
    def _json(cls, given: str) -> str:
        _check_slots("body", given, (*SLOTS, CONTEXTS))
        try:
            json.loads(_body(given, 'a " b', 1, ('a " b',)))
        except ValueError:
            raise ValueError(
                f'body = {given!r} is not JSON once it is filled; write "{{question}}" in quotes and {{k}} without'
            ) from None
        return given

    @field_validator(*EXPRESSIONS)
    @classmethod
    def _expression(cls, given: str | None) -> str | None:
        import jmespath
        from jmespath.exceptions import JMESPathError, JMESPathTypeError

        try:
            jmespath.search(given or "@", {})
        except JMESPathTypeError:
            pass  # it may fit a reply
        except JMESPathError as error:
            raise ValueError(f"{given!r} is no JMESPath: {str(error).splitlines()[0]}") from None
        return given

    @model_validator(mode="after")
    def _one_kind(self) -> SystemSettings:
        given = [name for name in KINDS if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(f"a system is one of {', '.join(KINDS)}; given: {', '.join(given) or 'none'}")
        if self.embedder is None and self.retriever is None:
            for name in PARTS:
                if (part := getattr(self, name)) is not None:
                    raise ValueError(f"{name} = {part!r} goes with embedder or retriever; this system has {given[0]}")
        if self.embedder is None and (
            stray := [name for name in IndexSettings.model_fields if name in self.model_fields_set]
        ):
            at = f"the table [retrievers.{self.retriever}]" if self.retriever else "a system with an embedder"
            raise ValueError(f"{stray[0]} = {getattr(self, stray[0])!r} is of {at}; this system has {given[0]}")
        if self.callable is not None and ":" not in self.callable:
            raise ValueError(f"callable = {self.callable!r}: write it as module:function")
        own: dict[str, Any] = {name: getattr(self, name) for name in EXPRESSIONS}
        if self.url is None:
            if strange := [name for name in OF_A_SERVICE if name in self.model_fields_set]:
                raise ValueError(f"{', '.join(strange)}: only of a system with a url")
        elif not (own["answer"] or own["passages"] or own["ids"]):
            raise ValueError("a system with a url needs an expression: answer, passages or ids")
        elif own["scores"] and not (own["passages"] or own["ids"]):
            raise ValueError("scores are of passages or ids: give one of these expressions too")
        elif self.stream and not own["answer"]:
            raise ValueError("stream = true needs `answer`, where an event has its piece of text")
        elif self.takes_contexts and not own["answer"]:
            raise ValueError("body names {contexts}, to answer from them: give the expression `answer`, too")
        elif "{question}" not in (self.url if self.method == "GET" else self.url + self.body):
            raise ValueError(
                f"{self.method} {self.url} does not send the question: write {{question}} where it belongs"
            )
        return self


def _check_slots(place: str, template: str, slots: Sequence[str]) -> None:
    if strange := sorted(set(SLOT.findall(template)) - set(slots)):
        legal = " and ".join(f"{{{name}}}" for name in slots)
        raise ValueError(f"{place}: there is no slot {{{strange[0]}}}; slots are {legal}")


def _body(template: str, question: str, k: int, contexts: Sequence[str] | None) -> str:
    """A body with its slots filled in one pass. Within quotes contexts are one text, elsewhere a list."""
    within = {"question": question, "k": str(k), CONTEXTS: numbered(contexts or ())}
    quoted = {name: json.dumps(text, ensure_ascii=False)[1:-1] for name, text in within.items()}
    values = {"k": str(k), CONTEXTS: json.dumps(contexts, ensure_ascii=False)}
    parts = _STRING.split(template)
    return "".join(filled(part, quoted if place % 2 else values) for place, part in enumerate(parts))


OF_RETRIEVERS = {
    "bm25": ("variant", "k1", "b"),
    "dense": ("embedder", *IndexSettings.model_fields),
    "hybrid": ("retrievers", "fusion", "constant", "weights", "depth"),
}
OF_RERANKERS = {"cross_encoder": ("model", "batch"), "endpoint": ("model",), "callable": ("callable",)}
OF_REWRITERS = {"queries": ("number",), "callable": ("callable", "timeout_seconds")}
OF_CHUNKERS = {"words": ("size", "overlap"), "sentences": ("size",), "callable": ("callable", "timeout_seconds")}
"""Options that only some kinds have."""

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
    # 60 is what Cormack, Clarke and Buettcher fixed in a pilot study, and what other implementations begin with
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
        refuse_unfit(self, "kind", OF_RETRIEVERS)
        refuse_unfit(self, "fusion", {"rrf": ("constant",), "weighted": ("weights",)})
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
        refuse_unfit(self, "kind", OF_RERANKERS)
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
        refuse_unfit(self, "kind", OF_REWRITERS)
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
        refuse_unfit(self, "kind", OF_CHUNKERS)
        if self.overlap >= self.size:
            raise ValueError(f"overlap = {self.overlap} is not below size = {self.size}")
        return self
