"""The next study, planned from a kept run: how many questions would show a difference that matters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ragbench.old import stats
from ragbench.old.core.language import Translator
from ragbench.old.core.measurement import Measurement
from ragbench.old.core.names import meant as near
from ragbench.old.core.parts import Column, Table
from ragbench.old.core.settings import DifferenceSettings
from ragbench.old.core.types import Array, Comparison
from ragbench.old.metrics import meant
from ragbench.old.stats import StudyPlan
from ragbench.old.tiers.basics.bands import REACHABLE, of_interest
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.tiers.basics.findings import clusters_of, column_of, direction, paired_values, samples_of

AROUND = (0.5, 0.75, 1.0, 1.5, 2.0)
"""Where one difference is asked about: what others, so many times as large, would need."""


@dataclass(frozen=True)
class Ask:
    """What is to be planned. Empty values mean: each page's primary metric, and its baseline against every other
    system; the smallest difference of interest; the level of the run.

    comparisons: how many the next study corrects together; None: as the run does, whose threshold is taken.
    """

    metrics: Sequence[str] = ()
    differences: Sequence[float] = ()
    power: float = 0.8
    notebook: str = ""
    baseline: str = ""
    system: str = ""
    level: float | None = None
    comparisons: int | None = None

    def __post_init__(self) -> None:
        for each in self.differences:
            if not 0 < each < float("inf"):
                raise BenchError(f"--difference {each:g}: a true difference above 0 is expected, in the metric's unit")
        if self.level is not None and not 0 < self.level < 1:
            raise BenchError(f"--level {self.level:g}: between 0 and 1 is expected; 0.95 is usual")
        if not 0 < self.power < 1:
            raise BenchError(f"--power {self.power:g}: a chance between 0 and 1 is expected; 0.8 is usual")


@dataclass(frozen=True)
class Planned:
    """The plans for one metric and two systems. asked: the differences that were asked about, the others stand around.

    family: what the threshold of a single comparison comes from, as `ragbench.old.tiers.basics.findings` names it; empty
    where it stands alone. unmeasured: how many pairs lack a value, and tell nothing of how differences vary.
    """

    notebook: str
    metric: str
    baseline: str
    challenger: str
    level: float
    family: str
    asked: tuple[float, ...]
    plans: tuple[StudyPlan, ...]
    unmeasured: int = 0

    def as_json(self) -> dict[str, Any]:
        """Plain values: what is planned, and every plan with whether it was asked for."""
        keys = ("notebook", "metric", "baseline", "challenger", "level", "family", "unmeasured")
        about = {key: getattr(self, key) for key in keys}
        return about | {"plans": [asdict(plan) | {"asked": plan.difference in self.asked} for plan in self.plans]}


@dataclass(frozen=True)
class Plans:
    """planned: in the order of the pages. left_out: what cannot be planned for, and why."""

    planned: tuple[Planned, ...]
    left_out: tuple[str, ...]


def plan(measurements: Mapping[str, Measurement], ask: Ask, matters: DifferenceSettings) -> Plans:
    """Plans for all that is asked.

    Where no metric is named, pages without a measure that has a direction are left out, and so are, unless one system
    and one metric are named, pairs of systems whose differences have no spread.
    measurements: by notebook, those of one run. Raises BenchError, naming what there is, where nothing can be planned.
    """
    if ask.notebook and ask.notebook not in measurements:
        there = ", ".join(measurements) or "none"
        raise BenchError(f"--notebook {ask.notebook!r}: the run has {there}{near(ask.notebook, measurements)}")
    pages = {name: made for name, made in measurements.items() if ask.notebook in ("", name)}
    scored = {name: labels for name, made in pages.items() if (labels := _labels(made))}
    if not scored:
        raise BenchError(
            f"{', '.join(pages) or 'the run'} keeps no scores of single questions for two systems, and without them "
            "nobody knows how differences vary: measure two systems, `ragbench run`, or name another --run "
            "(`ragbench runs`)"
        )
    chosen, left_out = _chosen(scored, pages, ask)
    wanted = [(notebook, label, pair) for notebook, label in chosen for pair in _pairs(pages[notebook], label, ask)]
    planned: list[Planned] = []
    for notebook, label, pair in wanted:
        try:
            planned.append(_planned(pages[notebook], label, *pair, ask, matters))
        except NoSpreadError as error:
            left_out.append(str(error))
    if not planned:
        raise BenchError("; ".join(left_out))
    return Plans(tuple(planned), tuple(left_out))


class NoSpreadError(BenchError):
    """All differences of a pair are the same: they tell nothing of how others would vary."""


def _labels(made: Measurement) -> list[str]:
    """The metrics of which two systems have values of questions."""
    kept = made.scores.dropna(subset=["value"]).groupby("metric", sort=False)["system"].nunique()
    return [str(metric) for metric, systems in kept.items() if systems > 1]


def _chosen(
    scored: Mapping[str, Sequence[str]], pages: Mapping[str, Measurement], ask: Ask
) -> tuple[list[tuple[str, str]], list[str]]:
    """(notebook, label) of every metric that is asked for, and which pages have none to be planned for, and why."""
    if not ask.metrics:
        primary, left_out = [], []
        for name, labels in scored.items():
            directed = [label for label in labels if direction(pages[name], label) is not None]
            leading = pages[name].facts.get("primary")
            if directed:
                primary.append((name, leading if leading in directed else directed[0]))
            else:
                left_out.append(
                    f"{name}: no value of {', '.join(labels)} is better than another: name one with --metric"
                )
        return primary, left_out
    chosen: list[tuple[str, str]] = []
    for metric in ask.metrics:
        there = {name: own for name, labels in scored.items() if (own := meant(metric, labels))}
        if len(there) > 1:
            first = next(iter(there))
            raise BenchError(f"{metric} stands in {' and '.join(there)}: name one, --notebook {first}")
        if not there:
            legal = list(dict.fromkeys(label for labels in scored.values() for label in labels))
            means = [estimate.metric for made in pages.values() for estimate in made.estimates]
            why = "there is no such metric"
            if meant(metric, means):
                why = "the run keeps its mean, and no scores of single questions for two systems"
            raise BenchError(f"--metric {metric}: {why}{near(metric, legal)}; with scores there are {', '.join(legal)}")
        chosen += [(name, label) for name, labels in there.items() for label in labels]
    return list(dict.fromkeys(chosen)), []


def _pairs(made: Measurement, label: str, ask: Ask) -> list[tuple[str, str]]:
    there = [str(name) for name in dict.fromkeys(made.scores.loc[made.scores["metric"] == label, "system"])]
    for option, name in (("--baseline", ask.baseline), ("--system", ask.system)):
        if name and name not in there:
            raise BenchError(f"{option} {name!r}: {label} was measured of {', '.join(there)}{near(name, there)}")
    own = made.facts.get("baseline")
    baseline = ask.baseline or (own if own in there else there[0])
    others = [ask.system] if ask.system else [name for name in there if name != baseline]
    if baseline in others:
        raise BenchError(
            f"{baseline!r} is the baseline itself: name two of {', '.join(there)}, --baseline and --system"
        )
    return [(baseline, name) for name in others]


def _planned(
    made: Measurement, label: str, baseline: str, challenger: str, ask: Ask, matters: DifferenceSettings
) -> Planned:
    about = f"{made.notebook}: {challenger} − {baseline} on {label}"
    first, second = (column_of(made, name, label) for name in (baseline, challenger))
    assert first is not None, "it has scores"
    assert second is not None, "it has scores"
    asked = tuple(ask.differences) or tuple(filter(None, [of_interest(label, matters, made.facts.get(REACHABLE))]))
    if not asked:
        raise BenchError(
            f"{label} has no scale with two ends, and no share of it is a difference of interest: say --difference, in "
            f"its unit, or set it in ragbench.toml, [smallest_difference.metrics] {label} = …"
        )
    level = float(made.facts.get("level", 0.95)) if ask.level is None else ask.level
    known = _known(made, label, baseline, challenger) if ask.comparisons is None else None
    pair = paired_values(made, baseline, challenger, label)
    void = np.zeros(len(first), dtype=bool) if pair is None or pair.void is None else pair.void
    gaps = int((np.isnan(second - first) & ~void).sum())
    wanted = sorted({factor * asked[0] for factor in AROUND}) if len(asked) == 1 else sorted(set(asked))
    how: dict[str, Any] = {"power": ask.power, "level": level, "clusters": clusters_of(made, samples_of(made))}
    if known is not None:
        assert known.threshold is not None, "a known one has it"
        how |= {"threshold": known.threshold * (1 - level) / (1 - known.level), "joint": known.joint}
    elif ask.comparisons is not None:
        how |= {"comparisons": ask.comparisons}
    _refuse_without_spread(second - first, how["clusters"], about)
    try:
        plans = tuple(stats.plan_study(first, second, each, **how) for each in wanted)
    except ValueError as error:
        raise BenchError(f"{about}: {error}") from None
    family = known.family if known is not None else f"{ask.comparisons or 1}, holm"
    return Planned(made.notebook, label, baseline, challenger, level, family, asked, plans, gaps)


def _known(made: Measurement, label: str, baseline: str, challenger: str) -> Comparison | None:
    """The run's own comparison, where its family left it a threshold."""
    named = (
        (comparison.metric, comparison.comparison)
        for comparison in made.comparisons
        if comparison.comparison.threshold is not None
    )
    return next((c for metric, c in named if (metric, c.baseline, c.challenger) == (label, baseline, challenger)), None)


