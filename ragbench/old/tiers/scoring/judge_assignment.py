"""Who judges which metric, how several judges become one, and what a panel says of judges who were not asked."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ragbench.old import stats
from ragbench.old.core import settings, trust
from ragbench.old.core.facts import Facts
from ragbench.old.core.language import Translator
from ragbench.old.core.measurement import NamedComparison, without_nan
from ragbench.old.core.metric import Metric
from ragbench.old.core.names import meant as near
from ragbench.old.core.settings import ConfigurationError
from ragbench.old.core.types import Judge
from ragbench.old.core.types.reason import Reason
from ragbench.old.judge import CoveredBy, JudgeCoverage, OwnJudge, Rule, asks_nobody, legal_names
from ragbench.old.llm import Journal, Tally
from ragbench.old.metrics import meant
from ragbench.old.tiers.basics.design import independent

if TYPE_CHECKING:
    import pandas as pd

    from ragbench.old.judge import OpenJudges


AnyJudge = Judge | OwnJudge | str
"""An open judge, one that is described where it is used, or the name of one."""
Named = Sequence[AnyJudge] | Mapping[str, AnyJudge | Sequence[AnyJudge]]
"""Judges of all metrics, `METRIC=JUDGE` among them for one; or judges by the metric's name."""


def parted(judges: Sequence[AnyJudge]) -> tuple[tuple[AnyJudge, ...], dict[str, list[Any]]]:
    """Those named for all metrics, and by metric those named as `METRIC=JUDGE`; a judge's own name may hold a sign of
    equality, too."""
    legal = legal_names(settings.load())
    common: list[AnyJudge] = []
    own: dict[str, list[Any]] = {}
    for judge in judges:
        if isinstance(judge, str) and "=" in judge and judge not in legal:
            metric, _, name = judge.rpartition("=")
            own.setdefault(metric.strip(), []).append(name.strip())
        else:
            common.append(judge)
    return tuple(common), own


def assigned(metrics: Sequence[Metric], judges: Named) -> tuple[list[Metric], tuple[AnyJudge, ...]]:
    """The metrics with the judges that are named for one alone, and the judges that are named for all.

    Where one metric has judges of its own, the others have those named for all as theirs, and nobody is left.
    Raises ValueError for a metric that is not measured or asks no judge, and for a judge that there is not.
    """
    common: tuple[AnyJudge, ...] = ()
    own: dict[str, list[Any]] = {}
    if isinstance(judges, Mapping):
        own = {name: list(given) if isinstance(given, list | tuple) else [given] for name, given in judges.items()}
    else:
        common, own = parted(judges)
    if not own:
        return list(metrics), common
    labels, legal = [metric.label for metric in metrics], legal_names(settings.load())
    judges_of: dict[str, list[AnyJudge]] = {}
    for name, given in own.items():
        places = meant(name, labels)
        if not places:
            raise ValueError(
                f"judges of {name!r}: it is not measured{near(name, labels)}; measured are {', '.join(labels)}"
            )
        if strange := [judge for judge in given if isinstance(judge, str) and judge not in legal]:
            raise ConfigurationError(
                f"judges of {name!r}: there is no judge {strange[0]!r}{near(strange[0], legal)}; judges are "
                f"{', '.join(legal)} (tables [judges.NAME])"
            )
        for label in places:
            judges_of.setdefault(label, []).extend(given)
    if dumb := [each.label for each in metrics if each.label in judges_of and "judge" not in each.needs]:
        raise ValueError(f"judges of {dumb[0]!r}: it asks no judge")
    return [
        replace(each, judges=tuple(judges_of.get(each.label, common or each.judges))) if "judge" in each.needs else each
        for each in metrics
    ], ()


def named_for(metric: Metric, named: Sequence[AnyJudge]) -> tuple[AnyJudge, ...]:
    """Who judges a metric: those named, else its own, else all configured ones, else the lexical one; none where it
    asks no judge."""
    if "judge" not in metric.needs:
        return ()
    return tuple(named) or tuple(metric.judges) or settings.load().judge_names()


