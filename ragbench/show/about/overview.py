"""The overview of a run on one screen: pages down, systems across, each number with its band, verdict and way down."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from ragbench import raised
from ragbench.bench.basics import reasons
from ragbench.counts import counted
from ragbench.language import DASH
from ragbench.show.about.summary import leading
from ragbench.show.basics.links import metric_name, row_anchor
from ragbench.show.basics.marks import chip, small, spread
from ragbench.show.basics.material import Material, digits_of
from ragbench.show.basics.templates import html
from ragbench.show.basics.text import shown
from ragbench.show.blame.parts import Blamed
from ragbench.show.comparison import bands
from ragbench.show.comparison.headline import standing_in
from ragbench.show.view import view
from ragbench.types import Comparison, Estimate, Verdict

Facts = Mapping[str, Any]
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
        found: dict[str, dict[str, dict[str, Estimate]]] = {}
        for one in self.material.measurement.estimates_by("page"):
            found.setdefault(str(one.where["page"]), {}).setdefault(one.metric, {})[one.system] = one.estimate
        return found

    def comparison(self, page: Facts, system: str, metric: str) -> Comparison | None:
        """The comparison of a system with the page's baseline."""
        return self.material.comparison(system, metric, page=str(page["name"]))

    def metrics(self, page: Facts, most: int) -> list[str]:
        """The few metrics that stand for a page: its leading ones, those with a threshold before the others."""
        there = self.numbers.get(str(page["name"]), {})
        primary = page.get("primary")
        named = leading(list(there), primary if primary in there else next(iter(there), None), page.get("key_metrics"))
        with_bands = [
            metric for metric in there if any(bands.reached(self.material, metric, e) for e in there[metric].values())
        ]
        return list(dict.fromkeys([*named[:1], *with_bands, *named]))[:most]

    def title(self, page: Facts) -> tuple[str, str]:
        """What stands above a page's title, and the title, in the reader's language."""
        heading = self.text.blocks(str(page.get("heading") or "")).removeprefix("# ")
        over, dot, rest = heading.partition(" · ")
        return (over, rest) if dot else ("", heading or str(page["name"]))

    def short(self, page: Facts) -> str:
        """`Tier 1`, or the page's title where nothing stands above it."""
        over, title = self.title(page)
        return over or title


@view("overview")
def overview(material: Material, present: frozenset[str], most: int = 4) -> Markup:
    """Pages down, systems across: values with interval, band and verdict, each leading to its page.

    most: how many metrics stand for a page, those with a threshold and the leading ones first.
    """
    found = Overview(material)
    if not found.pages:
        return html.p(material.text("Nothing was measured."))
    return html.all(*(_table(found, group, most, present) for group in _groups(found.pages)), _legend(found, most))


@view("standing")
def standing(material: Material, present: frozenset[str]) -> Markup:
    """Is it good, is it better: what all pages of the run add up to, in a sentence each."""
    found = Overview(material)
    failed = raised.sentences((one for page in found.pages for one in raised.of(page)), found.text)
    return html.div(html.all(*map(html.p, [*answers(found), *(f"{text}." for text in failed)])), "rb-says")


def answers(found: Overview) -> list[str | Markup]:
    """What the pages add up to: is it good, is it better, which part is to blame, what could not be measured."""
    return [_good(found), *_better(found), *_blamed(found), *_missing(found)]


def _good(found: Overview) -> str:
    """How many numbers lie wholly in which band of the threshold set."""
    _ = found.text
    every = found.material.measurement.estimates_by("page")
    reached = [words for one in every if (words := bands.reached(found.material, one.metric, one.estimate))]
    if not reached:
        return _("No number on these pages has a threshold.")
    whole = [words[0] for words in reached if len(words) == 1]
    named = {
        "excellent": _("{n} excellent", n=_.integer(whole.count("excellent"))),
        "good": _("{n} good", n=_.integer(whole.count("good"))),
        "attention": _("{n} in need of attention", n=_.integer(whole.count("attention"))),
    }
    parts = [text for word, text in named.items() if word in whole]
    if len(whole) < len(reached):
        parts.append(_("{n} between bands", n=_.integer(len(reached) - len(whole))))
    lead = _.plural("Of {n} number with a threshold:", "Of {n} numbers with a threshold:", len(reached))
    return f"{lead} {', '.join(parts)}."


