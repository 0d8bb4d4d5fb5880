"""Judged answers: the worst of each system and why, and judged means beside what people would give."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragbench.old.core.language import DASH
from ragbench.old.core.measurement import CORRECTED
from ragbench.old.core.parts import (
    Content,
    Entries,
    Entry,
    Item,
    Link,
    Number,
    P,
    Phrase,
    Section,
    Styled,
    Table,
    Text,
    bold,
    filled,
    joined,
    small,
)
from ragbench.old.tiers.scoring.corrections import CorrectedRow
from ragbench.old.views.basics.differences import without_judge
from ragbench.old.views.basics.marks import chip, measured, named, rows_of, value_of
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.side_tables import KINDS, Ruling, Rulings, lowest, reason, rows, rulings, stored, word
from ragbench.old.views.basics.text import anchor, clean, shown
from ragbench.old.views.view import view

Passages = Mapping[str, str]
STATEMENT, PASSAGE, EXCERPT = 600, 1200, 160  # a paragraph, a passage, two lines


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
def verdicts(material: Material, present: frozenset[str], count: int = 10, metric: str = "") -> Content:
    """The `count` worst answers of each system, with every statement's verdict, reason, passages and the formula.

    metric: the judged metric that says which are the worst; empty for the page's primary one.
    """
    _ = material.text
    judged = rows(material)
    chosen = ranked_by(material, metric)
    if chosen is None:
        return Text(_("No answer was judged."))
    systems = [name for name in material.systems if any(system == name for system, sample in judged)]
    blocks = list[Content]()
    for name in systems:
        samples = lowest(material, name, chosen, count)
        worst = filled(_("Lowest {metric} of <b>{system}</b>"), metric=shown(chosen), system=shown(name))
        if material.lower_is_better(chosen):
            worst = filled(_("Highest {metric} of <b>{system}</b>"), metric=shown(chosen), system=shown(name))
        if not samples:
            samples = [sample for system, sample in judged if system == name][:count]
            worst = filled(
                _("First answers of <b>{system}</b>: all have the same {metric}"),
                metric=shown(chosen),
                system=shown(name),
            )
        items = [_item(material, name, sample, chosen, judged) for sample in samples]
        blocks.append((Text(worst, "h3"), Entries(items, "rb-questions rb-judged", ordered=True)))
    return blocks


def _item(
    material: Material,
    system: str,
    sample: str,
    chosen: str,
    judged: Mapping[tuple[str, str], Sequence[Mapping[str, Any]]],
) -> Entry:
    question = material.question_rows.get(sample, {})
    by_metric: dict[str, list[Mapping[str, Any]]] = {}
    for line in judged.get((system, sample), ()):
        by_metric.setdefault(str(line["metric"]), []).append(line)
    passages = {str(hit["chunk"]): hit["text"] for hit in material.retrieved.get((system, sample), [])}
    order = sorted(by_metric, key=lambda name: name != chosen)
    made = [_metric(material, system, sample, name, by_metric[name], name == chosen, passages) for name in order]
    return Entry(
        anchor(f"judged{material.systems.index(system)}", sample),
        shown(question.get("text") or sample, 400),
        value_of(material, sample, chosen, system),
        (_texts(material, system, sample, question), made, Text(shown(sample, 80), "rb-meta")),
    )


def _texts(material: Material, system: str, sample: str, question: Mapping[str, Any]) -> Content:
    """The answer, the reference and the passages, as the judge saw them."""
    _ = material.text
    parts = list[Content]()
    answer = answers(material).get((system, sample))
    if answer is not None:
        head = filled(_("<b>{system}</b> answered"), system=shown(system))
        parts.append((Text(head, "rb-lead"), Text(shown(answer, 4000), "rb-text")))
    if reference := shown(question.get("reference"), 4000):
        parts.append((Text(_("Reference"), "rb-lead"), Text(reference, "rb-text")))
    seen = given(material).get((system, sample))
    hits = [hit for hit in material.retrieved.get((system, sample), []) if seen is None or str(hit["chunk"]) in seen]
    if hits:
        texts = [
            Item(
                [Text(shown(hit["text"], PASSAGE)), Text(shown(hit["chunk"], 80), "rb-meta")],
                anchor=_passage(material, system, sample, hit["chunk"]),
            )
            for hit in hits
        ]
        title = _.plural("It had {n} passage", "It had {n} passages", len(hits))
        parts.append(Section([Entries(texts, "rb-hits", ordered=True)], title))
    return parts


def answers(material: Material) -> dict[tuple[str, str], str]:
    """Answers by system and sample, of the table `answers`, the first of repeats; empty where there is none."""
    rows = _first_answers(material)
    return {(str(row["system"]), str(row["sample"])): row["response"] for row in rows if row["response"] is not None}


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
) -> Content:
    """What each judge made of the answer by one metric: the formula with its numbers, and the verdicts behind it."""
    value = Number(material.score(sample, metric, system), material.digits(metric))
    said = [_judgement(material, line, len(lines) > 1, (system, sample), passages) for line in lines]
    summary = (shown(metric), " ", value)
    return Section(said, summary, look="rb-fold rb-verdicts", open=unfolded)


def _judgement(
    material: Material, line: Mapping[str, Any], several: bool, place: tuple[str, str], passages: Passages
) -> Content:
    _ = material.text
    detail = stored(line["detail"])
    head = list[Phrase]()
    if several:
        head = [bold(shown(line["judge"])), " ", Number(_value(line["value"])), " "]
    if line["status"] != "ok":
        said = _("not measured: {status}", status=clean(line["status"]))
        head += [Styled(said, look="rb-chip rb-not-shown"), " "]
    tables = list[Content]()
    for ruling in rulings(material, detail, passages):
        tables += [Text(clean(heading), "rb-lead") for heading in ruling.headings]
        tables.append(_table(material, ruling, place, passages))
    return (Text([*head, shown(reason(material, line["reason"], detail), 4000)]), tables)


def _table(material: Material, ruled: Rulings, place: tuple[str, str], passages: Passages) -> Content:
    """One row a statement; a column only where a row has something for it."""
    _ = material.text
    lines = ruled.lines
    columns: list[tuple[bool, str, str, Callable[[Ruling], Any]]] = [
        (any(line.statement for line in lines), _("statement"), "", lambda line: shown(line.statement, STATEMENT)),
        (True, _("verdict"), "rb-word", lambda line: ruling_chip(material, line.verdict)),
        (any(line.led_by for line in lines), _("led by"), "rb-word", lambda line: word(material, line.led_by)),
        (any(line.cosine is not None for line in lines), _("cosine"), "", lambda line: Number(line.cosine)),
        (
            any(name in passages for line in lines for name in line.chunks),
            _("passages cited"),
            "rb-word",
            lambda line: _cited(material, line, place, passages),
        ),
        (
            any(line.reason for line in lines),
            _("reason"),
            "rb-word",
            lambda line: shown(line.reason, 1000),
        ),
    ]
    used = [column for column in columns if column[0]]
    heads = [(title, kind) for _there, title, kind, _value in used]
    rows = [[value(line) for _there, _title, _kind, value in used] for line in lines]
    return Table.of(_, ruled.title, heads, rows, "rb-wide rb-statements")


def _cited(material: Material, line: Ruling, place: tuple[str, str], passages: Passages) -> Phrase:
    """Each passage that a statement rests on, with how its text begins, so that both are read together."""
    return joined(
        "; ",
        (
            (Link(shown(name, 80), f"#{_passage(material, *place, name)}"), small(shown(passages[name], EXCERPT)))
            for name in line.chunks
            if name in passages
        ),
    )


def ruling_chip(material: Material, verdict: str) -> Styled:
    """A judge's verdict as a word in its colour."""
    return Styled(word(material, verdict), look=f"rb-chip {KINDS.get(verdict, 'rb-not-shown')}")


