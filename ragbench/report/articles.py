"""A run's numbers for people and pipelines outside: LaTeX tables, a Markdown summary, JUnit XML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragbench.core import answered_by, raised, unidentified
from ragbench.core.language import Translator
from ragbench.core.measurement import Measurement
from ragbench.core.parts import Column, Group, P, Table, Value, markdown_of
from ragbench.core.parts import spoken as style_of
from ragbench.core.stand_ins import caveat, of
from ragbench.core.unidentified import brackets, missing
from ragbench.metrics.explanation import reason_in, spoken
from ragbench.report import papers
from ragbench.report.keeping import files
from ragbench.tiers.basics import session
from ragbench.tiers.basics.verdict_tables import decision, exact
from ragbench.tiers.run.gates import ALONE
from ragbench.views import Page
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean

MARK = "<!-- ragbench -->"
DIGITS = 4
"""Decimals of the numbers that gates decide on."""
MOST = 50_000
"""Signs of all pages in a summary: GitHub takes 65,536 in a comment, and what stands around them needs some."""


def markdown(text: Any) -> str:
    """A text for Markdown, every sign of it escaped, on one line."""
    return markdown_of(clean(text))


def latex_table(made: Measurement, _: Translator) -> str:
    r"""A page's table for an article, as wide as its text however many systems; empty for a page without numbers.

    Below each metric a row a system: value, difference from the baseline with the verdict's arrow (`\uparrow` better,
    `\downarrow` worse), corrected p, n; intervals stand below their numbers.
    """
    material = Material(made, _)
    if not material.metrics:
        return ""
    table = _lines(material).with_notes(*papers.of_a_table(material))
    return table.latex(made.notebook)


def _lines(material: Material) -> Table:
    """A row a system, under its metric."""
    _, compared, rows, digits = material.text, material.baseline is not None, list[Any](), []
    columns = [Column(_("system")), Column(_("value"), "interval")]
    columns += [Column(_("difference"), "interval", signed=True), Column("p", "p")] if compared else []
    for metric in material.metrics:
        rows.append(Group(clean(metric)))
        for name in material.systems:
            e, c = material.estimate(name, metric), material.comparison(name, metric)
            row: list[Any] = [clean(name), None if e is None else Value.of(e)]
            if compared:
                row.append(None if c is None else Value.of(c, verdict=c.verdict))
                row.append(None if c is None else P.of(c))
            rows.append((*row, (e,)))
            digits.append(material.digits(metric))
    return Table((*columns, Column("n", "count")), tuple(rows), digits=digits, language=_.language)


def _systems(material: Material, *, apart: bool = False) -> Table:
    """A row a metric, a column a system; for two systems their difference and its p.

    apart: how many values are missing stands in a column of its own.
    """
    _, baseline = material.text, material.baseline
    two = len(material.systems) == 2 and baseline is not None
    columns = [Column(_("metric")), *(Column(clean(name), "interval") for name in material.systems)]
    columns += [Column(_("difference"), "interval", signed=True), Column("p", "p")] if two else []
    columns += [Column(_("n"), "count"), *([Column(_("unmeasured"), "count")] if apart else [])]
    rows = []
    for metric in material.metrics:
        digits = material.digits(metric)
        values = [_value(material, name, metric) for name in material.systems]
        estimates = [e for name in material.systems if (e := material.estimate(name, metric)) is not None]
        row: list[Any] = [", ".join(filter(None, (clean(metric), material.judged_by(metric)))), *values]
        if two:
            c = material.comparison(material.challengers[0], metric)
            row += [None, None] if c is None else [Value.of(c), P.of(c)]
        row.append(tuple(estimates))
        if apart:
            lacked = [missing(e, _, digits) for e in estimates]
            row.append(" / ".join(lacked if len(set(lacked)) > 1 else lacked[:1]))
        rows.append(tuple(row))
    return Table(
        tuple(columns), tuple(rows), digits=[material.digits(label) for label in material.metrics], language=_.language
    )


def _value(material: Material, system: str, metric: str) -> Value | None:
    e, c = material.estimate(system, metric), material.comparison(system, metric)
    if e is None:
        return None
    verdict, word = (None, "") if c is None else (c.verdict, material.verdict(c))
    return Value.of(e, why=exact(e, material.text), verdict=verdict, word=word)


def markdown_table(made: Measurement, _: Translator) -> str:
    """A page's table in Markdown; empty for a page without numbers."""
    material = Material(made, _)
    if not material.metrics:
        return ""
    note = brackets((e.estimate for e in made.estimates), _)
    return _systems(material, apart=True).with_notes(note, *papers.of_comparisons(material)).markdown()


