"""What only stands in for something else in a measurement, and the sentence that goes wherever its numbers go.

An offline default stands in for a model; a judge, as long as nobody's labels correct its means, for people; questions
that were drafted from passages, for those that people ask. What of the offline judge orders systems as people's labels
do was measured once, and is told here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from ragbench.old.core.language import Translator
from ragbench.old.core.parts import Value, spoken
from ragbench.old.core.settings import OFFLINE

Part = Literal[
    "retrieval",
    "embedder",
    "generator",
    "judge",
    "order",
    "people",
    "panel",
    "questions",
    "drafts",
    "grades",
    "sample",
    "",
]


@dataclass(frozen=True)
class StandIn:
    """An offline default in a measurement, or a model that judges in place of people.

    part: what it does; "order": it judged metrics by which its means do not order systems as people's labels do, see
    `ragbench.old.core.stand_ins`; "" where an older measurement tells its name alone. name: its own, of a retrieval
    the system's.
    A "sample" of questions stands in for all of them; its name is how many of how many.
    systems: whose numbers it made; empty: those of all. metrics: likewise. of_others: of a "panel", by whose names it
    goes, what is known of differences if other judges had been asked (`ragbench.old.tiers.scoring.judge_assignment`); of a
    "sample" the fact `part_of_all`: `n` of how many (`of`) of a `table`, and what all would take, `calls` and `money`.
    """

    part: Part
    name: str
    systems: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    of_others: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)

    @property
    def fact(self) -> dict[str, Any]:
        """As plain values."""
        known: dict[str, Any] = {"part": self.part, "name": self.name, "systems": list(self.systems)}
        known |= {"of_others": [dict(difference) for difference in self.of_others]} if self.of_others else {}
        return known | ({"metrics": list(self.metrics)} if self.metrics else {})


def facts(part: Part, names: Iterable[str], *, own: bool = False) -> list[dict[str, Any]]:
    """Entries of the fact `stand_ins`. own: each made the numbers of the system that has its name, and no other's."""
    return [StandIn(part, name, (name,) if own else ()).fact for name in dict.fromkeys(names)]


def of(known: Mapping[str, Any], system: str | None = None, metric: str | None = None) -> tuple[StandIn, ...]:
    """The stand-ins that a measurement's facts tell of, each once: `stand_ins`, `generators`, `judges`, `known_items`,
    `unreviewed`, `graded`, `part_of_all`.

    system, metric: only those that made numbers of this system, and of this metric.
    """
    offline = [StandIn("judge", name) for name in _judges(known, offline=True)]
    judging = [*offline, *_unordered(known), *_for_people(known), *_panel(known)]
    stand_ins = [*_listed(known.get("stand_ins")), *_generators(known.get("generators")), *judging]
    stand_ins += [StandIn("questions", f"{known['known_items']}")] if known.get("known_items") else []
    stand_ins += [StandIn("drafts", f"{known['unreviewed']}")] if known.get("unreviewed") else []
    stand_ins += [StandIn("grades", str(name)) for name in known.get("graded") or ()]
    stand_ins += [sample(known["part_of_all"])] if known.get("part_of_all") else []
    once = {(stand_in.part, stand_in.name): stand_in for stand_in in reversed(stand_ins)}
    kept = dict.fromkeys(once[stand_in.part, stand_in.name] for stand_in in stand_ins)
    return tuple(
        stand_in
        for stand_in in kept
        if (system is None or not stand_in.systems or system in stand_in.systems)
        and (metric is None or not stand_in.metrics or metric in stand_in.metrics)
    )


def sample(taken: Mapping[str, Any]) -> StandIn:
    """A sample of questions, that stands for all of them. taken: the fact `part_of_all`."""
    return StandIn(
        "sample",
        "/".join(str(taken.get(key, "")) for key in ("n", "of", "table", "calls", "money")),
        of_others=(taken,),
    )


def for_people(judges: Iterable[str], metrics: Iterable[str]) -> tuple[StandIn, ...]:
    """The models that judged in place of people; none where nothing was judged. metrics: those that they judged."""
    judged = tuple(metrics)
    return tuple(StandIn("people", name, metrics=judged) for name in judges if judged)


