"""Judged answers: the worst of each system, with what was retrieved, each statement's verdict, and the formula."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from markupsafe import Markup

from ragbench.metrics.explanation import reason_in, spoken
from ragbench.show import cells
from ragbench.show.material import Material
from ragbench.show.text import anchor, shown
from ragbench.show.worst import lowest, value_of

Detail = Mapping[str, Any]
KINDS = {
    "supported": "rb-better",
    "useful": "rb-better",
    "committal": "rb-better",
    "yes": "rb-better",
    "contradicted": "rb-worse",
    "useless": "rb-worse",
    "noncommittal": "rb-worse",
    "no": "rb-worse",
}
STATEMENT, PASSAGE = 600, 1200
SIDES = ("response", "reference")


def draw(material: Material, present: frozenset[str], count: int, metric: str = "") -> Markup:
    """A list for each system: its `count` worst answers by the metric, each with all that judges said of it."""
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


def ranked_by(material: Material, metric: str = "") -> str | None:
    """The judged metric that says which answers are the worst: the one named, else the page's, else the first."""
    known = list(dict.fromkeys(line["metric"] for lines in rows(material).values() for line in lines))
    if metric and metric not in known:
        raise ValueError(f"verdicts(metric={metric!r}): judged are {', '.join(known) or 'none'}")
    wanted = (metric, material.primary, *known)
    return next((name for name in wanted if name in known and name in material.metrics), None)


def rows(material: Material) -> dict[tuple[str, str], list[Mapping[str, Any]]]:
    """Judgements by system and sample, in the order in which they were measured."""
    table = material.kept("judgements")
    found: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    records: Iterable[Mapping[Any, Any]] = table.to_dict("records") if len(table) else ()
    for row in records:
        found.setdefault((str(row["system"]), str(row["sample"])), []).append(row)
    return found


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
    order = sorted(by_metric, key=lambda name: name != chosen)
    return Markup(
        '<li id="{}"><details><summary><span class="rb-asked">{}</span><span class="rb-marks">{}</span></summary>{}{}'
        '<p class="rb-meta">{}</p></details></li>'
    ).format(
        anchor(f"judged{place}", sample),
        shown(question.get("text") or sample, 400),
        value_of(material, sample, chosen, system),
        _texts(material, system, sample, question),
        Markup("").join(_metric(material, system, sample, name, by_metric[name], name == chosen) for name in order),
        shown(sample, 80),
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
    material: Material, system: str, sample: str, metric: str, lines: Sequence[Mapping[str, Any]], unfolded: bool
) -> Markup:
    """What each judge made of the answer by one metric: the formula with its numbers, and the verdicts behind it."""
    value = material.score(sample, metric, system)
    summary = Markup('{} <span class="rb-number">{}</span>').format(
        shown(metric), material.text.number(value, material.digits(metric))
    )
    several = len(lines) > 1
    chunks = {str(hit["chunk"]) for hit in material.retrieved.get((system, sample), [])}
    said = Markup("").join(_judgement(material, line, several, (system, sample), chunks) for line in lines)
    return Markup('<details class="rb-fold rb-verdicts"{}><summary>{}</summary>{}</details>').format(
        Markup(" open") if unfolded else "", summary, said
    )


def _judgement(
    material: Material, line: Mapping[str, Any], several: bool, place: tuple[str, str], chunks: Iterable[str]
) -> Markup:
    _ = material.text
    detail = stored(line["detail"])
    reason = spoken(detail["explanation"], _) if detail.get("explanation") else reason_in(str(line["reason"] or ""), _)
    head = Markup("")
    if several:
        head = Markup('<b>{}</b> <span class="rb-number">{}</span> ').format(
            shown(line["judge"]), _.number(_value(line["value"]))
        )
    if line["status"] != "ok":
        head += Markup('<span class="rb-chip rb-not-shown">{}</span> ').format(
            _("not measured: {status}", status=shown(line["status"]))
        )
    known = frozenset(chunks)
    tables = Markup("").join(_tables(material, detail, place, known))
    return Markup("<p>{}{}</p>{}").format(head, shown(reason, 4000), tables)


