"""What scoring a table of answers gave: it shows itself in a notebook, and answers questions about itself."""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from html import escape
from itertools import chain
from typing import TYPE_CHECKING, Any, Literal

from ragbench.old import stats
from ragbench.old.core import annexes, answered_by, settings, terminal
from ragbench.old.core.answered_by import AnsweredBy
from ragbench.old.core.gaps import counted as said_of_n
from ragbench.old.core.language import DASH, Translator, translator
from ragbench.old.core.measurement import COMPARISON_COLUMNS, ESTIMATE_COLUMNS, NamedComparison, NamedEstimate, framed
from ragbench.old.core.metric import Metric
from ragbench.old.core.names import nearest
from ragbench.old.core.parts import Column, Table
from ragbench.old.core.progress import Told
from ragbench.old.core.stand_ins import StandIn, caveat
from ragbench.old.core.types import Estimate, Sample, Score, Status
from ragbench.old.core.types.reason import read
from ragbench.old.judge import Rule, judge_coverage
from ragbench.old.llm import Usage
from ragbench.old.metrics import meant, published, rulings
from ragbench.old.metrics.explanation import explain
from ragbench.old.tiers.basics import bands, design, verdict_tables
from ragbench.old.tiers.basics.findings import Sureness, bounds, compare, leading
from ragbench.old.tiers.scoring import judge_assignment, parts
from ragbench.old.tiers.scoring.judge_assignment import JudgeCoverages, facts, said
from ragbench.old.tiers.scoring.ledger import Answers, Columns, Ledger, Row, Values, columns_of, system_name
from ragbench.old.tiers.scoring.sets import Sets

if TYPE_CHECKING:
    import pandas as pd


NOTEBOOK = "rag_metrics"
MOST = 8
"""Metrics that are shown where nobody has asked for all."""
LINE: Mapping[str, type[str] | type[float]] = {
    "system": str, "id": str, "metric": str, "judge": str, "value": float, "status": str, "reason": str,
    "seconds": float, "suspected_injection": str,
}  # fmt: skip
"""What stands in a line of scores, and of which kind it is."""
FILED: Mapping[str, type[str] | type[float]] = {**LINE, "cluster": str, "language": str}
"""What stands there in a file, which tells all that estimates and comparisons are made from."""


