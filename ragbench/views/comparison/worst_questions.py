"""The worst questions, and what was retrieved for them instead of what they needed."""

from __future__ import annotations

from ragbench.core.parts import Entries, Entry, Link, Part, Sentence, Text, filled
from ragbench.views.basics.entries import ordered
from ragbench.views.basics.hits import instead, loss, lowest, relevant, wanted
from ragbench.views.basics.links import link
from ragbench.views.basics.marks import legend, value_of
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import anchor, clean, shown
from ragbench.views.view import view


@view("worst")
def worst(material: Material, present: frozenset[str], count: int = 10) -> list[Part]:
    """The `count` worst questions of each challenger, and those where it lost most against the baseline."""
    _ = material.text
    metric = material.primary
    if metric is None or not material.question_rows:
        return [Text(_("There are no questions to show."))]
    blocks: list[Part] = [Entries(legend(material), "rb-legend")] if len(material.systems) > 1 else []
    for name in material.challengers if material.baseline is not None else material.systems:
        blocks += _list(material, name, metric, lowest(material, name, metric, count), "worst", present)
        if material.baseline is not None:
            blocks += _list(material, name, metric, losses(material, name, metric, count), "lost", present)
    return blocks


@view("ways")
def ways(material: Material, present: frozenset[str]) -> list[Part]:
    """Instead of those lists, the ways to where they stand in the table of all questions; empty without the table."""
    metric = material.primary
    if metric is None or "questions" not in present:
        return []
    lines = []
    for name in material.challengers:
        wish = {"metric": clean(metric), "system": clean(name), "against": clean(material.baseline or "")}
        for sort in ("worst", "lost"):
            address = link(material, present, **wish, sort=sort)
            lines.append(Link(_title(material, name, metric, sort), address))
    return [Entries(lines)]


def _title(material: Material, system: str, metric: str, sort: str) -> Sentence:
    """What the questions of a list have in common."""
    _ = material.text
    places = {"system": shown(system), "metric": shown(metric), "baseline": shown(material.baseline)}
    if sort == "lost":
        return filled(_("Where <b>{system}</b> lost most {metric} against {baseline}"), **places)
    if material.lower_is_better(metric):
        return filled(_("Highest {metric} of <b>{system}</b>"), **places)
    return filled(_("Lowest {metric} of <b>{system}</b>"), **places)


def losses(material: Material, system: str, metric: str, count: int) -> list[str]:
    """Samples on which the system lost most against the baseline; none on which it did not lose."""
    keyed = sorted((-loss(material, sample, metric, system), sample) for sample in material.question_rows)
    return [sample for lost, sample in keyed[:count] if lost < 0]


def _list(
    material: Material, system: str, metric: str, samples: list[str], prefix: str, present: frozenset[str]
) -> list[Part]:
    _ = material.text
    title = _title(material, system, metric, prefix)
    empty = _("Every question has the same value.") if prefix == "worst" else _("It lost on no question.")
    entries = [_item(material, sample, system, metric, prefix, present) for sample in samples]
    return [Text(title, "h3"), *(ordered(entries) if entries else [Text(empty)])]


def _item(material: Material, sample: str, system: str, metric: str, prefix: str, present: frozenset[str]) -> Entry:
    row = material.question_rows[sample]
    names = [system] if material.baseline is None else [material.baseline, system]
    marks = [value_of(material, sample, metric, name) for name in names]
    more = Link(material.text("all values"), f"#{anchor('q', sample)}") if "questions" in present else ""
    body = [
        *instead(material, sample, system),
        *wanted(material, sample, relevant(row), row),
        Text((shown(sample, 80), " ", more), "rb-meta"),
    ]
    return Entry(anchor(f"{prefix}{material.systems.index(system)}", sample), shown(row["text"], 400), marks, body)
