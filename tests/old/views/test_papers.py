"""A paper's table: systems × metrics, the best in bold, a dagger for what differs, in three languages of type."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from ragbench.old import views
from ragbench.old.core import stand_ins
from ragbench.old.core.language import translator
from ragbench.old.core.measurement import Measurement, NamedComparison, NamedEstimate
from ragbench.old.core.types import Comparison, Estimate, Verdict
from ragbench.old.report import exports
from ragbench.old.tiers.retrieval import reading
from tests.old.report.test_articles import set_by_latex
from tests.old.views.measurements import measurement

VALUES = {("v1", "mrr@10"): 0.5, ("v2", "mrr@10"): 0.75, ("v3_x", "mrr@10"): 0.52,
          ("v1", "euclidean_distance"): 1.5, ("v2", "euclidean_distance"): 1.25,
          ("v3_x", "euclidean_distance"): 1.25}  # fmt: skip
VERDICTS = {("v2", "mrr@10"): Verdict.BETTER, ("v3_x", "mrr@10"): Verdict.NOT_SHOWN,
            ("v2", "euclidean_distance"): Verdict.NOT_SHOWN, ("v3_x", "euclidean_distance"): Verdict.WORSE}  # fmt: skip


def compared(system: str, metric: str, verdict: Verdict) -> NamedComparison:
    lower = metric == "euclidean_distance"
    told = (0.95, "bca", 0.01, "randomization", 0.5, verdict, 40)
    one = Comparison("v1", system, 0.1, 0.0, 0.2, *told, better="lower" if lower else "higher")
    return NamedComparison(metric, one)


@pytest.fixture
def page() -> views.Page:
    made = measurement(("v1", "v2", "v3_x"), ("mrr@10",))
    estimates = tuple(
        NamedEstimate(s, m, Estimate(v, v - 0.1, v + 0.1, 0.95, "bca", 40)) for (s, m), v in VALUES.items()
    )
    facts = {**made.facts, "stand_ins": stand_ins.facts("embedder", ["hashing"])}
    compared_all = tuple(compared(*place, verdict) for place, verdict in VERDICTS.items())
    return views.Page(replace(made, facts=facts, estimates=estimates, comparisons=compared_all))


def test_the_best_is_bold_in_its_direction_and_what_differs_has_a_dagger(page: views.Page) -> None:
    rows = [
        line.strip().removesuffix(r" \\") for line in page.latex("tab:mine").splitlines() if line.startswith("    v")
    ]
    assert [row.split(" & ") for row in rows] == [
        ["v1", "0.500", "1.500"],
        ["v2", r"{\textbf{0.750}\rlap{$^{\dagger}$}}", r"{\textbf{1.250}}"],
        [r"v3\_x", "0.520", r"{\textbf{1.250}\rlap{$^{\dagger}$}}"],
    ]
    text = page.latex("tab:mine")
    assert r"\label{tab:mine}" in text, "as given"
    head = r"{mrr@10 $\uparrow$} & {\begin{tabular}[b]{@{}c@{}}euclidean\_\\distance $\downarrow$\end{tabular}}"
    assert head in text, "a long name stands in two lines"
    assert r"\begin{tabular}{@{}lS[table-format=1.3]S[table-format=1.3]@{}}" in text


def test_the_caption_says_what_is_compared_and_who_stands_in_within_three_lines(page: views.Page) -> None:
    for text in (page.latex(), page.latex(intervals=True), views.Page(page.measurement, language="ru").latex()):
        [caption] = re.findall(r"\\caption\{(.*)\}", text)
        assert "hashing" in caption
        assert "v1" in caption, "the baseline"
        assert len(caption.replace(r"\allowbreak{}", "")) <= 320
    assert r"\caption{Mine.}" in page.latex(caption="Mine.")


def test_the_caption_says_which_system_raised_at_how_many_of_all_that_it_was_asked(page: views.Page) -> None:
    facts = {**page.measurement.facts, "n_questions": 40, "systems": [
        {"name": "v1"}, {"name": "v2", "errors": 13, "errors_of": 68, "errors_first": ["RuntimeError: no"]},
        {"name": "v3_x"}]}  # fmt: skip
    said = "v2 raised at 13 of 68 questions: RuntimeError: no."
    broken = views.Page(replace(page.measurement, facts=facts))
    for text in (broken.latex(), broken.markdown(), broken.typst()):
        assert said in text
        assert "hashing" in text
        assert "corrected over the comparisons of its family" in text, "the primary metric is one of its own"


def test_markdown_and_typst_are_the_same_table(page: views.Page) -> None:
    lines = page.markdown().splitlines()
    assert lines[0] == r"| system | mrr@10 ↑ | euclidean\_distance ↓ |"
    assert lines[2:5] == [
        "| v1 | 0.500 | 1.500 |",
        "| v2 | **0.750**† | **1.250** |",
        r"| v3\_x | 0.520 | **1.250**† |",
    ]
    assert "hashing" in lines[-1]
    typst = page.typst("tab:mine", metrics="mrr", intervals=True)
    assert typst.endswith(") <tab:mine>\n")
    assert r"[v2], [*0.750*#super[†] #linebreak() \[0.650, 0.850\]]," in typst
    assert r"[system], [mrr\@10 ↑]" in typst
    assert typst.count("[") - typst.count(r"\[") == typst.count("]") - typst.count(r"\]")


def test_numbers_and_intervals_have_their_languages_form(page: views.Page) -> None:
    russian = views.Page(page.measurement, language="ru")
    assert r"\textbf{0,750}\rlap{$^{\dagger}$}\\{}{\scriptsize [\num{0.650}; \num{0.850}]}" in russian.latex(
        intervals=True
    )
    assert "| **0,750**† [0,650; 0,850] |" in russian.markdown(intervals=True, metrics="mrr")
    assert r"*0,750*#super[†] #linebreak() \[0,650; 0,850\]" in russian.typst(intervals=True)


def test_metrics_are_chosen_by_name_and_what_is_not_there_is_refused(page: views.Page) -> None:
    assert "euclidean" not in page.latex(metrics=["mrr"])
    with pytest.raises(ValueError, match=r"metrics: this page has no 'mrr@5'; did you mean 'mrr@10'"):
        page.latex(metrics="mrr@5")


def test_nothing_is_bold_where_nothing_was_measured_or_no_way_is_good() -> None:
    made = measurement(("v1", "v2"), ("mrr",))
    nan = tuple(
        NamedEstimate(name, "mrr", Estimate(float("nan"), None, None, 0.95, "none", 0)) for name in ("v1", "v2")
    )
    text = views.Page(Measurement(made.notebook, made.facts, estimates=nan)).latex()
    assert "{--}" in text
    assert "textbf" not in text


METRICS = ("hit_rate@1", "hit_rate@5", "hit_rate@10", "recall@1", "recall@3", "recall@5", "recall@10", "precision@1",
           "precision@5", "mrr@10", "ndcg(gain=exponential)@10", "ndcg@10", "retrieval_consistency",
           "retrieval_latency_ms")  # fmt: skip
SYSTEMS = ("bm25", "MiniLM-HNSW", "hybrid-with-a-long-name", "retriever" + "x" * 31, "colbert_v2")


def papers() -> list[views.Page]:
    """Of two systems and of five, in both languages, each with fourteen metrics."""
    made = [measurement(SYSTEMS[:number], METRICS, 12) for number in (2, 5)]
    return [views.Page(one, language=language) for one in made for language in ("en", "ru")]


def test_tables_of_papers_are_set_by_latex_no_wider_than_the_text_and_no_longer_than_a_page(
    page: views.Page, tmp_path: Path
) -> None:
    set_by_latex(tmp_path, page.latex("tab:mine"), "en")
    tables = [
        made.latex(f"tab:t{place}{len(metrics)}{intervals}", metrics=metrics, intervals=intervals)
        for place, made in enumerate(papers())
        for metrics in ((), METRICS)
        for intervals in (False, True)
    ]
    set_by_latex(tmp_path, "\n".join(tables), "ru")


def test_tables_of_papers_are_set_by_typst(tmp_path: Path) -> None:
    typst = pytest.importorskip("typst", reason="there is no compiler of Typst: pip install typst")
    tables = [made.typst(f"t{place}", metrics=METRICS, intervals=True) for place, made in enumerate(papers())]
    (tmp_path / "a.typ").write_text("\n".join(tables), encoding="utf-8")
    assert typst.compile(str(tmp_path / "a.typ")).startswith(b"%PDF")


@pytest.mark.parametrize(("number", "tables", "pages"), [(2, 4, 1), (5, 5, 2)])
def test_columns_that_a_line_has_no_room_for_stand_in_tables_below_one_another(
    number: int, tables: int, pages: int
) -> None:
    made = views.Page(measurement(SYSTEMS[:number], METRICS, 12))
    text = made.latex(metrics=METRICS, intervals=True)
    heads = re.findall(r"\\toprule\n(.*)", text)
    assert len(heads) == made.typst(metrics=METRICS, intervals=True).count("table.header(") == tables
    assert sum(head.count(r"$\uparrow$") for head in heads) == len(METRICS), "each metric once"
    assert text.count(r"\begin{table}") == 1 + text.count("Continued.") == pages
    assert r"\footnotesize" not in made.latex(metrics="mrr, ndcg@10")


def options() -> list[dict[str, Any]]:
    return [{}, {"intervals": True}, {"metrics": "mrr"}]


@pytest.mark.parametrize("given", options())
def test_latex_is_whole(page: views.Page, given: dict[str, Any]) -> None:
    text = page.latex(**given)
    bare = re.sub(r"\\\\|\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    columns = len(re.findall(r"S\[", text)) + 1
    body = text.partition("\\midrule\n")[2].partition("    \\bottomrule")[0].splitlines()
    assert all(line.count(" & ") == columns - 1 for line in body)
    assert len(body) == 3


def test_what_nobody_judged_stands_beside_the_numbers_wherever_they_go(page: views.Page, tmp_path: Path) -> None:
    rows = [("v1", "mrr@10", "q1", 0.5, 0.25, 1.0, 0.5, math.nan),
            ("v1", "mrr@10", "q2", 1.0, 0.75, 0.75, 0.75, math.nan),
            ("v2", "mrr@10", "q1", 0.2, 0.5, 0.9, 1.0, math.nan)]  # fmt: skip
    judged = pd.DataFrame(rows, columns=["system", "metric", "sample", *reading.VALUES])
    made = replace(page.measurement, extra={**page.measurement.extra, reading.TABLE: judged})
    known, plain = views.Page(made), translator("en")
    for text in (known.markdown(), exports.markdown_table(made, plain)):
        lines = text.splitlines()
        place = next(number for number, line in enumerate(lines) if "judged@" in line)
        first, second = lines[place + 2 : place + 4]
        assert first == "| mrr@10 | v1 | 75% | 0.500 | 0.875 | 0.625 |"
        assert second == "| mrr@10 | v2 | 20% | 0.500 | 0.900 | 1.000 |"
    for text in (known.latex("tab:mine"), exports.latex_table(made, plain)):
        assert r"mrr@10 & v1 & 75\% & \num{0.500} & \num{0.875} & \num{0.625} \\" in text
        assert text.count(r"\begin{table}") == 2
        assert "-judged}" in text
    typst = known.typst("tab:mine")
    assert "    [mrr\\@10], [v1], [75%], [0.500], [0.875], [0.625],\n" in typst
    assert typst.endswith(") <tab:mine-judged>\n")
    for text in (known.markdown(), known.latex(), typst, exports.markdown_table(made, plain)):
        assert "nobody has looked at them" in text
    assert "judged" not in page.markdown() + page.latex() + page.typst()
    exports.write_findings(tmp_path, {"tier1": made})
    lines = (tmp_path / "judged.csv").read_text("utf-8").splitlines()
    assert lines[0] == "notebook,system,metric,judged,irrelevant,relevant,condensed,inferred"
    assert lines[1] == "tier1,v1,mrr@10,0.75,0.5,0.875,0.625,"
