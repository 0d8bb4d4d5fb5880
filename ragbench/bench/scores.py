"""What scoring a table of answers gave: it shows itself in a notebook, and answers questions about itself."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ragbench import stats
from ragbench.bench.findings import Sureness, bounds, find
from ragbench.language import translator
from ragbench.llm import Usage
from ragbench.measurement import NamedComparison
from ragbench.metric import Metric
from ragbench.metrics.explanation import explain
from ragbench.types import Estimate, Sample, Score, Status, Verdict

if TYPE_CHECKING:
    import pandas as pd

NOTEBOOK, SYSTEM = "rag_metrics", "answers"
SHOWN = ("value", "low", "high", "level", "method", "n", "n_unmeasured")
COMPARED = ("baseline", "challenger", "difference", "low", "high", "p", "p_adjusted", "test", "verdict", "n")


@dataclass(frozen=True)
class Row:
    """One metric's score of one sample."""

    sample: Sample
    metric: Metric
    score: Score


@dataclass(frozen=True, repr=False)
class Scores:
    """Scores of samples by metrics, with their estimates.

    level, resamples, seed: of the intervals. language: of explanations and of the notebook's table.
    baseline: the system that others are compared with; the first if empty.
    usage: by judge, what the replies took that the scores were made from; nothing of judges without a model.
    """

    rows: tuple[Row, ...]
    level: float = 0.95
    resamples: int = 10_000
    seed: int = 0
    language: str = "en"
    baseline: str = ""
    usage: Mapping[str, Usage] = field(default_factory=dict)

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics, in the order asked for."""
        return tuple({row.metric.label: row.metric for row in self.rows}.values())

    @cached_property
    def estimates(self) -> Mapping[tuple[str, str], Estimate]:
        """(system, metric) → the mean with its interval, and how many could not be measured."""
        found: dict[tuple[str, str], Estimate] = {}
        for system in dict.fromkeys(system_name(row.sample) for row in self.rows):
            own = [row for row in self.rows if system_name(row.sample) == system]
            own.sort(key=lambda row: row.sample.id)  # no number depends on the order of the rows
            samples = list({row.sample.id: row.sample for row in own}.values())
            clusters = [sample.cluster or f"\0{sample.id}" for sample in samples]
            values = {
                metric.label: [row.score.value for row in own if row.metric.label == metric.label]
                for metric in self.metrics
            }
            many = stats.estimate_many(
                values,
                clusters=clusters if any(sample.cluster for sample in samples) else None,
                bounds={metric.label: bounds(metric) for metric in self.metrics},
                level=self.level,
                resamples=self.resamples,
                seed=self.seed,
            )
            found |= {(system, label): estimate for label, estimate in many.items()}
        return found

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The baseline, then the others in order of appearance."""
        names = dict.fromkeys(system_name(row.sample) for row in self.rows)
        first = self.baseline or next(iter(names), "")
        return tuple(sorted(names, key=lambda name: name != first))

    @cached_property
    def comparisons(self) -> tuple[NamedComparison, ...]:
        """Every other system against the baseline, paired by sample, p corrected over all; empty for one system."""
        if len(self.systems) < 2:
            return ()
        import pandas as pd

        lines = [(system_name(row.sample), row.metric.label, row.sample.id, row.score.value) for row in self.rows]
        table = pd.DataFrame(lines, columns=["system", "metric", "sample", "value"])
        clusters = {row.sample.id: row.sample.cluster or f"\0{row.sample.id}" for row in self.rows}
        apart = len(set(clusters.values())) == len(clusters)
        sureness = Sureness(self.level, self.resamples, self.seed)
        return find(table, self.metrics, self.systems, None if apart else clusters, sureness)[1]

    def to_pandas(self) -> pd.DataFrame:
        """One row a sample, metric and judge, the panel's aggregate among them: see `samples`; and the duration."""
        import pandas as pd

        columns = ["system", "id", "metric", "judge", "value", "status", "reason", "seconds"]
        return pd.DataFrame(self._table(), columns=columns)

    def worst(self, n: int = 5, metric: str | None = None) -> list[Row]:
        """The n worst measured scores of a metric (the first if none is named), worst first; ties by sample id."""
        label = metric or self.metrics[0].label
        own = [row for row in self.rows if row.metric.label == label and row.score.status is Status.OK]
        if not own and label not in {each.label for each in self.metrics}:
            raise ValueError(f"{label!r} was not measured; measured: {', '.join(m.label for m in self.metrics)}")
        sign = -1 if own and own[0].metric.better == "lower" else 1
        return sorted(own, key=lambda row: (sign * row.score.value, row.sample.id))[:n]

    def explain(self, identifier: str, language: str | None = None) -> str:
        """Every metric's explanation of one sample, a line each. Raises ValueError for an unknown id."""
        own = [row for row in self.rows if row.sample.id == identifier]
        if not own:
            raise ValueError(f"there is no sample {identifier!r}; the first are {', '.join(self._ids()[:5])}")
        speaker = translator(language or self.language)
        return "\n".join(
            f"{row.metric.label}: {speaker.number(row.score.value)} ({row.score.status.value}). "
            + (explain(row.score, speaker) if language else row.score.reason)
            for row in own
        )

    def as_json(self) -> dict[str, Any]:
        """`estimates` and `comparisons` in the form of a run's summary; `samples`: id, system, metric, judge, value,
        status, reason.
        """
        estimates = []
        for (system, metric), estimate in self.estimates.items():
            known = asdict(estimate)
            named = {"notebook": NOTEBOOK, "system": system, "metric": metric}
            estimates.append(named | {key: known[key] for key in SHOWN})
        samples = [{key: value for key, value in row.items() if key != "seconds"} for row in self._table()]
        comparisons = []
        for each in self.comparisons:
            compared = asdict(each.comparison)
            named = {"notebook": NOTEBOOK, "metric": each.metric}
            comparisons.append(named | {key: compared[key] for key in COMPARED})
        return {"estimates": estimates, "comparisons": comparisons, "samples": samples}

    def _table(self) -> list[dict[str, Any]]:
        return [line for row in self.rows for line in _lines(row)]

    def _ids(self) -> list[str]:
        return list(dict.fromkeys(row.sample.id for row in self.rows))

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        _ = translator(self.language)
        lines = [f"{len(self._ids())} samples, {len(self.metrics)} metrics"]
        for (system, metric), one in self.estimates.items():
            name = metric if system == SYSTEM else f"{system} {metric}"
            lines.append(
                f"{name:<32} {_.number(one.value)} {_.interval(one.low, one.high)}  n {one.n} − {one.n_unmeasured}"
            )
        for each in self.comparisons:
            compared = each.comparison
            who = f"{compared.challenger} − {compared.baseline} {each.metric}"
            change = _.number(compared.difference, signed=True)
            between = _.interval(compared.low, compared.high, signed=True)
            lines.append(f"{who:<32} {change} {between}  {compared.verdict.value}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        _ = translator(self.language)
        words = {
            Verdict.BETTER: _("better"),
            Verdict.WORSE: _("worse"),
            Verdict.SAME: _("same"),
            Verdict.NOT_SHOWN: _("not shown"),
        }
        means = _table(
            (_("system"), _("metric"), _("mean"), _("interval"), "n", _("unmeasured")),
            [
                (system, metric, _.number(one.value), _.interval(one.low, one.high), one.n, one.n_unmeasured)
                for (system, metric), one in self.estimates.items()
            ],
        )
        if not self.comparisons:
            return means
        compared = [(each.metric, each.comparison) for each in self.comparisons]
        return means + _table(
            (_("compared"), _("metric"), _("difference"), _("interval"), "p", _("verdict"), "n"),
            [
                (
                    f"{one.challenger} − {one.baseline}",
                    metric,
                    _.number(one.difference, signed=True),
                    _.interval(one.low, one.high, signed=True),
                    _.p_value(one.p if one.p_adjusted is None else one.p_adjusted),
                    words[one.verdict],
                    one.n,
                )
                for metric, one in compared
            ],
        )


def _table(titles: Sequence[object], lines: Sequence[Sequence[object]]) -> str:
    from markupsafe import Markup

    cell, head, row = Markup("<td>{}</td>"), Markup("<th>{}</th>"), Markup("<tr>{}</tr>")
    body = Markup("").join(row.format(Markup("").join(cell.format(value) for value in line)) for line in lines)
    return str(
        Markup("<table><thead><tr>{}</tr></thead><tbody>{}</tbody></table>").format(
            Markup("").join(head.format(title) for title in titles), body
        )
    )


def system_name(sample: Sample) -> str:
    """The system that a sample belongs to."""
    return sample.system or SYSTEM


def _lines(row: Row) -> Sequence[dict[str, Any]]:
    """One line for each judge of a panel, and one for what they come to."""
    named = {"id": row.sample.id, "system": system_name(row.sample), "metric": row.metric.label}
    lines = []
    for judge, kept in row.score.detail.get("judges", {}).items():
        value = None if math.isnan(kept["value"]) else kept["value"]
        shown = {key: kept[key] for key in ("status", "reason", "seconds")}
        lines.append({**named, "judge": judge, "value": value, **shown})
    value = None if math.isnan(row.score.value) else row.score.value
    lines.append(
        {
            **named,
            "judge": row.score.judge,
            "value": value,
            "status": row.score.status.value,
            "reason": row.score.reason,
            "seconds": row.score.seconds,
        }
    )
    return lines