def _better(found: Overview) -> list[Markup]:
    """For each challenger, what its leading metric earned on each page that compares."""
    said: dict[tuple[str, str], dict[Verdict, list[str]]] = {}
    for page in found.pages:
        primary = str(page.get("primary"))
        for system in found.numbers.get(str(page["name"]), {}).get(primary, {}):
            if c := found.comparison(page, system, primary):
                words = said.setdefault((system, str(page.get("baseline"))), {})
                words.setdefault(c.verdict, []).append(f"{found.short(page)}: {primary}")
    return [_compared(found, system, baseline, words) for (system, baseline), words in said.items()]


def _compared(found: Overview, system: str, baseline: str, words: Mapping[Verdict, Sequence[str]]) -> Markup:
    parts = [
        html.all(found.material.verdict(verdict), f" ({'; '.join(words[verdict])})")
        for verdict in Verdict
        if verdict in words
    ]
    return found.text.html(
        "<b>{system}</b> against {baseline}: {verdicts}.",
        system=shown(system),
        baseline=shown(baseline),
        verdicts=Markup(", ").join(parts),
    )


def _blamed(found: Overview) -> list[Markup]:
    """For each system the part that fails first most often, where a page has told it."""
    _ = found.text
    said = []
    for page in found.pages:
        for system, row in (page.get("blamed") or {}).items():
            ends = (math.nan if row[key] is None else float(row[key]) for key in ("low", "high"))
            low, high = (_.percent(end) if math.isfinite(end) else DASH for end in ends)
            text = _.html(
                "Most to blame in <b>{system}</b> ({page}): {part}, {share} of the questions {interval}.",
                system=shown(system),
                page=shown(found.short(page)),
                part=shown(Blamed(found.material).name(row["part"])),
                share=_.percent(row["share"]),
                interval=_.ends(low, high),
            )
            said.append(text)
    return said


def _missing(found: Overview) -> list[str]:
    """How much could not be measured, where anything could not."""
    _ = found.text
    missing = sum(int(page.get("unmeasured") or 0) for page in found.pages)
    wanted = sum(int(page.get("wanted") or 0) for page in found.pages)
    said: list[str] = []
    if missing:
        share = _.percent(missing / wanted, 1)
        said.append(_("{share} of all values could not be measured; they are in no mean.", share=share))
    why = {found.short(page): reasons.told(page.get("why") or {}, _) for page in found.pages}
    said += [f"{page}: {text}." for page, text in why.items() if text]
    few = sum(int(page.get("incomplete") or 0) for page in found.pages)
    if few:
        said.append(
            _.plural(
                "{n} judged value is made of fewer judges than its panel has.",
                "{n} judged values are made of fewer judges than their panel has.",
                few,
            )
        )
    return said


def _groups(pages: Iterable[Facts]) -> list[list[Facts]]:
    """Pages that share a system stand in one table; a page of other systems, such as judges, begins its own."""
    groups: list[tuple[set[str], list[Facts]]] = []
    for page in pages:
        own = set(page.get("systems", ()))
        place = next((group for group in groups if group[0] & own), None)
        if place is None:
            place = (set(), [])
            groups.append(place)
        place[0].update(own)
        place[1].append(page)
    return [group for systems, group in groups if systems] + [group for systems, group in groups if not systems]


def _systems(pages: Sequence[Facts]) -> list[str]:
    ordered = sorted(pages, key=lambda page: page.get("baseline") is None)
    return list(dict.fromkeys(str(name) for page in ordered for name in page.get("systems", ())))


def _table(found: Overview, pages: Sequence[Facts], most: int, present: frozenset[str]) -> Markup:
    _ = found.text
    systems = _systems(pages)
    baselines = {page.get("baseline") for page in pages}
    heads = [html.head(_("page")), html.head(_("metric"), "rb-word")]
    for name in systems:
        note = html.small(_("baseline")) if name in baselines else ""
        heads.append(html.head(html.all(shown(name, 60), " ", note), "rb-name"))
    heads += [html.head(_("unmeasured"))] if systems else []
    rows = [row for page in pages for row in _rows(found, page, systems, most, present)]
    return html.table(_("Overview: pages, metrics and systems"), heads, rows, "rb-overview")


def _rows(found: Overview, page: Facts, systems: Sequence[str], most: int, present: frozenset[str]) -> list[Markup]:
    """A row for each metric of a page; the page's own cell spans them."""
    metrics = found.metrics(page, most)
    over, title = found.title(page)
    about = Markup(" · ").join(map(shown, _measured(found, page)))
    lead = html.overview_page(max(len(metrics), 1), href(page), shown(over), shown(title, 90), about)
    if not metrics:
        return [html.row([lead, html.blank(len(systems) + 2)], "rb-first")]
    lines = [_metric(found, page, metric, systems, present) for metric in metrics]
    return [html.row([lead, *lines[0]], "rb-first"), *map(html.row, lines[1:])]


