"""The overview of a run: a row a system, and the number that each page answers with, its band and its way down."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import quote

from ragbench.core import stand_ins
from ragbench.core.counts import counted
from ragbench.core.language import DASH, Translator
from ragbench.core.parts import Column, Content, Lines, Link, Phrase, Styled, Table, Text, Value, joined, small
from ragbench.core.types import Comparison, Estimate
from ragbench.tiers.basics.verdicts import exact
from ragbench.views.basics import bands
from ragbench.views.basics.links import metric_name, row_anchor
from ragbench.views.basics.marks import chip, named
from ragbench.views.basics.material import Material, digits_of
from ragbench.views.basics.text import shown
from ragbench.views.sentences.facts import standing_in
from ragbench.views.view import view

Facts = Mapping[str, Any]
TIMES = 3
"""Of so many systems each time is said; of more the least and the greatest."""
Numbers = Mapping[str, Estimate]
"""Estimates of a metric by system."""


class Overview:
    """The findings of a run, laid out: pages in their order, and the numbers of each by metric and system."""

    def __init__(self, material: Material) -> None:
        self.material = material
        self.text = material.text
        self.pages: tuple[Facts, ...] = tuple(material.facts.get("pages", ()))

    @cached_property
    def numbers(self) -> dict[str, dict[str, dict[str, Estimate]]]:
        """Estimates by page, metric and system."""
        by_page: dict[str, dict[str, dict[str, Estimate]]] = {}
        for estimate in self.material.measurement.estimates_by("page"):
            by_page.setdefault(str(estimate.where["page"]), {}).setdefault(estimate.metric, {})[estimate.system] = (
                estimate.estimate
            )
        return by_page

    def own(self, page: Facts, metric: str) -> Numbers:
        """The estimates of a page's metric by system."""
        return self.numbers[str(page["name"])][metric]

    def digits(self, page: Facts, metric: str) -> int:
        """How many decimals show them."""
        return digits_of((x for e in self.own(page, metric).values() for x in (e.value, e.low, e.high)), metric)

    def comparison(self, page: Facts, system: str, metric: str) -> Comparison | None:
        """The comparison of a system with the page's baseline."""
        return self.material.comparison(system, metric, page=str(page["name"]))

    def judged_by(self, page: Facts, metric: str) -> str:
        """The offline judge that alone judged the metric, in words that stand beside a verdict; else empty."""
        return stand_ins.judged_by((page.get("judged_alone") or {}).get(metric), self.text)

    def metric(self, page: Facts) -> str | None:
        """The metric that stands for a page: the one that its answer speaks of; None for a page without numbers."""
        there = self.numbers.get(str(page["name"]), {})
        primary = page.get("primary")
        return primary if primary in there else next(iter(there), None)

    def title(self, page: Facts) -> tuple[str, str]:
        """What stands above a page's title, and the title, in the reader's language."""
        heading = self.text.blocks(str(page.get("heading") or "")).removeprefix("# ")
        over, dot, rest = heading.partition(" · ")
        return (over, rest) if dot else ("", heading or str(page["name"]))

    def short(self, page: Facts) -> str:
        """`Tier 1`, or the page's title where nothing stands above it."""
        over, title = self.title(page)
        return over or title

    def groups(self) -> list[list[Facts]]:
        """Pages with numbers that share a system stand together; a page of other systems, such as judges, begins its
        own group. The largest group is the first."""
        groups: list[tuple[set[str], list[Facts]]] = []
        for page in self.pages:
            own = set(page.get("systems", ()))
            place = next((group for group in groups if group[0] & own), None)
            if place is None:
                place = (set(), [])
                groups.append(place)
            place[0].update(own)
            place[1].append(page)
        return sorted((group for systems, group in groups if systems), key=len, reverse=True)


@view("overview")
def overview(material: Material, present: frozenset[str]) -> Content:
    """A row a system: what each page answers with, with interval, band and verdict, leading to the page."""
    summary = Overview(material)
    if not summary.pages:
        return Text(material.text("Nothing was measured."))
    return ([_table(summary, group, present) for group in summary.groups()], _legend(summary))


def _systems(pages: Sequence[Facts]) -> list[str]:
    ordered = sorted(pages, key=lambda page: page.get("baseline") is None)
    return list(dict.fromkeys(str(name) for page in ordered for name in page.get("systems", ())))


def _table(overview: Overview, pages: Sequence[Facts], present: frozenset[str]) -> Content:
    _ = overview.text
    baselines = {page.get("baseline") for page in pages}
    columns = [(page, metric) for page in pages if (metric := overview.metric(page)) is not None]
    heads = [Column(_("system"))]
    heads += [
        Column(
            _head(overview, page, metric, present), "interval", look="rb-cell", head="rb-name",
            label=f"{overview.short(page)} · {metric}",
        )
        for page, metric in columns
    ]  # fmt: skip
    rows = []
    for name in _systems(pages):
        note = small(_("baseline") if name in baselines else "")
        cells = [_cell(overview, page, metric, name) for page, metric in columns]
        rows.append(((named(overview.material, name), note), *cells))
    of = ", ".join(overview.short(page) for page, _metric in columns)  # a run's pages may need several such tables
    title = f"{_('Systems, and what each page answers with')}: {of}"
    return Table(tuple(heads), tuple(rows), title, language=_.language, look="rb-overview")


