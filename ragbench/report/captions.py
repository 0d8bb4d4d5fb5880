"""What stands with a table that leaves the page: whose values they are, how sure, and what could have been shown."""

from __future__ import annotations

from collections.abc import Iterable

from ragbench.core import answered_by, raised, unidentified
from ragbench.core.stand_ins import caveat, of
from ragbench.core.types import Comparison, Estimate, Verdict
from ragbench.tiers.basics.families import PRIMARY, merged, said
from ragbench.tiers.basics.tabulation import interval_name
from ragbench.tiers.basics.verdicts import beyond, doubted, lacking
from ragbench.views.about.method import test_names
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean
from ragbench.views.sentences import judges, repeats

Listed = tuple[str, str, str]
"""Metric, challenger, and the number that is told of both."""


def of_a_table(material: Material) -> list[str]:
    """The sentences of an article's caption; arrows stand for verdicts there."""
    _, made = material.text, material.measurement
    notes = [population(material), *of_values(material)]
    if made.comparisons:
        comparisons = [finding.comparison for finding in made.comparisons]
        marks = {
            Verdict.BETTER: _("↑ better than the baseline"),
            Verdict.SLIGHTLY_BETTER: _("↗ better, by less than matters"),
            Verdict.WORSE: _("↓ worse than the baseline"),
            Verdict.SLIGHTLY_WORSE: _("↘ worse, by less than matters"),
            Verdict.SAME: _("≈ the same within the margin"),
        }
        there = [
            text for verdict, text in marks.items() if any(comparison.verdict is verdict for comparison in comparisons)
        ]
        for verdict, sign in ((Verdict.CANNOT_BE_SHOWN, "∅"), (Verdict.CANNOT_BE_TOLD, "?")):
            why = dict.fromkeys(
                material.verdict(comparison) for comparison in comparisons if comparison.verdict is verdict
            )
            there += [f"{sign} {'; '.join(why)}"] if why else []
        notes += [f"{'; '.join(there)}."] if there else []
        named = sorted(
            dict.fromkeys(comparison.family for comparison in comparisons),
            key=lambda name: not name.startswith(PRIMARY),
        )
        families = "; ".join(filter(None, (said(name, _) for name in named)))
        notes += [_("p and the intervals of differences: {family}.", family=families)] if families else []
        notes += list(filter(None, [merged(comparisons, _)]))
    if any(e.estimate.n_unmeasured for e in made.estimates):
        notes.append(
            _("Below n: the mean if every unmeasured value lay at the lower end of the scale, or at the upper.")
        )
    seed = material.facts.get("seed")
    strange = unidentified.sentences(unidentified.of(material.facts).values(), _)
    others = (*answered_by.warnings(material.facts, _), *raised.warnings(material.facts, _))
    notes += [*of_comparisons(material), *map(clean, (*strange, *others)), caveat(of(material.facts), _)]
    return [*notes, "" if seed is None else _("Seed: {seed}.", seed=seed)]


def population(material: Material) -> str:
    """Of which questions of which data the numbers are, and what is searched; empty where that is not known."""
    _, known = material.text, material.facts
    named, number = known.get("dataset"), known.get("n_questions")
    searched = {"chunk": _("passages are searched"), "url": _("web pages are searched")}.get(str(known.get("unit")))
    parts = [
        _("data set {name}", name=clean(named)) if named else "",
        "" if number is None else _.plural("{n} question", "{n} questions", int(number)),
        searched or "",
    ]
    text = ", ".join(filter(None, parts))
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def of_values(material: Material) -> list[str]:
    """What the values are, with which intervals, what they are compared with, and which metric is the primary one."""
    _, made = material.text, material.measurement
    level = _.percent(next((e.estimate.level for e in made.estimates), 0.95))
    notes = [
        _("Values with {level} intervals; n: how many questions or other units each is computed from.", level=level)
    ]
    notes += [*directions(material), *filter(None, [how(material)])]
    if not made.comparisons:
        return notes
    notes.append(_("Baseline: {system}.", system=clean(material.baseline)))
    several = len(material.metrics) > 1 and material.primary is not None
    return [*notes, *([_("Primary metric: {metric}.", metric=clean(material.primary))] if several else [])]


