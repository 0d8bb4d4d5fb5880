"""sweep, as it is typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragbench.cli.main import run


def test_a_sweep_says_what_the_best_is_worth(
    office: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        run(
            [
                "sweep",
                "search",
                "--out",
                "sweep",
                "--json",
                "out.json",
                "--k",
                "5",
                "--confidence",
                "0.9",
            ]
        )
        == 0
    )
    said = capsys.readouterr().out
    assert "The best of 2 configurations on mrr@5 is retriever=" in said
    assert "Of 1 others 0 are shown to be worse" in said
    content = json.loads((office / "out.json").read_text())
    rows = {row["configuration"]: row for row in content["configurations"]}
    assert {row["level"] for row in rows.values()} == {0.9}
    assert set(rows) == {"retriever=bm25", "retriever=hashed"}
    # Every question has its passage's own word, which BM25 finds at the first rank.
    assert rows["retriever=bm25"]["value"] == 1.0
    assert sum(row["share_chosen"] for row in rows.values()) == pytest.approx(1)
    assert {(row["factor"], row["setting"]) for row in content["effects"]} == {
        ("retriever", "bm25"),
        ("retriever", "hashed"),
    }
    page = (office / "sweep" / "sweep.html").read_text()
    assert "What each factor does" in page
    assert "retriever=hashed" in page
    drawn = json.loads(page.split('<script type="application/json">')[1].split("</script>")[0])
    assert drawn["layout"]["height"] == 70 + 2 * 22
    best, other = (trace["marker"]["color"] for trace in drawn["data"])
    assert (best, other) == ("#c4533a", "#7d8b97")
    for cell in ("–", "equal on every question"):  # of the best, and of the other
        assert f'<td class="words" dir="auto">{cell}</td>' in page


def test_a_configuration_that_cannot_be_is_named_and_the_others_are_measured(
    office: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["sweep", "odd", "--plan"]) == 0
    captured = capsys.readouterr()
    assert captured.out.splitlines() == [
        "retriever=bm25, embedder=",
        "retriever=hashed, embedder=",
    ]
    assert "cannot be: retriever=bm25, embedder=hashing: it has retriever and" in captured.err
    assert run(["sweep", "odd", "--json", "odd.json"]) == 0
    effects = json.loads((office / "odd.json").read_text())["effects"]
    assert {row["factor"] for row in effects} == {"retriever"}  # the other has one setting
    said = capsys.readouterr().out
    assert "The best of 2 configurations on mrr@10 is retriever=bm25, embedder=:" in said
    assert "retriever=bm25, embedder=hashing: it has retriever and" in said
    (office / "data" / "office" / "questions.ru.jsonl").unlink()


def test_a_configuration_that_always_fails_is_named_and_200_are_a_table(
    office: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = office / "ragbench.toml"
    before = settings.read_text()
    (office / "swept_systems.py").write_text(
        "def fails(question, k):\n    raise OSError('no route')\n"
        "def other(question, k):\n    return ['p1']\n"
        "from tests.extras.test_testsets import retrieve_by_word, retrieve_first\n"
    )
    names = ("fails", "retrieve_first", "other", "retrieve_by_word")
    named = json.dumps([f"swept_systems:{name}" for name in names])
    settings.write_text(f"{before}[sweeps.code]\ncallable = {named}\n")
    assert run(["sweep", "code"]) == 0
    printed = capsys.readouterr().out
    for text in ("Of 2 others", "callable=swept_systems:fails: ", "no route"):
        assert text in printed
    assert run(["sweep", "code", "--language", "ru"]) == 0
    assert "callable=swept_systems:retrieve_by_word: 0," in capsys.readouterr().out
    for count, code in ((200, 0), (201, 3)):
        many = json.dumps([f"r{n}" for n in range(count)])
        settings.write_text(f"{before}\n[sweeps.many]\nretriever = {many}\n")
        assert run(["sweep", "many", "--plan"]) == code
    assert "201 configurations; 2 to 200" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["sweep", "serach"], "did you mean 'search'"),
        (["sweep", "typo"], "sweeps.typo: no factor retreiver; there are"),
        (["sweep", "none"], "fewer than two configurations can be: it has retriever and"),
        (["sweep", "one"], "1 configurations; 2 to 200"),
        (["sweep", "search", "--primary", "faithfulness"], "reads no ranking"),
        (["sweep", "search", "--primary", "judged@5"], "judged@5: higher is not better; name"),
        (["sweep", "search", "--limit", "5"], "a choice needs at least 2 on 10"),
    ],
)
def test_a_sweep_is_refused_in_a_sentence(
    office: Path, line: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(line) == 3
    assert said in capsys.readouterr().err
