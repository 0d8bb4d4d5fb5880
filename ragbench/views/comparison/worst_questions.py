"""The worst questions, and what was retrieved for them instead of what they needed."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from markupsafe import Markup

from ragbench.core.language import Translator
from ragbench.views.basics.links import link
from ragbench.views.basics.marks import legend, sign
from ragbench.views.basics.material import Material
from ragbench.views.basics.templates import html
from ragbench.views.basics.text import anchor, clean, shown
from ragbench.views.view import view

SHOWN_HITS = 3
EXCERPT = 280


@view("worst")
def worst(material: Material, present: frozenset[str], count: int = 10) -> Markup:
    """The `count` worst questions of each challenger, and those where it lost most against the baseline."""
    _ = material.text
    metric = material.primary
    if metric is None or not material.question_rows:
        return html.p(_("There are no questions to show."))
    blocks = [html.legend(legend(material))] if len(material.systems) > 1 else []
    for name in material.challengers if material.baseline is not None else material.systems:
        blocks.append(_list(material, name, metric, lowest(material, name, metric, count), "worst", present))
        if material.baseline is not None:
            blocks.append(_list(material, name, metric, losses(material, name, metric, count), "lost", present))
    return html.all(*blocks)


@view("ways")
def ways(material: Material, present: frozenset[str]) -> Markup:
    """Instead of those lists, the ways to where they stand in the table of all questions; empty without the table."""
    metric = material.primary
    if metric is None or "questions" not in present:
        return Markup("")
    lines = []
    for name in material.challengers:
        wish = {"metric": clean(metric), "system": clean(name), "against": clean(material.baseline or "")}
        for sort in ("worst", "lost"):
            address = link(material, present, **wish, sort=sort)
            lines.append(html.link(address, _title(material, name, metric, sort)))
    return html.list(lines)


def _title(material: Material, system: str, metric: str, sort: str) -> Markup:
    """What the questions of a list have in common."""
    _ = material.text
    places = {"system": shown(system), "metric": shown(metric), "baseline": shown(material.baseline)}
    if sort == "lost":
        return _.html("Where <b>{system}</b> lost most {metric} against {baseline}", **places)
    if material.lower_is_better(metric):
        return _.html("Highest {metric} of <b>{system}</b>", **places)
    return _.html("Lowest {metric} of <b>{system}</b>", **places)


def lowest(material: Material, system: str, metric: str, count: int) -> list[str]:
    """Samples with the worst values; among equals those that lost most against the baseline, then by id."""
    sign = -1.0 if material.lower_is_better(metric) else 1.0
    keyed = []
    for sample in material.question_rows:
        value = material.score(sample, metric, system)
        if math.isfinite(value):
            keyed.append((sign * value, -_loss(material, sample, metric, system), sample))
    best = max((value for value, _, _ in keyed), default=0.0)
    return [sample for value, _, sample in sorted(keyed)[:count] if value < best]


def losses(material: Material, system: str, metric: str, count: int) -> list[str]:
    """Samples on which the system lost most against the baseline; none on which it did not lose."""
    keyed = sorted((-_loss(material, sample, metric, system), sample) for sample in material.question_rows)
    return [sample for loss, sample in keyed[:count] if loss < 0]


def _loss(material: Material, sample: str, metric: str, system: str) -> float:
    """How much worse than the baseline's; 0 where either is unmeasured or there is no baseline."""
    if material.baseline is None:
        return 0.0
    sign = -1.0 if material.lower_is_better(metric) else 1.0
    lost = sign * (material.score(sample, metric, material.baseline) - material.score(sample, metric, system))
    return lost if math.isfinite(lost) else 0.0


def _list(
    material: Material, system: str, metric: str, samples: list[str], prefix: str, present: frozenset[str]
) -> Markup:
    _ = material.text
    title = _title(material, system, metric, prefix)
    empty = _("Every question has the same value.") if prefix == "worst" else _("It lost on no question.")
    entries = [_item(material, sample, system, metric, prefix, present) for sample in samples]
    return html.heading(title) + (html.entries(entries) if entries else html.p(empty))


def _item(material: Material, sample: str, system: str, metric: str, prefix: str, present: frozenset[str]) -> Markup:
    row = material.question_rows[sample]
    names = [system] if material.baseline is None else [material.baseline, system]
    marks = html.all(*(value_of(material, sample, metric, name) for name in names))
    needed = relevant(row)
    more = html.link(f"#{anchor('q', sample)}", material.text("all values")) if "questions" in present else ""
    body = html.all(
        instead(material, sample, system),
        wanted(material, sample, needed, row),
        html.meta(html.all(shown(sample, 80), " ", more)),
    )
    return html.entry(anchor(f"{prefix}{material.systems.index(system)}", sample), shown(row["text"], 400), marks, body)


