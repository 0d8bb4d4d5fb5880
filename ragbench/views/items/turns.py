"""Every question that a cache was asked, with what it would have served; every dialogue with its weakest place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ragbench.core.types import Status
from ragbench.metrics.cache import Serving
from ragbench.tiers.answers.caching import NearestRow
from ragbench.tiers.answers.tier_ux import SimilarityRow, TurnRow
from ragbench.tiers.basics.verdict_tables import statuses
from ragbench.views.basics.marks import CACHE, DIALOGUE, SERVINGS, rows_of
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean
from ragbench.views.items.contents import Detail, Entry, Items, Measured, Parting, Row, Section, measuring, number, told

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


def items(material: Material) -> Items:
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
