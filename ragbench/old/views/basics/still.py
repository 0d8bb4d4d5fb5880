"""A figure in Plotly's own words as an SVG that needs no script: for whoever shows a notebook without one.

It knows what our views use, as the script of pages does (`report_template/charts.js`), and refuses the rest.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from html import unescape
from typing import Any

from markupsafe import Markup, escape

from ragbench.old.views.basics.text import FROM_RIGHT

WIDTH = 760  # of a page's column of text
LINE, GAP = 15, 8
"""Pixels from one line of text to the next, and between tick labels and what they name."""
LEGEND, TITLE = 22, 24  # a line of 12 pixels with its distances
DASHES = {"dot": "2 3", "dash": "7 4", "dashdot": "7 3 2 3", "longdash": "12 4", "longdashdot": "12 3 2 3"}
KINDS = ("scatter", "bar", "heatmap", "scatter3d")
LETTERS: Mapping[str, float] = {
    **dict.fromkeys("iljtfr.,:;'|!()[]{} ·", 0.32), **dict.fromkeys("mwMW%@—…", 0.88),
    **dict.fromkeys("ABCDEFGHKNOPQRUVXYZ", 0.66),
}  # fmt: skip
"""Width of a letter as a share of the font's size, of a plain sans-serif; of others a common one."""
_COLOUR = re.compile(r"rgba?\((\d+), ?(\d+), ?(\d+)(?:, ?([\d.]+))?\)")


def drawn(figure: Mapping[str, Any], width: int = WIDTH) -> Markup:
    """The figure as an `<svg>`, with its title and its legend where it has them; the same figure, the same bytes.

    Raises ValueError for a kind of trace that is not known here.
    """
    return Markup(_Drawing(figure, width).text())  # noqa: S704 - every text in it is escaped


def _lines(text: Any) -> list[list[tuple[str, bool]]]:
    """Lines of (text, whether it is bold), out of the little HTML that Plotly reads."""
    lines = []
    for line in str(text).split("<br>"):
        parts = re.split(r"<b>|</b>", line)
        lines.append([(unescape(part), place % 2 == 1) for place, part in enumerate(parts) if part])
    return lines


def _plain(text: Any) -> list[str]:
    return ["".join(part for part, _ in line).strip() for line in _lines(text)]


def wide(text: str, size: float) -> float:
    """About how many pixels a line of text takes."""
    return size * sum(LETTERS.get(letter, 0.6 if letter.isascii() else 0.63) for letter in text)


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if value else "0"


def _node(tag: str, inner: str = "", /, **given: Any) -> str:
    said = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(_n(value) if isinstance(value, float) else str(value))}"'
        for name, value in given.items()
        if value is not None
    )
    return f"<{tag}{said}>{inner}</{tag}>" if inner else f"<{tag}{said}/>"


def _write(text: Any, x: float, y: float, *, size: float = 12, fill: str = "#7a858f", anchor: str = "middle",
           angle: float = 0) -> str:  # fmt: skip
    rows = []
    for place, line in enumerate(_lines(text)):
        inner = "".join(
            _node("tspan", str(escape(part)), font_weight=600) if bold else str(escape(part)) for part, bold in line
        )
        rows.append(_node("tspan", inner or " ", x=_n(x), dy=LINE if place else 0))
    turned = f"rotate({_n(angle)} {_n(x)} {_n(y)})" if angle else None
    way = "plaintext" if FROM_RIGHT.search(str(text)) else None  # as dir="auto", which no SVG has
    return _node("text", "".join(rows), x=_n(x), y=_n(y), font_size=_n(size), fill=fill, text_anchor=anchor,
                 transform=turned, unicode_bidi=way)  # fmt: skip


def _number(value: float, digits: int, separators: str) -> str:
    whole, _, rest = f"{abs(value):.{digits}f}".partition(".")
    if len(whole) > 4:
        whole = f"{int(whole):,}".replace(",", separators[1:])
    sign = "\N{MINUS SIGN}" if value < 0 and round(value, digits) else ""
    return sign + whole + (separators[0] + rest if rest else "")


