"""Questions that a language model writes from passages, and the filters that they have to pass."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ragbench.old.core import trust
from ragbench.old.core.progress import Progress, is_watched
from ragbench.old.core.segmentation import plain
from ragbench.old.core.settings import Settings
from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.core.types import Array, Judge, Prompt
from ragbench.old.core.waves import gather
from ragbench.old.data.doubts import Plain
from ragbench.old.data.files import DatasetError
from ragbench.old.data.records import ChunkRecord, QuestionRecord
from ragbench.old.extras.testsets import prompts
from ragbench.old.extras.testsets.candidates import Candidate, Filter, Shown
from ragbench.old.extras.testsets.kinds import KINDS, Spread, Task
from ragbench.old.extras.testsets.prompts import Quote, Ruling
from ragbench.old.llm import Journal
from ragbench.old.tiers.data.copies import groups
from ragbench.old.tiers.data.dataset import by_words
from ragbench.old.tiers.data.language_detection import detected_languages

if TYPE_CHECKING:
    from ragbench.old.judge import OpenJudges


ATTEMPTS = 3
"""Drafts of a question at most, each from other passages."""
SHORTEST_QUOTE = 2
"""Words: a single one stands in many passages by chance."""
FEWEST_COPIED = 4
"""Words in a row: fewer are a name."""
SEARCHED = 10
"""Passages of the whole base, by words, in which the answer to an unanswerable question is looked for."""
LOOKED_AT = 50
"""Passages whose language is told before anything is asked."""


@dataclass(frozen=True)
class Filters:
    """overlap: the share of a question's words that may stand in a row in a passage. language: of the base."""

    overlap: float = 0.5
    language: str = "en"

    def __post_init__(self) -> None:
        if not 0 < self.overlap <= 1:
            raise DatasetError(f"--overlap {self.overlap:g}: above 0, at most 1 is expected")


@dataclass
class Drafting:
    """The drafts of a base by one judge.

    existing: questions that are there already, which no draft repeats. dry_run: whether it is only planned; then
    every draft is checked, and none a second time. advance: is told of each draft that is done with.
    """

    judge: Judge
    passages: Sequence[ChunkRecord]
    spread: Spread
    filters: Filters
    existing: Sequence[QuestionRecord] = ()
    dry_run: bool = False
    advance: Callable[[], object] = lambda: None
    made: list[Candidate] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._texts = {passage.id: passage.text for passage in self.passages}
        self._plain = Plain(self.passages)
        self._ordered = sorted(self._texts)

    @cached_property
    def _scores(self) -> Callable[[str], Array]:
        return by_words([self._plain[name] for name in self._ordered])

    @property
    def kept(self) -> list[Candidate]:
        """Those that passed."""
        return [candidate for candidate in self.made if candidate.dropped is None]

    async def run(self, tasks: Sequence[Task], whole: int) -> list[Candidate]:
        """A draft for each task of `whole`; what a filter drops is drafted anew from other passages, ATTEMPTS times in
        all.

        Raises ModelError where the judge's model cannot be asked at all; what it had answered is in the journal.
        """
        left = list(tasks)
        for attempt in range(1 if self.dry_run else ATTEMPTS):
            wave = [
                (task, chosen)
                for task in left
                if (chosen := self.spread.passages_for(task.kind, attempt * whole + task.number - 1)) is not None
            ]
            if not wave:
                break
            written = await gather([self._written(task, chosen, attempt) for task, chosen in wave])
            unique = self._without_copies(written)
            checked = await gather([self._checked(candidate) for candidate in unique])
            self.made += checked
            passed = {candidate.id for candidate in checked if candidate.dropped is None}
            for _ in passed:
                self.advance()
            left = [task for task in left if task.id not in passed]
        return self.made

    async def _written(self, task: Task, chosen: Sequence[ChunkRecord], attempt: int) -> Candidate:
        """The model's draft, held against all that can be told without asking again."""
        own = Candidate(
            id=task.id, attempt=attempt, kind=task.kind, style=task.style, judge=self.judge.name,
            passages=tuple(passage.id for passage in chosen),
        )  # fmt: skip
        texts = [passage.text for passage in chosen]
        reply = await self._ask(prompts.writing(task.kind, task.style), passages=texts)
        if reply.value is None:
            return _dropped(own, "reply", reply.reason)
        drafted = reply.value
        own = own.model_copy(update={"question": drafted.question, "answer": getattr(drafted, "answer", "")})
        if task.kind == "follow_up":
            own = own.model_copy(update={"first": (drafted.first_question, drafted.first_answer)})
        if self.dry_run:
            return own
        [code] = detected_languages([drafted.question], self.filters.language)
        if code not in ("", self.filters.language):
            return _dropped(own, "language", code)
        if KINDS[task.kind].answerable:
            own = self._quoted(own, drafted.quotes, chosen)
        return own if own.dropped is not None else self._copied(own)

    def _quoted(self, own: Candidate, quotes: Sequence[Quote], chosen: Sequence[ChunkRecord]) -> Candidate:
        """With the places where its quotes stand; dropped where one stands nowhere."""
        places = []
        for quote in quotes:
            passage = chosen[quote.passage - 1] if quote.passage <= len(chosen) else None
            place = None if passage is None else place_of(quote.text, passage.text)
            if passage is None or place is None:
                return _dropped(own, "quotes", quote.text)
            places.append(Shown(passage.id, *place))
        own = own.model_copy(update={"quotes": tuple(places)})
        if own.kind in ("several_passages", "comparison") and len(own.quoted) < 2:
            return _dropped(own, "one_passage", own.quoted[0])
        return own

    def _copied(self, own: Candidate) -> Candidate:
        words = plain(own.question).split()
        run = max(longest_run(words, self._plain[name]) for name in own.passages)
        if run >= FEWEST_COPIED and run > self.filters.overlap * len(words):
            return _dropped(own, "copied", f"{run} / {len(words)}")
        return own

    def _without_copies(self, written: Sequence[Candidate]) -> list[Candidate]:
        """Those that say the same as a question before them are dropped."""
        if self.dry_run:
            return list(written)
        before = [(known.id, known.text) for known in self.existing]
        before += [(kept.id, kept.question) for kept in self.kept]
        asked = [candidate for candidate in written if candidate.dropped is None]
        first = groups([text for _, text in before] + [candidate.question for candidate in asked], by_digits=True)
        names = [name for name, _ in before] + [candidate.id for candidate in asked]
        own = {candidate.id: names[first[place]] for place, candidate in enumerate(asked, start=len(before))}
        return [
            _dropped(candidate, "duplicate", own[candidate.id])
            if own.get(candidate.id, candidate.id) != candidate.id
            else candidate
            for candidate in written
        ]

    async def _checked(self, own: Candidate) -> Candidate:
        """What the judge says of a draft: the first check that it does not pass drops it."""
        if own.dropped is not None:
            return own
        texts = [self._texts[name] for name in own.passages]
        asked = own.question if own.first is None else "\n".join((*own.first, own.question))
        answerable = KINDS[own.kind].answerable
        held: list[tuple[Filter, Prompt[Any], dict[str, Any], Ruling]] = [
            ("not_answered" if answerable else "answered", prompts.ANSWERED, {"question": asked, "passages": texts},
             Ruling.YES if answerable else Ruling.NO),
        ]  # fmt: skip
        if not answerable:
            order = np.argsort(-self._scores(own.question), kind="stable")
            nearest = [self._texts[self._ordered[place]] for place in order[:SEARCHED]]
            held.append(("answered", prompts.ANSWERED, {"question": asked, "passages": nearest}, Ruling.NO))
        held.append(("unclear", prompts.ALONE, {"question": asked}, Ruling.YES))
        for name, prompt, slots, wanted in held:
            reply = await self._ask(prompt, **slots)
            if self.dry_run:
                continue
            if reply.value is None:
                return _dropped(own, "reply", reply.reason)
            if reply.value.verdict is not wanted:
                return _dropped(own, name, reply.value.reason)
        return await self._unknown(own, asked) if answerable else own

    async def _unknown(self, own: Candidate, asked: str) -> Candidate:
        """Dropped where the model answers it without any passage: such a question measures no retrieval."""
        recalled = await self._ask(prompts.RECALLED, question=asked)
        if recalled.value is None:
            return own if self.dry_run else _dropped(own, "reply", recalled.reason)
        if recalled.value.verdict is Ruling.NO or not recalled.value.answer.strip():
            return own
        same = await self._ask(prompts.SAME, question=asked, reference=own.answer, answer=recalled.value.answer)
        if self.dry_run:
            return own
        if same.value is None:
            return _dropped(own, "reply", same.reason)
        return _dropped(own, "known", recalled.value.answer) if same.value.verdict is Ruling.YES else own

    async def _ask(self, prompt: Prompt[Any], **texts: Any) -> Any:
        return await self.judge.ask(prompt, texts, language=self.filters.language)


