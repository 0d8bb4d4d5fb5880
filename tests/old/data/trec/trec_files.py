"""Judgements and a run of a few lines, and rankings as they are read from files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from ragbench.old.data import trec

QRELS = "q1 0 a 1\nq1 0 b 0\nq1 0 c 2\nq2 0 a 1\nq3 0 z 0\n"
RUN = "q1 Q0 b 1 3.0 mine\nq1 Q0 a 2 2.0 mine\nq1 Q0 c 3 2.0 mine\nq9 Q0 a 1 1.0 mine\n"


def written(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def retrieved(**scores: float) -> trec.Retrieved:
    return listed(list(scores), list(scores.values()))


def listed(documents: list[str], scores: list[float]) -> trec.Retrieved:
    names = pa.array(documents, pa.large_string())
    return trec.Retrieved(names, np.array(scores), np.arange(len(scores), dtype=float))
