"""What pages of several runs say besides what every page may say, and what loaded runs say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from ragbench.core.facts import Facts, Told


class RunFacts(Facts, total=False):
    """run, runs: what is told of each; sections: the parts of a history. fallen: how many questions fell out, by run.

    other_data: that not all runs are of the same data. identified: that all say what their numbers depend on.
    topic_coverage: how many passages each topic of a loaded run found. pairs: systems that are compared, with whom.
    """

    run: str
    runs: Sequence[Told]
    sections: Sequence[Told]
    fallen: Sequence[Told]
    other_data: bool
    identified: bool
    topic_coverage: Sequence[Told]
    pairs: Sequence[Sequence[str]]


def run_facts(facts: Facts) -> RunFacts:
    """The facts of a page of runs, or of a part of a loaded run."""
    return cast(RunFacts, facts)