def _tables(material: Material, detail: Detail, place: tuple[str, str], chunks: frozenset[str]) -> Iterable[Markup]:
    """The verdicts of one judgement, whatever its metric keeps them as."""
    _ = material.text
    titles = {"response": _("Claims of the response"), "reference": _("Claims of the reference")}
    if statements := detail.get("statements"):
        yield _table(material, _("Statements and verdicts"), statements, place, chunks)
    for side in SIDES:
        if claims := (detail.get("claims") or {}).get(side):
            yield Markup('<p class="rb-lead">{}</p>').format(titles[side])
            yield _table(material, titles[side], claims, place, chunks)
    if listed := detail.get("chunks"):
        texts = {str(hit["chunk"]): hit["text"] for hit in material.retrieved.get(place, [])}
        rows = [
            {**each, "statement": texts.get(each["chunk"], each["chunk"]), "chunks": [each["chunk"]]} for each in listed
        ]
        yield _table(material, _("Passages and verdicts"), rows, place, chunks)
    if questions := detail.get("questions"):
        rows = [{**each, "statement": each["question"], "verdict": each["manner"]} for each in questions]
        yield _table(material, _("Questions that the answer would answer"), rows, place, chunks)
    if verdicts := detail.get("verdicts"):
        yield _table(material, _("Repeats and verdicts"), verdicts, place, chunks)
    for name, part in (detail.get("parts") or {}).items():
        inner = Markup("").join(_tables(material, part, place, chunks))
        if inner:
            yield Markup('<p class="rb-lead">{}</p>{}').format(shown(name), inner)


def _table(
    material: Material, label: str, rows: Sequence[Detail], place: tuple[str, str], chunks: frozenset[str]
) -> Markup:
    """One row a statement; a column only where a row has something for it."""
    _ = material.text
    cited = any(str(name) in chunks for row in rows for name in row.get("chunks") or ())
    heads: list[Markup] = []
    columns: list[Callable[[Detail], Markup]] = []
    if any(row.get("statement") for row in rows):
        heads.append(cells.head(_("statement")))
        columns.append(lambda row: Markup("<th scope=row>{}</th>").format(shown(row.get("statement"), STATEMENT)))
    heads.append(cells.head(_("verdict"), "rb-word"))
    columns.append(lambda row: cells.cell(_("verdict"), chip(material, str(row.get("verdict") or "")), "rb-word"))
    if any("led_by" in row for row in rows):
        heads.append(cells.head(_("led by"), "rb-word"))
        columns.append(lambda row: cells.cell(_("led by"), word(material, row.get("led_by") or ""), "rb-word"))
    if any(row.get("cosine") is not None for row in rows):
        heads.append(cells.head(_("cosine")))
        columns.append(lambda row: cells.cell(_("cosine"), _.number(row.get("cosine"))))
    if cited:
        heads.append(cells.head(_("passages cited"), "rb-word"))
        columns.append(lambda row: cells.cell(_("passages cited"), _cited(material, row, place, chunks), "rb-word"))
    if any(row.get("reason") for row in rows):
        heads.append(cells.head(_("reason"), "rb-word"))
        columns.append(
            lambda row: cells.cell(_("reason"), shown(reason_in(row.get("reason") or "", _), 1000), "rb-word")
        )
    made = [cells.row([column(row) for column in columns]) for row in rows]
    return cells.table(label, heads, made, "rb-wide rb-statements")


def _cited(material: Material, row: Detail, place: tuple[str, str], chunks: frozenset[str]) -> Markup:
    return Markup(", ").join(
        Markup('<a href="#{}">{}</a>').format(_passage(material, *place, name), shown(name, 80))
        for name in map(str, row.get("chunks") or ())
        if name in chunks
    )


def chip(material: Material, verdict: str) -> Markup:
    """A judge's verdict as a word in its colour."""
    return Markup('<span class="rb-chip {}">{}</span>').format(
        KINDS.get(verdict, "rb-not-shown"), word(material, verdict)
    )


def word(material: Material, verdict: str) -> str | Markup:
    """A verdict's word in the page's language."""
    _ = material.text
    words = {
        "supported": _("supported"),
        "contradicted": _("contradicted"),
        "neutral": _("neither"),
        "useful": _("useful"),
        "useless": _("useless"),
        "committal": _("committal"),
        "noncommittal": _("noncommittal"),
        "relevant": _("a relevant passage"),
        "irrelevant": _("an irrelevant passage"),
        "yes": _("yes"),
        "no": _("no"),
    }
    return words.get(verdict) or shown(verdict, 80)


def _value(value: Any) -> float:
    return math.nan if value is None else float(value)


@lru_cache(maxsize=4096)
def stored(text: Any) -> Detail:
    """A judgement's detail, as it is stored."""
    found = json.loads(text) if isinstance(text, str) and text else {}
    return found if isinstance(found, dict) else {}
