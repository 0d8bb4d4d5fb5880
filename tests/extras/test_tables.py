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
    line = ["trec", "qrels.txt", "bm25.run", "dense.run", "--baseline", "dense"]
    line += ["--primary", "MRR", "--out", "report", "--latex", "table.tex"]
    assert run(line) == 0
    page = (files / "report" / "trec.html").read_text()
    for text in ("baseline <b>dense</b>", "mrr is a family of its own"):
        assert text in page
    assert (files / "report" / "trec.html").is_file()
    assert "\\toprule" in (files / "table.tex").read_text()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (["trec", "qrels.txt", "bm25.run", "-m", "ndgc"], "did you mean 'ndcg'"),
        (["trec", "qrels.txt", "bm25.run", "-m", "rouge1_f"], "reads no ranking"),
        (["trec", "qrels.txt", "absent.run"], "absent.run"),
        (["trec", "bm25.run", "qrels.txt"], "bm25.run"),
        (["trec", "qrels.txt", "bm25.run", "bm25.run"], "two runs are called bm25"),
        (["trec", "qrels.txt", "other.run"], "other has none of the judged queries; 'q1' is one"),
    ],
)
def test_trec_refuses_in_a_sentence(
    files: Path, line: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "other.run").write_text(BM25.replace("q", "x"))
    assert run(line) == 3
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "values"),
    [
        # Of q1 d5 (grade 1) comes first and d1 (2) second; q2 is not in the run.
        ([], {"precision@1": 0.5, "hit_rate(level=2)@1": 0}),
        (["--level", "2"], {"precision@1": 0, "hit_rate(level=2)@1": 0}),
        (["--level", "1"], {"precision@1": 0.5, "hit_rate(level=2)@1": 0}),
    ],
)
def test_trec_takes_grades_from_a_level_on(
    files: Path, more: list[str], values: dict[str, float], capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "graded.txt").write_text("q1 0 d1 2\nq1 0 d5 1\nq2 0 d3 2\nq3 0 d4 0\n")
    (files / "one.run").write_text("q1 Q0 d5 1 9.0 a\nq1 Q0 d1 2 8.0 a\n")
    metrics = "P@1,hit_rate(level=2)@1,ndcg@2"
    line = ["trec", "graded.txt", "one.run", "-m", metrics, "--json", "out.json"]
    assert run([*line, *more]) == 0
    assert "one lacks 1 of 2 judged queries: each counts 0" in capsys.readouterr().err
    rows = json.loads((files / "out.json").read_text())["estimates"]
    assert {row["n"] for row in rows} == {2}
    assert [row["value"] for row in rows[:2]] == list(values.values())
    # Of the gains 1 and 2 instead of 2 and 1, at ranks whose weights are 1 and .63.
    assert rows[2]["value"] == pytest.approx((1 + 2 * 0.6309) / (2 + 0.6309) / 2, abs=1e-4)


@pytest.mark.parametrize(
    ("first", "more", "value"),
    # A document judged not relevant stands above the only relevant one: a grade below 0 judges
    # by our rule, and says nothing by trec_eval's.
    [("bad", "", 0), ("bad", "--trec-eval", 1), ("plain", "--trec-eval", 0)],
)
def test_trec_takes_grades_below_0_as_trec_eval_where_it_is_told_to(
    files: Path, first: str, more: str, value: float
) -> None:
    (files / "qrels.txt").write_text("q1 0 good 1\nq1 0 plain 0\nq1 0 bad -2\n")
    (files / "a.run").write_text(f"q1 Q0 {first} 1 2.0 a\nq1 Q0 good 2 1.0 a\n")
    line = ["trec", "qrels.txt", "a.run", "-m", "bpref", "--json", "out.json", *more.split()]
    assert run(line) == 0
    assert json.loads((files / "out.json").read_text())["estimates"][0]["value"] == value


