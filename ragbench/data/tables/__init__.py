"""A table: rows under declared columns, and one way each to write it as text, HTML, Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TextIO

from ragbench.core import terminal
from ragbench.core.language import DASH, MINUS, Translator, beside_zero, decimals, translator
from ragbench.core.templates import template
from ragbench.core.types import Estimate, Verdict
from ragbench.data.tables.latex import latex, stacked

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["text", "number", "interval", "p", "verdict", "count"]
ACTIVE = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""What a spreadsheet takes for the beginning of a formula, the full-width signs of East Asian programs among it."""
SHORT = 16
"""Signs of a title that an article's column of numbers has room for."""
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>()#|!~])")
_STEERING = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~])?|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""Control characters, with what an escape says; line ends and tabs stay."""
_CALL = re.compile(r"(?<![A-Za-z0-9_])@")
CALLS_NOBODY = "@&#8203;"  # with a space without width: else whoever is named there is written to
_ARROWS = {Verdict.BETTER: r"$\uparrow$", Verdict.WORSE: r"$\downarrow$", Verdict.SLIGHTLY_BETTER: r"$\nearrow$",
           Verdict.SLIGHTLY_WORSE: r"$\searrow$", Verdict.SAME: r"$\approx$",
           Verdict.CANNOT_BE_SHOWN: r"$\emptyset$", Verdict.CANNOT_BE_TOLD: "?"}  # fmt: skip


class Column(NamedTuple):
    """What stands in a column.

    kind: text; number: a float; interval: a Found; p: a float; verdict: its words; count: an int, words, or several of
    them as ints or Estimates. signed: numbers with a plus. firm: never folded on a terminal.
    """

    title: str
    kind: Kind = "text"
    signed: bool = False
    firm: bool = False


class Found(NamedTuple):
    """An interval, with the number that it is of where both share a cell.

    why: the reason where there is no interval. verdict, word: what was said of it where nothing else in the row says.
    """

    low: float | None = None
    high: float | None = None
    value: float | None = None
    why: str = ""
    verdict: Verdict | None = None
    word: str = ""


@dataclass(frozen=True, repr=False)
class Table:
    """Rows of cells under columns; a cell of None is a dash.

    title: what all rows have in common. notes: what must be read with the numbers, caveats among it: it goes wherever
    they go. digits: decimals of all numbers, or of each row's. language: of numbers, where people read them.
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Any, ...], ...]
    title: str = ""
    notes: tuple[str, ...] = ()
    digits: int | Sequence[int] = 3
    language: str = "en"

    def __len__(self) -> int:
        return len(self.rows)

    def column(self, title: str) -> list[Any]:
        """The cells of a column. Raises ValueError for a title that there is not."""
        place = [column.title for column in self.columns].index(title)
        return [row[place] for row in self.rows]

    def to_pandas(self) -> pd.DataFrame:
        """The cells as they are, nothing rounded: of an interval a column an end; None where nothing is known.

        `attrs["title"]` and `attrs["notes"]` are what must be read with the numbers.
        """
        import pandas as pd

        def plain(cell: Any) -> Any:
            if isinstance(cell, tuple) and not isinstance(cell, Found):
                return (
                    plain(cell[0])
                    if len({plain(part) for part in cell}) == 1
                    else " / ".join(map(str, map(plain, cell)))
                )
            return cell.n if isinstance(cell, Estimate) else cell

        made = pd.DataFrame({column.title: [plain(cell) for cell in cells] for column, cells in self._apart()})
        made.attrs |= {"title": self.title, "notes": list(self.notes)}
        return made

    def with_notes(self, *notes: str) -> Table:
        """The table with more to be read with it; empty texts are none."""
        return replace(self, notes=(*self.notes, *filter(None, notes)))

    def written(self, style: Style) -> list[list[str]]:
        """Every cell as a text."""
        digits = [self.digits] * len(self) if isinstance(self.digits, int) else self.digits
        return [
            [style.cell(column, cell, own) for column, cell in zip(self.columns, row, strict=True)]
            for row, own in zip(self.rows, digits, strict=True)
        ]

    def say(self) -> None:
        """Print the table and its notes on the terminal; nothing of one without rows."""
        if not self.rows:
            return
        if self.title:
            terminal.say(f"{self.title}:")
        left = {column.title for column in self.columns if column.kind in ("text", "verdict")}
        titles = [column.title for column in self.columns]
        terminal.table(
            titles, self.written(Style()), left=left, firm={column.title for column in self.columns if column.firm}
        )
        for note in self.notes:
            terminal.say(note)

    def __repr__(self) -> str:
        """The first ten lines of what `print` shows."""
        return terminal.brief(str(self))

    def __str__(self) -> str:
        lines = [[column.title for column in self.columns], *self.written(Spoken(translator(self.language)))]
        lines = [[terminal.plain(cell) for cell in line] for line in lines]
        widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
        sides = ["<" if column.kind in ("text", "verdict") else ">" for column in self.columns]
        form = "  ".join(f"{{:{side}{width}}}" for side, width in zip(sides, widths, strict=True))
        title = [f"{terminal.plain(self.title)}:"] if self.title else []
        return "\n".join([*title, *(form.format(*line).rstrip() for line in lines), *map(terminal.plain, self.notes)])

    def _repr_html_(self) -> str:
        """The table as HTML, every text escaped, its notes as paragraphs below."""
        rows = self.written(Spoken(translator(self.language)))
        return str(
            template("table.html.j2").module.table(
                [column.title for column in self.columns], rows, self.title, self.notes
            )
        )

    def markdown(self) -> str:
        """The table in Markdown, every sign of it escaped, its notes as paragraphs below."""
        rows = [[markdown(column.title) for column in self.columns], ["---"] * len(self.columns)]
        rows += self.written(Markdown(translator(self.language)))
        lines = [f"| {' | '.join(row)} |" for row in rows]
        for note in self.notes:
            lines += ["", markdown(note)]
        return "\n".join(lines) + "\n"

    def csv(self, *, raw: bool = False) -> str:
        """The table as `write_csv` writes it."""
        made = io.StringIO()
        self.write_csv(made, raw=raw)
        return made.getvalue()

    def write_csv(self, out: TextIO, *, raw: bool = False, head: bool = True) -> None:
        """The table for other programs (RFC 4180), without its notes: each line is a row.

        Numbers are whole and have a point in every language; an interval is a column an end, and one each for its
        number and for the word or reason beside it where any cell has one; what is not known is empty. Texts that a
        spreadsheet would execute begin with an apostrophe unless `raw`, numbers are always numbers. Lines end with both
        signs, so that a text with either of them is quoted: unquoted, a carriage return would begin a line, and what
        follows it a cell. head: whether titles come first.
        """
        style = Exact(raw=raw)
        lines = csv.writer(out, lineterminator="\r\n")
        apart = list(self._apart())
        lines.writerows([[style.text(column.title) for column, _cells in apart]] if head else [])
        for row in zip(*(cells for _column, cells in apart), strict=True):
            lines.writerow([style.cell(column, cell, 0) for (column, _cells), cell in zip(apart, row, strict=True)])

    def _apart(self) -> Iterator[tuple[Column, list[Any]]]:
        """The columns with their cells, of intervals one for each of what their cells hold."""
        for place, column in enumerate(self.columns):
            cells = [row[place] for row in self.rows]
            if column.kind != "interval":
                yield column, cells
                continue
            intervals = [cell or Found() for cell in cells]
            numbers = {"": [interval.value for interval in intervals], "low": [interval.low for interval in intervals],
                       "high": [interval.high for interval in intervals]}  # fmt: skip
            for end, own in numbers.items():
                if end or any(number is not None for number in own):
                    yield Column(f"{column.title} {end}".strip(), "number"), own
            notes = [interval.word or interval.why or None for interval in intervals]
            if any(notes):
                yield Column(f"{column.title} note"), notes

    def latex(self, name: str, *, grouped: bool = False) -> str:
        """The table for an article, as wide as its text (booktabs, tabularx, siunitx), its notes as the caption.

        name: its label, as it is where it has a colon (`tab:mine`), else behind `tab:`.
        grouped: the first column stands above the rows that share it, in a row of its own.
        """
        groups, columns = [row[0] for row in self.rows] if grouped else [], self.columns[1 if grouped else 0 :]
        titles = [f"${column.title}$" if column.title in ("n", "p") else latex(column.title) for column in columns]
        written, body = self.written(Latex(translator(self.language))), []
        for place, row in enumerate(written):
            if grouped and groups[place] not in groups[max(0, place - 1) : place]:
                body += [r"\addlinespace"] if place else []
                body.append(rf"\multicolumn{{{len(columns)}}}{{@{{}}l}}{{{row[0]}}} \\")
            body.append(" & ".join(row[1:] if grouped else row) + r" \\")
        label = name if ":" in name else f"tab:{re.sub('[^A-Za-z0-9-]', '-', name)}"
        mark = r"\sisetup{output-decimal-marker={,}}" if translator(self.language).number(0.5, 1) == "0,5" else ""
        return (
            "% needs \\usepackage{booktabs,tabularx,siunitx}\n\\begin{table}\n"
            f"  \\centering\\footnotesize\\sloppy\\setlength{{\\tabcolsep}}{{4pt}}{mark}\n"
            f"  \\caption{{{latex(' '.join(self.notes))}}}\n  \\label{{{label}}}\n"
            f"  \\begin{{tabularx}}{{\\linewidth}}{{@{{}}{''.join(map(_sides, columns))}@{{}}}}\n"
            f"    \\toprule\n    {' & '.join(titles)} \\\\\n    \\midrule\n"
            + "".join(f"    {row}\n" for row in body)
            + "    \\bottomrule\n  \\end{tabularx}\n\\end{table}\n"
        )