def _measured(found: Overview, page: Facts) -> list[str]:
    """Questions, time and cost of a page."""
    _ = found.text
    said: list[str] = []
    if page.get("n_questions") is not None:
        said.append(_.plural("{n} question", "{n} questions", int(page["n_questions"])))
    elif page.get("n_texts") is not None:
        said.append(_.plural("{n} text", "{n} texts", int(page["n_texts"])))
    times = page.get("milliseconds") or {}
    if times:
        numbers = " / ".join(
            _.number(times[name], 1 if times[name] < 100 else 0) for name in page["systems"] if name in times
        )
        said.append(_("median time {times} ms", times=numbers))
    if page.get("judging_seconds"):
        said.append(_("judges took {seconds} s", seconds=_.number(page["judging_seconds"], 1)))
    spent = page.get("spent") or {}
    if spent:
        said.append(_("cost {money}", money=_.number(float(spent.get("money") or 0.0), 2)))
        said.append(_.plural("{n} call", "{n} calls", int(spent.get("calls") or 0)))
    elif page.get("systems"):
        said.append(_("no paid call"))
    return said


def _metric(found: Overview, page: Facts, metric: str, systems: Sequence[str], present: frozenset[str]) -> list[Markup]:
    _, material = found.text, found.material
    own = found.numbers[str(page["name"])][metric]
    against = [c for name in own if (c := found.comparison(page, name, metric)) is not None]
    lower = bands.direction(material, metric, against) == "lower"
    name = html.all(metric_name(material, present, metric), small(_("lower is better") if lower else ""))
    missing = sum(e.n_unmeasured for e in own.values())
    wanted = sum(e.n + e.n_unmeasured for e in own.values())
    share = _.percent(missing / wanted, 1 if missing else 0) if wanted else DASH
    return [
        html.row_head(name, "rb-word"),
        *(_cell(found, page, metric, system, own) for system in systems),
        html.cell(_("unmeasured"), share, "" if missing else "rb-quiet"),
    ]


def _cell(found: Overview, page: Facts, metric: str, system: str, own: Numbers) -> Markup:
    """A number that leads to its page, its band and its verdict."""
    e, _ = own.get(system), found.text
    if e is None:
        return html.cell(shown(system), html.span(DASH, "rb-quiet"))
    digits = digits_of((x for one in own.values() for x in (one.value, one.low, one.high)), metric)
    number: str | Markup = _("not measured")
    if math.isfinite(e.value):
        value = _.number(e.value, digits)
        number = spread(value if e.low is None else f"{value} {_.interval(e.low, e.high, digits)}")
    c = found.comparison(page, system, metric)
    marked = bands.marked(found.material, bands.reached(found.material, metric, e))
    words = [part for part in (marked, chip(found.material, c) if c else "") if part]
    address = f"{href(page)}#{row_anchor(metric, bool(page.get('describes')))}"
    content = html.link(address, number) + small(counted(e, _, digits))
    under = html.span(Markup(" · ").join(words), "rb-words") if words else ""
    return html.cell(shown(system), html.all(content, under), "rb-cell")


def href(page: Facts) -> str:
    """The address of a page from beside it."""
    return f"{quote(str(page['name']))}.html"


def _legend(found: Overview, most: int) -> Markup:
    name = str(found.material.facts.get("threshold_set", ""))
    verdicts = found.text("Verdicts come from the page's own corrected comparisons with the baseline.")
    signed = {
        label: text
        for page in found.pages
        for label, text in (page.get("signatures") or {}).items()
        if label in found.metrics(page, most)
    }
    return html.all(
        html.meta(shown(f"{bands.stated(found.material, name)} {verdicts}")),
        bands.signatures(found.material, signed),
        standing_in(found.material),
    )


@view("limits")
def limits(material: Material, present: frozenset[str]) -> Markup:
    """The thresholds that the numbers were held to."""
    _ = material.text
    there = {one.metric for one in material.measurement.estimates_by("page")}
    known = {metric: band for metric, band in bands.of(material).items() if metric in there}
    if not known:
        return html.p(_("No number on these pages has a threshold."))
    rows = [[metric_name(material, present, metric), *bands.limits(_, known[metric])] for metric in sorted(known)]
    return html.grid(_("Thresholds"), [_("metric"), _("good"), _("excellent")], rows)