def _value(value: Any) -> float:
    return math.nan if value is None else float(value)


@view("corrected")
def corrected(material: Material, present: frozenset[str]) -> Content:
    """Judged means beside what people would give; see `ragbench.old.tiers.corrected`. Empty without labels."""
    rows = rows_of(CorrectedRow, material.kept("corrected"))
    if not rows:
        return ()
    return (_means(material, rows), _differences(material))


def _means(material: Material, rows: Sequence[CorrectedRow]) -> Content:
    _ = material.text
    heads = (_("mean"), _("judge alone"), _("corrected by people"), _("people alone"), _("labels"), _("correlation"),
             _("worth in labels"))  # fmt: skip
    body = []
    for row in rows:
        system, metric = row["system"], row["metric"]
        seen = {by: material.estimate(system, metric, mean=by) for by in ("judge", "corrected", "people")}
        judge, both, people = (
            None if estimate is None else measured(material, estimate, metric) for estimate in seen.values()
        )
        combined = seen["corrected"]
        values: list[Any] = [
            (shown(metric), " ", Styled(_name(material, system), "small")),
            judge,
            (
                DASH if both is None else both,
                small(without_judge(combined.note, _) if combined and combined.method != "prediction_powered" else ""),
            ),
            people,
            _(
                "{labels} of {items}",
                labels=_.integer(combined.n if combined else 0),
                items=_.integer(row["items"]),
            ),
            Number(row["correlation"], 2),
            Number(combined.n_effective if combined else None, 0),
        ]
        body.append(values)
    return (Table.of(_, _("Means corrected by people's labels"), heads, body), _notes(material, rows))