def summary(
    manifest: Mapping[str, Any], measurements: Mapping[str, Measurement], gate: Mapping[str, Any] | None, _: Translator
) -> str:
    """A run in Markdown, for the page of a pipeline or a comment: how it ended, key numbers with verdicts, the gate.

    The first line, which nobody sees, is MARK: who writes a comment once and replaces it later finds it by that. Of a
    run whose pages are longer than MOST signs together, the last ones are named and left out.
    """
    lines = [MARK, f"# {_('Report')}", ""]
    if gate is not None:
        lines += [f"**{_('gate')}: {markdown(_outcome(gate, _))}**", ""]
        lines += [f"- {_check(check, _)}" for check in gate["checks"]] + [""]
        if any(check.get("is_difference") for check in gate["checks"]):
            lines += [_(ALONE), ""]
    pages = []
    for described in manifest.get("notebooks", ()):
        name = str(described["name"])
        own = [f"## {markdown(name)}", ""]
        if described.get("failure"):
            own += [f"**{_('This page is not complete.')}** {markdown(reason_in(described['failure'], _))}", ""]
        if name in measurements:
            material = Material(measurements[name], _)
            text = markdown_table(measurements[name], _)
            about = [papers.population(material), *(papers.of_values(material) if text else ())]
            own += [" ".join(map(markdown, filter(None, about))), ""] if any(about) else []
            own += [text] if text else []
            read_with = [
                caveat(of(material.facts), _),
                *answered_by.warnings(material.facts, _),
                *unidentified.sentences(unidentified.of(material.facts).values(), _),
                *raised.warnings(material.facts, _),
            ]
            own += [line for text in read_with if text for line in (f"> {markdown(text)}", "")]
        pages.append((name, own))
    lines = bounded(lines, pages, _)
    lines += [
        f"- {_('Not run')}: {markdown(lack.page)} {markdown(lack.sentence(_))}"
        for lack in session.read(manifest.get("left_out", ()))
    ]
    return "\n".join(lines).rstrip() + "\n"


def bounded(lines: Sequence[str], pages: Sequence[tuple[str, Sequence[str]]], _: Translator) -> list[str]:
    """The lines, and below them those of each page by its name while all together are no longer than MOST signs; who is
    left out is named."""
    made, left, cut = list(lines), MOST - sum(map(len, lines)), []
    for name, own in pages:
        length = sum(map(len, own))
        if left < length:
            cut.append(name)
        else:
            made, left = [*made, *own], left - length
    if cut:
        made += [_("Left out, as this would be too long: {names}.", names=", ".join(map(markdown, cut))), ""]
    return made


def _outcome(decided: Mapping[str, Any], _: Translator) -> str:
    words = {"holds": _("holds"), "fails": _("fails"), "not enough evidence": _("not enough evidence")}
    return words.get(decided["outcome"], str(decided["outcome"]))


def _check(check: Mapping[str, Any], _: Translator) -> str:
    where = " ".join(str(check[key]) for key in ("notebook", "system") if check.get(key))
    parts = [markdown(_told(check, "condition", _)), markdown(where), markdown(_number(check, _))]
    said = markdown(_why(check, _))
    told = ", ".join(filter(None, parts)) + (f" \\({said}\\)" if said else "")
    return f"{markdown(_outcome(check, _))}: {told}"


def _number(check: Mapping[str, Any], _: Translator) -> str:
    """A check's number with its interval; a difference with its sign."""
    is_difference, low, high = bool(check.get("is_difference")), check.get("low"), check.get("high")
    if check.get("value") is None:
        return ""
    number = Value(check["value"], low, high, digits=DIGITS, signed=is_difference, bare=True)
    return " ".join([*([_("difference")] if is_difference else []), style_of(_).phrase(number)])