def asking(metrics: Iterable[Metric], named: Sequence[AnyJudge]) -> tuple[AnyJudge, ...]:
    """Everybody who judges any of the metrics, each once."""
    whom = [judge for metric in metrics for judge in named_for(metric, named)]
    return tuple({judge if isinstance(judge, str | OwnJudge) else id(judge): judge for judge in whom}.values())


def rule_of(aggregate: str | None, tolerance: float | None, quorum: int | None, judges: Sequence[AnyJudge]) -> Rule:
    """How these judges (all configured ones if none) become one; what is None as in the settings.

    Raises ValueError for an aggregate that there is not, and for a quorum that is more than the judges.
    """
    known = settings.load()
    number = len(judges) or len(known.judges) or 1
    rule = Rule.of(known, aggregate, tolerance, quorum)
    if quorum is None and number == 1:
        rule = replace(rule, quorum=None)
    rule.needed(number)
    return rule


def rule_on(metric: Metric, rule: Rule) -> Rule:
    """The rule on a metric's scale. Raises ValueError, before anybody is asked, where the rule needs one with ends."""
    try:
        return rule.on(metric.bounds)
    except ValueError as error:
        raise ValueError(f"{metric.label}: aggregate = {error}; name another aggregate") from None


@contextlib.contextmanager
def kept_replies(judges: Sequence[AnyJudge], metrics: Sequence[Metric]) -> Iterator[Journal | None]:
    """The journal in the database where a model will be asked that is no object; None where nothing is paid for."""
    whom = asking(metrics, judges)
    if not any(
        judge.kept if isinstance(judge, OwnJudge) else isinstance(judge, str) and not asks_nobody(judge)
        for judge in whom
    ):
        yield None
        return
    with in_database(settings.load()) as journal:
        yield journal


@contextlib.contextmanager
def in_database(known: settings.Settings) -> Iterator[Journal]:
    """The journal in the project's database, in which every reply is kept."""
    from ragbench.old.store import Store, server
    from ragbench.old.store.reply_journal import DatabaseJournal

    with Store.open(known) as store:
        yield DatabaseJournal(store.engine, revive=lambda: server.start(known))


def opened(
    names: Sequence[str | OwnJudge],
    journal: Journal | None,
    language: str | None,
    on_change: Callable[[Tally], None] | None,
    dry: bool,
) -> OpenJudges:
    """The judges of these names. dry: they ask nobody. Raises UntrustedError for those that nobody has trusted."""
    from ragbench.old.judge import open_judges

    known = settings.load()
    if not all(isinstance(judge, OwnJudge) or asks_nobody(judge) for judge in names):
        trust.require(*trust.named())
    return open_judges(known, names, journal=journal, language=language, on_change=on_change, dry_run=dry)


JudgeCoverages = Mapping[tuple[str, str], JudgeCoverage]
"""(system, metric) → who of a panel measured what."""


def facts(known: JudgeCoverages) -> list[dict[str, Any]]:
    """What a page keeps of the panels whose judges measured different answers, as plain JSON values."""
    return [
        {"system": system, "metric": metric, **asdict(judge_coverage)}
        for (system, metric), judge_coverage in known.items()
        if not judge_coverage.even
    ]


def of_facts(given: Mapping[str, Any]) -> JudgeCoverages:
    """The same, out of the facts of a page."""
    judge_coverages = {}
    for row in given.get("judge_coverage") or ():
        judges = tuple(CoveredBy(**{key: _number(value) for key, value in judge.items()}) for judge in row["judges"])
        counts = {key: int(row[key]) for key in ("n", "incomplete", "common")}
        judge_coverages[str(row["system"]), str(row["metric"])] = JudgeCoverage(**counts, judges=judges)
    return judge_coverages


