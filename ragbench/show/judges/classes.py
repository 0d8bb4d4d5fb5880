"""Where there are more than two classes: which of them a judge takes for which, and how far that agrees with people."""

from __future__ import annotations

import math

from markupsafe import Markup

from ragbench.language import DASH
from ragbench.show.basics import cells
from ragbench.show.basics.material import Material
from ragbench.show.basics.text import clean, shown
from ragbench.show.judges import words
from ragbench.show.page import view

OVERALL = ("accuracy", "balanced_accuracy", "cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic", "gwet_ac1")
EACH = ("precision", "recall", "f1")


@view("classes")
def classes(material: Material, present: frozenset[str]) -> Markup:
    """Which class each judge takes for which, where people have more than two; empty otherwise."""
    _ = material.text
    judges = [name for name in words.judges_of(material) if words.kept(material, "confusion", name)]
    names = [str(name) for name in material.facts.get("classes", ())]
    if not names:
        return Markup("")
    title = Markup("<h3>{}</h3>").format(_("Class by class"))
    if not judges:
        return title + Markup("<p>{}</p>").format(
            _("No judge has scores enough, or different ones, to put the answers into classes.")
        )
    note = _(
        "Classes from the worst to the best: {names}. Every rating by a person is laid beside the judge's class. "
        "Weighted κ counts a class as less wrong the nearer it is to the person's: by ranks, or by their squares.",
        names=_.enumeration([clean(name) for name in names]),
    )
    parts = Markup("").join(_judge(material, name, names, len(judges) > 1) for name in judges)
    return title + parts + _overall(material, judges) + Markup('<p class="rb-meta">{}</p>').format(note)


def _judge(material: Material, judge: str, names: list[str], several: bool) -> Markup:
    title = Markup("<p class=rb-lead>{}</p>").format(words.bold(judge)) if several else Markup("")
    return title + _confusion(material, judge, names) + _each(material, judge, names) + _cuts(material, judge)


def _confusion(material: Material, judge: str, names: list[str]) -> Markup:
    """Rows: people's class. Columns: the judge's, and what it gave no score, where that happened."""
    _ = material.text
    counts = {(row["people"], row["said"]): int(row["count"]) for row in words.kept(material, "confusion", judge)}
    failed = any(counts.get((name, ""), 0) for name in names)
    columns = [*names, *([""] if failed else [])]
    titles = [_("no score") if not name else _("judge: {name}", name=clean(name)) for name in columns]
    body = []
    for name in names:
        whole = sum(counts.get((name, other), 0) for other in columns)
        line = [Markup("<th scope=row>{}</th>").format(shown(name))]
        for title, other in zip(titles, columns, strict=True):
            number = counts.get((name, other), 0)
            kind = "rb-quiet" if not number else "rb-good" if other == name else "rb-worse"
            share = _.percent(number / whole) if whole else DASH
            content = Markup('<span class="rb-number"><b class="{}">{}</b> <span class="rb-interval">{}</span></span>')
            line.append(cells.cell(title, content.format(kind, _.integer(number), share)))
        body.append(cells.row(line))
    heads = [cells.head(_("people say")), *(cells.head(title) for title in titles)]
    label = _("People's classes and those of {judge}", judge=clean(judge))
    return cells.table(label, heads, body, "rb-wide rb-confusion")


def _each(material: Material, judge: str, names: list[str]) -> Markup:
    _ = material.text
    rows = {(row["class"], row["name"]): row for row in words.kept(material, "classes", judge)}
    titles = {"precision": _("precision"), "recall": _("recall"), "f1": "F₁"}
    body = [
        cells.row(
            [
                Markup("<th scope=row>{}</th>").format(shown(name)),
                *(cells.cell(titles[each], words.number(material, rows.get((name, each)))) for each in EACH),
                cells.cell(_("n"), _counted(material, rows.get((name, "recall")))),
            ]
        )
        for name in names
    ]
    heads = [cells.head(text) for text in (_("class"), *(titles[each] for each in EACH), _("n"))]
    return cells.table(_("The classes of {judge}", judge=clean(judge)), heads, body)


def _counted(material: Material, row: words.Row | None) -> str:
    """How many ratings by people are in the class."""
    return DASH if row is None else material.text.integer(int(row["n"]) + int(row["n_unmeasured"]))


def _cuts(material: Material, judge: str) -> Markup:
    """From which scores on the judge's classes were taken to begin, where its scores are finer than classes."""
    _ = material.text
    rows = words.kept(material, "cuts", judge)
    if not rows:
        return Markup("")
    said = [
        _.enumeration([f"{clean(row['class'])} {_end(material, row['value'])}" for row in rows if row["half"] == half])
        for half in (0, 1)
    ]
    text = _(
        "Its scores are finer than the classes. A class begins at the score that agrees best with people (Cohen's κ), "
        "chosen on the other half of the answers: in one half {one}; in the other {other}.",
        one=said[0],
        other=said[1],
    )
    return Markup('<p class="rb-meta">{}</p>').format(text)


def _end(material: Material, value: float) -> str:
    """A cut point; −∞ where the class below it is never said, ∞ where the one above is not."""
    return material.text.number(value) if math.isfinite(value) else "∞" if value > 0 else "−∞"


def _overall(material: Material, judges: list[str]) -> Markup:
    """Statistics over all classes; people with each other come first, as the ceiling."""
    _ = material.text
    found = {(row["judge"], row["name"]): row for row in words.kept(material, "classes") if not row["class"]}
    columns = [*(["people"] if any(judge == "people" for judge, _name in found) else []), *judges]
    labels = [_("people with each other") if name == "people" else shown(name) for name in columns]
    names = {
        "accuracy": _("same class"),
        "balanced_accuracy": _("balanced accuracy"),
        "cohen_kappa": _("Cohen's κ"),
        "cohen_kappa_linear": _("Cohen's κ, linear weights"),
        "cohen_kappa_quadratic": _("Cohen's κ, quadratic weights"),
        "gwet_ac1": _("Gwet's AC1"),
    }
    body = [
        cells.row(
            [
                Markup("<th scope=row>{}</th>").format(names[name]),
                *(
                    cells.cell(label, words.number(material, found.get((judge, name))))
                    for label, judge in zip(labels, columns, strict=True)
                ),
            ]
        )
        for name in OVERALL
    ]
    heads = [cells.head(_("over all classes")), *(cells.head(label, "rb-name") for label in labels)]
    return cells.table(_("Agreement over all classes"), heads, body)
