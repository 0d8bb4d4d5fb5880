"""Blame in numbers: the share of every part by system with its interval, and who differs from whom."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ragbench.core.counts import lacking
from ragbench.core.language import DASH
from ragbench.core.parts import (
    Cell,
    Column,
    Content,
    Group,
    P,
    Phrase,
    Styled,
    Table,
    Text,
    Under,
    Value,
    filled,
    small,
)
from ragbench.views.basics.compared import Compared
from ragbench.views.basics.first_failures import ANSWERABLE, STEPS, UNANSWERABLE, UNMEASURED, Blamed
from ragbench.views.basics.footnotes import Notes
from ragbench.views.basics.marks import chip, named
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import shown
from ragbench.views.blame.waterfall import unanswerable
from ragbench.views.view import view


@view("blame_table")
def table(material: Material, present: frozenset[str]) -> Content:
    """The share of every part with its interval, system by system, and comparisons with the baseline."""
    blamed = Blamed(material)
    if not blamed.systems:
        return ()
    _ = material.text
    notes = Notes(material, "blame-note")
    level = _.percent(next(iter(blamed.shares.values())).level)
    family = next((compared.family for compared in blamed.comparisons.values() if compared.family), "")
    compared = Compared.of(material, notes, family, corrected=bool(family))
    columns = [Column(_("first failure")), Column(_("questions"), "count")]
    columns.append(Column(_("share, {level} interval", level=level), "interval"))
    columns += compared.columns if len(blamed.systems) > 1 else []
    rows = list[Any]()
    groups = {
        ANSWERABLE: _("questions that can be answered"),
        UNANSWERABLE: _("questions that the base holds no answer to"),
    }
    for group, title in groups.items():
        if blamed.has(group):
            rows.append(Group(title))
            for part in blamed.parts(group):
                rows += _part(blamed, part, compared)
            rows += _missing(blamed, group)
    made = Table(tuple(columns), tuple(rows), _("First failures by part"), language=_.language, look="rb-long")
    return (made, notes.parts(), unanswerable(blamed))


def _part(blamed: Blamed, part: str, compared: Compared) -> list[Any]:
    """The part's name over a row for each system; one row where there is one system."""
    alone = len(blamed.systems) == 1
    title = (blamed.name(part), " ", Styled(blamed.meaning(part), "small"))
    rows: list[Any] = [] if alone else [Group(title, look="rb-slice")]
    for name in blamed.systems:
        line: list[Any] = [title if alone else named(blamed.material, name), blamed.count(name, part)]
        line.append(_share(blamed, name, part, compared.notes))
        if not alone:
            line += [compared.baseline()] if name == blamed.systems[0] else _against(blamed, name, part, compared)
        rows.append(tuple(line))
    return rows


def _share(blamed: Blamed, system: str, part: str, notes: Notes) -> Phrase:
    e, more = blamed.share(system, part), notes.unidentified(system, "blame", {"part": part})
    if e is None:
        return (DASH, more)
    return (Value.of(e, 3), notes.mark(e), more, small(lacking(e, blamed.material.text)))


def _against(blamed: Blamed, system: str, part: str, compared: Compared) -> list[Any]:
    difference = blamed.comparison(system, part)
    if difference is None:
        return [None, None, None]
    value = (Value.of(difference, 3), compared.notes.mark(difference))
    return [value, P.of(difference), chip(blamed.material, difference)]


def _missing(blamed: Blamed, group: str) -> list[Under]:
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
            said.append(f"{shown(name)}: {listed}")
    if not said:
        return []
    return [Under(f"{_('not measured, in no share')}: {'; '.join(said)}")]


@view("blame_changes")
def changes(material: Material, present: frozenset[str]) -> Content:
    """How the parts of two systems go together, question by question; empty for one system."""
    blamed = Blamed(material)
    if len(blamed.systems) < 2:
        return ()
    _ = material.text
    blocks = [_change(blamed, name) for name in blamed.systems[1:]]
    lede = _(
        "Rows: what failed first in the baseline; columns: in the other system. Equal outcomes lie on the diagonal."
    )
    return (Text(filled(_("<b>Where the systems differ</b>")), "h3"), Text(lede, "rb-lede"), blocks)


def transitions(blamed: Blamed, baseline: str, challenger: str) -> Counter[tuple[str, str]]:
    """(baseline's part, challenger's part) → how many questions, unmeasured ones as their own kind."""
    by: dict[str, dict[str, str]] = {}
    for row in blamed.rows:
        by.setdefault(row["system"], {})[row["sample"]] = row["part"]
    first, second = by.get(baseline, {}), by.get(challenger, {})
    return Counter((first[sample], second[sample]) for sample in first if sample in second)


def _change(blamed: Blamed, challenger: str) -> Content:
    _ = blamed.material.text
    baseline = blamed.systems[0]
    moves = transitions(blamed, baseline, challenger)
    order = [*STEPS[ANSWERABLE], *STEPS[UNANSWERABLE], UNMEASURED]
    rows = [part for part in order if any(before == part for before, _after in moves)]
    columns = [part for part in order if any(after == part for _before, after in moves)]
    heads = [f"{shown(baseline)} → {shown(challenger)}", *map(blamed.name, columns)]
    lines = [
        (blamed.name(before), *(_transition(moves[before, after], before == after) for after in columns))
        for before in rows
    ]
    moved = sum(n for (before, after), n in moves.items() if before != after)
    text = _.plural("{n} question moved.", "{n} questions moved.", moved)
    title = _("From {baseline} to {challenger}", baseline=baseline, challenger=challenger)
    return (Table.of(_, title, heads, lines), Text(text, "rb-meta"))


def _transition(count: int, is_same: bool) -> Cell:
    return Cell(count or DASH, "rb-quiet" if is_same or not count else "")
