"""What the page on dialogues and their cache says in words."""

from __future__ import annotations

import math

from ragbench.core.counts import lacking
from ragbench.core.parts import Content, Part, Text, filled
from ragbench.core.types import Estimate
from ragbench.metrics.cache import DISLIKED, LIKED
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import shown

ALIKE = 0.95
"""Mean cosine from which on two vectors of each text are taken for one model's, rounding and prefixes aside."""


def sentences(material: Material) -> list[Content]:
    """For each embedder how often the cache would serve and how near turns lie to each other; then how to read it."""
    _ = material.text
    said = [_sentence(material, name) for name in material.systems]
    if not said:
        return [[Text(_("There are no dialogues and no past questions: nothing was measured."))]]
    closing = _(
        "These numbers describe how people ask. A cache that serves more often is no better for it: what counts is how "
        "many of its answers would be wrong."
    )
    return [*said, [Text(closing, "rb-more")]]


def _sentence(material: Material, name: str) -> list[Part]:
    _ = material.text
    rate, keep = (material.estimate(name, metric) for metric in ("cache_hit_rate", "context_preservation"))
    if rate is not None and not math.isnan(rate.value):
        text = filled(
            _("<b>{embedder}</b>: a cache of {entries} liked answers would serve {rate} of {n} questions."),
            embedder=shown(name),
            entries=_.integer(int(material.facts.get("n_cached", 0))),
            rate=_share(material, rate),
            n=_.integer(rate.n),
        )
    else:
        text = filled(_("<b>{embedder}</b>: there are no liked answers that a cache could hold."), embedder=shown(name))
    more = _served_wrongly(material, name)
    if keep is not None and not math.isnan(keep.value):
        more.append(
            _.plural(
                "Questions of a dialogue have a mean cosine of {value} to the next one ({n} dialogue).",
                "Questions of a dialogue have a mean cosine of {value} to the next one ({n} dialogues).",
                keep.n,
                value=material.value(keep, "context_preservation"),
            )
        )
        if missing := lacking(keep, _, material.digits("context_preservation")):
            more.append(f"{missing[:1].upper()}{missing[1:]}.")
    return [Text(text), Text(" ".join(more), "rb-more")]


def _share(material: Material, estimate: Estimate) -> str:
    _ = material.text
    value = _.percent(estimate.value)
    if estimate.low is None or estimate.high is None:
        return value
    return f"{value} {_.ends(_.percent(estimate.low), _.percent(estimate.high))}"


def _served_wrongly(material: Material, name: str) -> list[str]:
    """The share of the sessions' questions that would be answered wrongly, with its ends; then the hits by worth, of
    each kind of questions apart, that of the headline first."""
    _ = material.text
    said = []
    rate = material.estimate(name, "wrong_hit_rate")
    if rate is not None and not math.isnan(rate.value):
        said.append(_("{rate} of the same questions would be answered wrongly.", rate=_share(material, rate)))
        if rate.n_unmeasured and rate.floor is not None and rate.ceiling is not None:
            said[-1] = _(
                "{rate} of the same questions would be answered wrongly: {least} if all undecided hits were right, "
                "{most} if all were wrong.",
                rate=_share(material, rate),
                least=_.percent(rate.floor),
                most=_.percent(rate.ceiling),
            )
    own = material.facts.get("sessions")
    rows = [row for row in material.kept("caches").to_dict("records") if row["system"] == name]
    for row in sorted(rows, key=lambda row: row["asked"] != own):
        if row["hits"]:
            counts = {key: _.integer(int(row[key])) for key in ("n", "hits", "wrong", "doubtful", "unknown")}
            said.append(
                _(
                    "Of the {n} {kind}, {hits} hit: {wrong} would be wrong, {doubtful} doubtful, {unknown} unknown.",
                    kind=kind_name(material, row["asked"]),
                    **counts,
                )
            )
    return said