def unordered(judges: Iterable[str], metrics: Iterable[str]) -> tuple[StandIn, ...]:
    """The offline judge of ragbench, where one of these metrics, which it judged, does not order systems."""
    wrong = tuple(metric for metric in metrics if not holds(metric))
    return tuple(StandIn("order", name, metrics=wrong) for name in judges if name == OFFLINE and wrong)


def marked(known: Mapping[str, Any]) -> frozenset[str]:
    """The metrics of a measurement by which the offline judge does not order systems as people's labels do."""
    return frozenset(metric for stand_in in of(known) if stand_in.part == "order" for metric in stand_in.metrics)


def caveat(stand_ins: Iterable[StandIn], _: Translator) -> str:
    """The sentences on the stand-ins; empty where there are none."""
    every = tuple(stand_ins)
    named, judges = names(every, _), dict.fromkeys(stand_in.name for stand_in in every if stand_in.part == "people")
    drafted = dict.fromkeys(stand_in.name for stand_in in every if stand_in.part == "questions")
    unreviewed = dict.fromkeys(stand_in.name for stand_in in every if stand_in.part == "drafts")
    said = []
    if named:
        said.append(
            _(
                "Measured with offline stand-ins: {names}. They show that everything works, not how good a real "
                "model is.",
                names=named,
            )
        )
    unlike = dict.fromkeys(metric for stand_in in every if stand_in.part == "order" for metric in stand_in.metrics)
    who = ", ".join(dict.fromkeys(stand_in.name for stand_in in every if stand_in.part == "order"))
    if turned := [metric for metric in unlike if reversed_by(metric)]:
        said.append(
            _(
                "Judge {names} orders systems the other way round than people's labels do on {metrics}: there, "
                "“better” is rather worse.",
                names=who,
                metrics=", ".join(turned),
            )
        )
    if without := [metric for metric in unlike if not reversed_by(metric)]:
        said.append(
            _(
                "Judge {names} is not shown to order systems as people's labels do on {metrics}: there, “better” "
                "and “worse” speak of shared words alone.",
                names=who,
                metrics=", ".join(without),
            )
        )
    if judges:
        said.append(
            _(
                "Judged means and their intervals are of what the judge says ({names}), not of what people would say: "
                "no labels by people correct them.",
                names=", ".join(judges),
            )
        )
    said += dict.fromkeys(_of_others(stand_in, _) for stand_in in every if stand_in.part == "panel")
    said += _of_samples([taken for stand_in in every if stand_in.part == "sample" for taken in stand_in.of_others], _)
    if drafted:
        said.append(
            _(
                "{number} questions are known items: words of the passage that has to be found, asked by nobody. They "
                "flatter a search that matches words.",
                number=", ".join(drafted),
            )
        )
    if graders := dict.fromkeys(stand_in.name for stand_in in every if stand_in.part == "grades"):
        said.append(
            _(
                "Relevance of passages was graded by {names}, where no person had labelled them.",
                names=", ".join(graders),
            )
        )
    if unreviewed:
        said.append(
            _(
                "{number} questions are drafts of a language model that nobody has reviewed: what they say of systems "
                "is not yet what people's questions would say.",
                number=", ".join(unreviewed),
            )
        )
    return " ".join(said)


def _of_samples(samples: Iterable[Mapping[str, Any]], _: Translator) -> list[str]:
    """A sentence on each sample that pages are of, with what all their models would take together; a page that is told
    of twice, by itself and by the overview, counts once."""
    once = {tuple(sorted(taken.items())): taken for taken in samples}
    by_sample: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for taken in once.values():
        by_sample.setdefault((taken["n"], taken["of"], taken["table"]), []).append(taken)
    said = []
    for (n, whole, table), own in by_sample.items():
        asked = [taken for taken in own if taken.get("calls")]
        calls: dict[str, Any] = {"calls": sum(taken["calls"] for taken in asked)} if asked else {}
        if asked and all("money" in taken for taken in asked):
            calls["money"] = sum(taken["money"] for taken in asked)
        said.append(_of_sample({"n": n, "of": whole, "table": table, **calls}, _))
    return said


