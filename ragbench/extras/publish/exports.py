"""Tables of a run for papers, spreadsheets and pipelines: LaTeX, CSV, Markdown, JUnit."""

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd

from ragbench.core.language import load_language
from ragbench.report.finished import Finished

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet would execute at a text's start

NO_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def write_junit(path: Path, gates: pd.DataFrame) -> None:
    """Write gates as JUnit XML: what is not held is a failure, with its numbers."""
    gates = gates.map(clean)
    suite = ElementTree.Element("testsuite", name="ragbench", tests=str(len(gates)))
    for row in gates.to_dict("records"):
        name = f"{row['gate']}: {row['metric']} {row['condition']} ({row['system']})"
        case = ElementTree.SubElement(suite, "testcase", classname=str(row["page"]), name=name)
        if row["outcome"] != "held":
            text = f"{row['outcome']}: {row['value']:g} [{row['low']:g}, {row['high']:g}]"
            ElementTree.SubElement(case, "failure", message=text)
    failures = int((gates["outcome"] != "held").sum())
    suite.set("failures", str(failures))
    path.parent.mkdir(parents=True, exist_ok=True)
    ElementTree.ElementTree(suite).write(path, encoding="utf-8", xml_declaration=True)


def clean(value: object) -> object:
    """Return a text without control characters, which XML does not know."""
    return NO_XML.sub("", value) if isinstance(value, str) else value


def write_markdown(path: Path, run: Finished, gates: pd.DataFrame | None = None) -> None:
    """Write a summary for a pull request: gates, then the primary comparisons of every page."""
    language = load_language("en")
    lines = [f"## {run.folder.name}", ""]
    if gates is not None:
        lines += ["| gate | system | condition | outcome |", "|---|---|---|---|"]
        for row in gates.to_dict("records"):
            cells = (row["gate"], row["system"], f"{row['metric']} {row['condition']}")
            lines.append(f"| {' | '.join(map(escape_cell, cells))} | {row['outcome']} |")
        lines.append("")
    if len(run.comparisons):
        primary = run.comparisons[run.comparisons["family"] == "primary"]
        lines += ["| page | metric | challenger | difference | verdict |", "|---|---|---|---|---|"]
        for row in primary.to_dict("records"):
            cells = (row["page"], row["metric"], row["challenger"])
            text = " | ".join(map(escape_cell, cells))
            lines.append(f"| {text} | {language.difference(row)} | {row['word']} |")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def escape_cell(value: object) -> str:
    """Return a text that stays within its cell of a Markdown table, and is no HTML."""
    text = str(value).replace("|", "\\|").replace("\n", " ")
    return text.replace("<", "&lt;").replace(">", "&gt;")


def write_csv(path: Path, frame: pd.DataFrame, *, raw: bool) -> None:
    """Write a frame as CSV; a text that a spreadsheet would execute gets an apostrophe in front.

    raw: texts as they are.
    """
    if not raw:
        texts = frame.select_dtypes(include=["object", "string"]).columns
        frame = frame.assign(**{str(name): frame[name].map(disarm) for name in texts})
    frame.to_csv(path, index=False)


def disarm(value: object) -> object:
    """Return a text that no spreadsheet executes; other values as they are."""
    if isinstance(value, str) and value.startswith(FORMULA):
        return f"'{value}"
    return value


def write_latex(path: Path, run: Finished, page: str) -> None:
    """Write a page's table for a paper (booktabs): means, differences, p and verdicts."""
    table = paper_table(run, page)
    styled = table.style.format(escape="latex").hide(axis="index")
    styled = styled.format_index(escape="latex", axis="columns")
    text = styled.to_latex(hrules=True, caption=page.replace("_", " "), label=f"tab:{page}")
    path.write_text(text.replace("−", "$-$"), encoding="utf-8")


def paper_table(run: Finished, page: str) -> pd.DataFrame:
    """Return a row a metric and system: mean with interval, difference with interval, p, word."""
    language = load_language("en")
    means = run.estimates[run.estimates["page"] == page]
    compared = run.comparisons
    if len(compared):
        compared = compared[compared["page"] == page]
        compared = compared.set_index(["metric", "challenger"])
    rows = []
    for row in means.to_dict("records"):
        cells = {
            "metric": row["metric"],
            "system": row["system"],
            "mean": language.estimate(row),
            "difference": "",
            "p": "",
            "verdict": "",
        }
        key = (row["metric"], row["system"])
        if key in compared.index:
            found = compared.loc[key]
            cells["difference"] = language.difference(found)
            cells["p"] = language.p_value(found["p_adjusted"])
            cells["verdict"] = found["word"]
        rows.append(cells)
    return pd.DataFrame(rows)
