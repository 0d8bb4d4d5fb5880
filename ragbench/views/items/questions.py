"""Every question: what it needed, what each system retrieved and answered, and what judges made of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ragbench.core.types import Status
from ragbench.metrics.rulings import SIDES
from ragbench.tiers.basics.verdict_tables import statuses
from ragbench.tiers.scoring.judged_metrics import JudgementRow
from ragbench.views.basics.material import Material
from ragbench.views.basics.side_tables import (
    KINDS,
    Ruling,
    ranked,
    reason,
    relevant,
    rows,
    rulings,
    stored,
    untold,
    word,
)
from ragbench.views.basics.text import clean, shortened
from ragbench.views.items.contents import (
    APART,
    Claim,
    Claimed,
    Detail,
    Entry,
    Items,
    Judged,
    Measured,
    Parting,
    Section,
    claim,
    number,
    told,
)
from ragbench.views.sentences.data_sets import dimension_name, slice_name

if TYPE_CHECKING:
    import pandas as pd

SLICES = ("kind", "language", "source", "answerable")
MOST_VALUES = 60
EQUAL = 1e-9  # of differences of values that are written alike
STATEMENT, REASON, NAME = 600, 1000, 120
"""How long texts of judges and names of passages may be, in characters."""


class _Hit(NamedTuple):
    """What was retrieved; document: what it counts as, its passage or its web page. gain: None where it is not known
    whether it is relevant."""

    chunk: str
    document: str
    text: str
    rank: int
    similarity: float | None
    gain: float | None


def items(material: Material) -> Items:
    """The questions in the data set's order, their values by metric."""
    _, known = material.text, material.question_rows
    partings = [_parting(material, name) for name in SLICES]
    answers, judgements = material.kept("answers"), material.kept("judgements")
    return Items(
        title=_("Every question"),
        ids=list(known),
        texts=[clean(row["text"]) for row in known.values()],
        measures=_measures(material),
        partings=[parting for parting in partings if len(set(parting.values)) <= MOST_VALUES],
        read=_Questions(material).read,
        sort="order",
        first=material.primary or "",
        held=max(len(material.chunk_texts), len(material.retrieved_texts), len(answers), len(judgements)),
        listed=False,
        empty=_("There are no questions to show."),
    )


def _measures(material: Material) -> list[Measured]:
    places = {sample: place for place, sample in enumerate(material.question_rows)}
    scores, wide = material.measurement.scores, material.score_table
    judged = _apart(material, places)
    missing: dict[str, dict[str, dict[str, list[int]]]] = {}
    lost = scores[scores["status"] != Status.OK.value]
    for system, metric, sample, status in _rows(lost, "system", "metric", "sample", "status"):
        if system in material.systems and str(sample) in places:
            of_system = missing.setdefault(metric, {}).setdefault(system, {})
            of_system.setdefault(clean(status), []).append(places[str(sample)])
    return [
        Measured(
            metric,
            metric,
            {
                name: _rounded(wide[metric, name].reindex(list(places)), material.digits(metric))
                for name in material.systems
                if (metric, name) in wide
            },
            digits=material.digits(metric),
            lower=material.lower_is_better(metric),
            missing=missing.get(metric, {}),
            judged=metric in judged,
            apart=judged.get(metric, {}),
        )
        for metric in material.metrics
    ]


def _apart(material: Material, places: Mapping[str, int]) -> dict[str, dict[str, dict[int, str]]]:
    """By judged metric and system the questions on which judges differ by more than APART of the metric's scale, with
    every judge's value; nothing of a metric whose scale is open."""
    given: dict[str, dict[tuple[str, str], dict[str, float]]] = {}
    columns = ("system", "metric", "sample", "judge", "value")
    for system, metric, sample, judge, value in _rows(material.kept("judgements", *columns), *columns):
        known = given.setdefault(str(metric), {}).setdefault((str(system), str(sample)), {})
        if (score := number(value)) is not None:
            known[clean(judge)] = score
    made: dict[str, dict[str, dict[int, str]]] = {}
    for metric, by_place in given.items():
        declared, digits = material.declaration(metric), material.digits(metric)
        low, high = declared.bounds if declared is not None else (0.0, 1.0)
        most = math.inf if low is None or high is None else APART * (high - low) + EQUAL
        of_metric = made.setdefault(metric, {})
        for (system, sample), known in by_place.items():
            if (
                sample in places
                and system in material.systems
                and known
                and max(known.values()) - min(known.values()) > most
            ):
                each = (f"{judge} {material.text.number(value, digits)}" for judge, value in known.items())
                of_metric.setdefault(system, {})[places[sample]] = ", ".join(each)
    return made


