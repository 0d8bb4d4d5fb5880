"""Where so few groups can show nothing, every output says so, with their number and how many it takes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

import ragbench
from ragbench import show, stats
from ragbench.bench.basics import verdicts
from ragbench.bench.runs.overview import over
from ragbench.commands import statistics, trec
from ragbench.language import translator
from ragbench.measurement import COMPARISON_COLUMNS, Measurement, NamedComparison
from ragbench.report.exports import articles
from ragbench.show import Page
from ragbench.show.basics.text import clean
from ragbench.types import Comparison, Verdict
from tests.measurements import measurement

application = typer.Typer()
application.command("significance")(statistics.significance)
application.command("trec")(trec.trec)


def few(groups: int = 7) -> Comparison:
    """One measure of ten over seven articles, all of whose questions are won."""
    codes = np.repeat(np.arange(groups), 10)
    one = stats.compare(np.zeros(10 * groups), np.ones(10 * groups), clusters=codes, names=("ivfflat", "hnsw"))
    return stats.adjust([one] * 10)[0]


@pytest.fixture(scope="module")
def page() -> Measurement:
    made = measurement(metrics=("mrr", "recall"))
    return replace(made, comparisons=tuple(NamedComparison(each.metric, few()) for each in made.comparisons))


def test_the_words() -> None:
    english, russian = translator("en"), translator("ru")
    assert verdicts.said(few(), english) == "cannot be shown with 7 groups"
    assert verdicts.said(few(), russian) == "нельзя показать на 7 группах"
    assert verdicts.needed(few(), english) == "8 independent groups or more are needed before a difference can be shown"
    alone = stats.compare([0] * 5, [1] * 5)
    assert verdicts.said(alone, english) == "cannot be shown with 5 questions"
    assert verdicts.needed(alone, english) == "6 questions or more are needed before a difference can be shown"
    assert verdicts.needed(stats.compare([0] * 6, [1] * 6), english) == ""
    assert {verdicts.word(each, english) for each in Verdict} == {each.value for each in Verdict}


@pytest.mark.parametrize("language", ["en", "ru"])
def test_pages_say_it_with_what_it_takes_and_name_no_smallest_difference(page: Measurement, language: str) -> None:
    text = translator(language)
    shown = Page(page, language=language)
    for view in (show.comparison.answer(shown), show.comparison.table(shown)):
        html = str(view.html())
        assert verdicts.said(few(), text) in html
        assert verdicts.needed(few(), text)[1:] in html
        assert "would have been shown" not in html
        assert "хватило бы" not in html
    assert verdicts.said(few(), text) in str(show.about.overview(Page(over({"tier": page}), language=language)).html())
    assert verdicts.said(few(), text) in articles.summary({"notebooks": [{"name": "t"}]}, {"t": page}, None, text)


def test_an_article_s_table_marks_it(page: Measurement) -> None:
    text = articles.latex_table(page, translator("en"))
    assert r"$\emptyset$: cannot be shown with 7 groups." in text
    assert text.count(r"$ $\emptyset$") + text.count(r"]$ $\emptyset$") >= 2
    assert "emptyset" not in articles.latex_table(measurement(), translator("en"))


def test_the_summary_of_a_run_holds_it(page: Measurement, tmp_path: Path) -> None:
    page.save(tmp_path)
    assert Measurement.load(tmp_path).comparisons == page.comparisons
    assert {"clusters", "minimum_detectable", "groups_needed"} <= set(COMPARISON_COLUMNS)


def test_a_notebook_says_it() -> None:
    rows = [
        {"question": "Where?", "answer": answer, "contexts": ["Paris."], "id": str(n), "system": name}
        for name, answer in (("old", "Bananas fly."), ("new", "Paris."))
        for n in range(5)
    ]
    found = ragbench.score(rows, metrics=["faithfulness"], judge="lexical", resamples=200)
    assert "cannot be shown with 5 questions" in repr(found)
    assert "<td>cannot be shown with 5 questions</td>" in found._repr_html_()


def test_the_commands_say_it(tmp_path: Path) -> None:
    for name, hit in (("a", 0), ("b", 1)):
        rows = [{"id": n, "talk": n // 4, "hit": hit} for n in range(20)]
        pd.DataFrame(rows).to_csv(tmp_path / f"{name}.csv", index=False)
        (tmp_path / f"{name}.run").write_text(
            "".join(f"q{n} Q0 {'d' if hit else 'x'} 1 1.0 {name}\n" for n in range(5)), encoding="utf-8"
        )
    (tmp_path / "qrels.txt").write_text("".join(f"q{n} 0 d 1\n" for n in range(5)), encoding="utf-8")
    first, second = (str(tmp_path / f"{name}.csv") for name in "ab")
    said = CliRunner().invoke(application, ["significance", first, second, "--cluster", "talk", "--metric", "hit"])
    assert "cannot be shown with 5 groups" in said.output
    assert "6 independent groups or more are needed before a difference can be shown" in said.output
    runs = [str(tmp_path / f"{name}.run") for name in "ab"]
    said = CliRunner().invoke(application, ["trec", str(tmp_path / "qrels.txt"), *runs, "-m", "hit_rate@1"])
    assert "cannot be shown with 5 questions" in clean(said.output)
    said = CliRunner().invoke(
        application, ["trec", str(tmp_path / "qrels.txt"), *runs, "-m", "hit_rate@1", "--json", "-"]
    )
    [row] = json.loads(said.stdout)["comparisons"]
    assert (row["verdict"], row["groups_needed"], row["minimum_detectable"]) == ("cannot be shown", 6, None)
