"""Ranked lists as other programs write them, to passages of the knowledge base: by id, by text, by a part of one.

Texts are compared letter by letter in NFKC, without white space and what is invisible, and with their case. What is not
the whole of a passage is looked for by windows of letters, hashed once for all passages (as rsync does: Tridgell and
Mackerras 1996), so that no item is held against every passage: building costs as much as reading the base once, and a
look-up as much as the item is long.
"""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import cached_property, lru_cache
from numbers import Integral, Real
from typing import Any, ClassVar
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from ragbench.old.core.expectations import kind
from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.core.types import Chunk, Hit, Piece
from ragbench.old.data.payloads import passage_of
from ragbench.old.data.vocabulary import PARTS, field_of
from ragbench.old.llm.reply import LARGEST_INTEGER
from ragbench.old.systems.retrieval import RetrievalError

WINDOW, STEP = 16, 8
"""Letters that are compared at once, and how far apart those of a passage begin: what has WINDOW + STEP − 1 letters in
common with a passage shares a window with it wherever it begins."""
SHORT_WINDOW, SHORT_STEP = 8, 4
"""The same for texts that are shorter than that. They must stand in a passage as a whole."""
SOME = 48  # letters in a row that are a part of a passage, whatever stands around them
HALF = 0.5  # of the text, or of the passage, that has to be the same
GAP = 32  # letters of a passage that may differ between two parts that are one
MOST = 64  # passages that are looked at for one text, and passages from which on a window is common to all
LETTERS_AT_ONCE = 1 << 20  # of passages: memory is bounded, however large the base
_HIDDEN = re.compile("[\u00ad\u200b-\u200f\u2060\ufeff]")
_MARKS = re.compile(r"[\W_]+")
_STARTLESS = "\u1160", "\u11ff"  # vowels and finals of Hangul, which are composed with what stands before them
_SEED = 2654435761  # 2³² / golden ratio, a multiplier that spreads neighbours (Knuth 1998, volume 3, 6.4)

Codes = NDArray[np.uint32]
Span = tuple[int, int]


