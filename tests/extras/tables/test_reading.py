"""Tables of raters and of scores."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ragbench.core.errors import BenchError
from ragbench.extras.tables.reading import read_ratings, read_scores

Find = Callable[[str], Path]


def test_ratings_in_rows_and_in_columns(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("item,rater,value\n1,a,Yes\n1,b,-\n2,a,No\n2,b,No\n")
    rows = read_ratings(path)
    assert rows.to_dict("list")["a"] == ["Yes", "No"]
    assert rows["b"].isna().tolist() == [True, False]
    path.write_text("id,human,judge\n1,Yes,NA\n2,No,No\n")
    assert read_ratings(path, raters=["human", "judge"])["human"].tolist() == ["Yes", "No"]
    with pytest.raises(BenchError, match="--raters human,judge"):
        read_ratings(path)
    path.write_text("item,rater,value\n1,a,Yes\n1,a,No\n")
    with pytest.raises(BenchError, match="stands twice"):
        read_ratings(path)


def test_scores(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id;acc;note\n1;50%;fine\n2;;odd\n")
    scores = read_scores(path)
    assert scores.index.tolist() == ["1", "2"]
    np.testing.assert_array_equal(scores["acc"], [0.5, np.nan])
    assert scores.attrs["left_out"] == {
        "note": "note holds 'fine', no number; write a number or leave it empty"
    }
    path.write_text("acc\n1\n0\n")
    assert read_scores(path).index.tolist() == ["1", "2"]
    path.write_text("id,acc\n1,1\n1,0\n")
    with pytest.raises(BenchError, match="'1' stands twice"):
        read_scores(path)
    path.write_text("id,acc,page\n1,1,a\n2,0,\n")
    with pytest.raises(BenchError, match="page is empty in 1 rows; name the unit of each"):
        read_scores(path, unit="page")
    path.write_text("id,acc\n1,1\n,0\n")
    assert len(read_scores(path)) == 2
    path.write_text("id,note\n1,50% and\n")
    with pytest.raises(BenchError, match="has no column of numbers; note holds '50%and'"):
        read_scores(path)


def test_raters_and_scores(shared_data: Find) -> None:
    case = read_ratings(shared_data("field-cases/agree_case/c.csv"))
    assert case["a"].tolist() == ["Yes", "No", "Yes"]
    wide = read_ratings(shared_data("field-cases/agree_wide/w.csv"), raters=["human", "judge"])
    assert (wide["human"] == wide["judge"]).mean() == 0.8
    commas = shared_data("field-cases-2/viii-agree-comma/r.csv")
    assert read_ratings(commas, raters=["человек", "судья"])["судья"].iloc[7] == "0,79"
    assert read_scores(shared_data("field-cases-2/viii-percent/a.csv"))["accuracy"].iloc[0] == 0.5
    mixed = read_scores(shared_data("field-cases-2/viii-percent/mixed/a.csv"))
    assert mixed.iloc[0].tolist() == [0.5, 0.5]
    ids = [read_scores(shared_data(f"field-cases-2/iv-excel-ids/{x}.csv")).index[0] for x in "ab"]
    assert ids == ["1", "1.0"]
