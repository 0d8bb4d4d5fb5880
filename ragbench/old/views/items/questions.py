"""Every question: what was retrieved and answered, or what a cache would have served; and every dialogue."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from ragbench.old.core.types import Status
from ragbench.old.metrics.cache import Serving
from ragbench.old.metrics.rulings import SIDES
from ragbench.old.tiers.answers.caching import NearestRow
from ragbench.old.tiers.answers.tier_ux import SimilarityRow, TurnRow
from ragbench.old.tiers.basics.verdict_tables import statuses
from ragbench.old.tiers.scoring.judged_metrics import JudgementRow
from ragbench.old.views.basics.marks import CACHE, DIALOGUE, SERVINGS, rows_of
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.side_tables import (
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
from ragbench.old.views.basics.text import clean, shortened
from ragbench.old.views.items.contents import (
    APART,
    Claim,
    Claimed,
    Detail,
    Entry,
    Items,
    Judged,
    Measured,
    Parting,
    Row,
    Section,
    claim,
    measuring,
    number,
    told,
)
from ragbench.old.views.sentences.data_sets import dimension_name, slice_name

if TYPE_CHECKING:
    import pandas as pd


SLICES = ("kind", "language", "source", "answerable")
MOST_VALUES = 60  # more are no groups to choose from but names
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
    scores, wide = material.measurement.scores, material.wide_scores
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


SESSION = "session"
Pair = tuple[int, int]


@dataclass
class _Asked:
    """One question put to the cache, as its first row tells it; rows: what lies nearest, by embedder."""

    row: Row
    rows: dict[str, Row] = field(default_factory=dict)
    talk: _Talk | None = None
    turn: int = 0

    def similarity(self, system: str) -> float | None:
        """The cosine to the nearest cached question."""
        return number(self.rows[system]["similarity"]) if system in self.rows else None

    def before(self, system: str) -> float | None:
        """Of a turn the cosine of its question to the one before."""
        near = {} if self.talk is None else self.talk.near.get(system, {})
        return near.get(("question", (self.turn - 1, self.turn)))


@dataclass
class _Talk:
    """One dialogue, or one user's day: its turns, and by embedder the cosines of neighbours, by what and pair."""

    sample: str
    turns: list[Row] = field(default_factory=list)
    near: dict[str, dict[tuple[str, Pair], float]] = field(default_factory=dict)

    @property
    def first(self) -> str:
        """Its first question."""
        return clean(self.turns[0]["question"])

    def before(self, system: str) -> float | None:
        """The lowest cosine of two neighbouring questions."""
        near = self.near.get(system, {})
        return min((value for (what, _), value in near.items() if what == "question"), default=None)


