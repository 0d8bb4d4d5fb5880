"""Tables for `ragbench significance` and `agree` in every form that people have them: one content, one output."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
from typer.testing import CliRunner, Result

from ragbench.old import stats
from ragbench.old.__main__ import application
from ragbench.old.cli.looks import marked
from ragbench.old.data.files import DatasetError
from ragbench.old.data.rows import read_rows
from ragbench.old.extras.significance.rater_tables import Columns, Ratings
from tests.old.small_project import write_lines

Write = Callable[[pandas.DataFrame, Path], None]


def call(*words: object) -> Result:
    done = CliRunner().invoke(application, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done


def both(*words: object) -> tuple[str, Any]:
    """What is printed, and the JSON."""
    return call(*words).output, json.loads(call(*words, "--json").stdout)


def russian(frame: pandas.DataFrame, path: Path) -> None:
    """As a Russian spreadsheet saves it: Windows-1251, semicolons, decimal commas."""
    path.write_text(frame.to_csv(index=False, sep=";", decimal=","), encoding="cp1251")


def listed(frame: pandas.DataFrame, path: Path) -> None:
    frame.to_json(path, orient="records", force_ascii=False, double_precision=15)


def lines(frame: pandas.DataFrame, path: Path) -> None:
    frame.to_json(path, orient="records", lines=True, force_ascii=False, double_precision=15)


FORMS: dict[str, tuple[str, Write]] = {
    "semicolons": (".csv", lambda frame, path: frame.to_csv(path, index=False, sep=";")),
    "cp1251": (".csv", russian),
    "utf-16": (".csv", lambda frame, path: frame.to_csv(path, index=False, encoding="utf-16")),
    "mark and CRLF": (
        ".csv",
        lambda frame, path: frame.to_csv(path, index=False, encoding="utf-8-sig", lineterminator="\r\n"),
    ),
    "empty rows of a spreadsheet": (
        ".csv",
        lambda frame, path: path.write_text(f"{frame.to_csv(index=False)}{',' * (frame.shape[1] - 1)}\n\n"),
    ),
    "tabs": (".tsv", lambda frame, path: frame.to_csv(path, index=False, sep="\t")),
    "json": (".json", listed),
    "json lines": (".jsonl", lines),
    "parquet": (".parquet", lambda frame, path: frame.to_parquet(path)),
    "gzip": (".csv.gz", lambda frame, path: path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))),
}


@pytest.fixture(scope="module")
def scores() -> tuple[pandas.DataFrame, pandas.DataFrame]:
    rng = np.random.default_rng(2)
    first = pandas.DataFrame({
        "вопрос": [f"в{k}" for k in range(40)], "hit": rng.integers(0, 2, 40).astype(bool),
        "ndcg": rng.integers(0, 64, 40) / 64, "диалог": [f"д{k // 3}" for k in range(40)],
    })  # fmt: skip
    second = first.assign(ndcg=(first.ndcg + rng.integers(0, 32, 40) / 64) / 2, hit=True)
    second.loc[3, "ndcg"] = np.nan
    return first, second.iloc[:37]


@pytest.fixture(scope="module")
def ratings() -> pandas.DataFrame:
    rng = np.random.default_rng(3)
    grades = np.clip(rng.integers(1, 5, (30, 1)) + rng.integers(-1, 2, (30, 3)), 1, 5) / 2
    rows = [
        (f"п{i}", name, grades[i, j], f"д{i // 2}") for i in range(30) for j, name in enumerate(("Аня", "Боря", "Я"))
    ]
    frame = pandas.DataFrame(rows, columns=["item", "rater", "value", "диалог"])
    frame.loc[[5, 40], "value"] = np.nan
    return frame


def compared(scores: tuple[pandas.DataFrame, pandas.DataFrame], folder: Path, form: str) -> tuple[str, Any]:
    ending, write = FORMS[form]
    paths = [folder / f"{name}{ending}" for name in "AB"]
    for frame, path in zip(scores, paths, strict=True):
        write(frame, path)
    return both("significance", *paths, "--id", "вопрос", "--cluster", "диалог", "--resamples", 200)


def agreed(ratings: pandas.DataFrame, folder: Path, form: str) -> tuple[str, Any]:
    ending, write = FORMS[form]
    write(ratings, folder / f"ratings{ending}")
    words = ("--scale", "ordinal", "--cluster", "диалог", "--resamples", 200)
    return both("agree", folder / f"ratings{ending}", *words)


@pytest.fixture(scope="module")
def plain(
    scores: tuple[pandas.DataFrame, pandas.DataFrame],
    ratings: pandas.DataFrame,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, tuple[str, Any]]:
    """What is said of both in the plainest form."""
    folder = tmp_path_factory.mktemp("plain")
    return {"scores": compared(scores, folder, "json lines"), "ratings": agreed(ratings, folder, "json lines")}


@pytest.mark.parametrize("form", FORMS)
def test_scores_mean_the_same_in_every_form(
    scores: tuple[pandas.DataFrame, pandas.DataFrame], plain: dict[str, tuple[str, Any]], tmp_path: Path, form: str
) -> None:
    shown, report = compared(scores, tmp_path, form)
    assert shown == plain["scores"][0]
    assert report["statistics"] == plain["scores"][1]["statistics"]
    assert set(report["statistics"]) == {"hit", "ndcg"}
    assert (report["questions"], report["unmatched"], report["statistics"]["ndcg"]["n"]) == (37, 3, 36)


@pytest.mark.parametrize("form", FORMS)
def test_ratings_mean_the_same_in_every_form(
    ratings: pandas.DataFrame, plain: dict[str, tuple[str, Any]], tmp_path: Path, form: str
) -> None:
    assert agreed(ratings, tmp_path, form) == plain["ratings"]


@pytest.mark.fault("determinism", tried="rows in another order", count=1)
def test_the_order_of_rows_changes_no_sign_of_scores(
    scores: tuple[pandas.DataFrame, pandas.DataFrame], tmp_path: Path
) -> None:
    first, second = tmp_path / "A.csv", tmp_path / "B.jsonl"
    arguments = ("significance", first, second, "--id", "вопрос", "--resamples", 200, "--margin", 0.2)
    seen = set()
    for seed in range(6):
        scores[0].sample(frac=1, random_state=seed).to_csv(first, index=False)
        lines(scores[1].sample(frac=1, random_state=seed + 50), second)
        for more in ((), ("--cluster", "диалог")):
            shown, report = both(*arguments, *more)
            seen.add((more, shown, json.dumps(report)))
    assert len(seen) == 2


@pytest.mark.fault("determinism", tried="rows in another order", count=6)
@pytest.mark.parametrize("raters", [2, pytest.param(3, marks=pytest.mark.slow)])
@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval"])
def test_the_order_of_rows_changes_no_sign_of_agreement(
    ratings: pandas.DataFrame, tmp_path: Path, raters: int, scale: str
) -> None:
    path = tmp_path / "t.csv"
    frame = ratings[ratings.rater.isin(["Я", "Аня", "Боря"][:raters])]
    seen = set()
    for seed in range(4):
        frame.sample(frac=1, random_state=seed).to_csv(path, index=False)
        for more in ((), ("--cluster", "диалог")):
            shown, report = both("agree", path, "--scale", scale, "--resamples", 200, *more)
            seen.add((more, shown, json.dumps(report)))
    assert len(seen) == 2


def labels(folder: Path, annotator: str, values: dict[str, float], metric: str = "faithfulness") -> Path:
    """A file of labels as the widget writes it."""
    sheet = pytest.importorskip("ragbench.old.extras.labelling.sheet")
    items = [sheet.Item(name, "=system", metric, "Q?", "A") for name in values]
    made = sheet.Sheet(items, (0, 0.5, 1), annotator, folder / f"{annotator}.csv")
    for value in values.values():
        made.give(value)
    return made.path


def test_files_of_labels_need_no_columns_named(tmp_path: Path) -> None:
    anna = labels(tmp_path, "anna", {"q1": 1, "q2": 0.5, "q3": 0, "q4": 1})
    boris = labels(tmp_path, "-boris", {"q2": 0.5, "q1": 0.5, "q3": 0})  # in the file guarded from spreadsheets
    shown, report = both("agree", anna, boris, "--scale", "interval")
    expected = stats.agreement([1, 0.5, 0, 1], [0.5, 0.5, 0, None], scale="interval")
    assert report["raters"] == ["anna", "-boris"]
    assert report["items"] == 4
    for name, one in expected.items():
        assert report["statistics"][name]["value"] == pytest.approx(one.value), name
        assert (report["statistics"][name]["n"], report["statistics"][name]["n_unmeasured"]) == (3, 1)
    assert "where one rater counts as the truth, it is anna; bias is -boris − anna" in shown
    assert json.loads(call("agree", boris, anna, "--json").stdout)["raters"] == ["-boris", "anna"]


def test_labels_on_several_metrics_are_not_mixed(tmp_path: Path) -> None:
    paths = [labels(tmp_path, name, {"q1": 1, "q2": 0}) for name in ("anna", "boris")]
    other = pandas.read_csv(labels(tmp_path, "clara", {"q1": 0, "q2": 1}, "relevance")).assign(annotator="anna")
    pandas.concat([pandas.read_csv(paths[0]), other]).to_csv(paths[0], index=False)
    done = CliRunner().invoke(application, ["agree", *map(str, paths)])
    assert "holds labels on faithfulness, relevance; name one with --metric" in str(done.exception)
    report = json.loads(call("agree", *paths, "--metric", "faithfulness", "--json").stdout)
    assert report["statistics"]["accuracy"]["value"] == 1
    done = CliRunner().invoke(application, ["agree", *map(str, paths), "--metric", "relevance"])
    assert "boris.csv: --metric relevance: its labels are on faithfulness" in str(done.exception)


def test_sheets_that_people_filled_in_are_a_rater_each(tmp_path: Path) -> None:
    sheet = pytest.importorskip("ragbench.old.extras.labelling.sheet")
    items = [sheet.Item(f"q{n}", "s", "m", "Q?", "A") for n in range(3)]
    paths = []
    for name, given in {"anna": ("1", "0,5", "0"), "boris": ("1", "0", "")}.items():
        made = sheet.export_csv(sheet.Sheet(items, (0, 0.5, 1), name, tmp_path / "none.csv"), tmp_path / f"{name}.csv")
        frame = pandas.read_csv(made).assign(value=given)
        frame.to_csv(made, index=False, sep=";", encoding="cp1251")
        paths.append(made)
    report = json.loads(call("agree", *paths, "--scale", "interval", "--json").stdout)
    assert report["raters"] == ["anna", "boris"]
    assert report["statistics"]["bias"]["value"] == pytest.approx(-0.25)
    assert report["statistics"]["bias"]["n"] == 2


def test_columns_that_are_not_compared_are_named(tmp_path: Path) -> None:
    first, second = tmp_path / "A.csv", tmp_path / "B.csv"
    first.write_text("id,mrr,text,map\n1,0.5,a,1\n2,1,b,1\n", encoding="utf-8")
    second.write_text("id,mrr,text,ndcg\n1,x,a,1\n2,1,b,1\n", encoding="utf-8")
    done = CliRunner().invoke(application, ["significance", str(first), str(second)])
    assert "share no column of numbers; shared: mrr, text" in str(done.exception)
    second.write_text("id,mrr,text,ndcg\n1,0.75,a,1\n2,1,b,1\n", encoding="utf-8")
    shown, report = both("significance", first, second)
    assert report["not_compared"] == {
        "text": "; ".join(f"{path} has no number in 2 of 2 rows, such as 'a'" for path in (first, second)),
        "map": f"{second} has no such column",
        "ndcg": f"{first} has no such column",
    }
    assert "map is not compared" in shown


def test_files_of_one_name_are_told_apart(tmp_path: Path) -> None:
    paths = [tmp_path / folder / "scores.csv" for folder in ("v1", "v2")]
    for number, path in enumerate(paths):
        path.parent.mkdir()
        path.write_text(f"id,mrr\n1,{number}\n2,0\n3,{number}\n", encoding="utf-8")
    assert f"{paths[1]} − {paths[0]}:" in call("significance", *paths).output


@pytest.mark.parametrize(
    "text",
    [
        "id;human;judge\n1;0,5;0.5\n2;1,0;1\n3;0;0,0\n",
        "id,human,judge,judge_confidence\n1,1,1,0.4\n2,0,0,0.6\n3,1,1,0.7\n",
        "id,model,human,judge\n1,gpt,1,1\n2,gpt,0,0\n3,gpt,1,1\n",
        "id,human_label,human_comment,judge_label,judge_reason\n1,1,so,1,as\n2,0,so,0,as\n3,1,so,1,as\n",
        "id,human,judge\n1,1,1\n2,0,0\n3,,nan\n",
    ],
)
def test_columns_of_raters_are_found_beside_others(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.csv").write_text(text)
    assert both("agree", tmp_path / "a.csv")[1]["statistics"]["cohen_kappa"]["value"] == 1
    assert len(marked([row for _, row in read_rows(tmp_path / "a.csv", keep_empty=True)])) == 2, "init finds them, too"


def test_ratings_may_stand_in_an_object(tmp_path: Path) -> None:
    rows = [{"id": name, "labels": {"human": name % 2, "judge": name % 2}} for name in range(4)]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    assert both("agree", tmp_path / "a.json")[1]["statistics"]["cohen_kappa"]["value"] == 1


def test_two_words_of_one_rater_for_no_are_two_classes(tmp_path: Path) -> None:
    lines = ["correct,correct", "incorrect,irrelevant", "not relevant,incorrect", "not relevant,not relevant"]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["id,expert 1,expert 2", *(f"{n},{line}" for n, line in enumerate(lines))]))
    said, found = both("agree", path)
    assert "one class" not in said
    assert not found["folded"]
    assert found["statistics"]["accuracy"]["value"] == 0.5


@pytest.mark.parametrize(
    ("first", "second", "classes"),
    [("1000001", "1000002", 2), ("12345678901234567", "12345678901234568", 2), ("0,5", "0.50", 1), ("1", "1.0", 1)],
)
def test_numbers_are_one_class_only_where_they_are_one_number(
    tmp_path: Path, first: str, second: str, classes: int
) -> None:
    rows = [{"id": n, "expert 1": first, "expert 2": (first, second)[n % 2]} for n in range(4)]
    pandas.DataFrame(rows).to_csv(tmp_path / "t.csv", index=False)
    _, found = both("agree", tmp_path / "t.csv", "--raters", "expert 1,expert 2")
    assert found["statistics"]["accuracy"]["value"] == (0.5 if classes == 2 else 1.0)


def test_answers_of_two_systems_to_one_question_are_two_items_and_totals_none(tmp_path: Path) -> None:
    rows = [f"{number},{system},{grade},{grade}" for number, grade in enumerate("1233", 1) for system in ("x", "y")]
    (tmp_path / "a.csv").write_text("\n".join(["id,model,rater 1,rater 2", *rows, "Mean,,2.25,2.25"]))
    ratings = Ratings.read([tmp_path / "a.csv"], Columns(), numeric=True, categories=None)
    assert list(ratings.items) == [(str(number), system) for number in range(1, 5) for system in ("x", "y")]
    assert ratings.left_out.said.startswith("1 × row of totals")
    assert "left out: 1 × row of totals" in call("agree", tmp_path / "a.csv").stderr
    people = [f"{number},{system},{who},3" for number in (1, 2) for system in ("x", "y") for who in ("ann", "bob")]
    (tmp_path / "b.csv").write_text("\n".join(["id,model,rater,label", *people]))
    assert len(Ratings.read([tmp_path / "b.csv"], Columns(), numeric=True, categories=None).items) == len(people) / 2


def test_what_was_answered_is_no_rating(tmp_path: Path) -> None:
    rows = [
        {"row.question": f"{n}?", "row.answer": "yes" if n % 2 else "no", "row.verdict": n % 2 == 1} for n in range(8)
    ]
    write_lines(tmp_path / "a.jsonl", rows)
    with pytest.raises(DatasetError, match="has no column rater"):
        Ratings.read([tmp_path / "a.jsonl"], Columns(), numeric=False, categories=None)
