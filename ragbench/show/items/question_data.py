"""The data behind a page's table of questions, in parts that a browser loads when it needs them.

A part is a JSON value with a name: `table` (every question with its values, column by column), `details-N` (what each
system retrieved and answered, and what judges made of it, for a block of questions) and `texts-N` (passages, each
once). Texts are cleaned and shortened here; the page's script writes them as text and never as HTML.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from ragbench.metrics.explanation import reason_in
from ragbench.show.basics.material import Material
from ragbench.show.basics.text import anchor, clean, is_simple, shortened
from ragbench.show.comparison.slices import dimension_name, slice_name
from ragbench.show.comparison.worst_questions import relevant
from ragbench.show.items.data import parts as item_parts
from ragbench.show.items.judgements import Ruling, reason, rulings, stored
from ragbench.show.items.kinds import items_of

if TYPE_CHECKING:
    import pandas as pd

BLOCK = 200
SLICES = ("kind", "language", "source", "answerable")
MOST_VALUES = 60
CHARACTERS = 8_000_000
Part = tuple[str, Any]


@dataclass(frozen=True)
class Lengths:
    """How long texts may be, in characters: shorter where there are very many, so that a page can still be sent."""

    passage: int = 4000
    answer: int = 4000
    statement: int = 600
    reason: int = 1000

    @classmethod
    def fitting(cls, passages: int, answers: int, judgements: int) -> Lengths:
        """Lengths for so many texts of each kind; never below what an excerpt needs."""
        return cls(
            passage=min(cls.passage, max(300, CHARACTERS // max(passages, 1))),
            answer=min(cls.answer, max(400, CHARACTERS // max(answers, 1))),
            statement=min(cls.statement, max(200, CHARACTERS // max(judgements, 1))),
            reason=min(cls.reason, max(200, CHARACTERS // max(judgements, 1))),
        )


def slug(material: Material) -> str:
    """The name of the folder of a measurement's parts."""
    return anchor("of", material.measurement.notebook)


def parts(material: Material) -> Iterator[Part]:
    """Every part of a measurement, the table first."""
    items = items_of(material)
    if items is not None:
        yield from item_parts(items, material.systems)
        return
    made = _Parts(material)
    yield "table", made.table()
    yield from made.details()
    for number, block in enumerate(_blocks(made.texts)):
        yield f"texts-{number}", block


