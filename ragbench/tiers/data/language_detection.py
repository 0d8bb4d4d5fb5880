"""The language of single texts, told only where there is enough of a text to tell it by."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from py3langid.langid import LanguageIdentifier

FEWEST_WORDS = 5
EXPECTED, OTHER = 0.5, 0.9
"""How sure the model is of the language that is expected, and of another one: this would be news."""
NEVER = frozenset({"la", "pcm"})
"""Latin, which terms of science and law are read as, and Nigerian Pidgin, which misspelt English is read as."""
GLANCE, READ = 100, 300
"""Characters of a text that are read: the first where they surely are of the language that is expected, as nine in ten
texts of a hundred characters and more are; beyond the second more tell nothing new."""
_WORD = re.compile(r"[^\W\d_]{2,}")


def tongue(text: str, expected: str) -> str:
    """The ISO 639-1 code of a text's language; "" for fewer than FEWEST_WORDS words, and where none is sure."""
    beginning = text[:READ]
    if len(_WORD.findall(beginning)) < FEWEST_WORDS:
        return ""
    code, sure = _identifier().classify(beginning[:GLANCE])
    if len(beginning) > GLANCE and not (code == expected and sure >= OTHER):
        code, sure = _identifier().classify(beginning)
    told = sure >= EXPECTED if code == expected else sure >= OTHER and code not in NEVER
    return str(code) if told else ""


@lru_cache(maxsize=1)
def _identifier() -> LanguageIdentifier:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
