"""What an annotator sees and does: plain values out, acts in, and the panel in JupyterLab by keys, mouse and touch."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from ragbench.core import folders
from ragbench.core import settings as configuration
from ragbench.core.language import Translator, translator
from ragbench.core.measurement import Measurement
from ragbench.extras.labelling.sheet import Item, Sheet, export_csv, import_csv, items, scale_of
from ragbench.tiers.scoring.corrections import SETTLED
from ragbench.views.basics.text import clean

EXPORT = "sheet"
OF_ONE = ("give", "note", "clear", "skip")
"""Acts on the item that was seen."""
MOST_NOTE = 4000
"""Characters of a note."""


class Other(NamedTuple):
    """What somebody else said of an item, shown where labels are settled."""

    annotator: str
    value: float
    note: str = ""


class Panel:
    """A sheet in words, in one language.

    metric: its label, shown with the first line of its declaration. words: of single values. others: what is shown
    beside an item, of other annotators; nobody's where None. about: sentences above the items.
    """

    def __init__(
        self,
        sheet: Sheet,
        metric: str,
        words: Mapping[float, str] | None = None,
        language: str = "en",
        *,
        others: Callable[[Item], Sequence[Other]] | None = None,
        about: Sequence[str] = (),
    ) -> None:
        self.sheet, self.metric, self.language = sheet, metric, language
        self.words = {} if words is None else words
        self.others, self.about = others, tuple(about)
        self.said = ""
        self._places: dict[Any, int] = {item.code: place for place, item in enumerate(sheet.items)}

    def receive(self, message: Mapping[str, Any], content: bytes = b"") -> None:
        """Do what was asked for: `act`, with the `code` of the item that was seen, and `choice` (a place on the scale)
        or `note`. What was pressed before the next item was drawn is of the one that was seen, and labels no other.

        content: of a file that is taken in. What went wrong is `said`, and nothing has changed then.
        """
        sheet, act, before = self.sheet, message.get("act"), self.sheet.place
        self.said = ""
        seen = self._places.get(message.get("code"))
        note = str(message.get("note") or "")[:MOST_NOTE]
        acts: dict[Any, Callable[[], object]] = {
            "undo": sheet.undo, "back": sheet.back, "first": sheet.first, "write": self._write,
            "take": lambda: self._take(content),
        }  # fmt: skip
        if seen is not None:
            acts |= {"give": lambda: self._give(message.get("choice"), note), "note": lambda: sheet.note(note),
                     "clear": sheet.clear, "skip": sheet.skip}  # fmt: skip
        if seen is not None and act in OF_ONE:
            sheet.place = seen
        try:
            acts.get(act, lambda: None)()
        except (OSError, ValueError) as error:
            self.said = clean(str(error))
        if sheet.place == seen != before and act in OF_ONE:
            sheet.place = before

    def _give(self, choice: object, note: str) -> None:
        if isinstance(choice, int) and 0 <= choice < len(self.sheet.scale):
            self.sheet.give(self.sheet.scale[choice], note)

    def _write(self) -> None:
        path = export_csv(self.sheet, self.sheet.path.with_name(f"{self.sheet.path.stem}.{EXPORT}.csv"))
        self.said = translator(self.language)("written: {name}", name=path.name)

    def _take(self, content: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{EXPORT}.csv"
            path.write_bytes(content)
            number = self.sheet.take(import_csv(path))
        self.said = translator(self.language).plural("{n} label was taken in", "{n} labels were taken in", number)

    @property
    def fixed(self) -> dict[str, Any]:
        """What does not change: heading, choices with their keys, and words."""
        _ = translator(self.language)
        scale = self.sheet.scale
        choices = [
            {"text": clean(self.words.get(value) or _.exact(value)), "key": key}
            for value, key in zip(scale, keys_of(scale), strict=True)
        ]
        return {
            "title": clean(self.metric),
            "meaning": meaning(self.metric, self.language),
            "about": [clean(text) for text in self.about],
            "choices": choices,
            "skip_key": "" if "0" in keys_of(scale) else "0",
            "words": _words(_, skips="0" not in keys_of(scale)),
        }

    @property
    def state(self) -> dict[str, Any]:
        """What changes: the item without who wrote it, what was given, progress, and what was said last."""
        sheet, _ = self.sheet, translator(self.language)
        item, done, number = sheet.current, sheet.answered, len(sheet.items)
        left = number - done
        end = _("That was the last one. Every label is kept; go back to change one.")
        if item is None and left:
            end = _.plural("{n} item has no label yet.", "{n} items have no label yet.", left)
        if not number:
            end = _("There is nothing to label.")
        return {
            "done": done,
            "all": number,
            "progress": _("{done} of {all} labelled", done=_.integer(done), all=_.integer(number)),
            "item": None if item is None else self._item(item, _),
            "end": end,
            "left": left,
            "can_undo": sheet.can_undo,
            "can_back": sheet.place > 0,
            "said": self.said,
        }

    @property
    def items(self) -> list[dict[str, Any]]:
        """All items as `state` has the one that is shown."""
        _ = translator(self.language)
        return [self._item(item, _) for item in self.sheet.items]

    def _item(self, item: Item, _: Translator) -> dict[str, Any]:
        given = self.sheet.given(item)
        others = [] if self.others is None else self.others(item)
        return {
            "code": item.code,
            "question": clean(item.question),
            "answer": clean(item.answer) or _("(empty)"),
            "reference": clean(item.reference),
            "passages": [clean(text) for text in item.contexts],
            "chosen": None if given.value is None else self.sheet.scale.index(given.value),
            "note": clean(given.note),
            "others": [
                {"who": clean(other.annotator), "value": clean(self.words.get(other.value) or _.exact(other.value)),
                 "note": clean(other.note)}
                for other in others
            ],
        }  # fmt: skip


def keys_of(scale: Sequence[float]) -> tuple[str, ...]:
    """The key of each value: its own digit where all values are digits, else 1 to 9 by its place, then 0; "" for none.

    So 1 to 5 are the keys of a rating, 0 and 1 those of no and yes, and 1 to 5 of five shares.
    """
    if all(value in range(10) for value in scale):
        return tuple(f"{value:.0f}" for value in scale)
    return tuple("1234567890"[place] if place < 10 else "" for place in range(len(scale)))


def meaning(metric: str, language: str) -> str:
    """The first line of a metric's declaration; empty for one that is not in the catalogue."""
    from ragbench.core.metric import parse
    from ragbench.metrics import catalogue

    catalogue()
    try:
        return parse(metric).meaning(translator(language), language)
    except ValueError:
        return ""


def _words(_: Translator, *, skips: bool) -> dict[str, str]:
    """skips: whether 0 does, where it is no value."""
    return {
        "question": _("Question"), "answer": _("Answer"), "reference": _("Reference"), "passages": _("Passages"),
        "others": _("What was said"), "note": _("Note"), "choices": _("Label"), "labelling": _("labelling"),
        "back": _("back"), "skip": _("skip"), "undo": _("undo"), "clear": _("take back"), "write": _("to CSV"),
        "take": _("from CSV"), "first": _("to the first without a label"),
        "keys": _("Keys: digits label, 0 or S skips, U takes the last act back, ← and → move, N writes a note, Esc "
                  "leaves it.") if skips else
                _("Keys: digits label, S skips, U takes the last act back, ← and → move, N writes a note, Esc leaves "
                  "it."),
    }  # fmt: skip


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
        _esm = folders.text(HERE / "panel.js")
        _css = folders.text(HERE / "panel.css")
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