def _sides(column: Column) -> str:
    """How LaTeX sets a column: texts wrap, numbers stand on the right, where a long title above them wraps too."""
    if column.kind in ("text", "verdict"):
        return r">{\raggedright\arraybackslash}X"
    return "r" if len(column.title) <= SHORT else r">{\raggedleft\arraybackslash}X"


class Style:
    """How cells are written on a terminal: no sign between thousands, four decimals of a p."""

    nothing = DASH

    def cell(self, column: Column, cell: Any, digits: int) -> str:
        """A cell as its column's kind is written."""
        if column.kind == "interval":
            return self.nothing if cell is None else self.found(cell, digits, column.signed)
        if column.kind in ("number", "p"):
            if _unknown(cell):
                return self.nothing
            return self.p(cell) if column.kind == "p" else self.number(cell, digits, column.signed)
        if column.kind == "count":
            return cell if isinstance(cell, str) else self.counts(cell if isinstance(cell, tuple) else (cell,), digits)
        return self.nothing if cell is None else self.text(str(cell))

    def found(self, interval: Found, digits: int, signed: bool) -> str:
        """`0.703 [0.645, 0.758] (better)`, or what is there of it."""
        if interval.value is not None and interval.value != interval.value:
            return self.nothing
        known = not (_unknown(interval.low) or _unknown(interval.high))
        ends = self.ends(interval.low, interval.high, digits, signed) if known else self.without(interval)  # type: ignore[arg-type]
        number = "" if interval.value is None else self.number(interval.value, digits, signed)
        return " ".join(filter(None, (number, ends, self.mark(interval))))

    def number(self, value: float, digits: int, signed: bool) -> str:
        """A number with a true minus sign, as the sentences below a table have it, and a plus if `signed`."""
        return f"{value:{'+' if signed else ''}.{digits}f}".replace("-", MINUS)

    def ends(self, low: float, high: float, digits: int, signed: bool) -> str:
        """Both ends of an interval."""
        return " … ".join(self.end(end, digits, signed) for end in (low, high))

    def end(self, value: float, digits: int, signed: bool) -> str:
        """One end; of a difference see `ragbench.core.language.decimals`."""
        places = decimals(value, digits) if signed else digits
        return beside_zero(value) if places is None else self.number(value, places, signed)

    def without(self, interval: Found) -> str:
        """What stands in place of an interval."""
        return f"{self.nothing} {interval.why}".strip()

    def mark(self, interval: Found) -> str:
        """What was said of the number."""
        return f"({interval.word})" if interval.word else ""

    def p(self, value: float) -> str:
        """The p of a test; none is written as 0 that is not."""
        return "<0.0001" if 0 < value < 0.0001 else self.number(value, 4, False)

    def count(self, value: int) -> str:
        """A whole number."""
        return str(value)

    def counts(self, estimates: Sequence[Estimate | int | None], digits: int) -> str:
        """How many values the numbers of a row stand on; once where all stand on as many."""
        each = [
            self.nothing
            if estimate is None
            else self.count(estimate)
            if isinstance(estimate, int)
            else self.counted(estimate, digits)
            for estimate in estimates
        ]
        return " / ".join(each if len(set(each)) > 1 else each[:1])

    def counted(self, estimate: Estimate, digits: int) -> str:
        """How many values a number stands on."""
        return self.count(estimate.n)

    def text(self, text: str) -> str:
        """A text."""
        return text


