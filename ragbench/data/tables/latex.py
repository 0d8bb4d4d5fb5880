"""LaTeX's own language: any text as one that an article can hold, and break where a line ends."""

from __future__ import annotations

import re

_SIGNS = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "∅": r"$\emptyset$", "†": r"$\dagger$", "↑": r"$\uparrow$", "↓": r"$\downarrow$",
    "↗": r"$\nearrow$", "↘": r"$\searrow$", "≈": r"$\approx$",
}  # fmt: skip
LONG = 12
"""Signs of a word that an article's narrowest column has room for."""
LONGEST_WORD = 24
"""Of letters alone: LaTeX hyphenates what a language has, and nothing beyond."""
_LETTERS = re.compile(r"\W*[^\W\d_]+\W*")
_BREAKS = re.compile(r"(?<=[-_/.@:=])")


def latex(text: object) -> str:
    """A text for LaTeX, every sign of its language escaped, on one line; a long word may break after its signs."""
    return " ".join(_word(word) for word in str(text).split())


def _word(word: str) -> str:
    whole = len(word) <= LONG or (len(word) <= LONGEST_WORD and _LETTERS.fullmatch(word) is not None)
    parts = [word] if whole else [part for piece in _BREAKS.split(word) for part in _pieces(piece)]
    return r"\allowbreak{}".join("".join(_SIGNS.get(sign, sign) for sign in part) for part in parts)


def _pieces(text: str) -> list[str]:
    return [text[start : start + LONG] for start in range(0, len(text), LONG)]


def stacked(first: str, second: str) -> str:
    """One below the other in a cell."""
    return rf"\begin{{tabular}}[t]{{@{{}}r@{{}}}}{first}\\{{}}{second}\end{{tabular}}"
