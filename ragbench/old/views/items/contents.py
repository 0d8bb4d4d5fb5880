"""What a page's numbers are made of: questions, answers, turns, passages; and judged claims in their texts.

Items fill one kind of table (`ragbench.old.views.items`): one row an item, one column a system for the measure that
is chosen, and everything that is known of an item below.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

from ragbench.old.core.segmentation import spans
from ragbench.old.judge.words import FUNCTION_WORDS, stem, words
from ragbench.old.tiers.retrieval.sources import ChunkRow, PageRow
from ragbench.old.views.basics.marks import MEASURES, PAGE, PASSAGE, page_id, rows_of
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.side_tables import KINDS
from ragbench.old.views.basics.text import clean, shortened

SHARE = 0.6
"""The part of a claim's words that a sentence must have, for the claim to be marked there."""

SIGNS = {"rb-better": "✓", "rb-worse": "✕"}
UNDECIDED = "○"
_ORDER = ("rb-worse", "rb-not-shown", "rb-better")


class Claim(NamedTuple):
    """A statement and its verdict. verdict: in the page's language. kind: the verdict's class. judged: by which metric
    and judge. A verdict on a whole passage has no statement."""

    statement: str
    verdict: str
    kind: str
    judged: str

    @property
    def sign(self) -> str:
        """What stands for the verdict beside its colour."""
        return SIGNS.get(self.kind, UNDECIDED)

    @property
    def said(self) -> str:
        """Who says what, on one line."""
        return f"{self.judged}: {self.verdict}" + (f" — {self.statement}" if self.statement else "")


def claim(statement: str, verdict: str, verdict_word: str, judged: str) -> Claim:
    """A claim of a stored verdict and its word."""
    return Claim(" ".join(statement.split()), verdict_word, KINDS.get(verdict, "rb-not-shown"), judged)


class Sign(NamedTuple):
    """Claims with one verdict, at one sentence. kind: the verdict's class. said: who says what, a line a claim."""

    sign: str
    kind: str
    said: str


class Place(NamedTuple):
    """A sentence with the claims that stand in it. start, end: in characters; kind: the class of the worst verdict."""

    start: int
    end: int
    claims: tuple[Claim, ...]

    @property
    def kind(self) -> str:
        """Contradicted before undecided before supported."""
        return next(kind for kind in _ORDER if any(claim.kind == kind for claim in self.claims))

    @property
    def signs(self) -> list[Sign]:
        """A sign for each verdict, in the order of the first claim that has it; `✓ ×5` where five claims do."""
        told: dict[tuple[str, str], list[str]] = {}
        for claim in self.claims:
            told.setdefault((claim.sign, claim.kind), []).append(claim.said)
        joined = "\N{NO-BREAK SPACE}×"
        return [
            Sign(f"{sign}{joined}{len(said)}" if len(said) > 1 else sign, kind, "\n".join(said))
            for (sign, kind), said in told.items()
        ]


def placed(text: str, claims: Sequence[Claim]) -> tuple[list[Place], list[Claim]]:
    """The places of claims in a text, in its order, and the claims that stand nowhere in it.

    A claim stands in the sentence that has the greatest share of its content words by their stems, of equals in the one
    with the fewest other words, then in the first; it stands nowhere where that share is below SHARE. A claim of
    function words alone is found by these.
    """
    claims_at: dict[tuple[int, int], dict[Claim, None]] = {}
    left: dict[Claim, None] = {}
    sentences = _sentences(text) if claims else ()
    for claim in claims:
        wanted = _stems(claim.statement)
        best = max(
            ((len(wanted & own) / len(wanted), -len(own - wanted), -start, end) for start, end, own in sentences),
            default=(0.0, 0, 0, 0),
        ) if wanted else (0.0, 0, 0, 0)  # fmt: skip
        if best[0] >= SHARE:
            claims_at.setdefault((-best[2], best[3]), {})[claim] = None
        else:
            left[claim] = None
    return [Place(*where, tuple(claims_at[where])) for where in sorted(claims_at)], list(left)


def pieces(text: str, places: Sequence[Place]) -> Iterator[tuple[str, Place | None]]:
    """The whole text in order, in pieces, each with its place where claims stand in it."""
    done = 0
    for place in places:
        if place.start > done:
            yield text[done : place.start], None
        yield text[place.start : place.end], place
        done = place.end
    if done < len(text):
        yield text[done:], None


@lru_cache(maxsize=8192)
def _sentences(text: str) -> tuple[tuple[int, int, frozenset[str]], ...]:
    return tuple((start, end, _stems(text[start:end], whole=True)) for start, end in spans(text))