@dataclass(frozen=True, repr=False)
class Scores:
    """Scores of samples by metrics, with their estimates.

    level, resamples, seed: of the intervals. language: of explanations and of the notebook's table.
    baseline: the system that others are compared with; the first if empty.
    usage: by judge, what the replies took that the scores were made from; nothing of judges without a model.
    stand_ins: who of those that made the scores only stands in for a model.
    primary: the metric whose comparisons are a family of their own; the first if empty.
    listeners: what became of those that were told of calls, scores and samples.
    sets: what metrics of all that a system answered gave; they have no rows.
    judges, rule, embedders: whose scores they are, by name, and how several judges became one.
    part_of_all: of how many questions these are a sample; None: they are all.
    """

    rows: Sequence[Row]
    level: float = 0.95
    resamples: int = 10_000
    seed: int = 0
    language: str = "en"
    baseline: str = ""
    usage: Mapping[str, Usage] = field(default_factory=dict)
    stand_ins: tuple[StandIn, ...] = ()
    primary: str = ""
    listeners: tuple[Told, ...] = ()
    sets: Sets = field(default_factory=Sets)
    judges: tuple[str, ...] = ()
    rule: Rule = field(default_factory=Rule)
    embedders: tuple[str, ...] = ()
    part_of_all: Mapping[str, Any] | None = None

    def page(self, language: str = "") -> Any:
        """The page of these scores, as `ragbench run rag_metrics` makes it: its views are those of `rb.views`, and
        `page.save("folder")` writes it for a browser. language: of the page; empty: as the explanations'."""
        return annexes.taken("scores", "page")(self, language)

    def latex(self, label: str = "tab:scores", **options: Any) -> str:
        """A table for a paper; see `rb.Page.latex`."""
        return str(self.page().latex(label, **options))

    @cached_property
    def columns(self) -> Columns:
        """What numbers are made of, without texts and reasons."""
        return columns_of(self.rows)

    @cached_property
    def metrics(self) -> tuple[Metric, ...]:
        """The metrics, in the order asked for."""
        return self.sets.metrics or tuple(self.columns.metrics.values())

    @cached_property
    def singles(self) -> tuple[Metric, ...]:
        """Those of single samples."""
        return tuple(each for each in self.metrics if each.grain == "sample")

    @cached_property
    def samples(self) -> tuple[Sample, ...]:
        """All that was measured."""
        return self.sets.samples or tuple(row.sample for row in self.rows)

    @cached_property
    def leading(self) -> str:
        """The label of the primary metric."""
        return leading(self.primary, self.metrics).label

    @cached_property
    def means(self) -> Mapping[tuple[str, str], Estimate]:
        """(system, metric) → the mean, or the value of the whole set, with its interval, and how many could not be
        measured."""
        estimates: dict[tuple[str, str], Estimate] = {}
        of_sets = {(set_score.system, set_score.metric.label): set_score.estimate for set_score in self.sets.scores}
        for system in by_system(self.sets.samples) if self.sets.samples else self.columns.systems:
            own = self.columns.systems.get(system, Answers())
            clusters = [own.clusters[sample] or f"\0{sample}" for sample in sorted(own.clusters)]
            values = {each.label: own.values.get(each.label, Values()).by_id() for each in self.singles}
            many = stats.estimate_many(
                values,
                clusters=clusters if any(own.clusters.values()) else None,
                bounds={metric.label: bounds(metric) for metric in self.singles},
                level=self.level,
                resamples=self.resamples,
                seed=self.seed,
            )
            known = of_sets | {(system, label): estimate for label, estimate in many.items()}
            estimates |= {place: known[place] for each in self.metrics if (place := (system, each.label)) in known}
        return estimates

    @cached_property
    def judge_coverages(self) -> JudgeCoverages:
        """(system, metric) → which answers each judge of the panel measured; empty without a panel."""
        panel_scores: dict[tuple[str, str], list[Score]] = {}
        for row in self.rows if self.columns.panels else ():
            if "judges" in row.score.detail:
                panel_scores.setdefault((system_name(row.sample), row.metric.label), []).append(row.score)
        return {place: judge_coverage(scores) for place, scores in panel_scores.items()}

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The baseline, then the others in order of appearance."""
        if self.sets.samples:
            return tuple(by_system(self.sets.samples, self.baseline))
        first = self.baseline or next(iter(self.columns.systems), "")
        return tuple(sorted(self.columns.systems, key=lambda name: name != first))

    @property
    def estimates(self) -> pd.DataFrame:
        """The means with their intervals, a row a system and metric; NaN where nothing was measured.

        `attrs["caveat"]` names who of those that made them only stands in for a model.
        """
        named_means = (NamedEstimate(*place, estimate) for place, estimate in self.means.items())
        return framed(named_means, ESTIMATE_COLUMNS, self.caveat())

    @property
    def comparisons(self) -> pd.DataFrame:
        """The differences from the baseline, a row a challenger and metric, with corrected p and verdict; no rows for
        one system. `attrs["caveat"]` as of `estimates`."""
        return framed(self.differences, COMPARISON_COLUMNS, self.caveat())

    @cached_property
    def differences(self) -> tuple[NamedComparison, ...]:
        """Every other system against the baseline, paired by sample, in its family; empty for one system."""
        if len(self.systems) < 2:
            return ()
        clusters = {sample.id: sample.cluster for sample in self.sets.samples} or self.columns.clusters
        ids = sorted(clusters)
        values = {
            name: {each.label: own.values[each.label].on(ids) for each in self.singles}
            for name in self.systems
            if (own := self.columns.systems.get(name, Answers()))
        }
        labels = design.independent([clusters[sample_id] or f"\0{sample_id}" for sample_id in ids])
        sureness = Sureness(self.level, self.resamples, self.seed)
        nothing = {
            name: {each.label: self.columns.systems[name].nothing(each.label, ids) for each in self.singles}
            for name in self.systems
            if name in self.columns.systems
        }
        findings = compare(values, self.singles, labels, sureness, self.leading, self.sets.hypotheses, nothing)
        order = {each.label: place for place, each in enumerate(self.metrics)}
        findings = tuple(
            sorted(
                findings, key=lambda finding: (self.systems.index(finding.comparison.challenger), order[finding.metric])
            )
        )
        return bands.of_interest_each(findings, settings.load().smallest_difference)

    def __getitem__(self, which: int | str) -> Row | list[float]:
        """A row by its place, or the values of a metric in the order of the samples, NaN where it was not measured.

        Raises KeyError for a metric that was not measured, with those that were; IndexError for a place.
        """
        if not isinstance(which, str):
            return self.rows[which]
        labels = meant(which, (metric.label for metric in self.metrics))
        if len(labels) != 1:
            raise KeyError(self._unmeasured(which))
        if labels[0] not in {metric.label for metric in self.singles}:
            raise KeyError(f"{which!r} has one value a system: look at .estimates")
        return [row.score.value for row in self.rows if row.metric.label == labels[0]]

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def to_pandas(self, form: Literal["long", "wide"] = "long") -> pd.DataFrame:
        """The scores as a data frame.

        form: "long": one row a sample, metric and judge, the panel's aggregate among them, and the duration.
            "wide": one row a sample of a system with its texts (`user_input`, `response`, `reference`, `contexts`, a
            list), and a column for each metric. `suspected_injection` of both: which texts seem to address the judge,
            "slot: pattern" parted by semicolons, empty where none does; the values stand all the same. Raises
            ValueError for another form.
        """
        import pandas as pd

        if form == "wide":
            return pd.DataFrame(self._wide())
        if form != "long":
            raise ValueError(f"form = {form!r}: 'long' or 'wide' is expected")
        return pd.DataFrame(self.lines(), columns=list(LINE))

    def worst(self, n: int = 5, metric: str | None = None) -> Table:
        """The n worst measured scores of a metric (the primary if none is named), worst first; ties by sample id.

        Raises ValueError for a metric that was not measured.
        """
        _ = translator(self.language)
        label = metric or self.leading
        metric_of = {each.label: each for each in self.metrics}
        if label not in metric_of:
            raise ValueError(self._unmeasured(label))
        sign = -1 if metric_of[label].better == "lower" else 1
        own = (row for row in self.rows if row.metric.label == label and row.score.status is Status.OK)
        lowest = heapq.nsmallest(max(n, 0), own, key=lambda row: (sign * row.score.value, row.sample.id))
        columns = (Column("id"), Column(_("system")), Column(_("value"), "number"), Column(_("reason")))
        rows = [(row.sample.id, system_name(row.sample), row.score.value, row.score.reason) for row in lowest]
        return Table(columns, tuple(rows), label, language=self.language)

    def explain(self, identifier: str, language: str | None = None) -> str:
        """Every metric's explanation of one sample by every system that answered it, a line each.

        Below it stands what the judge ruled on each statement, passage or question, with its reason and what it cites;
        below a panel's line one for each judge, and below that the same. Raises ValueError for an unknown id.
        """
        rows = self.rows.of(identifier) if isinstance(self.rows, Ledger) else self.rows
        own = [row for row in rows if row.sample.id == identifier]
        if not own:
            near = ", ".join(nearest(identifier, self._ids()))
            raise ValueError(f"there is no sample {identifier!r}; the nearest are {near}")
        speaker = translator(language or self.language)
        several = len({system_name(row.sample) for row in own}) > 1
        lines = []
        for row in own:
            name = f"{system_name(row.sample)} {row.metric.label}" if several else row.metric.label
            lines.append(_explained(name, row.score, speaker, anew=bool(language)))
            panel = row.score.detail.get("judges", {})
            if not panel:
                lines += [f"  {line}" for line in rulings.told(row.score.detail, speaker)]
            for judge, single in panel.items():
                score = Score(single["value"], Status(single["status"]), read(single["reason"]), single["detail"])
                lines.append("  " + _explained(judge, score, speaker, anew=bool(language)))
                lines += [f"    {line}" for line in rulings.told(score.detail, speaker)]
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """`estimates`, `comparisons`, `stand_ins`, `caveats`, `answered_by` as in a run's summary; `samples`: id,
        system, metric, judge, value, status, reason, suspected_injection; `suspected_injections`: how many answers of
        each system have a text that seems to address a judge. `judge_coverage`: of panels whose judges measured
        different answers, how many values are made of fewer judges than the panel has, and each judge's mean over its
        own answers and over those that all measured. `sets`, of metrics of whole sets: system, metric, value, status,
        reason, resamples (how many were drawn), left_out (how often it was called without a question), lacking
        (questions without the fields that it needs). `statistics`: level, resamples, seed, baseline and primary, with
        which every interval and p of single scores is made anew from them.
        """
        return {key: list(value) if key == "samples" else value for key, value in self.as_parts().items()}

    def as_parts(self) -> dict[str, Any]:
        """`as_json` whose `samples` are made as they are asked for, once: what is written needs not be held."""
        means = [NamedEstimate(*place, estimate) for place, estimate in self.means.items()]
        estimates, comparisons = (
            [
                {"notebook": NOTEBOOK, **finding.summary(), "published": published(finding.metric)}
                for finding in findings
            ]
            for findings in (means, self.differences)
        )
        samples = ({key: value for key, value in row.items() if key != "seconds"} for row in self.lines())
        return {
            "estimates": estimates,
            "comparisons": comparisons,
            "statistics": {
                **{name: getattr(self, name) for name in ("level", "resamples", "seed")},
                "baseline": self.systems[0] if len(self.systems) > 1 else None,
                "primary": self.leading,
            },
            "judge_coverage": facts(self.judge_coverages),
            "suspected_injections": self.suspected_injections,
            "answered_by": {NOTEBOOK: [model.fact for model in self.answered_by]} if self.answered_by else {},
            "samples": samples,
            **({"sets": [set_score.fact for set_score in self.sets.scores]} if self.sets.scores else {}),
            "stand_ins": {NOTEBOOK: [stand_in.fact for stand_in in self.told_stand_ins]} if self.stand_ins else {},
            "caveats": {NOTEBOOK: said} if (said := self.caveat("en")) else {},
        }

    @cached_property
    def suspected_injections(self) -> Mapping[str, int]:
        """By system how many of its answers have a text that seems to address a judge."""
        return {name: len(self.columns.systems.get(name, Answers()).flagged) for name in self.systems}

    def said_of_injections(self, language: str = "") -> list[str]:
        """A sentence for each system with answers in whose texts somebody seems to address the judge."""
        _ = translator(language or self.language)
        several = len(self.systems) > 1
        return [
            f"{name}: {parts.of_injections(number, _)}" if several else parts.of_injections(number, _)
            for name, number in self.suspected_injections.items()
            if number
        ]

    @property
    def answered_by(self) -> tuple[AnsweredBy, ...]:
        """The judges' models, with the names that their replies gave."""
        return answered_by.of(
            {"judges": [{"name": name, "usage": asdict(usage)} for name, usage in self.usage.items()]}
        )

    def said_of_models(self, language: str = "") -> list[str]:
        """A sentence for each model whose replies bear an alias or lacked something; what warns is in `caveat`."""
        _ = translator(language or self.language)
        models = (model for model in self.answered_by if not model.warns)
        return [text for model in models if (text := answered_by.sentence(model, _))]

    @cached_property
    def told_stand_ins(self) -> tuple[StandIn, ...]:
        """The stand-ins, and of a panel what its differences are with judges as a random factor."""
        if all(stand_in.part != "panel" for stand_in in self.stand_ins):
            return self.stand_ins
        of_others = self._over_judges()
        return tuple(
            replace(stand_in, of_others=tuple(kept for kept in of_others if kept["metric"] in stand_in.metrics))
            if stand_in.part == "panel"
            else stand_in
            for stand_in in self.stand_ins
        )

    def _over_judges(self) -> Sequence[Mapping[str, Any]]:
        import pandas as pd

        scored = [
            (row.sample.system, row.metric.label, row.sample.id, judge, score["value"])
            for row in self.rows
            for judge, score in (row.singles[0].detail.get("judges") or {}).items()
        ]
        judgements = pd.DataFrame(scored, columns=["system", "metric", "sample", "judge", "value"])
        judgements = judgements.astype({"value": float})
        judged = [metric.label for metric in self.metrics if "judge" in metric.needs]
        clusters = design.clusters(self.samples)
        told = judge_assignment.over_judges(judgements, self.differences, judged, clusters, self.level)
        rows: Sequence[Mapping[str, Any]] = told.get("over_judges", ())
        return rows

    def caveat(self, language: str = "") -> str:
        """What warns beside the numbers: who only stands in for a model, and whose replies are another model's or came
        in a file; empty where nothing does."""
        _ = translator(language or self.language)
        said = [answered_by.sentence(model, _) for model in self.answered_by if model.warns]
        return " ".join(filter(None, [caveat(self.told_stand_ins, _), *said]))

    def _unmeasured(self, name: str) -> str:
        return f"{name!r} was not measured; measured: {', '.join(metric.label for metric in self.metrics)}"

    def _wide(self) -> list[dict[str, Any]]:
        lines: dict[tuple[str, str], dict[str, Any]] = {}
        for row in self.rows:
            sample = row.sample
            texts: dict[str, Any] = {
                "user_input": sample.user_input,
                "response": sample.response,
                "reference": sample.reference,
            }
            contexts = None if sample.contexts is None else [chunk.text for chunk in sample.contexts]
            name = system_name(sample)
            known = {"system": name, "id": sample.id, **texts, "contexts": contexts}
            line = lines.setdefault((name, sample.id), {**known, "suspected_injection": {}})
            line[row.metric.label] = row.score.value
            line["suspected_injection"] |= row.flags
        return [{**line, "suspected_injection": "; ".join(line["suspected_injection"])} for line in lines.values()]

    def lines(self) -> Iterator[dict[str, Any]]:
        """The rows of `to_pandas()`, one by one, with the keys of LINE; None for a value that there is none of."""
        return (line for row in self.rows for line in _lines(row))

    def filed(self) -> Iterator[dict[str, Any]]:
        """The same with the keys of FILED."""
        for row in self.rows:
            about = {"cluster": row.sample.cluster, "language": row.sample.language}
            yield from ({**line, **about} for line in _lines(row))

    def _ids(self) -> list[str]:
        return list(dict.fromkeys(sample.id for sample in self.sets.samples) or self.columns.clusters)

    def __len__(self) -> int:
        return len(self.rows)

    def shortlist(self, most: int | None = MOST) -> tuple[str, ...]:
        """The metrics that are shown first: the primary one, then the others in their order, `most` of them."""
        labels = [self.leading, *(metric.label for metric in self.metrics if metric.label != self.leading)]
        return tuple(labels if most is None else labels[:most])

    def tables(self, language: str = "", digits: int = 3, most: int | None = None) -> tuple[Table, Table]:
        """The estimates, and the comparisons, each with what must be read with it; the second empty for one system.

        most: how many metrics are in them, the primary one first; None: all, in their order.
        """
        _ = translator(language or self.language)
        shown = set(self.shortlist(most))
        estimates = {place: estimate for place, estimate in self.means.items() if place[1] in shown}
        named = ((metric, estimate) for (_system, metric), estimate in estimates.items())
        banded = bands.banded(named, settings.load(), _, self.stand_ins)
        means = verdict_tables.estimates((_("system"), _("metric")), estimates.items(), _, digits, banded)
        differences = ((each.metric, each.comparison) for each in self.differences if each.metric in shown)
        compared = verdict_tables.comparisons(differences, _, digits)
        rest = [metric.label for metric in self.metrics if metric.label not in shown]
        more = _.plural("{n} more metric: {names}", "{n} more metrics: {names}", len(rest), names=", ".join(rest))
        return means.with_notes(
            more if rest else "",
            self._missing(_),
            *unpaired(self.systems, self.columns, _),
            *said(self.judge_coverages, _, self.systems),
            *self.said_of_injections(language),
            *parts.listeners_said(self.listeners, _),
        ), compared

    def _missing(self, _: Translator) -> str:
        """Why values are not there, of single answers and of sets; empty where none is missing."""
        if _.language == self.language:
            missing: Iterable[str] = self.columns.missing.elements()
        else:
            missing = (explain(row.score, _) for row in self.rows if math.isnan(row.score.value))
        of_sets = (explain(set_score.score, _) for set_score in self.sets.scores if math.isnan(set_score.score.value))
        return verdict_tables.told(verdict_tables.frequent(chain(missing, of_sets)), _)

    def counted(self, language: str = "") -> str:
        """How many answers of how many systems to how many questions were scored by how many metrics."""
        _ = translator(language or self.language)
        answers, asked, systems = sum(map(len, self._by_system())), len(self._ids()), len(self.systems)
        parts = [
            _.plural("{n} answer", "{n} answers", answers),
            _.plural("of {n} system", "of {n} systems", systems) if systems > 1 else "",
            _.plural("to {n} question", "to {n} questions", asked) if systems > 1 else "",
        ]
        metrics = _.plural("{n} metric", "{n} metrics", len(self.metrics))
        return f"{' '.join(filter(None, parts))}, {metrics}"

    def _by_system(self) -> list[Collection[str]]:
        if self.sets.samples:
            return [[sample.id for sample in own] for own in by_system(self.sets.samples).values()]
        return [own.clusters for own in self.columns.systems.values()]

    def said(self, language: str = "") -> list[str]:
        """The verdict on the primary metric, in the page's own sentence: one for each challenger."""
        return list(annexes.taken("scores", "said")(self, language))

    def _shown(self, most: int | None) -> list[Table]:
        means, compared = self.tables(most=most)
        means = means.with_notes(*self.said_of_models(), self.caveat())
        return [means, compared] if len(compared) else [means]

    def __str__(self) -> str:
        """The verdict, and the tables of all metrics."""
        return "\n".join([*self.said(), self.counted(), *map(str, self._shown(None))])

    def __repr__(self) -> str:
        """Ten lines at most: the verdict on the primary metric, the first means, and their caveat."""
        _ = translator(self.language)
        labels, caveat = self.shortlist(), self.caveat()
        means = [(place, self.means[place]) for label in labels for place in self.means if place[1] == label]
        lines = [
            f"{system} {label}: {_.number(estimate.value)} {verdict_tables.interval(estimate, _)}, "
            f"{said_of_n(estimate, _)}"
            for (system, label), estimate in means
        ]
        head = [*self.said()[:3], self.counted(), *filter(None, [self._missing(_)])]
        room = terminal.LINES - len(head) - bool(caveat)
        if len(lines) > room or len(means) < len(self.means):
            kept = lines[: room - 1]
            lines = [*kept, f"… {len(self.means) - len(kept)} more in .estimates and .comparisons; print() shows all"]
        return "\n".join(terminal.plain(line) for line in [*head, *lines, caveat] if line)

    def _repr_html_(self) -> str:
        said = "".join(f"<p><b>{escape(line)}</b></p>" for line in self.said())
        return said + f"<p>{escape(self.counted())}</p>" + "".join(table._repr_html_() for table in self._shown(MOST))


