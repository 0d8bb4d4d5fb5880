"""The labelling helper as JupyterLab shows it: an answer, its question and passages, and a button for each value."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from markupsafe import Markup

from ragbench import settings as configuration
from ragbench.labelling.items import Item, items, scale_of
from ragbench.labelling.sheet import Sheet, export_csv, import_csv
from ragbench.language import translator
from ragbench.measurement import Measurement
from ragbench.show.basics.templates import html
from ragbench.show.basics.text import shown
from ragbench.show.view import style

FOLDER = "labels"
SHEET = "sheet"


def label(
    measurement: Measurement,
    metric: str,
    annotator: str,
    *,
    count: int | None = 100,
    scale: Sequence[float] | Mapping[float, str] = (),
    path: Path | str = "",
    seed: int = 0,
    language: str = "en",
) -> Any:
    """A widget in which one person labels answers of a measurement on the scale of a metric.

    Answers come in random order, without the system that wrote them and without any score. Nothing is chosen
    beforehand; every click is kept at once in `path`, and the next call goes on where the last one stopped.

    scale: the values that can be given, with their words in a mapping; the metric's own where empty. count: how many
        answers at most; 50 to 200 are enough for a correction. path: a CSV file of this annotator alone; by default
        labels/NOTEBOOK-METRIC-ANNOTATOR.csv beside ragbench.toml. seed: of the order; the same for all annotators.
    Raises ValueError as `items` and `Sheet` do.
    """
    values = tuple(scale) or scale_of(metric)
    words = {float(value): str(word) for value, word in scale.items()} if isinstance(scale, Mapping) else {}
    name = "-".join(_plain(part) for part in (measurement.notebook, metric, annotator))
    place = Path(path) if path else configuration.project_folder() / FOLDER / f"{name}.csv"
    sheet = Sheet(items(measurement, metric, count=count, seed=seed), values, annotator, place)
    return panel(sheet, metric, words, language)


def panel(sheet: Sheet, metric: str, words: Mapping[float, str] | None = None, language: str = "en") -> Any:
    """The widget over a sheet.

    "to CSV" writes the items for a spreadsheet beside the sheet's file (see `export_csv`), "from CSV" takes such a file
    in again.
    """
    import ipywidgets as widgets

    _ = translator(language)
    head, body, said = widgets.HTML(), widgets.HTML(), widgets.HTML()

    def made(text: str) -> Any:
        return widgets.Button(description=text, layout={"width": "auto"})

    buttons = {value: made((words or {}).get(value, f"{value:g}")) for value in sheet.scale}
    back, skip, clear, out = (made(text) for text in (_("back"), _("skip"), _("take back"), _("to CSV")))
    file = widgets.FileUpload(accept=".csv", description=_("from CSV"), layout={"width": "auto"})

    def draw() -> None:
        item = sheet.current
        head.value = str(_head(sheet, metric, language))
        body.value = str(_body(item, language))
        for value, button in buttons.items():
            chosen = item is not None and sheet.value(item) == value
            button.button_style = "info" if chosen else ""
            button.disabled = item is None
        skip.disabled = item is None
        back.disabled = sheet.place == 0
        clear.disabled = item is None or sheet.value(item) is None

    def act(change: Callable[[], None], _button: Any) -> None:
        said.value = ""
        change()
        draw()

    def bring_out() -> None:
        path = export_csv(sheet, sheet.path.with_name(f"{sheet.path.stem}.{SHEET}.csv"))
        said.value = str(_said(_("written: {name}", name=path.name)))

    def take_in(change: Any) -> None:
        for file in change["new"]:
            try:
                number = sheet.take(_uploaded(bytes(file["content"])))
                said.value = str(_said(_.plural("{n} label was taken in", "{n} labels were taken in", number)))
            except ValueError as error:
                said.value = str(_said(str(error)))
        draw()

    for value, button in buttons.items():
        button.on_click(partial(act, partial(sheet.give, value)))
    for button, change in ((back, sheet.back), (skip, sheet.skip), (clear, sheet.clear), (out, bring_out)):
        button.on_click(partial(act, change))
    file.observe(take_in, "value")
    draw()
    choices = widgets.HBox(list(buttons.values()), layout={"flex_flow": "row wrap"})
    more = widgets.HBox([back, skip, clear, out, file], layout={"flex_flow": "row wrap"})
    return widgets.VBox([head, body, choices, more, said], layout={"max_width": "60rem"})


def _said(text: str) -> Markup:
    return html.div(html.meta(shown(text)), "rb")


def _uploaded(content: bytes) -> dict[str, float]:
    """The labels of a file that came through the browser."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"{SHEET}.csv"
        path.write_bytes(content)
        return import_csv(path)


def _head(sheet: Sheet, metric: str, language: str) -> Markup:
    _ = translator(language)
    done = _("{done} of {all} labelled", done=_.integer(sheet.answered), all=_.integer(len(sheet.items)))
    told = html.lead(html.all(html.b(shown(metric)), " · ", done)) + html.meta(_meaning(metric, language))
    return style() + html.div(told, "rb")


def _meaning(metric: str, language: str) -> str:
    from ragbench.metric import parse
    from ragbench.metrics import catalogue

    catalogue()
    try:
        return translator(language)(parse(metric).summary)
    except ValueError:
        return ""


def _body(item: Item | None, language: str) -> Markup:
    _ = translator(language)
    if item is None:
        return html.div(html.p(_("That was the last one. Every label is kept; go back to change one.")), "rb")
    parts = {_("Question"): item.question, _("Answer"): item.answer or _("(empty)"), _("Reference"): item.reference}
    texts = [html.lead(name) + html.list([shown(text)], "rb-hits") for name, text in parts.items() if text]
    if item.contexts:
        texts.append(html.lead(_("Passages")) + html.hits([shown(text) for text in item.contexts], "ol"))
    return html.div(html.all(*texts), "rb")


def _plain(text: str) -> str:
    return "".join(sign if sign.isalnum() or sign in "._" else "_" for sign in text.strip()) or "_"
