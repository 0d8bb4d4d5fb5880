"""What else is written of a run: tables of CSV, LaTeX and Markdown, JUnit, and no secret in them."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest

from ragbench.old import report
from ragbench.old.core.language import translator
from ragbench.old.core.measurement import Measurement
from ragbench.old.core.settings import secrets
from ragbench.old.report import exports
from tests.old import small_project
from tests.old.report import kept_runs
from tests.old.views.measurements import measurement

FORMULAS = (
    "=1+1", "=cmd|' /C calc'!A0", "+1+1", "-1+1", "@SUM(A1)", "\t=1+1", "\r=1+1", "\n=1+1", " =1+1", "＝1+1",
    '=HYPERLINK("http://x")', "\u00a0=1+1",
)  # fmt: skip


@pytest.mark.fault("formulas", tried="cells and heads of a CSV", count=13)
@pytest.mark.parametrize("raw", [False, True])
def test_no_cell_of_a_csv_is_a_formula_unless_asked(tmp_path: Path, raw: bool) -> None:
    table = pd.DataFrame({"text": list(FORMULAS), "value": [-1.5] * len(FORMULAS), "=head": range(len(FORMULAS))})
    exports.write_csv(tmp_path / "t.csv", table, raw=raw)
    rows = list(csv.reader(io.StringIO((tmp_path / "t.csv").read_bytes().decode(), newline="")))
    active = [row[0] for row in rows if row[0].lstrip().startswith(("=", "+", "-", "@", "＝"))]
    assert len(active) == (12 if raw else 0)
    assert rows[0][2] == ("=head" if raw else "'=head")
    assert {row[1] for row in rows[1:]} == {"-1.5"}  # numbers stay numbers
    assert [row[0].removeprefix("'") for row in rows[1:]] == list(FORMULAS)


def test_findings_in_csv_are_those_of_the_measurement_and_counts_are_whole(tmp_path: Path) -> None:
    made = measurement(questions=12)
    [one, *_others] = (each.estimate for each in made.estimates)
    some = replace(made.estimates[0], estimate=replace(one, clusters=7))
    exports.write_tables(tmp_path, {"a": replace(made, estimates=(some, *made.estimates[1:])), "b": made})
    rows = list(csv.DictReader((tmp_path / "estimates.csv").open(encoding="utf-8", newline="")))
    assert [row["notebook"] for row in rows] == ["a"] * len(made.estimates) + ["b"] * len(made.estimates)
    assert (float(rows[0]["value"]), rows[0]["n"], rows[0]["clusters"]) == (one.value, str(one.n), "7")
    assert rows[1]["clusters"] == "" == rows[-1]["clusters"]
    assert "{" not in (tmp_path / "comparisons.csv").read_text(encoding="utf-8"), "what is no single value is left out"
    exports.write_tables(tmp_path, {"a": Measurement("a", {})})
    [head] = csv.reader((tmp_path / "comparisons.csv").open(encoding="utf-8", newline=""))
    assert head == list(pd.read_parquet(tmp_path / "comparisons.parquet").columns)
    assert {"notebook", "metric", "verdict", "family"} < set(head)


def test_a_latex_table_holds_the_numbers_and_no_open_sign(tmp_path: Path) -> None:
    made = measurement(systems=("old_50%", "new & {better} $x^2$ ~#\\"), metrics=("mrr", "hit_rate@1"), gain=0.3)
    text = exports.latex_table(made, translator("en"))
    assert all(f"\\{rule}rule" in text for rule in ("top", "mid", "bottom"))
    assert r"old\_50\%" in text
    assert r"new \& \{better\} \$x\textasciicircum{}2\$ \textasciitilde{}\#\textbackslash{}" in text
    plain = re.sub(r"\\[{}$&%#_]", "", text.replace(r"\\{}", ""))
    assert plain.count("{") == plain.count("}")
    assert plain.count("$") % 2 == 0
    value = next(e.estimate for e in made.estimates if e.system == "old_50%" and e.metric == "mrr")
    assert rf"\num{{{value.value:.3f}}}\\{{}}[\num{{{value.low:.3f}}}, \num{{{value.high:.3f}}}]" in text
    body = text.split("\\midrule")[1].split("\\bottomrule")[0]
    assert [line.count(" & ") for line in body.strip().splitlines()] == [0, 4, 4, 0, 0, 4, 4]
    assert r"$\uparrow$" in body


GATE = {
    "outcome": "fails",
    "checks": [
        {"gate": "a", "notebook": "t", "system": "s", "metric": "mrr", "condition": "mrr >= 0.5", "outcome": "holds",
         "why": "", "value": 0.6, "low": 0.55, "high": 0.65, "needed": None},
        {"gate": "b", "notebook": "t", "system": "s\0<x>", "metric": "mrr", "condition": "mrr >= 0.9",
         "outcome": "fails", "why": "it misses it", "value": 0.6, "low": 0.55, "high": 0.65, "needed": None},
        {"gate": "c", "notebook": "t", "system": "s", "metric": "mrr", "condition": "mrr >= 0.6",
         "outcome": "not enough evidence", "why": "?", "value": 0.6, "low": 0.55, "high": 0.65, "n": 300,
         "distance": 0.05, "needed": 1200},
        {"gate": "d", "notebook": "t", "system": "s", "metric": "mrr", "condition": "mrr >= 0.6",
         "outcome": "not enough evidence", "why": "kept before", "value": 0.6, "low": 0.55, "high": 0.65, "n": 300,
         "needed": 7777},
    ],
}  # fmt: skip


def test_pipelines_get_junit_and_markdown() -> None:
    manifest = {"notebooks": [{"name": "t", "status": "failed", "failure": "the <b>judge</b>\x1b[31m | is away"}]}
    root = ElementTree.fromstring(exports.junit(manifest, {}, GATE, translator("en")))
    assert {key: root.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": "5", "failures": "1", "errors": "1", "skipped": "2",
    }  # fmt: skip
    decides = "for a value 0.05 from the limit, about 1,200 questions decide; there were 300"
    skipped = [str(one.attrib) for one in root.findall(".//skipped")]
    assert [decides in one for one in skipped] == [True, False]
    made = measurement(questions=10)
    text = exports.summary(manifest, {"t": made}, GATE, translator("en"))
    assert "**gate: fails**" in text
    assert r"\<b\>judge\</b\> \| is away" in text
    assert decides in text
    assert "7,777" not in text, "of what was seen, as older gates kept it"
    russian = exports.summary(manifest, {"t": made}, GATE, translator("ru"))
    assert "не выполнено" in russian


@pytest.mark.fault("secrets", tried="keys in what is published", count=4)
@pytest.mark.parametrize(
    "table",
    [
        "[providers.p]\n",
        '[generators.g]\nkind = "openai"\nmodel = "m"\n',
        '[judges.j]\nmodel = "m"\n',
        '[embedders.e]\nkind = "openai"\nmodel = "m"\n',
    ],
)
def test_every_kind_of_key_is_masked_whatever_its_variable_is_called(
    bare: Path, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    table += 'base_url = "http://x/v1"\nkey_variable = "PLAIN_NAME"\n'
    small_project.enter(bare, monkeypatch, table)
    monkeypatch.setenv("PLAIN_NAME", "canary-of-a-plain-name")
    assert secrets.masker()("with canary-of-a-plain-name") == f"with {secrets.MASK}"


@pytest.mark.fault("paths", tried="links in a report from others", count=4)
@pytest.mark.parametrize("place", ["parts/tier1_retrieval/more.parquet", "questions", "metrics", "index.html"])
def test_a_received_report_with_a_link_in_it_is_not_read(bare: Path, place: str) -> None:
    folder = kept_runs.make(bare / "reports", "one", measurement(questions=6))
    (bare / "outside").mkdir()
    (folder / place).symlink_to(bare / "outside")
    with pytest.raises(ValueError, match="is a link, and a report holds none"):
        report.render(folder)
    assert not any((bare / "outside").iterdir())


def test_a_summary_fits_a_comment_that_is_replaced(tmp_path: Path) -> None:
    hostile = "<img src=x onerror=alert(1)> | --> @all `x`"
    made = measurement(systems=("base", hostile), questions=6, facts={"dataset": hostile})
    manifest = {"notebooks": [{"name": f"page_{number}"} for number in range(400)]}
    text = exports.summary(manifest, {one["name"]: made for one in manifest["notebooks"]}, None, translator("en"))
    assert text.splitlines()[0] == "<!-- ragbench -->"
    assert text.count("<!--") == 1
    assert re.search(r"(?<!\\)<(?!!-- ragbench)", text) is None, "every sign of markup is escaped"
    assert len(text) < 65_536
    assert r"Data set \<img src=x onerror=alert\(1\)\>" in text
    assert len(set(re.findall(r"page\\_\d+", text))) == 400, "what is left out is named"
    assert text.count("## page") < 400
