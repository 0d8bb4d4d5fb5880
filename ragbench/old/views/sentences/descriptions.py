"""What pages say that describe and do not judge: no system is better or worse there, so no verdict is spoken."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragbench.old.core.gaps import lacking
from ragbench.old.core.parts import Content, Part, Text, Value, filled, spoken
from ragbench.old.core.types import Estimate
from ragbench.old.metrics.cache import DISLIKED, LIKED
from ragbench.old.tiers.answers.caching import CacheRow
from ragbench.old.tiers.basics.verdict_tables import interval_names
from ragbench.old.tiers.retrieval.sources import CoverageRow
from ragbench.old.views.basics.marks import rows_of
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import shown
from ragbench.old.views.sentences import data_sets, judge_trust

WEAK = 0.25  # of a mean silhouette: below it no structure was found (Kaufman and Rousseeuw 1990, table 2.4)


def is_described(material: Material) -> bool:
    """Whether a page describes, and has something to describe: a data set, which has no metric, or values of one."""
    described = material.facts.get("describes")
    return described == "dataset" or (bool(described) and material.primary is not None)


def sentences(material: Material) -> list[Content]:
    """The answer of such a page, a sentence for each system, and how it is to be read."""
    return _said(material)[0](material)


def method(material: Material) -> list[str]:
    """What was done, in sentences."""
    return _said(material)[1](material)


def _said(material: Material) -> tuple[Callable[[Material], list[Content]], Callable[[Material], list[str]]]:
    written = {
        "space": (_space, _space_method),
        "sources": (_sources, _sources_method),
        "dataset": (data_sets.examination, data_sets.examination_method),
        "judges": (judge_trust.sentences, judge_trust.method),
        "dialogues": (dialogue_sentences, dialogue_method),
    }
    return written[str(material.facts["describes"])]


def value(material: Material, system: str, metric: str) -> float:
    """The value of an estimate, NaN where there is none."""
    estimate = material.estimate(system, metric)
    return float("nan") if estimate is None else estimate.value


def fact(material: Material, system: str, key: str) -> int:
    """A count that was found out about a system, 0 where it was not."""
    return int(known(material, system).get(key) or 0)


def known(material: Material, system: str) -> Mapping[str, Any]:
    """What the facts say of a system."""
    systems: Sequence[Mapping[str, Any]] = material.facts.get("systems", ())
    return next((described for described in systems if described.get("name") == system), {})


def distance_name(material: Material) -> str:
    """The name of the distance that was measured with."""
    _ = material.text
    names = {"euclidean": _("Euclidean distance"), "cosine": _("cosine distance")}
    return names.get(str(material.facts.get("distance")), str(material.facts.get("distance")))


def _space(material: Material) -> list[Content]:
    _ = material.text
    said = list[Content]()
    for name in material.systems:
        near, pair = (value(material, name, metric) for metric in ("avg_nn_distance", "avg_pairwise_distance"))
        text = filled(
            _(
                "<b>{embedder}</b> needs {dimensions} of its {width} dimensions for 95% of the variance; the nearest "
                "neighbour of a text is on average {near} away, {share} of the mean distance between two texts."
            ),
            embedder=shown(name),
            dimensions=_.number(value(material, name, "effective_dimensionality"), 0),
            width=_.integer(fact(material, name, "width")),
            near=_.number(near, material.digits("avg_nn_distance")),
            share=_.percent(near / pair) if pair > 0 else _.number(None),
        )
        count = fact(material, name, "near_duplicates")
        more = _("No two texts are nearly the same.")
        if count:
            more = _.plural("{n} pair of texts is nearly the same.", "{n} pairs of texts are nearly the same.", count)
        said.append([Text(text), Text(more, "rb-more")])
    closing = _("These numbers describe a space. Which embedder finds more is shown where it searches: in Tier 1.")
    return [*said, [Text(closing, "rb-more")]]


def _space_method(material: Material) -> list[str]:
    _ = material.text
    neighbors, resamples = int(material.facts.get("neighbors", 1)), int(material.facts.get("resamples", 0))
    methods = [
        method for e in material.measurement.estimates if (method := e.estimate.method) not in {"none", "u_statistic"}
    ]
    said = [
        _(
            "Distances are exact, over all pairs: {distance}. The neighbours of a text are the {n} nearest others.",
            distance=distance_name(material),
            n=_.integer(neighbors),
        ),
        _(
            "Pairs share texts, so their mean and spread have the interval of a U-statistic (jackknife over texts). "
            "Density is the inverse of the mean neighbour distance, and so is its interval."
        ),
        _(
            "Two texts count as nearly the same where their distance is at most {share} of the mean of all pairs.",
            share=_.percent(float(material.facts.get("near", 0))),
        ),
    ]
    if methods:
        drawn = _(
            "Intervals of means and standard deviations over texts: {names}, of each text's own value; texts "
            "themselves are not drawn anew, because a copy would be its own neighbour.",
            names=interval_names(methods, resamples, _),
        )
        said.insert(1, drawn)
    return said


def _sources(material: Material) -> list[Content]:
    _ = material.text
    said = list[Content]()
    for name in material.systems:
        idle, rate = (value(material, name, metric) for metric in ("unused_chunks", "utilization_rate"))
        places = {
            "system": shown(name),
            "used": _.number(value(material, name, "used_chunks"), 0),
            "total": _.number(value(material, name, "total_chunks"), 0),
            "rate": _.percent(rate),
            "k": _.integer(int(material.facts.get("k", 0))),
            "n": _.integer(int(material.facts.get("n_questions", 0))),
        }
        if material.facts.get("users_log"):
            text = filled(
                _(
                    "<b>{system}</b> retrieves {used} of {total} passages ({rate}) among the first {k} for {n} "
                    "questions of the users' log."
                ),
                **places,
            )
        else:
            text = filled(
                _(
                    "<b>{system}</b> retrieves {used} of {total} passages ({rate}) among the first {k} for {n} "
                    "questions."
                ),
                **places,
            )
        more = _("Every passage is retrieved at least once.") if idle == 0 else ""
        if idle > 0:
            more = _.plural("{n} passage is never retrieved.", "{n} passages are never retrieved.", round(idle))
        thin = sum(bool(row["thin"]) for row in rows_of(CoverageRow, material.kept("coverage", "topic_id"), name))
        if thin:
            more += " " + _.plural("{n} topic is thin.", "{n} topics are thin.", thin)
        said.append([Text(text), Text(more, "rb-more")])
    return said


def _sources_method(material: Material) -> list[str]:
    _ = material.text
    said = [
        _(
            "A passage is used when it is among the first {k} for at least one question. The intervals say what "
            "another set of as many questions of this kind would use: jackknife over questions, or over groups of "
            "questions that belong together; they are rather too wide than too narrow.",
            k=_.integer(int(material.facts.get("k", 0))),
        ),
        _(
            "Topics are clusters of the questions' vectors ({embedder}) by KMeans. A topic is thin where it has fewer "
            "distinct passages a question than {share} of the median topic.",
            embedder=str(material.facts.get("topics_embedder")),
            share=_.percent(float(material.facts.get("thin", 0))),
        ),
    ]
    return _whose_questions(material) + said + _silhouettes(material)


def _whose_questions(material: Material) -> list[str]:
    """Of a page on the users' log: how much of it was asked."""
    _, facts = material.text, material.facts
    if not facts.get("users_log"):
        return []
    asked, without = int(facts.get("n_questions", 0)), int(facts.get("n_without_vector", 0))
    said = [_.plural("What was searched is {n} question of the users' log.",
                     "What was searched are the {n} questions of the users' log.", asked)]  # fmt: skip
    if without:
        said.append(
            _.plural(
                "{n} more has no vector in its table and was not asked.",
                "{n} more have no vector in their table and were not asked.",
                without,
            )
        )
    if facts.get("masked"):
        said.append(_("What could name a person is replaced in every text that is shown."))
    return said