class How(StrEnum):
    """By what a retrieved item was known; `url`: its page alone is one of the base's."""

    ID = "id"
    TEXT = "text"
    OVERLAP = "overlap"
    URL = "url"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a passage that stands in a text. place: of the passage in the base. start, end: in its letters.
    length: letters of the passage; shared: of them, how many stand in the text."""

    place: int
    start: int
    end: int
    shared: int
    length: int

    @property
    def is_whole(self) -> bool:
        return self.start == 0 and self.end == self.length


class Passages:
    """The passages of one base, to be known again. Raises nothing: what is unknown is None.

    `by_id` and `urls` are there at once; texts are read when the first item comes that has no known id.
    """

    _known: ClassVar[WeakValueDictionary[int, Passages]] = WeakValueDictionary()

    def __init__(self, chunks: Sequence[Chunk]) -> None:
        self.chunks = chunks
        self.by_id = {chunk.id: chunk for chunk in chunks}
        self.urls = frozenset(chunk.url for chunk in chunks if chunk.url)
        self._parts = lru_cache(maxsize=1 << 16)(self._looked_for)

    @classmethod
    def of(cls, chunks: Sequence[Chunk]) -> Passages:
        """The same for all that read lists of this very base."""
        passages = cls._known.get(id(chunks))
        if passages is None or passages.chunks is not chunks:
            passages = cls._known[id(chunks)] = cls(chunks)
        return passages

    def named(self, names: Iterable[str]) -> Chunk | None:
        """The first that there is; white space around a name and its form of Unicode may differ."""
        for name in names:
            if chunk := self.by_id.get(name) or self.by_id.get(unicodedata.normalize("NFC", name).strip()):
                return chunk
        return None

    def with_text(self, text: str, url: str | None, title: str | None, wanted: Collection[str]) -> Chunk | None:
        """The passage whose text this is, alone or behind its title and section; white space, form of Unicode and marks
        around words may differ.

        Of several with the same text the one with that address and title, else one that is `wanted`, else the first.
        """
        plain = letters(text)
        if not plain:
            return None
        same = [place for place in self._whole.places(plain) if letters(self.chunks[place].text) == plain]
        if not same and (bare := _bare(text)):
            same = [place for place in self._forms.places(bare) if bare in _forms(self.chunks[place])]
        candidates = [self.chunks[place] for place in dict.fromkeys(same)]
        return max(
            candidates, default=None,
            key=lambda chunk: (url is not None and chunk.url == url, title is not None and chunk.title == title,
                             chunk.id in wanted),
        )  # fmt: skip

    def shown_in(self, text: str, wanted: Collection[str]) -> Piece | None:
        """The part of a passage that a text shows; of several passages a `wanted` one, else the one it shows most of.

        None where fewer than half of the text, and of every passage, are the same.
        """
        parts = self._parts(text)
        if not parts:
            return None
        best = max(parts, key=lambda part: (self.chunks[part.place].id in wanted, part.shared, -part.place))
        return self._piece(text, best)

    def headed(self, text: str, wanted: Collection[str]) -> Piece | None:
        """The passage whose title, section or both a text is, as what splits pages makes pieces of: it shows nothing of
        the passage itself."""
        bare = _bare(text)
        candidates = [
            self.chunks[place] for place in self._headings.places(bare) if bare in _headings(self.chunks[place])
        ]
        if not bare or not candidates:
            return None
        chunk = max(candidates, key=lambda candidate: candidate.id in wanted)
        return Piece(f"{chunk.id}#00000-00000", text, chunk.url, chunk.title, chunk.section, chunk.id, 0, 0)

    def _piece(self, text: str, part: Part) -> Piece:
        chunk = self.chunks[part.place]
        places, plain = _places(chunk.text), letters(text)
        if part.is_whole or len(places) != part.length:
            start, end = 0, len(chunk.text)
        else:
            start, end = places[part.start][0], places[part.end - 1][1]
            own = letters(chunk.text)[part.start : part.end]
            if not plain.startswith(own[:SHORT_WINDOW]):  # behind other words, whose last letters may be the same
                start = _word_from(chunk.text, start, end)
            if not plain.endswith(own[-SHORT_WINDOW:]):
                end = _word_up_to(chunk.text, start, end)
        name = f"{chunk.id}#{start:05}-{end:05}"  # as that of a piece that was cut here
        if part.end - part.start != len(plain):
            name += "~" + hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:8]
        return Piece(name, text, chunk.url, chunk.title, chunk.section, chunk.id, start, end)

    @cached_property
    def _whole(self) -> _Table:
        return _Table.of((place, [letters(chunk.text)]) for place, chunk in enumerate(self.chunks))

    @cached_property
    def _forms(self) -> _Table:
        return _Table.of((place, _forms(chunk)) for place, chunk in enumerate(self.chunks))

    @cached_property
    def _headings(self) -> _Table:
        return _Table.of((place, _headings(chunk)) for place, chunk in enumerate(self.chunks))

    @cached_property
    def _windows(self) -> _Windows:
        return _Windows.of(self.chunks, WINDOW, STEP)

    @cached_property
    def _short_windows(self) -> _Windows:
        return _Windows.of(self.chunks, SHORT_WINDOW, SHORT_STEP)

    def _looked_for(self, text: str) -> tuple[Part, ...]:
        """All parts of passages that are enough of the text or of the passage, those first that share most."""
        codes = _codes(letters(text))
        is_short = len(codes) < WINDOW + STEP - 1
        windows = self._short_windows if is_short else self._windows
        parts, shown = list[Part](), np.zeros(len(codes), bool)
        for place, shifts in windows.candidates(codes).items():
            passage = _codes(letters(self.chunks[place].text))
            runs = _once(_runs(passage, codes, shifts, len(codes) if is_short else WINDOW))
            part = _longest(place, [(start, end) for start, end, _ in runs], len(passage))
            if part is None:
                continue
            parts.append(part)
            for start, end, shift in runs:
                if end - start >= SOME:
                    shown[start - shift : end - shift] = True
        is_known = shown.sum() >= HALF * len(codes)
        enough = [
            candidate for candidate in parts
            if candidate.shared >= HALF * len(codes)
            or (candidate.shared >= SOME and (is_known or candidate.shared >= HALF * candidate.length))
        ]  # fmt: skip
        return tuple(sorted(enough, key=lambda candidate: (-candidate.shared, candidate.place)))


@dataclass(frozen=True)
class _Table:
    """Hashes of texts, sorted, each with the place of its passage."""

    hashes: NDArray[np.int64]
    places_: NDArray[np.int32]

    @classmethod
    def of(cls, texts: Iterable[tuple[int, Iterable[str]]]) -> _Table:
        pairs = [(hash(text), place) for place, own in texts for text in own if text]
        hashes = np.array([hashed for hashed, _ in pairs], np.int64)
        order = np.argsort(hashes, kind="stable")
        return cls(hashes[order], np.array([place for _, place in pairs], np.int32)[order])

    def places(self, text: str) -> list[int]:
        """Of the passages that may have it, in the order of the base; hashes may meet, so texts have to be compared."""
        key = np.int64(hash(text))
        first, last = np.searchsorted(self.hashes, key, "left"), np.searchsorted(self.hashes, key, "right")
        return [int(place) for place in self.places_[first:last]]


@dataclass(frozen=True)
class _Windows:
    """Every so manyth window of every passage: its hash, sorted, with the passage and where in it the window begins."""

    size: int
    hashes: NDArray[np.uint64]
    passages: NDArray[np.int32]
    starts: NDArray[np.int32]

    @classmethod
    def of(cls, chunks: Iterable[Chunk], size: int, step: int) -> _Windows:
        """The last window of a passage is among them wherever it begins."""
        parts = [_windows(slab, size, step) for slab in _slabs(chunks)] or [_windows([], size, step)]
        hashes, passages, starts = (np.concatenate([part[column] for part in parts]) for column in range(3))
        order = np.argsort(hashes, kind="stable")
        return cls(size, hashes[order], passages[order], starts[order])

    def candidates(self, codes: Codes) -> dict[int, list[int]]:
        """Place of a passage → by how many letters what may be the same stands later in it than in the text; those that
        share most windows, in the order of the base.

        Windows that more than MOST passages have tell nothing, unless there are no others.
        """
        if len(codes) < self.size or not len(self.hashes):
            return {}
        wanted = _hashes(codes, self.size)
        first, last = np.searchsorted(self.hashes, wanted, "left"), np.searchsorted(self.hashes, wanted, "right")
        counts = last - first
        there = np.flatnonzero(counts)
        distinctive = there[counts[there] <= MOST]
        if not len(distinctive) and len(there):
            distinctive = there[np.argsort(counts[there], kind="stable")[:1]]
        votes: dict[int, dict[int, int]] = {}
        for at in distinctive.tolist():
            for row in range(int(first[at]), min(int(last[at]), int(first[at]) + MOST)):
                own = votes.setdefault(int(self.passages[row]), {})
                shift = int(self.starts[row]) - at
                own[shift] = own.get(shift, 0) + 1
        most = sorted(votes, key=lambda place: (-sum(votes[place].values()), place))[:MOST]
        return {
            place: sorted(votes[place], key=lambda shift: (-votes[place][shift], shift))[:MOST]
            for place in sorted(most)
        }


def letters(text: str) -> str:
    """A text as it is compared: in NFKC, without white space and what is invisible."""
    if not text.isascii():
        if not unicodedata.is_normalized("NFKC", text):
            text = unicodedata.normalize("NFKC", text)
        text = _HIDDEN.sub("", text)
    return "".join(text.split())


def is_short(text: str) -> bool:
    """Whether a text is too short to be told by windows that begin anywhere."""
    return len(letters(text)) < WINDOW + STEP - 1


def _bare(text: str) -> str:
    """Its letters and digits alone: what is left where a page was turned to plain text, or marks were set anew."""
    return _MARKS.sub("", unicodedata.normalize("NFKC", _HIDDEN.sub("", text)))


def _forms(chunk: Chunk) -> list[str]:
    """A passage as it may have been embedded: alone, or behind its title, its section, or both."""
    text = _bare(chunk.text)
    return [heading + text for heading in ("", *_headings(chunk))] if text else []


def _headings(chunk: Chunk) -> list[str]:
    title, section = _bare(chunk.title or ""), _bare(chunk.section or "")
    return [heading for heading in dict.fromkeys([title, section, title + section, section + title]) if heading]


def _places(text: str) -> list[Span]:
    """Where each of its letters stands, in characters; several are of one character where NFKC makes several of it."""
    spans, start = list[Span](), 0
    while start < len(text):
        end = start + 1
        while end < len(text) and _is_composed(text[end]):
            end += 1
        spans += [(start, end)] * len(letters(text[start:end]))
        start = end
    return spans


def _is_composed(character: str) -> bool:
    """Whether it is a part of the character before it."""
    return bool(unicodedata.combining(character)) or _STARTLESS[0] <= character <= _STARTLESS[1]


def _word_from(text: str, start: int, end: int) -> int:
    """Where the first whole word begins; as it is where there is none."""
    if start == 0 or text[start - 1].isspace():
        return start
    parts = text[start:end].split(None, 1)
    return end - len(parts[1]) if len(parts) == 2 else start


def _word_up_to(text: str, start: int, end: int) -> int:
    """Where the last whole word ends; as it is where there is none."""
    if end == len(text) or text[end].isspace():
        return end
    whole = text[start:end].rsplit(None, 1)
    return start + len(whole[0]) if len(whole) == 2 else end


def _codes(text: str) -> Codes:
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)


def _slabs(chunks: Iterable[Chunk]) -> Iterator[list[tuple[int, Codes]]]:
    """The letters of passages, each with its place, about LETTERS_AT_ONCE together."""
    held, size = list[tuple[int, Codes]](), 0
    for place, chunk in enumerate(chunks):
        held.append((place, _codes(letters(chunk.text))))
        size += len(held[-1][1])
        if size >= LETTERS_AT_ONCE:
            yield held
            held, size = [], 0
    if held:
        yield held


def _windows(slab: Sequence[tuple[int, Codes]], size: int, step: int) -> tuple[NDArray[Any], ...]:
    """Hash, passage and start of every window that is kept; one that runs over the end of a passage is not."""
    long = [(place, codes) for place, codes in slab if len(codes) >= size]
    if not long:
        return np.empty(0, np.uint64), np.empty(0, np.int32), np.empty(0, np.int32)
    starts = [np.append(np.arange(0, len(codes) - size, step), len(codes) - size) for _, codes in long]
    before = np.cumsum([0, *(len(codes) for _, codes in long)])[:-1]
    there = np.concatenate([own + first for own, first in zip(starts, before.tolist(), strict=True)])
    places = np.repeat(np.array([place for place, _ in long], np.int32), [len(own) for own in starts])
    hashes = _hashes(np.concatenate([codes for _, codes in long]), size)[there]
    return hashes, places, np.concatenate(starts).astype(np.int32)


def _hashes(codes: Codes, size: int) -> NDArray[np.uint64]:
    """One number for each window of so many letters; equal windows have equal ones."""
    wide, hashes = codes.astype(np.uint64), np.zeros(len(codes) - size + 1, np.uint64)
    for place in range(size):
        hashes = hashes * np.uint64(_SEED * 2 + 1) + wide[place : place + len(hashes)]
        hashes ^= hashes >> np.uint64(29)
    return hashes


def _runs(passage: Codes, text: Codes, shifts: Sequence[int], least: int) -> Iterator[tuple[int, int, int]]:
    """Where in a passage at least so many letters in a row are those of the text, and by how much they stand later."""
    for shift in shifts:
        start, end = max(0, shift), min(len(passage), len(text) + shift)
        same = np.concatenate(([False], passage[start:end] == text[start - shift : end - shift], [False]))
        edges = np.flatnonzero(same[1:] != same[:-1])
        for first, last in zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True):
            if last - first >= least:
                yield start + first, start + last, shift


def _once(runs: Iterable[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Those that show other letters of the text than a longer one does: what a passage says twice is found once."""
    kept: list[tuple[int, int, int]] = []
    for start, end, shift in sorted(runs, key=lambda run: (run[0] - run[1], run)):
        again = (min(end - shift, b - s) - max(start - shift, a - s) for a, b, s in kept)
        if 2 * max(again, default=0) <= end - start:
            kept.append((start, end, shift))
    return kept


