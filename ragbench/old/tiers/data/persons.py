"""People in texts: where they are named, and what a page must not say of them."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ragbench.old.core.annexes import install

if TYPE_CHECKING:
    from slovnet import NER


MODELS = "navec_news_v1_1B_250K_300d_100q", "slovnet_ner_news_v1"
"""What the wheel of natasha brings: vectors of Russian words, and the finder of names that reads them."""
NEEDED = install("models")
"""What brings the models."""
REGIONS = {"ru": ("RU",), "en": ("US", "GB")}
"""Whose way of writing telephones is known beside the international one, by the language of the texts."""
AT_ONCE = 1500
"""Characters that names are looked for in at once: memory stays bounded, whatever the length of a text."""
_MAIL = re.compile(
    r"(?<![\w.+%-])[A-Za-z0-9][\w.+%-]{0,63}@(?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,24}(?![\w@-])", re.ASCII
)
_DIGITS = re.compile(r"(?:\d[\s().\u2010-\u2013-]{0,3}){7}")
_NAMED = re.compile(r"[\w)»”\"',]\s+[«“\"(]?[А-ЯЁ][а-яё]|[А-ЯЁ][а-яё]+\s+[А-ЯЁ][а-яё.]")
"""A Russian word with a capital that begins no text: without one there is no name to look for."""
_CUT = re.compile(rf"[^\n]{{1,{AT_ONCE}}}(?:\s|$)|[^\n]{{1,{AT_ONCE}}}")


class Place(NamedTuple):
    """Where a text names somebody: what kind (`mail`, `telephone`, `name`), from and up to which character.

    whole: whether a name has two words or initials; one word alone can be a street, or a team.
    """

    kind: str
    start: int
    end: int
    whole: bool = True


def places(text: str, language: str) -> Iterator[Place]:
    """Addresses and telephones of a text.

    A telephone is a number that phonenumbers holds valid and rightly grouped, written with a plus sign or parted into
    groups: a bare row of digits can be anything.
    """
    for mail in _MAIL.finditer(text) if "@" in text else ():
        yield Place("mail", *mail.span())
    if not _DIGITS.search(text):
        return
    from phonenumbers import Leniency, PhoneNumberMatcher

    seen: set[tuple[int, int]] = set()
    for region in REGIONS.get(language, (None,)):
        for match in PhoneNumberMatcher(text, region, leniency=Leniency.STRICT_GROUPING):
            span = (match.start, match.end)
            if span not in seen and not match.raw_string.isdigit():
                seen.add(span)
                yield Place("telephone", *span)


def finds_names() -> bool:
    """Whether names in Russian texts can be found here."""
    return all(importlib.util.find_spec(name) is not None for name in ("natasha", "navec", "slovnet"))


def names(texts: Iterable[str]) -> Iterator[list[Place]]:
    """The names of people in each of the texts, as far as they are in Russian letters.

    Raises ModuleNotFoundError, with what to install, where the models are not there.
    """
    finder = _finder()
    for text in texts:
        yield list(_named(text, finder)) if _NAMED.search(text) else []


def _named(text: str, finder: NER) -> Iterator[Place]:
    for part in _CUT.finditer(text):
        for span in finder(part[0]).spans:
            name = part[0][span.start : span.stop]
            if span.type == "PER" and name != name.lower():
                whole = " " in name or "." in name
                yield Place("name", part.start() + span.start, part.start() + span.stop, whole)


@lru_cache(maxsize=1)
def _finder() -> NER:
    """The finder with its vectors: 30 MB, loaded in about a second."""
    if not finds_names():
        raise ModuleNotFoundError(f"names in Russian texts cannot be found without their models: {NEEDED}")
    from navec import Navec
    from slovnet import NER

    folder = Path(str(importlib.util.find_spec("natasha").origin)).parent / "data"  # type: ignore[union-attr]
    vectors: Any = Navec.load(str(folder / "emb" / f"{MODELS[0]}.tar"))
    made = NER.load(str(folder / "model" / f"{MODELS[1]}.tar"))
    made.navec(vectors)
    return made


MASK = "•••"
_UNSEEN = "\u00ad\u200b-\u200d\u2060\ufeff"  # no reader sees them, and a pattern without them sees no address
_AT = rf"(?:[@\uff20]|[ \u00a0]?[(\[](?:at|собака)[)\]][ \u00a0]?)[{_UNSEEN}]*"
# each run of letters is read once, whether an address begins with it or not: so the time grows with the text alone
_EMAIL = re.compile(rf"[\w.+{_UNSEEN}-]++(?P<at>{_AT}[\w{_UNSEEN}-]++(?:\.[\w{_UNSEEN}-]++)++)?", re.IGNORECASE)
_SIGN = re.compile(_AT, re.IGNORECASE)
_HANDLE = re.compile(r"(?<![\w.@/])[@\uff20]\w{3,}")
_PROFILE = re.compile(
    r"(?<![\w.])((?:t\.me|telegram\.me|wa\.me|vk\.com|ok\.ru|instagram\.com)/)[\w.+-]+", re.IGNORECASE
)
_DOTTED = re.compile(r"(?<![\w.])\+?\d{1,3}(?:\.\d{2,4}){3,5}(?![\w.])")
_NUMBER = re.compile(r"(?<!\w)\+?\(?\d(?:[ \u00a0\u202f()\u2010-\u2013-]{0,3}\d){5,}(?!\w)")
_IDENTIFIER = re.compile(r"(?<!\w)(?=\w*?\d{6})\w++")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(?: \d{1,2})?|(?:19|20)\d\d ?[-\u2010-\u2013] ?(?:(?:19|20)\d\d|\d\d)")
_AMOUNT = re.compile(r"\d{1,3}(?:[ \u00a0\u202f]\d{3})+")
FEWEST_DIGITS = 6  # in one run, alone or with letters: a student's number; in groups there are more
FEWEST_OF_A_TELEPHONE = 10  # digits with the code of a city; fewer are numbers of rooms, sums and dates
LONGEST_AMOUNT = 8
SHORTEST_NAME = 3  # shorter ones are parts of other words


@dataclass
class Masker:
    """Replaces what can name a person; users get numbers in the order in which they first occur.

    known: the users' ids, which are also replaced where a text holds one as a word of its own. names: whether people's
    names in Russian texts are found and replaced as well; without the models that needs, ModuleNotFoundError is raised.
    """

    known: Iterable[str] = ()
    names: bool = False
    _numbers: dict[str, str] = field(default_factory=dict)
    _read: dict[str, tuple[Place, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.known:
            self._numbers.setdefault(name, str(len(self._numbers) + 1))
        names = sorted((name for name in self._numbers if len(name) >= SHORTEST_NAME), key=lambda n: (-len(n), n))
        self._names = (
            re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)", re.IGNORECASE) if names else None
        )

    def user(self, name: str | None) -> str | None:
        """A number for a user, the same every time; None for nobody."""
        return None if not isinstance(name, str) else self._numbers.setdefault(name, str(len(self._numbers) + 1))

    def text(self, text: str | None) -> str | None:
        """A text without e-mail addresses, handles, profiles, telephones, long numbers and users' ids.

        A name in a sentence stays, unless it is a user's id, or `names` are looked for.
        """
        if not isinstance(text, str):
            return text
        masked = self._nameless(text) if self.names else text
        if _SIGN.search(masked):
            masked = _EMAIL.sub(_address, masked)
        if self._names is not None:
            masked = self._names.sub(MASK, masked)
        masked = _PROFILE.sub(rf"\1{MASK}", _HANDLE.sub(f"@{MASK}", masked))
        masked = _NUMBER.sub(_number, _DOTTED.sub(_dotted, masked))
        return _IDENTIFIER.sub(MASK, masked)

    @property
    def counted(self) -> Mapping[str, int]:
        """How many `names` were masked so far, in how many different `texts`."""
        masked = [places for places in self._read.values() if places]
        return {"names": sum(map(len, masked)), "texts": len(masked)}

    def _nameless(self, text: str) -> str:
        """A text without the names of people that are found in it; one that comes again is not read again."""
        if text not in self._read:
            [places] = names([text])
            self._read[text] = tuple(places)
        for place in reversed(self._read[text]):
            text = f"{text[: place.start]}{MASK}{text[place.end :]}"
        return text


def _address(match: re.Match[str]) -> str:
    """The mask for an address, any other run of letters as it is."""
    return match[0] if match["at"] is None else f"{MASK}@{MASK}"


def _dotted(match: re.Match[str]) -> str:
    """The mask for as many digits as a telephone has; versions and dates have fewer."""
    return MASK if sum(letter.isdigit() for letter in match[0]) >= FEWEST_OF_A_TELEPHONE else match[0]


def _number(match: re.Match[str]) -> str:
    """The mask, unless it is a date, a span of years, or a sum of money."""
    text = match[0]
    digits = re.sub(r"\D", "", text)
    if _DATE.fullmatch(text) or (_AMOUNT.fullmatch(text) and len(digits) <= LONGEST_AMOUNT):
        return text
    return MASK if len(digits) > FEWEST_DIGITS else text
