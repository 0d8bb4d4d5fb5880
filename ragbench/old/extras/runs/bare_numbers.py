"""Numbers that nothing is kept beside, as tables: of a loaded run, and of two runs that nothing pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ragbench.old.core import answered_by, gaps
from ragbench.old.core.language import Translator
from ragbench.old.core.measurement import Measurement
from ragbench.old.core.parts import Column, Table, Value
from ragbench.old.core.stand_ins import StandIn, caveat, of
from ragbench.old.core.types import Verdict
from ragbench.old.extras.runs.compared import LETTERS, names
from ragbench.old.extras.runs.run_tables import NumberRow, SummaryRow, counted, known, sides
from ragbench.old.extras.runs.views.unpaired import reason_said, verdict_of
from ragbench.old.report.exports import MARK, bounded, markdown, markdown_table
from ragbench.old.views.basics.marks import rows_of
from ragbench.old.views.basics.material import digits_of
from ragbench.old.views.basics.text import clean


def table_of_summaries(rows: Sequence[SummaryRow], _: Translator, *, apart: bool = False) -> Table:
    """Numbers of runs that nothing pairs: a row a metric and run, the two systems as columns, their difference and p.

    apart: what was concluded, or why nothing was, stands in a column of its own; else a dagger stands where two numbers
    must not be compared, and an arrow at the second one.
    """
    systems = dict.fromkeys((str(summary["first"]), str(summary["second"])) for summary in rows)
    pair = next(iter(systems)) if len(systems) == 1 else ("", "")
    runs = list(dict.fromkeys(str(summary["run"]) for summary in rows))
    beside = (LETTERS[0], runs[0] if len(runs) == 1 else _("other run"))
    titles = beside if not all(pair) or len(runs) > 1 else pair if pair[0] != pair[1] else names(pair, beside)
    several, named = len({summary["notebook"] for summary in rows}) > 1, len(systems) > 1
    columns = (
        *([Column(_("run"))] if len(runs) > 1 else []), *([Column(_("system"))] if named else []), Column(_("metric")),
        *(Column(clean(title), "interval") for title in titles),
        Column(_("difference"), "interval", signed=True), Column("p", "p"), Column("n", "count"),
        *([Column(_("verdict"))] if apart else []),
    )  # fmt: skip
    numbers = [sides(summary) for summary in rows]
    cells = []
    for number, (first, second) in zip(rows, numbers, strict=True):
        verdict = Verdict(number["verdict"]) if number.get("verdict") and not number["why"] else None
        row = [
            *([clean(number["run"])] if len(runs) > 1 else []),
            *([clean(" / ".join(dict.fromkeys((str(number["first"]), str(number["second"])))))] if named else []),
            clean(f"{number['notebook']} {number['metric']}" if several else number["metric"]),
            Value(*first[:3]),
            Value(*second[:3], verdict=None if apart else verdict),
            Value(why="†") if number["why"] else Value(number["difference"], number["low"], number["high"]),
            None if number["why"] else number["p"],
            (first.n, second.n),
        ]
        said = reason_said(str(number["why"]), _) if number["why"] else "" if verdict is None else verdict_of(number, _)
        cells.append(tuple([*row, clean(said)] if apart else row))
    digits = [digits_of([*first[:3], *second[:3]]) for first, second in numbers]
    caption = _("Runs as independent samples (Welch), p corrected; † marks what cannot be compared.")
    return Table(columns, tuple(cells), notes=(caption,) if rows else (), digits=digits, language=_.language)


def latex_summaries(rows: Sequence[SummaryRow], _: Translator, stood_in: Sequence[StandIn] = ()) -> str:
    r"""Numbers of two runs that nothing pairs, for an article; a dagger at those that must not be compared.

    stood_in: what only stood in for a model in either run.
    """
    if not rows:
        return ""
    return table_of_summaries(rows, _).with_notes(caveat(stood_in, _)).latex("numbers-without-pairs")


def tables_of_numbers(rows: Sequence[NumberRow], _: Translator) -> dict[str, Table]:
    """Of a run of which only numbers are kept, by notebook: a row a number, a dagger at those not to be compared."""
    tables = {}
    columns = (Column(_("metric")), Column(_("value"), "interval"), Column("n", "count"))
    for notebook in dict.fromkeys(str(row["notebook"]) for row in rows):
        own = [row for row in rows if row["notebook"] == notebook]
        numbers = [(known(row["value"]), known(row["low"]), known(row["high"])) for row in own]
        cells = [
            (clean(f"{row['metric']} †" if row["reason"] else row["metric"]), Value(*three), (counted(row["n"]),))
            for row, three in zip(own, numbers, strict=True)
        ]
        why = dict.fromkeys(f"† {row['metric']}: {reason_said(str(row['reason']), _)}." for row in own if row["reason"])
        digits = [digits_of(three) for three in numbers]
        tables[notebook] = Table(
            columns, tuple(cells), notes=tuple(map(clean, why)), digits=digits, language=_.language
        )
    return tables


def sheet_summary(measurements: Mapping[str, Measurement], _: Translator) -> str:
    """What no notebook made in Markdown: the tables of a comparison, or a run of which only numbers are kept.

    Its first line and its length are those of `ragbench.old.report.exports.summary`.
    """
    parts = []
    for name, made in measurements.items():
        tables = {name: markdown_table(made, _)}
        if "summarized" in made.extra and len(made.extra["summarized"]):
            rows = rows_of(SummaryRow, made.extra["summarized"])
            tables[_("Numbers without pairs")] = table_of_summaries(rows, _, apart=True).markdown()
        if "numbers" in made.extra:
            own = tables_of_numbers(rows_of(NumberRow, made.extra["numbers"]), _)
            tables |= {title: table.markdown() for title, table in own.items()}
        for title, text in tables.items():
            parts += [(title, [f"## {markdown(title)}", "", text])] if text else []
        read_with = [
            caveat(of(made.facts), _),
            *gaps.unidentified_sentences(gaps.unidentified(made.facts).values(), _),
        ]
        read_with += answered_by.warnings(made.facts, _)
        parts += [(name, [f"> {markdown(text)}", ""]) for text in read_with if text]
    return "\n".join(bounded([MARK, f"# {_('Report')}", ""], parts, _)).rstrip() + "\n"
