"""Judgements and runs of TREC, as whole columns: four million lines in seconds.

Also BEIR's table with a header, and pytrec_eval's JSON: {query: {document: number}}.
"""

from __future__ import annotations

import io
import json
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from ragbench.core.errors import BenchError
from ragbench.core.frames import RETRIEVED
from ragbench.data.files import naming, open_bytes
from ragbench.data.passages import read_grades
from ragbench.data.values import DECODER

PAIR = ["question_id", "passage_id"]
NUMBERS = ("grade", "rank", "similarity")
# What the words of a line are, by how many there are; other words than these are read by nobody.
READ = (*PAIR, *NUMBERS)
FORMS = {
    "grade": {
        4: ("question_id", "iteration", "passage_id", "grade"),
        3: (*PAIR, "grade"),  # BEIR leaves the iteration out
    },
    "similarity": {
        6: ("question_id", "q0", "passage_id", "rank", "similarity", "tag"),
        5: ("question_id", "q0", "passage_id", "rank", "similarity"),
    },
}
SHOWN = {"grade": "QUERY 0 DOCUMENT GRADE", "similarity": "QUERY Q0 DOCUMENT RANK SCORE TAG"}
FORM_OF_JSON = "{query: {document: number}}"
HEADERS = (b"query-id", b"query_id", b"qid", b"question_id")
MAX_BYTES = 2**29  # of a file, unpacked: some 13 million lines


@dataclass
class Judged:
    """Judgements or a run: name of the file, a frame of LABELS or RETRIEVED, and notes."""

    name: str
    frame: pd.DataFrame
    notes: list[str]


def read_qrels(path: str | Path) -> Judged:
    """Read judgements: TREC's four words a line, BEIR's three, or {query: {document: grade}}.

    Grades below 0 are kept: what they mean differs from track to track. Raises BenchError for a
    line of another form, a grade that is no whole number, and two grades of one document.
    """
    path = Path(path)
    with naming(path):
        frame = _read(path, "grade")[[*PAIR, "grade"]]
        # A line may stand twice, but not with another grade.
        frame = frame.drop_duplicates(ignore_index=True)
        is_odd = (frame["grade"] % 1 != 0) | frame.duplicated(PAIR)
        if is_odd.any():
            question, document, grade = frame[is_odd].iloc[0]
            raise BenchError(
                f"the grade {grade:g} of {document!r} for {question!r} is no whole number, or its "
                "second one; keep one line with a whole number"
            )
    return Judged(path.name.partition(".")[0], frame, [])


def read_run(path: str | Path, *, trec_eval: bool = False) -> Judged:
    """Read a run, in ranked order: by score, equal ones by the rank column, then by id.

    trec_eval: scores are 32-bit numbers, and equal ones go by id from the last. A document that
    stands twice counts once, with its better score. `gain` is NaN. Raises BenchError for a line of
    another form.
    """
    path = Path(path)
    with naming(path):
        frame = _read(path, "similarity")
    name, notes = path.name.partition(".")[0], []
    scores = frame["similarity"].to_numpy(np.float32 if trec_eval else float)
    if not np.isfinite(scores).all():
        raise BenchError(f"{path.name}: a score is NaN or infinite; write finite ones")
    ranks = frame["rank"].to_numpy() if "rank" in frame and not trec_eval else np.zeros(len(frame))
    (queries, _), (documents, names) = (pd.factorize(frame[column]) for column in PAIR)
    query_steps = np.diff(queries)
    steps, rank_steps = (np.diff(values)[query_steps == 0] for values in (scores, ranks))
    order = np.arange(len(frame))
    if (steps >= 0).all() and (steps > 0).any():
        notes.append(
            "the lowest score stands first, and the highest counts as best; "
            "of distances write the negative"
        )
    is_misplaced = (steps > 0) | ((steps == 0) & ~(rank_steps > 0))
    if (query_steps < 0).any() or is_misplaced.any():
        id_ranks = pd.Series(names).rank(ascending=not trec_eval)[documents]
        order = np.lexsort((id_ranks, ranks, -scores, queries))
    pairs = queries[order] * len(names) + documents[order]
    # Sorting shows that there are no copies in a third of the time of `duplicated`.
    if not np.diff(np.sort(pairs)).all():
        is_copy = pd.Series(pairs).duplicated()
        notes.append(f"{is_copy.sum():,} lines name a document again; its better score counts")
        order = order[~is_copy]
    rows = queries[order]
    # The lines of a query stand together: counted from its first.
    counts = np.bincount(rows)
    rank = np.arange(1, len(rows) + 1) - (np.cumsum(counts) - counts)[rows]
    ranked = frame.iloc[order].assign(system=name, rank=rank, gain=np.nan)
    return Judged(name, ranked[RETRIEVED.names].reset_index(drop=True), notes)


def _read(path: Path, number: str) -> pd.DataFrame:
    """Return the columns of a file that are read: texts for ids, floats for numbers."""
    from pyarrow import ArrowInvalid

    with open_bytes(path) as file:
        data = file.read(MAX_BYTES).removeprefix(b"\xef\xbb\xbf").lstrip()
        if file.read(1):
            raise BenchError(f"has more than {MAX_BYTES:,} bytes; split it")
    if data.startswith(b"{"):
        return _read_json(data, number)
    words = io.BytesIO(data).readline().split()
    names = FORMS[number].get(len(words))
    if names is None:
        raise BenchError(f"line 1: has {len(words)} words; write {SHOWN[number]}")
    skipped = int(words[0] in HEADERS)
    if b"\t" not in data:
        with suppress(ArrowInvalid):
            frame = _parse(data, names, skipped)
            if (frame[PAIR] != "").all(axis=None):
                return frame
    # Words are parted by blanks or tabs, one or many; the parser takes one blank.
    data = re.sub(rb"(?m)^ | (?=\r?$)", b"", re.sub(rb"[ \t]+", b" ", data))
    try:
        return _parse(data, names, skipped)
    except ArrowInvalid as error:
        raise BenchError(f"{error}; write {SHOWN[number]}") from None


def _parse(data: bytes, names: tuple[str, ...], skipped: int) -> pd.DataFrame:
    """Read lines whose words are parted by one blank; raises ArrowInvalid for more or fewer."""
    from pyarrow import BufferReader, csv, float64, large_string

    types = {
        name: float64() if name in NUMBERS else large_string() for name in names if name in READ
    }
    table = csv.read_csv(
        BufferReader(data),
        # Two threads take the time of one, and name no row where they fail.
        csv.ReadOptions(column_names=names, skip_rows=skipped, use_threads=False),
        csv.ParseOptions(delimiter=" ", quote_char=False),
        csv.ConvertOptions(column_types=types, include_columns=list(types), null_values=[]),
    )
    return table.to_pandas()


def _read_json(data: bytes, number: str) -> pd.DataFrame:
    rows = []
    try:
        table = DECODER.decode(data.decode())
    except json.JSONDecodeError as error:
        raise BenchError(f"line {error.lineno}: {error.msg}; write {FORM_OF_JSON}") from None
    for query, numbers in table.items():
        if not isinstance(numbers, dict):
            raise BenchError(f"query {query!r} holds no object; write {FORM_OF_JSON}")
        rows += [(query, *pair[:2]) for pair in read_grades(numbers)]
    return pd.DataFrame(rows, columns=[*PAIR, number])
