"""Every question that a cache was asked, with what it would have served; every dialogue with its weakest place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from ragbench.metrics.cache import Serving
from ragbench.show.basics.entries import rows_of
from ragbench.show.basics.material import Material
from ragbench.show.basics.statuses import statuses
from ragbench.show.basics.text import clean
from ragbench.show.items.contents import Detail, Entry, Items, Measured, Parting, Section, number
from ragbench.types import Status

SESSION = "session"
CACHE = ("cache_hit_rate", "wrong_hit_rate")
DIALOGUE = ("context_preservation", "multi_turn_consistency", "answer_consistency")
MEASURES = (*CACHE, *DIALOGUE)
ORDER = (Serving.WRONG, Serving.DOUBTFUL, Serving.UNKNOWN, Serving.RIGHT)
"""What a served answer can be, the worst first; what is not served comes after all of them."""

Row = Mapping[Any, Any]
Pair = tuple[int, int]


@dataclass
class _Asked:
    """One question put to the cache; rows: what lies nearest, by embedder."""

    kind: str
    sample: str
    text: str
    answer: str
    disliked: str
    pages: tuple[str, ...]
    rows: dict[str, Row] = field(default_factory=dict)


@dataclass
class _Talk:
    """One dialogue, or one user's day: its turns, and by embedder the cosines of neighbours, by what and pair."""

    sample: str
    turns: list[Row] = field(default_factory=list)
    near: dict[str, dict[tuple[str, Pair], float]] = field(default_factory=dict)

    def weakest(self, system: str) -> float | None:
        """The lowest cosine of two neighbouring questions."""
        return min(
            (value for (what, _), value in self.near.get(system, {}).items() if what == "question"), default=None
        )


class _Talks:
    """Everything of the page, found by its place in the list: questions first, then sessions."""

    def __init__(self, material: Material) -> None:
        self.material = material
        self.threshold = float(material.facts.get("threshold", 0))
        asked: dict[str, _Asked] = {}
        for row in rows_of(material.kept("nearest")):
            key = f"{row['asked']}.{row['sample']}"
            if key not in asked:
                asked[key] = _Asked(str(row["asked"]), str(row["sample"]), clean(row["question"]), clean(row["answer"]),
                                    clean(row["disliked"]), tuple(map(clean, row["pages"])))  # fmt: skip
            asked[key].rows[str(row["system"])] = row
        talks: dict[str, _Talk] = {}
        for row in rows_of(material.kept("turns")):
            key = f"{SESSION}.{row['sample']}"
            talks.setdefault(key, _Talk(str(row["sample"]))).turns.append(row)
        for row in rows_of(_neighbours(material)):
            talk = talks.get(f"{SESSION}.{row['sample']}")
            if talk is not None:
                pair = (int(row["first"]), int(row["second"]))
                talk.near.setdefault(str(row["system"]), {})[str(row["what"]), pair] = float(row["similarity"])
        self.asked, self.talks = list(asked.values()), list(talks.values())
        self.ids = [*asked, *talks]
        scores = material.measurement.scores
        self.lost = {
            (str(row["system"]), str(row["metric"]), str(row["sample"])): str(row["status"])
            for row in rows_of(scores[scores["status"] != Status.OK.value])
        }
        self.places = {name: place for place, name in enumerate(self.ids)}

    @property
    def several(self) -> bool:
        """Whether sessions are dialogues, whose turns the cache was asked."""
        return self.material.facts.get("sessions") == "dialogues"

    def talk_of(self, one: _Asked) -> tuple[_Talk, int] | None:
        """The dialogue that a question is a turn of, and which."""
        if one.kind != "dialogues":
            return None
        dialogue, _, turn = one.sample.rpartition(".")
        place = self.places.get(f"{SESSION}.{dialogue}")
        return None if place is None else (self.talks[place - len(self.asked)], int(turn))

    def served(self, one: _Asked, system: str) -> float | None:
        """The place of what was served among the words."""
        row = one.rows.get(system)
        if row is None:
            return None
        return float(ORDER.index(Serving(row["serving"]))) if self.hit(row) else float(len(ORDER))

    def hit(self, row: Row) -> bool:
        """Whether the cache serves."""
        return bool(row["similarity"] > self.threshold)


def _neighbours(material: Material) -> Any:
    table = material.kept("similarities")
    return table[table["second"] - table["first"] == 1] if len(table) else table


def items(material: Material) -> Items:
    """Questions with what the cache would serve, wrong answers first; then dialogues."""
    _ = material.text
    found = _Talks(material)
    return Items(
        title=_("Every question and every dialogue"),
        words={
            "search": _("Search questions and answers"),
            "question": _("question, or first question of a dialogue"),
            "system": _("embedder"),
            "count": _("{shown} of {all} questions and dialogues"),
            "nothing": _("Nothing fits."),
            "grid": _("Questions and dialogues; arrow keys move, Enter opens"),
        },
        ids=found.ids,
        texts=[*(one.text for one in found.asked), *(clean(one.turns[0]["question"]) for one in found.talks)],
        measures=_measures(found),
        partings=[_parting(found)],
        read=lambda place: _asked(found, place) if place < len(found.asked) else _talk(found, place),
        sort="worst",
    )


def _parting(found: _Talks) -> Parting:
    _ = found.material.text
    words = {
        "dialogues": _("turn of a dialogue"),
        "questions": _("question of the data set"),
        "history": _("past question"),
        SESSION: _("dialogue") if found.several else _("one user's questions of a day"),
    }
    return Parting("what", _("what it is"), [*(one.kind for one in found.asked), *[SESSION] * len(found.talks)], words)


