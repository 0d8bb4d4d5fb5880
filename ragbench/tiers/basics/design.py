"""How a page's findings are made: of whom, on which questions, how sure; read from what was measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ragbench.core.measurement import Evidence
from ragbench.core.metric import Metric
from ragbench.core.types import Question
from ragbench.metrics import declaration
from ragbench.tiers.basics import frames
from ragbench.tiers.basics.families import Sureness

KNOWN = ("reference", "kind", "language", "cluster", "answerable", "source")


@dataclass(frozen=True)
class Design:
    """What all findings of a page have in common."""

    evidence: Evidence

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The systems, the baseline first."""
        named = dict.fromkeys(str(each["name"]) for each in self.evidence.facts.get("systems") or ())
        return tuple(sorted(named, key=lambda name: name != self.evidence.facts.get("baseline")))

    @cached_property
    def questions(self) -> list[Question]:
        """All questions that are kept, in the data set's order."""
        return [question_of(row) for row in self.evidence.questions.to_dict("records")]

    @cached_property
    def asked(self) -> list[Question]:
        """Those that means are over: the base may answer them, as far as anybody says."""
        return [question for question in self.questions if question.answerable is not False]

    @cached_property
    def clusters(self) -> dict[str, str] | None:
        """Question → cluster; None where all are independent, or taken as such."""
        return None if self.evidence.facts.get("cluster_by") == "none" else frames.clusters(self.asked)

    @cached_property
    def labels(self) -> list[str] | None:
        """The clusters in the questions' order."""
        return None if self.clusters is None else list(self.clusters.values())

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics that were measured and are known here, in their order."""
        labels = dict.fromkeys(self.evidence.scores["metric"])
        return tuple(metric for label in labels if (metric := declaration(label)) is not None)

    @cached_property
    def sureness(self) -> Sureness:
        """Level, draws and seed."""
        return Sureness(*(self.evidence.facts[name] for name in ("level", "resamples", "seed")))

    @cached_property
    def primary(self) -> str:
        """The label of the primary metric; empty where none is."""
        return str(self.evidence.facts.get("primary") or "")

    @cached_property
    def dimensions(self) -> tuple[str, ...]:
        """What the questions are sliced by."""
        return tuple(self.evidence.facts.get("slice_by") or ())

    def counts(self) -> dict[str, Any]:
        """How many questions and groups of them there are."""
        return {
            "n_questions": len(self.asked),
            "n_clusters": None if self.clusters is None else len(set(self.clusters.values())),
        }


def question_of(row: Mapping[Any, Any]) -> Question:
    """A question as tables keep it, without what is relevant to it."""
    known = {name: _given(row.get(name)) for name in KNOWN}
    if known["answerable"] is not None:
        known["answerable"] = bool(known["answerable"])
    references = tuple(map(str, row.get("references", ())))
    return Question(str(row["sample"]), str(row["text"] or ""), references=references, **known)


def _given(value: Any) -> Any:
    return None if value is None or value != value else value