def _name(material: Material, system: str) -> Phrase:
    return named(material, system) if system in material.systems else shown(system)


def _notes(material: Material, rows: Sequence[Mapping[Any, Any]]) -> Content:
    _ = material.text
    said = [
        _(
            "Corrected: labels on some answers and the judge's scores on all of them make one estimate of the mean "
            "that people would give (PPI++, cross-fitted). The labelled answers have to be drawn at random. “Worth in "
            "labels” is how many labels alone would give an interval as narrow."
        )
    ]
    partly = sorted({str(row["metric"]) for row in rows} - set(material.corrected))
    if partly:
        said.append(
            _(
                "Some systems have no labels on {metrics}: elsewhere on this page these means are the judge's, so that "
                "they can be compared.",
                metrics=clean(", ".join(partly)),
            )
        )
    agreed = [row for row in rows if row["alpha"] == row["alpha"]]
    if agreed:
        values = sorted(float(row["alpha"]) for row in agreed)
        said.append(
            _(
                "People agree with each other with a Krippendorff's α (interval scale) of {low} to {high} where "
                "several labelled the same answer; their mean counts.",
                low=_.number(values[0], 2),
                high=_.number(values[-1], 2),
            )
        )
    return Text(" ".join(said), "rb-meta")


def _differences(material: Material) -> Content:
    _ = material.text
    comparisons = [finding for finding in material.measurement.comparisons_by("mean") if finding.where == CORRECTED]
    if not comparisons:
        return ()
    heads = (_("difference"), _("judge alone"), _("as people would see it"), _("p (Holm)"), _("verdict"), _("labels"))
    body = []
    for each in comparisons:
        comparison, metric = each.comparison, each.metric
        where = {"mean": "judge"} if metric in material.corrected else {}
        judge = material.comparison(comparison.challenger, metric, **where)
        compared = (_name(material, comparison.challenger), " − ", shown(comparison.baseline))
        body.append(
            [
                (shown(metric), " ", Styled(compared, "small")),
                None if judge is None else measured(material, judge, metric),
                measured(material, comparison, metric),
                P(comparison.p_adjusted),
                chip(material, comparison),
                comparison.n,
            ]
        )
    return Table.of(_, _("Differences corrected by people's labels"), heads, body)