class Spoken(Style):
    """How cells are written for people, in their language's form."""

    def __init__(self, _: Translator) -> None:
        self._ = _

    def number(self, value: float, digits: int, signed: bool) -> str:
        """A number with a true minus sign."""
        return self._.number(value, digits, signed=signed)

    def ends(self, low: float, high: float, digits: int, signed: bool) -> str:
        """`[0.645, 0.758]`."""
        return self._.interval(low, high, digits, signed=signed)

    def p(self, value: float) -> str:
        """`0.499` or `< 0.001`."""
        return self._.p_value(value)

    def count(self, value: int) -> str:
        """A whole number with the language's thousands separator."""
        return self._.integer(value)


class Markdown(Spoken):
    """How cells are written in Markdown."""

    def p(self, value: float) -> str:
        """`\\< 0.001`."""
        return markdown(super().p(value))

    def text(self, text: str) -> str:
        """A text, every sign of Markdown escaped."""
        return markdown(text)


class Latex(Spoken):
    """How cells are written in an article: numbers for siunitx, intervals below them, verdicts as arrows."""

    nothing = "--"

    def number(self, value: float, digits: int, signed: bool) -> str:
        r"""`\num{+0.200}`."""
        rounded = round(value, digits) + 0.0
        return rf"\num{{{rounded:{'+' if signed and rounded else ''}.{digits}f}}}"

    def found(self, interval: Found, digits: int, signed: bool) -> str:
        """The number with its verdict, its interval below it."""
        if (
            interval.value is None
            or interval.value != interval.value
            or _unknown(interval.low)
            or _unknown(interval.high)
        ):
            return super().found(interval, digits, signed)
        number = " ".join(filter(None, (self.number(interval.value, digits, signed), self.mark(interval))))
        return stacked(number, self.ends(interval.low, interval.high, digits, signed))  # type: ignore[arg-type]

    def ends(self, low: float, high: float, digits: int, signed: bool) -> str:
        r"""`[\num{0.645}, \num{0.758}]`, with a semicolon where the decimal mark is a comma."""
        return self._.ends(*(self.end(end, digits, signed) for end in (low, high)))

    def end(self, value: float, digits: int, signed: bool) -> str:
        r"""`\num{+0.0004}`; `$>0$` for what no number of decimals tells from 0."""
        places = decimals(value, digits) if signed else digits
        return f"${beside_zero(value)}$" if places is None else self.number(value, places, signed)

    def without(self, interval: Found) -> str:
        """Nothing: the number stands alone; the sign of a reason that the caption tells."""
        return "" if interval.value is not None else latex(interval.why) if interval.why else self.nothing

    def mark(self, interval: Found) -> str:
        """The arrow of a verdict."""
        return _ARROWS.get(interval.verdict, "") if interval.verdict else ""

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
        _ = self._
        count = latex(
            _("{part} of {whole}", part=_.integer(estimate.n), whole=_.integer(estimate.n + estimate.n_unmeasured))
        )
        if estimate.floor is None or estimate.ceiling is None:
            return count
        return stacked(count, self.ends(estimate.floor, estimate.ceiling, digits, False))

    def text(self, text: str) -> str:
        """A text, every sign of LaTeX's language escaped."""
        return latex(text)


