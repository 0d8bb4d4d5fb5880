"""Words, numbers and negations of English and Russian texts, each word treated by its own alphabet."""

from __future__ import annotations

import re
import sys
import threading
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, NamedTuple, TypeVar

from ragbench.old.core import segmentation

_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+(?:['’ʼ-][^\W\d_]+)*|[^\W_]+")
_PLAIN_WORD = re.compile(r"[a-zа-я]+(?:['’ʼ-][a-zа-я]+)*|[0-9]+(?:[.,:][0-9]+)*")
_UNUSUAL = re.compile(r"[^\x00-\x7fа-я‐-⁞«»№\xa0\u202f]")
"""Of a folded text: without such a sign its words are plain, and found in a third of the time."""
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")


def fold(text: str) -> str:
    """The text as it is compared: NFKC, casefold, ё as е."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", text).casefold().replace("ё", "е")


def _listed(text: str) -> frozenset[str]:
    return frozenset(fold(text).split())


LONGEST = 24
"""Letters of the words whose n-grams are kept: 25 MB of them or so, and never more than 110."""
REACH = 3
"""A negation denies the next content word, if that is at most so many words away."""
NEGATIONS = _listed(
    "no not never none nobody nothing nowhere neither nor without cannot "
    "не нет ни никогда никто ничто ничего нигде никак никакой никакая никакие никаких нельзя невозможно без"
)
FUNCTION_WORDS = _listed(
    """
    a an the of to in on at for from by with and or but as if is are was were be been being am it its this that these
    those there here i you he she we they me him her us them my your his our their do does did have has had will would
    can could may might should shall must so than then too very just also which who whom whose what when where why how
    about into over under out up down not no
    и в во на с со к ко по о об обо от до из у за над под при для без через между а но или либо да не ни же ли бы то
    это этот эта эти этого этой этих тот та те того той тех так там тут здесь как что чтобы кто где когда куда откуда
    почему какой какая какие который которая которое которые я ты он она оно мы вы они меня мне мной тебя тебе его ему
    им её ей нас нам вас вам их мой моя моё мои твой ваш наш свой себя был была было были быть есть будет будут уже ещё
    еще только очень также тоже если
    """
)


def words(text: str) -> list[str]:
    """Folded words and numbers in order; a number keeps its separators (12.5, 9:30)."""
    return words_of(fold(text))


def words_of(folded: str) -> list[str]:
    """The same of a text that is folded already; of scripts without blanks between words each character is one."""
    plain = folded.isascii() or _UNUSUAL.search(folded) is None
    return (_PLAIN_WORD if plain else _WORD).findall(folded if plain else segmentation.apart(folded))


def stem(word: str) -> str:
    """The Snowball stem of a folded word; a number with a point for the decimal comma."""
    return word.replace(",", ".") if word[0].isdigit() else segmentation.stem(word)


def stems(text: str) -> list[str]:
    """Stems of all words, in order."""
    return [stem(word) for word in words(text)]


def grams(word: str) -> tuple[str, ...]:
    """Character n-grams of a word with a space on either side, three to five characters long, each once."""
    padded = f" {word} "
    return tuple({padded[i : i + n] for n in (3, 4, 5) for i in range(len(padded) - n + 1)})


def numbers(text: str) -> set[str]:
    """The numbers written in digits, with a point for the decimal comma."""
    return {written.replace(",", ".") for written in _NUMBER.findall(fold(text))}


class Word(NamedTuple):
    """What a folded word is compared by. grams: see `grams`. content: no function word. denies: is a negation."""

    stem: str
    grams: tuple[str, ...]
    content: bool
    denies: bool


class _Words(dict[str, Word]):
    """What was read of words of late: a look-up costs less than a call."""

    def __missing__(self, word: str) -> Word:
        entry = _read(word)
        if len(word) <= LONGEST:
            if len(self) >= KEPT:
                self.clear()
            self[word] = entry
        return entry


KEPT = 16_384  # stems of late; a language's common words are among them
WORDS = _Words()
"""All that texts need of a folded word, by the word."""


def _read(word: str) -> Word:
    denies = word in NEGATIONS or word.endswith(("n't", "n’t"))
    return Word(stem(word), grams(word), word not in FUNCTION_WORDS, denies)


def polarity(text: str) -> tuple[frozenset[str], frozenset[str]]:
    """(affirmed, denied): stems of content words by whether a negation stands before them, within REACH."""
    folded = words(text)
    return polarity_of(folded, {word: WORDS[word] for word in folded})


def polarity_of(folded: Sequence[str], known: Mapping[str, Word]) -> tuple[frozenset[str], frozenset[str]]:
    """The same of folded words in their order. known: each of them, read."""
    if not any(word.denies for word in known.values()):
        return frozenset([word.stem for word in known.values() if word.content]), frozenset()
    affirmed: set[str] = set()
    denied: set[str] = set()
    distance = REACH + 1
    for each in folded:
        word = known[each]
        if word.denies:
            distance = 0
            continue
        distance += 1
        if word.content:
            (denied if distance <= REACH else affirmed).add(word.stem)
            distance = REACH + 1
    return frozenset(affirmed), frozenset(denied)


Value = TypeVar("Value")


class Shelf(Generic[Value]):
    """What was made, by the text that says all that it depends on; the oldest goes first.

    most: bytes of all texts and results together; a result that would take more alone is not kept.
    size: the bytes of a result, by default of the object itself alone. Threads may share it.
    """

    def __init__(self, most: int, size: Callable[[Value], int] = sys.getsizeof) -> None:
        self._most, self._size = most, size
        self._kept: dict[str, tuple[Value, int]] = {}
        self._lock = threading.Lock()
        self.bytes = 0

    def of(self, text: str, make: Callable[[], Value]) -> Value:
        """What is kept of the text, else made, and kept."""
        known = self._kept.get(text)
        if known is not None:
            return known[0]
        value = make()
        size = ENTRY_BYTES + sys.getsizeof(text) + self._size(value)
        with self._lock:
            if text not in self._kept and size <= self._most:
                self._kept[text] = value, size
                self.bytes += size
                while self.bytes > self._most:
                    self.bytes -= self._kept.pop(next(iter(self._kept)))[1]
        return value


class Memo(Shelf[Value]):
    """A function of a text whose results are kept; most, size: see `Shelf`."""

    def __init__(self, work: Callable[[str], Value], most: int, size: Callable[[Value], int] = sys.getsizeof) -> None:
        super().__init__(most, size)
        self._work = work

    def __call__(self, text: str) -> Value:
        """The function's result."""
        known = self._kept.get(text)
        return known[0] if known is not None else self.of(text, lambda: self._work(text))


ENTRY_BYTES = 300
"""About what a place in the dictionary takes, with the pair and its number."""
