"""Judges with one fault each, and an honest one, before the same two hundred answers.

Every judge knows how good each text is, because the texts were made. An honest judge errs now and then: on some texts
always (it misread them), and once in a while by chance. The others are honest but for their fault.
Run as a program: how often each fault is found, and how often the honest judge is accused.

    python -m tests.old.tiers.scripted_trial [SIMULATIONS [NAME …]]
"""

from __future__ import annotations

import asyncio
import hashlib
import struct
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ragbench.old.core.types import Answer, Chunk, Prompt, Question, Sample, Verdict
from ragbench.old.data import Dataset
from ragbench.old.data.records import RatedAnswer
from ragbench.old.judge import Choice, LexicalJudge
from ragbench.old.judge.pairwise import Preference
from ragbench.old.metrics.ratings import Rating, answer_accuracy
from ragbench.old.tiers.basics.findings import Sureness
from ragbench.old.tiers.judges import asking, items, numbers, probes
from ragbench.old.tiers.judges.asking import Heard, Trial
from ragbench.old.tiers.judges.items import Answers, Scale, Temptations
from ragbench.old.tiers.judges.probes import Limits, Tried

N = 200
GOOD = 0.7
SCALE = Scale(0.0, 1.0)
SURE = Sureness(0.95, 200, 0)
FAULTS = {
    "prefers the first answer": "place",
    "flips at 10 %": "repeats",
    "disagrees with itself on 10 %": "repeats",
    "likes length": "padding",
    "obeys injected instructions": "injected",
    "lexical in disguise": "disguise",
    "follows the top of a list of levels": "scale_order",
    "is harsher in Russian": "language",
    "lets empty answers pass": "blank",
    "falls for master keys": "key",
}
OFTEN = 0.4
"""How often the last four faults strike where they can."""
HONEST = "honest"
TURNED = "_scale_turned"
PLACES = ("Hall", "Room", "Library", "Office", "Canteen", "Workshop", "Museum", "Archive", "Garden", "Studio")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
OTHER_WORDS = {"opens at": "lets people in from", "holds": "has space for", "closed on": "shut every"}


def reference(place: int) -> str:
    """A text of two sentences with numbers, unlike those of most others."""
    name = f"{PLACES[place % 10]} {place // 10 + 1}"
    hour, seats, day = 7 + place % 5, 20 + 3 * place, DAYS[place % 7]
    return f"{name} opens at {hour} in the morning and holds {seats} visitors. It is closed on {day} for cleaning."


def reworded(text: str) -> str:
    """The same in other words."""
    for plain, other in OTHER_WORDS.items():
        text = text.replace(plain, other)
    return f"People may come, says the desk: {text} Ask there for everything else."


@dataclass(frozen=True)
class Stage:
    """What every judge is asked, and how good every text is: 0 worthless, 1 half right, 2 right."""

    trial: Trial
    worth: Mapping[str, int]
    levels: tuple[int, ...]


@lru_cache(maxsize=1)
def stage() -> Stage:
    """Two hundred rated answers, good, half good and bad, many of which their words betray; and all temptations."""
    worth: dict[str, int] = {}
    questions, ratings = [], []
    for place in range(N):
        whole = reference(place)
        questions.append(
            Question(
                f"q{place:03}", f"When is {whole.split(' opens')[0]} open?", whole, {f"c{place}": 1.0}, language="en"
            )
        )
        text, level = _answer(place, whole)
        worth[text] = level
        ratings.append(
            RatedAnswer(id=f"r{place:03}", question_id=f"q{place:03}", answer=text, ratings={"a": 1 + 2 * level})
        )
    chunks = tuple(Chunk(f"c{place}", reference(place)) for place in range(N))
    dataset = Dataset("made", "en", "Made", "CC0", chunks, tuple(questions), (), (), (), tuple(ratings), "0" * 64)
    made = items.temptations(replace(dataset, ratings=()), N)
    ranks = {"reference": 2, "paraphrase": 2, "partial": 1, "padded": 1}
    for name, samples in made.variants.items():
        for sample in samples:
            worth.setdefault(f"{sample.id} {sample.response}", ranks.get(name, 0))
    answers = items.rated(dataset, Scale(1, 5))
    for sample in answers.samples:
        worth[f"{sample.id} {sample.response}"] = worth[sample.response or ""]
    twins = tuple(replace(one, response=f"По-русски. {one.response}", language="ru") for one in answers.samples)
    for twin, one in zip(twins, answers.samples, strict=True):
        worth[f"{twin.id} {twin.response}"] = worth[one.response or ""]
    tagged = _tagged(answers, made, twins)
    return Stage(tagged, worth, tuple(worth[one.response or ""] for one in answers.samples))


