"""What scores of a table of answers say first: the verdict on the primary metric, in the sentence that a page has."""

from __future__ import annotations

import math

from ragbench.core.language import translator
from ragbench.core.measurement import Measurement, NamedEstimate
from ragbench.core.parts import spoken
from ragbench.tiers.scoring.result import NOTEBOOK, Scores
from ragbench.views.basics.material import Material
from ragbench.views.sentences.findings import sentences


def said(scores: Scores, language: str = "") -> list[str]:
    """A sentence for each challenger, or for a system that stands alone, as plain text."""
    estimates = tuple(NamedEstimate(*place, mean) for place, mean in scores.means.items())
    facts = {
        "level": scores.level,
        "primary": scores.leading,
        "baseline": scores.systems[0] if len(scores.systems) > 1 else None,
        "systems": [{"name": name} for name in scores.systems],
    }
    numbers = Measurement(NOTEBOOK, facts, estimates=estimates, comparisons=scores.differences)
    if all(math.isnan(scores.means[name, scores.leading].value) for name in scores.systems
           if (name, scores.leading) in scores.means):  # fmt: skip
        return [translator(language or scores.language)("Nothing was measured.")]
    _ = translator(language or scores.language)
    return [said for texts in sentences(Material(numbers, _)) if (said := " ".join(spoken(_).blocks(texts).split()))]