def _explained(name: str, score: Score, speaker: Translator, *, anew: bool) -> str:
    """A line: the value, or in few words why there is none, and how it came about.

    anew: in the speaker's language, else as it was said at first.
    """
    why = explain(score, speaker) if anew else score.reason
    if score.status is Status.OK:
        return f"{name}: {speaker.number(score.value)}. {why}"
    return f"{name}: {DASH} ({verdict_tables.statuses(speaker).get(score.status.value, score.status.value)}). {why}"


def by_system(samples: Iterable[Sample], baseline: str = "") -> dict[str, list[Sample]]:
    """The samples of each system: the baseline's, the first's if empty, then those of the others as they come."""
    groups: dict[str, list[Sample]] = {}
    for sample in samples:
        groups.setdefault(system_name(sample), []).append(sample)
    first = baseline or next(iter(groups), "")
    return dict(sorted(groups.items(), key=lambda each: each[0] != first))


def _lines(row: Row) -> Sequence[dict[str, Any]]:
    """One line for each judge of a panel, and one for what they come to."""
    named = {"id": row.sample.id, "system": system_name(row.sample), "metric": row.metric.label}
    lines = []
    for judge, kept in row.score.detail.get("judges", {}).items():
        value = None if math.isnan(kept["value"]) else kept["value"]
        shown = {"status": kept["status"], "reason": str(read(kept["reason"])), "seconds": kept["seconds"]}
        flags = "; ".join(rulings.suspected(kept["detail"]))
        lines.append({**named, "judge": judge, "value": value, **shown, "suspected_injection": flags})
    value = None if math.isnan(row.score.value) else row.score.value
    lines.append(
        {
            **named,
            "judge": row.score.judge,
            "value": value,
            "status": row.score.status.value,
            "reason": str(row.score.reason),
            "seconds": row.score.seconds,
            "suspected_injection": "; ".join(row.flags),
        }
    )
    return lines


def unpaired(systems: Sequence[str], columns: Columns, text: Translator) -> list[str]:
    """Which systems share no question with the first, in a sentence; none where all do."""
    _, first = text, set(_ids(systems[0], columns)) if systems else set()
    names = [name for name in systems[1:] if first and (own := _ids(name, columns)) and first.isdisjoint(own)]
    if not names:
        return []
    return [
        _(
            "Not compared with {baseline}, as both answered no question of the same id: {systems}.",
            baseline=systems[0],
            systems=_.enumeration(names),
        )
    ]


def _ids(system: str, columns: Columns) -> Collection[str]:
    own = columns.systems.get(system)
    return () if own is None else own.clusters.keys()
