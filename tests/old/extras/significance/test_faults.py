"""What people type wrongly, of scores, ratings and judgements: the thing, the value and the way out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from ragbench.old.core import terminal
from ragbench.old.core.endings import Ending
from tests.old.cli.command_line import invoke
from tests.old.cli.test_faults import said
from tests.old.cli.test_faults import there as there
from tests.old.cli.test_init import begun, ran
from tests.old.cli.test_init import empty as empty
from tests.old.cli.test_starting import DATABASE, assert_closed
from tests.old.core import hostile
from tests.old.core.test_terminal import LINES, assert_shown, told
from tests.old.core.test_terminal import call as call
from tests.old.small_project import write_lines


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("trec qrels.txt own.run --json nowhere/x.json", "there is no folder nowhere"),
        ("trec qrels.txt own.run --clusters (", "'(' is not a regular expression"),
        ("significance scores.csv noise.parquet", "noise.parquet: cannot be read"),
        ("significance scores.csv noise.jsonl", "noise.jsonl, line 1: byte 32 is not"),
        ("significance scores.csv scores.csv --seed -1", "'--seed'"),
        ("agree scores.csv --resamples 0", "'--resamples'"),
    ],
)
@pytest.mark.usefixtures("there")
def test_a_fault_names_the_thing(words: str, expected: str) -> None:
    done = invoke(*words.split())
    assert done.exit_code != 0
    assert expected in said(done)


@pytest.mark.fault("flattering", tried="a run whose names fit no question", count=1)
@pytest.mark.usefixtures("there")
def test_a_run_in_other_names_is_not_a_row_of_zeros_in_silence() -> None:
    whole = invoke("trec", "qrels.txt", "own.run", "strange.run", "-m", "mrr", "--resamples", "200")
    assert whole.exit_code == 4
    assert "own lacks 1 of 2 judged queries\n" in whole.stderr
    assert "strange lacks 2 of 2 judged queries; it answers 2 queries that nobody judged" in whole.stderr


@pytest.mark.parametrize(
    "files",
    [
        {"q.tsv": "qid\tdocid\trel\n1\ta\t1\n", "r.csv": "qid,docno,score,rank\n1,a,2.5,1\n"},
        {"q.txt": "1 a 1\n1 b 0\n", "r.tsv": "1\ta\t1\n1\tb\t2\n"},
        {"q.json": '{"1": {"a": 1}}', "r.json": '{"1": {"a": 0.5, "b": 0.25}}'},
    ],
)
def test_every_form_of_judgements_and_runs_leads_to_trec(empty: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (empty / name).write_text(text, encoding="utf-8")
    [command] = begun(empty)
    assert command == f"ragbench trec {' '.join(files)}"
    assert "judged query" in ran(command).stdout


@pytest.mark.slow
@pytest.mark.fault("links", tried="metrics, raters and items with hostile names", count=106)
def test_significance_and_agree(call: Callable[..., Result], project: Path) -> None:
    names = [f"{text}" for text in hostile.STRINGS]
    for name, high in (("a", 0.0), ("b", 0.2)):
        rows = [{"id": f"q{n}", **dict.fromkeys(names, n / 10 + high)} for n in range(5)]
        write_lines(project / f"{name}.jsonl", rows)
    done = call("significance", "a.jsonl", "b.jsonl", "--resamples", 100)
    assert_shown(done)
    assert hostile.remains(call("significance", "a.jsonl", "b.jsonl", "--resamples", 100, "--json").stdout) == []
    ratings = [
        {"item": f"i{n} {text}", "rater": text, "value": str(n % 2)} for text in hostile.STRINGS for n in range(3)
    ]
    write_lines(project / "ratings.jsonl", ratings)
    done = call("agree", "ratings.jsonl", "--resamples", 100)
    assert hostile.remains(told(done)) == []
    for text in hostile.TOGETHER:
        assert hostile.remains(told(call("agree", "ratings.jsonl", "--truth", f"no {text}"))) == []


@pytest.mark.fault("links", tried="runs and queries with hostile names, in TREC's format", count=45)
def test_trec(call: Callable[..., Result], project: Path) -> None:
    (project / "qrels").write_text("".join(f"{text} 0 d1 1\n" for text in LINES), encoding="utf-8")
    names = []
    for number, text in enumerate(LINES[:12]):
        name = f"{number}{text.replace('/', '')}"
        names.append(name)
        lines = "".join(f"{query} Q0 d1 1 2.5 {name}\n" for query in LINES)
        (project / f"{name}.run").write_text(lines, encoding="utf-8")
    done = call("trec", "qrels", *(f"{name}.run" for name in names), "-m", "map", "--per-query", "--resamples", 100)
    assert_shown(done, LINES, allowed="\n\t")
    assert [name for name in names if terminal.plain(name) not in done.output] == []


def test_judgements_are_scored_without_what_they_do_not_need(tmp_path: Path) -> None:
    (tmp_path / "qrels").write_text("q1 0 d1 1\nq2 0 d2 1\n", encoding="utf-8")
    (tmp_path / "run").write_text("q1 Q0 d1 1 2.0 r\nq2 Q0 d1 1 2.0 r\nq2 Q0 d2 2 1.0 r\n", encoding="utf-8")
    without = (*DATABASE, "sklearn", "scipy.stats", "ragbench.old.views", "ragbench.old.report")
    assert_closed(["trec", "qrels", "run"], without, tmp_path)


@pytest.mark.parametrize(
    "words",
    [
        ("agree", "apart.csv"),
        ("agree", "apart.csv", "--json"),
        ("significance", "none.csv", "some.csv"),
        ("significance", "none.csv", "some.csv", "--json"),
        ("trec", "qrels", "others"),
    ],
    ids=" ".join,
)
def test_statistics_of_nothing_are_no_success(bare: Path, words: tuple[str, ...]) -> None:
    tables = {
        "apart.csv": "item,rater,value\n1,anna,3\n2,anna,4\n3,boris,3\n4,boris,4\n",
        "none.csv": "id,m\na,\nb,\n",
        "some.csv": "id,m\na,1\nb,2\n",
        "qrels": "q1 0 d1 1\n",
        "others": "q9 Q0 d1 1 1.0 x\n",
    }
    for name, text in tables.items():
        (bare / name).write_text(text, encoding="utf-8")
    done = invoke(*words)
    assert done.exit_code == Ending.UNMEASURED, done.output
    assert "nothing was measured: " in done.stderr