@lru_cache(maxsize=8192)
def _stems(text: str, *, whole: bool = False) -> frozenset[str]:
    """Stems of a text's content words, of all its words where it has no other; whole: of all."""
    said = words(text)
    content = said if whole else [word for word in said if word not in FUNCTION_WORDS]
    return frozenset(stem(word) for word in content or said)


APART = 0.25
"""The part of a measure's scale by which judges must differ, at the least, to be said to disagree."""

Numbers = Sequence[float | None]
Row = Mapping[Any, Any]


class Entry(NamedTuple):
    """One text of a list. meta: a line below it. row: the item that it leads to. shared: several items have it.

    mark: what was found of it, in a word. kind: the class of the mark. A list whose entries are marked is a ranking.
    gain: of a passage that was retrieved, its relevance as people graded it. claims: those that it decides.
    """

    text: str
    meta: str = ""
    row: int | None = None
    shared: bool = False
    mark: str = ""
    kind: str = ""
    gain: float | None = None
    claims: tuple[Claim, ...] = ()


class Claimed(NamedTuple):
    """An answer with the claims that judges found in it."""

    text: str
    claims: tuple[Claim, ...]


class Judged(NamedTuple):
    """What a judge said of an answer: its score in words, why, and its verdicts, each the mark of what it is on."""

    value: str
    said: str
    verdicts: Sequence[tuple[str, Sequence[Entry]]]


Section = tuple[str, str | Claimed | Sequence[Entry] | Judged]
"""A heading with a text (none if it is empty), with a text of claims, with a list of texts, or over a judgement."""


@dataclass(frozen=True)
class Measured:
    """A measure of single items.

    key: its name in addresses; name: for people. values: by system, one an item, None where there is none. words: of a
    measure that is a kind and no number, whose values are places among these words, the worst first. paired: whether
    two systems can be compared by it. of: the measures of the page whose numbers are made of these values. missing:
    items that could not be measured, by system and status. judged: whether judges gave it. apart: by system the items
    on which the judges of a panel differ by more than APART of its scale, with what each said.
    """

    key: str
    name: str
    values: Mapping[str, Numbers]
    digits: int = 3
    lower: bool = False
    words: Sequence[str] = ()
    paired: bool = True
    of: Sequence[str] = ()
    missing: Mapping[str, Mapping[str, Sequence[int]]] = field(default_factory=dict)
    judged: bool = False
    apart: Mapping[str, Mapping[int, str]] = field(default_factory=dict)

    @property
    def known(self) -> bool:
        """Whether it was measured of any item."""
        return any(value is not None for values in self.values.values() for value in values)


@dataclass(frozen=True)
class Parting:
    """A way to part the items. values: of each item, None where it has none; words: what values are called."""

    key: str
    name: str
    values: Sequence[str | None]
    words: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Detail:
    """What is known of one item: of the item itself, and of it for each system. title: in place of its text."""

    title: str = ""
    sections: Sequence[Section] = ()
    sides: Mapping[str, Sequence[Section]] = field(default_factory=dict)


@dataclass(frozen=True)
class Items:
    """All items of a page, in the order in which they are first listed.

    title: the heading. read: everything about the item at a place. kind: what the items are, by which their table
    chooses its words; empty for questions. sort: how they are sorted at first, "order" or "worst". first: the key of
    the measure that is shown at first, where that is not the first. held: texts below the items, where they are more
    than the items. listed: whether what is known of each system is short enough for a list. empty: what is said where
    there is no item.
    """

    title: str
    ids: Sequence[str]
    texts: Sequence[str]
    measures: Sequence[Measured]
    partings: Sequence[Parting]
    read: Callable[[int], Detail]
    kind: str = ""
    sort: str = "worst"
    first: str = ""
    held: int = 0
    listed: bool = True
    empty: str = ""

    @property
    def chosen(self) -> Measured:
        """The measure that is shown at first."""
        return next((measure for measure in self.measures if measure.key == self.first), self.measures[0])


def measuring(systems: Sequence[str], items: Sequence[Any]) -> Callable[..., Measured]:
    """What makes a measure of its key, its name and the value that an item has for a system."""

    def measured(key: str, name: str, value: Callable[[Any, str], float | None], **more: Any) -> Measured:
        return Measured(key, name, {system: [value(entry, system) for entry in items] for system in systems}, **more)

    return measured


def told(*sections: Section) -> list[Section]:
    """The sections that have something below their heading."""
    return [(lead, body) for lead, body in sections if body]


def number(value: float | None) -> float | None:
    """A finite number, else None."""
    return None if value is None or not math.isfinite(value) else float(value)


UNREACHED, MISSED, IDLE, UNNEEDED, FOUND = range(5)
"""What can be found of a source, the worst first."""

LISTED = 30  # questions, or passages, of one source that are named
LINE, TITLE = 300, 90


