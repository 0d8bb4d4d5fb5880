"""Where there are more than two classes: which of them a judge takes for which, and how far that agrees with people."""

from __future__ import annotations

import math

from ragbench.core.language import DASH
from ragbench.core.parts import Content, Section, Table, Text, beside, bold
from ragbench.core.types import Estimate
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean, shown
from ragbench.views.sentences import judge_words as words
from ragbench.views.view import view

EACH = ("precision", "recall", "f1")


@view("classes")
def classes(material: Material, present: frozenset[str]) -> Content:
    """Which class each judge takes for which, where people have more than two; empty otherwise."""
    _ = material.text
    judges = [name for name in words.judges_of(material) if words.kept(material, "confusion", name)]
    names = [str(name) for name in material.facts.get("classes", ())]
    if not names:
        return ()
    title = _("Class by class")
    if not judges:
        why = _("No judge has scores enough, or different ones, to put the answers into classes.")
        return [Text(title, "h3"), Text(why)]
    note = _(
        "Classes from the worst to the best: {names}. Every rating by a person is laid beside the judge's class. "
        "Weighted κ counts a class as less wrong the nearer it is to the person's: by ranks, or by their squares.",
        names=_.enumeration([clean(name) for name in names]),
    )
    parts = [_judge(material, name, names, len(judges) > 1) for name in judges]
    return Section([*parts, _overall(material, judges), Text(note, "rb-meta")], title)


def _judge(material: Material, judge: str, names: list[str], several: bool) -> Content:
    title = Text(bold(shown(judge)), "rb-lead") if several else ()
    return (title, _confusion(material, judge, names), _each(material, judge, names), _cuts(material, judge))


def _confusion(material: Material, judge: str, names: list[str]) -> Content:
    """Rows: people's class. Columns: the judge's, and what it gave no score, where that happened."""
    _ = material.text
    counts = {(row["people"], row["said"]): int(row["count"]) for row in words.kept(material, "confusion", judge)}
    failed = any(counts.get((name, ""), 0) for name in names)
    columns = [*names, *([""] if failed else [])]
    titles = [_("no score") if not name else _("judge: {name}", name=clean(name)) for name in columns]
    body = []
    for name in names:
        own = {other: counts.get((name, other), 0) for other in columns}
        whole = sum(own.values())
        kinds = {other: "rb-quiet" if not n else "rb-good" if other == name else "rb-worse" for other, n in own.items()}
        body.append(
            [
                shown(name),
                *(beside(bold(n, kinds[other]), _.percent(n / whole) if whole else DASH) for other, n in own.items()),
            ]
        )
    label = _("People's classes and those of {judge}", judge=clean(judge))
    return Table.of(_, label, [_("people say"), *titles], body, "rb-wide rb-confusion")


def _each(material: Material, judge: str, names: list[str]) -> Content:
    _ = material.text
    body = []
    for name in names:
        estimates = {each: material.estimate(judge, each, **{"class": name}) for each in EACH}
        numbers = [words.number(material, estimate) for estimate in estimates.values()]
        body.append([shown(name), *numbers, _counted(material, estimates["recall"])])
    columns = [_("class"), _("precision"), _("recall"), "F₁", _("n")]
    return Table.of(_, _("The classes of {judge}", judge=clean(judge)), columns, body)


def _counted(material: Material, recall: Estimate | None) -> int | str:
    """How many ratings by people are in the class."""
    return DASH if recall is None else recall.n + recall.n_unmeasured


def _cuts(material: Material, judge: str) -> Content:
    """From which scores on the judge's classes were taken to begin, where its scores are finer than classes."""
    _ = material.text
    rows = words.kept(material, "cuts", judge)
    if not rows:
        return ()
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
    return Text(text, "rb-meta")


def _end(material: Material, value: float) -> str:
    """A cut point; −∞ where the class below it is never said, ∞ where the one above is not."""
    return material.text.number(value) if math.isfinite(value) else "∞" if value > 0 else "−∞"


def _overall(material: Material, judges: list[str]) -> Content:
    """Statistics over all classes; people with each other come first, as the ceiling."""
    _ = material.text
    known = material.estimate("people", "accuracy", **{"class": ""})
    columns = judges if known is None else ["people", *judges]
    names = {
        "accuracy": _("same class"),
        "balanced_accuracy": _("balanced accuracy"),
        "cohen_kappa": _("Cohen's κ"),
        "cohen_kappa_linear": _("Cohen's κ, linear weights"),
        "cohen_kappa_quadratic": _("Cohen's κ, quadratic weights"),
        "gwet_ac1": _("Gwet's AC1"),
    }
    body = [
        [title, *(words.number(material, material.estimate(judge, name, **{"class": ""})) for judge in columns)]
        for name, title in names.items()
    ]
    labels = [words.called(material, name) for name in columns]
    return words.by_judge(_, _("Agreement over all classes"), _("over all classes"), labels, body)
