"""Parts for an article: LaTeX with booktabs, tabularx and siunitx, any text as one that it can hold and break."""

from __future__ import annotations

import re

from markupsafe import Markup

from ragbench.old.core.language import MINUS, Translator, beside_zero, decimals, sign
from ragbench.old.core.parts.blocks import Chip, Column, Entries, Grid, Group, Styled, Text, Value, cells_of
from ragbench.old.core.parts.markdown import kept_apart, plain_of
from ragbench.old.core.parts.style import Spoken
from ragbench.old.core.types import Estimate, Verdict

_SIGNS = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "∅": r"$\emptyset$", "†": r"$\dagger$", "↑": r"$\uparrow$", "↓": r"$\downarrow$",
    "↗": r"$\nearrow$", "↘": r"$\searrow$", "≈": r"$\approx$",
}  # fmt: skip
_ARROWS = {Verdict.BETTER: r"$\uparrow$", Verdict.WORSE: r"$\downarrow$", Verdict.SLIGHTLY_BETTER: r"$\nearrow$",
           Verdict.SLIGHTLY_WORSE: r"$\searrow$", Verdict.SAME: r"$\approx$",
           Verdict.CANNOT_BE_SHOWN: r"$\emptyset$", Verdict.CANNOT_BE_TOLD: "?"}  # fmt: skip
SHORT = 16
"""Signs of a title that an article's column of numbers has room for."""
LONG = 12
"""Signs of a word that an article's narrowest column has room for."""
LONGEST_WORD = 24
"""Of letters alone: LaTeX hyphenates what a language has, and nothing beyond."""
PAGE, CAPTION, LINE = 46, 300, 92
"""Lines in `footnotesize` of a page that rows may take; signs of a caption, and of a line of notes."""
_LETTERS = re.compile(r"\W*[^\W\d_]+\W*")
_BREAKS = re.compile(r"(?<=[-_/.@:=])")


def latex(text: object) -> str:
    """A text for LaTeX, every sign of its language escaped, on one line; a long word may break after its signs."""
    return " ".join(_word(word) for word in str(text).split())


def _word(word: str) -> str:
    return r"\allowbreak{}".join("".join(_SIGNS.get(sign, sign) for sign in part) for part in breakable(word))


def breakable(word: str) -> list[str]:
    """The parts of a word between which a line may end: itself, if it is short or what a language hyphenates."""
    whole = len(word) <= LONG or (len(word) <= LONGEST_WORD and _LETTERS.fullmatch(word) is not None)
    return [word] if whole else [part for piece in _BREAKS.split(word) for part in _pieces(piece)]


def _pieces(text: str) -> list[str]:
    return [text[start : start + LONG] for start in range(0, len(text), LONG)]


def stacked(first: str, second: str, side: str = "r") -> str:
    """One below the other in a cell."""
    return rf"\begin{{tabular}}[t]{{@{{}}{side}@{{}}}}{first}\\{{}}{second}\end{{tabular}}"


def decimal_mark(_: Translator) -> str:
    """What sets the mark of a table's numbers, where it is a comma."""
    return r"\sisetup{output-decimal-marker={,}}" if _.number(0.5, 1) == "0,5" else ""


def continued(_: Translator) -> str:
    """The caption of a table's next page, under the table's own number."""
    return rf"  \addtocounter{{table}}{{-1}}\caption{{{latex(_('Continued.'))}}}" + "\n"