def _of_sample(taken: Mapping[str, Any], _: Translator) -> str:
    what = {"decisions": _("labelled decisions"), "dialogues": _("dialogues"), "history": _("logged questions")}
    texts = {
        "n": _.integer(taken["n"]),
        "of": _.integer(taken["of"]),
        "what": what.get(str(taken["table"])) or _("questions"),
    }
    said = _(
        "Only a sample was measured: {n} of {of} ({what}), chosen by a hash of their ids, from every slice in "
        "proportion.",
        **texts,
    )
    if not taken.get("calls"):
        return said
    if "money" not in taken:
        return f"{said} " + _("All would take about {calls} replies of models.", calls=_.integer(taken["calls"]))
    more = {"calls": _.integer(taken["calls"]), "money": _.number(taken["money"], 2)}
    return f"{said} " + _("All would take about {calls} replies of models, for about {money}.", **more)


def names(stand_ins: Iterable[StandIn], _: Translator) -> str:
    """`retrieval of ngrams, letters; judge lexical`."""
    by_part: dict[str, dict[str, None]] = {}
    for stand_in in stand_ins:
        by_part.setdefault(stand_in.part, {})[stand_in.name] = None
    words = {
        "retrieval": _("retrieval of {names}"),
        "embedder": _("embedder {names}"),
        "generator": _("generator {names}"),
        "judge": _("judge {names}"),
        "": "{names}",
    }
    return "; ".join(words[part].replace("{names}", ", ".join(by_part[part])) for part in words if part in by_part)


def _listed(given: Any) -> list[StandIn]:
    stand_ins = []
    for entry in given or ():
        if isinstance(entry, Mapping):
            systems, metrics = (tuple(map(str, entry.get(key) or ())) for key in ("systems", "metrics"))
            stand_ins.append(
                StandIn(entry["part"], str(entry["name"]), systems, metrics, tuple(entry.get("of_others") or ()))
            )
        else:
            stand_ins.append(StandIn("", str(entry)))
    return stand_ins


def _generators(given: Any) -> list[StandIn]:
    systems: dict[str, list[str]] = {}
    for system, generator in (given or {}).items():
        if generator.get("stand_in"):
            systems.setdefault(str(generator["name"]), []).append(str(system))
    return [StandIn("generator", name, tuple(own)) for name, own in systems.items()]


def _judges(known: Mapping[str, Any], *, offline: bool | None = None) -> list[str]:
    """The names of a page's judges: of the offline ones, of the others, or of all."""
    named = (judge for judge in known.get("judges") or () if isinstance(judge, Mapping) and judge.get("name"))
    return [str(judge["name"]) for judge in named if offline is None or bool(judge.get("stand_in")) is offline]


def _uncorrected(known: Mapping[str, Any]) -> list[str]:
    """The judged metrics that no label by people corrects."""
    corrected = known.get("corrected") or ()
    return [str(metric) for metric in known.get("judged") or () if metric not in corrected]


def judged_alone(known: Mapping[str, Any]) -> dict[str, str]:
    """By metric, the offline judges that alone judged it, where no label by people corrects it."""
    offline, others = _judges(known, offline=True), _judges(known, offline=False)
    return {} if others or not offline else dict.fromkeys(_uncorrected(known), ", ".join(offline))


def judged_by(name: str | None, _: Translator) -> str:
    """Who alone judged, in words that stand beside a verdict; empty for nobody (see `judged_alone`)."""
    return _("by the judge {name}, a stand-in", name=name) if name else ""


def _unordered(known: Mapping[str, Any]) -> tuple[StandIn, ...]:
    """`unordered` of the metrics that an offline judge alone judged, and no label by people corrects."""
    return unordered(_judges(known, offline=True), _uncorrected(known))


def _for_people(known: Mapping[str, Any]) -> tuple[StandIn, ...]:
    """The models whose word the means of `judged` metrics are, but for those that people's labels correct."""
    return for_people(_judges(known, offline=False), _uncorrected(known))


def panel(
    judges: Iterable[str], metrics: Iterable[str], of_others: Iterable[Mapping[str, Any]] = ()
) -> tuple[StandIn, ...]:
    """Several judges, for whom alone the words on the metrics hold that they judged; none of one judge."""
    names, judged = tuple(dict.fromkeys(judges)), tuple(metrics)
    if len(names) < 2 or not judged:
        return ()
    kept = tuple(difference for difference in of_others if difference["metric"] in judged)
    return (StandIn("panel", ", ".join(names), metrics=judged, of_others=kept),)


