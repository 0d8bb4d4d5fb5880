"""The page of compared runs: the verdicts, what changed, values over runs, all numbers."""

from __future__ import annotations

from typing import Any

import pandas as pd
from markupsafe import Markup

from ragbench.core.language import Language, mark
from ragbench.extras.runs.comparing import Compared
from ragbench.report.figures import system_styles
from ragbench.report.page import Page
from ragbench.report.parts import Part, only_parts, trusted
from ragbench.views.comparison import evidence, forest_plot

MOST_CHANGES = 40
CLAIM = mark("{page} · {metric} of {system}: {challenger} against {baseline}: {word}")


def compared_page(compared: Compared, language: Language) -> Page:
    """Return the page."""
    _ = language.translate
    parts = only_parts(
        finding(compared, language),
        history(compared, language),
        changes(compared, language),
        numbers(compared, language),
        method(compared, language),
    )
    return Page(_("Runs beside each other"), parts, language.code)


def primary_rows(compared: Compared) -> pd.DataFrame:
    """The comparisons that answer."""
    rows = compared.comparisons
    return rows[rows["family"] == "primary"]


def finding(compared: Compared, language: Language) -> Part:
    """One sentence a primary comparison, with its numbers."""
    _ = language.translate
    sentences = []
    for row in primary_rows(compared).itertuples():
        text = trusted(_(CLAIM)).format(
            page=row.page,
            metric=row.metric,
            system=row.system,
            challenger=Markup("<b>{}</b>").format(row.challenger),
            baseline=row.baseline,
            word=_(row.word),
        )
        sentences.append(Markup("<p>{}</p>").format(text + evidence(row, language)))
    sentences += [Markup('<p class="more">{}.</p>').format(note) for note in compared.notes]
    return Part(Markup("").join(sentences), style="finding")


def history(compared: Compared, language: Language) -> list[Part]:
    """The values of the primary metrics over the runs, a figure a metric."""
    _ = language.translate
    primary = primary_rows(compared)[["page", "metric"]].drop_duplicates()
    styles = system_styles(compared.names, compared.baseline)
    parts = []
    for page, metric in primary.itertuples(index=False):
        rows = compared.estimates
        rows = rows[(rows["page"] == page) & (rows["metric"] == metric)]
        systems = list(dict.fromkeys(rows["system"]))
        by_run = rows.set_index(["run", "system"])
        means = {name: by_run.loc[name].reindex(systems) for name in compared.names}
        texts = {
            name: [
                f"{row.Index} {language.interval(row.value, row.low, row.high)}"
                for row in own.itertuples()
            ]
            for name, own in means.items()
        }
        figure = forest_plot(means, styles, texts, systems, language)
        figure.update_xaxes(title_text=metric)
        parts.append(Part(figure, title=f"{page} · {metric}"))
    return parts


def changes(compared: Compared, language: Language) -> Part:
    """What differs between the runs."""
    _ = language.translate
    if compared.changes.empty:
        return Part(_("Nothing that the manifests name differs."), title=_("What changed"))
    table = compared.changes.head(MOST_CHANGES).set_index("what")
    table.index.name = None
    return Part(table.map(shorten), title=_("What changed"))


def shorten(value: Any) -> str:
    """Return a value that fits its cell."""
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def numbers(compared: Compared, language: Language) -> Part:
    """All comparisons."""
    _ = language.translate
    rows = []
    for row in compared.comparisons.to_dict("records"):
        rows.append(
            {
                _("page"): row["page"],
                _("system"): row["system"],
                _("run"): row["challenger"],
                _("difference, interval"): language.difference(row),
                "p": language.p_value(row["p_adjusted"]),
                _("verdict"): _(row["word"]),
                "n": language.count(row["n"]),
            }
        )
    table = pd.DataFrame(rows, index=compared.comparisons["metric"].tolist())
    return Part(table, title=_("All numbers"), is_folded=len(table) > 24)


def method(compared: Compared, language: Language) -> Part:
    """How the runs were compared."""
    _ = language.translate
    text = _(
        "Values of the same question, page, system and metric are paired across the runs. The "
        "primary metrics of all pages and systems are one family, all other metrics another; "
        "interval, p and word of a family hold together. {baseline} is the baseline."
    )
    return Part(text.format(baseline=compared.baseline), title=_("Method"))
