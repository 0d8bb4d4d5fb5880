"""From evidence to what a page may show: a tier's own function states it, and what holds for all pages is applied."""

from __future__ import annotations

from collections.abc import Callable

from ragbench.core.measurement import Evidence, Findings, Measurement
from ragbench.tiers.basics import interest, withholding

State = Callable[[Evidence], Findings]
"""States the findings of evidence: pure, so that a part of it, or several joined, are stated by the same."""


def stated(evidence: Evidence, state: State) -> Measurement:
    """The evidence with its findings: without verdicts that what was retrieved does not allow, and with the smallest
    differences of interest, where the facts tell those."""
    return interest.applied(withholding.applied(Measurement.of(evidence, state(evidence))))


def nothing(_evidence: Evidence) -> Findings:
    """Of what is only listed or drawn nothing is stated."""
    return Findings()
