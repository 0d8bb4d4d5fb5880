"""What the page on dialogues and their cache says in words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from ragbench.show.material import Material
from ragbench.show.text import shown


def sentences(material: Material) -> list[Markup]:
    """For each embedder how often the cache would serve and how near turns lie to each other; then how to read it."""
    _ = material.text
    said = [_sentence(material, name) for name in material.systems]
    if not said:
        return [Markup("<p>{}</p>").format(_("There are no dialogues and no past questions: nothing was measured."))]
    closing = _(
        "These numbers describe how people ask. A cache that serves more often is no better for it: what counts is how "
        "many of its answers would be wrong."
    )
    return [*said, Markup('<p class="rb-more">{}</p>').format(closing)]


def _sentence(material: Material, name: str) -> Markup:
    _ = material.text
    rate = material.estimate(name, "cache_hit_rate")
    keep = material.estimate(name, "context_preservation")
    parts = []
    if rate is not None and not math.isnan(rate.value):
        parts.append(
            _.html(
                "<b>{embedder}</b>: a cache of {entries} liked answers would serve {rate} of {n} questions.",
                embedder=shown(name),
                entries=_.integer(int(material.facts.get("n_cached", 0))),
                rate=Markup('<span class="rb-number">{}</span>').format(_share(material, rate)),
                n=_.integer(rate.n),
            )
        )
    else:
        text = _.html("<b>{embedder}</b>: there are no liked answers that a cache could hold.", embedder=shown(name))
        parts.append(text)
    more = []
    wrong = served_wrongly(material, name)
    if wrong:
        more.append(wrong)
    if keep is not None and not math.isnan(keep.value):
        more.append(
            _.plural(
                "Questions of a dialogue have a mean cosine of {value} to the next one ({n} dialogue).",
                "Questions of a dialogue have a mean cosine of {value} to the next one ({n} dialogues).",
                keep.n,
                value=material.value(keep, "context_preservation"),
            )
        )
    return Markup('<p>{}</p><p class="rb-more">{}</p>').format(Markup(" ").join(parts), " ".join(more))


def _share(material: Material, estimate: Any) -> str:
    _ = material.text
    low, high = (None if end is None else _.percent(end) for end in (estimate.low, estimate.high))
    return (
        _.percent(estimate.value)
        if low is None or high is None
        else f"{_.percent(estimate.value)} " + _.ends(low, high)
    )


def served_wrongly(material: Material, name: str) -> str:
    """How many hits over all questions whose answer is known would serve a wrong answer; empty where none is known."""
    _ = material.text
    rows = [row for row in material.kept("caches").to_dict("records") if row["system"] == name]
    known = [row for row in rows if row["known"]]
    hits = sum(int(row["right"] + row["doubtful"] + row["wrong"]) for row in known)
    if not known or not hits:
        return ""
    return _(
        "Of {hits} hits whose answer is known, among all questions that were tried, {wrong} would be answered wrongly "
        "and {doubtful} doubtfully.",
        hits=_.integer(hits),
        wrong=_.integer(sum(int(row["wrong"]) for row in known)),
        doubtful=_.integer(sum(int(row["doubtful"]) for row in known)),
    )


def method(material: Material) -> list[str]:
    """What was done, in sentences."""
    _ = material.text
    facts: Mapping[str, Any] = material.facts
    alone = int(facts.get("n_one_question", 0))
    said = [
        _(
            "The cache holds the {n} past questions whose users gave {score}. It answers where the cosine of the "
            "nearest of them is above {threshold}, strictly; a question never finds its own entry.",
            n=_.integer(int(facts.get("n_cached", 0))),
            score=_.integer(int(facts.get("cached_score", 0))),
            threshold=_.number(float(facts.get("threshold", 0)), 2),
        ),
        _(
            "A hit is wrong where the cached answer was given from another page than those that answer the question "
            "best, or where the base holds no answer and the cache gives one. On the right page it is doubtful where "
            "the two answers, or the two questions, name different numbers. A page can answer several questions, so "
            "the number of wrong hits is a lower bound."
        ),
        _(
            "Similarities are taken within a dialogue only, between neighbouring turns, first averaged over a dialogue "
            "and then over dialogues. Intervals of hit rates draw whole dialogues, groups of one need, or users."
        ),
    ]
    if alone:
        said.append(
            _.plural(
                "{n} session of a single question has no neighbours; it is unmeasured.",
                "{n} sessions of a single question have no neighbours; they are unmeasured.",
                alone,
            )
        )
    if facts.get("sessions") == "history":
        said.append(_("A session is what one user asked on one day."))
    return said