def kind_name(material: Material, kind: str) -> str:
    """What the cache was asked with."""
    _ = material.text
    names = {
        "dialogues": _("turns of the dialogues"),
        "questions": _("questions of the data set"),
        "history": _("past questions, each without its own entry"),
    }
    return names.get(kind, kind)


def method(material: Material) -> list[str]:
    """What was done, in sentences."""
    _ = material.text
    facts = material.facts
    alone = int(facts.get("n_one_question", 0))
    said = [
        _(
            "The cache holds the {n} past questions whose users gave {score}. It answers where the cosine of the "
            "nearest of them is above {threshold}, strictly; a question never finds its own entry.",
            n=_.integer(int(facts.get("n_cached", 0))),
            score=_.integer(int(facts.get("cached_score") or 0)),
            threshold=_.number(float(facts.get("threshold", 0)), 2),
        ),
        _(
            "The right answer is known where a label of the data set says it, or where the user of a past question "
            "gave the answer {liked} or more; what got {disliked} or less is no truth, and whoever is served it once "
            "more, word for word, is served wrongly.",
            liked=_.integer(LIKED),
            disliked=_.integer(DISLIKED),
        ),
        _(
            "A hit is wrong where the cached answer was given from another page than those that answer the question "
            "best, or where the base holds no answer and the cache gives one. On the right page it is doubtful where "
            "the two answers, or the two questions, name different numbers; it is unknown where nobody knows the right "
            "answer. Doubtful and unknown hits are undecided and do not enter the wrong-hit rate; beside it stands "
            "what it would be if all of them were right, or wrong. A page can answer several questions, so that a hit "
            "on the right page may still be wrong."
        ),
        _(
            "Similarities are taken within a dialogue only, between neighbouring turns, first averaged over a dialogue "
            "and then over dialogues. Intervals of hit rates draw whole dialogues, groups of one need, or users."
        ),
    ]
    said += _whose_vectors(material)
    if alone:
        said.append(
            _.plural(
                "{n} session of a single question has no neighbours: measures of neighbours do not apply to it, and it "
                "does not count as unmeasured.",
                "{n} sessions of a single question have no neighbours: measures of neighbours do not apply to them, "
                "and they do not count as unmeasured.",
                alone,
            )
        )
    if facts.get("sessions") == "history":
        said.append(_("A session is what one user asked on one day."))
        if stopped := int(facts.get("n_stopped") or 0):
            ended = _.plural(
                "The log says of {n} question that a dialogue ended with it: the next one begins a session.",
                "The log says of {n} questions that a dialogue ended with them: the next one begins a session.",
                stopped,
            )
            said.append(ended)
    return said


def _whose_vectors(material: Material) -> list[str]:
    """Whether the cached questions have the vectors of their log, or were embedded anew, by embedder."""
    _, facts = material.text, material.facts
    said, logs = [], facts.get("logs", {})
    for name, log in logs.items():
        if not log["asking"]:
            said.append(_("{embedder}: every vector of a question is the one that stands in the log.", embedder=name))
            continue
        said.append(
            _(
                "{embedder}: {own} of {n} cached questions have the vectors that stand in the log; {asking} embeds "
                "what the log does not hold. For {checked} of them its own vectors have a mean cosine of {cosine} to "
                "the log's.",
                embedder=name,
                own=_.integer(int(log["cached"])),
                n=_.integer(int(facts.get("n_cached", 0))),
                asking=str(log["asking"]),
                checked=_.integer(int(log["checked"])),
                cosine=_.number(float(log["cosine"]), 2),
            )
        )
        if log["cosine"] < ALIKE:
            said.append(_("That is far from 1: another model made the log's vectors, and these hits mean nothing."))
    anew = [name for name in material.systems if name not in logs]
    if logs and anew:
        said.append(_("The cached questions were embedded anew by {embedders}.", embedders=_.enumeration(anew)))
    return said