def test_trec_without_a_relevant_document_measures_nothing(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["trec", "qrels.txt", "bm25.run", "--level", "3"]) == 4
    assert "qrels.txt: no query has a relevant document" in capsys.readouterr().err


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
    for name in ("v1", "v2"):
        file = files / f"{name}.csv"
        file.write_text(file.read_text().replace("delay", "Latency"))
    assert run(["significance", "v1.csv", "v2.csv", "-m", "Latency"]) == 0
    assert "v2 is worse than v1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("v1.csv", "name two tables"),
        ("v1.csv there/v1.csv", "two tables have one name"),
        ("v1.csv v2.csv -m dely", "no column of numbers 'dely' in all tables; did you mean 'delay"),
        ("v1.csv v2.csv -m mrr", "in all tables; all tables have hallucination, delay"),
        ("v1.csv v2.csv --better delay=low", "write METRIC=higher or METRIC=lower"),
        ("v1.csv speed.csv", "share no column of numbers"),
        ("v1.csv later.csv", "later shares no question with the first table: it has 'x0', the"),
    ],
)
def test_significance_refuses_in_a_sentence(
    files: Path, line: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "there").mkdir()
    for folder, name in ((files, "v1"), (files, "v2"), (files / "there", "v1")):
        write_scores(folder, name, 0.0)
    (files / "speed.csv").write_text("id,speed\nq1,2\n")
    (files / "later.csv").write_text((files / "v1.csv").read_text().replace("\nq", "\nx"))
    assert run(["significance", *line.split()]) == 3
    assert said in capsys.readouterr().err


def test_significance_says_what_a_table_lacks_and_what_was_left_out(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"q{i},{i % 3},a,u{i // 2}" for i in range(12)]
    (files / "v1.csv").write_text("id,delay,note,user\n" + "\n".join(rows) + "\n")
    rows = [f"q{i},{i % 3 + 1},a,u{i // 2}" for i in range(3, 16)]
    (files / "v2.csv").write_text("id,delay,note,user\n" + "\n".join(rows) + "\n")
    line = ["significance", "v1.csv", "v2.csv", "--better", "delay=higher", "--unit", "user"]
    assert run([*line, "--json", "out.json", "--out", "page"]) == 0
    said = capsys.readouterr().err
    page = (files / "page" / "significance.html").read_text()
    for text in ("v1: note is left out", "baseline <b>v1</b>", "; primary = delay<"):
        assert text in page
    for note in ("v1: note is left out", "v2 lacks 3 questions", "v2 alone has 4 questions"):
        assert note in said
    assert "user is left out" not in said
    assert "v1 lacks" not in said
    row = json.loads((files / "out.json").read_text())["comparisons"][0]
    # 9 questions of 5 users are in both.
    assert (row["difference"], row["n"], row["n_units"]) == (1, 9, 5)


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


RATINGS = "id,anna,boris,carla\n" + "".join(
    f"i{n},{n % 3 + 1},{n % 3 + 1},{(n + n // 6) % 3 + 1}\n" for n in range(12)
)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("", "3 raters on 12 items: alpha_ratio 0."),
        ("--primary alpha_nominal", "3 raters on 12 items: alpha_nominal 0."),
        ("--scale 1,2,3 --primary ac1", "ac1 1.00"),
    ],
)
def test_agree_says_the_coefficient_that_is_asked_for(
    files: Path, more: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "ratings.csv").write_text(RATINGS)
    line = ["agree", "ratings.csv", "--raters", "anna,boris,carla", *more.split()]
    assert run([*line, "--out", "page", "--latex", "paper/table.tex"]) == 0
    printed = capsys.readouterr().out
    assert said in printed
    assert "missing" not in printed
    pairs = ("anna · boris", "anna · carla", "boris · carla")
    page = (files / "page" / "agreement.html").read_text()
    for name in ("all", *pairs):
        assert name in printed
        assert name in page
    assert "\\toprule" in (files / "paper" / "table.tex").read_text()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("ratings.csv --raters anna", "--raters"),
        ("ratings.csv --raters anna,bob", "bob"),
        ("rows.csv", "one rater, anna: agreement needs two"),
        ("ratings.csv --raters anna,boris --scale 1", "--scale 1.0: list all levels"),
        ("ratings.csv --raters anna,boris --scale low,2", "rating 1.0 is not on the scale low, 2"),
        (
            "ratings.csv --raters anna,boris --primary kapa",
            "no coefficient 'kapa'; did you mean 'kappa'",
        ),
        ("ratings.csv --raters anna,boris --primary x", "no coefficient 'x'; there are"),
    ],
)
def test_agree_refuses_in_a_sentence(
    files: Path, line: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "ratings.csv").write_text(RATINGS)
    (files / "rows.csv").write_text("id,rater,value\ni1,anna,1\ni2,anna,2\n")
    assert run(["agree", *line.split()]) == 3
    assert said in capsys.readouterr().err


def test_agree_names_ratings_that_differ_by_case_alone(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (files / "ratings.csv").write_text('id,anna,boris\n1,Yes,yes\n2,no,no\n3,1,"2,5"\n')
    assert run(["agree", "ratings.csv", "--raters", "anna,boris"]) == 0
    said = capsys.readouterr().err
    assert "Yes and yes count as different ratings" in said
    assert "no and" not in said
