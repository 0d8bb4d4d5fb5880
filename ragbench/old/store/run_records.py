"""What is kept of a run: who measured what, on which data, with which numbers. Plain values, no database."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from ragbench.old.core.facts import Facts
from ragbench.old.core.types import Array, Better

RunStatus = Literal["complete", "failed", "interrupted"]
OWN = "ragbench"

NOT_COMPARABLE = (
    "outside_scale",  # beyond the ends of the metric's scale, such as an NDCG above 1
    "mixed_units",  # chunks and pages in one number
    "unfilled_prompt",  # the judge was asked with the places of its prompt unfilled
    "other_definition",  # another quantity under the same name
    "unknown_unit",  # nothing says what was ranked
)
"""Reasons that pages have words for, in their language; any other text is shown as it is."""


@dataclass(frozen=True)
class RunValue:
    """One number of a run, with what is known of how sure it is.

    value: NaN where it was not measured. low, high: its interval at `level`, None where none is known. method: of the
    interval; `ragbench.old.core.types.BY_CONSTRUCTION` where there is none since it could not have been otherwise. n: how
    many questions it is a mean over, None where nobody says. bounds: the ends of the scale. unit: what was ranked
    ("chunk", "url"), None where nothing was or nobody knows. comparable: False, with the `reason` (see NOT_COMPARABLE),
    for a number that must not be set against another run's; it is shown all the same, and marked.
    """

    notebook: str
    system: str
    metric: str
    value: float
    low: float | None = None
    high: float | None = None
    level: float = 0.95
    method: str = "none"
    n: int | None = None
    n_unmeasured: int | None = None
    better: Better | None = None
    bounds: tuple[float | None, float | None] = (None, None)
    unit: str | None = None
    comparable: bool = True
    reason: str = ""

    def __post_init__(self) -> None:
        if self.comparable and self.reason:
            raise ValueError(f"{self.metric}: a reason ({self.reason!r}) is given for what is not comparable")
        if not self.comparable and not self.reason:
            raise ValueError(f"{self.metric}: what is not comparable needs a reason")

    @property
    def scale_low(self) -> float | None:
        return self.bounds[0]

    @property
    def scale_high(self) -> float | None:
        return self.bounds[1]

    def checked(self) -> RunValue:
        """The same, marked as not comparable where it lies outside its scale."""
        low, high = self.bounds
        slack = 1e-9
        outside = (low is not None and self.value < low - slack) or (high is not None and self.value > high + slack)
        return replace(self, comparable=False, reason="outside_scale") if outside and self.comparable else self


@dataclass(frozen=True)
class RunScores:
    """The values of one notebook question by question.

    samples: the questions' ids. fingerprints: one hash a question of its text, its reference and what is relevant to
    it; where two runs have the same, it is the same question. clusters: the group of each question, None where all are
    independent. values: (system, metric) → (questions,) values, NaN where one was not measured.
    """

    notebook: str
    samples: tuple[str, ...]
    fingerprints: tuple[str, ...]
    clusters: tuple[str, ...] | None
    values: Mapping[tuple[str, str], Array]

    def __post_init__(self) -> None:
        lengths = {len(self.samples), len(self.fingerprints), *map(len, self.values.values())}
        if self.clusters is not None:
            lengths.add(len(self.clusters))
        if len(lengths) > 1:
            raise ValueError(f"{self.notebook}: every column has one entry a question; got {sorted(lengths)}")


@dataclass(frozen=True)
class RunPart:
    """One notebook of a run: its data, what it ranked, its systems, and the facts of its page."""

    notebook: str
    status: str = "complete"
    failure: str = ""
    dataset: str | None = None
    data_hash: str | None = None
    unit: str | None = None
    systems: tuple[str, ...] = ()
    baseline: str | None = None
    facts: Facts = field(default_factory=Facts)


@dataclass(frozen=True)
class RunRecord:
    """A run as it is kept, compared and drawn over time.

    id: the name of its folder; of a loaded history a name of its own. started: None where nobody knows. origin: OWN,
    or what the run was loaded from. folder: where its pages lie, None for none. identities: what the numbers depend on,
    by kind: `code`, `data`, `models`, `prompts`, `parameters`, `thresholds`, each a flat mapping of names to texts.
    manifest: the run's manifest, or what the foreign file said of itself. comparisons: rows of its summary.
    scores: empty for a run of which only summaries are known. replies: the journal's keys of the replies that its
    numbers were made of, None where nobody knows.
    """

    id: str
    started: datetime.datetime | None = None
    status: RunStatus = "complete"
    origin: str = OWN
    seconds: float | None = None
    folder: Path | None = None
    identities: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    manifest: Mapping[str, Any] = field(default_factory=dict)
    parts: tuple[RunPart, ...] = ()
    values: tuple[RunValue, ...] = ()
    comparisons: tuple[Mapping[str, Any], ...] = ()
    scores: tuple[RunScores, ...] = ()
    replies: tuple[str, ...] | None = None

    def part(self, notebook: str) -> RunPart | None:
        """What the run says of a notebook; None where it has none of that name."""
        return next((part for part in self.parts if part.notebook == notebook), None)

    def of(self, notebook: str) -> RunScores | None:
        """The values of a notebook question by question; None where only summaries are known."""
        return next((scores for scores in self.scores if scores.notebook == notebook), None)

    def value(self, notebook: str, system: str, metric: str) -> RunValue | None:
        """The number of a system on a metric; None where there is none."""
        wanted = (notebook, system, metric)
        return next((v for v in self.values if (v.notebook, v.system, v.metric) == wanted), None)

    @property
    def name(self) -> str:
        """What its user calls it; empty where nobody said. Several runs may have one name."""
        return str(self.manifest.get("name") or "")

    @property
    def note(self) -> str:
        """What its user says of it; empty where nobody did."""
        return str(self.manifest.get("note") or "")

    @property
    def title(self) -> str:
        """Its name, else its id."""
        return self.name or self.id

    @property
    def measured(self) -> int:
        """How many of the run's numbers are there."""
        return sum(not math.isnan(each.value) for each in self.values)


def plain_json(value: Any) -> str:
    """A JSON text that a database takes: null for NaN and infinities, no sign of code 0, no half of a pair of signs."""
    return json.dumps(_plain(value), ensure_ascii=False, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {plain_text(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return plain_text(value) if isinstance(value, str) else value


def plain_text(text: str) -> str:
    """A text that a database takes."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")


def entitled(manifest: Mapping[str, Any], said: Mapping[str, str]) -> dict[str, Any]:
    """A manifest with other words on what the run is called and what is said of it; an empty text takes one away."""
    kept = {key: value for key, value in manifest.items() if key not in said}
    return kept | {key: text for key, text in said.items() if text}
