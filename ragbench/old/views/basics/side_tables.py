"""What several views read beside scores: the part to blame, what was retrieved, what judges made of answers."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cached_property, lru_cache
from typing import Any

from ragbench.old.core import gaps
from ragbench.old.core.language import Translator
from ragbench.old.core.parts import Entries, Item, Part, Styled, Text, Value, filled, joined, spoken
from ragbench.old.core.types import Comparison, Estimate
from ragbench.old.metrics import rulings as ruled
from ragbench.old.metrics.explanation import reason_in
from ragbench.old.metrics.explanation import spoken as worded
from ragbench.old.metrics.rulings import Detail, Ruling, Rulings
from ragbench.old.tiers.scoring.judged_metrics import JudgementRow
from ragbench.old.views.basics.marks import rows_of
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import clean, shown

ANSWERABLE, UNANSWERABLE = "answerable", "unanswerable"
GOOD, REFUSED, UNMEASURED, WITHHELD = "good", "right_refusal", "unmeasured", "withheld"
STEPS = {
    ANSWERABLE: ("missing", "not_retrieved", "too_low", "not_used", "beyond", WITHHELD, GOOD),
    UNANSWERABLE: ("invented", REFUSED),
}
Row = Mapping[Any, Any]


class Blamed:
    """The blame of one measurement, by system and part.

    page: of an overview the page whose blame it is.
    """

    def __init__(self, material: Material, page: str = "") -> None:
        self.material = material
        self.facts: Mapping[str, Any] = material.facts.get("blame") or {}
        self.rows: list[Row] = list(material.kept("blame").to_dict("records"))
        pages = {str(entry.get("name")): entry for entry in material.facts.get("pages") or ()}
        self._unidentified = gaps.unidentified(pages.get(page, {}) if page else material.facts)
        told = material.measurement.estimates_by("page", "part") if page else material.measurement.estimates_by("part")
        self.shares = {
            (estimate.system, str(estimate.where["part"])): estimate.estimate
            for estimate in told
            if not page or estimate.where["page"] == page
        }
        self.comparisons = {
            (comparison.comparison.challenger, str(comparison.where["part"])): comparison.comparison
            for comparison in material.measurement.comparisons_by("part")
        }

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """Those that have blame, the baseline first."""
        return tuple(sorted({system for system, _ in self.shares}, key=lambda name: self.material.order[name]))

    @cached_property
    def is_judged(self) -> bool:
        """Whether somebody decided which answers are shown."""
        named = self.facts.get("production_judge") or self.facts.get("shown_logged")
        return bool(named) or any(part == WITHHELD and e.value > 0 for (_, part), e in self.shares.items())

    def parts(self, group: str) -> tuple[str, ...]:
        """The parts of a group in the order of work; without a production judge none can withhold."""
        return tuple(part for part in STEPS[group] if part != WITHHELD or self.is_judged)

    def has(self, group: str) -> bool:
        """Whether there are questions of the group."""
        return any(part in STEPS[group] for _, part in self.shares)

    def count(self, system: str, part: str) -> int:
        """How many questions a part is to blame for."""
        share = self.share(system, part)
        return 0 if share is None else round(share.value * share.n)

    def measured(self, system: str, group: str) -> tuple[int, int]:
        """How many questions of a group were measured, and how many were not."""
        estimate = next((self.shares[system, part] for part in STEPS[group] if (system, part) in self.shares), None)
        return (0, 0) if estimate is None else (estimate.n, estimate.n_unmeasured)

    def share(self, system: str, part: str) -> Estimate | None:
        """The share of the measured questions; None where there is none."""
        estimate = self.shares.get((system, part))
        return None if estimate is None or math.isnan(estimate.value) else estimate

    def comparison(self, challenger: str, part: str) -> Comparison | None:
        """The challenger's share against the baseline's; None where neither has any."""
        return self.comparisons.get((challenger, part))

    def percent(self, e: Estimate) -> str:
        """`73% [64%, 81%]`; alone where it has no interval."""
        return spoken(self.material.text).phrase(Value.of(e, percent=True, bare=True))

    def worst(self, system: str) -> tuple[str, Estimate] | None:
        """The part that is first to blame for most of the questions that can be answered; None where none is, and
        where too much of what was retrieved is unknown."""
        if self.untold(system):
            return None
        lost = [(part, self.share(system, part)) for part in STEPS[ANSWERABLE] if part != GOOD]
        failures = [(part, e) for part, e in lost if e is not None and e.value > 0]
        return max(failures, key=lambda failure: round(failure[1].value * failure[1].n), default=None)

    @property
    def unlabelled(self) -> bool:
        """Whether nobody says of any question that can be answered which passage does."""
        return {row["cause"] for row in self.rows if row["group"] == ANSWERABLE} == {"label"}

    def untold(self, system: str) -> str:
        """Why nothing is concluded from what a system retrieved, for a reader; empty where something can be."""
        known = self._unidentified.get(system)
        return reason_in(known.reason, self.material.text) if known is not None and known.too_many else ""

    def name(self, part: str) -> str:
        """What people call the part's failure."""
        _ = self.material.text
        return {
            "missing": _("not in the knowledge base"),
            "not_retrieved": _("not retrieved"),
            "too_low": _("retrieved too low to be read"),
            "not_used": _("read, and the answer is wrong or a refusal"),
            "beyond": _("claims beyond what was read"),
            WITHHELD: _("good, but not shown"),
            GOOD: _("good answer"),
            "invented": _("answer invented"),
            REFUSED: _("rightly refused"),
            UNMEASURED: _("not measured"),
        }[part]

    def meaning(self, part: str) -> str:
        """The part's failure in a sentence."""
        _ = self.material.text
        return {
            "missing": _("The answer failed, and no passage of the base holds what it needed."),
            "not_retrieved": _("The base holds it, and no passage that does was retrieved."),
            "too_low": _("Such a passage was retrieved, below what the generator was given to read."),
            "not_used": _("Such a passage was read, and the answer is wrong or a refusal."),
            "beyond": _("The answer is right, and claims what the passages that were read do not say."),
            WITHHELD: _("The answer is right and faithful, but the production judge held it back."),
            GOOD: _("The answer is right, faithful, and was shown."),
            "invented": _("The base holds no answer, and one was shown all the same."),
            REFUSED: _("The base holds no answer, and none was shown."),
            UNMEASURED: _("What decides was not measured."),
        }[part]