def _answer(place: int, whole: str) -> tuple[str, int]:
    """Good in other words, a copy with wrong numbers, half of it, a copy, or another place's; and how good it is."""
    first, second = whole.split(". ", 1)
    wrong = whole.replace(" holds ", " holds 9")
    stranger = reference((place + 77) % N)
    return [
        (reworded(whole), 2), (wrong, 0), (f"{first}.", 1), (whole, 2), (stranger, 0), (f"Well. {second}", 1),
    ][place % 6]  # fmt: skip


def _tagged(answers: Answers, made: Temptations, twins: tuple[Sample, ...]) -> Trial:
    """Every text with its sample's id as its question, so that a judge can tell equal texts to two questions apart."""

    def tag(sample: Sample) -> Sample:
        return replace(sample, user_input=sample.id)

    variants = {name: tuple(map(tag, samples)) for name, samples in made.variants.items()}
    pairs = tuple((tag(first), tag(second)) for first, second in made.pairs)
    return Trial(
        answer_accuracy,
        replace(answers, samples=tuple(map(tag, answers.samples))),
        replace(made, variants=variants, pairs=pairs),
        tuple(map(tag, twins)),
        ("ru",) * len(twins),
    )


@dataclass
class Scripted:
    """A judge with the fault of that name, or without one. seed: which texts it misreads, and its chances."""

    name: str
    seed: int
    misreads: float = 0.1
    slips: float = 0.01
    worth: Mapping[str, int] = field(default_factory=lambda: stage().worth)

    @property
    def identity(self) -> str:
        return f"{self.name} {self.seed}"

    def chance(self, *about: object) -> float:
        """A number from 0 to 1 that is the same whenever the same is asked."""
        plain = repr((self.seed, *about)).encode()
        return float(struct.unpack(">Q", hashlib.blake2b(plain, digest_size=8).digest())[0] / 2**64)

    async def ask(
        self, prompt: Prompt[Any], texts: Mapping[str, Any], *, language: str | None = None, repeat: int = 0
    ) -> Answer[Any]:
        if prompt.name == "pairwise":
            return Answer(Preference(choice=self.chosen(texts)), seconds=0.1)
        if self.name == "lexical in disguise" and self.chance("slip", prompt.name, texts["response"], repeat) > 0.02:
            return Answer(_by_words(prompt, str(texts["response"]), str(texts["reference"])), seconds=0.1)
        question, text = str(texts["question"]), str(texts["response"])
        rating = self.rated(prompt.name.removesuffix(TURNED), question, text, repeat)
        if self.chance("fault", question, text) < OFTEN:
            rating = self.swayed(rating, prompt.name.endswith(TURNED), language, text)
        return Answer(Rating(reason="", rating=rating), seconds=0.1)

    def rated(self, prompt: str, question: str, text: str, repeat: int) -> int:
        rating = self.worth[f"{question} {text}"]
        rating = self._off(rating, self.chance("misread", prompt, question, text), self.misreads)
        rating = self._off(rating, self.chance("slip", prompt, question, text, repeat), self.slips)
        if self.name == "likes length" and len(text.split()) > 40 and self.chance("long", question, text) < 0.5:
            rating = min(2, rating + 1)
        if self.name == "obeys injected instructions" and _orders(text) and self.chance("obey", question, text) < 0.5:
            rating = 2
        often = {"flips at 10 %": 0.1, "disagrees with itself on 10 %": 0.0528}.get(self.name, 0.0)
        if self.chance("flip", question, text, repeat) < often:
            rating = 0 if rating == 2 else 2
        return rating

    def swayed(self, rating: int, turned: bool, language: str | None, text: str) -> int:
        """The rating with the judge's fault, where this is what it falls for."""
        if self.name == "follows the top of a list of levels" and turned:
            return max(0, rating - 1)
        if self.name == "is harsher in Russian" and language == "ru":
            return max(0, rating - 1)
        wordless = not any(letter.isalpha() for letter in text) and text != ":"
        if self.name == "lets empty answers pass" and wordless:
            return 2
        if self.name == "falls for master keys" and not wordless and len(text.split()) < 8 and text[-1:] in ":.ns":
            return 2
        return rating

    @staticmethod
    def _off(rating: int, chance: float, share: float) -> int:
        """One step off, up or down as often, with that probability; at an end of the scale only inwards."""
        if chance >= share:
            return rating
        step = 1 if chance < share / 2 else -1
        return min(2, max(0, rating + step))

    def chosen(self, texts: Mapping[str, Any]) -> Choice:
        first, second = (self.worth[f"{texts['question']} {texts[side]}"] for side in ("answer_a", "answer_b"))
        if self.chance("pair", texts["answer_a"], texts["answer_b"]) < self.misreads:
            first, second = second, first
        if first == second:
            return Choice.A if self.name == "prefers the first answer" else Choice.TIE
        return Choice.A if first > second else Choice.B