def _said(value: Any, form: str | None, separators: str, step: float = 0.0) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if percent := re.fullmatch(r"\.(\d)%", form or ""):
        return _number(100 * value, int(percent[1]), separators) + "%"
    if fixed := re.fullmatch(r"\.(\d)f", form or ""):
        return _number(value, int(fixed[1]), separators)
    digits = (
        next((decimals for decimals in range(6) if abs(step * 10**decimals - round(step * 10**decimals)) < 1e-6), 6)
        if step
        else 3
    )
    return _number(value, digits, separators)


def _known(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


class _Axis:
    """Where values stand across or up. start, end: in pixels, once the margins are known."""

    def __init__(self, own: Mapping[str, Any], letter: str, traces: Sequence[Mapping[str, Any]]) -> None:
        self.own, self.letter, self.start, self.end = own, letter, 0.0, 0.0
        self.log = own.get("type") == "log"
        values = [value for trace in traces for value in trace.get(letter) or ()]
        words = any(isinstance(value, str) for value in values)
        self.names = list(dict.fromkeys(values)) if own.get("type") == "category" or words else None
        low, high = own["range"] if own.get("range") else self._reach(traces)
        self.low, self.high = float(low), float(high)
        self.angle, self.below = 0.0, 0.0

    def number(self, value: Any) -> float:
        if self.names is not None and isinstance(value, str):
            return self.names.index(value) if value in self.names else math.nan
        if not _known(value):
            return math.nan
        if self.log:
            return math.log10(value) if value > 0 else math.nan
        return float(value)

    def at(self, number: float) -> float:
        return self.start + (number - self.low) / ((self.high - self.low) or 1) * (self.end - self.start)

    def place(self, value: Any) -> float:
        return self.at(self.number(value))

    @property
    def is_shown(self) -> bool:
        return self.own.get("visible") is not False and self.own.get("showticklabels") is not False

    def _reach(self, traces: Sequence[Mapping[str, Any]]) -> tuple[float, float]:
        """From the least to the greatest that is drawn, with room for marks."""
        letter, ends, room = self.letter, list[float](), 0.0
        for trace in traces:
            kind = trace.get("type", "scatter")
            along = kind == "bar" and (trace.get("orientation") == "h") == (letter == "x")
            whole = kind == "heatmap" or (kind == "bar" and not along)
            if "markers" in trace.get("mode", "") or along or (letter == "y" and kind == "scatter"):
                room = 0.05
            reach = trace.get(f"error_{letter}") or {}
            for place, value in enumerate(trace.get(letter) or ()):
                at = self.number(value)
                if not math.isfinite(at):
                    continue
                base = (_of(trace.get("base"), place) or 0.0) if along else 0.0
                ends += [at - 0.5, at + 0.5] if whole else [base, base + at] if along else [at]
                if reach.get("array") and reach.get("visible") is not False:
                    up, down = (_of(reach.get(side), place) or 0.0 for side in ("array", "arrayminus"))
                    ends += [base + at + up, base + at - down]
        ends = [end for end in ends if math.isfinite(end)] or [0.0, 1.0]
        low, high = min(ends), max(ends)
        if self.names is not None:
            low, high = min(low, -0.5), max(high, len(self.names) - 0.5)
        zero = self.own.get("rangemode") == "tozero" or (
            self.names is None and any(trace.get("type") == "bar" for trace in traces)
        )
        if zero and not self.log:
            low, high = min(0.0, low), max(0.0, high)
        if low == high:
            low, high = low - 0.5, high + 0.5
        if self.names is None:
            pad = (high - low) * room
            low, high = (low if zero and low == 0 else low - pad), (high if zero and high == 0 else high + pad)
        return (high, low) if self.own.get("autorange") == "reversed" else (low, high)

    def ticks(self, separators: str, length: float) -> list[tuple[float, str]]:
        """Each a place in the axis's own measure, and what is said of it."""
        own, low, high = self.own, *sorted((self.low, self.high))
        form, values = own.get("tickformat"), own.get("tickvals")
        if self.names is not None and values is None:
            return [(float(place), str(name)) for place, name in enumerate(self.names)]
        if values is not None:
            step = abs(values[1] - values[0]) if len(values) > 1 and all(map(_known, values[:2])) else 0.0
            words = own.get("ticktext") or [_said(value, form, separators, step) for value in values]
            pairs = [(self.number(value), str(text)) for value, text in zip(values, words, strict=False)]
            return [(at, text) for at, text in pairs if low - 1e-9 <= at <= high + 1e-9]
        if self.log:
            return [(float(exponent), _said(10.0**exponent, form, separators, 10.0**exponent))
                    for exponent in range(math.ceil(low), math.floor(high) + 1)]  # fmt: skip
        rough = (high - low) / min(own.get("nticks") or 8, max(2.0, length / 45))
        power = 10.0 ** math.floor(math.log10(rough))
        step = own.get("dtick") or next(
            (factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999), rough
        )
        count = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
        return [(tick * step, _said(tick * step, form, separators, step)) for tick in count]


def _of(values: Any, place: int) -> Any:
    value = values[place] if isinstance(values, list | tuple) and place < len(values) else values
    return None if isinstance(value, list | tuple) or (isinstance(value, float) and math.isnan(value)) else value


class _Drawing:
    def __init__(self, figure: Mapping[str, Any], width: int) -> None:
        self.traces: list[Mapping[str, Any]] = list(figure["data"])
        if strange := [trace["type"] for trace in self.traces if trace.get("type", "scatter") not in KINDS]:
            raise ValueError(f"{strange[0]}: figures are made of {', '.join(KINDS)}")
        self.layout, self.width = figure.get("layout", {}), width
        self.separators = str(self.layout.get("separators", ".,"))
        self.height = float(self.layout.get("height") or 360)
        self.axes = {letter: self._axes(letter) for letter in "xy"}
        self.parts: list[str] = []

    def text(self) -> str:
        self._measure()
        self._head()
        if any(trace.get("type") == "scatter3d" for trace in self.traces):
            self._space()
        else:
            self._plane()
        words = str((self.layout.get("title") or {}).get("text") or "")
        said = _node("title", str(escape(" ".join(_plain(words))))) if words else ""
        return _node(
            "svg", said + "".join(self.parts), xmlns="http://www.w3.org/2000/svg", width=self.width,
            height=_n(self.height), viewBox=f"0 0 {self.width} {_n(self.height)}", role="img",
            style="max-width:100%;height:auto", font_family="system-ui, sans-serif",
        )  # fmt: skip

    def _axes(self, letter: str) -> dict[str, _Axis]:
        flat = [drawn for drawn in self.traces if drawn.get("type") != "scatter3d"]
        layout = {key: own for key, own in self.layout.items() if key.startswith(f"{letter}axis")}
        for trace in flat:  # Plotly makes the axes that a figure says nothing of
            layout.setdefault(f"{letter}axis{trace.get(f'{letter}axis', letter)[1:]}", {})
        axes = {}
        for key, own in layout.items():
            suffix = key[5:]
            alike = {suffix, own["matches"][1:] if own.get("matches") else suffix}
            alike |= {name[5:] for name, axis in layout.items() if axis.get("matches") == letter + suffix}
            axes[suffix] = _Axis(own, letter, [t for t in flat if t.get(f"{letter}axis", letter)[1:] in alike])
        return axes

    def _measure(self) -> None:
        """Margins with room for what stands beside the axes; then where each axis begins and ends."""
        given = self.layout.get("margin") or {}
        left, right, top, bottom = (float(given.get(side, 8)) for side in "lrtb")
        named = self._named()
        head = (TITLE if (self.layout.get("title") or {}).get("text") else 0) + (LEGEND if named else 0)
        self.height += max(0.0, head + 8 - top)
        top = max(top, head + 8)
        for axis in self.axes["y"].values():
            if axis.is_shown and axis.own.get("automargin") is not False:
                size = (axis.own.get("tickfont") or {}).get("size", 13)
                ticks = axis.ticks(self.separators, self.height / 2)
                widest = max((wide(line, size) for _, text in ticks for line in _plain(text)), default=0.0)
                left = max(left, min(self.width * 0.5, widest + GAP + 2))
        for axis in self.axes["x"].values():
            a, b = axis.own.get("domain") or (0, 1)
            length = (b - a) * (self.width - left - right)
            ticks = axis.ticks(self.separators, length) if axis.is_shown else []
            size = (axis.own.get("tickfont") or {}).get("size", 12)
            widths = [max((wide(line, size) for line in _plain(text)), default=0.0) for _, text in ticks]
            widest = max(widths, default=0.0)
            crowded = axis.names is not None and ticks and widest + 3 > length / len(ticks)
            axis.angle = float(axis.own.get("tickangle", -35 if crowded else 0))
            lines = max((len(_plain(text)) for _, text in ticks), default=0)
            tall = widest * math.sin(math.radians(abs(axis.angle))) + 12 if axis.angle else lines * LINE
            title = (axis.own.get("title") or {}).get("text")
            axis.below = (tall + GAP if ticks else 4) + (LINE + 4 if title else 0)
            floor = self.axes["y"].get(str(axis.own.get("anchor") or "y")[1:])
            if floor is None or (floor.own.get("domain") or (0, 1))[0] == 0:
                bottom = max(bottom, axis.below)
            if axis.angle and widths:
                left = max(left, min(self.width * 0.4, widths[0] * math.cos(math.radians(axis.angle))))
            elif b == 1 and widths:
                right = max(right, widths[-1] / 2 + 1)
        self.top, self.left = top, left
        self.inner = (left, top, self.width - left - right, max(1.0, self.height - top - bottom))
        x, y, width, height = self.inner
        for axis in self.axes["x"].values():
            axis.start, axis.end = (x + share * width for share in axis.own.get("domain") or (0, 1))
        for axis in self.axes["y"].values():
            axis.start, axis.end = (y + (1 - share) * height for share in axis.own.get("domain") or (0, 1))
        for axis in self.axes["y"].values():
            if axis.own.get("scaleanchor") and (other := self.axes["x"].get(axis.own["scaleanchor"][1:])):
                units = [abs(paired.high - paired.low) / abs(paired.end - paired.start) for paired in (axis, other)]
                for pair_axis in (axis, other):  # one unit up is as long as one across
                    middle, half = (
                        (pair_axis.low + pair_axis.high) / 2,
                        max(units) * abs(pair_axis.end - pair_axis.start) / 2,
                    )
                    pair_axis.low, pair_axis.high = middle - half, middle + half

    def _named(self) -> list[Mapping[str, Any]]:
        """The traces that the legend names."""
        if not self.layout.get("showlegend"):
            return []
        by_name: dict[str, Mapping[str, Any]] = {}
        for trace in self.traces:
            if trace.get("name") and trace.get("showlegend") is not False:
                by_name.setdefault(str(trace["name"]), trace)
        return list(by_name.values())

    def _head(self) -> None:
        title = self.layout.get("title") or {}
        y = 18.0
        if title.get("text"):
            self.parts.append(_write(title["text"], 4, y, size=15, anchor="start"))
            y += TITLE
        x = 10.0
        for trace in self._named():
            marker, line = trace.get("marker") or {}, trace.get("line") or {}
            look = {"symbol": _first(marker.get("symbol")), "size": 8}
            look["color"] = _first(marker.get("color")) or line.get("color")
            self.parts.append(_mark(look, x, y - 4, 0) + _write(trace["name"], x + 9, y, anchor="start"))
            x += 30 + wide(" ".join(_plain(trace["name"])), 12)

    def _plane(self) -> None:
        for axis in self.axes["y"].values():
            self._up(axis)
        for axis in self.axes["x"].values():
            self._across(axis)
        for overlay in self.layout.get("shapes") or ():
            ends = {f"{letter}{end}": self._at(letter, overlay.get(f"{letter}ref"), overlay[f"{letter}{number}"])
                    for letter in "xy" for end, number in (("1", "0"), ("2", "1"))}  # fmt: skip
            line = overlay.get("line") or {}
            self.parts.append(_node("line", **ends, stroke=line.get("color"), stroke_width=line.get("width", 1),
                                    stroke_dasharray=DASHES.get(line.get("dash", ""))))  # fmt: skip
        for trace in self.traces:
            x, y = (self.axes[letter].get(str(trace.get(f"{letter}axis", letter))[1:]) for letter in "xy")
            if x is None or y is None:
                continue
            made = "".join({"bar": self._bar, "heatmap": self._heatmap}.get(trace["type"], self._scatter)(trace, x, y))
            self.parts.append(_node("g", made, opacity=trace.get("opacity")) if made else "")
        for overlay in self.layout.get("annotations") or ():
            if overlay.get("visible") is False:
                continue
            font = overlay.get("font") or {}
            self.parts.append(_write(
                overlay["text"], self._at("x", overlay.get("xref"), overlay["x"]),
                self._at("y", overlay.get("yref"), overlay["y"]) + (-4 if overlay.get("yanchor") == "bottom" else 4),
                size=font.get("size", 12), fill=font.get("color", "#7a858f"),
                anchor={"left": "start", "right": "end"}.get(overlay.get("xanchor", ""), "middle"),
            ))  # fmt: skip

    def _at(self, letter: str, reference: str | None, value: Any) -> float:
        if reference == "paper":
            x, y, width, height = self.inner
            return x + value * width if letter == "x" else y + (1 - value) * height
        return self.axes[letter][str(reference or letter)[1:]].place(value)

    def _up(self, axis: _Axis) -> None:
        if axis.own.get("visible") is False:
            return
        across = self.axes["x"][str(axis.own.get("anchor") or "x")[1:]]
        font = axis.own.get("tickfont") or {"size": 13}
        for at, text in axis.ticks(self.separators, abs(axis.end - axis.start)):
            y = axis.at(at)
            if axis.own.get("showgrid"):
                self.parts.append(_grid(across.start, across.end, y, y))
            if axis.own.get("showticklabels") is not False:
                lower = (len(_lines(text)) - 1) * LINE / 2
                self.parts.append(_write(text.rstrip(), across.start - GAP, y + 4 - lower, anchor="end",
                                         size=font.get("size", 12), fill=font.get("color", "#7a858f")))  # fmt: skip

    def _across(self, axis: _Axis) -> None:
        if axis.own.get("visible") is False:
            return
        up = self.axes["y"][str(axis.own.get("anchor") or "y")[1:]]
        floor, ceiling = max(up.start, up.end), min(up.start, up.end)
        font, free = axis.own.get("tickfont") or {}, -math.inf
        size = font.get("size", 12)
        for at, text in axis.ticks(self.separators, axis.end - axis.start):
            x = axis.at(at)
            if axis.own.get("showgrid"):
                self.parts.append(_grid(x, x, ceiling, floor))
            half = 6 if axis.angle else max((wide(line, size) for line in _plain(text)), default=0) / 2
            if axis.own.get("showticklabels") is False or x - half < free:
                continue  # labels that would touch the one before them are left out
            free = x + half + (0 if axis.angle else 4)
            self.parts.append(_write(
                _plain(text)[0] if axis.angle else text, x, floor + GAP + 9, size=size, angle=axis.angle,
                anchor="end" if axis.angle else "middle", fill=font.get("color", "#7a858f"),
            ))  # fmt: skip
        if axis.own.get("showline"):
            self.parts.append(_node("line", x1=axis.start, x2=axis.end, y1=floor, y2=floor,
                                    stroke=axis.own.get("linecolor", "#7a858f")))  # fmt: skip
        if title := (axis.own.get("title") or {}).get("text"):
            self.parts.append(_write(title, (axis.start + axis.end) / 2, floor + axis.below - 3))

    def _scatter(self, trace: Mapping[str, Any], x: _Axis, y: _Axis) -> Iterator[str]:
        points = [(x.place(a), y.place(b)) for a, b in zip(trace.get("x") or (), trace.get("y") or (), strict=False)]
        there = [all(map(math.isfinite, point)) for point in points]
        mode, line = trace.get("mode", "lines"), trace.get("line") or {}
        if trace.get("fill") == "toself":
            ring = "L".join(f"{_n(a)} {_n(b)}" for (a, b), known in zip(points, there, strict=True) if known)
            if ring:
                yield _node("path", d=f"M{ring}Z", fill=trace.get("fillcolor"))
            return
        if "lines" in mode:
            path, down = "", False
            for (a, b), known in zip(points, there, strict=True):
                step = "M{a} {b}" if not down else "H{a}V{b}" if line.get("shape") == "hv" else "L{a} {b}"
                path, down = path + (step.format(a=_n(a), b=_n(b)) if known else ""), known
            dash, thickness = DASHES.get(line.get("dash", "")), line.get("width", 2)
            yield _node("path", d=path or None, fill="none", stroke=line.get("color"), stroke_linejoin="round",
                        stroke_width=thickness, stroke_dasharray=dash)  # fmt: skip
        for letter, axis, own in (("x", x, 1), ("y", y, 0)):
            values, reach = trace.get(letter) or (), trace.get(f"error_{letter}")
            yield from _reaches(
                reach, axis, [axis.number(value) for value in values], [point[own] for point in points], there
            )
        marker = trace.get("marker") or {}
        for place, (a, b) in enumerate(points):
            if there[place] and "markers" in mode:
                yield _mark(marker, a, b, place)
            if there[place] and "text" in mode:
                font = trace.get("textfont") or {}
                yield _write(
                    trace["text"][place], a, b + 4, size=font.get("size", 12), fill=font.get("color", "#7a858f")
                )

    def _bar(self, trace: Mapping[str, Any], x: _Axis, y: _Axis) -> Iterator[str]:
        lying = trace.get("orientation") == "h"
        length, aside, long, short = (x, y, "x", "y") if lying else (y, x, "y", "x")
        half, look = (1 - self.layout.get("bargap", 0.2)) / 2, trace.get("marker") or {}
        bases = [_of(trace.get("base"), place) or 0.0 for place in range(len(trace[long]))]
        ends = [base + (value if _known(value) else math.nan) for base, value in zip(bases, trace[long], strict=True)]
        middles = [aside.place(value) for value in trace[short]]
        for place, end in enumerate(ends):
            at = aside.number(trace[short][place])
            if not (math.isfinite(end) and math.isfinite(at)):
                continue
            a, b, c, d = length.at(bases[place]), length.at(end), aside.at(at - half), aside.at(at + half)
            left, right, top, bottom = (a, b, c, d) if lying else (c, d, a, b)
            edge, colour, strong = look.get("line") or {}, *(_of(look.get(key), place) for key in ("color", "opacity"))
            yield _node("rect", x=min(left, right), y=min(top, bottom), width=abs(right - left),
                        height=abs(bottom - top), fill=colour, opacity=strong,
                        stroke=_of(edge.get("color"), place) if edge.get("width") else None,
                        stroke_width=edge.get("width") or None)  # fmt: skip
        yield from _reaches(trace.get(f"error_{long}"), length, ends, middles, list(map(math.isfinite, ends)))

    def _heatmap(self, trace: Mapping[str, Any], x: _Axis, y: _Axis) -> Iterator[str]:
        low, high = trace["zmin"], trace["zmax"]
        for row, cells in enumerate(trace["z"]):
            for column, value in enumerate(cells):
                if not _known(value):
                    continue
                left, right = sorted((x.at(trace["x"][column] - 0.5), x.at(trace["x"][column] + 0.5)))
                top, bottom = sorted((y.at(trace["y"][row] - 0.5), y.at(trace["y"][row] + 0.5)))
                share = min(1.0, max(0.0, (value - low) / (high - low)))
                yield _node("rect", x=left, y=top, width=right - left - 1, height=bottom - top - 1,
                            fill=_mixed(trace["colorscale"], share))  # fmt: skip
                if trace.get("texttemplate"):
                    yield _write(trace["text"][row][column], (left + right) / 2, (top + bottom) / 2 + 4)

    def _space(self) -> None:
        """Three dimensions from one side."""
        points = [
            (t, place, [t[letter][place] for letter in "xyz"]) for t in self.traces for place in range(len(t["x"]))
        ]
        points = [point for point in points if all(map(_known, point[2]))]
        ends = [(min(p[2][k] for p in points), max(p[2][k] for p in points)) for k in range(3)] if points else []
        size = math.hypot(*(b - a for a, b in ends)) or 1.0
        scale = min(self.width, self.height) / size * 1.15
        yaw, pitch = -0.8, 0.38
        for trace, place, at in points:
            a, b, c = ((value - (low + high) / 2) * scale for value, (low, high) in zip(at, ends, strict=True))
            right, back = a * math.cos(yaw) - b * math.sin(yaw), a * math.sin(yaw) + b * math.cos(yaw)
            up = self.height / 2 - (c * math.cos(pitch) + back * math.sin(pitch))
            look = {**trace["marker"], "size": 2 * trace["marker"].get("size", 3)}
            self.parts.append(_mark(look, self.width / 2 + right, up, place))


def _grid(x1: float, x2: float, y1: float, y2: float) -> str:
    return _node("line", x1=x1, x2=x2, y1=y1, y2=y2, stroke="#80808c", stroke_opacity="0.25")


def _first(value: Any) -> Any:
    return next(iter(value), None) if isinstance(value, list | tuple) else value


def _mark(marker: Mapping[str, Any], x: float, y: float, place: int) -> str:
    size, kind = float(_of(marker.get("size"), place) or 6), str(_of(marker.get("symbol"), place) or "circle")
    is_open, colour = kind.endswith("-open"), _of(marker.get("color"), place)
    look = {"fill": "none" if is_open else colour, "opacity": _of(marker.get("opacity"), place)}
    if is_open or kind.startswith("x"):
        look |= {"stroke": colour, "stroke_width": 1.8}
    half = size / 2
    far = half * 1.25
    if kind.startswith("square"):
        return _node("rect", x=x - half * 0.9, y=y - half * 0.9, width=size * 0.9, height=size * 0.9, **look)
    corners = {
        "diamond": ((0, -far), (far, 0), (0, far), (-far, 0)), "triangle": ((0, -far), (far, half), (-far, half)),
    }.get(kind.partition("-")[0])  # fmt: skip
    if corners is not None:
        ring = "L".join(f"{_n(x + a)} {_n(y + b)}" for a, b in corners)
        return _node("path", d=f"M{ring}Z", **look)
    if kind.startswith("x"):
        ends = [(x - half, y - half), (x + half, y + half), (x - half, y + half), (x + half, y - half)]
        a, b, c, d = (f"{_n(end_x)} {_n(other)}" for end_x, other in ends)
        return _node("path", d=f"M{a}L{b}M{c}L{d}", **look)
    return _node("circle", cx=x, cy=y, r=half, **look)


def _reaches(
    reach: Mapping[str, Any] | None, axis: _Axis, at: Sequence[float], aside: Sequence[float], there: Sequence[bool]
) -> Iterator[str]:
    """What an interval covers, from end to end."""
    if not reach or not reach.get("array") or reach.get("visible") is False:
        return
    for place, known in enumerate(there):
        up, down = (_of(reach.get(side), place) or 0.0 for side in ("array", "arrayminus"))
        if not known or not (up or down):
            continue
        ends, other = (axis.at(at[place] - down), axis.at(at[place] + up)), aside[place]
        given = {"x1": ends[0], "x2": ends[1], "y1": other, "y2": other}
        if axis.letter == "y":
            given = {"x1": other, "x2": other, "y1": ends[0], "y2": ends[1]}
        yield _node("line", **given, stroke=reach.get("color"), stroke_width=reach.get("thickness", 2))


def _mixed(scale: Sequence[Sequence[Any]], share: float) -> str:
    """A colour between two of a scale; what is transparent lets the other's show the less."""
    place = max(1, next((number for number, stop in enumerate(scale) if share <= stop[0]), len(scale) - 1))
    (start, low), (end, high) = scale[place - 1], scale[place]
    part = (share - start) / (end - start)
    lower, other = _rgba(low), _rgba(high)
    if not lower[3] or not other[3]:
        full, alpha = (other, part) if not lower[3] else (lower, 1 - part)
        return f"rgba({full[0]:.0f},{full[1]:.0f},{full[2]:.0f},{alpha:.2f})"
    mixed = [a + (b - a) * part for a, b in zip(lower, other, strict=True)]
    return f"rgba({mixed[0]:.0f},{mixed[1]:.0f},{mixed[2]:.0f},{mixed[3]:.2f})"


def _rgba(colour: str) -> tuple[float, float, float, float]:
    if match := _COLOUR.fullmatch(colour):
        return float(match[1]), float(match[2]), float(match[3]), float(match[4] or 1)
    return *(int(colour[place : place + 2], 16) for place in (1, 3, 5)), 1.0  # type: ignore[return-value]
