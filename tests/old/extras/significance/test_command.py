"""`ragbench agree` and `ragbench significance`: the numbers of the statistics, errors that name the cell."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import typer
from typer.testing import CliRunner

from ragbench.old import stats
from ragbench.old.core import settings
from ragbench.old.data import DatasetError
from ragbench.old.extras.significance import command
from tests.old.cli import command_line
from tests.old.small_project import write_lines

application = typer.Typer()
application.command("agree")(command.agree)
application.command("significance")(command.significance)


FEW = 400


def run(*words: object, resamples: int | None = FEW) -> Any:
    """resamples: None for as many as the command takes by itself."""
    given = [str(word) for word in (*words, *(("--resamples", resamples) if resamples else ()))]
    result = CliRunner().invoke(application, given, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return json.loads(result.output) if "--json" in words else result.output


def write(frame: pandas.DataFrame, path: Path) -> Path:
    frame.to_csv(path, index=False)
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


def test_agreement_is_that_of_the_statistics(grades: pandas.DataFrame, tmp_path: Path) -> None:
    path = write(grades, tmp_path / "ratings.csv")
    report = run(
        "agree", path, "--item", "item", "--rater", "rater", "--value", "value", "--scale", "ordinal",
        "--truth", "people", "--json", resamples=None,
    )  # fmt: skip
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


def test_one_class_in_two_spellings_is_one_class(tmp_path: Path) -> None:
    """Anna writes `Yes`, Boris `yes ` and `YES`: they agree on all items, which is said once."""
    said = [("Yes", "yes "), ("No", "no"), ("Yes", "YES"), ("No", "no"), ("don\u2019t  know", "Don\u2019t know")]
    rows = [(f"i{i}", who, value) for i, pair in enumerate(said) for who, value in zip("ab", pair, strict=True)]
    path = write(pandas.DataFrame(rows, columns=["item", "rater", "value"]), tmp_path / "classes.csv")
    report = run("agree", path, "--json")
    assert report["statistics"]["accuracy"]["value"] == report["statistics"]["cohen_kappa"]["value"] == 1
    assert report["folded"] == {
        "Don\u2019t know": ["Don\u2019t know", "don\u2019t  know"], "No": ["No", "no"], "Yes": ["YES", "Yes", "yes"]
    }  # fmt: skip
    done = CliRunner().invoke(application, ["agree", str(path)])
    assert done.output.count("one class, 'Yes': 'YES', 'Yes', 'yes'") == 1
    assert "all categories of the scale are not known" in " ".join(done.output.split()), "of AC1"
    told = run("agree", path, "--categories", "YES,no,don\u2019t know,not asked", "--json")
    assert told["statistics"]["gwet_ac1"]["low"] is not None
    assert told["folded"]["YES"] == ["YES", "Yes", "yes"], "written as the category is"
    with pytest.raises(DatasetError, match="one of yes, no is expected"):
        run("agree", path, "--categories", "yes,no")


def test_numbers_keep_their_statistics_beside_their_categories(grades: pandas.DataFrame, tmp_path: Path) -> None:
    path = write(grades, tmp_path / "ratings.csv")
    levels = sorted(grades.value.dropna().unique())
    written = ",".join(f"{level:g}" for level in [*levels, levels[-1] + 1])
    found = run("agree", path, "--scale", "ordinal", "--categories", written, "--truth", "people", "--json")
    people, judge = (grades.value[grades.rater == name].tolist() for name in ("people", "judge"))
    expected = stats.agreement(people, judge, scale="ordinal", categories=[*levels, levels[-1] + 1], resamples=FEW)
    assert set(found["statistics"]) == set(expected)
    for name in ("gwet_ac2", "cohen_kappa_quadratic", "icc"):
        assert found["statistics"][name]["value"] == pytest.approx(expected[name].value)
        assert found["statistics"][name]["low"] == pytest.approx(expected[name].low)
    with pytest.raises(DatasetError, match="is expected"):
        run("agree", path, "--scale", "ordinal", "--categories", "101,102")


def test_labels_on_a_metric_are_on_the_metric_s_scale(tmp_path: Path) -> None:
    """answer_correctness_rating goes from 1 to 5: AC₂ counts the 1 and the 2 that nobody gave."""
    pairs = [(3, 3), (4, 5), (5, 5), (4, 4), (3, 4), (5, 4)]
    rows = [
        (f"q{i}", "answer_correctness_rating", who, value)
        for i, pair in enumerate(pairs)
        for who, value in zip("ab", pair, strict=True)
    ]
    path = write(pandas.DataFrame(rows, columns=["id", "metric", "annotator", "value"]), tmp_path / "labels.csv")
    found = run("agree", path, "--metric", "answer_correctness_rating", "--scale", "ordinal", "--json")
    assert found["categories"] == [1, 2, 3, 4, 5]
    a, b = zip(*pairs, strict=True)
    expected = stats.agreement(a, b, scale="ordinal", categories=[1, 2, 3, 4, 5], resamples=FEW)["gwet_ac2"]
    assert found["statistics"]["gwet_ac2"]["value"] == pytest.approx(expected.value)
    assert found["statistics"]["gwet_ac2"]["low"] == pytest.approx(expected.low)


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
    assert [pair["raters"] for pair in report["pairs"]] == [["r0", "r1"], ["r0", "r2"], ["r1", "r2"]]
    assert report["pairs_left_out"] == 0


def test_ratings_on_a_ratio_scale(tmp_path: Path) -> None:
    rows = [(f"i{i}", who, value) for i, pair in enumerate([(1, 2), (10, 12), (30, 29), (4, 4), (0, 1)])
            for who, value in zip("ab", pair, strict=True)]  # fmt: skip
    path = write(pandas.DataFrame(rows, columns=["item", "rater", "value"]), tmp_path / "seconds.csv")
    found = run("agree", path, "--scale", "ratio", "--json")["statistics"]["krippendorff_alpha"]["value"]
    ratings = [[1, 2], [10, 12], [30, 29], [4, 4], [0, 1]]
    assert found == pytest.approx(stats.krippendorff_alpha(ratings, scale="ratio").value)
    assert found != pytest.approx(stats.krippendorff_alpha(ratings, scale="interval").value, abs=0.01)


def test_agreement_for_people_to_read(grades: pandas.DataFrame, tmp_path: Path) -> None:
    text = run("agree", write(grades, tmp_path / "ratings.csv"), "--scale", "interval")
    assert "40 items, raters judge, people, interval scale" in text
    assert "it is judge; bias is people − judge" in text
    line = next(line for line in text.splitlines() if line.startswith("krippendorff_alpha"))
    assert line.split()[-2:] == ["39", "1"]


def test_significance_is_that_of_the_statistics(
    scores: tuple[pandas.DataFrame, pandas.DataFrame], tmp_path: Path
) -> None:
    first, second = (write(frame, tmp_path / f"{name}.csv") for frame, name in zip(scores, "AB", strict=True))
    words = ("significance", first, second, "--id", "id", "--lower-is-better", "seconds", "--json")
    report = run(*words, resamples=None)
    assert (report["questions"], report["unmatched"]) == (55, 5)
    assert list(report["statistics"]) == ["hit", "ndcg", "seconds"]
    joined = scores[0].merge(scores[1], on="id", suffixes=("_a", "_b")).sort_values("id")
    better = {"hit": "higher", "ndcg": "higher", "seconds": "lower"}
    tested = stats.hypotheses(
        {name: joined[f"{name}_a"] for name in better}, {name: joined[f"{name}_b"] for name in better}, better=better,  # type: ignore[arg-type]
    )  # fmt: skip
    for name, one in zip(tested, stats.jointly(list(tested.values())), strict=True):
        found = report["statistics"][name]
        assert found["value"] == pytest.approx(one.difference)
        assert (found["low"], found["high"]) == pytest.approx((one.low, one.high))
        assert (found["n"], found["method"], found["test"]) == (one.n, one.method, one.test)
        assert (found["p"], found["p_adjusted"]) == pytest.approx((one.p, one.p_adjusted))
    assert report["statistics"]["ndcg"]["verdict"] == "better"
    report = run("significance", first, second, "--lower-is-better", "seconds", "--primary", "ndcg", "--json")
    families = {name: one["family"] for name, one in report["statistics"].items()}
    assert families == {"hit": "secondary: 2, max-T", "ndcg": "primary: 1, max-T", "seconds": "secondary: 2, max-T"}
    with pytest.raises(ValueError, match="primary = 'ndgc': it is not measured; did you mean 'ndcg'"):
        run("significance", first, second, "--primary", "ndgc")
    assert report["statistics"]["seconds"]["verdict"] == "worse"
    assert report["statistics"]["hit"]["verdict"] == "not shown"


def test_clusters_and_margin_reach_the_test(scores: tuple[pandas.DataFrame, pandas.DataFrame], tmp_path: Path) -> None:
    first, second = (write(frame, tmp_path / f"{name}.csv") for frame, name in zip(scores, "AB", strict=True))
    report = run("significance", first, second, "--metric", "hit", "--cluster", "dialogue", "--margin", "0.1", "--json")
    found = report["statistics"]["hit"]
    assert list(report["statistics"]) == ["hit"]
    assert found["clusters"] == 15
    assert found["p_equivalence"] is None or found["p_equivalence"] < 1
    sure = run("significance", first, second, "--metric", "ndcg", "--margin", "0.9")
    assert "p of equivalence within ±0.9: <0.0001" in sure
    text = run("significance", first, second, "--metric", "ndcg")
    assert "55 questions in both files, 5 in one only" in text
    assert "better" in text


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        ("item,rater,value\n1,a,2\n1,b,x\n", ["--scale", "ordinal"], r"t\.csv, line 3, value = 'x': a finite number"),
        ("item,rater,value\n1,a,2\n1,b,inf\n", ["--scale", "interval"], r"line 3, value = 'inf': a finite number"),
        ("item,rater,value\n1,a,2\n1,b,1_0\n", ["--scale", "ratio"], r"line 3, value = '1_0': a finite number"),
        ("item,rater,value\n1,a,2\n1,a,3\n", [], r"line 3: 'a' rates '1' a second time, after t\.csv, line 2"),
        ("item,rater,value\n1,a,2\n,b,3\n", [], r"line 3, item: is empty; every rating has an item and a rater"),
        ("item,rater,value\n1,a,2\n1,,3\n", [], r"line 3, rater: is empty"),
        ("item,rater,value\n1,a,2\n", [], r"t\.csv: the only rater is 'a'; agreement needs two"),
        ("item,who,value\n1,a,2\n", [], r"has no column rater; it has item, who, value"),
        ("item,rater,value\n1,a,2\n1,b,3\n", ["--truth", "c"], r"--truth is one of the raters a, b; got 'c'"),
        ("item,rater,value\n1,a,2\n1,b,3\n", ["--categories", "1,2"], r"line 3, value = '3': one of 1, 2 is expected"),
        (
            "item,rater,value\n1,a,2\n1,b,3\n",
            ["--categories", "2,3", "--scale", "ratio"],
            r"and ratio is a scale of numbers",
        ),
        ("item,rater,value,d\n1,a,2,x\n1,b,3,y\n", ["--cluster", "d"], r"line 3, d = 'y': '1' is in 'x' elsewhere"),
        ("item,rater,value\n1,a,2\n1,b,3\n", ["--level", "95"], r"level is the nominal coverage, between 0 and 1"),
        ("item,rater,value\n,,\n", [], r"t\.csv: holds no rows"),
        ("", [], r"t\.csv: an empty file; a header line"),
    ],
)
def test_bad_ratings_are_named(tmp_path: Path, content: str, options: list[str], message: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        run("agree", path, *options)


def test_a_word_that_is_no_scale_names_the_scales(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("item,rater,value\n1,a,2\n1,b,3\n", encoding="utf-8")
    done = CliRunner().invoke(application, ["agree", str(path), "--scale", "metric"])
    assert done.exit_code == 2
    assert "'nominal', 'ordinal', 'interval', 'ratio'" in " ".join(done.output.replace("│", " ").split())


def test_bad_scores_are_named(scores: tuple[pandas.DataFrame, pandas.DataFrame], tmp_path: Path) -> None:
    first, second = (write(frame, tmp_path / f"{name}.csv") for frame, name in zip(scores, "AB", strict=True))
    other = write(scores[0].assign(id=[f"z{k}" for k in range(60)]), tmp_path / "other.csv")
    twice = write(pandas.concat([scores[0], scores[0].iloc[:1]]), tmp_path / "twice.csv")
    nameless = write(scores[0].assign(id=["", *scores[0].id[1:]]), tmp_path / "nameless.csv")
    words = write(scores[0][["id", "answer"]], tmp_path / "words.csv")
    lines = tmp_path / "broken.jsonl"
    lines.write_text('{"id": 1}\n{"id": \n', encoding="utf-8")
    sheet = tmp_path / "t.xlsx"
    sheet.write_bytes(b"")
    for arguments, message in (
        ((first, other), "share no value of column 'id'; they have 'q0' and 'z0', for example"),
        ((first, twice), "twice.csv, line 62, id = 'q0': stands in twice.csv, line 2 too; keep one"),
        ((first, nameless), "nameless.csv, line 2, id: is empty"),
        ((first, words), "share no column of numbers; shared: answer"),
        ((first, second, "--metric", "mrr"), "A.csv: has no column mrr; it has id, hit, ndcg"),
        ((first, second, "--metric", "answer"), "A.csv, line 2, answer = 'text': a finite number is expected"),
        ((first, second, "--lower-is-better", "latency"), "latency: not among the compared metrics hit, ndcg, seconds"),
        ((first, second, "--level", "95"), "level is the nominal coverage, between 0 and 1"),
        ((first, second, "--margin", "-1"), "margin"),
        ((first, lines), "broken.jsonl, line 2: not JSON"),
        ((first, sheet), "t.xlsx: an empty file; "),
        ((first, tmp_path / "none.csv"), "none.csv: there is no such file"),
        ((first, tmp_path), ": a folder; name a table in it"),
    ):
        with pytest.raises(ValueError, match=message):
            run("significance", *arguments)


def halves(name: str, tmp_path: Path, scale: float = 1.0, won: int = 8) -> list[Path]:
    """100 questions in both files; of 48 the challenger has no value, and of the other 52 it wins 8."""
    first = np.r_[np.ones(20), np.zeros(32), np.ones(20), np.zeros(28)]
    second = np.r_[np.ones(20 + won), np.zeros(32 - won), np.full(48, np.nan)]
    ids = [f"q{n}" for n in range(100)]
    return [
        write(pandas.DataFrame({"id": ids, name: column * scale}), tmp_path / f"{side}.csv")
        for side, column in (("a", first), ("b", second))
    ]


@pytest.mark.parametrize("number", ["1e308", "-1e31", "9" * 400])
def test_a_number_that_nobody_can_mean_is_named(number: str, tmp_path: Path) -> None:
    rows = "".join(f"{item},{rater},{number}\n" for item in range(3) for rater in ("anna", "boris"))
    (tmp_path / "r.csv").write_text(f"item,rater,value\n{rows}", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"r\.csv, line 2, value = .*: a finite number is expected, 1e\+30 at most"):
        run("agree", tmp_path / "r.csv", "--scale", "interval")


def test_half_of_the_values_missing_leave_the_word_open(tmp_path: Path) -> None:
    files = halves("hit", tmp_path)
    said = run("significance", *files)
    assert "cannot be told: 48 of 100 pairs unmeasured" in said
    assert "better" not in said
    assert "hit: with what is unmeasured, the difference lies between −0.1200 and +0.3600" in said
    found = run("significance", *files, "--json")["statistics"]["hit"]
    assert (found["verdict"], found["withheld"]) == ("cannot be told", "48 of 100 pairs unmeasured")
    assert (found["least"], found["most"]) == (pytest.approx(-0.12), pytest.approx(0.36))


def test_the_ends_of_a_scale_are_given_or_those_of_the_metric_of_that_name(tmp_path: Path) -> None:
    ratings = halves("stars", tmp_path, scale=4.0)
    said = run("significance", *ratings)
    assert "48 unmeasured pairs, on a scale without ends, could say otherwise" in said
    assert "better" in said
    bounded = run("significance", *ratings, "--scale", "0", "4", "--json")["statistics"]["stars"]
    assert (bounded["least"], bounded["most"]) == (pytest.approx(-0.48), pytest.approx(1.44))
    assert bounded["withheld"] == "48 of 100 pairs unmeasured"
    named = run("significance", *halves("semantic_similarity", tmp_path), "--json")["statistics"]["semantic_similarity"]
    assert named["width"] == 2, "a cosine lies between -1 and 1"


WIDE = "id,question,human,judge,minutes\n" + "".join(
    f"{row},Is it {row}?,{human},{judge},{row * 7.5}\n"
    for row, (human, judge) in enumerate(
        zip([0, 1, 0, 1, 0, 1, 0, 1, 0, 1] * 2, [1, 1, 0, 1, 0, 0, 0, 1, 0, 1] * 2, strict=True)
    )
)


@pytest.mark.parametrize(
    "more", [(), ("--value", "human"), ("--raters", "human,judge"), ("--item", "id"), ("--truth", "human")]
)
def test_two_columns_of_a_table_are_two_raters(tmp_path: Path, more: tuple[str, ...]) -> None:
    path = tmp_path / "w.csv"
    path.write_text(WIDE)
    done = command_line.invoke("agree", path, *more, "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert (found["raters"], found["items"]) == (["human", "judge"], 20)
    # of 20, 4 differ, two each way: observed 0.8, by chance 0.5
    assert found["statistics"]["accuracy"]["value"] == pytest.approx(0.8)
    assert found["statistics"]["cohen_kappa"]["value"] == pytest.approx(0.6)


@pytest.mark.parametrize("names", [("Оценка асессора 1", "Оценка асессора 2"), ("human_label", "llm_label")])
def test_raters_beside_answers_are_told_from_them(tmp_path: Path, names: tuple[str, str]) -> None:
    """Neither short questions nor answers are classes; of numbered columns it is the name that tells."""
    rows = "".join(f"{n},Is it?,It is.,{n % 2},{n % 2 if n else 1}\n" for n in range(4))
    (tmp_path / "w.csv").write_text(f"id,question,answer,{','.join(names)}\n{rows}", encoding="utf-8")
    found = json.loads(command_line.invoke("agree", tmp_path / "w.csv", "--json").stdout)
    assert (found["raters"], found["statistics"]["accuracy"]["value"]) == ([*names], 0.75)


@pytest.mark.parametrize("more", [{}, {"ASSIGNMENT:task_id": "t"}])
def test_who_said_what_is_read_out_of_the_export_of_a_program_of_labels(tmp_path: Path, more: dict[str, str]) -> None:
    """Its names of columns are its own, and of Argilla's and Label Studio's records one holds what several said."""
    given = {"w": ["OK", "BAD", "OK"], "x": ["OK", "OK", "BAD"]}
    rows = [
        {"INPUT:question": "When?", "INPUT:answer": f"At {n}", "OUTPUT:result": said, "ASSIGNMENT:worker_id": who,
         **{name: f"{prefix}{n}" for name, prefix in more.items()}}
        for who, own in given.items() for n, said in enumerate(own)
    ]  # fmt: skip
    fields = {"question": "When?", "answer": "At 8"}
    said = [[{"user_id": who, "value": own[n]} for who, own in given.items()] for n in range(3)]
    records = [{"id": n, "fields": fields, "responses": {"ok": own}} for n, own in enumerate(said)]
    for number, table in enumerate((rows, records)):
        path = write_lines(tmp_path / f"{number}.jsonl", table)
        found = json.loads(command_line.invoke("agree", path, "--json").stdout)
        assert (found["raters"], found["items"]) == (["w", "x"], 3)
        assert found["statistics"]["accuracy"]["value"] == pytest.approx(1 / 3)


def test_which_columns_were_taken_is_said_where_nobody_named_them(tmp_path: Path) -> None:
    path = tmp_path / "w.csv"
    path.write_text(WIDE)
    shown = command_line.invoke("agree", path).output
    assert "raters are the columns human and judge; --raters COLUMN,COLUMN names others" in shown
    named = command_line.invoke("agree", path, "--raters", "judge,human").output
    assert "raters judge, human" in named
    assert "are the columns" not in named


@pytest.mark.parametrize(
    ("table", "more", "said"),
    [
        ("id,a,b,c\n1,x,x,y\n2,y,x,y\n", (), "has no column rater; it has id, a, b, c."),
        ("id,a\n1,x\n2,y\n", (), "name these, --raters COLUMN,COLUMN"),
        ("id,a,b\n1,x,x\n2,y,x\n", ("--raters", "a,d"), "has no column d; it has id, a, b"),
        ("id,a,b\n1,x,x\n,y,x\n", (), "is empty; every rating has an item"),
        ("id,a,b\n1,x,x\n1,y,x\n", (), "rates '1' a second time"),
    ],
)
def test_a_wide_table_that_tells_no_raters_says_how_to_name_them(
    tmp_path: Path, table: str, more: tuple[str, ...], said: str
) -> None:
    path = tmp_path / "w.csv"
    path.write_text(table)
    with pytest.raises(DatasetError, match=re.escape(said)):
        run("agree", path, *more)


@pytest.mark.parametrize(
    ("table", "more", "said"),
    [
        ("id,a,b\n1,good,A\n2,bad,B\n", ("--raters", "a,b"), "a gives bad, good, and b A, B: no class is common"),
        (
            "id,humn,judge\n1,yes,yes\n2,no,no\n",
            ("--value", "human"),
            "has no column human; it has id, humn, judge; did",
        ),
        ("id,asessor,rating\n1,x,1\n2,y,0\n", (), "which are they? --item COLUMN --rater COLUMN --value COLUMN"),
    ],
)
def test_columns_that_cannot_be_compared_are_named(
    tmp_path: Path, table: str, more: tuple[str, ...], said: str
) -> None:
    (tmp_path / "w.csv").write_text(table)
    with pytest.raises(DatasetError, match=re.escape(said)):
        run("agree", tmp_path / "w.csv", *more)


@pytest.mark.parametrize(
    ("first", "second", "accuracy", "classes"),
    [
        ("Yes No Yes No", "yes no YES no", 1.0, {"No": ["No", "no"], "Yes": ["YES", "Yes", "yes"]}),
        ("да нет Да нет", "1 0 1 0", 1.0, {"0": ["0", "нет"], "1": ["1", "Да", "да"]}),
        ("true false true false", "yes no yes yes", 0.75, {"yes": ["true", "yes"], "false": ["false", "no"]}),
        ("1 2 1 2", "yes no 1 no", 0.25, {}),  # 2 says neither: these are four classes
        ("correct ✗ верно +", "1 0 0 1", 0.75, {"0": ["0", "✗"], "1": ["+", "1", "correct", "верно"]}),
        ("yes no unsure no", "да нет unsure yes", 0.75, {"yes": ["yes", "да"], "no": ["no", "нет"]}),
        ("1 1 1 1", "yes yes yes yes", 0.0, {}),  # nobody says no: nothing tells that 1 is a yes
    ],
)
def test_yes_is_one_class_in_any_language_where_the_other_says_no(
    tmp_path: Path, first: str, second: str, accuracy: float, classes: dict[str, list[str]]
) -> None:
    path = tmp_path / "w.csv"
    rows = enumerate(zip(first.split(), second.split(), strict=True))
    path.write_text("id,a,b\n" + "".join(f"{row},{one},{other}\n" for row, (one, other) in rows))
    done = command_line.invoke("agree", path, "--raters", "a,b", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["statistics"]["accuracy"]["value"] == accuracy
    assert found["folded"] == classes
    shown = command_line.invoke("agree", path, "--raters", "a,b").output
    assert shown.count("one class") == len(classes)


def test_columns_are_named_by_option_or_by_the_projects_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = write(pandas.DataFrame({"nr": [1, 2, 3], "thema": list("aab"), "f1": [0.1, 0.2, 0.3]}), tmp_path / "a.csv")
    second = write(pandas.DataFrame({"nr": [1, 2, 4], "thema": list("aab"), "f1": [0.2, 0.4, 0.3]}), tmp_path / "b.csv")
    said = run("significance", first, second, "--column", "question=nr", "--column", "cluster=thema", "--json")
    assert (said["questions"], list(said["statistics"])) == (2, ["f1"])
    assert said["statistics"]["f1"]["value"] == pytest.approx(0.15)
    with pytest.raises(typer.BadParameter, match="--column answer: id and cluster are fields of questions"):
        command.significance(first, second, column=["answer=f1"])
    labels = pandas.DataFrame({"nr": list("abcd"), "anna": [1, 0, 1, 1], "boris": [1, 0, 0, 1], "more": list("wxyz")})
    table = write(labels, tmp_path / "labels.csv")
    (tmp_path / "ragbench.toml").write_text(
        '[columns]\nid = "nr"\nlabel = "boris,anna"\nanswer = "more"\n', encoding="utf-8"
    )
    monkeypatch.setenv("RAGBENCH_CONFIG", str(tmp_path / "ragbench.toml"))
    settings.load.cache_clear()
    agreed = run("agree", table, "--json")
    assert (agreed["raters"], agreed["items"]) == (["boris", "anna"], 4)
    assert agreed["statistics"]["accuracy"]["value"] == 0.75
    assert run("agree", table, "--column", "label=anna,boris", "--json")["raters"] == ["anna", "boris"]
    settings.load.cache_clear()


def test_yes_and_no_are_scores_and_answers_are_none(tmp_path: Path) -> None:
    for name, nth in (("a", 3), ("b", 2)):
        rows = (f"{n},{'Yes' if n % nth else 'No'},yes\n" for n in range(12))
        (tmp_path / f"{name}.csv").write_text("id,correct,answer\n" + "".join(rows))
    done = command_line.invoke("significance", tmp_path / "a.csv", tmp_path / "b.csv", "--json")
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["statistics"]
    assert {name: own["difference"] for name, own in found.items()} == {"correct": pytest.approx(6 / 12 - 8 / 12)}
    (tmp_path / "c.csv").write_text("id,correct\n1,-\n2,1\n")
    with pytest.raises(DatasetError, match="share no column of numbers"):
        run("significance", tmp_path / "a.csv", tmp_path / "c.csv")