def _longest(place: int, runs: Iterable[Span], length: int) -> Part | None:
    """The part of the passage in which most is the same; what differs by a few letters in between is a part of it."""
    parts: list[list[int]] = []  # start, end, shared
    for start, end in sorted(runs):
        if parts and start <= parts[-1][1] + GAP:
            parts[-1][2] += max(0, end - max(start, parts[-1][1]))
            parts[-1][1] = max(end, parts[-1][1])
        else:
            parts.append([start, end, end - start])
    if not parts:
        return None
    start, end, shared = max(parts, key=lambda part: (part[2], -part[0]))
    return Part(place, start, end, shared, length)


LEGAL = (
    "a chunk id, a passage's text, an (id, score) pair, or an object with id or text, and at will url, title and score"
)
SCORES = ("score", "similarity")
IDS, SOURCES = ("id", "stored_id"), ("source_id",)
"""Of an item, what may be the id of a passage, and what is the id of that which it was cut from."""
KNOWN = (How.ID, How.TEXT, How.OVERLAP, How.URL)
SHOWN = 5  # unknown passages that are named


@dataclass
class ItemReader:
    """Reads the lists of one system, finds the passages that are meant, and counts what had to be passed over.

    An item is known by its id, else by its text, whole or behind its title, else by the part of a passage that it shows
    (a `Piece`, which counts as one that was cut here), else by the id of what it was cut from. What is known by none of
    these keeps its rank and is counted in `unknown`: it was retrieved, and nobody can say what it is. A document counts
    once, at its first place.
    """

    passages: Passages
    duplicates: int = 0
    beyond_k: int = 0
    known: Counter[How] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)

    def hits(self, items: Any, k: int, wanted: Collection[str] = ()) -> list[Hit]:
        """The first k distinct hits of a list of items, of passages `by_id`, or of a mapping from id to score (equal
        scores keep its order).

        wanted: ids of the passages that are relevant: where an item shows several passages it is one of these, for it
        can have but one place. Raises RetrievalError for anything else.
        """
        if isinstance(items, Mapping) and (given := by_id(items)) is not None:
            items = given
        elif isinstance(items, Mapping):
            scored = [(name, _score(score)) for name, score in items.items()]
            items = sorted(scored, key=lambda pair: -pair[1])
        if isinstance(items, str | bytes | Set) or not isinstance(items, Iterable):
            got = "a set, which has no order" if isinstance(items, Set) else kind(items)
            raise RetrievalError(f"a list is expected (or {{id: score}}), each item {LEGAL}; got {got}")
        distinct: dict[str, Hit] = {}
        for item in items:
            hit, how = self._hit(item, wanted)
            if hit.chunk.id in distinct:
                self.duplicates += 1
            elif len(distinct) == k:
                self.beyond_k += 1
            else:
                distinct[hit.chunk.id] = hit
                self.known[how] += 1
                if how is How.UNKNOWN:
                    self.unknown[hit.chunk.id] += 1
        return list(distinct.values())

    def facts(self) -> dict[str, Any]:
        """Counts for the page; nothing of what is zero, nor of how items were known where all were by their ids."""
        facts = {
            "duplicates_dropped": self.duplicates,
            "dropped_beyond_k": self.beyond_k,
            **({f"known_by_{how}": self.known[how] for how in KNOWN} if self.known.keys() - {How.ID} else {}),
            **self._strangers(),
        }
        return {name: value for name, value in facts.items() if value}

    def _strangers(self) -> dict[str, Any]:
        """What is none of the data set's; without passages of its own all that was seen is the base."""
        if not self.passages.chunks:
            return {"passages_seen": len(self.unknown)}
        return {
            "unknown_ids": self.unknown.total(),
            "unknown_ids_first": [excerpt(name, 80) for name in sorted(self.unknown)[:SHOWN]],
        }

    def _hit(self, item: Any, wanted: Collection[str]) -> tuple[Hit, How]:
        if isinstance(item, Hit):
            return item, How.ID if item.chunk.passage in self.passages.by_id else How.UNKNOWN
        if isinstance(item, Chunk):
            return self._found([item.id], item.text, item.url, item.title, wanted, item)
        if not isinstance(item, bool) and isinstance(item, Integral) and abs(int(item)) < LARGEST_INTEGER:
            item = str(int(item))
        if isinstance(item, str):
            return self._found([item], item, item, None, wanted)
        if isinstance(item, Mapping):
            return self._of_mapping(item, wanted)
        if isinstance(item, tuple | list) and len(item) == 2:
            hit, how = self._hit(item[0], wanted)
            return replace(hit, similarity=_score(item[1])), how
        raise RetrievalError(f"an item must be {LEGAL}; got {_shown(item)}")

    def _of_mapping(self, item: Mapping[str, Any], wanted: Collection[str]) -> tuple[Hit, How]:
        if not {"id", "text"} & item.keys() and (named := passage_of(item)) is not None:
            item = {"id": named.id, "text": named.text, "score": named.score, "url": named.url, "title": named.title}
        name, text = item.get("id"), item.get("text")
        score = next((_score(item[key]) for key in SCORES if item.get(key) is not None), None)
        if (name is not None and not isinstance(name, str | int)) or isinstance(name, bool):
            raise RetrievalError(f"an id is text or a whole number; got {_shown(name)}")
        if isinstance(name, int) and abs(name) >= LARGEST_INTEGER:
            raise RetrievalError(f"an id is a whole number below {LARGEST_INTEGER}, or text; got a larger one")
        if name is None and not isinstance(text, str):
            raise RetrievalError(f"an item must be {LEGAL}; got {_shown(dict(item))}")
        url, title = (None if item.get(key) is None else str(item[key]) for key in ("url", "title"))
        names, sources = ([str(item[key]) for key in keys if item.get(key) is not None] for keys in (IDS, SOURCES))
        hit, how = self._found(names, str(text or ""), url, title, wanted, sources=sources)
        return replace(hit, similarity=score), how

    def _found(
        self,
        names: Sequence[str],
        text: str,
        url: str | None,
        title: str | None,
        wanted: Collection[str],
        own: Chunk | None = None,
        sources: Sequence[str] = (),
    ) -> tuple[Hit, How]:
        """own: as the passage is where it is unknown; made of the rest by default."""
        known = self.passages
        if chunk := known.named(names):
            return Hit(chunk), How.ID
        if chunk := known.with_text(text, url, title, wanted):
            return Hit(chunk), How.TEXT
        is_name = names == [text]  # it may be somebody else's id, though it stands in a passage
        piece = None if is_name and is_short(text) else known.shown_in(text, wanted)
        if piece := piece or (None if is_name else known.headed(text, wanted)):
            return Hit(piece), How.OVERLAP
        if chunk := known.named(sources):
            return Hit(chunk), How.ID
        if own is None:
            own = Chunk(names[0] if names else text, "" if is_name and not _is_prose(text) else text, url, title)
        if own.url in known.urls:
            return Hit(own), How.URL
        return Hit(own if own.url != own.id else replace(own, url=None)), How.UNKNOWN


def by_id(given: Mapping[Any, Any]) -> list[dict[str, Any]] | None:
    """The items of an object that has each, or its text, under its id; None for any other, as one whose members are
    called as those of a passage or of a reply are."""
    known = {name: passage_of(own) for name, own in given.items() if isinstance(own, str | Mapping)}
    items = [
        {**asdict(own), "id": name} for name, own in known.items() if own and own.text and len(own.text.split()) > 1
    ]
    is_other = any(field_of(name) or any(name in own for own in vars(PARTS).values()) for name in known)
    return items if items and len(items) == len(given) and not is_other else None


def _is_prose(text: str) -> bool:
    """Whether a text that may be an id is none: it has several words, or is long in a script that parts none."""
    return len(text.split()) > 1 or not (text.isascii() or is_short(text))


def _score(value: Any) -> float:
    if not isinstance(value, bool) and isinstance(value, Real):
        with suppress(OverflowError):
            if math.isfinite(number := float(value)):
                return number
    raise RetrievalError(f"a score is a number; got {_shown(value)}")


def _shown(value: object) -> str:
    return excerpt(repr(value), 80)
