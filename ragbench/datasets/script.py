"""Which language a text is written in, of the two that ragbench speaks."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice

_LETTERS = re.compile(r"[^\W\d_]")
_CYRILLIC = re.compile(r"[Ѐ-ӿ]")


def language_of(texts: Iterable[str], sample: int = 1000) -> str:
    """ "ru" where more than a third of the letters of the first `sample` texts are Cyrillic, else "en".

    Russian texts on technical subjects hold Latin names, so half would be too strict.
    """
    text = " ".join(islice(texts, sample))
    return "ru" if len(_CYRILLIC.findall(text)) * 3 > len(_LETTERS.findall(text)) else "en"
