"""A run's numbers outside: LaTeX, Markdown and JUnit XML for people and pipelines, CSV and Parquet for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ragbench.old.core import answered_by, gaps, stand_ins
from ragbench.old.core.gaps import brackets, missing
from ragbench.old.core.language import Translator, translator
from ragbench.old.core.measurement import (
    COMPARISON_ROW,
    ESTIMATE_ROW,
    Measurement,
    NamedEstimate,
    without_nan,
    write_table,
)
from ragbench.old.core.parts import Column, Group, P, Table, Value, markdown_of
from ragbench.old.core.parts import spoken as style_of
from ragbench.old.core.settings import secrets
from ragbench.old.core.stand_ins import caveat, of
from ragbench.old.metrics.explanation import reason_in, spoken
from ragbench.old.report import papers
from ragbench.old.report.keeping import results
from ragbench.old.tiers.basics import session
from ragbench.old.tiers.basics.verdict_tables import decision, exact
from ragbench.old.tiers.retrieval import reading
from ragbench.old.tiers.run.gates import ALONE
from ragbench.old.views import Page
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import clean
from ragbench.old.views.retrieval.rankings import unjudged_table

if TYPE_CHECKING:
    import pandas as pd


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
    table, beside = _lines(material).with_notes(*papers.of_a_table(material)), unjudged_table(material)
    return table.latex(made.notebook) + ("" if beside is None else f"\n{beside.latex(f'{made.notebook}-judged')}")


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
    table, beside = _systems(material, apart=True), unjudged_table(material)
    made_of = [table.with_notes(note, *papers.of_comparisons(material)), *([] if beside is None else [beside])]
    return "\n".join(each.markdown() for each in made_of)


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
                *gaps.unidentified_sentences(gaps.unidentified(material.facts).values(), _),
                *gaps.raised_warnings(material.facts, _),
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
        broken = [] if measured is None else gaps.raised_sentences(gaps.raised(measured.facts), _)
        if broken and manifest.get("fail_on_raised"):
            ElementTree.SubElement(case, "failure", message=_plain("; ".join(broken)))
        strange = [] if measured is None else gaps.unidentified(measured.facts).values()
        told = [text.removesuffix(".") for text in gaps.unidentified_sentences(strange, _)]
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
            results.write(folder / "tables" / f"{name}.tex", text)
            page = Page(measurements[name], language=_.language)
            brief = {"tex": papers.latex(page, f"tab:{name}"), "md": papers.markdown(page), "typ": papers.typst(page)}
            for ending, own in brief.items():
                results.write(folder / "tables" / f"{name}-brief.{ending}", own)
    results.write(folder / "summary.md", summary(manifest, measurements, gate, _))
    results.write(folder / "junit.xml", junit(manifest, measurements, gate, _))


GROUP = 100_000
"""Rows of a group of a Parquet file that is written as they come."""


def write_rows(stem: Path, rows: Iterable[Mapping[str, Any]], kinds: Mapping[str, type[str] | type[float]]) -> None:
    """Rows that come by and are not held, as `write_csv` writes them, and as a Parquet file; both whole and without
    secrets. stem: their path without its ending. kinds: of the columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(name, pa.string() if kind is str else pa.float64()) for name, kind in kinds.items()])
    mask, left = secrets.exact_masker(), iter(rows)

    def plain(row: Mapping[str, Any]) -> dict[str, Any]:
        return without_nan({name: mask(value) if isinstance(value := row[name], str) else value for name in kinds})

    def parts() -> Iterator[list[dict[str, Any]]]:
        while part := [plain(row) for row in islice(left, GROUP)]:
            yield part

    def fill(temporary: Path) -> None:
        with temporary.open("w", encoding="utf-8", newline="") as out:
            columns = tuple(map(Column, kinds))
            Table(columns, ()).write_csv(out)

            def beside(parquet: Path) -> None:
                with pq.ParquetWriter(parquet, schema) as groups:
                    for part in parts():
                        groups.write_table(pa.Table.from_pylist(part, schema))
                        Table(columns, tuple(tuple(row.values()) for row in part)).write_csv(out, head=False)

            results.write_by(stem.with_suffix(".parquet"), beside)

    results.write_by(stem.with_suffix(".csv"), fill)  # one within the other, so that the rows go by once


def write_csv(path: Path, table: pd.DataFrame, *, raw: bool = False) -> None:
    """A whole CSV file in UTF-8 without secrets, as `Table.write_csv` writes it."""
    known = secrets.masked_table(table, secrets.exact_masker()).astype(object)
    rows = known.where(known.notna(), None).itertuples(index=False, name=None)
    made = Table(tuple(Column(str(name)) for name in known.columns), tuple(rows))

    def fill(temporary: Path) -> None:
        with temporary.open("w", encoding="utf-8", newline="") as out:
            made.write_csv(out, raw=raw)

    results.write_by(path, fill)


README = "README.txt"


