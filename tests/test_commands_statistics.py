"""`ragbench agree` and `ragbench significance`: the same numbers from every format, errors that name the cell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import typer
from typer.testing import CliRunner

from ragbench import stats
from ragbench.commands import statistics

application = typer.Typer()
application.command("agree")(statistics.agree)
application.command("significance")(statistics.significance)


def run(*words: object) -> Any:
    result = CliRunner().invoke(application, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return json.loads(result.output) if "--json" in words else result.output


def write(frame: pandas.DataFrame, path: Path) -> Path:
    if path.suffix == ".parquet":
        frame.to_parquet(path)
    elif path.suffix == ".jsonl":
        frame.to_json(path, orient="records", lines=True, force_ascii=False)
    else:
        frame.to_csv(path, index=False, sep="\t" if path.suffix == ".tsv" else ",")
    return path


@pytest.fixture
def grades() -> pandas.DataFrame:
    rng = np.random.default_rng(0)
    people = rng.integers(1, 5, 40)
    judge = np.clip(people + rng.integers(-1, 2, 40), 1, 4).astype(float)
    judge[3] = np.nan
    items = [f"q{k:02d}" for k in range(40)]
    return pandas.DataFrame(
        {"item": items * 2, "rater": ["people"] * 40 + ["judge"] * 40, "value": np.concatenate([people, judge])}
    )


@pytest.fixture
def scores() -> tuple[pandas.DataFrame, pandas.DataFrame]:
    rng = np.random.default_rng(1)
    first = pandas.DataFrame({
        "id": [f"q{k}" for k in range(60)], "hit": rng.integers(0, 2, 60), "ndcg": rng.random(60),
        "seconds": rng.lognormal(size=60), "answer": ["text"] * 60, "dialogue": [f"d{k // 4}" for k in range(60)],
    })  # fmt: skip
    second = first.assign(ndcg=first.ndcg + rng.normal(0.1, 0.1, 60), seconds=first.seconds * 2)
    return first, second.sample(frac=1, random_state=0).iloc[:55]


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
def test_agreement_from_every_format(grades: pandas.DataFrame, tmp_path: Path, suffix: str) -> None:
    path = write(grades, tmp_path / f"ratings{suffix}")
    report = run(
        "agree", path, "--item", "item", "--rater", "rater", "--value", "value", "--scale", "ordinal", "--json"
    )
    people, judge = (grades.value[grades.rater == name].tolist() for name in ("people", "judge"))
    expected = stats.agreement(people, judge, scale="ordinal")
    assert report["raters"] == ["people", "judge"]
    assert set(report["statistics"]) == set(expected)
    for name, one in expected.items():
        found = report["statistics"][name]
        assert found["value"] == pytest.approx(one.value)
        assert (found["low"], found["high"]) == pytest.approx((one.low, one.high))
        assert (found["n"], found["n_unmeasured"], found["method"]) == (39, 1, one.method)


def test_words_need_their_order_and_the_truth_its_name(tmp_path: Path) -> None:
    rows = [
        ("1", "j", "low"),
        ("1", "p", "mid"),
        ("2", "j", "high"),
        ("2", "p", "high"),
        ("3", "j", "low"),
        ("3", "p", "low"),
    ]
    path = write(pandas.DataFrame(rows, columns=["item", "rater", "value"]), tmp_path / "words.csv")
    report = run("agree", path, "--scale", "ordinal", "--categories", "low,mid,high", "--truth", "p", "--json")
    assert report["raters"] == ["p", "j"]
    expected = stats.agreement(
        ["mid", "high", "low"], ["low", "high", "low"], scale="ordinal", categories=["low", "mid", "high"]
    )
    assert report["statistics"]["cohen_kappa_linear"]["value"] == pytest.approx(expected["cohen_kappa_linear"].value)


def test_three_raters_get_alpha_and_every_pair(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    matrix = rng.integers(0, 3, (20, 3))
    rows = [(f"i{i}", f"r{j}", matrix[i, j]) for i in range(20) for j in range(3) if (i, j) != (0, 0)]
    path = write(pandas.DataFrame(rows, columns=["item", "rater", "value"]), tmp_path / "panel.csv")
    report = run("agree", path, "--scale", "ordinal", "--json")
    ratings = matrix.astype(float)
    ratings[0, 0] = np.nan
    expected = stats.krippendorff_alpha(ratings, scale="ordinal").value
    assert report["statistics"]["krippendorff_alpha"]["value"] == pytest.approx(expected)
    assert report["statistics"]["fleiss_kappa"]["n"] == 19
    assert report["statistics"]["icc"]["n"] == 19
    assert [pair["raters"] for pair in report["pairs"]] == [["r1", "r2"], ["r1", "r0"], ["r2", "r0"]]


def test_agreement_for_people_to_read(grades: pandas.DataFrame, tmp_path: Path) -> None:
    text = run("agree", write(grades, tmp_path / "ratings.csv"), "--scale", "interval")
    assert "40 items, raters people, judge, interval scale" in text
    assert "krippendorff_alpha" in text
    assert "n = 39" in text


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_significance_from_every_format(
    scores: tuple[pandas.DataFrame, pandas.DataFrame], tmp_path: Path, suffix: str
) -> None:
    first, second = (write(frame, tmp_path / f"{name}{suffix}") for frame, name in zip(scores, "AB", strict=True))
    report = run("significance", first, second, "--id", "id", "--lower-is-better", "seconds", "--json")
    assert (report["questions"], report["unmatched"]) == (55, 5)
    assert list(report["statistics"]) == ["hit", "ndcg", "seconds"]
    joined = scores[0].merge(scores[1], on="id", suffixes=("_a", "_b"))
    better = {"hit": "higher", "ndcg": "higher", "seconds": "lower"}
    expected = stats.compare_metrics(
        {name: joined[f"{name}_a"] for name in better}, {name: joined[f"{name}_b"] for name in better}, better=better,  # type: ignore[arg-type]
    )  # fmt: skip
    adjusted = stats.holm([one.p for one in expected.values()])
    for (name, one), p in zip(expected.items(), adjusted, strict=True):
        found = report["statistics"][name]
        assert found["value"] == pytest.approx(one.difference)
        assert (found["low"], found["high"]) == pytest.approx((one.low, one.high))
        assert (found["n"], found["method"], found["test"]) == (one.n, one.method, one.test)
        assert found["p_adjusted"] == pytest.approx(p)
    assert report["statistics"]["ndcg"]["verdict"] == "better"
    assert report["statistics"]["seconds"]["verdict"] == "worse"
    assert report["statistics"]["hit"]["verdict"] == "not shown"


def test_clusters_and_margin_reach_the_test(scores: tuple[pandas.DataFrame, pandas.DataFrame], tmp_path: Path) -> None:
    first, second = (write(frame, tmp_path / f"{name}.csv") for frame, name in zip(scores, "AB", strict=True))
    report = run("significance", first, second, "--metric", "hit", "--cluster", "dialogue", "--margin", "0.1", "--json")
    found = report["statistics"]["hit"]
    assert list(report["statistics"]) == ["hit"]
    assert found["clusters"] == 15
    assert found["p_equivalence"] is None or found["p_equivalence"] < 1
    text = run("significance", first, second, "--metric", "ndcg")
    assert "55 questions in both files, 5 in one only" in text
    assert "better" in text


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (
            "item,rater,value\n1,a,2\n1,b,x\n",
            ["--scale", "ordinal"],
            r"t\.csv, column 'value', row 2: 'x' is not a finite",
        ),
        ("item,rater,value\n1,a,2\n1,b,inf\n", ["--scale", "interval"], r"row 2: 'inf' is not a finite number"),
        ("item,rater,value\n1,a,2\n1,a,3\n", [], r"row 2: rater 'a' rates item '1' a second time"),
        ("item,rater,value\n1,a,2\n,b,3\n", [], r"row 2: columns 'item' and 'rater' must name"),
        ("item,rater,value\n1,a,2\n", [], r"names 1 rater; agreement needs two"),
        ("item,who,value\n1,a,2\n", [], r"has no column rater; its columns: item, who, value"),
        ("item,rater,value\n1,a,2\n1,b,3\n", ["--truth", "c"], r"--truth is one of the raters .* a, b; got 'c'"),
        ("item,rater,value\n1,a,2\n1,b,3\n", ["--categories", "1,2"], r"row 2: '3' is not one of 1, 2"),
        ("", [], r"not a UTF-8 table"),
    ],
)
def test_bad_ratings_are_named(tmp_path: Path, content: str, options: list[str], message: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        run("agree", path, *options)


def test_bad_scores_are_named(scores: tuple[pandas.DataFrame, pandas.DataFrame], tmp_path: Path) -> None:
    first, second = (write(frame, tmp_path / f"{name}.csv") for frame, name in zip(scores, "AB", strict=True))
    other = write(scores[0].assign(id=[f"z{k}" for k in range(60)]), tmp_path / "other.csv")
    twice = write(pandas.concat([scores[0], scores[0].iloc[:1]]), tmp_path / "twice.csv")
    words = write(scores[0][["id", "answer"]], tmp_path / "words.csv")
    lines = tmp_path / "broken.jsonl"
    lines.write_text('{"id": 1}\n{"id": \n', encoding="utf-8")
    sheet = tmp_path / "t.xlsx"
    sheet.write_bytes(b"")
    for arguments, message in (
        ((first, other), "share no value of column 'id'"),
        ((first, twice), "'q0' is in rows 1 and 61"),
        ((first, words), "share no column of numbers; shared: answer"),
        ((first, second, "--metric", "mrr"), "has no column mrr; its columns: id, hit, ndcg"),
        ((first, second, "--metric", "answer"), "A.csv, column 'answer', row 1: 'text' is not a finite number"),
        ((first, second, "--lower-is-better", "latency"), "latency: not among the compared metrics hit, ndcg, seconds"),
        ((first, lines), "broken.jsonl, line 2: not JSON"),
        ((first, sheet), "a table is a file of .csv, .tsv, .jsonl, .parquet; got '.xlsx'"),
    ):
        with pytest.raises(ValueError, match=message):
            run("significance", *arguments)
