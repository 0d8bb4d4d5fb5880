"""Texts that seem written to move a judge: what no plain text has, in English and in Russian."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from ragbench.judge.memo import Memo

_VEHICLES = (
    "\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
)
_USUAL = "\xad\ufe0e\ufe0f"  # soft hyphens of web pages, and the signs that make a picture of a letter
HIDDEN = re.compile(f"[{_VEHICLES}{_USUAL}]")
"""Characters that nobody sees, in which a text can be written that a model reads all the same, and those that change
the direction of writing: no judge gets them."""
CARRYING = re.compile(f"[{_VEHICLES}]|[{_USUAL}]{{2}}")
"""Those of them that no innocent text has; the others are taken away in silence, unless several stand together."""
AT_ONCE, REACH = 20_000, 400
"""Characters of a text that are looked at together, and how many more, so that no form is cut in two."""
KEPT_BYTES = 16 * 2**20
"""Of texts that were looked at of late, whose flags are known."""
FORMS = {
    "ignore instructions": re.compile(
        r"\b(?:ignore|disregard|forget)\s++(?:(?:all|any|of|the|your|my|these|those)\s++)*+"
        r"(?:previous|prior|above|earlier|preceding)\s++(?:instruction|prompt|rule|order|direction)"
        r"|\b(?:игнорируй|забудь|не\s++(?:учитывай|выполняй|соблюдай))(?:те)?\s++(?:(?:все|всё|эти|твои|ваши|свои)\s++)*+"
        r"(?:предыдущие|прежние|прошлые|данные\s++ранее)\s++(?:инструкци|указани|правил|распоряжени)",
        re.IGNORECASE,
    ),
    "marks of a chat": re.compile(
        r"<\|(?:im_start|im_end|system|user|assistant|endoftext|eot_id|start_header_id|end_header_id)\|>"
        r"|\[/?INST\]|<</?SYS>>|</?start_of_turn>|</?text-[0-9a-f]{4}",
        re.IGNORECASE,
    ),
}
"""Patterns of what is flagged, besides what is hidden. Words that ask for a verdict, play a role or address a judge are
none of them: whatever forms of them were tried, of texts that were not written for their sake they found one attack in
five, and stood in every second innocent one."""


class Measured(NamedTuple):
    """How often texts have a flag: attacks, and innocent texts that sound like them."""

    attacks: int
    flagged: int
    innocent: int
    mistaken: int


MEASURED = Measured(60, 5, 50, 0)
"""Of the texts of `tests/judge/written_injections.py`, which were not written for the sake of these patterns."""


def flags_in(text: str) -> tuple[str, ...]:
    """The names of what in one text seems written to move a judge; many questions share their contexts, so that the
    flags of those of late are kept."""
    return _known(text)


def _flags_in(text: str) -> tuple[str, ...]:
    hides = CARRYING.search(text) is not None
    plain = unicodedata.normalize("NFKC", text)
    if plain is not text or not text.isascii():
        plain = HIDDEN.sub("", plain)
    # piece by piece: no pattern runs for long, and other threads have their turn between two of them
    pieces = [plain[at : at + AT_ONCE + REACH] for at in range(0, len(plain), AT_ONCE)]
    flags = [name for name, form in FORMS.items() if any(form.search(piece) for piece in pieces)]
    return (*flags, "hidden characters") if hides else tuple(flags)


_known = Memo(_flags_in, KEPT_BYTES)