def _blocks(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    for start in range(0, len(items), BLOCK):
        yield items[start : start + BLOCK]


class _Parts:
    def __init__(self, material: Material) -> None:
        self._material = material
        self._samples = list(material.question_rows)
        self._places = {sample: place for place, sample in enumerate(self._samples)}
        self._known: dict[str, int] = {}
        self.texts: list[list[str]] = []

    @cached_property
    def _lengths(self) -> Lengths:
        kept = self._material.kept
        return Lengths.fitting(len(self._material.chunk_texts), len(kept("answers")), len(kept("judgements")))

    def table(self) -> dict[str, Any]:
        """Questions and values by column; rows are named by their place."""
        material = self._material
        hidden = {anchor("q", s): place for place, s in enumerate(self._samples) if not is_simple(s)}
        return {
            "block": BLOCK,
            "ids": [clean(sample) for sample in self._samples],
            "anchors": hidden,
            "texts": [shortened(row["text"], 400) for row in material.question_rows.values()],
            "systems": [clean(name) for name in material.systems],
            "metrics": [self._metric(metric) for metric in material.metrics],
            "values": [[self._values(metric, name) for name in material.systems] for metric in material.metrics],
            "missing": self._missing(),
            "slices": [made for name in SLICES if (made := self._slice(name)) is not None],
            "judged": self._judged_metrics,
            "judges": self._judges,
        }

    def _metric(self, metric: str) -> dict[str, Any]:
        material = self._material
        return {"name": clean(metric), "digits": material.digits(metric), "lower": material.lower_is_better(metric)}

    def _values(self, metric: str, system: str) -> list[float | None]:
        scores = self._material.score_table
        if (metric, system) not in scores:
            return [None] * len(self._samples)
        return _numbers(scores[metric, system].reindex(self._samples), self._material.digits(metric))

    def _missing(self) -> dict[str, dict[str, list[int]]]:
        """Rows by "metric/system" (places) and status, of values that could not be measured."""
        scores = self._material.measurement.scores
        metrics = {name: place for place, name in enumerate(self._material.metrics)}
        systems = {name: place for place, name in enumerate(self._material.systems)}
        found: dict[str, dict[str, list[int]]] = {}
        without = scores[scores["status"] != "ok"]
        for system, metric, sample, status in _rows(without, "system", "metric", "sample", "status"):
            if metric in metrics and system in systems and str(sample) in self._places:
                key = f"{metrics[metric]}/{systems[system]}"
                found.setdefault(key, {}).setdefault(clean(status), []).append(self._places[str(sample)])
        return found

    def _slice(self, name: str) -> dict[str, Any] | None:
        """A way to part the questions; None for a column that parts nothing, or into too many."""
        column = [_text(row.get(name)) for row in self._material.question_rows.values()]
        values = sorted({value for value in column if value is not None})
        if not 1 <= len(values) <= MOST_VALUES or (len(values) == 1 and None not in column):
            return None
        codes = {value: place for place, value in enumerate(values)}
        return {
            "key": name,
            "name": self._material.text("Answerable") if name == "answerable" else dimension_name(self._material, name),
            "keys": [clean(value) for value in values],
            "values": [self._slice_value(name, value) for value in values],
            "codes": [-1 if value is None else codes[value] for value in column],
        }

    def _slice_value(self, name: str, value: str) -> str:
        _ = self._material.text
        if name == "answerable":
            return {"True": _("yes"), "False": _("no")}.get(value, clean(value))
        return str(slice_name(self._material, (name, value)).unescape())

    @cached_property
    def _judged_metrics(self) -> list[str]:
        table = self._material.kept("judgements")
        return [clean(name) for name in dict.fromkeys(table["metric"])] if len(table) else []

    @cached_property
    def _judges(self) -> list[str]:
        table = self._material.kept("judgements")
        return [clean(name) for name in dict.fromkeys(table["judge"].dropna())] if len(table) else []

    def details(self) -> Iterator[Part]:
        """Blocks of questions, each with all that is known of it."""
        hits, answers, judged = self._hits(), self._answers(), self._judgements()
        for number, block in enumerate(_blocks(self._samples)):
            yield f"details-{number}", [self._detail(sample, hits, answers, judged) for sample in block]

    def _detail(
        self,
        sample: str,
        hits: Mapping[tuple[str, str], list[Any]],
        answers: Mapping[tuple[str, str], str],
        judged: Mapping[str, list[Any]],
    ) -> dict[str, Any]:
        row, systems = self._material.question_rows[sample], self._material.systems
        made: dict[str, Any] = {}
        if len(clean(row["text"])) > 400:
            made["text"] = shortened(row["text"], 4000)
        if reference := shortened(row.get("reference"), self._lengths.answer):
            made["reference"] = reference
        if needed := relevant(row):
            made["needed"] = [self._passage(name) for name in needed]
        if any((name, sample) in hits for name in systems):
            made["hits"] = [hits.get((name, sample)) for name in systems]
        if any((name, sample) in answers for name in systems):
            made["answers"] = [answers.get((name, sample)) for name in systems]
        if sample in judged:
            made["judged"] = judged[sample]
        return made

    def _hits(self) -> dict[tuple[str, str], list[Any]]:
        """[passage, similarity, whether it is relevant] in rank order, by system and sample."""
        table = self._material.measurement.retrieved
        if not len(table):
            return {}
        needed = {sample: relevant(row) for sample, row in self._material.question_rows.items()}
        by_page = self._material.facts.get("unit") == "url"
        ordered = table.sort_values(["system", "sample", "rank"], kind="stable")
        similarities = _numbers(ordered["similarity"], 3)
        gains = _numbers(ordered["gain"], 3)
        found: dict[tuple[str, str], list[Any]] = {}
        for row, (system, sample, chunk, url) in enumerate(_rows(ordered, "system", "sample", "chunk", "url")):
            document = str(url) if by_page and url else str(chunk)
            good = gains[row] or document in needed.get(str(sample), ())
            hit = [self._passage(str(chunk)), similarities[row], 1 if good else 0]
            found.setdefault((str(system), str(sample)), []).append(hit)
        return found

    def _passage(self, name: str) -> int:
        """The place of a passage among the texts."""
        if name not in self._known:
            self._known[name] = len(self.texts)
            text = self._material.chunk_texts.get(name, "")
            self.texts.append([shortened(name, 120), shortened(text, self._lengths.passage)])
        return self._known[name]

    def _answers(self) -> dict[tuple[str, str], str]:
        table = self._material.kept("answers")
        if not len(table) or "response" not in table:
            return {}
        found: dict[tuple[str, str], str] = {}
        for system, sample, response in _rows(table, "system", "sample", "response"):
            if isinstance(response, str):
                found.setdefault((str(system), str(sample)), shortened(response, self._lengths.answer))
        return found

    def _judgements(self) -> dict[str, list[Any]]:
        """[system, metric, judge, value, status, explanation, tables of verdicts] by sample; names by their places."""
        table: pd.DataFrame = self._material.kept("judgements")
        if not len(table):
            return {}
        systems = {name: place for place, name in enumerate(self._material.systems)}
        metrics = {name: place for place, name in enumerate(dict.fromkeys(table["metric"]))}
        judges = {name: place for place, name in enumerate(dict.fromkeys(table["judge"].dropna()))}
        names = ("system", "metric", "sample", "judge", "status", "reason", "detail")
        values = _numbers(table["value"], 3)
        found: dict[str, list[Any]] = {}
        for place, (system, metric, sample, judge, status, why, text) in enumerate(_rows(table, *names)):
            if system not in systems:
                continue
            detail = stored(text)
            row = [systems[system], metrics[metric], judges.get(judge, -1), values[place], clean(status)]
            found.setdefault(str(sample), []).append(
                [*row, shortened(reason(self._material, why, detail), 2 * self._lengths.reason), self._tables(detail)]
            )
        return found

    def _tables(self, detail: Mapping[str, Any]) -> list[Any]:
        """Verdicts as [title, [[statement, verdict, reason, passages cited], …]], whatever the metric keeps them as."""
        return [[one.title, [self._verdict(line) for line in one.lines]] for one in rulings(self._material, detail)]

    def _verdict(self, line: Ruling) -> list[Any]:
        return [
            shortened(line.statement, self._lengths.statement),
            line.verdict,
            shortened(reason_in(line.reason, self._material.text), self._lengths.reason),
            [shortened(name, 80) for name in line.chunks],
        ]


def _numbers(column: pd.Series[Any], digits: int) -> list[float | None]:
    """Numbers as short as their digits allow; None where there is none."""
    import numpy as np

    values = np.round(column.to_numpy(dtype=float, na_value=np.nan), digits) + 0.0
    return [value if value == value else None for value in values.tolist()]


def _rows(table: pd.DataFrame, *names: str) -> Iterator[tuple[Any, ...]]:
    """The rows of some columns, as plain values."""
    return zip(*(table[name].to_numpy(dtype=object).tolist() for name in names), strict=True)


def _text(value: Any) -> str | None:
    if value is None or value != value:
        return None
    return str(value) if str(value) else None