def _silhouettes(material: Material) -> list[str]:
    """How the number of topics was chosen, and how far the choice can be trusted."""
    _ = material.text
    table = material.kept("silhouettes")
    if not len(table):
        return []
    chosen, tried = int(material.facts.get("n_topics", 0)), table["topics"].tolist()
    best = float(table["silhouette"].max())
    said = [
        _(
            "{n} topics have the highest mean silhouette, {silhouette}, of {low} to {high}.",
            n=_.integer(chosen),
            silhouette=_.number(best, 2),
            low=_.integer(min(tried)),
            high=_.integer(max(tried)),
        )
    ]
    if best < WEAK:
        said.append(_("Below {limit} topics overlap: read them as a map, not as borders.", limit=_.number(WEAK, 2)))
    if chosen == max(tried):
        said.append(_("More topics might fit better still: the highest number that was tried was chosen."))
    return said


ALIKE = 0.95
"""Mean cosine from which on two vectors of each text are taken for one model's, rounding and prefixes aside."""


def dialogue_sentences(material: Material) -> list[Content]:
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
    return spoken(material.text).phrase(Value.of(estimate, percent=True, bare=True))


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
    rows = rows_of(CacheRow, material.kept("caches"), name)
    for row in sorted(rows, key=lambda row: row["asked"] != own):
        if row["hits"]:
            keys = ("n", "hits", "wrong", "doubtful", "unknown")
            counts = {key: _.integer(value) for key, value in row.items() if key in keys and isinstance(value, int)}
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


def dialogue_method(material: Material) -> list[str]:
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
