"""Texts that seem written to move a judge: a few forms of such words, in English and in Russian."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass, field

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


@dataclass(frozen=True, init=False)
class Form:
    """One form of words: a pattern whose places `{}` are filled by groups of words, one of each in every match.

    A text without a word of each group has no match, and is told by that alone: most texts are, at a hundredth of what
    the pattern costs.
    """

    pattern: re.Pattern[str]
    needed: tuple[tuple[str, ...], ...] = field(repr=False)

    def __init__(self, pattern: str, *groups: tuple[str, ...]) -> None:
        for group in groups:
            pattern = pattern.replace("{}", f"(?:{'|'.join(map(re.escape, group))})", 1)
        object.__setattr__(self, "pattern", re.compile(pattern, re.IGNORECASE | re.DOTALL))
        object.__setattr__(self, "needed", tuple(sorted(map(_shortest, groups), key=len)))

    def stands_in(self, text: str, folded: str) -> bool:
        """Whether the text has the form; `folded` is `fold` of it."""
        for group in self.needed:
            for word in group:
                if word in folded:
                    break
            else:
                return False
        return self.pattern.search(text) is not None


def _shortest(group: Iterable[str]) -> tuple[str, ...]:
    """The folded words of a group without those that hold another one of it."""
    words = dict.fromkeys(map(fold, group))
    return tuple(word for word in words if not any(other in word for other in words if other != word))


def fold(text: str) -> str:
    """The text with every letter as the one small letter that it is to a pattern which ignores the case."""
    return text.replace("\u0130", "i").replace("\u0131", "i").casefold()


_JUDGES = ("judge", "evaluator", "grader")
_RULES = ("instruction", "prompt", "rule", "above", "previous", "prior")
_RULES_RU = ("инструкц", "указани", "правил", "предыдущ", "выше")
_TENS = tuple(map(str, (*range(1, 10), *range(10, 100, 10))))
FORMS: dict[str, tuple[Form, ...]] = {
    "ignore instructions": (
        Form(r"\b{}\b.{0,40}\b{}", ("ignore", "disregard", "forget", "override"), _RULES),
        Form(r"{}\w{0,12}+.{0,40}{}", ("игнорир", "забуд", "отмени"), _RULES_RU),
        Form(r"не\s++{}\w{0,12}+.{0,40}{}", ("обращай",), _RULES_RU),
    ),
    "asks for a verdict": (
        Form(
            r"\b{}\b.{0,40}\b{}\b.{0,30}\b{}\b",
            ("give", "assign", "return", "output", "respond", "answer", "rate", "score", "mark"),
            ("maximum", "highest", "full", "perfect", "top", "only", "5/5", "10/10", "score", "verdict", "supported"),
            ("score", "rating", "mark", "marks", "point", "points", "verdict", "grade", "json", *_TENS),
        ),
        Form(
            r"{}\w{0,12}+.{0,40}{}",
            ("постав", "выстав", "верни", "выведи", "присвой", "оцени"),
            ("максимальн", "высш", "балл", "оценк", "вердикт"),
        ),
    ),
    "addresses the judge": (
        Form(r"\b{} (?:now )?(?:an? |the )?{}\b", ("you are",), (*_JUDGES, "assistant", "ai")),
        Form(r"\b{} {}", ("dear",), _JUDGES),
        Form(r"\b{} {}", ("as the", "as an"), _JUDGES),
        Form(r"\b{} (?:the )?{}", ("note to",), _JUDGES),
        Form(r"(?:вы|ты)\s*+(?:[—–-]\s*+)?(?:теперь\s++)?{}", ("судья", "оценщик", "ассистент")),
        Form(r"{}\w{1,12}+\s++{}", ("уважаем",), ("судья", "оценщик")),
        Form(r"(?:для|внимание)\s++{}", ("судь",)),
    ),
    "plays a role": (
        Form(
            r"(?:^|\n)[^\S\n]*+(?:#++[^\S\n]*+)?{}\s*+{}",
            ("system", "assistant", "user", "developer", "система", "ассистент", "пользователь"),
            (":",),
        ),
        Form(
            r"{}\|?{}\|?>",
            ("<",),
            ("im_start", "im_end", "system", "assistant", "endoftext", "eot_id", "start_header_id"),
        ),
        Form(r"\[/?{}", ("inst]",)),
        Form(r"{}", ("<<sys>>",)),
    ),
    "closes the text": (
        Form(r"{}/?\s*+{}[0-9a-f]{4}", ("<",), ("text-",)),
        Form(r"{}/?\s*+{}\s*+>", ("<",), ("text", "context", "answer", "response", "document")),
    ),
    "writes a verdict": (
        Form(
            r"{}{}[\"']\s*+{}",
            ('"', "'"),
            ("score", "rating", "verdict", "supported", "faithful", "answer", "level", "оценка", "вердикт"),
            (":",),
        ),
    ),
}


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
    pieces = [
        (piece, fold(piece)) for at in range(0, len(plain), AT_ONCE) for piece in [plain[at : at + AT_ONCE + REACH]]
    ]
    found = [name for name, forms in FORMS.items() if any(form.stands_in(*piece) for form in forms for piece in pieces)]
    return (*found, "hidden characters") if hides else tuple(found)


_known = Memo(_flags_in, KEPT_BYTES)
