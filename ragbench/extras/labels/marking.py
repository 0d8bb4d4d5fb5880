"""Mark answers in JupyterLab, one after the other; every mark is written at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

KEPT = "label"


def mark(form: Path | str, levels: tuple[float, ...] = (1, 2, 3, 4, 5)) -> Any:
    """Show a form's answers with a button a level; returns the widget.

    form: a CSV of `ragbench label --form`. A mark is in the file before the next answer is shown.
    """
    import ipywidgets as widgets

    path = Path(form)
    frame = pd.read_csv(path, dtype=str, keep_default_na=False)
    shown = widgets.HTML()
    waiting = [row for row, label in enumerate(frame[KEPT]) if not label]

    def show() -> None:
        if not waiting:
            shown.value = "<p>All answers are marked.</p>"
            return
        row = frame.loc[waiting[0]]
        shown.value = answer_html(row, len(frame) - len(waiting), len(frame))

    def write(level: float) -> None:
        if waiting:
            frame.loc[waiting.pop(0), KEPT] = f"{level:g}"
            beside = path.with_suffix(".new")
            frame.to_csv(beside, index=False)
            beside.replace(path)
        show()

    buttons = []
    for level in levels:
        button = widgets.Button(description=f"{level:g}", layout={"width": "3rem"})
        button.on_click(lambda _, level=level: write(level))
        buttons.append(button)
    show()
    return widgets.VBox([shown, widgets.HBox(buttons)])


def answer_html(row: pd.Series, n_marked: int, total: int) -> str:
    """Return a question, its answer and what it was made from, escaped."""
    from markupsafe import Markup

    parts = [
        Markup("<p><small>{} / {}</small></p>").format(n_marked, total),
        Markup("<p><b>{}</b></p><p>{}</p>").format(row["question"], row["answer"]),
        Markup("<details><summary>passages</summary><pre>{}</pre></details>").format(
            row["contexts"]
        ),
    ]
    return str(Markup("").join(parts))
