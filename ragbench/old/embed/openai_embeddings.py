"""Any endpoint that speaks the OpenAI embeddings protocol."""

from __future__ import annotations

import asyncio
import base64
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from typing import Any

import numpy as np

from ragbench.old.core.settings import ConfigurationError, EmbedderSettings
from ragbench.old.core.settings.secrets import excerpt, masker_of, value_of
from ragbench.old.core.types import EmbeddingError, TextKind, Vectors
from ragbench.old.core.waves import gather
from ragbench.old.embed.texts import check_texts, prefixed
from ragbench.old.llm import planning
from ragbench.old.llm.client import background_loop, free_loop, run
from ragbench.old.llm.errors import Fault
from ragbench.old.llm.reply import refuse_error
from ragbench.old.llm.request import estimate_tokens
from ragbench.old.llm.service import Caller
from ragbench.old.llm.transport import Transport, at_version, read_key

MAX_BYTES = 32 * 2**20
"""Of a response: 64 of the widest vectors that PostgreSQL stores, at 32 bytes a number."""
FRAMES = 8
"""Objects, lists and fields of a reply for every text, at most: a vector has four, and 32 MB of them are a gigabyte."""
OF_THE_TEXTS = ("request", "mechanism", "refused")
"""Kinds of faults after which other texts, or fewer, may fare better."""
LONGEST_NAME = 200  # of a model
LONGEST = 1e6
"""No number of an embedding is as far from 0."""
_ABOUT_ENCODING = re.compile(r"encoding|base64", re.IGNORECASE)
_ABOUT_NUMBER = re.compile(
    r"HTTP 413|batch|too many|number of|texts must be|at most \d+ \w*(input|item|request|text)|per request"
    r"|(?P<alone>at a time|(one|single) (input|text)|valid string)",
    re.IGNORECASE,
)
"""How endpoints say that a request had more texts than they take, or that they take one alone."""
PACKED, IN_FIGURES = {"encoding_format": "base64"}, {"encoding_format": "float"}


