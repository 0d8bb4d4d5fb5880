"""Every passage and every page of the knowledge base: who needs it, who finds it, what else says the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

from ragbench.show.basics.entries import rows_of
from ragbench.show.basics.material import Material
from ragbench.show.basics.text import clean, shortened
from ragbench.show.items.contents import Detail, Entry, Items, Measured, Parting, Section, number, with_values

MEASURES = ("utilization_rate", "total_chunks", "used_chunks", "unused_chunks")
PASSAGE, PAGE = "passage", "page"
UNREACHED, MISSED, IDLE, UNNEEDED, FOUND = range(5)
"""What can be found of a source, the worst first."""

LISTED = 30  # questions, or passages, of one source that are named
LINE, TITLE = 300, 90
Row = Mapping[Any, Any]
Found = Mapping[str, int]


class _Sources:
    """All sources by their place: passages in the data set's order, then pages by their address."""

    def __init__(self, material: Material) -> None:
        self.material = material
        self.chunks = {str(row["chunk"]): row for row in rows_of(material.kept("chunks"))}
        self.pages: dict[str, list[str]] = {}
        for name, row in self.chunks.items():
            if url := clean(row["url"]):
                self.pages.setdefault(url, []).append(name)
        self.names = [*self.chunks, *sorted(self.pages)]
        self.ids = [*(f"{PASSAGE}.{name}" for name in self.chunks), *(f"{PAGE}.{name}" for name in sorted(self.pages))]
        self.place = {name: place for place, name in enumerate(self.ids)}
        self.excess = {
            (str(row["system"]), clean(row["page"])): number(row["excess"]) for row in rows_of(material.kept("pages"))
        }

    @property
    def first_page(self) -> int:
        return len(self.chunks)

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
    def needed(self) -> dict[str, list[str]]:
        """The questions that are labelled with a source."""
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

    def kind(self, name: str, system: str) -> int:
        """What is found of a source for a system; where no question is labelled, only whether it is retrieved."""
        needed, found = self.needed.get(name, ()), self.found[system].get(name, {})
        if needed:
            return UNREACHED if not found else MISSED if any(sample not in found for sample in needed) else FOUND
        return IDLE if not found else UNNEEDED if self.needed else FOUND


def page_id(url: str) -> str:
    """The id of a page's row."""
    return f"{PAGE}.{clean(url)}"


def _plain(text: Any) -> str:
    return " ".join(clean(text).casefold().split())


def items(material: Material) -> Items:
    """Passages and pages, those first that somebody needs and nobody finds."""
    _ = material.text
    found = _Sources(material)
    return Items(
        title=_("Every passage and every page"),
        words={
            "search": _("Search passages and pages"),
            "question": _("passage or page"),
            "count": _("{shown} of {all} passages and pages"),
            "nothing": _("No passage or page fits."),
            "grid": _("Passages and pages; arrow keys move, Enter opens"),
        },
        ids=found.ids,
        texts=[
            *(clean(row["text"]) for row in found.chunks.values()),
            *(_page_name(found, url) for url in found.names[found.first_page :]),
        ],
        measures=_measures(found),
        partings=_partings(found),
        read=lambda place: _passage(found, place) if place < found.first_page else _page(found, place),
        sort="worst",
    )


def _page_name(found: _Sources, url: str) -> str:
    titles = (clean(found.chunks[name]["title"]) for name in found.pages[url])
    title = next((title for title in titles if title), "")
    return f"{title}\n{url}" if title else url


def _findings(found: _Sources) -> list[str]:
    """What can be found of a source, in words."""
    _ = found.material.text
    return [
        _("needed, never retrieved"),
        _("needed, missed by some"),
        _("never retrieved"),
        _("retrieved, never needed"),
        _("found by all who need it") if found.needed else _("retrieved"),
    ]


