"""The overview by its front: a run's folder in, verdicts, bands and what is missing out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import ragbench as rb
from ragbench.core.errors import BenchError
from ragbench.report.manifest import write_frames

# Of the set "specification": good from .5 on, excellent above .8; e2e_score is written for 0 to 1.
BANDS = [
    ("mrr@10", 0.90, 0.85, 0.95, "excellent"),
    ("hit_rate@1", 0.60, 0.50, 0.80, "good"),
    ("ndcg@10", 0.40, 0.30, 0.4999999, "needs attention"),
    ("mrr@5", 0.80, 0.70, 0.90, "good … excellent"),
    ("e2e_score", 3.9, 3.5, 4.1, "good"),  # of 1 to 5: good is 3.4, excellent 4.2
    ("faithfulness_rating", 4.0, 3.8, 4.5, "good"),  # of 1 to 5: good is 3.8, excellent 4.6
    ("consistency_score", 1.0, float("nan"), float("nan"), ""),
]


def write_run(folder: Path) -> None:
    """A run of two pages: one compares, one tells what fails first."""
    rows = [
        {"system": "bm25", "metric": metric, "value": value, "low": low, "high": high, "n": 30,
         "n_unmeasured": 3 if metric == "mrr@5" else 0}
        for metric, value, low, high, _ in BANDS
    ]  # fmt: skip
    comparison = {
        "metric": "mrr@10", "challenger": "new<b>", "baseline": "bm25", "family": "primary",
        "difference": 0.1, "low": 0.05, "high": 0.15, "p_adjusted": 0.01, "word": "better", "n": 30,
    }  # fmt: skip
    scores = pd.DataFrame({"value": [float("nan")] * 3, "reason": ["no connection"] * 3})
    frames = {
        "estimates": pd.DataFrame(rows),
        "comparisons": pd.DataFrame([comparison]),
        "scores": scores,
    }
    about = {"dataset": "campus", "systems": {"bm25": "words"}, "stand_ins": ["judge lexical"]}
    write_frames(folder, "tier1_retrieval", frames, {"about": about})
    shares = pd.DataFrame(
        [
            ("bm25", "good answer", 0.25, 0.1, 0.4, 5),
            ("bm25", "not retrieved", 0.75, 0.6, 0.9, 15),
        ],
        columns=["system", "metric", "value", "low", "high", "n_questions"],
    )
    write_frames(folder, "tier3_end_to_end", {"shares": shares}, {"about": about})
    write_notebook(folder, "tier1_retrieval", "Tier 1 · Does it find?", "new is <b>better</b>")
    write_notebook(folder, "tier3_end_to_end", "Tier 3 · Is it good?", "a quarter is")


def write_notebook(folder: Path, name: str, title: str, finding: str) -> None:
    """An executed notebook with its finding."""
    import nbformat

    data = {"text/html": f"<p>{finding}</p>"}
    output = nbformat.v4.new_output("display_data", data=data)
    cell = nbformat.v4.new_code_cell("answer", outputs=[output], metadata={"tags": ["finding"]})
    cells = [nbformat.v4.new_markdown_cell(f"# {title}"), cell]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / f"{name}.ipynb")


@pytest.fixture
def overview(tmp_path: Path) -> Any:
    """The overview of that run."""
    write_run(tmp_path)
    return rb.overview(tmp_path)


def test_a_band_is_stated_where_the_whole_interval_lies_in_it(overview: Any) -> None:
    from ragbench.views.overview import band_text

    bands = overview.statement.bands
    said = {row.metric: band_text(row, overview.language) for row in bands.itertuples()}
    assert said == {metric: words for metric, _, _, _, words in BANDS if words}


def test_digits_show_on_which_side_of_a_threshold_an_end_lies(overview: Any) -> None:
    table = overview.page.parts
    cells = next(part for part in table if part.title == "Thresholds").content
    column = cells.set_index("metric")["mean, interval"]
    assert column["ndcg@10"] == "0.4000000 [0.3000000, 0.4999999]"
    assert column["mrr@10"] == "0.900 [0.850, 0.950]"


def test_the_page_has_verdicts_failures_pages_and_what_is_missing(overview: Any) -> None:
    page = overview.page
    text = str(page)
    assert "new<b> against bm25: better (Tier 1)." in text
    assert "Most often fails first: not retrieved (bm25 15 · 75" in text
    assert "Of 6 numbers with a threshold: excellent 1, good 3, needs attention 1" in text
    assert "no connection (3)" in text
    assert text.count("judge lexical") == 1
    html = "".join(part.html for part in page.parts)
    assert "new&lt;b&gt;" in html
    assert "new is <b>better</b>" in html
    assert '<a href="tier3_end_to_end.html">' in html


def test_it_keeps_nothing_that_the_other_pages_have_kept(overview: Any, tmp_path: Path) -> None:
    overview.save(tmp_path)
    write_notebook(tmp_path, "overview", "Overview · Is it good?", "it is")
    assert [file.name for file in (tmp_path / "frames" / "overview").iterdir()] == ["bands.parquet"]
    again = rb.overview(tmp_path)
    assert len(again.statement.bands) == 6
    assert [page.name for page in again.pages] == ["tier1_retrieval", "tier3_end_to_end"]


def test_a_folder_without_pages_and_an_unknown_set_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="has no page yet"):
        rb.overview(tmp_path)
    write_run(tmp_path)
    with pytest.raises(BenchError, match="there is no threshold set 'specs'"):
        rb.overview(tmp_path, threshold_set="specs")


def test_the_notebook_of_the_overview_is_executed_after_all_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import nbformat

    from ragbench.core.settings import Settings
    from ragbench.report import run

    executed = []

    def execute(source: Path, target: Path, *rest: Any, folder: Path) -> tuple[Any, str]:
        executed.append(source.stem)
        return nbformat.read(source, as_version=4), ""

    monkeypatch.setattr(run, "execute_notebook", execute)
    monkeypatch.setattr("ragbench.report.execute.CAN_FORK", False)
    folder = Path(__file__).parents[2] / "notebooks"
    notebooks = [folder / "overview.ipynb", folder / "dataset.ipynb", folder / "sources.ipynb"]
    run.run_notebooks(notebooks, tmp_path / "run", {}, settings=Settings(), workers=2)
    assert sorted(executed[:2]) == ["dataset", "sources"]
    assert executed[2:] == ["overview"]