class EndpointEmbedder:
    """`model` at an address, or of a client of the user's own; the key is in the environment variable that
    `key_variable` names.

    `dimensions` is asked for only where the settings name it. Redirects are not followed: a key goes to the host that
    the settings name, and to no other.
    """

    def __init__(self, name: str, settings: EmbedderSettings) -> None:
        self.name, self.settings = name, settings
        try:
            self._key = read_key(f"embedders.{name}", settings)
        except ConfigurationError as error:
            raise EmbeddingError(str(error)) from None
        asked = settings.dimensions if "dimensions" in settings.model_fields_set else 0
        self._more: dict[str, Any] = {"dimensions": asked} if asked else {}
        prefixes = f"query_prefix={settings.query_prefix!r} passage_prefix={settings.passage_prefix!r}"
        self.identity = f"openai {settings.address} model={settings.model!r} dimensions={asked or 'own'} {prefixes}"
        self._caller = Caller(f"embedders.{name}", settings, self._key, MAX_BYTES)
        # packed, a quarter of their digits, until it says that it cannot; then in figures; then with no word of it
        self._encodings: list[dict[str, str]] = [PACKED, IN_FIGURES, {}]
        self._batch, self._is_bare = settings.batch, False
        self._hide = masker_of(*map(value_of, settings.variables))  # a key that was sent back is to be in no message
        self.answered_by: Counter[str] = Counter()
        """How many texts came back with which model's name; of those that this object embedded."""

    def __reduce__(self) -> tuple[Any, ...]:
        """In another process it takes the key of that one's environment."""
        return EndpointEmbedder, (self.name, self.settings)

    def embed(self, texts: Sequence[str], *, kind: TextKind = "passage") -> Vectors:
        """(texts, width) float32, in as many requests as `batch` and `batch_characters` make of it.

        Raises EmbeddingError for empty and over-long texts before anything is sent, for an endpoint that does not
        answer (`dead`) or refuses, and for a reply that is not one finite, non-zero vector of one width a text.
        """
        return run(self._embedded(texts, kind), free_loop())

    @property
    def concurrency(self) -> int:
        """So many requests are in flight at most, all callers together."""
        return self.settings.concurrency

    def requests(self, texts: Sequence[str], kind: TextKind) -> int:
        """In how many requests `embed` would ask for these."""
        return sum(1 for _ in self._cuts(prefixed(texts, self.settings, kind)))

    def begin(self, texts: Sequence[str], *, kind: TextKind = "passage") -> Future[Vectors]:
        """What `embed` gives or raises, once it is there."""
        return asyncio.run_coroutine_threadsafe(self._embedded(texts, kind), background_loop(free_loop()))

    async def _embedded(self, texts: Sequence[str], kind: TextKind) -> Vectors:
        check_texts(texts, self.settings, self.name)
        if planning.folder() is not None:
            raise EmbeddingError(f"{self._where()} is not asked by a plan", dead=True)
        asked = prefixed(texts, self.settings, kind)
        while True:  # until nothing more is learnt of how it is to be asked
            known = self._batch, self._is_bare, self._encodings
            try:
                parts = await gather([self._request(asked[start:stop], start) for start, stop in self._cuts(asked)])
                break
            except EmbeddingError:
                if known == (self._batch, self._is_bare, self._encodings):
                    raise
        widths = {part.shape[1] for part in parts}
        if len(widths) != 1:
            raise EmbeddingError(f"{self._where()} gave vectors of differing widths: {sorted(widths)}")
        if (width := self._more.get("dimensions")) not in (None, *widths):
            told = f"dimensions = {width} is not heeded: its vectors have {widths.pop()}; leave `dimensions` out"
            raise EmbeddingError(f"{self._where()}: {told}", dead=True)
        return np.concatenate(parts)

    def _cuts(self, texts: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Where requests begin and end: within `batch` texts and `batch_characters`, or with one text."""
        start = characters = 0
        for place, text in enumerate(texts):
            characters += len(text)
            full = place - start == self._batch or characters > self.settings.batch_characters
            if full and place > start:
                yield start, place
                start, characters = place, len(text)
        yield start, len(texts)

    async def _request(self, texts: list[str], start: int) -> Vectors:
        """The vectors of texts that are asked for together; `start` of the whole stand before them."""
        from ragbench.old.store.embeddings import check

        tokens = sum(map(estimate_tokens, texts)) if self.settings.tokens_per_minute else 0
        try:
            content = await self._caller.post(lambda transport, seconds: self._post(transport, texts, seconds), tokens)
        except Fault as fault:
            raise self._given_up(fault, len(texts)) from None
        rows, named = self._rows(content, len(texts))
        try:
            vectors = check(rows, texts, self._who())
        except EmbeddingError as error:
            if not any(isinstance(row, list) for row in rows):  # some take the word and cannot
                self._encodings = [known for known in self._encodings if known is not PACKED]
            places = tuple(start + place for place in error.positions)
            raise EmbeddingError(str(error), places, reason=error.reason, dead=error.dead) from None
        if named:
            self.answered_by[named[:LONGEST_NAME]] += len(texts)
        return vectors

    async def _post(self, transport: Transport, texts: list[str], seconds: float) -> bytes:
        """The body of a good response."""
        encoding = self._encodings[0]
        given = texts[0] if self._is_bare and len(texts) == 1 else texts
        body = {"model": str(self.settings.model), "input": given, **encoding, **self._more}
        try:
            content = await transport.post("embeddings", body, seconds)
        except Fault as fault:
            if not encoding or fault.kind != "mechanism" or not _ABOUT_ENCODING.search(fault.reason):
                raise
            self._encodings = [known for known in self._encodings if known is not encoding]
            return await self._post(transport, texts, seconds)
        if b'"embedding"' not in content and b'"error"' in content:
            refuse_error(content, self._hide, transport.refusal)
        return content

    def _given_up(self, fault: Fault, count: int) -> EmbeddingError:
        said = f"{self._where()} gave no vectors: {fault.reason}"
        if fault.passes:
            said += f"; tried {fault.attempts} times (attempts = {self.settings.attempts}, patience_seconds = "
            said += f"{self.settings.patience_seconds:g}). Run again to go on"
        elif "more than" in fault.reason and count > 1:
            said += f" for {count} texts; set embedders.{self.name}.batch below {count}"
        elif fault.kind in OF_THE_TEXTS and (told := _ABOUT_NUMBER.search(fault.reason)):
            legal = [number for number in map(int, re.findall(r"\b\d+\b", fault.reason)) if 0 < number < count]
            most = 1 if told["alone"] else max(legal, default=max(1, count // 2))
            self._batch, self._is_bare = min(self._batch, most), self._is_bare or bool(told["alone"])
        return EmbeddingError(said, dead=fault.kind not in OF_THE_TEXTS)

    def _rows(self, content: bytes, count: int) -> tuple[list[Any], str]:
        """What a reply gives as the vectors of so many texts, in the texts' order; the model that it names, or ""."""
        unreadable, way = f"{self._where()} gave a reply that cannot be read", at_version(self.settings.base_url)
        if sum(map(content.count, (b"[", b"{", b":"))) > FRAMES * count + 1000:
            raise EmbeddingError(f"{unreadable}: it is more than one vector a text")
        try:
            reply = json.loads(content)
        except (ValueError, RecursionError):
            said = excerpt(self._hide(content[:2000].decode("utf-8", "replace")), 80)
            raise EmbeddingError(f"{unreadable}: it is not JSON; it begins with {said}; {way}") from None
        data = reply
        for name in ("data", "embeddings", "float"):
            data = data.get(name, data) if isinstance(data, dict) else data
        if not isinstance(data, list) or not all(isinstance(item, dict | list) for item in data):
            said = excerpt(self._hide(json.dumps(reply, ensure_ascii=False)), 80)
            raise EmbeddingError(f"{unreadable}: it has no list of vectors in `data`: {said}; {way}")
        data = [item if isinstance(item, dict) else {"embedding": item} for item in data]
        places = [item.get("index") for item in data]
        if len(data) != count or not any(item.get("index") is not None for item in data):
            places = list(range(len(data)))
        if any(type(place) is not int for place in places) or sorted(places) != list(range(len(data))):
            said = excerpt(places, 80)
            raise EmbeddingError(f"{self._where()} numbered its vectors {said}, not 0 to {len(data) - 1}")
        named = reply.get("model") if isinstance(reply, dict) else None
        rows = [
            _unpacked(item.get("embedding"))
            for _, item in sorted(zip(places, data, strict=True), key=lambda pair: pair[0])
        ]
        return rows, named if isinstance(named, str) else ""

    def _where(self) -> str:
        return f"the embedder {self._who()}"

    def _who(self) -> str:
        return f"{self.name} ({self.settings.model} at {self.settings.address})"


def _unpacked(given: Any) -> Any:
    """The numbers of a packed vector: 32-bit floats, the lowest byte first, in base64; anything else as it is."""
    if isinstance(given, list) and len(given) == 1 and isinstance(given[0], list):
        return given[0]  # of one text among those of several
    if not isinstance(given, str):
        return given
    try:
        numbers = np.frombuffer(base64.b64decode(given, validate=True), "<f4")
    except ValueError:  # not base64, or not of whole numbers
        return given
    return numbers if np.all(np.abs(numbers) < LONGEST) else given  # else it was packed in 64 bits
