"""Numbers that nothing is kept beside, as tables: of a loaded run, and of two runs that nothing pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ragbench.core import answered_by, unidentified
from ragbench.core.language import Translator
from ragbench.core.measurement import Measurement
from ragbench.core.parts import Column, Table, Value
from ragbench.core.stand_ins import StandIn, caveat, of
from ragbench.core.types import Verdict
from ragbench.extras.runs.summarized import LETTERS, names
from ragbench.extras.runs.views.unpaired import reason_said, verdict_of
from ragbench.report.articles import MARK, bounded, markdown, markdown_table
from ragbench.views.basics.material import digits_of
from ragbench.views.basics.text import clean

SIDES = ("first", "second")


def table_of_summaries(rows: Sequence[Mapping[Any, Any]], _: Translator, *, apart: bool = False) -> Table:
    """Numbers of runs that nothing pairs: a row a metric and run, the two systems as columns, their difference and p.

    apart: what was concluded, or why nothing was, stands in a column of its own; else a dagger stands where two numbers
    must not be compared, and an arrow at the second one.
    """
    systems = dict.fromkeys((str(one["first"]), str(one["second"])) for one in rows)
    pair = next(iter(systems)) if len(systems) == 1 else ("", "")
    runs = list(dict.fromkeys(str(one["run"]) for one in rows))
    beside = (LETTERS[0], runs[0] if len(runs) == 1 else _("other run"))
    titles = beside if not all(pair) or len(runs) > 1 else pair if pair[0] != pair[1] else names(pair, beside)
    several, named = len({one["notebook"] for one in rows}) > 1, len(systems) > 1
    columns = (
        *([Column(_("run"))] if len(runs) > 1 else []), *([Column(_("system"))] if named else []), Column(_("metric")),
        *(Column(clean(title), "interval") for title in titles),
        Column(_("difference"), "interval", signed=True), Column("p", "p"), Column("n", "count"),
        *([Column(_("verdict"))] if apart else []),
    )  # fmt: skip
    numbers: list[list[list[Any]]] = [
        [[one[f"{key}_{side}"] for key in ("value", "low", "high")] for side in SIDES] for one in rows
    ]
    cells = []
    for one, (first, second) in zip(rows, numbers, strict=True):
        verdict = Verdict(one["verdict"]) if one.get("verdict") and not one["why"] else None
        row = [
            *([clean(one["run"])] if len(runs) > 1 else []),
            *([clean(" / ".join(dict.fromkeys((str(one["first"]), str(one["second"])))))] if named else []),
            clean(f"{one['notebook']} {one['metric']}" if several else one["metric"]),
            Value(*first),
            replace(Value(*second), verdict=None if apart else verdict),
            Value(why="†") if one["why"] else Value(one["difference"], one["low"], one["high"]),
            None if one["why"] else one["p"],
            tuple(_number(one[f"n_{side}"]) for side in SIDES),
        ]
        said = reason_said(str(one["why"]), _) if one["why"] else "" if verdict is None else verdict_of(one, _)
        cells.append(tuple([*row, clean(said)] if apart else row))
    digits = [digits_of([*first, *second]) for first, second in numbers]
    caption = _("Runs as independent samples (Welch), p corrected; † marks what cannot be compared.")
    return Table(columns, tuple(cells), notes=(caption,) if rows else (), digits=digits, language=_.language)


def latex_summaries(rows: Sequence[Mapping[Any, Any]], _: Translator, stood_in: Sequence[StandIn] = ()) -> str:
    r"""Numbers of two runs that nothing pairs, for an article; a dagger at those that must not be compared.

    stood_in: what only stood in for a model in either run.
    """
    if not rows:
        return ""
    return table_of_summaries(rows, _).with_notes(caveat(stood_in, _)).latex("numbers-without-pairs")


def tables_of_numbers(rows: Sequence[Mapping[Any, Any]], _: Translator) -> dict[str, Table]:
    """Of a run of which only numbers are kept, by notebook: a row a number, a dagger at those not to be compared."""
    found = {}
    columns = (Column(_("metric")), Column(_("value"), "interval"), Column("n", "count"))
    for notebook in dict.fromkeys(str(one["notebook"]) for one in rows):
        own = [one for one in rows if one["notebook"] == notebook]
        numbers = [[_known(one[key]) for key in ("value", "low", "high")] for one in own]
        cells = [
            (clean(f"{one['metric']} †" if one["reason"] else one["metric"]), Value(*three), (_number(one["n"]),))
            for one, three in zip(own, numbers, strict=True)
        ]
        why = dict.fromkeys(f"† {one['metric']}: {reason_said(str(one['reason']), _)}." for one in own if one["reason"])
        digits = [digits_of(three) for three in numbers]
        found[notebook] = Table(columns, tuple(cells), notes=tuple(map(clean, why)), digits=digits, language=_.language)
    return found


def _known(value: Any) -> Any:
    return None if value != value else value


def _number(n: Any) -> int | None:
    return None if n is None or n != n else int(n)


def sheet_summary(measurements: Mapping[str, Measurement], _: Translator) -> str:
    """What no notebook made in Markdown: the tables of a comparison, or a run of which only numbers are kept.

    Its first line and its length are those of `ragbench.report.articles.summary`.
    """
    parts = []
    for name, made in measurements.items():
        tables = {name: markdown_table(made, _)}
        if "summarized" in made.extra and len(made.extra["summarized"]):
            rows = made.extra["summarized"].to_dict("records")
            tables[_("Numbers without pairs")] = table_of_summaries(rows, _, apart=True).markdown()
        if "numbers" in made.extra:
            own = tables_of_numbers(made.extra["numbers"].to_dict("records"), _)
            tables |= {title: table.markdown() for title, table in own.items()}
        for title, text in tables.items():
            parts += [(title, [f"## {markdown(title)}", "", text])] if text else []
        read_with = [caveat(of(made.facts), _), *unidentified.sentences(unidentified.of(made.facts).values(), _)]
        read_with += answered_by.warnings(made.facts, _)
        parts += [(name, [f"> {markdown(text)}", ""]) for text in read_with if text]
    return "\n".join(bounded([MARK, f"# {_('Report')}", ""], parts, _)).rstrip() + "\n"
