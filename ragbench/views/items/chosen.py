"""Which items of a page are meant, and its values as data frames: long, a row a value; wide, a row an item."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ragbench.core.names import meant, nearest
from ragbench.views.basics.material import Material
from ragbench.views.items.contents import Items, Numbers

if TYPE_CHECKING:
    import pandas as pd


SHOWN = 8
"""How many values of a column an error lists."""


def questions(material: Material, which: Any) -> tuple[list[str], str]:
    """The ids of the questions that are meant, in the page's order, and how they were chosen, in words.

    which: see `Page.subset`. Raises ValueError for what names no question, with what is legal.
    """
    import pandas as pd

    table = material.measurement.questions
    known = [str(name) for name in table["sample"]]
    if isinstance(which, str):
        wanted, said = set(_fitting(table, which)), which
    else:
        given = _ids(which, known) if isinstance(which, pd.Series | pd.DataFrame) else [str(name) for name in which]
        there = set(known)
        for name in given:
            if name not in there:
                raise ValueError(f"there is no question {name!r}; the nearest are {', '.join(nearest(name, known))}")
        wanted, said = set(given), material.text("chosen by their ids")
    if not wanted and not isinstance(which, str):
        raise ValueError(f"no question is chosen; there are {len(known)}, {', '.join(known[:SHOWN])}, …")
    if not wanted:
        raise ValueError(f"{said!r} leaves no question of {len(known)}{_values(table, said)}")
    return [name for name in known if name in wanted], said


def _fitting(table: pd.DataFrame, condition: str) -> Iterable[str]:
    columns = [str(name) for name in table]
    try:
        matches: Any = table.eval(condition, engine="python")
    except Exception as error:  # whatever pandas makes of a text that people write
        name = re.search(r"name '([^']+)' is not defined", str(error))
        near = meant(name[1], columns) if name else ""
        raise ValueError(
            f"{condition!r} is no condition on questions: {error}{near}; columns are {', '.join(columns)}"
        ) from None
    if getattr(matches, "dtype", None) not in (bool, "boolean") or len(matches) != len(table):
        raise ValueError(
            f"{condition!r} is no condition: it is neither true nor false of a question; one is kind == 'colloquial', "
            f"and columns are {', '.join(columns)}"
        )
    return [str(name) for name, fits in zip(table["sample"], matches.fillna(False), strict=True) if fits]


def _ids(which: pd.Series[Any] | pd.DataFrame, known: list[str]) -> list[str]:
    """Ids of a frame's rows, of a column of ids, or of where a column of true and false is true."""
    import pandas as pd

    if isinstance(which, pd.DataFrame):
        return list(map(str, dict.fromkeys(which.get("sample", which.index))))
    if which.dtype not in (bool, "boolean"):
        return list(map(str, which))
    true = which.fillna(False).to_numpy(dtype=bool)
    if isinstance(which.index, pd.RangeIndex):  # one value a question, in their order
        if len(which) != len(known):
            raise ValueError(f"{len(which)} values for {len(known)} questions: one is needed for each, or ids as index")
        return [name for name, is_true in zip(known, true, strict=True) if is_true]
    return list(map(str, which.index[true]))


def _values(table: pd.DataFrame, condition: str) -> str:
    """What the columns hold that a condition names."""
    said = []
    for name in table:
        if re.search(rf"\b{re.escape(str(name))}\b", condition) and name not in ("sample", "text", "reference"):
            values = sorted({str(value) for value in table[name] if not isinstance(value, list)})
            more = f", … ({len(values)} in all)" if len(values) > SHOWN else ""
            said.append(f"; {name} is one of {', '.join(values[:SHOWN])}{more}")
    return "".join(said)


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
                values = _long_values(measured.values.get(system, [None] * len(index)), measured.words)
            columns[f"{system} {measured.key}"] = values
    answers = None if items.kind else _answers(material)
    if answers is not None:
        by_system = answers.unstack("system")
        columns |= {f"{name} answer": by_system[name].reindex(index) for name in material.systems if name in by_system}
    return pd.DataFrame(columns, index=index)


def _long_values(numbers: Numbers, words: Any) -> list[Any]:
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