def _measures(found: _Talks) -> list[Measured]:
    material, _ = found.material, found.material.text
    systems, none = material.systems, [None] * len(found.talks)
    words = [*(_serving(material, each) for each in ORDER), _("not served")]
    cache = [
        Measured("serving", _("out of the cache"),
                 {s: [*(found.served(one, s) for one in found.asked), *none] for s in systems}, digits=0, words=words,
                 paired=False, of=CACHE),
        Measured("similarity", _("cosine to the nearest cached question"),
                 {s: [*(_similarity(one, s) for one in found.asked), *none] for s in systems}, paired=False),
    ]  # fmt: skip
    talks = [
        Measured("before", _("cosine to the question before"), {s: _before(found, s) for s in systems}),
        *(_dialogue(found, metric) for metric in DIALOGUE),
    ]
    if not found.asked:
        return talks[1:] + talks[:1]
    return cache + talks if found.talks else cache


def _similarity(one: _Asked, system: str) -> float | None:
    return number(one.rows[system]["similarity"]) if system in one.rows else None


def _before(found: _Talks, system: str) -> list[float | None]:
    """Of a turn the cosine of its question to the one before; of a dialogue the lowest of these."""
    values: list[float | None] = []
    for one in found.asked:
        place = found.talk_of(one)
        near = {} if place is None else place[0].near.get(system, {})
        values.append(None if place is None else near.get(("question", (place[1] - 1, place[1]))))
    return [*values, *(one.weakest(system) for one in found.talks)]


def _dialogue(found: _Talks, metric: str) -> Measured:
    material, first = found.material, len(found.asked)
    missing: dict[str, dict[str, list[int]]] = {}
    for (system, label, sample), status in found.lost.items():
        place = found.places.get(f"{SESSION}.{sample}")
        if label == metric and place is not None and system in material.systems:
            missing.setdefault(system, {}).setdefault(status, []).append(place)
    values = {
        system: [*[None] * first, *(number(material.score(one.sample, metric, system)) for one in found.talks)]
        for system in material.systems
    }
    return Measured(metric, metric, values, digits=material.digits(metric), missing=missing)


def _serving(material: Material, serving: Serving) -> str:
    _ = material.text
    words = {
        Serving.WRONG: _("served wrongly"),
        Serving.DOUBTFUL: _("served, doubtful"),
        Serving.UNKNOWN: _("served, not known whether rightly"),
        Serving.RIGHT: _("served rightly"),
    }
    return words[serving]


def _asked(found: _Talks, place: int) -> Detail:
    one, material = found.asked[place], found.material
    _ = material.text
    sections: list[Section] = []
    if one.answer:
        sections.append((_("The known answer"), one.answer))
    if one.disliked:
        sections.append((_("The answer that its user disliked"), one.disliked))
    if one.pages:
        sections.append((_("Where the answer stands"), [Entry(page) for page in one.pages]))
    talk = found.talk_of(one)
    if talk is not None:
        row = found.places[f"{SESSION}.{talk[0].sample}"]
        first = clean(talk[0].turns[0]["question"])
        said = _("turn {n} of {count}", n=talk[1], count=len(talk[0].turns))
        sections.append((_("Its dialogue"), [Entry(first, said, row)]))
    return Detail("", sections, {system: _served(found, one, row) for system, row in one.rows.items()})


def _served(found: _Talks, one: _Asked, row: Row) -> list[Section]:
    material = found.material
    _ = material.text
    cosine = number(row["similarity"])
    if cosine is None:
        return [(_("out of the cache"), _("not served"))]
    word = _serving(material, Serving(row["serving"])) if found.hit(row) else _("not served")
    sign = ">" if found.hit(row) else "≤"
    said = f"{word} · {_.number(cosine)} {sign} {_.number(found.threshold)}"
    nearest = [Entry(clean(row["cached_question"])), Entry(clean(row["cached_answer"]), clean(row["cached_page"]))]
    if not found.hit(row):
        said += f" · {_('it would have been: {word}', word=_serving(material, Serving(row['serving'])))}"
    return [(_("out of the cache"), said), (_("The nearest cached question, and its answer"), nearest)]


def _talk(found: _Talks, place: int) -> Detail:
    one, material = found.talks[place - len(found.asked)], found.material
    _ = material.text
    turns = []
    for row in one.turns:
        turn = found.places.get(f"dialogues.{one.sample}.{int(row['turn'])}") if found.several else None
        said = _("turn {n} of {count}", n=int(row["turn"]), count=len(one.turns))
        answer = clean(row["answer"]).strip()
        turns.append(Entry("\n".join(filter(None, (clean(row["question"]).strip(), answer))), said, turn))
    sides = {system: _links(found, one, system) for system in material.systems}
    return Detail("", [(_("Its turns"), turns)], sides)


def _links(found: _Talks, one: _Talk, system: str) -> list[Section]:
    """Its measures, then neighbours from the farthest apart on."""
    _ = found.material.text
    values: list[Section] = [(metric, _value(found, one, metric, system)) for metric in DIALOGUE]
    near = one.near.get(system, {})
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
    return [*values, (_("Neighbours, the farthest apart first"), [Entry(line) for line in lines])] if lines else values


def _value(found: _Talks, one: _Talk, metric: str, system: str) -> str:
    material = found.material
    _ = material.text
    value = number(material.score(one.sample, metric, system))
    if value is not None:
        return _.number(value, material.digits(metric))
    status = found.lost.get((system, metric, one.sample), "")
    return _("not measured: {status}", status=statuses(material).get(status, status))


def served_link(serving: Serving) -> str:
    """What the column of servings is narrowed to for one of them."""
    return f"={ORDER.index(serving)}"
