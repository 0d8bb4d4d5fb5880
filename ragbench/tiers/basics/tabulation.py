"""Estimates and comparisons as tables: the same columns, reasons and notes wherever they are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ragbench.core.counts import brackets, missing
from ragbench.core.language import Translator
from ragbench.core.parts import Column, Table, Value
from ragbench.core.types import BY_CONSTRUCTION, Comparison, Estimate, Verdict
from ragbench.tiers.basics import verdicts
from ragbench.tiers.basics.families import merged
from ragbench.tiers.basics.families import said as family_said


def _reasons(_: Translator) -> dict[str, str]:
    """Why an estimate has no interval, by its note."""
    return {
        "empty": _("nothing was measured"),
        "few": _("too few values"),
        "no_spread": _("all values are equal"),
        "equal_groups": _("the means of all groups are equal"),
        "undefined": _("not defined for these values"),
        "constant": _("a rater who always says the same agrees with nobody beyond chance"),
        BY_CONSTRUCTION: _("by construction: it could not have been otherwise"),
        "identical": _("both rate every item alike"),
        "open_scale": _("all categories of the scale are not known: name them"),
        "slow": _("its function is too slow"),
        "incomplete": _("no item was rated by all"),
    }


def interval(estimate: Estimate, _: Translator) -> str:
    """The interval in a line, or why there is none."""
    why = _why(estimate, _reasons(_), _)
    return f"— ({why})" if why and estimate.low is None else _.interval(estimate.low, estimate.high)


def estimates(
    titles: Sequence[str],
    named: Iterable[tuple[Sequence[str], Estimate]],
    _: Translator,
    digits: int = 3,
    banded: Sequence[str] = (),
) -> Table:
    """A row an estimate. titles: of what each one is named by, such as run and metric. banded: each one's band, in
    words; empty where it has none."""
    pairs, reasons = list(named), _reasons(_)
    columns = [*map(Column, titles), Column(_("value"), "number"), Column(_("interval"), "interval")]
    columns += [Column(_("method")), Column("n", "count"), Column(_("unmeasured"), "count")]
    rows: list[tuple[Any, ...]] = [
        (
            *names,
            estimate.value,
            Value(None, estimate.low, estimate.high, why=_why(estimate, reasons, _)),
            None if estimate.method == "none" else interval_name(estimate.method, _),
            estimate.n,
            missing(estimate, _, digits),
        )
        for names, estimate in pairs
    ]
    if any(estimate.clusters is not None for _names, estimate in pairs):
        columns.append(Column(_("groups"), "count"))
        rows = [(*row, estimate.clusters) for row, (_names, estimate) in zip(rows, pairs, strict=True)]
    noted = [brackets((estimate for _names, estimate in pairs), _)]
    noted += [f"{' '.join(names)}: {text}" for names, estimate in pairs if (text := verdicts.doubted(estimate, _))]
    if any(banded):
        after = len(titles) + 2  # the interval, which decides it
        columns.insert(after, Column(_("band")))
        rows = [(*row[:after], band or None, *row[after:]) for row, band in zip(rows, banded, strict=True)]
        noted.append(
            _(
                "band: of the threshold set where it names the metric, else as the metric's source published it; one "
                "where the whole interval lies in it, else all from the first to the last that the interval reaches"
            )
        )
    notes = tuple(filter(None, noted))
    return Table(tuple(columns), tuple(rows), notes=notes, digits=digits, language=_.language)


def comparisons(named: Iterable[tuple[str, Comparison]], _: Translator, digits: int = 3) -> Table:
    """A row a metric and pair of systems; below them what p was corrected over, and what could have been shown."""
    pairs = list(named)
    reasons = {
        "empty": _("no question was measured on both sides"),
        "few": _("too few questions"),
        "no_spread": _("all differences are equal"),
        "equal_groups": _("the mean differences of all groups are equal"),
    }
    columns = [
        Column(_("metric")), Column(_("difference"), "number", signed=True),
        Column(_("interval"), "interval", signed=True), Column("p", "p"), Column(_("corrected p"), "p"),
        Column(_("detectable"), "number"), Column("n", "count"), Column(_("unpaired"), "count"),
        Column(_("verdict"), "verdict"),
    ]  # fmt: skip
    rows: list[tuple[Any, ...]] = [
        (
            metric,
            comparison.difference,
            Value(None, comparison.low, comparison.high, why=_why(comparison, reasons, _)),
            comparison.p,
            comparison.p_adjusted,
            comparison.minimum_detectable,
            comparison.n,
            comparison.n_dropped,
            _verdict(comparison, _),
        )
        for metric, comparison in pairs
    ]
    planned = [
        (metric, comparison)
        for metric, comparison in pairs
        if comparison.verdict.unshown and comparison.questions_needed is not None
    ]
    if planned:
        columns.insert(6, Column(_("needed"), "count"))
        rows = [
            (*row[:6], _needed(comparison, _), *row[6:]) for row, (_metric, comparison) in zip(rows, pairs, strict=True)
        ]
    compared = [f"{comparison.challenger} − {comparison.baseline}" for _metric, comparison in pairs]
    if len(set(compared)) > 1:
        columns = [Column(_("compared")), *columns]
        rows = [(who, *row) for who, row in zip(compared, rows, strict=True)]
    families = dict.fromkeys(family_said(comparison.family, _) for _metric, comparison in pairs if comparison.family)
    notes = [_("corrected p and interval: {family}", family=family) for family in families if family]
    notes += filter(None, [merged((comparison for _metric, comparison in pairs), _)])
    if any(comparison.minimum_detectable is not None for _metric, comparison in pairs):
        notes.append(_("detectable: a difference of this size or more would be shown, in 80 of 100 such studies"))
    if planned:
        sizes = _interest(planned, _)
        notes.append(
            _("needed: about so many questions show a difference of {sizes}, the smallest of interest", sizes=sizes)
        )
    notes += filter(None, dict.fromkeys(verdicts.needed(comparison, _) for _metric, comparison in pairs))
    for metric, against in pairs:
        told = [verdicts.lacking(against, _, digits), verdicts.beyond(against, _), verdicts.doubted(against, _)]
        notes += [f"{metric}: {text}" for text in told if text]
    title = compared[0] if len(set(compared)) == 1 else ""
    return Table(tuple(columns), tuple(rows), title, tuple(notes), digits, _.language)


DRAWN = ("bca", "percentile", "studentized", "studentized_and_t", "bayesian")
"""Intervals that are made of resamples."""


def interval_names(methods: Iterable[str], resamples: int, _: Translator) -> str:
    """What the intervals are called, with the number of resamples beside those that are made of them."""
    given = dict.fromkeys(methods)
    drawn, computed = (
        [interval_name(method, _) for method in given if (method in DRAWN) is kind] for kind in (True, False)
    )
    if drawn and resamples:
        drawn = [_("{names}, {resamples} resamples", names=_.enumeration(drawn), resamples=_.integer(resamples))]
    return "; ".join(filter(None, (_.enumeration(drawn), _.enumeration(computed))))


def interval_name(method: str, _: Translator) -> str:
    """What people call the method of an interval; one that has no name today is said as it is."""
    names = {
        "bca": _("bootstrap interval (BCa)"),
        "abc": _("analytic bootstrap interval (ABC)"),
        "percentile": _("bootstrap interval (percentile)"),
        "studentized": _("bootstrap interval (studentized)"),
        "studentized_and_t": _("bootstrap interval (studentized), no end of it nearer than Student's"),
        "wilson": _("Wilson's interval"),
        "clopper_pearson": _("Clopper–Pearson interval"),
        "fisher": _("interval on Fisher's z"),
        "bonett_wright": _("Bonett–Wright interval"),
        "bonett_price": _("Bonett–Price interval"),
        "tango": _("Tango's score interval"),
        "t": _("Student's t interval"),
        "t_effective": _("Student's t interval for unequal groups"),
        "delta": _("normal interval"),
        "jackknife": _("jackknife interval"),
        "crossed": _("interval over questions and judges"),
        "bayesian": _("Bayesian bootstrap interval"),
        "u_statistic": _("interval of a U-statistic"),
        "prediction_powered": _("corrected by people's labels (PPI++)"),
        "people": _("people's labels"),
        "none": _("no interval"),
    }
    return names.get(method, method)


def _needed(comparison: Comparison, _: Translator) -> int | str | None:
    """The questions that are needed where no difference is shown, with the groups that they make up."""
    groups = verdicts.groups_planned(comparison)
    if not comparison.verdict.unshown or groups is None:
        return comparison.questions_needed if comparison.verdict.unshown else None
    return _(
        "{questions} in {groups} groups",
        questions=_.integer(comparison.questions_needed or 0),
        groups=_.integer(groups),
    )


def _interest(named: Sequence[tuple[str, Comparison]], _: Translator) -> str:
    """`0.05`, or where metrics differ `0.05 (mrr), 0.2 (rating)`."""
    by_size: dict[str, list[str]] = {}
    for metric, comparison in named:
        by_size.setdefault(_.exact(comparison.margin), []).append(metric)
    if len(by_size) == 1:
        return next(iter(by_size))
    return ", ".join(f"{size} ({', '.join(dict.fromkeys(metrics))})" for size, metrics in by_size.items())


def _verdict(comparison: Comparison, _: Translator) -> str:
    """The word, with the groups or the margin that it rests on."""
    verdict = verdicts.said(comparison, _)
    if comparison.verdict is Verdict.SAME:
        return _("{verdict} within ±{margin}", verdict=verdict, margin=_.exact(comparison.margin))
    if comparison.p_equivalence is None:
        return verdict
    places = {"verdict": verdict, "margin": _.exact(comparison.margin), "p": _.number(comparison.p_equivalence, 4)}
    return _("{verdict}; p of equivalence within ±{margin}: {p}", **places)


def _why(figure: Estimate | Comparison, reasons: Mapping[str, str], _: Translator) -> str:
    """Why there is no interval; a single group has no spread, whatever is in it."""
    return _("a single group") if figure.clusters == 1 else reasons.get(figure.note, figure.note)
