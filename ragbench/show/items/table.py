"""Every question, or other item, behind the numbers: in a page a table to search, filter and sort; else a list."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from ragbench.show.basics.marks import GLYPHS, series
from ragbench.show.basics.material import Material
from ragbench.show.basics.statuses import statuses
from ragbench.show.basics.templates import drawn, html
from ragbench.show.basics.text import clean
from ragbench.show.items import listing
from ragbench.show.items.contents import Items
from ragbench.show.items.data import slug
from ragbench.show.items.kinds import items_of
from ragbench.show.page import view


@view("questions")
def questions(material: Material, present: frozenset[str], limit: int = 2000) -> Markup:
    """Every question, or other item, with its values; of a list at most `limit`.

    In a page (which knows that it holds this view) a table whose data lies beside the page; elsewhere a list.
    """
    items = items_of(material)
    if not (items.ids and items.measures and material.systems):
        return html.p(items.empty) if items.empty else Markup("")
    return _table(material, items) if "questions" in present else listing.draw(material, items, limit)


def _table(material: Material, items: Items) -> Markup:
    _ = material.text
    return drawn(
        "items",
        _,
        title=items.title,
        parts=slug(material),
        setting=_setting(material, items),
        count=_.plural("{n} row.", "{n} rows.", len(items.ids)),
        without=_("This table needs JavaScript. All that it shows is in the tables of this run."),
    )


def _setting(material: Material, items: Items) -> dict[str, Any]:
    """What the script needs before the data is there: words, numbers' form, signs of the systems."""
    return {
        "language": material.text.language,
        "metric": clean(items.chosen.name),
        "sort": items.sort,
        "baseline": clean(material.baseline),
        "signs": [[series(material, name), GLYPHS[series(material, name)]] for name in material.systems],
        "words": {**_words(material), **items.words, "statuses": statuses(material)},
    }


def _words(material: Material) -> dict[str, str]:
    """Words of the table of questions, and of what is opened below it."""
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
        "back": _("back to the table"),
        "previous": _("previous"),
        "next": _("next"),
        "values": _("All values"),
        "whole": _("whole passage"),
    }