class _Talks:
    """Everything of the page, found by its id: questions first, then sessions."""

    def __init__(self, material: Material) -> None:
        self.material, self.text = material, material.text
        self.threshold = float(material.facts.get("threshold", 0))
        self.several = material.facts.get("sessions") == "dialogues"  # sessions are then what the cache was asked
        asked: dict[str, _Asked] = {}
        talks: dict[str, _Talk] = {}
        for turn in rows_of(TurnRow, material.kept("turns")):
            talks.setdefault(f"{SESSION}.{turn['sample']}", _Talk(turn["sample"])).turns.append(turn)
        for pair in rows_of(SimilarityRow, material.kept("similarities")):
            talk = talks.get(f"{SESSION}.{pair['sample']}")
            if talk is not None and pair["second"] - pair["first"] == 1:
                near = talk.near.setdefault(pair["system"], {})
                near[pair["what"], (pair["first"], pair["second"])] = pair["similarity"]
        for row in rows_of(NearestRow, material.kept("nearest")):
            question = asked.setdefault(f"{row['asked']}.{row['sample']}", _Asked(row))
            question.rows[row["system"]] = row
            dialogue, _, number = row["sample"].rpartition(".")
            if row["asked"] == "dialogues" and f"{SESSION}.{dialogue}" in talks:
                question.talk, question.turn = talks[f"{SESSION}.{dialogue}"], int(number)
        self.asked, self.talks = list(asked.values()), list(talks.values())
        self.listed: list[_Asked | _Talk] = [*self.asked, *self.talks]
        self.ids = [*asked, *talks]
        self.places = {name: place for place, name in enumerate(self.ids)}
        scores = material.measurement.scores
        lost = scores[scores["status"] != Status.OK.value]
        self.lost: dict[Any, str] = dict(lost.set_index(["system", "metric", "sample"])["status"].items())

    def hit(self, row: Row) -> bool:
        """Whether the cache serves."""
        return bool(row["similarity"] > self.threshold)

    def word(self, row: Row) -> str:
        """What the cache's answer would be."""
        _ = self.text
        words = {
            Serving.WRONG: _("served wrongly"),
            Serving.DOUBTFUL: _("served, doubtful"),
            Serving.UNKNOWN: _("served, not known whether rightly"),
            Serving.RIGHT: _("served rightly"),
        }
        return words[Serving(row["serving"])]

    def measures(self) -> list[Measured]:
        """What is known of questions where the cache was asked any, and of sessions where there are any."""
        _, measured = self.text, measuring(self.material.systems, self.listed)

        def served(entry: _Asked | _Talk, system: str) -> float | None:
            """The place of what was served among the words."""
            row = entry.rows.get(system) if isinstance(entry, _Asked) else None
            if row is None:
                return None
            return SERVINGS.index(Serving(row["serving"])) if self.hit(row) else len(SERVINGS)

        def similarity(entry: _Asked | _Talk, system: str) -> float | None:
            return entry.similarity(system) if isinstance(entry, _Asked) else None

        words = [*(self.word({"serving": each}) for each in SERVINGS), _("not served")]
        nearest = _("cosine to the nearest cached question")
        cache = [
            measured("serving", _("out of the cache"), served, digits=0, words=words, paired=False, of=CACHE),
            measured("similarity", nearest, similarity, paired=False),
        ]
        before = measured("before", _("cosine to the question before"), lambda entry, system: entry.before(system))
        talks = [self._dialogue(metric) for metric in DIALOGUE]
        if not self.asked:
            return [*talks, before]
        return [*cache, before, *talks] if self.talks else cache

    def _dialogue(self, metric: str) -> Measured:
        """A measure of whole sessions."""
        missing: dict[str, dict[str, list[int]]] = {}
        for (system, label, sample), status in self.lost.items():
            place = self.places.get(f"{SESSION}.{sample}")
            if label == metric and place is not None and system in self.material.systems:
                missing.setdefault(system, {}).setdefault(status, []).append(place)

        def value(entry: _Asked | _Talk, system: str) -> float | None:
            return number(self.material.score(entry.sample, metric, system)) if isinstance(entry, _Talk) else None

        measured = measuring(self.material.systems, self.listed)
        return measured(metric, metric, value, digits=self.material.digits(metric), missing=missing)

    def parting(self) -> Parting:
        """What an item is."""
        _ = self.text
        words = {
            "dialogues": _("turn of a dialogue"),
            "questions": _("question of the data set"),
            "history": _("past question"),
            SESSION: _("dialogue") if self.several else _("one user's questions of a day"),
        }
        kinds = [str(entry.row["asked"]) if isinstance(entry, _Asked) else SESSION for entry in self.listed]
        return Parting("what", _("what it is"), kinds, words)

    def read(self, place: int) -> Detail:
        """All that is known of a question or of a session."""
        entry = self.listed[place]
        return self._asked(entry) if isinstance(entry, _Asked) else self._talk(entry)

    def _asked(self, question: _Asked) -> Detail:
        _, talk = self.text, question.talk
        dialogue = []
        if talk is not None:
            said = _("turn {n} of {count}", n=question.turn, count=len(talk.turns))
            dialogue = [Entry(talk.first, said, self.places[f"{SESSION}.{talk.sample}"])]
        sections = told(
            (_("The known answer"), clean(question.row["answer"])),
            (_("The answer that its user disliked"), clean(question.row["disliked"])),
            (_("Where the answer stands"), [Entry(clean(page)) for page in question.row["pages"]]),
            (_("Its dialogue"), dialogue),
        )
        return Detail("", sections, {system: self._served(row) for system, row in question.rows.items()})

    def _served(self, row: Row) -> list[Section]:
        _, cosine, hit = self.text, number(row["similarity"]), self.hit(row)
        if cosine is None:
            return [(_("out of the cache"), _("not served"))]
        said = f"{self.word(row) if hit else _('not served')} · {_.number(cosine)} "
        said += f"{'>' if hit else '≤'} {_.number(self.threshold)}"
        if not hit:
            said += f" · {_('it would have been: {word}', word=self.word(row))}"
        nearest = [Entry(clean(row["cached_question"])), Entry(clean(row["cached_answer"]), clean(row["cached_page"]))]
        return [(_("out of the cache"), said), (_("The nearest cached question, and its answer"), nearest)]

    def _talk(self, talk: _Talk) -> Detail:
        _, turns = self.text, []
        for row in talk.turns:
            place = self.places.get(f"dialogues.{talk.sample}.{int(row['turn'])}") if self.several else None
            said = _("turn {n} of {count}", n=int(row["turn"]), count=len(talk.turns))
            both = filter(None, (clean(row["question"]).strip(), clean(row["answer"]).strip()))
            turns.append(Entry("\n".join(both), said, place))
        sides = {system: self._links(talk, system) for system in self.material.systems}
        return Detail("", [(_("Its turns"), turns)], sides)

    def _links(self, talk: _Talk, system: str) -> list[Section]:
        """Its measures, then neighbours from the farthest apart on."""
        _, near = self.text, talk.near.get(system, {})
        pairs = sorted({pair for _what, pair in near}, key=lambda pair: (near.get(("question", pair), 2.0), pair))
        lines = [
            _(
                "turns {first} and {second}: questions {questions}, answers {answers}",
                first=pair[0],
                second=pair[1],
                questions=_.number(near.get(("question", pair))),
                answers=_.number(near.get(("answer", pair))),
            )
            for pair in pairs
        ]
        values = [(metric, self._value(talk, metric, system)) for metric in DIALOGUE]
        return told(*values, (_("Neighbours, the farthest apart first"), [Entry(line) for line in lines]))

    def _value(self, talk: _Talk, metric: str, system: str) -> str:
        _, value = self.text, number(self.material.score(talk.sample, metric, system))
        if value is not None:
            return _.number(value, self.material.digits(metric))
        status = self.lost.get((system, metric, talk.sample), "")
        return _("not measured: {status}", status=statuses(self.material.text).get(status, status))


def dialogue_items(material: Material) -> Items:
    """Questions with what the cache would serve, wrong answers first; then dialogues."""
    _, talks = material.text, _Talks(material)
    return Items(
        title=_("Every question and every dialogue"),
        kind="dialogues",
        ids=talks.ids,
        texts=[*(clean(question.row["question"]) for question in talks.asked), *(talk.first for talk in talks.talks)],
        measures=talks.measures(),
        partings=[talks.parting()],
        read=talks.read,
    )
