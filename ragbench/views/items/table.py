"""Every question, or other item, behind the numbers: a table to search, filter and sort, in pages and JupyterLab."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from ragbench.core.parts import Content, Drawn, Text
from ragbench.tiers.basics.reasons import statuses
from ragbench.views.basics.marks import series
from ragbench.views.basics.material import Material
from ragbench.views.basics.templates import drawn, html
from ragbench.views.basics.text import clean
from ragbench.views.basics.web import GLYPHS
from ragbench.views.items.claims import SHARE
from ragbench.views.items.contents import APART, Items
from ragbench.views.items.data import slug
from ragbench.views.items.kinds import items_of
from ragbench.views.view import view

if TYPE_CHECKING:
    from ragbench.views.items.widget import QuestionTable


def widget(material: Material) -> QuestionTable | None:
    """The table of a page's items for JupyterLab; None where there is no item."""
    from ragbench.views.items.widget import QuestionTable

    items = items_of(material)
    if not _known(items, material):
        return None
    return QuestionTable(material, items, html.div(_table(material, items, to_choose=True), "rb"))


@view("questions", widget=widget)
def questions(material: Material, present: frozenset[str]) -> Content:
    """Every question, or other item, with its values: a table to search, filter and sort.

    In a page its data lies beside the page; in JupyterLab the kernel has it, and rows can be chosen: see
    `Page.questions`.
    """
    items = items_of(material)
    if not _known(items, material):
        return Text(items.empty) if items.empty else ()
    return Drawn(_table(material, items), [Text(items.title, "h2"), Text(_count(material, items))])


def _known(items: Items, material: Material) -> bool:
    return bool(items.ids and items.measures and material.systems)


def _table(material: Material, items: Items, *, to_choose: bool = False) -> Markup:
    """What the script needs before the data is there: words, numbers' form, signs of the systems."""
    _ = material.text
    setting = {
        "language": _.language,
        "metric": clean(items.chosen.name),
        "sort": items.sort,
        "baseline": clean(material.baseline),
        "signs": [[series(material, name), GLYPHS[series(material, name)]] for name in material.systems],
    }
    shares = {"apart": _.percent(APART), "share": _.percent(SHARE)}
    own = {"kind": items.kind, "statuses": statuses(material.text), "to_choose": to_choose, **shares}
    own |= {"chosen": _listed(material)}
    return drawn(
        "items", _, title=items.title, parts=slug(material), setting=setting, count=_count(material, items), **own
    )


def _count(material: Material, items: Items) -> str:
    return material.text.plural("{n} row.", "{n} rows.", len(items.ids))


def _listed(material: Material) -> str:
    """How the questions that are listed were chosen among very many; empty where all are."""
    there, shown, _ = len(material.measurement.questions), len(material.question_rows), material.text
    if shown == there:
        return ""
    said = _(
        "{n} of {of} questions are listed; all other numbers of this page are of all {of}.",
        n=_.integer(shown),
        of=_.integer(there),
    )
    if known := material.facts.get("listing"):
        said += " " + _(
            "They are of each metric and system the {each} lowest values, the {each} highest and at most {each} that "
            "could not be measured, and {drawn} drawn at random (seed {seed}). The scores of all are in "
            "scores.parquet and scores.csv.",
            seed=known["seed"],
            **{name: _.integer(known[name]) for name in ("each", "drawn")},
        )
    return said
