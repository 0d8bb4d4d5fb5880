"""What the views of blame read: its tables by system and part, and the words for the parts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from ragbench.core import unidentified
from ragbench.core.parts import Value, spoken
from ragbench.core.types import Comparison, Estimate
from ragbench.metrics.explanation import reason_in
from ragbench.views.basics.material import Material

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
        self._unidentified = unidentified.of(pages.get(page, {}) if page else material.facts)
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
