"""What a text tells of itself: its language, where its sentences stand, words that no blank parts, and their stems."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import islice
from typing import Any

Span = tuple[int, int]
"""Where a part of a text begins and ends, in characters from 0; the end is not of it."""

_END = re.compile(
    r"(?<![.!?…])(?P<mark>[.!?…]++)[\"'»”’)\]]*+(?:\s++(?=[\"'«“‘(\[—–-]*+\s*+[A-ZА-ЯЁ0-9])|$)|"
    r"\n\s*\n|\n(?=\s*+(?:[-*•]|\d++[.)])\s)"
)
_NO_END = re.compile(
    r"(?:^|[\s(«\"“])(?:(?-i:[A-ZА-ЯЁ]\.)*[A-ZА-ЯЁ]|mr|mrs|ms|dr|prof|st|vs|etc|e\.g|i\.e|no|vol|fig|approx|jr|sr|inc|"
    r"ltd|г|гг|в|вв|ул|д|корп|стр|каб|ауд|им|т\.\s?[едпк]|и\s?др|см|рис|табл|тыс|млн|млрд|руб|проф|доц|акад|тел|напр|"
    r"просп|пр|пл|обл|р-н|пос)\.$",
    re.IGNORECASE,
)
_UNSPACED = re.compile(
    "[\u0e00-\u0e4e\u0e80-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u109a-\u109f\u1780-\u17d3\u17dc\u17dd"
    "\u3005-\u3007\u3031-\u3035\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua9e0-\ua9fe\uaa60-\uaa7f"
    "\uf900-\ufaff\uff66-\uff9f\U00016fe0-\U00018cff\U0001aff0-\U0001b16f\U00020000-\U000323af]"
)
"""Thai, Lao, Burmese, Khmer, Chinese characters and kana, their digits apart; Korean parts its words by blanks."""
_CYRILLIC = re.compile("[\u0400-\u052f]")
_LETTER = re.compile(r"[^\W\d_]")
MOST_CHARACTERS, MOST_TEXTS = 4_000, 1_000
"""So much of one text, and of several so many, tells their language."""
LONGEST_KEPT = 24
"""Letters of the words whose stems are kept: some 20 MB of them."""
LONGEST = 12
"""Letters and signs of the longest abbreviation with what stands before it, and some more."""
LONGEST_READ_AGAIN = 10_000
"""Characters of a text whose sentences are kept for its next reader: a passage comes with many questions."""


def spans(text: str) -> list[Span]:
    """The text's sentences and list items, without the white space around them; abbreviations and initials end none.

    What has no letter or digit is none.
    """
    sentences: list[Span] = []
    start = 0
    for end in [*_END.finditer(text), None]:
        stop = end.end() if end else len(text)
        if end and end["mark"] == "." and stop < len(text):
            last = end.start() + len(end[0].rstrip())
            if _NO_END.search(text, max(start - 1, last - LONGEST, 0), last):  # white space stands before `start`
                continue
        piece = text[start:stop]
        if any(letter.isalnum() for letter in unicodedata.normalize("NFKC", piece)):  # "🄐" is the word "a"
            begin = start + len(piece) - len(piece.lstrip())
            sentences.append((begin, begin + len(piece.strip())))
        start = stop
    return sentences


def sentences(text: str) -> list[str]:
    """The sentences themselves, white space folded."""
    return list(_sentences(text) if len(text) <= LONGEST_READ_AGAIN else _sentences.__wrapped__(text))


@lru_cache(maxsize=256)
def _sentences(text: str) -> tuple[str, ...]:
    return tuple(" ".join(text[start:end].split()) for start, end in spans(text))


def is_unspaced(text: str) -> bool:
    """Whether a sign of a script stands there that puts no blanks between words."""
    return not text.isascii() and _UNSPACED.search(text) is not None


def apart(text: str) -> str:
    """The text with blanks around every character (with its marks) of scripts that put none between words.

    Chinese, Japanese, Thai, Lao, Khmer and Burmese: there a character stands for a word wherever words are compared,
    and words of other alphabets among them stay whole.
    """
    if not is_unspaced(text):
        return text
    spaced: list[str] = []
    held = False
    for sign in text:
        if unicodedata.category(sign) in ("Mn", "Mc") or sign == "\u200d":
            spaced.append(sign)
            continue
        own = _UNSPACED.match(sign) is not None
        spaced.append(f" {sign}" if own or held else sign)
        held = own
    return "".join(spaced)


def language_of(texts: str | Iterable[str], otherwise: str = "en") -> str:
    """ "ru" where more than a third of the letters of a text, or of the first texts, are Cyrillic, else "en".

    Russian texts on technical subjects hold Latin names, so half would be too strict. otherwise: what holds where no
    letter stands.
    """
    text = texts[:MOST_CHARACTERS] if isinstance(texts, str) else " ".join(islice(texts, MOST_TEXTS))
    letters = sum(1 for _ in _LETTER.finditer(text))
    if not letters:
        return otherwise
    return "ru" if 3 * sum(1 for _ in _CYRILLIC.finditer(text)) > letters else "en"


def stem(word: str) -> str:
    """The Snowball stem of a folded word, Russian for Cyrillic letters, English for others."""
    return _stem(word) if len(word) <= LONGEST_KEPT else _stem.__wrapped__(word)


@lru_cache(maxsize=200_000)
def _stem(word: str) -> str:
    return str(_stemmer("russian" if _CYRILLIC.search(word) else "english").stemWord(word))


@lru_cache(maxsize=2)
def _stemmer(language: str) -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer(language)


_SIGNS = re.compile(r"[\W_]+")
_ASCII_SIGNS = {code: " " for code in range(128) if not chr(code).isalnum()}


def plain(text: str) -> str:
    """A text by its words alone: compatibility forms, case, ё, signs and blanks do not tell two apart."""
    if text.isascii():  # a quarter of the time, and a data set is looked over some five times
        return " ".join(text.lower().translate(_ASCII_SIGNS).split())
    folded = unicodedata.normalize("NFKC", text).casefold().replace("ё", "е")
    return _SIGNS.sub(" ", folded).strip()


def stands_in(part: str, whole: str) -> bool:
    """Whether the words of one plain text stand in another one, side by side and in their order."""
    return bool(part) and f" {part} " in f" {whole} "
