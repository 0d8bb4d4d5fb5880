"""Every question behind the numbers, folded: its values by system and metric, and what was retrieved for it."""

from __future__ import annotations

from markupsafe import Markup

from ragbench.show.intervals import named
from ragbench.show.material import Material
from ragbench.show.text import anchor, shown
from ragbench.show.worst import relevant, value_of, wanted


def draw(material: Material, present: frozenset[str], limit: int) -> Markup:
    """A list with one folded entry a question, in the data set's order."""
    _ = material.text
    if material.primary is None or not material.question_rows:
        return Markup("<p>{}</p>").format(_("There are no questions to show."))
    named = list(material.question_rows)[:limit]
    items = Markup("").join(_item(material, sample, material.primary) for sample in named)
    left = len(material.question_rows) - len(named)
    more = ""
    if left > 0:
        text = _.plural(
            "{n} question more is in the tables of this run.", "{n} questions more are in the tables of this run.", left
        )
        more = Markup("<p>{}</p>").format(text)
    count = _.plural("{n} question", "{n} questions", len(material.question_rows))
    return Markup(
        '<details class="rb-all" id="questions"><summary>{}</summary><ol class="rb-questions">{}</ol>{}</details>'
    ).format(count, items, more)


def behind(material: Material, present: frozenset[str]) -> Markup:
    """The way from numbers to the questions they were made of; empty where the page does not list them."""
    if "questions" not in present:
        return Markup("")
    text = material.text("Every question with its values")
    return Markup('<p class="rb-meta rb-behind"><a href="#questions">{}</a></p>').format(text)


def _item(material: Material, sample: str, metric: str) -> Markup:
    row = material.question_rows[sample]
    marks = Markup("").join(value_of(material, sample, metric, name) for name in material.systems)
    return Markup(
        '<li id="{}"><details><summary><span class="rb-asked">{}</span><span class="rb-marks">{}</span></summary>{}{}'
        '<p class="rb-meta">{}</p></details></li>'
    ).format(
        anchor("q", sample),
        shown(row["text"], 400),
        marks,
        _values(material, sample),
        wanted(material, sample, relevant(row), row),
        shown(sample, 80),
    )


def _values(material: Material, sample: str) -> Markup:
    head = Markup("").join(Markup("<th scope=col>{}</th>").format(named(material, name)) for name in material.systems)
    rows = Markup("").join(
        Markup("<tr><th scope=row>{}</th>{}</tr>").format(
            shown(metric),
            Markup("").join(
                Markup("<td>{}</td>").format(
                    material.text.number(material.score(sample, metric, name), material.digits(metric))
                )
                for name in material.systems
            ),
        )
        for metric in material.metrics
    )
    return Markup(
        '<div class="rb-scroll"><table class="rb-values"><thead><tr><td></td>{}</tr></thead>'
        "<tbody>{}</tbody></table></div>"
    ).format(head, rows)