def junit(
    manifest: Mapping[str, Any], measurements: Mapping[str, Measurement], gate: Mapping[str, Any] | None, _: Translator
) -> bytes:
    """JUnit XML: a case a notebook, an error where it failed; a case a gate's check, skipped where nobody can tell.

    What stood in for a model where a case's numbers were made is its `system-out`, and at how many questions a system
    raised; that is a failure where the run was to end with one.
    """
    from xml.etree import ElementTree

    notebooks = ElementTree.Element("testsuite", name="notebooks")
    for described in manifest.get("notebooks", ()):
        case = ElementTree.SubElement(notebooks, "testcase", classname="notebooks", name=_plain(described["name"]))
        if described.get("status") == "failed":
            ElementTree.SubElement(case, "error", message=_plain(reason_in(described.get("failure", ""), _)))
        measured = measurements.get(str(described["name"]))
        broken = [] if measured is None else raised.sentences(raised.of(measured.facts), _)
        if broken and manifest.get("fail_on_raised"):
            ElementTree.SubElement(case, "failure", message=_plain("; ".join(broken)))
        strange = [] if measured is None else unidentified.of(measured.facts).values()
        told = [text.removesuffix(".") for text in unidentified.sentences(strange, _)]
        _standing_in(case, measured, {}, _, [*broken, *told])
    for lack in session.read(manifest.get("left_out", ())):
        case = ElementTree.SubElement(notebooks, "testcase", classname="notebooks", name=_plain(lack.page))
        ElementTree.SubElement(case, "skipped", message=_plain(lack.sentence(_)))
    suites = [notebooks]
    if gate is not None:
        checks = ElementTree.Element("testsuite", name="gate")
        for check in gate["checks"]:
            place = ".".join(_plain(check[key]) for key in ("notebook", "system") if check.get(key)) or "gate"
            name = f"{_plain(check['gate'])}: {_plain(_told(check, 'condition', _))}"
            case = ElementTree.SubElement(checks, "testcase", classname=place, name=name)
            kind = {"fails": "failure", "not enough evidence": "skipped"}.get(check["outcome"])
            if kind:
                ElementTree.SubElement(
                    case, kind, message=_plain(f"{_outcome(check, _)}: {_number(check, _)} ({_why(check, _)})")
                )
            _standing_in(case, measurements.get(str(check.get("notebook"))), check, _)
        suites.append(checks)
    root = ElementTree.Element("testsuites", name="ragbench")
    for suite in suites:
        _count(suite, suite)
        root.append(suite)
    _count(root, *suites)
    ElementTree.indent(root)
    made: bytes = ElementTree.tostring(root, encoding="utf-8", xml_declaration=True)
    return made + b"\n"


def _standing_in(
    case: Any, made: Measurement | None, check: Mapping[str, Any], _: Translator, more: Sequence[str] = ()
) -> None:
    from xml.etree import ElementTree

    place = (check.get("system") or None, check.get("metric") or None)
    text = "" if made is None else caveat(of(made.facts, *place), _)
    if text := " ".join([*(f"{sentence}." for sentence in more), text]).strip():
        ElementTree.SubElement(case, "system-out").text = _plain(text)


def _count(element: Any, *suites: Any) -> None:
    kinds = {"tests": "testcase", "failures": "failure", "errors": "error", "skipped": "skipped"}
    for name, tag in kinds.items():
        element.set(name, str(sum(len(suite.findall(f".//{tag}")) for suite in suites)))


def _why(check: Mapping[str, Any], _: Translator) -> str:
    """Why a check came out so, and how many questions decide it."""
    return "; ".join(filter(None, [_told(check, "why", _), _decision(check, _)]))


def _told(check: Mapping[str, Any], key: str, _: Translator) -> str:
    apart = (check.get("sentences") or {}).get(key)
    return spoken([apart], _) if apart else str(check.get(key) or "")


def _decision(check: Mapping[str, Any], _: Translator) -> str:
    return decision(check.get("distance"), check.get("needed"), check.get("n", 0), _)


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
    """`tables/NAME.tex` and `NAME-brief.tex`, `.md`, `.typ` for each page with numbers, `summary.md` and `junit.xml`.

    The first has every metric with intervals, differences and p; the brief one is a paper's, systems × key metrics.
    """
    tables: Sequence[tuple[str, str]] = [(name, latex_table(made, _)) for name, made in measurements.items()]
    (folder / "tables").mkdir(exist_ok=True)
    for name, text in tables:
        if text:
            files.write(folder / "tables" / f"{name}.tex", text)
            page = Page(measurements[name], language=_.language)
            brief = {"tex": papers.latex(page, f"tab:{name}"), "md": papers.markdown(page), "typ": papers.typst(page)}
            for ending, own in brief.items():
                files.write(folder / "tables" / f"{name}-brief.{ending}", own)
    files.write(folder / "summary.md", summary(manifest, measurements, gate, _))
    files.write(folder / "junit.xml", junit(manifest, measurements, gate, _))
