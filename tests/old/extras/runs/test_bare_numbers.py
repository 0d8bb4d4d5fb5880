"""Numbers of runs whose questions nobody has, in tables of LaTeX and Markdown."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ragbench.old.core.language import translator
from ragbench.old.extras.runs import bare_numbers
from ragbench.old.report import exports
from tests.old.report.test_articles import set_by_latex
from tests.old.views.measurements import measurement


@pytest.mark.parametrize("language", ["en", "ru"])
def test_tables_of_loaded_runs_and_of_runs_without_pairs_are_set_too(tmp_path: Path, language: str) -> None:
    rows = [
        ("ndcg(gain=exponential)@10", 0.01, 40, ""),
        ("a_rather_long_name_of_a_metric_of_ours", None, None, "describes"),
    ]
    loaded = [
        {"notebook": "old_run & more", "metric": name, "value": 0.1234, "low": low, "high": 0.5, "n": n, "reason": why}
        for name, low, n, why in rows
    ]
    [table] = bare_numbers.tables_of_numbers(loaded, translator(language)).values()
    set_by_latex(tmp_path, table.latex("loaded"), language)
    systems = [f"retriever_{side}-with-a-name-of-forty-signs".ljust(40, "x") for side in ("a", "b")]
    ends = {f"{key}_{side}": value for side in ("first", "second")
            for key, value in (("low", 0.3), ("high", 0.5), ("value", 0.4), ("n", 40))}  # fmt: skip
    found = {"low": -0.1, "high": 0.1, "difference": 0.0, "p": 0.5, "verdict": "not shown"}
    pairs = [
        {
            **ends,
            **found,
            "first": systems[0],
            "second": systems[1],
            "run": "B",
            "notebook": "t",
            "metric": name,
            "why": why,
        }
        for name, _low, _n, why in rows
    ]
    set_by_latex(tmp_path, bare_numbers.latex_summaries(pairs, translator(language)), language)


@pytest.mark.parametrize("number", [2, 400])
def test_the_markdown_of_a_comparison_is_found_again_and_no_longer_than_a_comment(number: int) -> None:
    made = dict.fromkeys((f"page_{place}" for place in range(number)), measurement(questions=6))
    text = bare_numbers.sheet_summary(made, translator("en"))
    assert text.startswith(f"{exports.MARK}\n# Report\n")
    assert len(text) < 65_536
    assert r"page\_0" in text
    assert ("Left out, as this would be too long:" in text) == (number == 400)


def test_numbers_without_pairs_make_a_latex_table_too() -> None:
    one = {
        "notebook": "t_1", "metric": "mrr", "first": "s", "second": "s", "verdict": "better", "effect_size": 0.4,
        "run": "B", "value_first": 0.5, "low_first": None, "high_first": None, "n_first": 48, "value_second": 0.7,
        "low_second": 0.6, "high_second": 0.8, "n_second": None, "difference": 0.2, "low": 0.1, "high": 0.3,
        "p": 0.0002,
    }  # fmt: skip
    bad = {**one, "metric": "ndcg@10", "value_first": 1.0923, "why": "outside_scale", "difference": float("nan")}
    text = bare_numbers.latex_summaries([{**one, "why": ""}, bad], translator("en"))
    assert "metric & s (A) & s (B) & difference" in text
    plain = re.sub(
        r"\\num\{(.*?)\}", r"\1", text.replace(r"\begin{tabular}[t]{@{}r@{}}", "").replace(r"\end{tabular}", "")
    )
    values = r"0.500 & 0.700 $\uparrow$\\{}[0.600, 0.800] & +0.200\\{}[+0.100, +0.300]"
    assert rf"mrr & {values} & <0.001 & $48$ / -- \\" in plain
    assert r"ndcg@10 & 1.092 & 0.700\\{}[0.600, 0.800] & $\dagger$ & -- & $48$ / -- \\" in plain
    assert bare_numbers.latex_summaries([], translator("en")) == ""
