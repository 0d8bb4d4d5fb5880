"""The labelling panel as JupyterLab shows it: by keys, mouse and touch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from ragbench.core import settings as configuration
from ragbench.core.language import translator
from ragbench.core.measurement import Measurement
from ragbench.extras.labelling.labelled_items import items, scale_of
from ragbench.extras.labelling.panel import Panel
from ragbench.extras.labelling.sheet import Sheet
from ragbench.tiers.scoring.labels import SETTLED

FOLDER = "labels"
HERE = Path(__file__).parent


def label(
    measurement: Measurement,
    metric: str,
    annotator: str,
    *,
    count: int | None = 100,
    scale: Sequence[float] | Mapping[float, str] = (),
    path: Path | str = "",
    seed: int = 0,
    language: str = "",
) -> Any:
    """A widget in which one person labels answers of a measurement on the scale of a metric.

    Answers come in random order, the same for every annotator, without the system that wrote them, without any score
    and without what another annotator said. Nothing is chosen beforehand; every act is kept at once in `path`, and the
    next call goes on where the last one stopped. Keys work while the panel has the focus: digits label, 0 or S skips,
    U undoes, N writes a note.

    measurement: of any tier that judges answers (see `items`). scale: the values that can be given, with their words in
        a mapping; the metric's own where empty. count: how many answers at most; 50 to 200 are enough for a correction.
    path: a CSV file of this annotator alone; by default labels/NOTEBOOK-METRIC-ANNOTATOR.csv beside ragbench.toml.
    seed: of the order. language: of the panel; empty: as in ragbench.toml.
    Raises ValueError as `items` and `Sheet` do.
    """
    if annotator.strip() == SETTLED:
        raise ValueError(f"annotator = {annotator!r}: that is what people have settled; rb.settle writes it")
    spoken = language or configuration.load().language
    values, words = chosen_scale(measurement, metric, scale, spoken)
    place = Path(path) if path else default_path(measurement, metric, annotator)
    sheet = Sheet(items(measurement, metric, count=count, seed=seed), values, annotator, place)
    return widget(Panel(sheet, metric, words, spoken))


def chosen_scale(
    measurement: Measurement, metric: str, scale: Sequence[float] | Mapping[float, str], language: str
) -> tuple[tuple[float, ...], dict[float, str]]:
    """The values that can be given, and the words of those that have some."""
    values = tuple(scale) or scale_of(metric, measurement)
    if isinstance(scale, Mapping):
        return values, {float(value): str(word) for value, word in scale.items()}
    _ = translator(language)
    return values, {0.0: _("no"), 1.0: _("yes")} if tuple(values) == (0.0, 1.0) else {}


def default_path(measurement: Measurement, metric: str, annotator: str) -> Path:
    """Where an annotator's labels are kept if nothing else is said."""
    name = "-".join(plain_name(part) for part in (measurement.notebook, metric, annotator))
    return configuration.project_folder() / FOLDER / f"{name}.csv"


def plain_name(text: str) -> str:
    """A text as part of a file's name."""
    return "".join(sign if sign.isalnum() or sign in "._" else "_" for sign in text.strip()) or "_"


def widget(panel: Panel) -> Any:
    """The panel for a notebook's cell. Its `panel` is the one that was given."""
    return _class()(panel)


@lru_cache(maxsize=1)
def _class() -> Any:
    import anywidget
    import traitlets

    class LabelWidget(anywidget.AnyWidget):
        _esm = (HERE / "panel.js").read_text(encoding="utf-8")
        _css = (HERE / "panel.css").read_text(encoding="utf-8")
        fixed = traitlets.Dict().tag(sync=True)
        state = traitlets.Dict().tag(sync=True)

        def __init__(self, panel: Panel) -> None:
            super().__init__(fixed=panel.fixed, state=panel.state)
            self.panel = panel
            self.on_msg(self._receive)

        def _receive(self, _widget: Any, message: Any, buffers: Sequence[Any]) -> None:
            self.panel.receive(message, bytes(buffers[0]) if buffers else b"")
            self.state = self.panel.state

    return LabelWidget