def _dropped(own: Candidate, name: Filter, why: str) -> Candidate:
    return own.model_copy(update={"dropped": name, "why": excerpt(why, 500)})


def place_of(quote: str, text: str) -> tuple[int, int] | None:
    """Where a quote stands in a text, word for word; only blanks and line ends may differ. None: nowhere, or it is too
    short to be one."""
    words = quote.split()
    if len(words) < SHORTEST_QUOTE:
        return None
    match = re.search(r"\s+".join(map(re.escape, words)), text)
    return None if match is None else match.span()


def longest_run(words: Sequence[str], passage: str) -> int:
    """How many of the words stand side by side in a plain passage, at most."""
    from difflib import SequenceMatcher

    return SequenceMatcher(None, words, passage.split(), autojunk=False).find_longest_match().size


def require_language(passages: Sequence[ChunkRecord], language: str) -> None:
    """Raises DatasetError where most passages are surely of another language than the prompts'."""
    codes = Counter(filter(None, detected_languages([passage.text for passage in passages[:LOOKED_AT]], language)))
    code, number = codes.most_common(1)[0] if codes else (language, 0)
    if code != language and number > codes.total() / 2:
        legal = ", ".join(sorted(prompts.ANSWERED.texts))
        raise DatasetError(
            f"{number} of {codes.total()} passages are in the language {code!r}, and the data set says {language!r}: "
            f"there are prompts in {legal} alone, and a model asked in another language answers in that"
        )


def summary(candidates: Sequence[Candidate]) -> dict[str, Mapping[str, int]]:
    """By kind, how many were kept ("kept") and how many each filter dropped."""
    counts: dict[str, Counter[str]] = {}
    for candidate in candidates:
        counts.setdefault(candidate.kind, Counter())[candidate.dropped or "kept"] += 1
    return dict(counts)


@contextlib.asynccontextmanager
async def watched(
    what: str, count: int, judge: str, known: Settings, journal: Journal, language: str
) -> AsyncIterator[tuple[OpenJudges, Progress]]:
    """The judge of this name alone, and the progress of `count` pieces of work; in a plan it asks nobody."""
    from ragbench.old.judge import open_judges
    from ragbench.old.tiers.scoring.measure import live_line

    with Progress(what, count if is_watched() else 0) as progress:
        opened = open_judges(
            known, [judge], journal=journal, language=language, on_change=live_line(progress),
            dry_run=trust.only_planned(),
        )  # fmt: skip
        async with opened:
            yield opened, progress