def _head(overview: Overview, page: Facts, metric: str, present: frozenset[str]) -> Phrase:
    own = overview.own(page, metric)
    against = [c for name in own if (c := overview.comparison(page, name, metric)) is not None]
    lower = bands.direction(overview.material, metric, against) == "lower"
    name = metric_name(overview.material, present, metric)
    more = (name, ", " + overview.text("lower is better") if lower else "")
    return Lines((Link(shown(overview.short(page)), href(page)), Styled(more, "small")))


def _cell(overview: Overview, page: Facts, metric: str, system: str) -> Phrase:
    """A number that leads to its page, its band and its verdict."""
    _, e = overview.text, overview.own(page, metric).get(system)
    if e is None:
        return Styled(DASH, look="rb-quiet")
    digits = overview.digits(page, metric)
    number: Phrase = Value.of(e, digits, bare=True) if math.isfinite(e.value) else _("not measured")
    c = overview.comparison(page, system, metric)
    marked = bands.marked(overview.material, bands.reached(overview.material, metric, e, system, page))
    by = overview.judged_by(page, metric) if c else ""
    words = [part for part in (exact(e, _), marked, chip(overview.material, c) if c else "", by) if part]
    address = f"{href(page)}#{row_anchor(metric, bool(page.get('describes')))}"
    under = (" ", Styled(joined(" · ", words), look="rb-words")) if words else ""
    return (Link(number, address), small(counted(e, _, digits)), under)


def measured(overview: Overview, page: Facts) -> list[str]:
    """Questions, time and cost of a page."""
    _ = overview.text
    said: list[str] = []
    if page.get("n_questions") is not None:
        said.append(_.plural("{n} question", "{n} questions", int(page["n_questions"])))
    elif page.get("n_texts") is not None:
        said.append(_.plural("{n} text", "{n} texts", int(page["n_texts"])))
    times = page.get("milliseconds") or {}
    if times:
        of = [times[name] for name in page["systems"] if name in times]
        ends = [_.number(ms, 1 if ms < 100 else 0) for ms in (of if len(of) <= TIMES else (min(of), max(of)))]
        said.append(_("median time {times} ms", times=(" / " if len(of) <= TIMES else " … ").join(ends)))
    if page.get("judging_seconds"):
        said.append(_("judges took {seconds} s", seconds=_.number(page["judging_seconds"], 1)))
    spent = page.get("spent") or {}
    if spent:
        said.append(cost(spent, _))
        said.append(_.plural("{n} call", "{n} calls", int(spent.get("calls") or 0)))
    elif page.get("systems"):
        said.append(_("no paid call"))
    return said


def cost(spent: Mapping[str, Any], _: Translator) -> str:
    """What calls of models cost; that it is unknown where no price is set."""
    money, calls, unpriced = (spent.get(key) or 0 for key in ("money", "calls", "unpriced"))
    if unpriced and unpriced == calls:
        return _("cost unknown: no price is set")
    said = _("cost {money}", money=_.number(float(money), 2))
    if not unpriced:
        return said
    without = _.plural("{n} call has no price", "{n} calls have no price", int(unpriced))
    return _("{cost} at least, {without}", cost=said, without=without)


def href(page: Facts) -> str:
    """The address of a page from beside it."""
    return f"{quote(str(page['name']))}.html"


def _legend(overview: Overview) -> Content:
    name = str(overview.material.facts.get("threshold_set", ""))
    verdicts = overview.text("Verdicts come from the page's own corrected comparisons with the baseline.")
    signed = {
        label: text
        for page in overview.pages
        for label, text in (page.get("signatures") or {}).items()
        if label == overview.metric(page)
    }
    return (
        Text(shown(f"{bands.stated(overview.material, name)} {verdicts}"), "rb-meta"),
        bands.signatures(overview.material, signed),
        standing_in(overview.material),
    )


@view("limits")
def limits(material: Material, present: frozenset[str]) -> Content:
    """The thresholds that the numbers were held to."""
    _ = material.text
    there = {estimate.metric for estimate in material.measurement.estimates_by("page")}
    known = {metric: band for metric, band in bands.of(material).items() if metric in there}
    if not known:
        return Text(_("No number on these pages has a threshold."))
    rows = [[metric_name(material, present, metric), *bands.limits(_, known[metric])] for metric in sorted(known)]
    return Table.of(_, _("Thresholds"), [_("metric"), _("good"), _("excellent")], rows)