def write_readme(folder: Path, caveats: Mapping[str, Sequence[str]], _: Translator) -> None:
    """What must be read with the tables of a folder, which hold numbers alone. caveats: by page what is to be known of
    its numbers; of one without any that is said, too."""
    lines = [_("Numbers alone stand in these tables. What must be read with them:"), ""]
    for name, said in caveats.items():
        told = [text for text in said if text] or [_("nothing stands in for a model.")]
        lines += [f"{name}: {' '.join(told)}"]
    results.write(folder / README, secrets.masker()("\n".join(lines)) + "\n")


def caveats_of(made: Measurement, _: Translator) -> list[str]:
    """Who stands in for a model in a measurement, whose name is not the one asked for, and what systems raised."""
    strange = gaps.unidentified_sentences(gaps.unidentified(made.facts).values(), _)
    others = (*answered_by.warnings(made.facts, _), *strange, *gaps.raised_warnings(made.facts, _))
    return [stand_ins.caveat(stand_ins.of(made.facts), _), *others]


def write_tables(
    folder: Path, measurements: Mapping[str, Measurement], *, raw: bool = False, language: str = "en"
) -> None:
    """Scores, estimates, comparisons and the pages' own tables as CSV and as Parquet; both summaries as one JSON.

    `placed_estimates` and `placed_comparisons` hold what is not of the whole (of a slice, a stage, a judge, a depth);
    `where` says of what, as JSON. README.txt, in the language, says what must be read with them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    _ = translator(language)
    write_readme(folder, {name: caveats_of(made, _) for name, made in measurements.items()}, _)
    scores = results.scores(measurements, told=True)
    write_csv(folder / "scores.csv", scores, raw=raw)
    write_table(folder / "scores.parquet", scores)
    findings = write_findings(folder, measurements, raw=raw)
    results.write_json(folder / results.SUMMARY, {**findings, **results.stood_in(measurements)})


def write_findings(
    folder: Path, measurements: Mapping[str, Measurement], *, raw: bool = False
) -> dict[str, list[dict[str, Any]]]:
    """Findings, and the pages' own tables, as CSV and as Parquet; the rows of those of the whole are returned."""
    import pandas as pd

    findings = results.findings(measurements)
    for name, columns in (("estimates", ESTIMATE_ROW), ("comparisons", COMPARISON_ROW)):
        # as objects, so that a count stays a whole number where another row has none
        table = pd.DataFrame(findings[name], columns=["notebook", *columns], dtype=object)
        write_csv(folder / f"{name}.csv", table, raw=raw)
        write_table(folder / f"{name}.parquet", table.infer_objects())
    for name, own in {**_placed(measurements), **_own(measurements)}.items():
        write_csv(folder / f"{name}.csv", own, raw=raw)
        write_table(folder / f"{name}.parquet", own.infer_objects())
    return findings


def _placed(measurements: Mapping[str, Measurement]) -> dict[str, pd.DataFrame]:
    """The findings that have a place, by the name of their table; none where no page has any."""
    import pandas as pd

    rows: dict[str, list[dict[str, Any]]] = {"placed_estimates": [], "placed_comparisons": []}
    for notebook, made in measurements.items():
        for finding in made.placed:
            kind = "placed_estimates" if isinstance(finding, NamedEstimate) else "placed_comparisons"
            where = json.dumps(dict(finding.where), ensure_ascii=False, sort_keys=True)
            rows[kind].append({"notebook": notebook, "where": where, **finding.row()})
    columns = {"placed_estimates": ESTIMATE_ROW, "placed_comparisons": COMPARISON_ROW}
    return {
        name: pd.DataFrame(own, columns=["notebook", "where", *columns[name]], dtype=object)
        for name, own in rows.items()
        if own
    }


def _own(measurements: Mapping[str, Measurement]) -> dict[str, pd.DataFrame]:
    """The tables that pages have of their own, those of one name as one: whose rows are whose `notebook` says."""
    import pandas as pd

    parts: dict[str, list[pd.DataFrame]] = {}
    for notebook, made in measurements.items():
        for name, own in {**made.tables, **_of_judges(made), **_judged(made)}.items():
            parts.setdefault(name, []).append(own.assign(notebook=notebook)[["notebook", *own.columns]])
    return {name: pd.concat(own, ignore_index=True) for name, own in parts.items()}


def _judged(made: Measurement) -> dict[str, pd.DataFrame]:
    """Of a page of rankings: what part was judged, and the values by what the rest may be."""
    import pandas as pd

    rows = reading.means(made.extra[reading.TABLE]) if reading.TABLE in made.extra else []
    return {"judged": pd.DataFrame(rows)} if rows else {}


def _of_judges(made: Measurement) -> dict[str, pd.DataFrame]:
    """Of a page that several judges judged: the scores of each, and what differences are with judges as a random
    factor (`ragbench.old.tiers.scoring.judge_assignment`)."""
    import pandas as pd

    if not (over_judges := made.facts.get("over_judges")):
        return {}
    scores = made.extra["judgements"][["system", "metric", "sample", "judge", "value", "status"]]
    return {"judge_scores": scores[scores["judge"].notna()], "over_judges": pd.DataFrame(over_judges)}
