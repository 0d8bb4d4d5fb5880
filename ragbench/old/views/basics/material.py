"""A measurement, laid out for showing: systems and metrics in their order, estimates and comparisons found by name."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any

from ragbench.old.core import stand_ins
from ragbench.old.core.gaps import alone
from ragbench.old.core.language import Translator
from ragbench.old.core.measurement import Measurement, NamedEstimate
from ragbench.old.core.metric import Metric
from ragbench.old.core.parts import Value, spoken
from ragbench.old.core.types import Comparison, Estimate, Verdict
from ragbench.old.metrics import declaration, meant
from ragbench.old.metrics.criterion import recalled
from ragbench.old.tiers.basics.verdict_tables import said, word
from ragbench.old.views.basics.text import clean

if TYPE_CHECKING:
    import pandas as pd

COUNTS = ("total_samples", "effective_dimensionality", "total_chunks", "used_chunks", "unused_chunks", "n_topics",
          "total_questions")  # fmt: skip

KEY_METRICS = 5  # columns of a page of 760 pixels
EN_DASH = "\N{EN DASH}"


def digits_of(numbers: Iterable[float | None], metric: str = "") -> int:
    """How many decimals show numbers of this size: three below 10, fewer above; none of a metric that counts."""
    largest = max((abs(number) for number in numbers if number is not None and math.isfinite(number)), default=0.0)
    return 0 if metric in COUNTS or largest >= 1000 else 3 if largest < 10 else 2 if largest < 100 else 1


class Material:
    """What every view reads: one measurement, one language, one primary metric."""

    def __init__(self, measurement: Measurement, translator: Translator) -> None:
        self.measurement = measurement
        self.facts = measurement.facts
        self.text = translator
        self._estimates: dict[Any, Estimate] = {}
        self._comparisons: dict[Any, Comparison] = {}
        for finding in (*measurement.estimates, *measurement.comparisons, *measurement.placed):
            where = frozenset(finding.where.items())
            if isinstance(finding, NamedEstimate):
                self._estimates[finding.system, finding.metric, where] = finding.estimate
            else:
                self._comparisons[finding.comparison.challenger, finding.metric, where] = finding.comparison

    def judged_by(self, metric: str) -> str:
        """The offline judge that alone judged the metric, in words that stand beside a verdict; else empty."""
        return stand_ins.judged_by(self._judged_alone.get(metric), self.text)

    @cached_property
    def _judged_alone(self) -> Mapping[str, str]:
        return self.facts.get("judged_alone") or stand_ins.judged_alone(self.facts)

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """Metrics in the order of the estimates."""
        named = [e.metric for e in self.measurement.estimates] + [c.metric for c in self.measurement.comparisons]
        return tuple(dict.fromkeys(named))

    @cached_property
    def baseline(self) -> str | None:
        """The system that others are compared with; None where there is nothing to compare."""
        named = self.facts.get("baseline")
        if named is None and self.measurement.comparisons:
            named = self.measurement.comparisons[0].comparison.baseline
        return named if len(self.systems_as_measured) > 1 else None

    @cached_property
    def systems_as_measured(self) -> tuple[str, ...]:
        """Systems in the order of the settings, then of the estimates."""
        named = [str(s["name"]) for s in self.facts.get("systems", ()) if isinstance(s, Mapping) and "name" in s]
        measured = [e.system for e in self.measurement.estimates]
        return tuple(dict.fromkeys([s for s in named if s in measured] + measured))

    @cached_property
    def systems(self) -> tuple[str, ...]:
        """The baseline first, then the challengers."""
        return tuple(sorted(self.systems_as_measured, key=lambda name: name != self.baseline))

    @cached_property
    def challengers(self) -> tuple[str, ...]:
        """Every system but the baseline."""
        return tuple(name for name in self.systems if name != self.baseline)

    @cached_property
    def order(self) -> Mapping[str, int]:
        """The number of every system, that its colour goes by: 0 is the baseline's.

        Those of the project count as its settings list them, so that a system has one number on all pages of a run.
        Others, such as judges, count by themselves, and come after those of the project where they share a page.
        """
        pages = self.facts.get("pages", ())
        there = dict.fromkeys([*self.systems, *(name for page in pages for name in page.get("systems", ()))])
        listed = {str(name): number for number, name in enumerate(self.facts.get("project_systems", ()))}
        known = listed if any(name in listed for name in there) else {}
        baselines = {self.baseline, *(page.get("baseline") for page in pages)} - {None, *known}
        others = [name for name in there if name not in known and name not in baselines]
        first = 1 if pages else max(known.values(), default=0) + 1
        return known | {str(name): 0 for name in baselines} | dict(zip(others, count(first)))

    @cached_property
    def primary(self) -> str | None:
        """The metric that the answer speaks of and that ranks the worst questions: what the measurement names as
        `primary`, else mrr where it was measured, else the first."""
        wanted = [name for name in (self.facts.get("primary"), "mrr") if name]
        labels = (label for name in wanted for label in meant(name, self.metrics))
        return next(labels, next(iter(self.metrics), None))

    @cached_property
    def key_metrics(self) -> list[str]:
        """The primary metric, then of each other kind the one with the last cut-off, as many as a figure has room for.

        A measurement can name its own in the fact `key_metrics`.
        """
        named = [name for name in self.facts.get("key_metrics") or () if name in self.metrics]
        named = named or list({re.split(r"[@(]", metric)[0]: metric for metric in self.metrics}.values())
        return list(dict.fromkeys([*([self.primary] if self.primary is not None else []), *named]))[:KEY_METRICS]

    def estimate(self, system: str, metric: str, **where: str | float) -> Estimate | None:
        """The estimate of a system on a metric, of the whole or where it is said; None where there is none."""
        return self._estimates.get((system, metric, frozenset(where.items())))

    def comparison(self, challenger: str, metric: str, **where: str | float) -> Comparison | None:
        """The comparison of a challenger with the baseline on a metric, as above; None where there is none."""
        return self._comparisons.get((challenger, metric, frozenset(where.items())))

    def verdicts(self, challenger: str) -> dict[str, Verdict]:
        """Verdict by metric, of the metrics on which the challenger was compared."""
        comparisons = ((metric, self.comparison(challenger, metric)) for metric in self.metrics)
        return {metric: c.verdict for metric, c in comparisons if c is not None}

    def declaration(self, metric: str) -> Metric | None:
        """How the metric is declared: a project's own as it was when it was measured; None for one that neither the
        measurement nor the catalogue knows."""
        told = self.facts.get("own_metrics", {}).get(metric)
        known = declaration(metric)
        return recalled(told) if told is not None and (known is None or known.own != told["own"]) else known

    def lower_is_better(self, metric: str) -> bool:
        """Whether small values are good, by the comparisons, else by the metric's declaration."""
        for comparison in (self.comparison(name, metric) for name in self.challengers):
            if comparison is not None:
                return comparison.better == "lower"
        declared = self.declaration(metric)
        return declared is not None and declared.better == "lower"

    def digits(self, metric: str) -> int:
        """How many decimals show the metric's values: three below 10, fewer above; of one without an upper end, such as
        money, six below .1."""
        estimates = [e for system in self.systems if (e := self.estimate(system, metric)) is not None]
        numbers = [number for e in estimates for number in (e.value, e.low, e.high) if number is not None]
        declared = self.declaration(metric)
        if declared is not None and declared.bounds[1] is None and 0 < max(map(abs, numbers), default=0.0) < 0.1:
            return 6
        return digits_of(numbers, metric)

    def verdict(self, of: Comparison | Verdict) -> str:
        """The verdict of a comparison in words, or the word of a verdict."""
        return word(of, self.text) if isinstance(of, Verdict) else said(of, self.text)

    def difference(self, comparison: Comparison, metric: str) -> str:
        """`+0.203 [+0.125, +0.280]`."""
        return spoken(self.text).phrase(Value.of(comparison, self.digits(metric)))

    def value(self, estimate: Estimate, metric: str) -> str:
        """`0.703 [0.645, 0.758]`; a dash for what has no interval, and for what was not measured."""
        return spoken(self.text).phrase(Value.of(estimate, self.digits(metric)))

    def judge_alone(self, system: str, metric: str) -> str:
        """What the judge alone says of a mean that people's labels correct; empty for any other."""
        estimate = self.estimate(system, metric, mean="judge") if metric in self.corrected else None
        return "" if estimate is None else alone(self.value(estimate, metric), self.text)

    def difference_alone(self, challenger: str, metric: str) -> str:
        """The same of a difference to the baseline."""
        comparison = self.comparison(challenger, metric, mean="judge") if metric in self.corrected else None
        return "" if comparison is None else alone(self.difference(comparison, metric), self.text)

    @cached_property
    def unmeasured(self) -> int:
        """How many values of the page could not be measured."""
        return sum(e.estimate.n_unmeasured for e in self.measurement.estimates)

    @property
    def corrected(self) -> tuple[str, ...]:
        """The metrics whose means and differences people's labels correct."""
        return tuple(self.facts.get("corrected") or ())

    def population(self, counts: Iterable[int], *, named: bool = True) -> str:
        """Of how many units numbers are, and of which data set where it is to be `named`: `n = 115–129, campus:en`.

        counts: the n of each number that is spoken of.
        """
        sizes = sorted(set(counts))
        n = EN_DASH.join(dict.fromkeys(self.text.integer(size) for size in (sizes[0], sizes[-1]))) if sizes else ""
        parts = [f"n\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{n}" if n else ""]
        return ", ".join(filter(None, [*parts, clean(self.facts.get("dataset")) if named else ""]))

    @cached_property
    def question_rows(self) -> dict[str, Mapping[str, Any]]:
        """Questions by sample id, in the data set's order; of very many those that are listed."""
        table = self.measurement.questions
        if "listed" in table:
            table = table[table["listed"].notna()]
        return {str(row["sample"]): row for row in _records(table)}

    @cached_property
    def scored(self) -> frozenset[str]:
        """The metrics that single samples have values of."""
        return frozenset(self.measurement.scores["metric"])

    @cached_property
    def wide_scores(self) -> pd.DataFrame:
        """Scores with one row a sample, columns (metric, system)."""
        scores = self.measurement.scores
        wide = scores.drop_duplicates(["system", "metric", "sample"]).set_index(["sample", "metric", "system"])["value"]
        return wide.unstack(["metric", "system"])

    def score(self, sample: str, metric: str, system: str) -> float:
        """The value of one system on one question, NaN where it was not measured."""
        column, row = (metric, system), self._rows.get(sample)
        if row is None or column not in self._columns:
            return math.nan
        return float(self._columns[column][row])

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {str(sample): row for row, sample in enumerate(self.wide_scores.index)}

    @cached_property
    def _columns(self) -> dict[tuple[str, str], Any]:
        table = self.wide_scores
        values = table.to_numpy(dtype=float)
        return {(str(m), str(s)): values[:, place] for place, (m, s) in enumerate(map(tuple, table.columns))}

    @cached_property
    def retrieved(self) -> Mapping[tuple[str, str], list[Mapping[str, Any]]]:
        """What a system retrieved for a sample, in rank order."""
        return _Hits(self.measurement.retrieved)

    def kept(self, name: str, *columns: str) -> pd.DataFrame:
        """A table of the measurement's own; empty where it has none of that name with these columns.

        Pages of different kinds have tables of one name: a view names what only its own has.
        """
        import pandas as pd

        table = self.measurement.extra.get(name)
        return pd.DataFrame() if table is None or set(columns) - set(table.columns) else table

    @cached_property
    def texts(self) -> dict[str, Mapping[str, Any]]:
        """Texts of the table `texts` by id, each with what is known of where it stands."""
        table = self.kept("texts", "id")
        return {str(row["id"]): row for row in _records(table)} if len(table) else {}

    @cached_property
    def retrieved_texts(self) -> pd.DataFrame:
        """`chunk` and `text` of all that was retrieved, each pair once."""
        return self.measurement.retrieved[["chunk", "text"]].drop_duplicates()

    @cached_property
    def chunk_texts(self) -> dict[str, str]:
        """Texts by chunk id, of all that was retrieved and of the table `chunks` where the measurement has one.

        None of an id that several texts have: passages of a table of answers are often numbered in each row anew.
        """
        table = self.retrieved_texts
        table = table[table["text"].fillna("") != ""]
        table = table[~table["chunk"].duplicated(keep=False)]
        known = dict(zip(table["chunk"].astype(str), table["text"], strict=True))
        chunks = self.measurement.extra.get("chunks")
        if chunks is not None:
            column = "chunk" if "chunk" in chunks else "id"
            known |= dict(zip(chunks[column].astype(str), chunks["text"], strict=True))
        return known


