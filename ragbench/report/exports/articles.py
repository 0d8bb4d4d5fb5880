"""A run's numbers for people and pipelines outside: LaTeX tables, a Markdown summary, JUnit XML."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragbench.counts import brackets, missing
from ragbench.language import Translator
from ragbench.measurement import Measurement
from ragbench.report.keeping import files
from ragbench.show.basics.material import Material
from ragbench.show.basics.text import clean
from ragbench.show.runs.compared import digits_of
from ragbench.stand_ins import StandIn, caveat, of
from ragbench.types import Estimate, Verdict

_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#|!~])")
MARKS = {Verdict.BETTER: r"$\uparrow$", Verdict.WORSE: r"$\downarrow$", Verdict.SAME: r"$\approx$",
         Verdict.CANNOT_BE_SHOWN: r"$\emptyset$"}  # fmt: skip


def latex(text: Any) -> str:
    """A text for LaTeX, every sign of its language escaped, on one line."""
    return "".join(_LATEX.get(sign, sign) for sign in " ".join(clean(text).split()))


def markdown(text: Any) -> str:
    """A text for Markdown, every sign of it escaped, on one line."""
    return _MARKDOWN.sub(r"\\\1", " ".join(clean(text).split()))


def latex_table(made: Measurement, _: Translator) -> str:
    r"""A page's table for an article, in the form of the booktabs package; empty for a page without numbers.

    Values with intervals, and for two systems the difference, corrected p and the verdict's arrow (`\uparrow` better,
    `\downarrow` worse); for more, an arrow at each challenger's value.
    """
    material = Material(made, _)
    if not material.metrics:
        return ""
    two = len(material.systems) == 2 and material.baseline is not None
    heads = [_("metric"), *material.systems, *([_("difference"), "$p$"] if two else []), "$n$"]
    columns = "l" + "r" * (len(heads) - 1)
    titles = " & ".join(head if head in ("$p$", "$n$") else latex(head) for head in heads)
    rows = [_latex_row(material, metric, two) for metric in material.metrics]
    level = next((e.estimate.level for e in made.estimates), 0.95)
    caption = _("Means over questions with {level} intervals.", level=_.percent(level))
    if made.comparisons:
        family = made.comparisons[0].comparison.family
        places = {"baseline": material.baseline, "family": family}
        caption += " " + _("Arrows mark a difference from {baseline}, p corrected ({family}).", **places)
        few = [c.comparison for c in made.comparisons if c.comparison.verdict is Verdict.CANNOT_BE_SHOWN]
        caption += "".join(f" ∅: {text}." for text in dict.fromkeys(material.verdict(one) for one in few))
    facts = ", ".join(
        f"{key} {made.facts[key]}"
        for key in ("dataset", "n_questions", "unit", "seed")
        if made.facts.get(key) is not None
    )
    if any(e.estimate.n_unmeasured for e in made.estimates):
        caption += " " + _(
            "n: values measured of those asked for; in brackets the mean with all others at the lower, and at the "
            "upper end of the scale."
        )
    caption += " " + caveat(of(made.facts), _)
    caption = latex(caption).replace("∅", r"$\emptyset$")
    return _tabular(made.notebook, f"{caption} {latex(facts)}.", columns, titles, rows)


def _tabular(name: str, caption: str, columns: str, titles: str, rows: Sequence[str]) -> str:
    label = re.sub(r"[^A-Za-z0-9-]", "-", name)
    return (
        "% needs \\usepackage{booktabs}\n\\begin{table}\n  \\centering\n"
        f"  \\caption{{{caption}}}\n  \\label{{tab:{label}}}\n"
        f"  \\begin{{tabular}}{{{columns}}}\n    \\toprule\n    {titles} \\\\\n    \\midrule\n"
        + "".join(f"    {row} \\\\\n" for row in rows)
        + "    \\bottomrule\n  \\end{tabular}\n\\end{table}\n"
    )


def latex_summaries(rows: Sequence[Mapping[Any, Any]], _: Translator, stood_in: Sequence[StandIn] = ()) -> str:
    r"""Numbers of two runs that nothing pairs, for an article; a dagger at those that must not be compared.

    stood_in: what only stood in for a model in either run.
    """
    if not rows:
        return ""
    heads = [_("metric"), "A", "B", _("difference"), "$p$", "$n$"]
    made = []
    for one in rows:
        numbers = [one[f"{key}_{side}"] for key in ("value", "low", "high") for side in ("first", "second")]
        digits = digits_of(numbers)
        cells = [latex(f"{one['notebook']} {one['metric']}")]
        for side in ("first", "second"):
            value, low, high = (one[f"{key}_{side}"] for key in ("value", "low", "high"))
            cells.append("--" if _unknown(value) else _number(value, digits) + _ends(low, high, digits))
        if one["why"]:
            cells += [r"$\dagger$", "--"]
        else:
            cells.append(_number(one["difference"], digits, signed=True) + _ends(one["low"], one["high"], digits))
            cells.append("$<0.001$" if one["p"] < 0.001 else _number(one["p"], 3))
        counts = (one[f"n_{side}"] for side in ("first", "second"))
        cells.append(" / ".join("--" if _unknown(n) else f"${int(n)}$" for n in counts))
        made.append(" & ".join(cells))
    caption = _("Two runs as independent samples (Welch), p corrected; † marks what cannot be compared.")
    caption += " " + caveat(stood_in, _)
    titles = " & ".join(text if text in ("$p$", "$n$") else latex(text) for text in heads)
    return _tabular("numbers-without-pairs", latex(caption).replace("†", r"$\dagger$"), "lrrrrr", titles, made)


def _unknown(value: Any) -> bool:
    return value is None or value != value


def _ends(low: Any, high: Any, digits: int) -> str:
    return "" if _unknown(low) or _unknown(high) else _interval(low, high, digits)


def _latex_row(material: Material, metric: str, two: bool) -> str:
    digits = material.digits(metric)
    cells = [latex(metric)]
    for name in material.systems:
        e, c = material.estimate(name, metric), material.comparison(name, metric)
        if e is None or math.isnan(e.value):
            cells.append("--")
            continue
        mark = MARKS.get(c.verdict, "") if c is not None else ""
        cells.append(_number(e.value, digits) + _interval(e.low, e.high, digits) + (f" {mark}" if mark else ""))
    if two:
        c = material.comparison(material.challengers[0], metric)
        if c is None or math.isnan(c.difference):
            cells += ["--", "--"]
        else:
            p = c.p if c.p_adjusted is None else c.p_adjusted
            low, high = (None, None) if math.isnan(c.low) else (c.low, c.high)
            cells.append(_number(c.difference, digits, signed=True) + _interval(low, high, digits))
            cells.append("$<0.001$" if p < 0.001 else _number(p, 3))
    found = [e for name in material.systems if (e := material.estimate(name, metric)) is not None]
    counts = [_latex_counts(e, digits, material.text) for e in found]
    cells.append(" / ".join(counts if len(set(counts)) > 1 else counts[:1]))
    return " & ".join(cells)


def _latex_counts(e: Estimate, digits: int, _: Translator) -> str:
    """`$48$`, `48 of 60 $[0.488, 0.688]$`."""
    if not e.n_unmeasured:
        return f"${e.n}$"
    count = latex(_("{part} of {whole}", part=_.integer(e.n), whole=_.integer(e.n + e.n_unmeasured)))
    return count + _interval(e.floor, e.ceiling, digits)


def _number(value: float, digits: int, *, signed: bool = False) -> str:
    rounded = round(value, digits) + 0.0
    return f"${rounded:+.{digits}f}$" if signed and rounded else f"${rounded:.{digits}f}$"


def _interval(low: float | None, high: float | None, digits: int) -> str:
    return "" if low is None or high is None else f" $[{low:.{digits}f}, {high:.{digits}f}]$"


def summary(
    manifest: Mapping[str, Any], measurements: Mapping[str, Measurement], gate: Mapping[str, Any] | None, _: Translator
) -> str:
    """A run in Markdown, for the page of a pipeline: how it ended, key numbers with verdicts, the gate."""
    lines = [f"# {_('Report')}", ""]
    if gate is not None:
        lines += [f"**{_('gate')}: {markdown(_outcome(gate, _))}**", ""]
        lines += [f"- {_check(check, _)}" for check in gate["checks"]] + [""]
    for described in manifest.get("notebooks", ()):
        name = str(described["name"])
        lines += [f"## {markdown(name)}", ""]
        if described.get("failure"):
            lines += [f"**{_('This page is not complete.')}** {markdown(described['failure'])}", ""]
        if name in measurements:
            lines += _table(Material(measurements[name], _), _)
            lines += [f"> {markdown(text)}", ""] if (text := caveat(of(measurements[name].facts), _)) else []
    return "\n".join(lines).rstrip() + "\n"


def _outcome(decided: Mapping[str, Any], _: Translator) -> str:
    words = {"holds": _("holds"), "fails": _("fails"), "not enough evidence": _("not enough evidence")}
    return words.get(decided["outcome"], str(decided["outcome"]))


def _check(check: Mapping[str, Any], _: Translator) -> str:
    where = " ".join(str(check[key]) for key in ("notebook", "system") if check.get(key))
    digits = 4
    value = _.number(check.get("value"), digits)
    parts = [markdown(check["condition"]), markdown(where), markdown(value)]
    parts[-1] += "" if check.get("low") is None else " " + markdown(_.interval(check["low"], check["high"], digits))
    if check.get("needed"):
        text = _.plural(
            "about {n} question more would decide", "about {n} questions more would decide", int(check["needed"])
        )
        parts.append(markdown(text))
    return f"{markdown(_outcome(check, _))}: {', '.join(part for part in parts if part)}"


def _table(material: Material, _: Translator) -> list[str]:
    if not material.metrics:
        return []
    heads = [_("metric"), *(markdown(name) for name in material.systems), _("n"), _("unmeasured")]
    lines = ["| " + " | ".join(heads) + " |", "|" + " --- |" * len(heads)]
    for metric in material.metrics:
        cells, counts, lacked = [markdown(metric)], [], []
        for name in material.systems:
            e, c = material.estimate(name, metric), material.comparison(name, metric)
            word = "" if c is None else f" ({material.verdict(c)})"
            cells.append("—" if e is None else material.value(e, metric) + word)
            counts += [] if e is None else [_.integer(e.n)]
            lacked += [] if e is None else [missing(e, _, material.digits(metric))]
        cells += [" / ".join(texts if len(set(texts)) > 1 else texts[:1]) for texts in (counts, lacked)]
        lines.append("| " + " | ".join(cells) + " |")
    if text := brackets((e.estimate for e in material.measurement.estimates), _):
        lines += ["", markdown(text)]
    return [*lines, ""]


def junit(
    manifest: Mapping[str, Any], measurements: Mapping[str, Measurement], gate: Mapping[str, Any] | None, _: Translator
) -> bytes:
    """JUnit XML: a case a notebook, an error where it failed; a case a gate's check, skipped where nobody can tell.

    What stood in for a model where a case's numbers were made is its `system-out`.
    """
    from xml.etree import ElementTree

    notebooks = ElementTree.Element("testsuite", name="notebooks")
    for described in manifest.get("notebooks", ()):
        case = ElementTree.SubElement(notebooks, "testcase", classname="notebooks", name=_plain(described["name"]))
        if described.get("status") == "failed":
            ElementTree.SubElement(case, "error", message=_plain(described.get("failure", "")))
        _standing_in(case, measurements.get(str(described["name"])), None, _)
    suites = [notebooks]
    if gate is not None:
        checks = ElementTree.Element("testsuite", name="gate")
        for check in gate["checks"]:
            place = ".".join(_plain(check[key]) for key in ("notebook", "system") if check.get(key)) or "gate"
            name = f"{_plain(check['gate'])}: {_plain(check['condition'])}"
            case = ElementTree.SubElement(checks, "testcase", classname=place, name=name)
            kind = {"fails": "failure", "not enough evidence": "skipped"}.get(check["outcome"])
            if kind:
                ElementTree.SubElement(case, kind, message=_plain(_why(check)))
            _standing_in(case, measurements.get(str(check.get("notebook"))), check.get("system"), _)
        suites.append(checks)
    root = ElementTree.Element("testsuites", name="ragbench")
    for suite in suites:
        _count(suite, suite)
        root.append(suite)
    _count(root, *suites)
    ElementTree.indent(root)
    made: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return made + b"\n"


def _standing_in(case: Any, made: Measurement | None, system: str | None, _: Translator) -> None:
    from xml.etree import ElementTree

    text = "" if made is None else caveat(of(made.facts, system or None), _)
    if text:
        ElementTree.SubElement(case, "system-out").text = _plain(text)


def _count(element: Any, *suites: Any) -> None:
    kinds = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
    for name, tag in kinds.items():
        element.set(name, str(sum(len(suite.findall(f".//{tag}")) for suite in suites)))


def _why(check: Mapping[str, Any]) -> str:
    value, low, high = (check.get(key) for key in ("value", "low", "high"))
    number = "" if value is None else f"{value:.4f}"
    number += "" if low is None or high is None else f" [{low:.4f}, {high:.4f}]"
    needed = f"; about {check['needed']} questions more would decide" if check.get("needed") else ""
    return f"{check['outcome']}: {number} {check['why']}{needed}"


def _plain(text: Any) -> str:
    """A text that XML can hold."""
    return "".join(sign for sign in clean(text) if sign >= " " or sign in "\t\n")


def write(
    folder: Path,
    manifest: Mapping[str, Any],
    measurements: Mapping[str, Measurement],
    gate: Mapping[str, Any] | None,
    _: Translator,
) -> None:
    """`tables/NAME.tex` for each page with numbers, `summary.md` and `junit.xml`."""
    tables: Sequence[tuple[str, str]] = [(name, latex_table(made, _)) for name, made in measurements.items()]
    (folder / "tables").mkdir(exist_ok=True)
    for name, text in tables:
        if text:
            files.write(folder / "tables" / f"{name}.tex", text)
    files.write(folder / "summary.md", summary(manifest, measurements, gate, _))
    files.write(folder / "junit.xml", junit(manifest, measurements, gate, _))
