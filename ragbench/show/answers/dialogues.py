"""Dialogues as small pictures: how near every two turns lie, questions above the diagonal, answers below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from ragbench.counts import lacking
from ragbench.language import DASH
from ragbench.measurement import estimate_of
from ragbench.show.basics.cells import cell, head, row, table
from ragbench.show.basics.links import behind
from ragbench.show.basics.lists import rows_of
from ragbench.show.basics.marks import named, small, spread
from ragbench.show.basics.material import Material
from ragbench.show.basics.text import anchor, shown
from ragbench.show.page import view

MOST = 60  # pictures of an embedder
EXCERPT = 400
METRICS = ("context_preservation", "answer_consistency")

Pairs = Mapping[tuple[str, str], Mapping[tuple[int, int], float]]


@view("dialogues")
def dialogues(material: Material, present: frozenset[str], count: int = 30) -> Markup:
    """A picture of the similarities of each dialogue's turns, the least connected first, at most `count`."""
    _ = material.text
    if not len(material.kept("similarities")):
        return Markup("<p>{}</p>").format(_("No dialogue has a second turn: there is nothing to compare."))
    lead = Markup('<p class="rb-lede">{}</p>').format(
        _(
            "A square is two turns of one dialogue; the stronger its colour, the nearer they lie. Above the diagonal "
            "stand questions, below it answers, and the squares beside it are neighbours, of which the measures are "
            "made. Open a dialogue to read it."
        )
    )
    drawn = Markup("").join(_embedder(material, name, count) for name in material.systems)
    more = behind(material, present, _("Every question and every dialogue with its values"))
    return lead + drawn + _pooled(material) + more


def _embedder(material: Material, name: str, count: int) -> Markup:
    _ = material.text
    pairs: dict[tuple[str, str], dict[tuple[int, int], float]] = {}
    for one in rows_of(material.kept("similarities"), name):
        pairs.setdefault((str(one["sample"]), str(one["what"])), {})[int(one["first"]), int(one["second"])] = float(
            one["similarity"]
        )
    turns: dict[str, list[Mapping[str, Any]]] = {}
    for one in rows_of(material.kept("turns")):
        turns.setdefault(str(one["sample"]), []).append(one)
    several = [sample for sample, said in turns.items() if len(said) > 1]
    several.sort(key=lambda sample: (_value(material, sample, METRICS[0], name), sample))
    pictures = Markup("").join(
        _dialogue(material, name, sample, turns[sample], pairs) for sample in several[: min(count, MOST)]
    )
    title = Markup("<h3><b>{}</b></h3>").format(named(material, name)) if len(material.systems) > 1 else Markup("")
    left = len(several) - min(count, MOST)
    more = Markup("")
    if left > 0:
        said = _.plural("{n} more is in the tables of this run.", "{n} more are in the tables of this run.", left)
        more = Markup('<p class="rb-meta">{}</p>').format(said)
    return Markup('{}<div class="rb-dialogues">{}</div>{}').format(title, pictures, more)


def _value(material: Material, sample: str, metric: str, name: str) -> float:
    """The score, with unmeasured ones at the end of the order."""
    value = material.score(sample, metric, name)
    return value if value == value else 2.0


def _dialogue(material: Material, name: str, sample: str, turns: Sequence[Mapping[str, Any]], pairs: Pairs) -> Markup:
    _ = material.text
    numbers = [int(one["turn"]) for one in turns]
    rows = []
    for i in numbers:
        cells = []
        for j in numbers:
            what = "question" if j > i else "answer"
            value = pairs.get((sample, what), {}).get((min(i, j), max(i, j)))
            cells.append(_square(material, i, j, what, value))
        rows.append(Markup("<tr>{}</tr>").format(Markup("").join(cells)))
    values = [(_(title), material.score(sample, metric, name)) for title, metric in zip(
        (_("questions"), _("answers")), METRICS, strict=True)]  # fmt: skip
    said = Markup(" · ").join(
        Markup('{} <span class="rb-number">{}</span>').format(title, _.number(value)) for title, value in values
    )
    talk = Markup("").join(
        Markup("<li><p>{}</p><p class=rb-quiet>{}</p></li>").format(
            shown(one["question"], EXCERPT), shown(one["answer"], EXCERPT) or DASH
        )
        for one in turns
    )
    place = material.systems.index(name)
    return Markup(
        '<details id="{}"><summary><table class="rb-heat" role="img" aria-label="{}"><tbody>{}</tbody></table>'
        '<span class="rb-meta">{}<br>{}</span></summary><ol class="rb-hits">{}</ol></details>'
    ).format(
        anchor(f"dialogue{place}", sample),
        _("similarities of the turns of {dialogue}", dialogue=shown(sample)),
        Markup("").join(rows),
        shown(sample, 40),
        said,
        talk,
    )


def _square(material: Material, i: int, j: int, what: str, value: float | None) -> Markup:
    _ = material.text
    if i == j:
        return Markup('<td class="rb-self">{}</td>').format(i)
    if value is None:
        return Markup("<td></td>")
    words = {
        "question": _("questions {first} and {second}: {value}"),
        "answer": _("answers {first} and {second}: {value}"),
    }
    title = words[what].format(first=min(i, j), second=max(i, j), value=_.number(value))
    share = round(100 * min(max(value, 0.0), 1.0))
    near = " rb-near" if abs(i - j) == 1 else ""
    return Markup('<td class="rb-{}{}" style="--share:{}%" title="{}"></td>').format(what, near, share, title)


def _pooled(material: Material) -> Markup:
    """The same over all pairs of neighbours: a long dialogue counts as often as it has pairs."""
    _ = material.text
    heads = (_("embedder"), _("measure"), _("mean over all pairs of neighbours"), _("pairs"), _("independent groups"))
    body = []
    for one in rows_of(material.kept("pooled")):
        if one["metric"] not in METRICS or not one["n"]:
            continue
        mean = estimate_of(one)
        values = (
            shown(one["metric"]),
            spread(f"{_.number(mean.value)} {_.interval(mean.low, mean.high)}") + small(lacking(mean, _)),
            _.integer(mean.n),
            DASH if mean.clusters is None else _.integer(mean.clusters),
        )
        name = Markup("<th scope=row>{}</th>").format(named(material, str(one["system"])))
        cells = [cell(title, value, "rb-word" if title == heads[1] else "")
                 for title, value in zip(heads[1:], values, strict=True)]  # fmt: skip
        body.append(row([name, *cells]))
    kinds = [head(each, "rb-word" if each == heads[1] else "") for each in heads]
    return table(_("Over all pairs of neighbours"), kinds, body) if body else Markup("")
