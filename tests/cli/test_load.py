"""`ragbench load`, as it is typed: what a set has stays, and rows with known ids are replaced."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragbench.cli.main import run
from ragbench.core.trust import trust
from ragbench.store import Store

FILES = {
    "docs/fees.md": "# Fees\nThe fee is paid in May.\n",
    "faq.csv": "id,question\na,when is the fee paid?\n",
    "past.csv": "id,question,user\nh1,what fee?,ann\nh2,which fee?,ben\n",
    "edited.csv": "id,question,user\nh1,what does it cost?,ann\nh3,which fee?,eve\n",
}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "ragbench.toml").touch()
    trust(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def rows_of(folder: Path, name: str) -> list[dict[str, object]]:
    lines = (folder / "data" / "help" / f"{name}.en.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in lines.splitlines()]


def test_questions_go_to_the_base_that_was_loaded_before(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["load", "documents", "docs", "--name", "help"]) == 0
    printed = capsys.readouterr()
    assert "next: ragbench load questions FILE --name help" in printed.out
    assert "replaced" not in printed.err
    assert run(["load", "questions", "faq.csv", "--name", "help"]) == 0
    printed = capsys.readouterr().out
    assert "1 passages, 1 questions" in printed
    assert "next: ragbench run -d help" in printed
    assert [row["text"] for row in rows_of(files, "chunks")] == ["The fee is paid in May."]
    assert run(["load", "questions", "faq.csv", "--name", "help"]) == 0
    assert "1 questions and 0 passages that were there are replaced" in capsys.readouterr().err
    assert len(rows_of(files, "questions")) == 1


def test_a_question_that_is_loaded_again_has_the_labels_of_now(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    relevant = "id,question,relevant\na,when is the fee paid?,p1\nb,which fee?,p1\n"
    (files / "labelled.csv").write_text(relevant)
    for line in ("questions labelled.csv", "questions faq.csv"):
        assert run(["load", *line.split(), "--name", "help"]) == 0
    assert [row["question_id"] for row in rows_of(files, "labels")] == ["b"]
    (files / "faq.csv").write_text("id,question\na,\nb,which fee?\n")
    assert run(["load", "questions", "faq.csv", "--name", "help"]) == 0
    assert "1 rows left out, the first row 1: text is None" in capsys.readouterr().err
    assert not (files / "data" / "help" / "labels.en.jsonl").exists()


def test_a_title_without_a_text_is_no_row_of_beir(files: Path) -> None:
    (files / "exported.csv").write_text("_id,title,question\n1,Fees,when is the fee paid?\n")
    assert run(["load", "questions", "exported.csv", "--name", "help"]) == 0
    assert rows_of(files, "questions")[0]["text"] == "when is the fee paid?"


def test_rows_of_other_tables_are_replaced_by_their_ids(files: Path) -> None:
    for line in ("documents docs", "history past.csv", "history edited.csv"):
        assert run(["load", *line.split(), "--name", "help"]) == 0
    told = {row["history_id"]: row["question"] for row in rows_of(files, "history")}
    assert told == {"h1": "what does it cost?", "h2": "which fee?", "h3": "which fee?"}
    assert len(rows_of(files, "history")) == 3


def test_a_dry_run_writes_nothing(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sections = "".join(f"\n## Fee {n}\nThe fee {n} is paid in May.\n" for n in range(3))
    (files / "docs" / "fees.md").write_text(f"# Fees\n{sections}")
    questions = "id,question,relevant\n" + "".join(f"q{n},what fee {n}?,\n" for n in range(3))
    (files / "faq.csv").write_text(questions)
    for line, said in (("documents docs", "fee {} is paid"), ("questions faq.csv", "what fee {}?")):
        assert run(["load", *line.split(), "--name", "help", "--dry-run"]) == 0
        printed = capsys.readouterr().out
        assert [said.format(n) in printed for n in range(3)] == [True, True, False]
        assert "nothing was written (--dry-run)" in printed
    assert not (files / "data").exists()


def test_own_tables_have_the_language_of_the_project_or_that_which_is_named(
    files: Path,
    database_url: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("RAGBENCH_DATABASE_URL", database_url)
    with Store(url=database_url) as store, store.engine.begin() as connection:
        connection.exec_driver_sql(
            "CREATE TABLE fees (id integer PRIMARY KEY, body text);"
            "INSERT INTO fees SELECT n, 'The fee of ' || n FROM generate_series(1, 1001) AS n"
        )
    tables = 'passages = "fees"\ntext = "body"\nurl = ""\nvector = ""\n'
    (files / "ragbench.toml").write_text(f'language = "ru"\n[databases.own]\n{tables}')
    for more, language in (([], "ru"), (["--language", "en"], "en")):
        assert run(["load", "database", "own", "--dry-run", *more]) == 0
        # A dry run looks at the first.
        assert f"1,000 passages, 0 questions (0 with relevant passages); language {language}" in (
            capsys.readouterr().out
        )