def _refuse_without_spread(differences: Array, clusters: Sequence[str] | None, about: str) -> None:
    """Where questions come in groups, these are what varies: their means may be equal though questions are not."""
    known = ~np.isnan(differences)
    moved, which = differences[known], "differences are"
    if clusters is not None and known.any() and np.ptp(moved) > 0:
        codes = np.unique(np.array(clusters, dtype=object)[known], return_inverse=True)[1]
        moved, which = np.bincount(codes, weights=moved) / np.bincount(codes), "groups differ by"
    if len(moved) > 1 and not np.ptp(moved) > 1e-12 * np.abs(differences[known]).max():
        raise NoSpreadError(
            f"{about}: all {len(moved)} {which} {moved[0]:g}, and nothing says how others would vary: plan "
            "from another --metric, pair of systems, or --run"
        )


def table(planned: Planned, _: Translator) -> Table:
    """A row a difference: questions, and groups, that show it, and what as many as there were show."""
    grouped = planned.plans[0].clusters is not None
    size = planned.plans[0].n / (planned.plans[0].clusters or 1)
    columns = [Column(_("difference"), "count"), Column(_("questions"), "count")]
    if grouped:
        columns += [Column(_("groups"), "count"), Column(_("or per group"), "count")]
    columns += [Column(_("power of {n}", n=_.integer(planned.plans[0].n)), "count")]
    rows = []
    for made in planned.plans:
        mark = " *" if made.difference in planned.asked and len(planned.asked) < len(planned.plans) else ""
        row: list[Any] = [f"{_.number(made.difference, 4)}{mark}", made.questions]
        row += [made.groups, made.per_group] if grouped else []
        rows.append((*row, _.percent(made.reached)))
    notes = [_("*: the difference that was asked about")] if len(planned.asked) < len(planned.plans) else []
    if grouped:
        notes.append(
            _(
                "groups of {size} questions, as now; or per group: so many questions in each of the {groups} groups "
                "there are, a dash where no number is enough, because the groups themselves differ",
                size=_.number(size, 1),
                groups=_.integer(planned.plans[0].clusters or 0),
            )
        )
    title = f"{planned.notebook}, {planned.metric}: {planned.challenger} − {planned.baseline}"
    return Table(tuple(columns), tuple(rows), title, tuple(notes), language=_.language)


