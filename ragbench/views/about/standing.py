"""What a run adds up to in a few sentences, and what its index says of a page: good, better, to blame, missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ragbench.core import raised, unidentified
from ragbench.core.counts import lacking
from ragbench.core.parts import (
    Content,
    Entries,
    Figure,
    Lines,
    Link,
    Mark,
    Phrase,
    Section,
    Styled,
    System,
    Text,
    bold,
    filled,
    joined,
    small,
)
from ragbench.core.types import Comparison, Estimate, Verdict
from ragbench.metrics.explanation import reason_in
from ragbench.tiers.basics import verdicts
from ragbench.tiers.basics.verdicts import doubted
from ragbench.views.about.overview import Facts, Overview, href
from ragbench.views.basics import bands, chart, forest
from ragbench.views.basics.entries import one_by_one
from ragbench.views.basics.first_failures import ANSWERABLE, Blamed
from ragbench.views.basics.marks import chip, measured, series, shared_legend
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean, shown
from ragbench.views.sentences.facts import facts
from ragbench.views.sentences.findings import sentences
from ragbench.views.view import view

NAMED = 3
"""So many challengers are each spoken of; of more it is said how many are better, and which."""
LEAST = 0.001
"""The smallest share that is printed: anything that is missing is never said to be 0.0%."""


@view("standing")
def standing(material: Material, present: frozenset[str]) -> Content:
    """Is it better, and which part is to blame; then, quieter, how good it is and what could not be measured."""
    overview = Overview(material)
    good, first = _good(overview), [*_better(overview), *_blamed(overview)]
    failed = raised.sentences((failure for page in overview.pages for failure in raised.of(page)), overview.text)
    strange = unidentified.sentences(
        (gap for page in overview.pages for gap in unidentified.of(page).values()), overview.text
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
        named = Lines(
            (name, Styled(", ".join(filter(None, [against, of, lower, overview.judged_by(page, metric)])), "small"))
        )
        digits = overview.digits(page, metric)
        panels.append(forest.Panel(named, metric, digits, rows, href(page), name))
    return forest.drawn(material, panels)


@view("blame_bars")
def blame_bars(material: Material, present: frozenset[str]) -> Content:
    """What became of the questions that can be answered, a bar a system, of each page that has told it."""
    overview = Overview(material)
    return [
        Figure(Link(overview.title(page)[1], href(page)), drawn=chart.bars(blamed, overview.title(page)[1]))
        for page, blamed in blames(overview)
        if blamed.has(ANSWERABLE)
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
    held = [estimate for estimate in every if estimate.metric in bands.of(overview.material)]
    pages = {str(page["name"]): page for page in overview.pages}
    met = [
        bands.reached(
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
    why = {overview.short(page): verdicts.told(page.get("why") or {}, _) for page in overview.pages}
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