def directions(material: Material) -> list[str]:
    """Which way is good, of all metrics at once or of each kind by name."""
    _, by_way = material.text, dict[str, list[str]]()
    for metric in material.metrics:
        declared = material.declaration(metric)
        told = material.challengers and any(material.comparison(name, metric) for name in material.challengers)
        way = "lower" if material.lower_is_better(metric) else "higher" if told or declared is None else declared.better
        by_way.setdefault(way or "", []).append(clean(metric))
    if list(by_way) == ["higher"]:
        return [_("Higher is better.")]
    if list(by_way) == ["lower"]:
        return [_("Lower is better.")]
    said = {
        "higher": lambda named: _("Higher is better: {named}.", named=named),
        "lower": lambda named: _("Lower is better: {named}.", named=named),
        "": lambda named: _("No value is better than another: {named}.", named=named),
    }
    return [said[way](", ".join(by_way[way])) for way in said if way in by_way]


def how(material: Material) -> str:
    """By which test, with which intervals, and over how many independent groups, in a line."""
    _, made = material.text, material.measurement
    compared = [finding.comparison for finding in made.comparisons]
    intervals: list[Estimate | Comparison] = [*(e.estimate for e in made.estimates), *compared]
    methods = dict.fromkeys(interval.method for interval in intervals)
    groups = sorted(
        {comparison.groups for comparison in compared} or {e.estimate.clusters or e.estimate.n for e in made.estimates}
    )
    clustered = any(interval.clusters is not None for interval in intervals)
    tests = "; ".join(test_names(material, [comparison.test for comparison in compared]))
    kinds = "; ".join(interval_name(method, _) for method in methods if method != "none")
    parts = [
        _("test: {names}", names=tests) if tests else "",
        _("intervals: {names}", names=kinds) if kinds else "",
        "–".join(dict.fromkeys(_.integer(number) for number in (groups[0], groups[-1]))) if groups else "",
    ]
    if parts[2] and clustered:
        parts[2] = _("independent groups: {counts}", counts=parts[2])
    elif parts[2]:
        parts[2] = _("independent questions: {counts}", counts=parts[2])
    text = ", ".join(filter(None, parts))
    return f"{text[:1].upper()}{text[1:]}." if text else ""


def of_comparisons(material: Material) -> list[str]:
    """What is to be read with the numbers: how sure they are, what could have been shown where nothing was, who
    corrected the numbers, and what repeats add to the primary metric's."""
    return [*_lacking(material), *_unsure(material), *_detectable(material), *_planned(material),
            *judges.corrected(material), *_repeats(material)]  # fmt: skip


def _lacking(material: Material) -> list[str]:
    """Between which ends differences lie with what is unmeasured, and what nothing more is to be said of: that a scale
    has no end, or no room."""
    _, ends, others = material.text, list[Listed](), dict[str, list[Listed]]()
    for metric in material.metrics:
        for name in material.challengers:
            c, digits = material.comparison(name, metric), material.digits(metric)
            if c is None:
                continue
            if c.least is not None and c.most is not None:
                both = (_.number(end, digits, signed=True) for end in (c.least, c.most))
                ends.append((metric, name, " … ".join(both)))
            open_ended = c.least is None or c.most is None
            for text in (lacking(c, _, digits) if open_ended else "", beyond(c, _), doubted(c, _)):
                others.setdefault(text, []).append((metric, name, ""))
    several = len(material.challengers) > 1
    said = [f"{text[:1].upper()}{text[1:]}: {_listed(own, several)}." for text, own in others.items() if text]
    if ends:
        said.append(
            _(
                "Differences with every unmeasured value at either end of its scale: {named}.",
                named=_listed(ends, several),
            )
        )
    return said