def sentence(planned: Planned, made: StudyPlan, _: Translator) -> str:
    """What a plan comes to: how many questions show its difference, and how surely as many as there were do."""
    places = {"difference": _.exact(made.difference), "metric": planned.metric, "power": _.percent(made.power)}
    if made.questions is None:
        return _("No number of questions shows a difference of {difference} in {metric}.", **places)
    needed = _.plural("{n} question", "{n} questions", made.questions)
    if made.groups is not None:
        needed = _("{questions} in {groups}", questions=needed, groups=_.plural("{n} group", "{n} groups", made.groups))
    there = _.plural("{n} question", "{n} questions", made.n)
    if made.clusters is not None:
        groups = _.plural("{n} group", "{n} groups", made.clusters)
        there = _("{questions} in {groups}", questions=there, groups=groups)
    said = _(
        "To show a difference of {difference} in {metric} with a chance of {power}, {needed} are needed; {there} show "
        "it with a chance of {reached}.",
        **places,
        needed=needed,
        there=there,
        reached=_.percent(made.reached),
    )
    if made.between is None:
        return said
    low, high = map(_.integer, made.between)
    sure = _(
        "How differences vary is an estimate: between {low} and {high} questions are needed ({level} interval).",
        low=low,
        high=high,
        level=_level(planned.level, _),
    )
    return f"{said} {sure}"


def _level(level: float, _: Translator) -> str:
    """`95%`, `99.5%`."""
    return _.percent(level, 0 if round(100 * level, 6).is_integer() else 1)


def assumptions(planned: Planned, _: Translator) -> list[str]:
    """What the plans rest on, a sentence each."""
    from ragbench.old.tiers.basics.findings import said

    made = planned.plans[0]
    smallest = "" if made.detectable is None else _.number(made.detectable, 4)
    sentences = [
        _(
            "differences of single questions vary as they did: standard deviation {deviation} over {n}",
            deviation=_.number(made.deviation, 4),
            n=_.plural("{n} question", "{n} questions", made.n),
        ),
        _(
            "test: {test}; a p of the comparison by itself up to {threshold} is shown ({family}, level {level})",
            test=made.test,
            threshold=_.exact(round(made.threshold, 6)),
            level=_level(planned.level, _),
            family=said(planned.family, _) or _("one comparison, by itself"),
        ),
    ]
    if made.clusters is None:
        sentences.append(_("questions are independent of each other"))
    elif made.correlation is None:
        sentences.append(_("groups are independent of each other, and hold one question each"))
    else:
        sentences.append(
            _(
                "groups are independent of each other; differences within one go together with a correlation of {icc}",
                icc=_.number(made.correlation, 2),
            )
        )
    if planned.unmeasured:
        sentences.append(
            _.plural(
                "{n} of {whole} pairs is unmeasured: how it would differ is not known, and as many gaps in the next "
                "study leave its word as open",
                "{n} of {whole} pairs are unmeasured: how they would differ is not known, and as many gaps in the next "
                "study leave its word as open",
                planned.unmeasured,
                whole=_.integer(made.n + planned.unmeasured),
            )
        )
    if smallest:
        sentences.append(
            _(
                "as many as now show a difference of {smallest} or more with a chance of {power}",
                smallest=smallest,
                power=_.percent(made.power),
            )
        )
    return sentences
