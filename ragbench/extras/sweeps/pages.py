"""The page of a sweep: the choice, all configurations, what each factor does."""

from __future__ import annotations

import pandas as pd
from markupsafe import Markup

from ragbench.core.language import Language, mark
from ragbench.extras.sweeps.sweeping import Sweep
from ragbench.report.figures import add_intervals, new_figure, system_styles
from ragbench.report.page import Page
from ragbench.report.parts import Part, trusted

FINDING = mark(
    "The best of {count} configurations on {metric} is {best}: {value} once chance is paid for "
    "({seen} as it stands)."
)


def sweep_page(sweep: Sweep, language: Language) -> Page:
    """Return the page."""
    _ = language.translate
    parts = [finding(sweep, language), figure(sweep, language), table(sweep, language)]
    if len(sweep.effects):
        parts.append(effects(sweep, language))
    parts.append(method(sweep, language))
    return Page(
        _("Sweep · Which configuration is best, and what is that worth?"), parts, language.code
    )


def finding(sweep: Sweep, language: Language) -> Part:
    """The choice with its corrected mean, and which others are not shown to be worse."""
    _ = language.translate
    choice = sweep.choice
    text = trusted(_(FINDING)).format(
        count=len(sweep.configurations),
        metric=sweep.metric,
        best=Markup("<b>{}</b>").format(choice.best),
        value=language.interval(choice.value, choice.low, choice.high),
        seen=language.number(choice.seen),
    )
    others = sweep.configurations[sweep.configurations["configuration"] != choice.best]
    n_worse = int(others["word"].str.startswith("worse").sum())
    told = _("Of {count} others {worse} are shown to be worse; the rest may be as good.")
    told = told.format(count=len(others), worse=n_worse)
    paragraphs = [Markup("<p>{}</p>").format(sentence) for sentence in (text, told)]
    reason = Markup('<p class="more">{}: {}</p>')
    paragraphs += [reason.format(*failed) for failed in sweep.failed.items()]
    return Part(Markup("").join(paragraphs), style="finding")


def figure(sweep: Sweep, language: Language) -> Part:
    """Every configuration with its interval, the best first."""
    rows = sweep.configurations.sort_values("value", ascending=False, kind="stable")
    drawn = new_figure(language, 70 + 22 * len(rows), showlegend=False)
    style = system_styles(["best", "other"], "other")
    for place, row in enumerate(rows.to_dict("records")):
        kind = style["best" if row["configuration"] == sweep.choice.best else "other"]
        text = language.estimate(row)
        ends = ([row["value"]], [row["low"]], [row["high"]])
        add_intervals(drawn, row["configuration"], *ends, [place], kind, [text])
    drawn.update_yaxes(
        tickvals=list(range(len(rows))),
        ticktext=rows["configuration"].tolist(),
        autorange="reversed",
        showgrid=False,
    )
    drawn.update_xaxes(title_text=sweep.metric)
    return Part(drawn, title=f"{sweep.metric}: {sweep.choice.best}")


def table(sweep: Sweep, language: Language) -> Part:
    """All configurations in numbers."""
    _ = language.translate
    rows = sweep.configurations
    cells = pd.DataFrame(
        {
            _("mean, interval"): [language.estimate(row) for row in rows.to_dict("records")],
            _("beside the best"): [_(word) if word else "–" for word in rows["word"]],
            _("chosen by other questions"): [
                language.percent(share) for share in rows["share_chosen"]
            ],
        },
        index=rows["configuration"].tolist(),
    )
    return Part(cells, title=_("All numbers"))


def effects(sweep: Sweep, language: Language) -> Part:
    """What each setting of a factor reaches on average."""
    _ = language.translate
    cells = pd.DataFrame(
        {
            _("setting"): sweep.effects["setting"].tolist(),
            _("mean"): [language.number(value) for value in sweep.effects["mean"]],
            _("configurations"): [language.count(n) for n in sweep.effects["configurations"]],
        },
        index=sweep.effects["factor"].tolist(),
    )
    return Part(cells, title=_("What each factor does"))


def method(sweep: Sweep, language: Language) -> Part:
    """How the choice was corrected."""
    _ = language.translate
    text = _(
        "All configurations answered the same {count} questions. Who is chosen for the highest "
        "mean was lucky on average: its corrected mean is what questions say of a choice that "
        "others made, and its interval holds for whichever was chosen. Comparisons with the best "
        "hold for all pairs at once."
    )
    return Part(text.format(count=language.count(sweep.n_questions)), title=_("Method"))