def _measures(found: _Sources) -> list[Measured]:
    _, ids, systems = found.material.text, found.ids, found.material.systems

    def column(value: Any) -> dict[str, list[float | None]]:
        return {system: [value(name, system) for name in ids] for system in systems}

    def missed(name: str, system: str) -> float | None:
        needed, ranks = found.needed.get(name, ()), found.found[system].get(name, {})
        return float(sum(sample not in ranks for sample in needed)) if needed else None

    made = [
        Measured("finding", _("finding"), column(lambda name, s: float(found.kind(name, s))), digits=0,
                 words=_findings(found), of=MEASURES),
        Measured("missed", _("questions that need it and miss it"), column(missed), digits=0, lower=True),
        Measured("retrieved", _("questions that retrieve it"),
                 column(lambda name, s: float(len(found.found[s].get(name, {})))), digits=0, paired=False),
        Measured("needed", _("questions that need it"), column(lambda name, s: float(len(found.needed.get(name, ())))),
                 digits=0, paired=False),
        Measured("excess", _("times its share of the places"),
                 column(lambda name, s: _excess(found, name, s)),
                 digits=1, lower=True, paired=False),
    ]  # fmt: skip
    return with_values(made)


def _excess(found: _Sources, name: str, system: str) -> float | None:
    kind, _, address = name.partition(".")
    return found.excess.get((system, address)) if kind == PAGE else None


def _partings(found: _Sources) -> list[Parting]:
    _ = found.material.text
    pages = len(found.ids) - found.first_page
    copies = {name for names in found.twins.values() for name in names}
    words = {"yes": _("stands in several places"), "no": _("stands once")}
    own = ["yes" if name in copies else "no" for name in found.chunks]
    return [
        Parting("what", _("what it is"), [*[PASSAGE] * found.first_page, *[PAGE] * pages],
                {PASSAGE: _("passage"), PAGE: _("page")}),
        Parting("copies", _("its text"), [*own, *[None] * pages], words),
    ]  # fmt: skip


def _passage(found: _Sources, place: int) -> Detail:
    _, name = found.material.text, found.names[place]
    row = found.chunks[name]
    sections: list[Section] = [(_("Passage"), clean(row["text"]))]
    url = clean(row["url"])
    stands = " · ".join(filter(None, (clean(row["title"]), clean(row["section"]), url)))
    if url:
        sections.append((_("Its page"), [Entry(stands, _("the page"), found.place[f"{PAGE}.{url}"])]))
    twins = [other for other in found.twins.get(_plain(row["text"]), ()) if other != name]
    if twins:
        sections.append((_("The same text stands in"), _linked(found, PASSAGE, twins)))
    return Detail(shortened(row["text"], TITLE) or name, sections, _sides(found, found.ids[place]))


def _page(found: _Sources, place: int) -> Detail:
    _, url = found.material.text, found.names[place]
    listed = [
        Entry(shortened(found.chunks[name]["text"], LINE), clean(name), found.place[f"{PASSAGE}.{name}"])
        for name in found.pages[url][:LISTED]
    ]
    title = _.plural("Its {n} passage", "Its {n} passages", len(found.pages[url]))
    return Detail("", [(title, listed)], _sides(found, found.ids[place]))


def _linked(found: _Sources, kind: str, names: Sequence[str]) -> list[Entry]:
    rows = [(name, found.place[f"{kind}.{name}"]) for name in names[:LISTED]]
    return [Entry(clean(found.chunks[name]["url"]) or clean(name), clean(name), row) for name, row in rows]


def _sides(found: _Sources, name: str) -> dict[str, list[Section]]:
    """For each system what is found of a source, who misses it, and who retrieves it, needed or not."""
    _ = found.material.text
    needed, made = found.needed.get(name, []), {}
    for system in found.material.systems:
        ranks = found.found[system].get(name, {})
        said: list[Section] = [(_("finding"), _findings(found)[found.kind(name, system)])]
        excess = _excess(found, name, system)
        if excess is not None:
            said.append((_("times its share of the places"), f"×{_.number(excess, 1)}"))
        missed = [sample for sample in needed if sample not in ranks]
        if missed:
            title = _.plural("{n} question needs it and misses it", "{n} questions need it and miss it", len(missed))
            said.append((title, _questions(found, dict.fromkeys(missed, 0), needed)))
        if ranks:
            title = _.plural("{n} question retrieves it", "{n} questions retrieve it", len(ranks))
            said.append((title, _questions(found, ranks, needed)))
        made[system] = said
    return made


def _questions(found: _Sources, ranks: Found, needed: Sequence[str]) -> list[Entry]:
    """The first of these questions, those that need it before the others, each with the rank at which it stands."""
    _, rows, wanting = found.material.text, found.material.question_rows, Counter(needed)
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
