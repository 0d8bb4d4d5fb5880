"""The same numbers wherever and whenever a run is made: clock, time zone, locale, hash seed, threads, order of rows."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from ragbench.old.core.settings import DatabaseSettings, Settings
from ragbench.old.store import server
from tests.old import small_project
from tests.old.store.test_faults import fresh_start

ROOT = Path(__file__).parents[3]
PLACES: Mapping[str, Mapping[str, str]] = {
    "as it is": {},
    "far east": {"TZ": "Pacific/Kiritimati", "LC_ALL": "ru_RU.UTF-8", "LANG": "ru_RU.UTF-8"},
    "far west": {"TZ": "Etc/GMT+12", "LC_ALL": "C"},
    "Turkish": {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "PYTHONHASHSEED": "1"},
    "no UTF-8": {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONHASHSEED": "2"},
    "long ago": {"TEST_CLOCK": "-900000000", "PYTHONHASHSEED": "3"},
    "later": {"TEST_CLOCK": "900000000", "TZ": "America/St_Johns"},
    "one thread": {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "4"},
    "other order": {"TEST_ORDER": "1"},
    "backwards": {"TEST_ORDER": "2", "PYTHONHASHSEED": "5", "TZ": "Asia/Kathmandu"},
}
PROGRAM = """
import json, os, sys, time
clock = time.time
time.time = lambda: clock() + float(os.environ.get("TEST_CLOCK", "0"))
import ragbench.old
from ragbench.old import tiers
found = tiers.tier1_retrieval(resamples=500, timed_questions=0)
tables = [found.scores, found.questions, found.retrieved]
with open("answers.json", encoding="utf-8") as file:
    judged = ragbench.old.score(json.load(file), judge="lexical", resamples=500)
tables.append(judged.to_pandas().drop(columns="seconds").sort_values(["metric", "id"]))
with open(sys.argv[1], "w", encoding="utf-8", newline="") as out:
    for table in tables:
        out.write(table.to_csv(index=False))
    for one in (*found.estimates, *found.comparisons):
        out.write(f"{one!r}\\n")
"""


@pytest.fixture
def project(tmp_path: Path) -> Iterator[tuple[Path, Settings]]:
    outer = Path(tempfile.mkdtemp(prefix="ragbench-test-"))
    outer.chmod(0o755)
    small_project.make(tmp_path, outer / "pg")
    settings = Settings(database=DatabaseSettings(folder=outer / "pg"))
    yield tmp_path, settings
    server.stop(settings)
    shutil.rmtree(outer)


def arrange(project: Path, order: int) -> None:
    """Write the project's data, the rows of every file in another order; three passages are told apart by ids alone."""
    data = project / "data" / "small"
    twins: list[dict[str, Any]] = [{"id": f"twin{n}", "text": "Ёлка и I, ı, İ.", "url": "/t"} for n in (2, 1, 3)]
    chunks: list[dict[str, Any]] = [
        {"id": name, "text": f"Text of {name}.", "url": url} for name, url in small_project.CHUNKS.items()
    ]
    asked: list[dict[str, Any]] = [{"id": "twins", "text": "ёлка и i?", "relevant": {"twin2": 1}, "answerable": True}]
    asked += [
        {"id": name, "text": f"What of {name}?", "relevant": relevant, "answerable": bool(relevant)}
        for name, relevant in small_project.RELEVANT.items()
    ]
    answers: list[dict[str, Any]] = [
        {
            "id": f"a{n}",
            "user_input": f"Когда открыт корпус {n}?",
            "response": f"Корпус {n} открыт в 19{n % 7:02}. Он мал.",
            "reference": f"Корпус {n} открыли в 19{n:02}.",
            "retrieved_contexts": [f"В 19{n:02} открыт корпус {n}."],
        }
        for n in range(12)
    ]
    tables = {"chunks.en": [*chunks, *twins], "questions.en": asked}
    for rows in (*tables.values(), answers):
        random.Random(order).shuffle(rows) if order < 2 else rows.reverse()
    for name, rows in tables.items():
        small_project.write_lines(data / f"{name}.jsonl", rows)
    (project / "answers.json").write_text(json.dumps(answers, ensure_ascii=False), encoding="utf-8")


@pytest.mark.fault("determinism", tried="environments, from the files anew", count=10)
@pytest.mark.slow
def test_ten_environments_give_the_same_score_tables(project: tuple[Path, Settings]) -> None:
    """Each measures from the files anew, with nothing left in the database from the one before."""
    folder, settings = project
    found = {}
    for name, variables in PLACES.items():
        arrange(folder, int(variables.get("TEST_ORDER", "0")))
        fresh_start(settings)
        environment = {**os.environ, "RAGBENCH_CONFIG": str(folder / "ragbench.toml"), **variables}
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, str(folder / "out")],
            cwd=folder, env=environment, capture_output=True, timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, (name, done.stderr.decode(errors="replace")[-2000:])
        found[name] = (folder / "out").read_bytes()
    assert len(found) == 10
    assert found["as it is"].count(b"twin") > 20, "what ties was measured too"
    assert [name for name, table in found.items() if table != found["as it is"]] == []
