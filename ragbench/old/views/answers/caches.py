"""A cache of answers: how often it would serve and save, and what wrongly; and dialogues, turn by turn."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ragbench.old.core.gaps import lacking
from ragbench.old.core.language import DASH
from ragbench.old.core.parts import (
    Content,
    Drawn,
    Entries,
    Entry,
    Figure,
    Lines,
    Link,
    Number,
    Phrase,
    Plot,
    Section,
    Styled,
    Table,
    Text,
    Value,
    bold,
    filled,
    joined,
    small,
    spoken,
)
from ragbench.old.core.types import Estimate
from ragbench.old.metrics.cache import Serving, cache_hit_rate, wrong_hit_rate
from ragbench.old.tiers.answers.caching import CacheRow, NearestRow, SavingRow
from ragbench.old.tiers.answers.tier_ux import SimilarityRow, TurnRow
from ragbench.old.views.basics import chart
from ragbench.old.views.basics.marks import (
    behind,
    left,
    link,
    named,
    rows_of,
    series,
    served_link,
    shared_legend,
    shortened,
)
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import anchor, clean, shown
from ragbench.old.views.basics.web import Web, drawn
from ragbench.old.views.sentences.descriptions import kind_name
from ragbench.old.views.view import view

PANEL = 190  # pixels, by eye: picture and its sentence on one screen
SUMMARY, EXCERPT = 100, 600  # characters: a line, a paragraph
BAND = 0.16
WORTHS = (Serving.RIGHT, Serving.DOUBTFUL, Serving.WRONG, Serving.UNKNOWN)
Curve = Sequence[tuple[float, Estimate]]
"""Thresholds and the rate at each."""
RANK = {Serving.WRONG: 0, Serving.DOUBTFUL: 1, Serving.UNKNOWN: 2, Serving.RIGHT: 3}


@view("cache")
def cache(material: Material, present: frozenset[str]) -> Content:
    """How often a cache would serve, and serve wrongly, at each threshold and at the one that is used."""
    _ = material.text
    kinds = _kinds(material)
    if not kinds:
        return Text(_("There is no cache: no past question has the score that is asked for."))
    plots = []
    for kind in kinds:
        name = kind_name(material, kind)
        plots.append(Plot(figure(material, kind), _("hits by threshold, {kind}", kind=name), name))
    lines = _(
        "Solid: share of the questions that the cache would serve. Dotted: share that it would serve wrongly, "
        "undecided hits (doubtful or not known) left out; the band is what that share would be if all undecided "
        "hits were right, or wrong. The upright line is the threshold."
    )
    title, axis = _("What a cache would serve, by the cosine it asks for"), _("cosine above which the cache answers")
    systems = shared_legend(material)
    return (
        Figure(title, plots, systems, axis, "rb-panels"),
        Text(lines, "rb-meta"),
        _table(material, present, kinds),
        savings(material),
    )


def _kinds(material: Material) -> list[str]:
    rows = material.kept("caches")
    return list(dict.fromkeys(rows["asked"])) if len(rows) else []


def figure(material: Material, kind: str) -> dict[str, Any]:
    """Hit rate and wrong hits by threshold, an embedder a colour."""
    layout = chart.layout(material.text, PANEL, margin={"l": 8, "r": 8, "t": 6, "b": 26, "pad": 0})
    curves: dict[tuple[str, str], list[tuple[float, Estimate]]] = {}
    for estimate in material.measurement.estimates_by("asked", "threshold"):
        if estimate.where["asked"] == kind:
            curves.setdefault((estimate.system, estimate.metric), []).append(
                (float(estimate.where["threshold"]), estimate.estimate)
            )
    lowest = min((at for own in curves.values() for at, _ in own), default=0.5)
    layout["xaxis"] = chart.axis(range=[lowest, 1.0], nticks=6)
    layout["yaxis"] = chart.axis(range=[-0.02, 1.02], nticks=5, tickformat=".0%")
    threshold = float(material.facts.get("threshold", 0))
    layout["shapes"] = [
        {"type": "line", "x0": threshold, "x1": threshold, "y0": 0, "y1": 1, "line": {"color": "@muted", "width": 1}}
    ]
    traces = []
    for name in material.systems:
        traces += _band(material, name, curves.get((name, wrong_hit_rate.label), ()))
        for metric in (cache_hit_rate.label, wrong_hit_rate.label):
            own = curves.get((name, metric), ())
            if any(math.isfinite(estimate.value) for _, estimate in own):
                traces.append(_line(material, name, own, metric))
    return {"data": traces, "layout": layout}


def _band(material: Material, name: str, own: Curve) -> list[dict[str, Any]]:
    """Between the shares of wrong answers with all undecided hits right, and wrong; none where they are one line."""
    ends = [(round(at, 4), e.floor, e.ceiling) for at, e in own if e.floor is not None and e.ceiling is not None]
    if all(least == most for _, least, most in ends):
        return []
    there = [at for at, _, _ in ends]
    least, most = ([round(float(end[place]), 6) for end in ends] for place in (1, 2))
    return [
        {
            "type": "scatter", "mode": "lines", "x": there + there[::-1], "y": most + least[::-1], "fill": "toself",
            "fillcolor": f"@series-{series(material, name)}", "opacity": BAND, "line": {"width": 0},
            "hoverinfo": "skip",
        }
    ]  # fmt: skip


def _line(material: Material, name: str, own: Curve, metric: str) -> dict[str, Any]:
    _ = material.text
    wrong = metric == wrong_hit_rate.label
    word = _("served wrongly") if wrong else _("served")
    return {
        "type": "scatter",
        "mode": "lines",
        "name": chart.plain(f"{name}, {word}"),
        "x": [round(at, 4) for at, _estimate in own],
        "y": [round(estimate.value, 6) for _at, estimate in own],
        "line": {"color": f"@series-{series(material, name)}", "width": 2, "dash": "dot" if wrong else "solid"},
        "text": [
            f"<b>{chart.plain(name)}</b> {_.number(at, 2)}<br>{word}: "
            + spoken(_).phrase(Value.of(estimate, 1, percent=True))
            + (f"<br>{_percents(material, estimate)}" if wrong else "")
            for at, estimate in own
        ],
        "hovertemplate": "%{text}<extra></extra>",
    }


def _percents(material: Material, estimate: Estimate) -> str:
    """The ends of the share of wrong answers in a sentence."""
    return material.text(
        "{least} … {most} if all undecided hits were right … wrong",
        least=_percent(material, estimate.floor),
        most=_percent(material, estimate.ceiling),
    )


def _percent(material: Material, share: float | None) -> str:
    return material.text.percent(math.nan if share is None else share, 1)


def _table(material: Material, present: frozenset[str], kinds: Sequence[str]) -> Content:
    _ = material.text
    heads = (_("embedder"), (_("asked"), "rb-word"), _("questions"), _("served"), _("right"), _("doubtful"),
             _("wrong"), _("not known"), _("wrong-hit rate"))  # fmt: skip
    body = []
    for kind in kinds:
        for row in [each for each in rows_of(CacheRow, material.kept("caches")) if each["asked"] == kind]:
            served = _behind(material, present, row, row["hits"], metric="similarity", sort="best")
            rate, wrong = (
                material.estimate(row["system"], metric.label, asked=kind)
                for metric in (cache_hit_rate, wrong_hit_rate)
            )
            body.append(
                [
                    named(material, row["system"]),
                    kind_name(material, kind),
                    row["n"],
                    Lines((served, Value.of(rate) if rate else DASH)),
                    *(_worth(material, present, row, each) for each in WORTHS),
                    _wrong_rate(material, wrong) if wrong else DASH,
                ]
            )
    note = _(
        "Under a wrong-hit rate: what it would be if all undecided hits (doubtful or not known) were right … wrong."
    )
    return (Table.of(_, _("The cache at its threshold"), heads, body), Text(note, "rb-meta"))


def _worth(material: Material, present: frozenset[str], row: CacheRow, worth: Serving) -> Phrase:
    """How many hits would be so, leading to them where there are any."""
    number = row[worth.value]
    if not number:
        return number
    return _behind(material, present, row, number, metric="serving", outcome=served_link(worth))


def _behind(material: Material, present: frozenset[str], row: CacheRow, number: int, **wish: str) -> Link:
    """A number that leads to the questions of its kind."""
    address = link(material, present, system=clean(row["system"]), slice=f"what:{row['asked']}", **wish)
    return Link(number, address)


def _wrong_rate(material: Material, wrong: Estimate) -> Phrase:
    """The rate with its interval, and below it what it would be with all undecided hits right, and wrong."""
    _ = material.text
    if wrong.floor == wrong.ceiling:
        return Value.of(wrong)
    return Lines((Value.of(wrong), Styled(f"{_.number(wrong.floor)} … {_.number(wrong.ceiling)}", "small")))


@view("hits")
def hits(material: Material, present: frozenset[str], count: int = 10) -> Content:
    """What the cache would serve, at most `count` for each embedder, wrong answers first."""
    if not _kinds(material):
        return ()
    more = behind(material, present, material.text("Every question and dialogue with its values"))
    return ([_hits(material, name, count) for name in material.systems], more)


def _hits(material: Material, name: str, count: int) -> Content:
    _ = material.text
    threshold = float(material.facts.get("threshold", 0))
    served = [hit for hit in rows_of(NearestRow, material.kept("nearest"), name) if hit["similarity"] > threshold]
    served.sort(key=lambda hit: (RANK[Serving(hit["serving"])], -hit["similarity"], hit["asked"], hit["sample"]))
    counts = {each.value: sum(hit["serving"] == each for hit in served) for each in Serving}
    title = filled(
        _("<b>{embedder}</b>: {wrong} of {hits} hits would be wrong, {doubtful} doubtful, {unknown} not known"),
        embedder=named(material, name) if len(material.systems) > 1 else shown(name),
        hits=len(served),
        **counts,
    )
    prefix = f"hit{material.systems.index(name)}"
    items = shortened(material.text, [_hit(material, prefix, hit) for hit in served[:count]]) if served else ()
    return (Text(title, "h3"), items, left(material, len(served), count))


def _hit(material: Material, prefix: str, hit: NearestRow) -> Entry:
    _ = material.text
    words = {
        Serving.RIGHT: Styled(_("right"), look="rb-quiet"),
        Serving.DOUBTFUL: bold(_("doubtful")),
        Serving.WRONG: bold(_("wrong"), "rb-worse"),
        Serving.UNKNOWN: Styled(_("not known"), look="rb-quiet"),
    }
    marks = (words[Serving(hit["serving"])], " ", Number(hit["similarity"]))
    summary = Lines((shown(hit["question"], SUMMARY), Styled(shown(hit["cached_question"], SUMMARY), "small")))
    asked: Phrase = shown(hit["answer"], EXCERPT)
    if not asked and (disliked := shown(hit["disliked"], EXCERPT)):
        asked = filled(_("Disliked by its user: {answer}"), answer=disliked)
    parts = (
        (_("Asked"), hit["question"], asked, ", ".join(hit["pages"])),
        (_("Out of the cache"), hit["cached_question"], shown(hit["cached_answer"], EXCERPT), hit["cached_page"]),
    )
    body = [
        (
            Text(title, "rb-lead"),
            Entries(
                [[Text(shown(question, EXCERPT)), Text(answer or DASH), Text(shown(page, 200), "rb-meta")]], "rb-hits"
            ),
        )
        for title, question, answer, page in parts
    ]
    return Entry(anchor(prefix, f"{hit['asked']}-{hit['sample']}"), summary, marks, body)


DIGITS: tuple[tuple[Literal["input_tokens", "output_tokens", "cost", "seconds"], int], ...] = (
    ("input_tokens", 0), ("output_tokens", 0), ("cost", 4), ("seconds", 1),
)  # fmt: skip


def savings(material: Material) -> Content:
    """A row for each kind of questions, embedder and generator; a sentence where no model's replies are known."""
    _, rows = material.text, rows_of(SavingRow, material.kept("savings"))
    known = [row for row in rows if row["replies"]]
    title = _("What the hits would save")
    if not known:
        if not len(material.kept("caches")):
            return ()
        unknown = _(
            "What the hits would save is unknown: the journal has no answers of the models that write for these "
            "systems. ragbench run tier2_generation has some written."
        )
        return Text(unknown, "rb-meta")
    heads = (_("embedder"), (_("asked"), "rb-word"), (_("generator"), "rb-word"), _("served"), _("tokens read"),
             _("tokens written"), _("cost"), _("seconds"))  # fmt: skip
    body = [
        [
            named(material, row["system"]),
            kind_name(material, row["asked"]),
            shown(row["generator"], 60),
            row["hits"],
            *(Number(row[key], digits) for key, digits in DIGITS),
        ]
        for row in known
    ]
    replies = {row["generator"]: row["replies"] for row in known}
    note = _(
        "Served × the mean reply of each generator that the journal keeps ({replies}). A hit that is wrong saves "
        "nothing; what embedding the question takes is not taken off.",
        replies=", ".join(f"{shown(name, 60)}: {_.integer(count)}" for name, count in replies.items()),
    )
    return (Text(title, "h3"), Table.of(_, title, heads, body), Text(note, "rb-meta"))