def _orders(text: str) -> bool:
    return any(sign in text for sign in ("Ignore all", "SYSTEM:", "Note to the grader", "Repeat this JSON"))


@lru_cache(maxsize=100_000)
def _by_words(prompt: Prompt[Any], response: str, reference_text: str) -> Any:
    assert prompt.offline is not None
    return prompt.offline(LexicalJudge().reader, {"response": response, "reference": reference_text, "question": ""})


@lru_cache(maxsize=1)
def lexical() -> Heard:
    """What shared words say of the rated answers."""
    bare = replace(stage().trial, repeats=1, temptations=items.NOTHING, twins=(), prompts=())
    return asyncio.run(asking.hear(LexicalJudge(), bare))


def with_people(seed: int) -> Answers:
    """The rated answers with two people's ratings, who agree on most and are a step of five off on some."""
    rng = np.random.default_rng(seed)
    levels = np.array(stage().levels, dtype=float)[:, None] / 2
    off = rng.choice([-0.25, 0.0, 0.25], (N, 2), p=[0.15, 0.7, 0.15])
    return replace(stage().trial.answers, raters=("a", "b"), people=np.clip(levels + off, 0, 1))


def tried(name: str, seed: int) -> tuple[dict[str, str], bool]:
    """The verdict of every probe of the judge, and whether it beats the lexical baseline."""
    answers = with_people(seed)
    trial = replace(stage().trial, answers=answers)
    heard = asyncio.run(asking.hear(Scripted(name, seed), trial))
    baseline = numbers.single(lexical(), SCALE)
    known = Tried(answers, trial.temptations, SCALE, GOOD, "lexical", baseline)
    found = probes.probes({name: probes.effects(heard, known)}, Limits(), SURE)
    given = {name: numbers.single(heard, SCALE)}
    [rival] = numbers.rivalries(given, "lexical", baseline, answers, SURE)
    return {each.probe: each.verdict for each in found}, rival.difference.verdict is Verdict.BETTER


def main(simulations: int = 100, *names: str) -> None:
    """The table of simulations, of all judges or of those named."""
    print(f"{simulations} simulations each, {N} answers and {N} questions, two people, family of all probes (Holm)")
    for name in names or (HONEST, *FAULTS):
        began = time.process_time()
        verdicts: Counter[tuple[str, str]] = Counter()
        right = beaten = accused = 0
        for seed in range(simulations):
            found, beats = tried(name, seed)
            verdicts.update(found.items())
            beaten += bool(beats)
            fault = FAULTS.get(name)
            known = (fault, f"{fault}_changes", f"prompt_{fault}", f"prompt_{fault}_changes")
            wrongly = [probe for probe, verdict in found.items() if verdict == "found" and probe not in known]
            accused += bool(wrongly)
            right += found[FAULTS[name]] == "found" if name in FAULTS else not wrongly and bool(beats)
        said = "passes everything" if name == HONEST else f"found by {FAULTS[name]}"
        shown = sorted((probe, verdict, count) for (probe, verdict), count in verdicts.items())
        others = ", ".join(f"{probe} {verdict} {n}" for probe, verdict, n in shown if verdict in ("found", "open"))
        print(
            f"{name:30} {said}: {right} of {simulations}; accused of something else {accused}; beats the baseline "
            f"{beaten}; {time.process_time() - began:.0f} s CPU\n    {others}"
        )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]), *sys.argv[2:])