def _unsure(material: Material) -> list[str]:
    """Whose intervals may miss the true value more often than they say, and why."""
    doubts: dict[str, list[Listed]] = {}
    for metric in material.metrics:
        for name in material.systems:
            estimate = material.estimate(name, metric)
            if estimate is not None and (text := doubted(estimate, material.text)):
                doubts.setdefault(text, []).append((metric, name, ""))
    several = len(material.systems) > 1
    return [f"{text[:1].upper()}{text[1:]}: {_listed(own, several)}." for text, own in doubts.items()]


def _open(material: Material) -> list[tuple[str, str, Comparison]]:
    """Metric, challenger and comparison of all that show no difference."""
    return [
        (metric, name, c)
        for metric in material.metrics
        for name in material.challengers
        if (c := material.comparison(name, metric)) is not None and c.verdict is Verdict.NOT_SHOWN
    ]


def _detectable(material: Material) -> list[str]:
    """The smallest differences that would have been shown, of the comparisons that show none."""
    _ = material.text
    smallest = [
        (metric, name, _.number(c.minimum_detectable, material.digits(metric)))
        for metric, name, c in _open(material)
        if c.minimum_detectable is not None
    ]
    listed = _listed(smallest, len(material.challengers) > 1)
    return [_("A difference of this size or more would have been shown: {named}.", named=listed)] if smallest else []


def _planned(material: Material) -> list[str]:
    """How many questions show the smallest differences of interest, of comparisons that show none: a sentence a
    difference, however many comparisons there are."""
    _ = material.text
    reached: dict[float, list[Listed]] = {}
    lacking: dict[tuple[float, int, bool], list[Listed]] = {}
    for metric, name, c in _open(material):
        if c.margin is None or c.questions_needed is None:
            continue
        if c.questions_needed <= c.n:
            reached.setdefault(c.margin, []).append((metric, name, ""))
        else:
            place = c.margin, c.n, c.clusters is not None
            lacking.setdefault(place, []).append((metric, name, _.integer(c.questions_needed)))
    notes = [
        _(
            "The smallest difference of interest, {margin}, would likely have been shown: {named}.",
            margin=_.exact(margin),
            named=_listed(own, len(material.challengers) > 1),
        )
        for margin, own in reached.items()
    ]
    for (margin, n, grouped), listed in lacking.items():
        places = {"margin": _.exact(margin), "n": _.integer(n), "named": _listed(listed, len(material.challengers) > 1)}
        notes.append(
            _(
                "Questions needed to show the smallest difference of interest, {margin}, in groups as large as now "
                "(there were {n} questions): {named}.",
                **places,
            )
            if grouped
            else _(
                "Questions needed to show the smallest difference of interest, {margin} (there were {n} questions): "
                "{named}.",
                **places,
            )
        )
    return notes


def _listed(entries: Iterable[Listed], several: bool) -> str:
    """`mrr: dense 0.064, hybrid 0.071; recall@5: dense 0.082`: of a system that is not one of several without its
    name."""
    by_metric = dict[str, list[str]]()
    for metric, name, number in entries:
        by_metric.setdefault(metric, []).append(" ".join(filter(None, (name if several else "", number))))
    return clean(
        "; ".join(
            f"{metric}{': ' if several else ' '}{', '.join(parts)}".strip() for metric, parts in by_metric.items()
        )
    )


def _repeats(material: Material) -> list[str]:
    """What repeats add to the primary metric's numbers, once for the systems of which it is the same."""
    metric, by_text = material.primary, dict[str, list[str]]()
    for name in material.challengers if material.baseline is not None else material.systems:
        text = "" if metric is None else repeats.sentence(material, name, metric)
        if text:
            by_text.setdefault(text, []).append(name)
    several = len(material.challengers) > 1
    return [
        clean(f"{metric}{f' ({material.text.enumeration(names)})' if several else ''}: {text}")
        for text, names in by_text.items()
    ]
