"""What pages say that describe and do not judge: no system is better or worse there, so no verdict is spoken."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ragbench.core.parts import Content, Text, filled
from ragbench.tiers.basics.verdicts import interval_names
from ragbench.views.basics.entries import rows_of
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import shown
from ragbench.views.sentences import continuity, examined, trust

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
        "dataset": (examined.sentences, examined.method),
        "judges": (trust.sentences, trust.method),
        "dialogues": (continuity.sentences, continuity.method),
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
        thin = sum(bool(row["thin"]) for row in rows_of(material.kept("coverage", "topic_id"), name))
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