def incomplete(judge_coverage: JudgeCoverage | None) -> str:
    """The words for values of fewer judges, in a check's plain English; empty where there are none."""
    if judge_coverage is None or not judge_coverage.incomplete:
        return ""
    return Reason(
        "{part} of {whole} values are of fewer judges than the panel has",
        part=judge_coverage.incomplete,
        whole=judge_coverage.n,
    )


def said(known: JudgeCoverages, text: Translator, systems: Sequence[str]) -> list[str]:
    """A paragraph for each system and metric whose judges measured different answers."""
    _ = text
    paragraphs = []
    for (system, metric), judge_coverage in known.items():
        if judge_coverage.even:
            continue
        name = f"{system} {metric}" if len(systems) > 1 else metric
        lines = []
        if judge_coverage.incomplete:
            lines.append(
                _.plural(
                    "{n} of {whole} values is made of fewer judges than the panel has.",
                    "{n} of {whole} values are made of fewer judges than the panel has.",
                    judge_coverage.incomplete,
                    whole=_.integer(judge_coverage.n),
                )
            )
        own = [f"{each.judge} {_.number(each.mean)} (n {_.integer(each.n)})" for each in judge_coverage.judges]
        lines.append(
            _("The judges measured different answers, each mean is over its own: {means}.", means="; ".join(own))
        )
        if judge_coverage.common:
            both = [f"{each.judge} {_.number(each.common)}" for each in judge_coverage.judges]
            lines.append(
                _.plural(
                    "On the {n} answer that all of them measured: {means}.",
                    "On the {n} answers that all of them measured: {means}.",
                    judge_coverage.common,
                    means="; ".join(both),
                )
            )
        else:
            lines.append(_("There is no answer that all of them measured: these means cannot be compared."))
        paragraphs.append(f"{name}: " + " ".join(lines))
    return paragraphs


def _number(value: Any) -> Any:
    return float("nan") if value is None else value


def over_judges(
    judgements: pd.DataFrame,
    compared: Sequence[NamedComparison],
    judged: Sequence[str],
    clusters: Mapping[str, str] | None,
    level: float,
) -> Facts:
    """The fact `over_judges` of a page that several judges judged; nothing of one judge.

    An entry a comparison of systems on a judged metric: `metric`, `baseline`, `challenger`, `judges` (how many), `n`
    (questions that all of them judged on both sides), `difference` of the means over judges, its interval `low` and
    `high` with judges as a random factor, no end of it beyond the width of the scale, and `p`; None where so few judges
    cannot carry one (`ragbench.old.stats.comparisons.over_judges`). judgements: as
    `ragbench.old.tiers.scoring.judged_metrics.JUDGEMENT_COLUMNS`;
    clusters: by question, None where each stands alone.
    """
    rows = []
    for comparison in compared:
        c = comparison.comparison
        if comparison.metric not in judged or comparison.where:
            continue
        part = judgements[judgements["metric"] == comparison.metric]
        sides = [
            part[part["system"] == system].pivot_table(
                index="sample", columns="judge", values="value", aggfunc="first", dropna=False, sort=True
            )
            for system in (c.baseline, c.challenger)
        ]
        judges = [name for name in sides[0].columns if name in sides[1].columns]
        if len(judges) < 2:
            continue
        asked = [sample for sample in sides[0].index if sample in sides[1].index]
        first, second = (side.loc[asked, judges].to_numpy(dtype=np.float64) for side in sides)
        labels = None if clusters is None else independent([clusters.get(str(each), str(each)) for each in asked])
        estimate, p = stats.over_judges(second - first, clusters=labels, level=level)
        estimate = stats.kept_within(estimate, None if c.width is None else (-c.width, c.width))
        rows.append({
            "metric": comparison.metric, "baseline": c.baseline, "challenger": c.challenger, "judges": len(judges),
            "n": estimate.n, "difference": estimate.value, "low": estimate.low, "high": estimate.high, "p": p,
        })  # fmt: skip
    return {"over_judges": without_nan(rows)} if rows else {}
