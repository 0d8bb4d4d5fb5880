"""The journal on the command line: pruned, sent and brought."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path

import pytest
from sqlalchemy import delete, text
from typer.testing import CliRunner

import ragbench.old as rb
from ragbench.old.core import settings as settings_room
from ragbench.old.core.settings import Settings
from ragbench.old.extras.runs.journal_command import application
from ragbench.old.llm.journal import Entry
from ragbench.old.store import Store
from ragbench.old.store.database_tables import journal as table
from ragbench.old.store.reply_journal import DatabaseJournal
from tests.old.cli.command_line import invoke, one_line
from tests.old.llm.chat_server import ChatServer
from tests.old.small_project import add, write_lines
from tests.old.store.test_copying import databases as databases
from tests.old.store.test_journal import row
from tests.old.store.test_journal_pruning import judged, left, noise, record
from tests.old.store.test_journal_pruning import own as own


def said(*words: str, answer: str = "") -> str:
    """What the command prints, without frames and line ends."""
    return " ".join(CliRunner().invoke(application, list(words), input=answer).output.replace("│", " ").split())


def test_the_command_shows_asks_deletes_and_the_disk_shrinks(own: Store) -> None:
    entries = [row("a", n, text=noise(1500)) for n in range(1, 600)]
    record(own, [Entry.from_row(each).as_row() for each in entries], 100)
    kept = record(own, judged("b", 5), 1)
    assert "name at least one of --older-than" in said("prune")
    assert "as in 90d" in said("prune", "--older-than", "soon")
    assert "as in 5GB" in said("prune", "--down-to", "-1")
    before = left(own)
    dry = said("prune", "--older-than", "90d", "--dry-run")
    assert "a (m): 599 replies" in dry
    assert "nothing was changed" in dry
    assert "Aborted" in said("prune", "--older-than", "90d", answer="n\n")
    assert left(own) == before
    assert "599 replies deleted" in said("prune", "--older-than", "90d", "--yes")
    assert left(own) == set(kept)
    with own.engine.connect() as connection:
        assert connection.scalar(text("SELECT pg_total_relation_size('ragbench.journal')")) < 200_000
    assert "no such reply" in said("prune", "--older-than", "90d", "--yes")


def test_export_and_import_bring_the_same_rows(
    store: Store, database_settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    monkeypatch.setattr(settings_room, "load", lru_cache(lambda: database_settings))
    rows = [row("travel", n, text="Привет\n\u2028") for n in range(1203)]
    DatabaseJournal(store.engine).bring_in(rows)
    cli = CliRunner()
    for name in ("journal.jsonl", "journal.jsonl.gz"):
        file = tmp_path / name
        done = cli.invoke(application, ["export", str(file), "--judge", "travel"])
        assert "1203 replies written" in done.output, done.output
        first = file.read_bytes()
        with store.engine.begin() as connection:
            connection.execute(delete(table).where(table.c.judge == "travel"))
        done = cli.invoke(application, ["import", str(file)])
        assert "1203 replies read from" in done.output, done.output
        assert "1203 of them new" in done.output
        assert "0 of them new" in cli.invoke(application, ["import", str(file)]).output
        cli.invoke(application, ["export", str(file), "--judge", "travel"])
        assert file.read_bytes() == first
    found = {r["key"]: r for r in DatabaseJournal(store.engine).rows("travel")}
    assert found == {r["key"]: {**r, "imported": True} for r in rows}
    shown = cli.invoke(application, [])
    (line,) = [line.split() for line in shown.output.splitlines() if line.startswith("travel")]
    assert (line[:3], line[5:]) == (["travel", "m", "1,203"], ["1.2030", "—", "12,030", "6,015", "0.50"])
    assert "hit rate" in shown.output
    told = json.loads(cli.invoke(application, ["--json"]).output)
    (one,) = [one for one in told["models"] if one["judge"] == "travel"]
    assert (one["replies"], one["input_tokens"], one["lookups"]) == (1203, 12030, 0)
    assert one["cost"] == pytest.approx(1.203)
    assert one["bytes"] == DatabaseJournal(store.engine).bytes()["travel", "m"]
    assert 0 <= told["hits"] <= told["lookups"]


WORDS = ("score", "a.jsonl", "-m", "response_groundedness", "--judge", "forged", "--json", "scores.json")


SAID = "Judge forged: {0} of {0} replies were imported from a file: the numbers are as true as whoever made it."


@pytest.mark.fault("received", tried="six flipped verdicts in an imported journal", count=1)
def test_flipped_verdicts_in_an_imported_journal_do_not_pass_unnoticed(project: Path) -> None:
    rows = [
        {"id": f"q{n}", "user_input": f"How high is tower {n}?", "response": f"It is {n} m high, and old.",
         "retrieved_contexts": [f"Tower {n} is {n} m high, and was built long ago."]}
        for n in range(10)
    ]  # fmt: skip
    write_lines(project / "a.jsonl", rows)
    with ChatServer(answer=lambda body: {"reason": "all of it", "rating": 2}).running() as server:
        add(project, f'[judges.forged]\nbase_url = "{server.url}"\nmodel = "m"\n')
        first = invoke(*WORDS)
        assert first.exit_code == 0, first.output
        assert "imported" not in one_line(first.output)
        calls = server.calls
        assert invoke("journal", "export", "j.jsonl", "--judge", "forged").exit_code == 0
        kept = [json.loads(line) for line in (project / "j.jsonl").read_text(encoding="utf-8").splitlines()]
        assert [one["imported"] for one in kept] == [False] * calls
        for one in kept[:6]:
            one["text"] = one["text"].replace('"rating": 2', '"rating": 0')
        write_lines(project / "j.jsonl", kept)
        assert invoke("journal", "prune", "--judge", "forged", "--yes").exit_code == 0
        assert invoke("journal", "import", "j.jsonl").exit_code == 0
        second = invoke(*WORDS, "--out", "out")
        scores = rb.score("a.jsonl", ["response_groundedness"], judge="forged")
        assert server.calls == calls, "all of them came in the file"
    told_in_python = {
        "repr": repr(scores), "print": str(scores), "HTML": scores._repr_html_(), "LaTeX": scores.latex(),
        "Markdown": scores.page().markdown(), "frame": scores.estimates.attrs["caveat"],
        "measurement": repr(scores.page().measurement), "JSON": scores.as_json()["caveats"]["rag_metrics"],
    }  # fmt: skip
    assert [name for name, text in told_in_python.items() if SAID.format(calls) not in " ".join(text.split())] == []
    assert str(scores).count("imported from a file") == 1
    assert SAID.format(calls) in (project / "out" / "README.txt").read_text(encoding="utf-8"), "beside the CSV files"
    told = json.loads((project / "scores.json").read_text(encoding="utf-8"))
    assert told["estimates"][0]["value"] < 1, "the verdicts were flipped"
    assert SAID.format(calls) in one_line(second.output)
    [model] = told["answered_by"]["rag_metrics"]
    assert (model["imported"], model["whole"]) == (calls, calls)
    pages = {path.name: path.read_text(encoding="utf-8") for path in (project / "out").glob("*.html")}
    warned = {name for name, text in pages.items() if SAID.format(calls) in " ".join(text.split())}
    assert warned == {"index.html", "rag_metrics.html"}
    assert invoke("journal", "prune", "--judge", "forged", "--yes").exit_code == 0