class Latex(Spoken):
    """How cells are written in an article: numbers for siunitx, intervals below them, verdicts as arrows."""

    nothing = "--"

    def number(self, value: float, digits: int, signed: bool) -> str:
        r"""`\num{+0.200}`."""
        return rf"\num{{{sign(value, digits, signed).replace(MINUS, '-')}{abs(value):.{digits}f}}}"

    def value(self, value: Value, digits: int, signed: bool) -> str:
        """The number with its verdict, its interval below it."""
        if any(number is None or number != number for number in (value.value, value.low, value.high)):
            return super().value(value, digits, signed)
        number = self.sized(value, value.value, digits, signed)  # type: ignore[arg-type]
        return stacked(" ".join(filter(None, (number, self.mark(value)))), self.interval(value, digits, signed))

    def ends(self, low: float, high: float, digits: int, signed: bool) -> str:
        r"""`[\num{0.645}, \num{0.758}]`, with a semicolon where the decimal mark is a comma."""
        return self._.ends(*(self.end(end, digits, signed) for end in (low, high)))

    def end(self, value: float, digits: int, signed: bool) -> str:
        r"""`\num{+0.0004}`; `$>0$` for what no number of decimals tells from 0."""
        shown = decimals(value, digits) if signed else digits
        return f"${beside_zero(value)}$" if shown is None else self.number(value, shown, signed)

    def percent(self, share: float, digits: int) -> str:
        r"""`73\%`."""
        return latex(super().percent(share, digits))

    def without(self, value: Value) -> str:
        """Nothing: the number stands alone; the sign of a reason that the caption tells."""
        return "" if value.value is not None else latex(value.why) if value.why else self.nothing

    def mark(self, value: Value) -> str:
        """The arrow of a verdict."""
        return _ARROWS.get(value.verdict, "") if value.verdict else ""

    def chip(self, chip: Chip) -> str:
        """A verdict's words."""
        return latex(chip.words)

    def p(self, value: float) -> str:
        r"""`\num{0.012}`, `\num{<0.001}`."""
        return r"\num{<0.001}" if value < 0.001 else self.number(value, 3, False)

    def count(self, value: int) -> str:
        """`$48$`."""
        return f"${value}$"

    def counted(self, estimate: Estimate, digits: int) -> str:
        """`$48$`, or `48 of 60` with the ends of its scale below."""
        if not estimate.n_unmeasured:
            return self.count(estimate.n)
        _, whole = self._, estimate.n + estimate.n_unmeasured
        count = latex(_("{part} of {whole}", part=_.integer(estimate.n), whole=_.integer(whole)))
        if estimate.floor is None or estimate.ceiling is None:
            return count
        return stacked(count, self.ends(estimate.floor, estimate.ceiling, digits, False))

    def text(self, text: str) -> str:
        """A text, every sign of LaTeX's language escaped."""
        return kept_apart(text, latex(text))

    def emphasis(self, markup: Markup) -> str:
        """A sentence with its bold words."""
        parts = re.split("</?b>", str(markup))
        texts = [kept_apart(part, latex(plain_of(part))) for part in parts]
        return "".join(rf"\textbf{{{text}}}" if place % 2 else text for place, text in enumerate(texts))

    def tag(self, tag: str) -> str:
        """Bold words."""
        return "" if "code" in tag else "}" if "/" in tag else r"\textbf{"

    def styled(self, styled: Styled, content: str) -> str:
        """Bold words are bold here, too."""
        return rf"\textbf{{{content}}}" if content and styled.tag == "b" else content

    def paragraph(self, text: Text) -> str:
        """A paragraph or a heading."""
        said = self.phrase(text.content).strip()
        level = {"h2": "section", "h3": "subsection", "h4": "paragraph"}.get(text.look)
        return rf"\{level}*{{{said}}}" if said and level else said

    def entries(self, entries: Entries) -> str:
        """A list."""
        return "\n".join([r"\begin{itemize}", *map(self.entry, entries.entries), r"\end{itemize}"])

    def item(self, said: str, *more: str) -> str:
        """A list's entry, and below it what belongs to it."""
        return "\n\n".join([rf"  \item {said}", *filter(None, more)])

    def table(self, grid: Grid, name: str = "") -> str:
        """A table for an article, as wide as its text, over as many pages as it takes; a group's title stands in a row.

        What fits of the notes into three lines is the caption, the others stand below the last row.
        name: its label, as it is where it has a colon (`tab:mine`), else behind `tab:`; none, if empty.
        """
        columns, notes, caption = grid.columns, list(map(str, grid.notes)), "" if name else str(grid.title)
        titles = [f"${column.title}$" if column.title in ("n", "p") else self.phrase(column.title).strip()
                  for column in columns]  # fmt: skip
        while notes and len(caption) + len(notes[0]) < CAPTION:
            caption = f"{caption} {notes.pop(0)}".strip()
        below = rf"  \par\smallskip\raggedright {latex(' '.join(notes))}" if notes else ""
        label = name if ":" in name else f"tab:{re.sub('[^A-Za-z0-9-]', '-', name)}"
        mark = decimal_mark(self._)
        pages = self._pages(grid, len(below) / LINE)
        lines = [r"% needs \usepackage{booktabs,tabularx,siunitx}"]
        for page, body in enumerate(pages):
            lines += [r"\begin{table}", rf"  \centering\footnotesize\sloppy\setlength{{\tabcolsep}}{{4pt}}{mark}"]
            if page:
                lines.append(continued(self._).rstrip())
            else:
                lines += [rf"  \caption{{{latex(caption)}}}", *([rf"  \label{{{label}}}"] if name else [])]
            if body or not page:
                lines += [
                    rf"  \begin{{tabularx}}{{\linewidth}}{{@{{}}{''.join(map(_sides, columns))}@{{}}}}",
                    rf"    \toprule{chr(10)}    {' & '.join(titles)} \\{chr(10)}    \midrule",
                    *(f"    {row}" for row in body), "    \\bottomrule\n  \\end{tabularx}",
                ]  # fmt: skip
            lines += [*([below] if below and page == len(pages) - 1 else []), r"\end{table}"]
        return "\n".join(lines) + "\n"

    def _pages(self, grid: Grid, below: float) -> list[list[str]]:
        """The rows of each page: a group stands on one. below: how many lines of notes follow them."""
        rows, blocks = iter(self.written(grid)), list[list[str]]()
        for row in grid.rows:
            if cells_of(row) is None:
                title = self.phrase(row.title if isinstance(row, Group) else row.content).strip()
                blocks.append([rf"\multicolumn{{{len(grid.columns)}}}{{@{{}}l}}{{{title}}} \\"])
            else:
                written = " & ".join(next(rows)) + r" \\"
                if blocks and blocks[-1][0].startswith(r"\multicolumn"):
                    blocks[-1].append(written)
                else:
                    blocks.append([written])
        pages, room = [list[str]()], float(PAGE)
        for block in blocks:
            lines = sum(2.1 if r"\begin{tabular}" in row else 1.3 for row in block)
            if lines > room and pages[-1]:
                pages.append([])
                room = PAGE
            pages[-1] += [r"\addlinespace", *block] if pages[-1] and block[0].startswith(r"\multicolumn") else block
            room -= lines
        return [*pages, []] if below > room else pages


def _sides(column: Column) -> str:
    """How LaTeX sets a column: texts wrap, numbers stand on the right, where a long title above them wraps too."""
    if column.kind in ("text", "verdict"):
        return r">{\raggedright\arraybackslash}X"
    return "r" if len(str(column.title)) <= SHORT else r">{\raggedleft\arraybackslash}X"
