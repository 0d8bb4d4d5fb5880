"""Blame in numbers: the share of every part by system with its interval, and who differs from whom."""

from __future__ import annotations

from collections import Counter
from typing import Any

from markupsafe import Markup

from ragbench.core.counts import lacking
from ragbench.core.language import DASH
from ragbench.views.basics.footnotes import Notes
from ragbench.views.basics.marks import chip, named, small, spread
from ragbench.views.basics.material import Material
from ragbench.views.basics.templates import html
from ragbench.views.basics.text import shown
from ragbench.views.blame.parts import ANSWERABLE, STEPS, UNANSWERABLE, UNMEASURED, Blamed
from ragbench.views.blame.waterfall import unanswerable
from ragbench.views.comparison.verdict_table import corrected_title
from ragbench.views.view import view


@view("blame_table")
def table(material: Material, present: frozenset[str]) -> Markup:
    """The share of every part with its interval, system by system, and comparisons with the baseline."""
    blamed = Blamed(material)
    if not blamed.systems:
        return Markup("")
    _ = material.text
    notes = Notes(material, "blame-note")
    titles = _titles(blamed)
    heads = [html.head(_("first failure")), html.head(_("questions")), html.head(titles["share"])]
    if len(blamed.systems) > 1:
        heads += [html.head(titles["difference"]), html.head(titles["p"], "" if "," in titles["p"] else "rb-short")]
        heads.append(html.head(_("verdict"), "rb-word"))
    rows: list[Markup] = []
    groups = {
        ANSWERABLE: _("questions that can be answered"),
        UNANSWERABLE: _("questions that the base holds no answer to"),
    }
    for group, title in groups.items():
        if blamed.has(group):
            rows.append(html.group(title, len(heads)))
            for part in blamed.parts(group):
                rows += _part(blamed, part, notes, titles, len(heads))
            rows += _missing(blamed, group, len(heads))
    kind = "rb-long"
    return html.table(_("First failures by part"), heads, rows, kind) + notes.html() + unanswerable(blamed)


def _titles(blamed: Blamed) -> dict[str, str]:
    _ = blamed.material.text
    level = _.percent(next(iter(blamed.shares.values())).level)
    families = [comparison.family for comparison in blamed.comparisons.values() if comparison.family]
    return {
        "share": _("share, {level} interval", level=level),
        "difference": _("difference, {level} interval", level=level),
        "p": corrected_title(blamed.material, families[0]) if families else _("p"),
    }


def _part(blamed: Blamed, part: str, notes: Notes, titles: dict[str, str], width: int) -> list[Markup]:
    """The part's name over a row for each system; one row where there is one system."""
    _ = blamed.material.text
    rows = []
    alone = len(blamed.systems) == 1
    title = html.beside(blamed.name(part), blamed.meaning(part))
    if not alone:
        rows.append(html.group(title, width, "rb-slice"))
    for name in blamed.systems:
        e = blamed.share(name, part)
        share = DASH if e is None else spread(f"{_.number(e.value)} {_.interval(e.low, e.high)}") + notes.mark(e)
        share += notes.unidentified(name, "blame", {"part": part})
        share += small("" if e is None else lacking(e, _))
        line = [
            html.row_head(title if alone else named(blamed.material, name)),
            html.cell(_("questions"), _.integer(blamed.count(name, part))),
            html.cell(titles["share"], share),
        ]
        if not alone:
            line += _against(blamed, name, part, notes, titles)
        rows.append(html.row(line))
    return rows


