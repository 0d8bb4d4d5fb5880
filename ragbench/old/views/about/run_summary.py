"""What a run adds up to in a few sentences, its row a system, and what its index says of each page."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any
from urllib.parse import quote

from ragbench.old.core import gaps, stand_ins
from ragbench.old.core.gaps import counted, lacking
from ragbench.old.core.language import DASH, Translator
from ragbench.old.core.parts import (
    Column,
    Content,
    Entries,
    Figure,
    Lines,
    Link,
    Mark,
    Name,
    Phrase,
    Section,
    Styled,
    System,
    Table,
    Text,
    Value,
    bold,
    filled,
    joined,
    small,
)
from ragbench.old.core.types import Comparison, Estimate, Verdict
from ragbench.old.metrics.explanation import reason_in
from ragbench.old.tiers.basics import verdict_tables
from ragbench.old.tiers.basics.verdict_tables import doubted, exact
from ragbench.old.views.basics import chart, interpretation
from ragbench.old.views.basics.differences import Panel, drawn
from ragbench.old.views.basics.marks import (
    chip,
    measured,
    metric_name,
    named,
    one_by_one,
    row_anchor,
    series,
    shared_legend,
)
from ragbench.old.views.basics.material import Material, digits_of
from ragbench.old.views.basics.side_tables import ANSWERABLE, Blamed
from ragbench.old.views.basics.text import clean, shown
from ragbench.old.views.sentences.conclusions import facts, sentences, standing_in
from ragbench.old.views.view import view

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
    lower = interpretation.direction(overview.material, metric, against) == "lower"
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
    marked = interpretation.marked(
        overview.material, interpretation.reached(overview.material, metric, e, system, page)
    )
    by = overview.judged_by(page, metric) if c else ""
    words = [part for part in (exact(e, _), marked, chip(overview.material, c) if c else "", by) if part]
    address = f"{href(page)}#{row_anchor(metric, bool(page.get('describes')))}"
    under = (" ", Styled(joined(" · ", words), look="rb-words")) if words else ""
    return (Link(number, address), small(counted(e, _, digits)), under)


def size_and_cost(overview: Overview, page: Facts) -> list[str]:
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
        Text(shown(f"{interpretation.stated(overview.material, name)} {verdicts}"), "rb-meta"),
        interpretation.signatures(overview.material, signed),
        standing_in(overview.material),
    )


@view("limits")
def limits(material: Material, present: frozenset[str]) -> Content:
    """The thresholds that the numbers were held to."""
    _ = material.text
    there = {estimate.metric for estimate in material.measurement.estimates_by("page")}
    known = {metric: band for metric, band in interpretation.of(material).items() if metric in there}
    if not known:
        return Text(_("No number on these pages has a threshold."))
    rows = [
        [metric_name(material, present, metric), *interpretation.limits(_, known[metric])] for metric in sorted(known)
    ]
    return Table.of(_, _("Thresholds"), [_("metric"), _("good"), _("excellent")], rows)


NAMED = 3
"""So many challengers are each spoken of; of more it is said how many are better, and which."""
LEAST = 0.001
"""The smallest share that is printed: anything that is missing is never said to be 0.0%."""


@view("standing")
def standing(material: Material, present: frozenset[str]) -> Content:
    """Is it better, and which part is to blame; then, quieter, how good it is and what could not be measured."""
    overview = Overview(material)
    good, first = _good(overview), [*_better(overview), *_blamed(overview)]
    failed = gaps.raised_sentences((failure for page in overview.pages for failure in gaps.raised(page)), overview.text)
    strange = gaps.unidentified_sentences(
        (gap for page in overview.pages for gap in gaps.unidentified(page).values()), overview.text
    )
    more = [*([good] if first else []), *_missing(overview), *(f"{text}." for text in failed), *strange]
    said = [*(map(Text, first) if first else [Text(good)]), *(Text(line, "rb-more") for line in more)]
    return Section(said, look="rb-says")


def answers(overview: Overview) -> list[Phrase]:
    """All that `standing` says, sentence by sentence."""
    said: list[Phrase] = [*_better(overview), *_blamed(overview)]
    return [*said, _good(overview), *_missing(overview)]


@view("differences")
def differences(material: Material, present: frozenset[str]) -> Content:
    """The forest of paired differences: of every page that compares, on the metric that it answers with."""
    overview = Overview(material)
    panels = []
    for page, metric, rows in compared(overview):
        lower = material.text("lower is better") if rows[0].better == "lower" else ""
        against = material.text("against {baseline}", baseline=rows[0].baseline)
        of = material.population((row.n for row in rows), named=False)
        name = f"{overview.short(page)} · {metric}"
        under = ", ".join(filter(None, [against, of, lower, overview.judged_by(page, metric)]))
        named = Lines((Name(name), Styled(under, "small")))
        digits = overview.digits(page, metric)
        panels.append(Panel(named, metric, digits, rows, href(page), name))
    return drawn(material, panels)


@view("blame_bars")
def blame_bars(material: Material, present: frozenset[str]) -> Content:
    """What became of the questions that can be answered, a bar a system, of each page that has told it."""
    overview = Overview(material)
    return [
        Figure(Link(overview.title(page)[1], href(page)), drawn=chart.bars(blamed, overview.title(page)[1]))
        for page, blamed in blames(overview)
        if any(blamed.measured(name, ANSWERABLE)[0] for name in blamed.systems)
    ]


def compared(overview: Overview) -> list[tuple[Facts, str, tuple[Comparison, ...]]]:
    """The pages that compare systems, the metric that each answers with, and its comparisons."""
    told = []
    for page in overview.pages:
        metric = overview.metric(page)
        if metric is None:
            continue
        rows = tuple(
            c for name in overview.own(page, metric) if (c := overview.comparison(page, name, metric)) is not None
        )
        if rows:
            told.append((page, metric, rows))
    return told


def blames(overview: Overview) -> list[tuple[Facts, Blamed]]:
    """The pages that tell which part is to blame."""
    every = ((page, Blamed(overview.material, str(page["name"]))) for page in overview.pages)
    return [(page, blamed) for page, blamed in every if blamed.systems]


def _good(overview: Overview) -> str:
    """How many numbers lie wholly in which band of the threshold set."""
    _ = overview.text
    every = overview.material.measurement.estimates_by("page")
    held = [estimate for estimate in every if estimate.metric in interpretation.of(overview.material)]
    pages = {str(page["name"]): page for page in overview.pages}
    met = [
        interpretation.reached(
            overview.material,
            estimate.metric,
            estimate.estimate,
            estimate.system,
            pages.get(str(estimate.where["page"]), {}),
        )
        for estimate in held
    ]
    reached = [each for each in met if each.stretches]
    if not reached:
        return _("No number on these pages has a threshold.")
    whole = [met.stretches[0].word for met in reached if met.whole]
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


def _better(overview: Overview) -> list[Phrase]:
    """For each challenger what it earned on every page that compares, those that earned the same together.

    Where that would take too many sentences: page by page how many earned what.
    """
    told = compared(overview)
    earned: dict[tuple[str, str], list[tuple[Verdict, str]]] = {}
    for page, metric, rows in told:
        for comparison in rows:
            why = f", {reason_in(comparison.withheld, overview.text)}" if comparison.withheld else ""
            why += f" ({unsure})" if (unsure := doubted(comparison, overview.text)) else ""
            by = overview.judged_by(page, metric)
            where = f"{overview.short(page)}: {metric}{f', {by}' if by else ''}{why}"
            earned.setdefault((comparison.challenger, comparison.baseline), []).append((comparison.verdict, where))
    alike: dict[tuple[str, tuple[tuple[Verdict, str], ...]], list[str]] = {}
    for (system, baseline), own in earned.items():
        alike.setdefault((baseline, tuple(own)), []).append(system)
    by_baseline = Counter(baseline for baseline, _pattern in alike)
    said = [
        _compared(overview, systems, baseline, pattern)
        for (baseline, pattern), systems in alike.items()
        if by_baseline[baseline] <= NAMED
    ]
    many = [(page, metric, rows) for page, metric, rows in told if by_baseline[rows[0].baseline] > NAMED]
    return said + [_counted(overview, page, metric, rows) for page, metric, rows in many]


def _compared(
    overview: Overview, systems: Sequence[str], baseline: str, pattern: Sequence[tuple[Verdict, str]]
) -> Phrase:
    parts = []
    for verdict in Verdict:
        where = [place for earned, place in pattern if earned is verdict]
        if where:
            parts.append((overview.material.verdict(verdict), f" ({'; '.join(where)})"))
    several = overview.text.plural("{n} system", "{n} systems", len(systems))
    return filled(
        overview.text("{systems} against {baseline}: {verdicts}."),
        systems=joined(", ", [bold(shown(name)) for name in systems]) if len(systems) <= NAMED else bold(several),
        baseline=shown(baseline),
        verdicts=joined(", ", parts),
    )


def _counted(overview: Overview, page: Facts, metric: str, rows: Sequence[Comparison]) -> Phrase:
    """`Tier 1: mrr@10, 11 systems against bm25: better 3 (a, b, c), not shown 8.`"""
    _ = overview.text
    parts = []
    for verdict in Verdict:
        names = [shown(comparison.challenger) for comparison in rows if comparison.verdict is verdict]
        if names:
            listed = f" ({', '.join(names)})" if len(names) <= NAMED else ""
            parts.append((overview.material.verdict(verdict), " ", len(names), listed))
    return filled(
        _("{page}: {metric}, {n} against {baseline}: {verdicts}."),
        page=shown(overview.short(page)),
        metric=shown(", ".join(filter(None, (metric, overview.judged_by(page, metric))))),
        n=_.plural("{n} system", "{n} systems", len(rows)),
        baseline=shown(rows[0].baseline),
        verdicts=joined(", ", parts),
    )


def _blamed(overview: Overview) -> list[Phrase]:
    """The part that fails first most often, with the systems of which that is so."""
    _ = overview.text
    said = list[Phrase]()
    for page, blamed in blames(overview):
        worst: dict[str, list[tuple[str, Estimate]]] = {}
        for system in blamed.systems:
            if (culprit := blamed.worst(system)) is not None:
                worst.setdefault(culprit[0], []).append((system, culprit[1]))
        parts = [(bold(blamed.name(part)), " (", _shares(blamed, own), ")") for part, own in worst.items()]
        if parts:
            said.append(
                filled(
                    _("Most frequent first failure in {page}: {parts}."),
                    page=shown(overview.short(page)),
                    parts=joined(", ", parts),
                )
            )
    return said


def _shares(blamed: Blamed, own: Sequence[tuple[str, Estimate]]) -> Phrase:
    """`dense 73% [64%, 81%] of the questions, hybrid 70% …`; of many systems how many, from the least to the most."""
    _ = blamed.material.text
    if len(own) > NAMED:
        shares = sorted(e.value for _name, e in own)
        return filled(
            _("{n}, {low} to {high} of the questions"),
            n=_.plural("{n} system", "{n} systems", len(own)),
            low=_.percent(shares[0]),
            high=_.percent(shares[-1]),
        )
    return joined("; ", [(shown(name), " ", blamed.percent(e)) for name, e in own])


def _missing(overview: Overview) -> list[str]:
    """How much could not be measured, where anything could not."""
    _ = overview.text
    missing = sum(int(page.get("unmeasured") or 0) for page in overview.pages)
    wanted = sum(int(page.get("wanted") or 0) for page in overview.pages)
    said: list[str] = []
    if missing:
        share = f"<{_.percent(LEAST, 1)}" if missing / wanted < LEAST / 2 else _.percent(missing / wanted, 1)
        said.append(_("{share} of all values could not be measured; they are in no mean.", share=share))
    why = {overview.short(page): verdict_tables.told(page.get("why") or {}, _) for page in overview.pages}
    said += [f"{page}: {text}." for page, text in why.items() if text]
    few = sum(int(page.get("incomplete") or 0) for page in overview.pages)
    if few:
        said.append(
            _.plural(
                "{n} judged value is made of fewer judges than its panel has.",
                "{n} judged values are made of fewer judges than their panel has.",
                few,
            )
        )
    return said


@view("summary")
def summary(material: Material, present: frozenset[str], brief: bool = False) -> Content:
    """What an index says of the page: the answer and a few metrics with verdicts; if brief, the answer."""
    says = Section([one_by_one(material.text, sentences(material))], look="rb-says")
    if brief:
        return says
    lines = [
        (bold(shown(metric)), " ", Styled(_values(material, metric), look="rb-row")) for metric in material.key_metrics
    ]
    return (says, Entries(shared_legend(material), "rb-legend"), Entries(lines, "rb-keys"), facts(material))


def _values(material: Material, metric: str) -> list[Phrase]:
    """The values of every system on a metric, each with its verdict."""
    values = list[Phrase]()
    for name in material.systems:
        estimate, comparison = material.estimate(name, metric), material.comparison(name, metric)
        if estimate is None:
            continue
        missing = small(lacking(estimate, material.text, material.digits(metric)))
        verdict = (" ", chip(material, comparison)) if comparison is not None else ""
        system = System(clean(name), series(material, name))
        values.append(Mark((measured(material, estimate, metric), missing, verdict), system, "rb-key"))
    return values
