"""Every question, or other item, behind the numbers: in a page a table to search, filter and sort; else a list."""

from __future__ import annotations

import json
from typing import Any

from markupsafe import Markup

from ragbench.metrics.claims import UNJUDGED
from ragbench.show.basics.marks import GLYPHS, named, series
from ragbench.show.basics.material import Material
from ragbench.show.basics.statuses import statuses
from ragbench.show.basics.text import anchor, clean, shown
from ragbench.show.comparison.worst_questions import relevant, value_of, wanted
from ragbench.show.items import judgements, listing, question_data
from ragbench.show.items.kinds import items_of
from ragbench.show.items.views import Items
from ragbench.show.page import view


@view("questions")
def questions(material: Material, present: frozenset[str], limit: int = 2000) -> Markup:
    """Every question with its values and what each system retrieved; the first `limit` of them."""
    _ = material.text
    items = items_of(material)
    if items is not None:
        if not items.ids or not material.systems:
            return Markup("")
        return _table(material, items) if "questions" in present else listing.draw(material, items, limit)
    if material.primary is None or not material.question_rows:
        return Markup("<p>{}</p>").format(_("There are no questions to show."))
    return _table(material) if "questions" in present else _list(material, material.primary, limit)


def _table(material: Material, items: Items | None = None) -> Markup:
    _ = material.text
    setting = _setting(material)
    without = _("This table needs JavaScript. All its values are in scores.parquet, beside this page.")
    if items is not None:
        setting |= {
            "words": setting["words"] | items.words,
            "metric": clean(items.measures[0].name),
            "sort": items.sort,
        }
        without = _("This table needs JavaScript. All that it shows is in the tables of this run.")
    title = _("Every question") if items is None else items.title
    count = _.plural("{n} question.", "{n} questions.", len(material.question_rows))
    if items is not None:
        count = _.plural("{n} row.", "{n} rows.", len(items.ids))
    payload = json.dumps(setting, ensure_ascii=False, sort_keys=True, allow_nan=False)
    for sign, escape in (("<", "\\u003c"), (">", "\\u003e"), ("&", "\\u0026")):
        payload = payload.replace(sign, escape)
    return Markup(
        '<h2 id="questions" tabindex="-1">{}</h2><div class="rb-table" data-parts="{}">'
        '<script type="application/json">{}</script><p class="rb-wait">{} {}</p></div>'
    ).format(
        title,
        question_data.slug(material),
        Markup(payload),  # noqa: S704 - JSON whose signs of markup are escaped
        count,
        without,
    )


def _setting(material: Material) -> dict[str, Any]:
    """What the script needs before the data is there: words, numbers' form, signs of the systems."""
    return {
        "language": material.text.language,
        "metric": clean(material.primary),
        "baseline": clean(material.baseline),
        "signs": [[series(material, name), GLYPHS[series(material, name)]] for name in material.systems],
        "words": {
            **_words(material),
            **_reading(material),
            "verdicts": {
                name: str(judgements.word(material, name))
                for name in (*judgements.KINDS, "neutral", "relevant", "irrelevant", UNJUDGED)
            },
            "kinds": {name: kind.removeprefix("rb-") for name, kind in judgements.KINDS.items()},
            "statuses": statuses(material),
        },
    }


def _words(material: Material) -> dict[str, str]:
    """Words of the table itself."""
    _ = material.text
    return {
        "search": _("Search questions"),
        "metric": _("metric"),
        "system": _("system"),
        "against": _("beside it"),
        "none": _("none"),
        "slice": _("slice"),
        "all": _("all"),
        "not_given": _("not given"),
        "outcome": _("outcome"),
        "better": _("better"),
        "worse": _("worse"),
        "equal": _("equal"),
        "measured": _("measured"),
        "unmeasured": _("unmeasured"),
        "sort": _("order"),
        "order": _("as in the data set"),
        "worst": _("worst first"),
        "best": _("best first"),
        "lost": _("greatest loss first"),
        "won": _("greatest gain first"),
        "reset": _("show all"),
        "question": _("question"),
        "difference": _("difference"),
        "count": _("{shown} of {all} questions"),
        "nothing": _("No question fits."),
        "grid": _("Questions and values; arrow keys move, Enter opens"),
        "old": _("This browser is too old to read the data of this table."),
        "missing_part": _("The data of this table is not beside the page: {name}"),
        "loading": _("loading …"),
    }


def _reading(material: Material) -> dict[str, str]:
    """Words of a question's details."""
    _ = material.text
    return {
        "back": _("back to the table"),
        "previous": _("previous"),
        "next": _("next"),
        "values": _("All values"),
        "reference": _("Reference"),
        "needed": _("It needed"),
        "rank": _("rank {rank}"),
        "not_retrieved": _("not retrieved"),
        "no_label": _("No passage of the knowledge base is labelled as relevant to this question."),
        "answer": _("Answer"),
        "no_answer": _("no answer"),
        "retrieved": _("Retrieved"),
        "nothing_retrieved": _("nothing was retrieved"),
        "relevant": _("relevant"),
        "not_relevant": _("not relevant"),
        "similarity": _("similarity {value}"),
        "judged": _("What the judges said"),
        "not_measured": _("not measured: {status}"),
        "statement": _("statement"),
        "verdict": _("verdict"),
        "reason": _("reason"),
        "cited": _("passages cited"),
        "whole": _("whole passage"),
    }


def _list(material: Material, metric: str, limit: int) -> Markup:
    """A list with one folded entry a question, in the data set's order."""
    _ = material.text
    named = list(material.question_rows)[:limit]
    items = Markup("").join(_item(material, sample, metric) for sample in named)
    left = len(material.question_rows) - len(named)
    more = ""
    if left > 0:
        text = _.plural(
            "{n} question more is in the tables of this run.", "{n} questions more are in the tables of this run.", left
        )
        more = Markup("<p>{}</p>").format(text)
    count = _.plural("{n} question", "{n} questions", len(material.question_rows))
    return Markup(
        '<details class="rb-all" id="questions"><summary>{}</summary><ol class="rb-questions">{}</ol>{}</details>'
    ).format(count, items, more)


def _item(material: Material, sample: str, metric: str) -> Markup:
    row = material.question_rows[sample]
    marks = Markup("").join(value_of(material, sample, metric, name) for name in material.systems)
    return Markup(
        '<li id="{}"><details><summary><span class="rb-asked">{}</span><span class="rb-marks">{}</span></summary>{}{}'
        '<p class="rb-meta">{}</p></details></li>'
    ).format(
        anchor("q", sample),
        shown(row["text"], 400),
        marks,
        _values(material, sample),
        wanted(material, sample, relevant(row), row),
        shown(sample, 80),
    )


def _values(material: Material, sample: str) -> Markup:
    head = Markup("").join(Markup("<th scope=col>{}</th>").format(named(material, name)) for name in material.systems)
    rows = Markup("").join(
        Markup("<tr><th scope=row>{}</th>{}</tr>").format(
            shown(metric),
            Markup("").join(
                Markup("<td>{}</td>").format(
                    material.text.number(material.score(sample, metric, name), material.digits(metric))
                )
                for name in material.systems
            ),
        )
        for metric in material.metrics
    )
    return Markup(
        '<div class="rb-scroll"><table class="rb-values"><thead><tr><td></td>{}</tr></thead>'
        "<tbody>{}</tbody></table></div>"
    ).format(head, rows)