SHOWN_HITS = 3  # what a reader sees of a ranking before it is opened
EXCERPT = 280  # four lines of a page


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


__all__ = ["KINDS", "Ruling", "Rulings", "reason", "rows", "rulings", "stored", "word"]


def rows(material: Material) -> dict[tuple[str, str], list[JudgementRow]]:
    """Judgements by system and sample, in the order in which they were measured."""
    judgements: dict[tuple[str, str], list[JudgementRow]] = {}
    for row in rows_of(JudgementRow, material.kept("judgements")):
        judgements.setdefault((row["system"], row["sample"]), []).append(row)
    return judgements


@lru_cache(maxsize=4096)
def stored(text: Any) -> Detail:
    """A judgement's detail, as it is stored; empty where that cannot be read."""
    try:
        detail = json.loads(text) if isinstance(text, str) and text else {}
    except ValueError:
        return {}
    return detail if isinstance(detail, dict) else {}


def reason(material: Material, given: Any, detail: Detail) -> str:
    """Why a score is what it is, in the page's language; `given` is its reason where no sentences are kept."""
    said = detail.get("explanation")
    if said:
        try:
            return worded(said, material.text)
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):  # sentences that another version has kept
            pass
    return clean(reason_in(str(given), material.text))


def rulings(material: Material, detail: Detail, texts: Mapping[str, str] | None = None) -> Iterator[Rulings]:
    """The verdicts of one judgement, its texts cleaned. texts: passages by id, to be read with them."""
    for ruling in ruled.rulings(detail, material.text, texts):
        lines = tuple(
            replace(
                line,
                statement=clean(line.statement),
                verdict=clean(line.verdict),
                reason=clean(reason_in(line.reason, material.text)),
                led_by=clean(line.led_by),
            )
            for line in ruling.lines
        )
        yield Rulings(ruling.title, lines, tuple(map(clean, ruling.headings)), ruling.of)


KINDS = {
    **dict.fromkeys(("supported", "useful", "committal", "yes", "full"), "rb-better"),
    **dict.fromkeys(("contradicted", "useless", "noncommittal", "no", "none"), "rb-worse"),
}
"""The class of a verdict's mark."""


def word(material: Material, verdict: str) -> str:
    """A verdict's word in the page's language."""
    said = ruled.word(verdict, material.text)
    return said if said != verdict else shown(verdict, 80)
