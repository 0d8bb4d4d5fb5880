"""A folder that is trusted, and small files of every kind."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from ragbench.cli.main import run
from ragbench.core.trust import trust

FILES = {
    "answers.csv": """\
id,version,question,answer,reference,contexts
1,v1,When is it open?,At 9.,At 8 sharp.,"[""It opens at 8 sharp.""]"
2,v1,How long is a loan?,Two weeks.,14 days.,"[""A loan lasts 14 days.""]"
1,v2,When is it open?,At 8 sharp.,At 8 sharp.,"[""It opens at 8 sharp.""]"
2,v2,How long is a loan?,14 days.,14 days.,"[""A loan lasts 14 days.""]"
""",
    "one.csv": "question,answer,reference\nWhen?,At 8.,At 8.\n",
    "rows.csv": "question,answer,reference\n" + "When?,At 8.,At 8.\n" + ",,x\n" * 5,
    "three.csv": "question,answer,reference\n" + "When?,At 8.,At 8.\n" + ",,x\n" * 3,
    "a.csv": "id,exact_match\n1,1\n2,0\n",
    "b.csv": "id,exact_match\n1,1\n2,1\n",
    "odd.csv": "frage,antwort\nWhen is it open?,At 8.\n",
    "questions.csv": "id,question,reference,relevant\nq1,When is it open?,At 8.,a\nq2,A loan?,,b\n",
    "passages.csv": "id,text,url\na,It opens at 8.,/a\nb,A loan lasts 14 days.,/b\n",
    "russian.csv": "id,question,relevant\nq1,Когда открыто?,a\n",
    "dialogues.jsonl": '{"messages": [{"role": "user", "content": "When?"},'
    ' {"role": "assistant", "content": "At 8."}]}\n',
    "decisions.csv": "question,answer,show\nWhen?,At 8.,yes\n",
    "history.csv": "question,answer,score\nWhen?,At 8.,5\n",
    "ratings.csv": "question,answer,rater,value\nWhen?,At 8.,ann,5\n",
    "docs/loans.md": "# Loans\n\n## Length\n\nA loan lasts 14 days.\n\n## Fees\n\nNone.\n",
    "docs/hours.md": "# Hours\n\nIt opens at 8.\n",
    "notes.md": "# Notes\n\nOf hours.\n\n## Fees\n\nA loan is free.\n",
    "open.csv": "id,question\nq1,When is it open?\n",
    "judged.qrels": "q1 0 a 1\nq1 0 b 0\nq2 0 b 1\n",
    "first.run": "q1 Q0 b 1 2.0 t\nq1 Q0 a 2 1.0 t\nq2 Q0 a 1 2.0 t\n",
    "second.run": "q1 Q0 a 1 2.0 t\nq2 Q0 b 1 2.0 t\n",
    "bad.bin": "\0",
}


def typed(line: str) -> int:
    """Run a command as it is typed behind `ragbench`; returns its exit code."""
    return run(shlex.split(line))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a trusted folder of one's own, and go there."""
    trust(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / ".home"))  # of judges' replies
    return tmp_path


@pytest.fixture
def write(folder: Path) -> Callable[..., None]:
    """Return a function that writes files of these names, and texts by name."""

    def write_files(*names: str, **texts: str) -> None:
        for name, text in {**{name: FILES[name] for name in names}, **texts}.items():
            path = folder / name.replace("__", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    return write_files
