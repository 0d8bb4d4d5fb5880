"""A project of two systems without a model of sentences, and its judge, which is a script."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ragbench.core.trust import trust
from tests.fixtures import database_url

__all__ = ["database_url"]

SETTINGS = """
dataset = "office"
[retrievers.hashed]
kind = "dense"
embedder = "hashing"
[systems.bm25]
retriever = "bm25"
[systems.hashed]
retriever = "hashed"
[judges.script]
callable = "scripted_judge:reply"
[sweeps.search]
retriever = ["bm25", "hashed"]
[sweeps.odd]
retriever = ["bm25", "hashed"]
embedder = ["", "hashing"]
[sweeps.one]
retriever = "bm25"
[sweeps.typo]
retreiver = ["bm25", "hashed"]
[sweeps.none]
retriever = "bm25"
embedder = ["hashing", "other"]
"""
SUBJECTS = ("library", "dormitory", "canteen", "laboratory", "gymnasium", "archive")
PLANTS_AND_STONES = """
amber birch cedar daisy ebony fennel ginger hazel indigo jasmine kelp lilac
maple nutmeg olive pepper quartz ruby saffron tulip umber violet willow yarrow
"""
NAMES = PLANTS_AND_STONES.split()
WORDS = (
    "opens at {0} hundred hours on every working day, and whoever brings the {1} card of a "
    "student is let in by the guard without a further question or a signature in the book"
)


def passage(place: int) -> str:
    """Return a passage of more than 25 words with one word of its own."""
    subject = SUBJECTS[place % len(SUBJECTS)]
    return f"The {subject} {NAMES[place]} " + WORDS.format(place + 7, NAMES[place])


@pytest.fixture
def office(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database_url: str) -> Iterator[Path]:
    """Return a trusted folder with 24 passages, 24 questions in English and one in Russian."""
    import json

    monkeypatch.setenv("RAGBENCH_DATABASE_URL", database_url)
    monkeypatch.setenv("RAGBENCH_JOURNAL", str(tmp_path / "journal.sqlite"))
    folder = tmp_path / "data" / "office"
    folder.mkdir(parents=True)
    passages = [{"id": f"p{n}", "text": passage(n), "url": f"http://x.y/{n}"} for n in range(24)]
    questions = [
        {
            "id": f"q{n}",
            "text": f"when does the {SUBJECTS[n % 6]} {NAMES[n]} open?",
            "relevant": [f"p{n}"],
        }
        for n in range(24)
    ]
    for name, rows in (("chunks.en", passages), ("questions.en", questions)):
        lines = [json.dumps(row, ensure_ascii=False) for row in rows]
        (folder / f"{name}.jsonl").write_text("\n".join(lines) + "\n")
    russian = '{"id": "r0", "text": "когда открыта библиотека?", "relevant": ["p0"]}\n'
    (folder / "questions.ru.jsonl").write_text(russian)
    (tmp_path / "ragbench.toml").write_text(SETTINGS)
    trust(tmp_path)
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    sys.modules.pop("scripted_judge", None)
