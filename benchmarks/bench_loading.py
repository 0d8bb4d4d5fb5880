"""How much processor and memory `ragbench load` takes: rows that were logged, in every form that it reads, made up.

    python -m benchmarks.bench_loading [--rows 20000] [--only answers.csv traces.jsonl] [--contexts 50000]
        [--folder DIR]

A row is a question, an answer and three contexts of 80 words, some 2 kB. --contexts says out of how many they are; 0:
every context stands once. Each command is a process of its own, and its children count with it.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.bench_traces import made, words

Row = dict[str, Any]
DISTINCT = 4096
"""Texts that are drawn; each that stands has a number of its own before it."""


def main() -> None:
    """Write each file, load it, and print rows, seconds of a processor, megabytes and the size of what was made."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--contexts", type=int, default=50_000)
    parser.add_argument("--only", nargs="+", default=list(FORMS))
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    for name in given.only:
        outer = Path(tempfile.mkdtemp(prefix="ragbench-loading-", dir=given.folder))
        try:
            measure(name, outer, given.rows, given.contexts)
        finally:
            shutil.rmtree(outer, ignore_errors=True)


def measure(name: str, outer: Path, rows: int, contexts: int) -> None:
    """One form."""
    command, _, ending = name.partition(".")
    path = outer / f"rows.{ending}"
    WRITERS[ending](path, FORMS[name](rows, contexts))
    size = path.stat().st_size / 2**20
    (outer / "ragbench.toml").write_text("", encoding="utf-8")
    child = os.posix_spawn(
        sys.executable,
        [sys.executable, "-m", "ragbench", "load", command, str(path), "--name", "loaded"],
        {**os.environ, "RAGBENCH_CONFIG": str(outer / "ragbench.toml"), "TMPDIR": str(outer)},
        file_actions=[(os.POSIX_SPAWN_OPEN, 1, str(outer / "said"), os.O_WRONLY | os.O_CREAT, 0o600)],
    )
    _, status, used = os.wait4(child, 0)
    said = (outer / "said").read_text(encoding="utf-8")
    assert status == 0, said
    kept = sum(file.stat().st_size for file in (outer / "data").rglob("*.jsonl")) / 2**20
    print(
        f"{name}: {rows:,} rows, {size:,.0f} MiB: {used.ru_utime + used.ru_stime:.1f} s of a processor, "
        f"{used.ru_maxrss / 2**10:,.0f} MiB of memory at most; the data set has {kept:,.0f} MiB",
        flush=True,
    )


def logged(rows: int, contexts: int) -> Iterator[Row]:
    """Rows of a table of answers, with ratings."""
    drawn = random.Random(0)
    texts = [words(drawn, 80) for _ in range(DISTINCT)]
    for number in range(rows):
        chosen = [drawn.randrange(contexts) if contexts else 3 * number + rank for rank in range(3)]
        yield {
            "id": f"row-{number:07d}",
            "question": f"{number}: {texts[number % DISTINCT][:70]}?",
            "answer": f"{number}: {texts[(number + 7) % DISTINCT][:280]}",
            "contexts": [f"{one}. {texts[one % DISTINCT]}" for one in chosen],
            "rating": number % 5 + 1,
        }


def asked(rows: int, contexts: int) -> Iterator[Row]:
    """Items of a question set."""
    for row in logged(rows, contexts):
        text = row["contexts"][0]
        yield {
            "question": row["question"], "ground_truth_answer": row["answer"], "chunk_id": text.split(".")[0],
            "chunk_text": text, "question_answer_id": row["id"], "user_score": row["rating"],
        }  # fmt: skip


def decided(rows: int, contexts: int) -> Iterator[Row]:
    """Decisions, each with its contexts."""
    for row in logged(rows, contexts):
        yield {"question": row["question"], "answer": row["answer"], "context": row["contexts"],
               "ground_truth_show": row["rating"] > 2}  # fmt: skip


def talked(rows: int, contexts: int) -> Iterator[Row]:
    """Dialogues of three turns."""
    for row in logged(rows, contexts):
        texts = [text[:300] for text in row["contexts"]]
        yield {"id": row["id"], "questions": [f"{n}. {row['question']}" for n in range(3)], "expected_answers": texts}


def traced(rows: int, contexts: int) -> Iterator[Row]:
    """Traces of three spans."""
    drawn = random.Random(0)
    texts = [words(drawn, 80) for _ in range(DISTINCT)]
    passages = [(f"p{n}", f"{n}. {texts[n % DISTINCT]}") for n in range(contexts or 50_000)]
    for number in range(rows):
        spans = made(drawn, number, passages)
        yield {"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]}


def json_lines(path: Path, rows: Iterable[Row]) -> None:
    """A line a row."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)


def json_list(path: Path, rows: Iterable[Row]) -> None:
    """One list."""
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        file.writelines(f"{', ' if n else ''}{json.dumps(row, ensure_ascii=False)}" for n, row in enumerate(rows))
        file.write("]")


def cells(path: Path, rows: Iterable[Row]) -> None:
    """CSV, its lists as JSON."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        for number, row in enumerate(rows):
            if not number:
                writer.writerow(row)
            writer.writerow([json.dumps(v) if isinstance(v, list) else v for v in row.values()])


def parquet(path: Path, rows: Iterable[Row]) -> None:
    """Row groups of 10,000."""
    import itertools

    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = iter(rows)
    first = pa.Table.from_pylist(list(itertools.islice(rows, 10_000)))
    with pq.ParquetWriter(path, first.schema, compression="zstd") as file:
        file.write_table(first)
        while part := list(itertools.islice(rows, 10_000)):
            file.write_table(pa.Table.from_pylist(part, first.schema))


WRITERS: dict[str, Callable[[Path, Iterable[Row]], None]] = {
    "jsonl": json_lines, "json": json_list, "csv": cells, "parquet": parquet,
}  # fmt: skip
MADE: dict[str, Callable[[int, int], Iterator[Row]]] = {
    "answers": logged, "questions": asked, "decisions": decided, "dialogues": talked, "traces": traced,
}  # fmt: skip
FORMS = {
    f"{command}.{ending}": make
    for command, make in MADE.items()
    for ending in (WRITERS if command == "answers" else ("jsonl",))
}

if __name__ == "__main__":
    main()