BLOCK = 256
"""Rows of which records are made at once."""


class _Hits(Mapping[tuple[str, str], list[Mapping[str, Any]]]):
    """Rows of a table by system and sample, in rank order; made into records only when they are asked for."""

    def __init__(self, table: pd.DataFrame) -> None:
        self._table = table.sort_values(["system", "sample", "rank"], kind="stable")
        systems, samples = (self._table[name].to_numpy(dtype=object).tolist() for name in ("system", "sample"))
        self._rows: dict[tuple[str, str], list[int]] = {}
        for row, (system, sample) in enumerate(zip(systems, samples, strict=True)):
            ends = self._rows.setdefault((str(system), str(sample)), [row, row])
            ends[1] = row + 1
        # to make a few records takes as long as to make many, and neighbours are asked for again and again
        self._block = lru_cache(maxsize=64)(lambda start: list(_records(self._table.iloc[start : start + BLOCK])))

    def __getitem__(self, key: tuple[str, str]) -> list[Mapping[str, Any]]:
        first, last = self._rows[key]
        blocks = range(first - first % BLOCK, last, BLOCK)
        return [row for start in blocks for row in self._block(start)[max(first - start, 0) : last - start]]

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def _records(table: pd.DataFrame) -> Iterable[Mapping[Any, Any]]:
    return table.to_dict("records")