def value_of(material: Material, sample: str, metric: str, system: str) -> Markup:
    """`● 0.500`: a system's value on a question."""
    number = material.text.number(material.score(sample, metric, system), material.digits(metric))
    return html.value(shown(system), sign(material, system), number)


def instead(material: Material, sample: str, system: str) -> Markup:
    """What the system retrieved first, each passage marked as relevant or not where that is known."""
    _ = material.text
    hits = material.retrieved.get((system, sample), [])
    if not hits:
        return html.p(_.html("<b>{system}</b> retrieved nothing.", system=shown(system)))
    items = html.all(*(_hit(material, hit) for hit in hits[:SHOWN_HITS]))
    return html.lead(_.html("<b>{system}</b> retrieved first", system=shown(system))) + html.hit_list(items, "ol")


def _hit(material: Material, hit: Mapping[str, Any]) -> Markup:
    _, gain = material.text, _gain(hit)
    good = gain is not None and gain > 0
    similarity = hit.get("similarity")
    near = ""
    if isinstance(similarity, float) and math.isfinite(similarity):
        near = _("similarity {value}", value=_.number(similarity))
    label = "" if gain is None else html.span(_("relevant"), "rb-good") if good else _("not relevant")
    about = Markup(" · ").join(part for part in (label, shown(hit["chunk"], 80), near) if part)
    return html.hit(html.p(shown(hit["text"], EXCERPT)), about, "rb-hit-good" if good else "")


def wanted(material: Material, sample: str, needed: Mapping[str, float], row: Mapping[str, Any]) -> Markup:
    """The passages that the question needed, where each system ranked them, and their text where it is known."""
    _ = material.text
    if not needed:
        text = _("No passage of the knowledge base is labelled as relevant to this question.")
        return html.p(text)
    items = html.all(*(_needed(material, sample, chunk) for chunk in needed))
    hits = (hit for name in material.systems for hit in material.retrieved.get((name, sample), []))
    said = html.p(untold(_)) if any(_gain(hit) is None for hit in hits) else ""
    return html.lead(_("It needed")) + html.hit_list(items) + said


def _needed(material: Material, sample: str, chunk: str) -> Markup:
    _ = material.text
    places = []
    for name in material.systems:
        hits = material.retrieved.get((name, sample), [])
        rank = next((int(hit["rank"]) for hit in hits if document(material, hit) == chunk), None)
        places.append(shown(name) + f": {ranked(_, rank, map(_gain, hits))}")
    text = material.chunk_texts.get(chunk, "")
    return html.hit(html.p(shown(text, EXCERPT)) if text else "", Markup(" · ").join([shown(chunk, 80), *places]))


def document(material: Material, hit: Mapping[str, Any]) -> str:
    """What a hit counts as: its passage, whole or cut, or its web page where those are ranked."""
    by_page = material.facts.get("unit") == "url" and hit.get("url")
    return str(hit["url"] if by_page else hit.get("passage", hit["chunk"]))


def relevant(row: Mapping[str, Any]) -> dict[str, float]:
    """Relevant documents with their gains, however the table holds them: a mapping, a list of ids, JSON of either."""
    value: Any = row.get("relevant")
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            value = [value] if value else []
    if isinstance(value, Mapping):
        return {str(key): float(gain) for key, gain in value.items() if gain is not None and gain > 0}
    if value is None or isinstance(value, float):
        return {}
    return {str(item): 1.0 for item in value}


def ranked(_: Translator, rank: int | None, gains: Iterable[float | None]) -> str:
    """Where a needed passage stands among what was retrieved. gains: of all that was; None where it may be that one."""
    if rank is not None:
        return _("rank {rank}", rank=rank)
    return _("not known") if None in gains else _("not retrieved")


def untold(_: Translator) -> str:
    """Why passages are marked neither as relevant nor as not relevant though some are labelled."""
    return _("Labelled passages have only ids and retrieved ones only texts, or the other way round: those without a "
             "mark may be relevant or not.")  # fmt: skip


def _gain(hit: Mapping[str, Any]) -> float | None:
    """None where it is not known whether a passage is relevant."""
    gain = hit.get("gain")
    return float(gain) if isinstance(gain, int | float) and math.isfinite(gain) else None
