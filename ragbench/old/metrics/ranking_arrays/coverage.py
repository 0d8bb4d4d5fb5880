"""How much of the labelled text a ranking has shown: what passages and pieces of any size are compared by.

The labelled text of a question is, in every passage that is labelled as relevant to it, the spans that its labels name,
and all of the passage where they name none. What is retrieved counts by the share of one passage's labelled text that
it shows for the first time: text that was shown before, by a copy or by a piece that overlaps, adds nothing. Text is
measured in characters without white space, so that it makes no difference where between two words it was cut.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from ragbench.old.core.types import Chunk, Piece, Question

ENOUGH = 0.5
"""Share of a passage's labelled text from which on the passage counts as found, where a metric knows yes and no."""
ROUNDING = 1e-9  # halves of characters add up to 0.4999… in binary
_WORD = re.compile(r"\S+")

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Added:
    """What one hit adds to those above it.

    grade: gain of the passage, 0 where nothing new of its labelled text is shown. share: how much of that text is, 0 to
    1. reached: whether enough of it has been shown by then, for the first time.
    """

    grade: float = 0.0
    share: float = 0.0
    reached: bool = False


NOTHING = Added()


class LabelledText:
    """The texts of the passages that labels name, by which rankings of one data set are held to their labels.

    enough: the share from which on a passage counts as found; 0: where anything of it was shown.
    """

    def __init__(self, passages: Iterable[Chunk], enough: float = ENOUGH) -> None:
        self.enough = enough
        self._texts = {passage.id: passage.text for passage in passages}
        self._read: dict[str, _Letters] = {}
        self._words: dict[str, int] = {}

    def added(self, question: Question, hits: Iterable[Chunk]) -> list[Added]:
        """What each hit of a ranking adds, in rank order."""
        labels = self._labels(question)
        additions = []
        for chunk in hits:
            label = labels.get(chunk.passage)
            additions.append(NOTHING if label is None else label.show(self._place(chunk), self.enough))
        return additions

    def by_words(self, question: Question, hits: Iterable[Chunk], limits: Sequence[int]) -> tuple[list[float], int]:
        """For each of the rising limits the share of the labelled text that the first so many words show, each labelled
        passage weighing the same; and how many words there are in all.

        The reader stops at a limit, in the midst of a piece, too. Text that comes twice is read twice. NaN for a
        question without a label.
        """
        labels = self._labels(question)
        shares, read, waiting = list[float](), 0, list(limits)
        for chunk in hits:
            label = labels.get(chunk.passage)
            words = self.words(chunk)
            while waiting and waiting[0] < read + words:
                part = 0 if label is None else label.new(self._begun(chunk, waiting[0] - read))
                shares.append(self._mean(labels, chunk.passage, part))
                waiting.pop(0)
            read += words
            if label is not None:
                label.show(self._place(chunk), self.enough)
        return shares + [self._mean(labels)] * len(waiting), read

    def words(self, chunk: Chunk) -> int:
        """How many words there are to read."""
        known = self._words.get(chunk.id)
        if known is None:
            known = self._words[chunk.id] = len(self._texts.get(chunk.id, chunk.text).split())
        return known

    def _labels(self, question: Question) -> dict[str, _Label]:
        made = {}
        for name, grade in question.relevant.items():
            if grade > 0 and name in self._texts:
                made[name] = _Label.of(grade, self._letters(name), question.spans.get(name, ()))
        return made

    @staticmethod
    def _mean(labels: dict[str, _Label], begun: str = "", letters: int = 0) -> float:
        """Of the shares shown, with so many new letters of the passage that is begun."""
        if not labels:
            return float("nan")
        return sum(label.share(letters if name == begun else 0) for name, label in labels.items()) / len(labels)

    def _letters(self, passage: str) -> _Letters:
        letters = self._read.get(passage)
        if letters is None:
            letters = self._read[passage] = _Letters.of(self._texts[passage])
        return letters

    def _place(self, chunk: Chunk) -> Span:
        letters = self._letters(chunk.passage)
        if isinstance(chunk, Piece):
            return letters.before(chunk.start), letters.before(chunk.end)
        return 0, letters.number

    def _begun(self, chunk: Chunk, words: int) -> Span:
        """Where the first words of what is retrieved stand."""
        start, end = self._place(chunk)
        return start, min(end, self._letters(chunk.passage).after(start, words))


@dataclass(frozen=True, slots=True)
class _Letters:
    """A text's characters without its white space, counted.

    starts, ends: of its words, in characters. counts: how many letters stand before each word, and in all.
    """

    starts: list[int]
    ends: list[int]
    counts: list[int]

    @classmethod
    def of(cls, text: str) -> _Letters:
        places = [word.span() for word in _WORD.finditer(text)]
        counts = accumulate((end - start for start, end in places), initial=0)
        return cls([start for start, _ in places], [end for _, end in places], list(counts))

    @property
    def number(self) -> int:
        return self.counts[-1]

    def before(self, place: int) -> int:
        """How many letters stand before a place of the text."""
        word = bisect_right(self.ends, place)
        return self.counts[word] + (max(0, place - self.starts[word]) if word < len(self.starts) else 0)

    def after(self, letter: int, words: int) -> int:
        """How many letters there are up to the end of so many words, the first of them the one with this letter."""
        first = bisect_right(self.counts, letter) - 1
        return self.counts[min(first + words, len(self.counts) - 1)]


@dataclass(slots=True)
class _Label:
    """What is labelled in one passage, in letters; left: what of it has not been shown."""

    grade: float
    total: int
    left: list[Span]
    found: bool = field(default=False)

    @classmethod
    def of(cls, grade: float, letters: _Letters, spans: Iterable[Span]) -> _Label:
        left = list(_joined((letters.before(start), letters.before(end)) for start, end in spans))
        left = left or [(0, letters.number)]  # no spans, or none that has a letter
        return cls(grade, sum(end - start for start, end in left), left)

    def share(self, more: int = 0) -> float:
        """What has been shown of it, with so many letters more; rounded once, so that more letters are never less."""
        return (self.total - sum(end - start for start, end in self.left) + more) / self.total

    def new(self, shown: Span) -> int:
        """How many of its letters stand there that have not been shown."""
        return sum(max(0, min(end, shown[1]) - max(start, shown[0])) for start, end in self.left)

    def show(self, shown: Span, enough: float) -> Added:
        new = self.new(shown)
        if not new:
            return NOTHING
        self.left = [part for span in self.left for part in _without(span, shown)]
        before, self.found = self.found, self.found or self.share() >= enough - ROUNDING
        return Added(self.grade, new / self.total, self.found and not before)


def _without(span: Span, other: Span) -> Iterator[Span]:
    for start, end in ((span[0], min(span[1], other[0])), (max(span[0], other[1]), span[1])):
        if start < end:
            yield start, end


def _joined(spans: Iterable[Span]) -> Iterator[Span]:
    """The same without what is empty, in order, what overlaps or touches as one."""
    last: Span | None = None
    for start, end in sorted(spans):
        if last is not None and start <= last[1]:
            last = last[0], max(last[1], end)
        elif start < end:
            if last is not None:
                yield last
            last = start, end
    if last is not None:
        yield last
