"""Judged answers: the worst of each system, with what was retrieved, each statement's verdict, and the formula."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ragbench.metrics.explanation import reason_in
from ragbench.show.basics import cells
from ragbench.show.basics.lists import entry
from ragbench.show.basics.material import Material
from ragbench.show.basics.text import anchor, shown
from ragbench.show.comparison.worst_questions import lowest, value_of
from ragbench.show.items.judgements import KINDS, Ruling, Rulings, reason, rows, rulings, stored, word
from ragbench.show.page import view

Passages = Mapping[str, str]
STATEMENT, PASSAGE = 600, 1200


def ranked_by(material: Material, metric: str = "") -> str | None:
    """The judged metric that says which answers are the worst: the one named, else the page's, else the first."""
    known = list(dict.fromkeys(line["metric"] for lines in rows(material).values() for line in lines))
    if metric and metric not in known:
        raise ValueError(f"verdicts(metric={metric!r}): judged are {', '.join(known) or 'none'}")
    wanted = (metric, material.primary, *known)
    return next((name for name in wanted if name in known and name in material.metrics), None)


def _judged(material: Material, count: int = 10, metric: str = "") -> None:
    ranked_by(material, metric)


@view("verdicts", check=_judged)
def verdicts(material: Material, present: frozenset[str], count: int = 10, metric: str = "") -> Markup:
    """The `count` worst answers of each system, with every statement's verdict, reason, passages and the formula.

    metric: the judged metric that says which are the worst; empty for the page's primary one.
    """
    _ = material.text
    judged = rows(material)
    chosen = ranked_by(material, metric)
    if chosen is None:
        return Markup("<p>{}</p>").format(_("No answer was judged."))
    systems = [name for name in material.systems if any(system == name for system, sample in judged)]
    blocks = []
    for name in systems:
        samples = lowest(material, name, chosen, count)
        worst = _.html("Lowest {metric} of <b>{system}</b>", metric=shown(chosen), system=shown(name))
        if material.lower_is_better(chosen):
            worst = _.html("Highest {metric} of <b>{system}</b>", metric=shown(chosen), system=shown(name))
        if not samples:
            samples = [sample for system, sample in judged if system == name][:count]
            worst = _.html(
                "First answers of <b>{system}</b>: all have the same {metric}",
                metric=shown(chosen),
                system=shown(name),
            )
        items = Markup("").join(_item(material, name, sample, chosen, judged) for sample in samples)
        blocks.append(Markup('<h3>{}</h3><ol class="rb-questions rb-judged">{}</ol>').format(worst, items))
    return Markup("").join(blocks)


def _item(
    material: Material,
    system: str,
    sample: str,
    chosen: str,
    judged: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]],
) -> Markup:
    question = material.question_rows.get(sample, {})
    place = material.systems.index(system)
    by_metric: dict[str, list[Mapping[str, Any]]] = {}
    for line in judged.get((system, sample), ()):
        by_metric.setdefault(str(line["metric"]), []).append(line)
    passages = {str(hit["chunk"]): hit["text"] for hit in material.retrieved.get((system, sample), [])}
    order = sorted(by_metric, key=lambda name: name != chosen)
    made = [_metric(material, system, sample, name, by_metric[name], name == chosen, passages) for name in order]
    return entry(
        anchor(f"judged{place}", sample),
        shown(question.get("text") or sample, 400),
        value_of(material, sample, chosen, system),
        _texts(material, system, sample, question)
        + Markup("").join(made)
        + Markup('<p class="rb-meta">{}</p>').format(shown(sample, 80)),
    )


def _texts(material: Material, system: str, sample: str, question: Mapping[str, Any]) -> Markup:
    """The answer, the reference and the passages, as the judge saw them."""
    _ = material.text
    parts = []
    answer = answers(material).get((system, sample))
    if answer is not None:
        parts.append(_lead(_.html("<b>{system}</b> answered", system=shown(system)), shown(answer, 4000)))
    if reference := shown(question.get("reference"), 4000):
        parts.append(_lead(_("Reference"), reference))
    seen = given(material).get((system, sample))
    hits = [hit for hit in material.retrieved.get((system, sample), []) if seen is None or str(hit["chunk"]) in seen]
    if hits:
        items = Markup("").join(
            Markup('<li id="{}"><p>{}</p><p class="rb-meta">{}</p></li>').format(
                _passage(material, system, sample, hit["chunk"]), shown(hit["text"], PASSAGE), shown(hit["chunk"], 80)
            )
            for hit in hits
        )
        heading = _.plural("It had {n} passage", "It had {n} passages", len(hits))
        parts.append(
            Markup('<details class="rb-fold"><summary>{}</summary><ol class="rb-hits">{}</ol></details>').format(
                heading, items
            )
        )
    return Markup("").join(parts)


def answers(material: Material) -> dict[tuple[str, str], str]:
    """Answers by system and sample, of the table `answers`, the first of repeats; empty where there is none."""
    found = _first_answers(material)
    return {(str(row["system"]), str(row["sample"])): row["response"] for row in found if row["response"] is not None}