def _panel(known: Mapping[str, Any]) -> tuple[StandIn, ...]:
    """`panel` of the judges whose scores become one on a page, but for the metrics that people's labels correct."""
    if not known.get("aggregate"):
        return ()
    return panel(_judges(known), _uncorrected(known), known.get("over_judges") or ())


def _of_others(stand_in: StandIn, _: Translator) -> str:
    """For whom the words of a panel hold, and what its differences are if judges are a sample."""
    said = [
        _(
            "Verdicts and intervals on judged metrics hold for these judges ({names}), not for others: judges are no "
            "sample in them.",
            names=stand_in.name,
        )
    ]
    numbers = [
        f"{difference['metric']}, {difference['challenger']} − {difference['baseline']}: "
        f"{spoken(_).phrase(Value(difference['difference'], difference['low'], difference['high'], signed=True))}, "
        f"{_.p_value(difference['p'], relation=True)}"
        for difference in stand_in.of_others
        if difference["low"] is not None
    ]
    if numbers:
        said.append(
            _("With judges as a random factor, questions and judges crossed: {numbers}.", numbers="; ".join(numbers))
        )
        fewest = min(int(difference["judges"]) for difference in stand_in.of_others)
        if fewest < 5:  # the simulated level of three is .077
            said.append(
                _.plural("{n} judge tells little of others.", "So few judges as {n} tell little of others.", fewest)
            )
    elif stand_in.of_others:
        said.append(_("Two judges are too few to say anything of others."))
    return " ".join(said)


ENOUGH = 0.5
"""The τ that the lower end of an interval has to reach: three pairs of systems in four ordered alike."""


@dataclass(frozen=True)
class Order:
    """How the order of systems by the lexical judge's means agrees with that by people's labels.

    tau: Kendall's τ-b, −1 to 1, with its 95 % interval `low` to `high`. pairs: share of the pairs of systems that the
    labels order which are ordered alike, 0 to 1, with its interval `least` to `most`.
    """

    tau: float
    low: float
    high: float
    pairs: float
    least: float
    most: float


LEXICAL: Mapping[str, Order] = {
    "context_precision": Order(0.89, 0.65, 0.93, 0.96, 0.83, 0.98),
    "context_recall": Order(0.99, 0.72, 1.0, 0.98, 0.8, 1.0),
    "context_relevance": Order(0.42, 0.3, 0.54, 0.7, 0.63, 0.77),
    "context_entity_recall": Order(0.83, 0.63, 0.94, 0.89, 0.72, 0.94),
    "e2e_score": Order(0.92, 0.56, 0.94, 0.96, 0.74, 0.96),
    "answer_correctness_rating": Order(0.92, 0.56, 0.94, 0.96, 0.74, 0.96),
    "answer_accuracy": Order(0.9, 0.57, 0.94, 0.92, 0.74, 0.96),
    "factual_correctness": Order(0.36, -0.05, 0.43, 0.44, 0.19, 0.47),
    "answer_relevance": Order(0.7, 0.36, 0.79, 0.83, 0.65, 0.88),
    "faithfulness": Order(0.16, -0.15, 0.47, 0.54, 0.36, 0.67),
    "faithfulness_rating": Order(0.13, -0.21, 0.48, 0.54, 0.35, 0.69),
    "response_groundedness": Order(0.16, -0.17, 0.47, 0.54, 0.35, 0.68),
    "hallucination": Order(0.07, 0.0, 0.17, 0.1, 0.0, 0.15),
    "noise_sensitivity": Order(-0.7, -0.89, -0.53, 0.15, 0.04, 0.21),
}
"""By metric, over XQuAD and `data/campus` in English and Russian and mtrag-un: five systems each that retrieve, answers
of the extractive stand-in, up to 80 questions a set (`benchmarks/real_orders.py`)."""


def holds(metric: str) -> bool:
    """Whether it is shown that the lexical judge orders systems by this metric as people's labels do; what was not
    measured is not shown."""
    return metric in LEXICAL and LEXICAL[metric].low >= ENOUGH


def reversed_by(metric: str) -> bool:
    """Whether it is shown that it orders them the other way round."""
    return metric in LEXICAL and LEXICAL[metric].high < 0
