"""Several people's labels of the same answers: how far they agree, and what they settle on where they do not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragbench.old import stats
from ragbench.old.core import settings as configuration
from ragbench.old.core.language import translator
from ragbench.old.core.measurement import Measurement
from ragbench.old.core.metric import grades
from ragbench.old.core.parts import Value, spoken
from ragbench.old.core.types import Estimate
from ragbench.old.extras.labelling.annotation import (
    FOLDER,
    Other,
    Panel,
    chosen_scale,
    default_path,
    plain_name,
    widget,
)
from ragbench.old.extras.labelling.sheet import Item, Key, Sheet, items, key_of, read_given
from ragbench.old.metrics import declaration
from ragbench.old.tiers.scoring.corrections import SETTLED

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("id", "system", "question", "answer", "annotator", "value", "note", "differs")


@dataclass(frozen=True, repr=False)
class Agreement:
    """How far annotators agree on a metric.

    shared: the answers that two or more of them labelled, in their order. said: what each of them said of every answer.
    alpha: Krippendorff's α with its interval over questions; NaN where all labels are one. scale: on which it is:
    "ordinal" where the metric's scale has a few grades, else "interval".
    tolerance: how far two labels may lie apart before they differ.
    """

    metric: str
    annotators: tuple[str, ...]
    shared: tuple[Item, ...]
    said: Mapping[Key, tuple[Other, ...]]
    alpha: Estimate
    tolerance: float = 0.0
    language: str = "en"
    scale: stats.Scale = "interval"

    def of(self, item: Item) -> tuple[Other, ...]:
        """What each annotator said of an answer."""
        return self.said.get(key_of(item), ())

    @property
    def conflicts(self) -> tuple[Item, ...]:
        """The answers on which labels lie further apart than the tolerance."""
        return tuple(item for item in self.shared if self._differs(item))

    def _differs(self, item: Item) -> bool:
        values = [label.value for label in self.of(item)]
        return max(values) - min(values) > self.tolerance + 1e-9

    def to_pandas(self) -> pd.DataFrame:
        """One row a label of the shared answers (COLUMNS)."""
        import pandas as pd

        rows = [
            (
                item.id,
                item.system,
                item.question,
                item.answer,
                label.annotator,
                label.value,
                label.note,
                self._differs(item),
            )
            for item in self.shared
            for label in self.of(item)
        ]
        return pd.DataFrame(rows, columns=list(COLUMNS))

    def sentences(self) -> list[str]:
        """Who agrees how far, and how many answers are to be settled."""
        _ = translator(self.language)
        alpha = self.alpha
        scales = {"ordinal": _("ordinal scale"), "interval": _("interval scale")}
        said = _(
            "Krippendorff’s α ({scale}) of {names} is {alpha}, n {n}.", scale=scales[self.scale],
            names=_.enumeration(self.annotators), alpha=spoken(_).phrase(Value.of(alpha)), n=_.integer(alpha.n),
        )  # fmt: skip
        n_conflicts = len(self.conflicts)
        settling = _.plural("Their labels of {n} answer differ.", "Their labels of {n} answers differ.", n_conflicts)
        return [said, settling]

    def __repr__(self) -> str:
        return " ".join([f"{self.metric}:", *self.sentences()])


def agreement(
    measurement: Measurement,
    metric: str,
    annotators: Sequence[str | Path] = (),
    *,
    tolerance: float = 0.0,
    seed: int = 0,
    language: str = "",
) -> Agreement:
    """How far two or more annotators agree on the answers of a measurement that they labelled by `rb.label`.

    annotators: names, or paths of CSV files; empty: all who have a file in labels/ for this notebook and metric.
    tolerance: labels that lie further apart differ; on the metric's scale. seed: of the interval's draws.
    language: of its sentences; empty: as in ragbench.toml.
    Raises ValueError for fewer than two annotators, and where no two of them labelled the same answer.
    """
    spoken = language or configuration.load().language
    said = _said(_files(measurement, metric, annotators), metric)
    shared = [item for item in items(measurement, metric, count=None) if len(said.get(key_of(item), ())) > 1]
    names = tuple(dict.fromkeys(label.annotator for item in shared for label in said[key_of(item)]))
    if not shared:
        raise ValueError(f"no answer of {measurement.notebook} has labels by two annotators on {metric}")
    ratings = [[_of(name, said[key_of(item)]) for name in names] for item in shared]
    table = measurement.questions
    known = dict(zip(table["sample"].astype(str), table["cluster"], strict=True)) if "cluster" in table else {}
    groups = [str(known[item.id]) if isinstance(known.get(item.id), str) else item.id for item in shared]
    clusters = groups if len(set(groups)) < len(groups) else None
    given = _grades(metric, measurement, ratings)
    scale: stats.Scale = "ordinal" if given else "interval"
    how: dict[str, Any] = {"scale": scale, "categories": given or None, "clusters": clusters, "seed": seed}
    alpha = stats.krippendorff_alpha(ratings, **how)
    return Agreement(metric, names, tuple(shared), said, alpha, tolerance, spoken, scale)


def _grades(metric: str, measurement: Measurement, ratings: Sequence[Sequence[float | None]]) -> tuple[float, ...]:
    """The grades of the metric's scale, where all that annotators gave are among them; none else, nor of equal steps of
    a continuous scale, whose distances mean something."""
    declared = declaration(metric)
    known = grades(*measurement.facts.get("judge_scale", (None, None))) if declared is None else declared.grades
    return known if {rating for row in ratings for rating in row if rating is not None} <= set(known) else ()


def settle(
    measurement: Measurement,
    metric: str,
    annotators: Sequence[str | Path] = (),
    *,
    tolerance: float = 0.0,
    scale: Sequence[float] | Mapping[float, str] = (),
    path: Path | str = "",
    language: str = "",
) -> Any:
    """A widget in which annotators settle on a label for each answer on which theirs differ.

    Each answer stands there with all labels and notes. What is chosen is kept in `path`, by default
    labels/NOTEBOOK-METRIC-settled.csv; among the files that `tiers.corrected` is given it takes the place of the
    others on these answers, and theirs count on the rest. annotators, tolerance, language: as in `agreement`.
    scale: as in `label`. Raises ValueError as these do.
    """
    agreed = agreement(measurement, metric, annotators, tolerance=tolerance, language=language)
    values, words = chosen_scale(measurement, metric, scale, agreed.language)
    place = Path(path) if path else default_path(measurement, metric, SETTLED)
    sheet = Sheet(agreed.conflicts, values, SETTLED, place)
    return widget(Panel(sheet, metric, words, agreed.language, others=agreed.of, about=agreed.sentences()))


def _files(measurement: Measurement, metric: str, annotators: Sequence[str | Path]) -> list[Path]:
    """The files that are meant: two at least."""
    if isinstance(annotators, str):
        annotators = [annotators]
    folder = configuration.project_folder() / FOLDER
    settled = default_path(measurement, metric, SETTLED)
    if annotators:
        chosen = [
            Path(annotator) if str(annotator).endswith(".csv") else default_path(measurement, metric, str(annotator))
            for annotator in annotators
        ]
        chosen = [path if path.is_absolute() else configuration.project_folder() / path for path in chosen]
    else:
        start = f"{plain_name(measurement.notebook)}-{plain_name(metric)}-"
        paths = sorted(folder.glob("*.csv")) if folder.is_dir() else []
        chosen = [
            path
            for path in paths
            if path.name.startswith(start) and path != settled and not path.name.endswith(".sheet.csv")
        ]
    chosen = list(dict.fromkeys(chosen))
    missing = [path.name for path in chosen if not path.is_file()]
    if missing:
        raise ValueError(
            f"there is no file {missing[0]} in {folder.name}/: rb.label(measurement, metric, annotator) makes it"
        )
    if len(chosen) < 2:
        raise ValueError(
            f"labels of two annotators are to be compared, and there are those of {len(chosen)} on {metric} in "
            f"{folder.name}/: rb.label(measurement, {metric!r}, annotator) by another person first"
        )
    return chosen


def _said(files: Sequence[Path], metric: str) -> dict[Key, tuple[Other, ...]]:
    labels: dict[Key, dict[str, Other]] = {}
    for path in files:
        for _place, key, annotator, given in read_given(path):
            if key[2] == metric and given.value is not None:
                labels.setdefault(key, {})[annotator] = Other(annotator, given.value, given.note)
    return {key: tuple(own.values()) for key, own in labels.items()}


def _of(name: str, said: Sequence[Other]) -> float | None:
    return next((label.value for label in said if label.annotator == name), None)
