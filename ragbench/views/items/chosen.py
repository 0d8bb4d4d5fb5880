"""Which questions of a page are meant: by a condition, by their ids, or by what was chosen in a table of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from ragbench.core.names import meant, nearest
from ragbench.views.basics.material import Material

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
