"""trec, significance and agree, as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from ragbench.cli.main import run

QRELS = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\nq3 0 d9 0\n"
BM25 = "q1 Q0 d2 1 9.0 bm25\nq1 Q0 d1 2 8.0 bm25\nq2 Q0 d3 1 5.0 bm25\nq3 Q0 d3 1 5.0 bm25\n"
DENSE = "q1 Q0 d1 1 0.9 dense\nq2 Q0 d4 1 0.8 dense\nq2 Q0 d3 2 0.7 dense\n"


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "bm25.run").write_text(BM25)
    (tmp_path / "dense.run").write_text(DENSE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_trec_measures_runs_by_names_as_the_field_writes_them(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line = ["trec", "qrels.txt", "bm25.run", "dense.run", "-m", "RR@10,P@1", "--json", "out.json"]
    assert run(line) == 0
    said = capsys.readouterr().err
    assert "bm25 has 1 queries of which nothing is judged relevant: left out" in said
    rows = json.loads((files / "out.json").read_text())["estimates"]
    values = {(row["system"], row["metric"]): row["value"] for row in rows}
    # bm25: ranks 2 and 1; dense: ranks 1 and 2. q3 has no relevant document and is in no mean.
    assert values["bm25", "mrr@10"] == values["dense", "mrr@10"] == 0.75
    assert values["bm25", "precision@1"] == values["dense", "precision@1"] == 0.5
    assert rows[0]["n"] == 2


def test_trec_writes_a_page_and_a_table_for_a_paper(files: Path) -> None:
    line = ["trec", "qrels.txt", "bm25.run", "--out", "report", "--latex", "table.tex"]
    assert run(line) == 0
    assert (files / "report" / "trec.html").is_file()
    assert "\\toprule" in (files / "table.tex").read_text()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["trec", "qrels.txt", "bm25.run", "-m", "ndgc"], "did you mean 'ndcg'"),
        (["trec", "qrels.txt", "bm25.run", "-m", "rouge1_f"], "reads no ranking"),
        (["trec", "qrels.txt", "absent.run"], "absent.run"),
        (["trec", "bm25.run", "qrels.txt"], "bm25.run"),
    ],
)
def test_trec_refuses_in_a_sentence(
    files: Path, line: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(line) == 3
    assert said in capsys.readouterr().err


def write_scores(folder: Path, name: str, shift: float) -> None:
    rows = [f"q{i},{0.2 + 0.01 * (i % 7) + shift},{100 - 20 * shift}" for i in range(40)]
    (folder / f"{name}.csv").write_text("id,hallucination,delay\n" + "\n".join(rows) + "\n")


def test_significance_knows_that_less_hallucination_is_better(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_scores(files, "v1", 0.0)
    write_scores(files, "v2", -0.1)
    assert run(["significance", "v1.csv", "v2.csv", "-m", "hallucination"]) == 0
    assert "v2 is better than v1" in capsys.readouterr().out


def test_significance_asks_for_a_direction_that_nobody_knows(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_scores(files, "v1", 0.0)
    write_scores(files, "v2", -0.1)
    assert run(["significance", "v1.csv", "v2.csv"]) == 3
    assert "--better delay=lower" in capsys.readouterr().err
    line = ["significance", "v1.csv", "v2.csv", "-m", "delay", "--better", "delay=lower"]
    assert run(line) == 0
    # 2 more milliseconds on every question: the exact sign test.
    assert "v2 is worse than v1" in capsys.readouterr().out


def test_agree_counts_missing_ratings_and_gives_kappa(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ["id,anna,boris"]
    # Cohen's example of 50: 20 yes/yes, 5 yes/no, 10 no/yes, 15 no/no has kappa 0.4.
    for a, b, n in (("yes", "yes", 20), ("yes", "no", 5), ("no", "yes", 10), ("no", "no", 15)):
        rows += [f"i{len(rows)}-{k},{a},{b}" for k in range(n)]
    rows += ["x1,NA,yes", "x2,-,no"]
    (files / "ratings.csv").write_text("\n".join(rows) + "\n")
    line = ["agree", "ratings.csv", "--raters", "anna,boris", "--json", "out.json"]
    assert run(line) == 0
    content = json.loads((files / "out.json").read_text())
    assert content["n_missing"] == 2
    kappa = [row for row in content["agreement"] if "kappa" in row["measure"]]
    assert kappa[0]["value"] == pytest.approx(0.4)
    assert "2 ratings are missing" in capsys.readouterr().out