class Exact(Style):
    """How cells are written for other programs: each as what it is, nothing rounded.

    raw: texts as they are, also those that a spreadsheet would execute.
    """

    nothing = ""

    def __init__(self, *, raw: bool) -> None:
        self.raw = raw

    def cell(self, column: Column, cell: Any, digits: int) -> str:
        """A cell by its own kind: a column may hold counts and words."""
        if isinstance(cell, str):
            return self.text(cell)
        if isinstance(cell, Estimate | tuple):
            return self.counts(cell if isinstance(cell, tuple) else (cell,), digits)
        if _unknown(cell):
            return self.nothing
        return str(cell) if isinstance(cell, int | float) else self.text(str(cell))

    def text(self, text: str) -> str:
        """A text; with an apostrophe before it if a spreadsheet would take it for a formula.

        White space before the sign does not help: programs strip it. What steers a terminal is left out, unless `raw`.
        """
        text = text if self.raw else _STEERING.sub("", text)
        active = text.startswith(ACTIVE) or text.lstrip().startswith(ACTIVE)
        return f"'{text}" if active and not self.raw else text


def markdown(text: object) -> str:
    """A text for Markdown, every sign of it escaped, on one line; an @ calls nobody where it is shown as a comment."""
    return _CALL.sub(CALLS_NOBODY, _MARKDOWN.sub(r"\\\1", " ".join(str(text).split())))


def _unknown(value: Any) -> bool:
    return value is None or value != value
