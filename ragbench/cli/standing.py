"""What a run found, for a terminal: the leading number of every page by system, and what could not be measured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragbench.core.parts import Column, Table, Value, spoken
from ragbench.tiers.run.overview import NAME

if TYPE_CHECKING:
    from ragbench.core.language import Translator
    from ragbench.report.pages.assembly import Measurements


def standing(measured: Measurements, _: Translator) -> Table:
    """A row for each page and system: the number that the page answers with, its interval and verdict.

    The notes say what the overview says, and what models cost.
    Without rows where nothing was measured.
    """
    from ragbench.tiers.basics import verdicts
    from ragbench.views.about.overview import Overview, cost
    from ragbench.views.about.standing import answers
    from ragbench.views.basics.material import Material, digits_of

    if NAME not in measured.names():
        return Table((), ())
    overview = Overview(Material(measured[NAME], _))
    rows, digits, unsure = [], [], list[str]()
    for page in overview.pages:
        metric = overview.metric(page)
        if metric is None:
            continue
        for system, e in overview.numbers[str(page["name"])][metric].items():
            c = overview.comparison(page, system, metric)
            by = overview.judged_by(page, metric)
            word = ", ".join(filter(None, (verdicts.said(c, _), by))) if c is not None else ""
            value = Value.of(e, why=verdicts.exact(e, _))
            rows.append((overview.short(page), metric, system, value, word, e.n_unmeasured))
            digits.append(digits_of((e.value, e.low, e.high), metric))
            if why := verdicts.doubted(e, _):
                unsure.append(f"{overview.short(page)}: {metric} {system}: {why}")
    columns = (
        Column(_("page")), Column(_("metric")), Column(_("system")), Column(_("value"), "interval"),
        Column(_("verdict"), "verdict"), Column(_("unmeasured"), "count"),
    )  # fmt: skip
    spent = [page["spent"] for page in overview.pages if page.get("spent")]
    whole = {key: sum(bill.get(key) or 0 for bill in spent) for key in ("calls", "money", "unpriced")}
    notes = [spoken(_).phrase(text) for text in answers(overview)] + unsure
    if whole["calls"]:
        paid, calls = cost(whole, _), int(whole["calls"])
        notes.append(_.plural("{n} call of models, {cost}", "{n} calls of models, {cost}", calls, cost=paid))
    return Table(columns, tuple(rows), notes=tuple(notes), digits=digits, language=_.language)