def _rounded(column: pd.Series[Any], digits: int) -> list[float | None]:
    import numpy as np

    return [number(value) for value in np.round(column.to_numpy(dtype=float, na_value=np.nan), digits).tolist()]


def _rows(table: pd.DataFrame, *names: str) -> Iterator[tuple[Any, ...]]:
    """The rows of some columns, as plain values; none of an empty table."""
    return zip(*(table[name].to_numpy(dtype=object).tolist() for name in names if len(table)), strict=True)


def _parting(material: Material, name: str) -> Parting:
    _ = material.text
    column = [clean(row.get(name)) or None for row in material.question_rows.values()]
    known = sorted({value for value in column if value is not None})
    if name == "answerable":
        said = {"True": _("yes"), "False": _("no")}
        return Parting(name, _("Answerable"), column, {value: said.get(value, value) for value in known})
    words = {value: slice_name(material, (name, value)) for value in known}
    return Parting(name, dimension_name(material, name), column, words)


class _Questions:
    """What is known of every question, found by its place."""

    def __init__(self, material: Material) -> None:
        self._material, self._text = material, material.text
        self._samples = list(material.question_rows)
        self._needs = {sample: relevant(row) for sample, row in material.question_rows.items()}

    def read(self, place: int) -> Detail:
        """Reference and needed passages; of each system its answer, its judgements and what it retrieved."""
        _, systems, sample = self._text, self._material.systems, self._samples[place]
        retrieves = any((name, sample) in self._hits for name in systems)
        answered = any((name, sample) in self._answers for name in systems)
        needed = [self._needed(name, sample, retrieves) for name in self._needs[sample]]
        reference = clean(self._material.question_rows[sample].get("reference")).strip()
        sections = told((_("Reference"), reference), (_("It needed"), needed))
        if retrieves and not needed:
            sections.append((_("No passage of the knowledge base is labelled as relevant to this question."), ""))
        if needed and any(hit.gain is None for name in systems for hit in self._hits.get((name, sample), ())):
            sections.append((untold(_), ""))
        sides: dict[str, list[Section]] = {}
        for name in systems:
            said, cited = self._claims(name, sample)
            answer = self._answers.get((name, sample))
            sides[name] = [(_("Answer"), Claimed(answer, said) if answer else _("no answer"))] if answered else []
            if messages := self._messages.get((name, sample)):
                sides[name].append((_("Its messages"), messages))
            sides[name] += [self._judged(line) for line in self._judgements.get((name, sample), ())]
            if retrieves:
                hits = [self._retrieved(hit, cited.get(hit.chunk, ())) for hit in self._hits.get((name, sample), ())]
                sides[name].append((_("Retrieved"), hits) if hits else (_("nothing was retrieved"), ""))
        return Detail("", sections, sides)

    @cached_property
    def _hits(self) -> dict[tuple[str, str], list[_Hit]]:
        """What was retrieved, in rank order, by system and sample."""
        material, table = self._material, self._material.measurement.retrieved
        by_page = material.facts.get("unit") == "url"
        ordered = table.sort_values(["system", "sample", "rank"], kind="stable")
        near, gains = (_rounded(ordered[name], 3) for name in ("similarity", "gain"))
        hits: dict[tuple[str, str], list[_Hit]] = {}
        passage = "passage" if "passage" in ordered else "chunk"
        for place, row in enumerate(_rows(ordered, "system", "sample", "chunk", "url", "rank", passage, "text")):
            system, sample, chunk, url = map(str, row[:4])
            document = url if by_page and row[3] else str(row[5])
            text = material.chunk_texts.get(chunk, row[6])
            hit = _Hit(chunk, document, text if isinstance(text, str) else "", int(row[4]), near[place], gains[place])
            hits.setdefault((system, sample), []).append(hit)
        return hits

    @cached_property
    def _answers(self) -> dict[tuple[str, str], str]:
        answers: dict[tuple[str, str], str] = {}
        for system, sample, response in _rows(
            self._material.kept("answers", "response"), "system", "sample", "response"
        ):
            if isinstance(response, str):
                answers.setdefault((str(system), str(sample)), response)
        return answers

    @cached_property
    def _messages(self) -> dict[tuple[str, str], list[Entry]]:
        """What an agent, its user and its tools said and called, in order, by system and sample."""
        messages: dict[tuple[str, str], list[Entry]] = {}
        columns = ("system", "sample", "role", "text")
        for system, sample, role, text in _rows(self._material.kept("messages", *columns), *columns):
            messages.setdefault((str(system), str(sample)), []).append(Entry(clean(text), clean(role)))
        return messages

    @cached_property
    def _judgements(self) -> dict[tuple[str, str], list[JudgementRow]]:
        return rows(self._material)

    def _needed(self, name: str, sample: str, retrieves: bool) -> Entry:
        """A passage, and where each system ranked it."""
        _, said = self._text, [shortened(name, NAME)]
        for system in self._material.systems if retrieves else ():
            hits = self._hits.get((system, sample), ())
            rank = next((hit.rank for hit in hits if hit.document == name), None)
            said.append(f"{system}: {ranked(_, rank, (hit.gain for hit in hits))}")
        return Entry(self._material.chunk_texts.get(name, ""), " · ".join(said), shared=True)

    def _claims(self, system: str, sample: str) -> tuple[tuple[Claim, ...], dict[str, tuple[Claim, ...]]]:
        """What judges found claimed in an answer; and by passage the claims that it decides, with verdicts on the
        passage itself."""
        said: dict[Claim, None] = {}
        cited: dict[str, dict[Claim, None]] = {}
        for line in self._judgements.get((system, sample), ()):
            metric, by = clean(line["metric"]), " · ".join(filter(None, (clean(line["metric"]), clean(line["judge"]))))
            declared = self._material.declaration(metric)
            of_answer = declared is None or not declared.fields or "response" in declared.fields
            for ruling in rulings(self._material, stored(line["detail"])):
                for each in ruling.lines if ruling.of else ():
                    if not each.verdict:
                        continue
                    text = shortened(each.statement, STATEMENT)
                    told = word(self._material, each.verdict)
                    new_claim = claim(text, each.verdict, told, by)
                    if ruling.of == SIDES[0] and of_answer:
                        said[new_claim] = None
                    for chunk in each.chunks:
                        cited.setdefault(chunk, {})[new_claim] = None
        return tuple(said), {chunk: tuple(claims) for chunk, claims in cited.items()}

    def _retrieved(self, hit: _Hit, claims: tuple[Claim, ...]) -> Entry:
        _, said = self._text, [shortened(hit.chunk, NAME)]
        if hit.similarity is not None:
            said.append(_("similarity {value}", value=_.number(hit.similarity)))
        mark, kind = (_("relevant"), "rb-good") if hit.gain else (_("not relevant"), "")
        if hit.gain is None:
            mark = ""
        return Entry(hit.text, " · ".join(said), shared=True, mark=mark, kind=kind, gain=hit.gain, claims=claims)

    def _judged(self, line: Mapping[str, Any]) -> Section:
        material, _ = self._material, self._text
        detail, status = stored(line["detail"]), clean(line["status"])
        value = _("not measured: {status}", status=statuses(material.text).get(status, status))
        if status == Status.OK.value:
            value = _.number(number(line["value"]))
        said = shortened(reason(material, line["reason"], detail), 2 * REASON)
        verdicts = [
            (ruling.title, [self._verdict(each) for each in ruling.lines]) for ruling in rulings(material, detail)
        ]
        name = " · ".join(filter(None, (clean(line["metric"]), clean(line["judge"]))))
        return name, Judged(value, said, verdicts)

    def _verdict(self, line: Ruling) -> Entry:
        cited = ", ".join(shortened(name, 80) for name in line.chunks)
        why = shortened(line.reason, REASON)
        mark = word(self._material, line.verdict) if line.verdict else ""
        kind = KINDS.get(line.verdict, "rb-not-shown")
        meta = " · ".join(filter(None, (why, cited)))
        return Entry(shortened(line.statement, STATEMENT), meta, mark=mark, kind=kind)
