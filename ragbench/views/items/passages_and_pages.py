"""Every passage and every page of the knowledge base: who needs it, who finds it, what else says the same."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from ragbench.tiers.retrieval.sources import ChunkRow, PageRow
from ragbench.views.basics.marks import MEASURES, PAGE, PASSAGE, page_id, rows_of
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean, shortened
from ragbench.views.items.contents import Detail, Entry, Items, Measured, Parting, Section, measuring, number, told

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