def given(material: Material) -> dict[tuple[str, str], frozenset[str]]:
    """Ids of the passages that an answer was written from, where they are told from all that was retrieved."""
    return {
        (str(row["system"]), str(row["sample"])): frozenset(map(str, row["contexts"]))
        for row in _first_answers(material)
        if row.get("contexts") is not None
    }


def _first_answers(material: Material) -> Sequence[Mapping[Any, Any]]:
    table = material.kept("answers")
    if "repeat" in table:
        table = table[table["repeat"] == 0]
    return table.to_dict("records") if len(table) else ()


def _lead(head: Markup | str, body: Markup | str) -> Markup:
    return Markup('<p class="rb-lead">{}</p><p class="rb-text">{}</p>').format(head, body)


def _passage(material: Material, system: str, sample: str, chunk: Any) -> str:
    return anchor(f"passage{material.systems.index(system)}", f"{sample}/{chunk}")


def _metric(
    material: Material,
    system: str,
    sample: str,
    metric: str,
    lines: Sequence[Mapping[str, Any]],
    unfolded: bool,
    passages: Passages,
) -> Markup:
    """What each judge made of the answer by one metric: the formula with its numbers, and the verdicts behind it."""
    value = material.score(sample, metric, system)
    summary = Markup('{} <span class="rb-number">{}</span>').format(
        shown(metric), material.text.number(value, material.digits(metric))
    )
    several = len(lines) > 1
    said = Markup("").join(_judgement(material, line, several, (system, sample), passages) for line in lines)
    return Markup('<details class="rb-fold rb-verdicts"{}><summary>{}</summary>{}</details>').format(
        Markup(" open") if unfolded else "", summary, said
    )


def _judgement(
    material: Material, line: Mapping[str, Any], several: bool, place: tuple[str, str], passages: Passages
) -> Markup:
    _ = material.text
    detail = stored(line["detail"])
    head = Markup("")
    if several:
        head = Markup('<b>{}</b> <span class="rb-number">{}</span> ').format(
            shown(line["judge"]), _.number(_value(line["value"]))
        )
    if line["status"] != "ok":
        head += Markup('<span class="rb-chip rb-not-shown">{}</span> ').format(
            _("not measured: {status}", status=shown(line["status"]))
        )
    tables = Markup("").join(_headed(material, one, place, passages) for one in rulings(material, detail, passages))
    return Markup("<p>{}{}</p>{}").format(head, shown(reason(material, line["reason"], detail), 4000), tables)


def _headed(material: Material, found: Rulings, place: tuple[str, str], passages: Passages) -> Markup:
    leads = [Markup('<p class="rb-lead">{}</p>').format(shown(heading)) for heading in found.headings]
    return Markup("").join([*leads, _table(material, found, place, passages)])


def _table(material: Material, found: Rulings, place: tuple[str, str], passages: Passages) -> Markup:
    """One row a statement; a column only where a row has something for it."""
    _ = material.text
    lines = found.lines
    heads: list[Markup] = []
    columns: list[Callable[[Ruling], Markup]] = []
    if any(line.statement for line in lines):
        heads.append(cells.head(_("statement")))
        columns.append(lambda line: Markup("<th scope=row>{}</th>").format(shown(line.statement, STATEMENT)))
    heads.append(cells.head(_("verdict"), "rb-word"))
    columns.append(lambda line: cells.cell(_("verdict"), chip(material, line.verdict), "rb-word"))
    if any(line.led_by for line in lines):
        heads.append(cells.head(_("led by"), "rb-word"))
        columns.append(lambda line: cells.cell(_("led by"), word(material, line.led_by), "rb-word"))
    if any(line.cosine is not None for line in lines):
        heads.append(cells.head(_("cosine")))
        columns.append(lambda line: cells.cell(_("cosine"), _.number(line.cosine)))
    if any(name in passages for line in lines for name in line.chunks):
        heads.append(cells.head(_("passages cited"), "rb-word"))
        columns.append(lambda line: cells.cell(_("passages cited"), _cited(material, line, place, passages), "rb-word"))
    if any(line.reason for line in lines):
        heads.append(cells.head(_("reason"), "rb-word"))
        columns.append(lambda line: cells.cell(_("reason"), shown(reason_in(line.reason, _), 1000), "rb-word"))
    made = [cells.row([column(line) for column in columns]) for line in lines]
    return cells.table(found.title, heads, made, "rb-wide rb-statements")


def _cited(material: Material, line: Ruling, place: tuple[str, str], passages: Passages) -> Markup:
    return Markup(", ").join(
        Markup('<a href="#{}">{}</a>').format(_passage(material, *place, name), shown(name, 80))
        for name in line.chunks
        if name in passages
    )


def chip(material: Material, verdict: str) -> Markup:
    """A judge's verdict as a word in its colour."""
    return Markup('<span class="rb-chip {}">{}</span>').format(
        KINDS.get(verdict, "rb-not-shown"), word(material, verdict)
    )


def _value(value: Any) -> float:
    return math.nan if value is None else float(value)
