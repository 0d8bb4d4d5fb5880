"""Questions by how bad their values are, with what was retrieved for them and what they needed."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from ragbench.core.language import Translator
from ragbench.core.parts import Entries, Item, Part, Styled, Text, filled, joined
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import shown

SHOWN_HITS = 3
EXCERPT = 280


def lowest(material: Material, system: str, metric: str, count: int) -> list[str]:
    """Samples with the worst values; among equals those that lost most against the baseline, then by id."""
    sign = -1.0 if material.lower_is_better(metric) else 1.0
    keyed = []
    for sample in material.question_rows:
        value = material.score(sample, metric, system)
        if math.isfinite(value):
            keyed.append((sign * value, -loss(material, sample, metric, system), sample))
    best = max((value for value, _, _ in keyed), default=0.0)
    return [sample for value, _, sample in sorted(keyed)[:count] if value < best]


def loss(material: Material, sample: str, metric: str, system: str) -> float:
    """How much worse than the baseline's; 0 where either is unmeasured or there is no baseline."""
    if material.baseline is None:
        return 0.0
    sign = -1.0 if material.lower_is_better(metric) else 1.0
    lost = sign * (material.score(sample, metric, material.baseline) - material.score(sample, metric, system))
    return lost if math.isfinite(lost) else 0.0


def instead(material: Material, sample: str, system: str) -> list[Part]:
    """What the system retrieved first, each passage marked as relevant or not where that is known."""
    _ = material.text
    hits = material.retrieved.get((system, sample), [])
    if not hits:
        return [Text(filled(_("<b>{system}</b> retrieved nothing."), system=shown(system)))]
    items = [_hit(material, hit) for hit in hits[:SHOWN_HITS]]
    title = filled(_("<b>{system}</b> retrieved first"), system=shown(system))
    return [Text(title, "rb-lead"), Entries(items, "rb-hits", ordered=True)]


def _hit(material: Material, hit: Mapping[str, Any]) -> Item:
    _, gain = material.text, _gain(hit)
    good = gain is not None and gain > 0
    similarity = hit.get("similarity")
    near = ""
    if isinstance(similarity, float) and math.isfinite(similarity):
        near = _("similarity {value}", value=_.number(similarity))
    label = "" if gain is None else Styled(_("relevant"), look="rb-good") if good else _("not relevant")
    about = joined(" · ", (label, shown(hit["chunk"], 80), near))
    return Item([Text(shown(hit["text"], EXCERPT)), Text(about, "rb-meta")], "rb-hit-good" if good else "")


def wanted(material: Material, sample: str, needed: Mapping[str, float], row: Mapping[str, Any]) -> list[Part]:
    """The passages that the question needed, where each system ranked them, and their text where it is known."""
    _ = material.text
    if not needed:
        return [Text(_("No passage of the knowledge base is labelled as relevant to this question."))]
    items = [_needed(material, sample, chunk) for chunk in needed]
    hits = (hit for name in material.systems for hit in material.retrieved.get((name, sample), []))
    said = [Text(untold(_))] if any(_gain(hit) is None for hit in hits) else []
    return [Text(_("It needed"), "rb-lead"), Entries(items, "rb-hits"), *said]


def _needed(material: Material, sample: str, chunk: str) -> Item:
    _ = material.text
    places = []
    for name in material.systems:
        hits = material.retrieved.get((name, sample), [])
        rank = next((int(hit["rank"]) for hit in hits if document(material, hit) == chunk), None)
        places.append(shown(name) + f": {ranked(_, rank, map(_gain, hits))}")
    text = material.chunk_texts.get(chunk, "")
    said = [Text(shown(text, EXCERPT))] if text else []
    return Item([*said, Text(" · ".join([shown(chunk, 80), *places]), "rb-meta")])


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
