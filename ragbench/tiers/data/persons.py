"""Where texts name people: e-mail addresses, telephones, and names where a model of the language is installed."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ragbench.core.installation import install

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
    for mail in _MAIL.finditer(text):
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