def _against(blamed: Blamed, system: str, part: str, notes: Notes, titles: dict[str, str]) -> list[Markup]:
    _ = blamed.material.text
    if system == blamed.systems[0]:
        return [html.wide_cell(_("baseline"), 3)]
    comparison = blamed.comparison(system, part)
    if comparison is None:
        return [html.cell(titles["difference"], DASH), html.cell(titles["p"], DASH),
                html.cell(_("verdict"), DASH, "rb-word")]  # fmt: skip
    number = (
        f"{_.number(comparison.difference, signed=True)} {_.interval(comparison.low, comparison.high, signed=True)}"
    )
    p = comparison.p if comparison.p_adjusted is None else comparison.p_adjusted
    return [
        html.cell(titles["difference"], spread(number) + notes.mark(comparison)),
        html.cell(titles["p"], html.number(_.p_value(p))),
        html.cell(_("verdict"), chip(blamed.material, comparison), "rb-word"),
    ]


def _missing(blamed: Blamed, group: str, width: int) -> list[Markup]:
    """How many were not measured, and why; no row where all were."""
    _ = blamed.material.text
    reasons = {
        "right": _("whether it is right"),
        "faithful": _("whether it is faithful"),
        "shown": _("whether it was shown"),
        "retrieved": _("what was retrieved"),
        "label": _("nobody labelled the question"),
    }
    said = []
    for name in blamed.systems:
        causes = Counter(
            str(row["cause"])
            for row in blamed.rows
            if row["system"] == name and row["group"] == group and row["part"] == UNMEASURED
        )
        if causes:
            listed = ", ".join(f"{reasons.get(cause, cause)} {_.integer(n)}" for cause, n in sorted(causes.items()))
            said.append(Markup("{}: {}").format(shown(name), listed))
    if not said:
        return []
    text = Markup("{}: {}").format(_("not measured, in no share"), Markup("; ").join(said))
    return [html.under(text, width)]


@view("blame_changes")
def changes(material: Material, present: frozenset[str]) -> Markup:
    """How the parts of two systems go together, question by question; empty for one system."""
    blamed = Blamed(material)
    if len(blamed.systems) < 2:
        return Markup("")
    _ = material.text
    blocks = [_change(blamed, name) for name in blamed.systems[1:]]
    lede = _(
        "Rows: what failed first in the baseline; columns: in the other system. Equal outcomes lie on the diagonal."
    )
    return html.all(html.heading(_.html("<b>Where the systems differ</b>")), html.lede(lede), *blocks)


def transitions(blamed: Blamed, baseline: str, challenger: str) -> Counter[tuple[str, str]]:
    """(baseline's part, challenger's part) → how many questions, unmeasured ones as their own kind."""
    by: dict[str, dict[str, str]] = {}
    for row in blamed.rows:
        by.setdefault(row["system"], {})[row["sample"]] = row["part"]
    first, second = by.get(baseline, {}), by.get(challenger, {})
    return Counter((first[sample], second[sample]) for sample in first if sample in second)


def _change(blamed: Blamed, challenger: str) -> Markup:
    _ = blamed.material.text
    baseline = blamed.systems[0]
    moves = transitions(blamed, baseline, challenger)
    order = [*STEPS[ANSWERABLE], *STEPS[UNANSWERABLE], UNMEASURED]
    rows = [part for part in order if any(before == part for before, _after in moves)]
    columns = [part for part in order if any(after == part for _before, after in moves)]
    heads = [html.head(Markup("{} → {}").format(shown(baseline), shown(challenger)))]
    heads += [html.head(blamed.name(part)) for part in columns]
    lines = [
        html.row(
            [html.row_head(blamed.name(before))]
            + [_transition(blamed, moves[before, after], before == after, after) for after in columns]
        )
        for before in rows
    ]
    moved = sum(n for (before, after), n in moves.items() if before != after)
    text = _.plural("{n} question moved.", "{n} questions moved.", moved)
    title = _("From {baseline} to {challenger}", baseline=baseline, challenger=challenger)
    return html.table(title, heads, lines) + html.meta(text)


def _transition(blamed: Blamed, count: int, is_same: bool, after: str) -> Markup:
    content: Any = blamed.material.text.integer(count) if count else DASH
    return html.cell(blamed.name(after), content, "rb-quiet" if is_same or not count else "")