class _Sources:
    """All sources by their id: passages in the data set's order, then pages by their address."""

    def __init__(self, material: Material) -> None:
        self.material, self.text = material, material.text
        self.chunks = {row["chunk"]: row for row in rows_of(ChunkRow, material.kept("chunks"))}
        self.pages: dict[str, list[str]] = {}
        for name, row in self.chunks.items():
            if url := clean(row["url"]):
                self.pages.setdefault(url, []).append(name)
        self.ids = [*(f"{PASSAGE}.{name}" for name in self.chunks), *(f"{PAGE}.{url}" for url in sorted(self.pages))]
        self.place = {name: place for place, name in enumerate(self.ids)}
        self._excess = {
            (row["system"], page_id(row["page"])): number(row["excess"])
            for row in rows_of(PageRow, material.kept("pages"))
        }

    @cached_property
    def found(self) -> dict[str, dict[str, dict[str, int]]]:
        """By system and source the best rank with which each question found it."""
        table = self.material.measurement.retrieved
        columns = (table[name].to_numpy(dtype=object).tolist() for name in ("system", "sample", "rank", "chunk"))
        made: dict[str, dict[str, dict[str, int]]] = {name: {} for name in self.material.systems}
        for system, sample, rank, chunk in zip(*columns, strict=True):
            if system not in made or str(chunk) not in self.chunks:
                continue
            for name in self._sources_of(str(chunk)):
                ranks = made[system].setdefault(name, {})
                ranks[str(sample)] = min(int(rank), ranks.get(str(sample), int(rank)))
        return made

    @cached_property
    def _needed(self) -> dict[str, list[str]]:
        made: dict[str, list[str]] = {}
        for sample, row in self.material.question_rows.items():
            for name in dict.fromkeys(source for chunk in row["relevant"] for source in self._sources_of(str(chunk))):
                made.setdefault(name, []).append(sample)
        return made

    def _sources_of(self, chunk: str) -> Iterable[str]:
        yield f"{PASSAGE}.{chunk}"
        if chunk in self.chunks and (url := clean(self.chunks[chunk]["url"])):
            yield f"{PAGE}.{url}"

    @cached_property
    def twins(self) -> dict[str, list[str]]:
        """Passages by their words, whatever their case and spaces; only those that stand in several places."""
        made: dict[str, list[str]] = {}
        for name, row in self.chunks.items():
            made.setdefault(_plain(row["text"]), []).append(name)
        return {text: names for text, names in made.items() if len(names) > 1 and text}

    def needed(self, name: str) -> Sequence[str]:
        """The questions that are labelled with a source."""
        return self._needed.get(name, ())

    def ranks(self, name: str, system: str) -> Mapping[str, int]:
        """The questions for which the system retrieves a source, each with the best rank."""
        return self.found[system].get(name, {})

    def missed(self, name: str, system: str) -> list[str]:
        """The questions that need a source and do not find it."""
        ranks = self.ranks(name, system)
        return [sample for sample in self.needed(name) if sample not in ranks]

    def kind(self, name: str, system: str) -> int:
        """What is found of a source for a system; where no question is labelled, only whether it is retrieved."""
        ranks = self.ranks(name, system)
        if self.needed(name):
            return UNREACHED if not ranks else MISSED if self.missed(name, system) else FOUND
        return IDLE if not ranks else UNNEEDED if self._needed else FOUND

    def excess(self, name: str, system: str) -> float | None:
        """How many times its share of the retrieved places a page takes; None for a passage."""
        return self._excess.get((system, name))

    @cached_property
    def findings(self) -> list[str]:
        """What can be found of a source, in words."""
        _ = self.text
        return [
            _("needed, never retrieved"),
            _("needed, missed by some"),
            _("never retrieved"),
            _("retrieved, never needed"),
            _("found by all who need it") if self._needed else _("retrieved"),
        ]

    def measures(self) -> list[Measured]:
        """What is counted of a source for every system; those that are known of any."""
        _, measured = self.text, measuring(self.material.systems, self.ids)

        def missed(name: str, system: str) -> float | None:
            return len(self.missed(name, system)) if self.needed(name) else None

        def retrieved(name: str, system: str) -> float:
            return len(self.ranks(name, system))

        def needed(name: str, _system: str) -> float:
            return len(self.needed(name))

        made = [
            measured("finding", _("finding"), self.kind, digits=0, words=self.findings, of=MEASURES["sources"]),
            measured("missed", _("questions that need it and miss it"), missed, digits=0, lower=True),
            measured("retrieved", _("questions that retrieve it"), retrieved, digits=0, paired=False),
            measured("needed", _("questions that need it"), needed, digits=0, paired=False),
            measured("excess", _("times its share of the places"), self.excess, digits=1, lower=True, paired=False),
        ]
        return [measure for measure in made if measure.known]

    def partings(self) -> list[Parting]:
        """Whether it is a passage or a page; whether a passage's text stands in several places."""
        _, pages = self.text, len(self.pages)
        copies = {name for names in self.twins.values() for name in names}
        own = ["yes" if name in copies else "no" for name in self.chunks]
        what = {PASSAGE: _("passage"), PAGE: _("page")}
        words = {"yes": _("stands in several places"), "no": _("stands once")}
        return [
            Parting("what", _("what it is"), [*[PASSAGE] * len(self.chunks), *[PAGE] * pages], what),
            Parting("copies", _("its text"), [*own, *[None] * pages], words),
        ]

    def texts(self) -> list[str]:
        """The words of every passage, and every page's title and address."""
        pages = []
        for url in sorted(self.pages):
            titles = (clean(self.chunks[name]["title"]) for name in self.pages[url])
            pages.append("\n".join(filter(None, (next(filter(None, titles), ""), url))))
        return [*(clean(row["text"]) for row in self.chunks.values()), *pages]

    def read(self, place: int) -> Detail:
        """A passage or a page, and for each system what is found of it."""
        kind, _, name = self.ids[place].partition(".")
        title, sections = self._passage(name) if kind == PASSAGE else ("", self._page(name))
        return Detail(title, sections, {system: self._side(place, system) for system in self.material.systems})

    def _passage(self, name: str) -> tuple[str, list[Section]]:
        _, row = self.text, self.chunks[name]
        url = clean(row["url"])
        stands = " · ".join(filter(None, (clean(row["title"]), clean(row["section"]), url)))
        twins = [other for other in self.twins.get(_plain(row["text"]), ()) if other != name]
        sections = told(
            (_("Its page"), [Entry(stands, _("the page"), self.place[page_id(url)])] if url else ""),
            (
                _("The same text stands in"),
                self._linked(twins, lambda chunk: clean(chunk["url"]) or clean(chunk["chunk"])),
            ),
        )
        return shortened(row["text"], TITLE) or name, [(_("Passage"), clean(row["text"])), *sections]

    def _page(self, url: str) -> list[Section]:
        names = self.pages[url]
        title = self.text.plural("Its {n} passage", "Its {n} passages", len(names))
        return [(title, self._linked(names, lambda chunk: shortened(chunk["text"], LINE)))]

    def _linked(self, names: Sequence[str], text: Any) -> list[Entry]:
        return [Entry(text(self.chunks[name]), clean(name), self.place[f"{PASSAGE}.{name}"]) for name in names[:LISTED]]

    def _side(self, place: int, system: str) -> list[Section]:
        """What is found of a source, who misses it, and who retrieves it, needed or not."""
        _, name = self.text, self.ids[place]
        excess, missed, ranks = self.excess(name, system), self.missed(name, system), self.ranks(name, system)
        misses = _.plural("{n} question needs it and misses it", "{n} questions need it and miss it", len(missed))
        retrieve = _.plural("{n} question retrieves it", "{n} questions retrieve it", len(ranks))
        return told(
            (_("finding"), self.findings[self.kind(name, system)]),
            (_("times its share of the places"), "" if excess is None else f"×{_.number(excess, 1)}"),
            (misses, self._questions(dict.fromkeys(missed, 0), name)),
            (retrieve, self._questions(ranks, name)),
        )

    def _questions(self, ranks: Mapping[str, int], name: str) -> list[Entry]:
        """The first of these questions, those that need the source before the others, each with its rank."""
        _, rows, wanting = self.text, self.material.question_rows, set(self.needed(name))
        order = sorted(ranks, key=lambda sample: (sample not in wanting, ranks[sample]))
        listed = []
        for sample in order[:LISTED]:
            rank = _("rank {rank}", rank=ranks[sample]) if ranks[sample] else ""
            need = _("needs it") if sample in wanting else _("does not need it")
            text = clean(rows[sample]["text"]) if sample in rows else ""
            listed.append(Entry(text or sample, " · ".join(filter(None, (clean(sample), rank, need))), shared=True))
        left = len(order) - len(listed)
        if left:
            more = _.plural("{n} more is in the tables of this run.", "{n} more are in the tables of this run.", left)
            listed.append(Entry(more))
        return listed


def _plain(text: Any) -> str:
    return " ".join(clean(text).casefold().split())


def items(material: Material) -> Items:
    """Passages and pages, those first that somebody needs and nobody finds."""
    _, sources = material.text, _Sources(material)
    return Items(
        title=_("Every passage and every page"),
        kind="sources",
        ids=sources.ids,
        texts=sources.texts(),
        measures=sources.measures(),
        partings=sources.partings(),
        read=sources.read,
    )