MOST = 60  # pictures of an embedder
FIRST = 4  # of them: a row of a wide page
TURN_EXCERPT = 400
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
    for row in rows_of(SimilarityRow, material.kept("similarities"), name):
        pairs.setdefault((row["sample"], row["what"]), {})[row["first"], row["second"]] = row["similarity"]
    turns: dict[str, list[TurnRow]] = {}
    for turn in rows_of(TurnRow, material.kept("turns")):
        turns.setdefault(turn["sample"], []).append(turn)
    several = [sample for sample, said in turns.items() if len(said) > 1]
    several.sort(key=lambda sample: (_nearness(material, sample, METRICS[0], name), sample))
    shown_first = several[: min(count, MOST)]
    pictures = [_dialogue(material, name, sample, turns[sample], pairs) for sample in shown_first]
    return (
        Text(bold(named(material, name)), "h3") if len(material.systems) > 1 else (),
        shortened(material.text, pictures, lambda some: [Section(some, look="rb-dialogues")], FIRST),
        left(material, len(several), len(shown_first)),
    )


def _nearness(material: Material, sample: str, metric: str, name: str) -> float:
    """The score, with unmeasured ones at the end of the order."""
    value = material.score(sample, metric, name)
    return value if value == value else 2.0


def _dialogue(material: Material, name: str, sample: str, turns: Sequence[TurnRow], pairs: Pairs) -> Drawn:
    _ = material.text
    numbers = [turn["turn"] for turn in turns]
    questions, answers = (Number(material.score(sample, metric, name)) for metric in METRICS)
    values = joined(
        " · ", [filled(_("questions {value}"), value=questions), filled(_("answers {value}"), value=answers)]
    )
    talk = [(shown(turn["question"], TURN_EXCERPT), shown(turn["answer"], TURN_EXCERPT) or DASH) for turn in turns]
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
