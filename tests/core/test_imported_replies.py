"""Replies that came in a file are said to have, beside the numbers that stand on them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ragbench as rb
from ragbench.core import answered_by
from ragbench.core.answered_by import AnsweredBy
from ragbench.core.language import translator
from tests.cli.command_line import invoke, one_line
from tests.llm.chat_server import ChatServer
from tests.small_project import add, write_lines

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


def test_a_model_of_one_name_whose_replies_were_imported_warns() -> None:
    facts = {"judges": [{"name": "j", "usage": {"model": "m", "answered_by": {"m": 7}, "imported": 6, "replies": 10}}]}
    [one] = answered_by.of(facts)
    assert one == AnsweredBy("judge", "j", "m", {"m": 7}, 6, 10)
    assert (one.kinship, one.warns) == ("same", True)
    assert answered_by.warnings(facts, translator("en")) == [
        "Judge j: 6 of 10 replies were imported from a file: the numbers are as true as whoever made it."
    ]
    assert "импортированных из файла: 6 из 10" in answered_by.warnings(facts, translator("ru"))[0]
    [both] = answered_by.together([facts, facts])
    assert (both.imported, both.whole) == (12, 20)
    assert not AnsweredBy("judge", "j", "m", {"m": 7}).warns


def test_replies_that_name_no_model_are_told_too() -> None:
    facts = {"judges": [{"name": "j", "usage": {"model": "m", "answered_by": {}, "imported": 1, "replies": 1}}]}
    assert [one.imported for one in answered_by.of(facts)] == [1]
