"""A declared table as CSV: every kind of cell as what it is, nothing rounded, nothing that a spreadsheet executes."""

from __future__ import annotations

import csv
import io
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragbench.old.core.language import translator
from ragbench.old.core.parts import Column, Table, Value
from ragbench.old.core.types import Estimate
from ragbench.old.tiers.basics import verdict_tables


def read(table: Table, *, raw: bool = False) -> list[list[str]]:
    return list(csv.reader(io.StringIO(table.csv(raw=raw), newline="")))


def test_an_interval_is_a_column_an_end_and_what_is_not_known_is_empty() -> None:
    columns = (
        Column("metric"), Column("interval", "interval"), Column("both", "interval"), Column("p", "p"),
        Column("n", "count"), Column("verdict", "verdict"),
    )  # fmt: skip
    rows = (
        ("mrr", Value(None, 0.25, 1 / 3), Value(0.1, -0.5, 0.5), 0.00001, 40, "better"),
        ("ndcg", Value(why="too few values"), None, math.nan, (1, 2), None),
        ("recall", None, Value(value=0.2, word="worse"), None, "12 (0.4 … 0.6)", "worse"),
    )
    for language in ("en", "ru"):
        assert read(Table(columns, rows, digits=1, notes=("a note",), language=language)) == [
            ["metric", "interval low", "interval high", "interval note", "both", "both low", "both high", "both note",
             "p", "n", "verdict"],
            ["mrr", "0.25", repr(1 / 3), "", "0.1", "-0.5", "0.5", "", "1e-05", "40", "better"],
            ["ndcg", "", "", "too few values", "", "", "", "", "", "1 / 2", ""],
            ["recall", "", "", "", "0.2", "", "", "worse", "", "12 (0.4 … 0.6)", "worse"],
        ]  # fmt: skip


def test_the_table_of_estimates_is_read_again_digit_by_digit() -> None:
    one = Estimate(1 / 3, 0.1, 2 / 3, 0.95, "bca", 48, 12, floor=0.25, ceiling=0.5)
    table = verdict_tables.estimates(("system", "metric"), [(("base", "mrr"), one)], translator("en"))
    head, row = read(table)
    found = dict(zip(head, row, strict=True))
    assert [float(found[name]) for name in ("value", "interval low", "interval high")] == [1 / 3, 0.1, 2 / 3]
    assert (found["system"], found["n"], found["method"]) == ("base", "48", "bootstrap interval (BCa)")


@pytest.mark.parametrize("raw", [False, True])
def test_texts_are_inert_and_numbers_are_numbers(raw: bool) -> None:
    table = Table((Column("=head"), Column("value", "number")), (("@SUM(A1)", -1.5), ("\r\n=1", -2)))
    own = "" if raw else "'"
    assert read(table, raw=raw) == [[f"{own}=head", "value"], [f"{own}@SUM(A1)", "-1.5"], [f"{own}\r\n=1", "-2"]]


@given(st.lists(st.tuples(st.text(), st.floats() | st.none()), max_size=8))
def test_any_cells_are_read_as_they_were(rows: list[tuple[str, float | None]]) -> None:
    table = Table((Column("text"), Column("value", "number")), tuple(rows))
    for (text, value), (as_text, as_value) in zip(rows, read(table, raw=True)[1:], strict=True):
        assert as_text == text
        assert as_value == "" if value is None or value != value else float(as_value) == value


def test_every_count_of_an_article_s_table_keeps_its_name() -> None:
    columns = (Column("metric"), Column("p", "p"), Column("n", "count"), Column("unmeasured", "count"))
    assert r"metric & $p$ & $n$ & unmeasured \\" in Table(columns, (("mrr", 0.5, 40, 3),)).latex("t")


@pytest.mark.fault("links", tried="texts that steer a terminal, in a CSV", count=6)
@pytest.mark.parametrize(
    ("text", "plain"),
    [("a\x1b[2Jb", "ab"), ("\x1b]0;title\x07c", "]0;titlec"), ("\x9b31mred", "31mred"), ("a\0b\x7f", "ab"),
     ("two\r\nlines\tand a tab", "two\r\nlines\tand a tab"), ("\x1b=1+1", "'=1+1")],
)  # fmt: skip
def test_what_steers_a_terminal_is_left_out(text: str, plain: str) -> None:
    table = Table((Column("a"),), ((text,),))
    assert read(table)[1:] == [[plain]]
    assert read(table, raw=True)[1:] == [[text]]
