"""Forms in which people mark answers: out as a table without a mark, in with theirs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from ragbench.core.errors import BenchError

COLUMNS = ["system", "question_id", "question", "answer", "contexts", "label", "notes"]


def make_form(frames: Path, limit: int | None, seed: int) -> pd.DataFrame:
    """Return the answers of a page as a form: shuffled, evenly drawn, no mark filled in.

    frames: folder of a page's frames with answers.parquet and questions.parquet. Drawn evenly,
    because only then labels may correct a mean.
    """
    answers = pd.read_parquet(frames / "answers.parquet")
    questions = pd.read_parquet(frames / "questions.parquet").set_index("question_id")["text"]
    first = answers[(answers["repeat"] == 0) & (answers["error"] == "")].copy()
    first["question"] = first["question_id"].map(questions)
    first["contexts"] = ["\n\n".join(texts) for texts in first["contexts"]]
    form = first.assign(label="", notes="")[COLUMNS]
    shuffled = form.sample(frac=1, random_state=np.random.default_rng(seed))
    return shuffled[:limit].reset_index(drop=True)


def read_form(path: Path) -> pd.DataFrame:
    """Return the labels of a filled form: system, question_id, label (NaN: not marked).

    Raises BenchError for a file that is no form, and a label that is no number.
    """
    from ragbench.core.numbers import read_numbers
    from ragbench.data import read_table

    table = read_table(path)
    rows = table.rows
    missing = [name for name in ("system", "question_id", "label") if name not in table.columns]
    if missing:
        raise BenchError(
            f"{path} has no column {', '.join(missing)}; `ragbench label` writes a form to fill in"
        )
    return pd.DataFrame(
        {
            "system": [str(row["system"]) for row in rows],
            "question_id": [str(row["question_id"]) for row in rows],
            "label": read_numbers([row.get("label") for row in rows], "label"),
        }
    )
