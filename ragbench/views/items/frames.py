"""A page's values as data frames: long, a row a system, metric and question; wide, a row an item."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ragbench.views.basics.material import Material
from ragbench.views.items.contents import Items, Numbers

if TYPE_CHECKING:
    import pandas as pd

QUESTION = ("text", "kind", "language", "source", "cluster", "answerable", "reference")


def long(material: Material) -> pd.DataFrame:
    """One row a system, metric and question, as `Page.to_pandas` has it."""
    scores = material.measurement.scores.reset_index(drop=True)
    scores = scores.join(_questions(material), on="sample")
    answers = _answers(material)
    if answers is None:
        return scores.assign(answer=None)
    return scores.join(answers.rename("answer"), on=["system", "sample"])


def wide(material: Material, items: Items) -> pd.DataFrame:
    """One row an item, as `Page.to_pandas` has it: unrounded values; of a measure that is a kind, its words."""
    import pandas as pd

    index = pd.Index(list(items.ids), name="sample")
    columns: dict[str, Any] = {"text": pd.Series(list(items.texts), index, dtype=object)}
    columns |= {parting.key: pd.Series(list(parting.values), index, dtype=object) for parting in items.partings}
    if not items.kind:
        columns |= {str(name): known for name, known in _questions(material).reindex(index).items()}
    for measured in items.measures:
        for system in material.systems:
            if not items.kind:
                known = material.score_table.get((measured.key, system))
                values: Any = [None] * len(index) if known is None else known.reindex(index).astype(float)
            else:
                values = _values(measured.values.get(system, [None] * len(index)), measured.words)
            columns[f"{system} {measured.key}"] = values
    answers = None if items.kind else _answers(material)
    if answers is not None:
        by_system = answers.unstack("system")
        columns |= {f"{name} answer": by_system[name].reindex(index) for name in material.systems if name in by_system}
    return pd.DataFrame(columns, index=index)


def _values(numbers: Numbers, words: Any) -> list[Any]:
    if words:
        return [None if value is None else words[int(value)] for value in numbers]
    return [float("nan") if value is None else float(value) for value in numbers]


def _questions(material: Material) -> pd.DataFrame:
    """What is known of every question, by its id."""
    table = material.measurement.questions.drop_duplicates("sample").set_index("sample")
    return table[[name for name in QUESTION if name in table]]


def _answers(material: Material) -> pd.Series[Any] | None:
    """The first answer of every system to every question; None where no answers are kept."""
    table = material.kept("answers", "system", "sample", "response")
    if not len(table):
        return None
    firsts = table.drop_duplicates(["system", "sample"])
    answers: pd.Series[Any] = firsts.set_index(["system", "sample"])["response"]
    return answers
