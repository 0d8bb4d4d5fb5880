"""The one door to the terminal: what goes through it has no power over the terminal, and holds no secret.

Names, texts and messages come from data, models and files. A sign that a terminal obeys, that reorders what is read,
or that nobody sees, is shown as its number (`\\x1b`, `\\u202e`), in pipes as on screens. JSON has its own rules.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from types import TracebackType
from typing import Any

from ragbench.old.core import folders
from ragbench.old.core.names import INVISIBLE

NAMED = {"\n": r"\n", "\r": r"\r", "\t": r"\t"}
GAP = 2  # spaces between two columns
QUIET_SECONDS = 30.0
"""Where no bar can be drawn a line is written at most so often."""


@lru_cache(maxsize=8)
def pattern(classes: tuple[str, ...] = tuple(INVISIBLE.values())) -> re.Pattern[str]:
    """One sign of any of these classes."""
    return re.compile(f"[{''.join(classes)}]")


LINES = 10
"""That anything takes that shows itself in a cell or at a prompt; `print` shows all of it."""


def brief(text: str, lines: int = LINES) -> str:
    """The first lines of a text, and how many more there are."""
    all_lines = text.splitlines()
    if len(all_lines) <= lines:
        return text
    return "\n".join([*all_lines[: lines - 1], f"… {len(all_lines) - lines + 1} more lines; print() shows all"])


def plain(text: object) -> str:
    """A text as one line without secrets, each sign that a terminal would obey, or hide, shown as its number."""
    return escaped(_mask()(str(text)))


def lines(text: object) -> list[str]:
    """`plain` of each line; those after the first are indented, so that none can pass for a line of ours."""
    first, *more = _mask()(str(text)).split("\n")
    return [escaped(first), *(f"  {escaped(line)}" for line in more)]


def say(text: object = "", *, err: bool = False, colour: str | None = None, bold: bool = False, mark: str = "") -> None:
    """Print one line, on a narrower screen several. mark: a sign before it, which alone is coloured then."""
    if mark:
        first, *more = _broken(f"{mark} {plain(text)}", err)
        _put([_styled(mark, err, colour, bold) + first.removeprefix(mark), *more], err)
    else:
        _put([_styled(line, err, colour, bold) for line in _broken(plain(text), err)], err)


def tell(text: object, *, err: bool = False, colour: str | None = None) -> None:
    """Print what has several lines, such as an error; those after the first are indented."""
    _put([_styled(part, err, colour) for line in lines(text) for part in _broken(line, err)], err)


def prose(text: object) -> None:
    """Print lines that ragbench wrote itself, such as a docstring or a Markdown table, not indented."""
    _put([part for line in _mask()(str(text)).split("\n") for part in _broken(escaped(line))])


def columns(rows: Iterable[Iterable[object]]) -> None:
    """Print lines of cells with tabs between them, and none in them: what programs read."""
    mask = _mask()
    _put("\t".join(escaped(mask(str(cell))) for cell in cells) for cells in rows)


def dump(value: Any, indent: int = 1, clean: Callable[[Any], Any] = lambda value: value) -> None:
    """Print a value as JSON (`ragbench.old.core.folders.of_json`): what a terminal would obey is escaped.

    Raises ValueError for NaN.
    """
    from ragbench.old.core.settings import secrets

    mask, obeyed = secrets.exact_masker(), pattern()
    for text in folders.of_json(value, indent, lambda part: secrets.masked(clean(part), mask)):
        sys.stdout.write("\n".join(obeyed.sub(_as_json, line) for line in text.split("\n")))
    sys.stdout.write("\n")
    sys.stdout.flush()


def table(
    titles: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    left: Collection[str] | None = None,
    firm: Collection[str] = (),
    bold: Collection[int] = (),
) -> None:
    """Print a table. left: columns that begin at the left; all, if None. firm: columns that are not folded.

    bold: the numbers of rows that stand out. A table that is too wide for a screen stands there in several, one below
    the other, each with the columns that name its rows.
    """
    from rich.cells import cell_len
    from rich.console import Console

    mask = _mask()  # once: to look for the secrets of a process takes longer than to mask a cell

    def shown(cell: object) -> str:
        return escaped(mask(str(cell)))

    lines = [[shown(cell) for cell in line] for line in (titles, *rows)]
    console = Console()
    if not console.is_terminal:  # in a file or a pipe nothing is folded
        console = Console(
            width=max(GAP * len(titles) + sum(max(map(cell_len, cells)) for cells in zip(*lines, strict=True)), 1)
        )
    sides = ["left" if left is None or title in left else "right" for title in titles]
    for number, part in enumerate(_parts(lines, [title in firm for title in titles], sides, console.width)):
        console.print(*([""] if number else []), _grid(lines, part, sides, bold), sep="\n")


def _grid(
    lines: Sequence[Sequence[str]], widths: Mapping[int, int], sides: Sequence[Any], bold: Collection[int]
) -> Any:
    """A table of the columns whose places and widths these are."""
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, pad_edge=False, header_style="bold")
    for place, width in widths.items():
        made.add_column(Text(lines[0][place]), justify=sides[place], width=width, overflow="fold")
    for number, cells in enumerate(lines[1:]):
        made.add_row(*(Text(cells[place]) for place in widths), style="bold" if number in bold else None)
    return made


def _parts(
    lines: Sequence[Sequence[str]], firm: Sequence[bool], sides: Sequence[str], room: int
) -> list[dict[int, int]]:
    """Tables below one another that hold all columns, each as width by place: no word or number is folded if it can be.

    What names a row, the columns at the left, stands in each of them; of texts alone that is the first.
    """
    from rich.cells import cell_len

    columns = list(zip(*lines, strict=True))
    whole = [max(map(cell_len, cells)) for cells in columns]
    words = [[[cell_len(word) for word in cell.split()] for cell in cells] for cells in columns]
    least = [max((length for cell in column for length in cell), default=0) for column in words]
    for place, cells in enumerate(columns):
        if firm[place] or (sides[place] == "right" and max(map(cell_len, cells[1:]), default=0) <= room // 3):
            least[place] = max([least[place], *map(cell_len, cells[0 if firm[place] else 1 :])])
    named = next((place for place, side in enumerate(sides) if side != "left"), 1)
    if _taken(least, range(named)) > room // 2:
        named = 1
    parts = [list(range(min(named, len(columns))))]
    for place in range(named, len(columns)):
        if _taken(least, [*parts[-1], place]) > room and len(parts[-1]) > named:
            parts.append(list(range(named)))
        parts[-1].append(place)
    return [_widths(whole, least, part, room) for part in parts]


def _taken(widths: Sequence[int] | Mapping[int, int], places: Sequence[int]) -> int:
    return sum(widths[place] for place in places) + GAP * (len(places) - 1)


def _widths(whole: Sequence[int], least: Sequence[int], places: Sequence[int], room: int) -> dict[int, int]:
    """The widest columns give way until all have room: down to their longest word, then, if need be, in its midst."""
    widths = {place: whole[place] for place in places}
    for floor in (least, [1] * len(least)):
        while _taken(widths, places) > room:
            loose = [place for place in places if widths[place] > floor[place]]
            if not loose:
                break
            widths[max(loose, key=lambda place: widths[place])] -= 1
    return widths


def agreed(question: str) -> bool:
    """Ask on the error channel: whether the answer is yes; none is no."""
    import typer

    return typer.confirm(plain(question), default=False, err=True)


def sure(question: str) -> None:
    """Ask, and end the command unless the answer is yes."""
    import typer

    if not agreed(question):
        raise typer.Abort


class Bars:
    """Bars with the time left, on a terminal; elsewhere one line for each when it begins, and one every half minute. A
    context manager.

    What a work says of itself stands below the bars, in as many lines as it takes. brief: nothing stays of them.
    """

    def __init__(self, *, brief: bool = False) -> None:
        from rich.console import Console, RenderableType
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
        from rich.table import Column
        from rich.text import Text

        class Drawn(Progress):
            def get_renderables(self) -> Iterable[RenderableType]:
                yield self.make_tasks_table(self.tasks)
                for task in self.tasks:
                    if work := task.fields["work"]:
                        yield Text(f"{task.description}: {work}" if len(self.tasks) > 1 else work)

        self._bars = Drawn(
            TextColumn("{task.description}", markup=False, table_column=Column(overflow="fold")),
            BarColumn(20),
            MofNCompleteColumn(table_column=Column(no_wrap=True)),
            TimeRemainingColumn(table_column=Column(no_wrap=True)),
            console=Console(stderr=True),
            disable=not sys.stderr.isatty(),
            transient=brief,
            redirect_stdout=sys.stdout.isatty(),
        )
        self._tasks: dict[str, Any] = {}
        self._paces: dict[str, _Pace] = {}

    def __enter__(self) -> Bars:
        self._bars.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._bars.stop()

    def show(self, name: str, done: int, total: int, work: str = "") -> None:
        """Draw the bar of that name; without a `total` it only begins."""
        if name not in self._tasks:
            self._tasks[name] = self._bars.add_task(plain(name), total=None, work="")
            if self._bars.disable:
                say(f"{name} …", err=True)
        if total > 0 and self._bars.disable:
            self._write(name, done, total, work)
        if total > 0 and not self._bars.disable:
            task = self._bars.tasks[self._tasks[name]]
            if done < task.completed:  # another work: the pace of the one before says nothing of it
                self._bars.reset(task.id, total=total)
            self._bars.update(task.id, completed=done, total=total, work=plain(work))

    def _write(self, name: str, done: int, total: int, work: str) -> None:
        now, pace = time.monotonic(), self._paces.get(name)
        if pace is None or not pace.done or done < pace.done or total != pace.total:  # at work now, or at another one
            self._paces[name] = _Pace(now, done, total, now)
        elif now - pace.said >= QUIET_SECONDS and done < total:
            left = (now - pace.begun) / (done - pace.done) * (total - done) / 60 if done > pace.done else None
            until = "" if left is None else f", about {max(left, 0.1):,.1f} min left"
            say(f"{name}{f', {work}' if work else ''}: {done:,} of {total:,}{until}", err=True)
            self._paces[name] = replace(pace, said=now)


@dataclass(frozen=True)
class _Pace:
    """Of a work without a screen: when it began, how much was done then and in all, and when a line was written."""

    begun: float
    done: int
    total: int
    said: float


def guard() -> None:
    """Lead through this door also what Python itself prints: traces, warnings, and what libraries log."""
    import logging
    import threading
    import traceback
    import warnings

    def trace(kind: type[BaseException], error: BaseException | None, place: TracebackType | None) -> None:
        tell("".join(traceback.format_exception(kind, error, place)).rstrip(), err=True)

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            tell(self.format(record), err=True)

    sys.excepthook = trace
    sys.unraisablehook = lambda raised: trace(raised.exc_type, raised.exc_value, raised.exc_traceback)
    threading.excepthook = lambda raised: trace(raised.exc_type, raised.exc_value, raised.exc_traceback)
    warnings.showwarning = lambda message, category, filename, lineno, file=None, line=None: tell(
        warnings.formatwarning(message, category, filename, lineno, line).rstrip(), err=True
    )
    logging.lastResort = Handler(logging.WARNING)


def _put(lines: Iterable[str], err: bool = False) -> None:
    stream = sys.stderr if err else sys.stdout
    stream.write("".join(f"{line}\n" for line in lines))
    stream.flush()


def _broken(line: str, err: bool = False) -> list[str]:
    """A line as it fits on a screen: broken at blanks, the rest indented; a longer path or word stays in one piece."""
    if not (sys.stderr if err else sys.stdout).isatty():
        return [line]
    import textwrap

    from rich.console import Console

    width, indent = Console(stderr=err).width, line[: len(line) - len(line.lstrip(" "))]
    if len(line) <= width:
        return [line]
    return textwrap.wrap(
        line.strip(" "), width, initial_indent=indent, subsequent_indent=f"{indent}  ", break_long_words=False,
        break_on_hyphens=False, expand_tabs=False, replace_whitespace=False,
    )  # fmt: skip


def _styled(line: str, err: bool, colour: str | None, bold: bool = False) -> str:
    """The line in a colour, where somebody sees colours."""
    stream = sys.stderr if err else sys.stdout
    if not (colour or bold) or os.environ.get("NO_COLOR") or not stream.isatty():
        return line
    import typer

    return typer.style(line, fg=colour, bold=bold or None)


def _mask() -> Callable[[str], str]:
    from ragbench.old.core.settings import secrets

    return secrets.masker()


def escaped(text: str) -> str:
    """A text with each sign that a terminal would obey, or hide, shown as its number; secrets are left in it."""
    return text if text.isascii() and text.isprintable() else pattern().sub(_as_number, text)


def _as_number(match: re.Match[str]) -> str:
    code = ord(match[0])
    if match[0] in NAMED:
        return NAMED[match[0]]
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _as_json(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\u{code:04x}" if code < 0x10000 else json.dumps(match[0])[1:-1]
