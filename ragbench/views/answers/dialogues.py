"""Dialogues as small pictures: how near every two turns lie, questions above the diagonal, answers below it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ragbench.core.counts import lacking
from ragbench.core.language import DASH
from ragbench.core.parts import (
    Content,
    Drawn,
    Entries,
    Number,
    Section,
    Table,
    Text,
    Value,
    bold,
    filled,
    joined,
    small,
)
from ragbench.views.basics.entries import rows_of, shortened
from ragbench.views.basics.links import behind, left
from ragbench.views.basics.marks import named
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import anchor, shown
from ragbench.views.basics.web import Web, drawn
from ragbench.views.view import view

MOST = 60  # pictures of an embedder
FIRST = 4  # of them: a row of a wide page
EXCERPT = 400
METRICS = ("context_preservation", "answer_consistency")

Pairs = Mapping[tuple[str, str], Mapping[tuple[int, int], float]]


@view("dialogues")
def dialogues(material: Material, present: frozenset[str], count: int = 30) -> Content:
    """A picture of the similarities of each dialogue's turns, the least connected first, at most `count`."""
    _ = material.text
    if not len(material.kept("similarities")):
        return Text(_("No dialogue has a second turn: there is nothing to compare."))
    lede = _(
        "A square is two turns of one dialogue; the stronger its colour, the nearer they lie. Above the diagonal "
        "stand questions, below it answers, and the squares beside it are neighbours, of which the measures are "
        "made. Open a dialogue to read it."
    )
    return (
        _pooled(material),
        Text(lede, "rb-lede"),
        [_embedder(material, name, count) for name in material.systems],
        behind(material, present, _("Every question and dialogue with its values")),
    )


def _embedder(material: Material, name: str, count: int) -> Content:
    pairs: dict[tuple[str, str], dict[tuple[int, int], float]] = {}
    for row in rows_of(material.kept("similarities"), name):
        pairs.setdefault((str(row["sample"]), str(row["what"])), {})[int(row["first"]), int(row["second"])] = float(
            row["similarity"]
        )
    turns: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows_of(material.kept("turns")):
        turns.setdefault(str(row["sample"]), []).append(row)
    several = [sample for sample, said in turns.items() if len(said) > 1]
    several.sort(key=lambda sample: (_value(material, sample, METRICS[0], name), sample))
    shown_first = several[: min(count, MOST)]
    pictures = [_dialogue(material, name, sample, turns[sample], pairs) for sample in shown_first]
    return (
        Text(bold(named(material, name)), "h3") if len(material.systems) > 1 else (),
        shortened(material.text, pictures, lambda some: [Section(some, look="rb-dialogues")], FIRST),
        left(material, len(several), len(shown_first)),
    )


def _value(material: Material, sample: str, metric: str, name: str) -> float:
    """The score, with unmeasured ones at the end of the order."""
    value = material.score(sample, metric, name)
    return value if value == value else 2.0


def _dialogue(material: Material, name: str, sample: str, turns: Sequence[Mapping[str, Any]], pairs: Pairs) -> Drawn:
    _ = material.text
    numbers = [int(turn["turn"]) for turn in turns]
    questions, answers = (Number(material.score(sample, metric, name)) for metric in METRICS)
    values = joined(
        " · ", [filled(_("questions {value}"), value=questions), filled(_("answers {value}"), value=answers)]
    )
    talk = [(shown(turn["question"], EXCERPT), shown(turn["answer"], EXCERPT) or DASH) for turn in turns]
    made = drawn(
        "dialogue",
        _,
        anchor=anchor(f"dialogue{material.systems.index(name)}", sample),
        label=_("similarities of the turns of {dialogue}", dialogue=shown(sample)),
        rows=[[_square(material, sample, i, j, pairs) for j in numbers] for i in numbers],
        sample=shown(sample, 40),
        values=Web(_).phrase(values),
        talk=talk,
    )
    said = Entries([[Text(question), Text(answer)] for question, answer in talk], ordered=True)
    return Drawn(made, [Section([said], (shown(sample, 40), ": ", values))])


def _square(material: Material, sample: str, i: int, j: int, pairs: Pairs) -> dict[str, Any]:
    """Two turns: the number of one turn held to itself; nothing where their similarity is not known."""
    _ = material.text
    if i == j:
        return {"self": i}
    what = "question" if j > i else "answer"
    first, second = min(i, j), max(i, j)
    value = pairs.get((sample, what), {}).get((first, second))
    if value is None:
        return {}
    words = {
        "question": _("questions {first} and {second}: {value}"),
        "answer": _("answers {first} and {second}: {value}"),
    }
    return {
        "kind": f"rb-{what}" + (" rb-near" if second - first == 1 else ""),
        "share": 5 * round(20 * min(max(value, 0.0), 1.0)),
        "title": words[what].format(first=first, second=second, value=_.number(value)),
    }


def _pooled(material: Material) -> Content:
    """The same over all pairs of neighbours: a long dialogue counts as often as it has pairs."""
    _ = material.text
    heads = (_("embedder"), (_("metric"), "rb-word"), _("mean over all pairs of neighbours"), _("pairs"),
             _("independent groups"))  # fmt: skip
    body = []
    for estimate in material.measurement.estimates_by("over"):
        mean = estimate.estimate
        if estimate.metric not in METRICS or not mean.n:
            continue
        body.append(
            [
                named(material, estimate.system),
                shown(estimate.metric),
                (Value.of(mean), small(lacking(mean, _))),
                mean.n,
                mean.clusters,
            ]
        )
    return Table.of(_, _("Over all pairs of neighbours"), heads, body) if body else ()
