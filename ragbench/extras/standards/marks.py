"""Where an answer cites what: marks in its text, [1] and [1, 3], or places that a table gives."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from ragbench.core import segmentation
from ragbench.core.types import Sample
from ragbench.core.types.reason import Reason

_MARK = re.compile(r"(?:\[\^?|【)([^\[\]【】\n]{1,200}+)(?:\](?!\()|】)")
_NUMBERS = re.compile(r"\d{1,3}(?:[ \t]*[,;–-][ \t]*\d{1,3})*")


@dataclass(frozen=True)
class Part:
    """A sentence without its marks, and what it cites, in order, each once: places of contexts from 0, and names of
    what is none of them."""

    text: str
    cited: tuple[int | str, ...] = ()

    @property
    def passages(self) -> tuple[int, ...]:
        """The places of the contexts that it cites."""
        return tuple(one for one in self.cited if isinstance(one, int))

    @property
    def nowhere(self) -> tuple[str, ...]:
        """What it cites that is none of the contexts."""
        return tuple(one for one in self.cited if isinstance(one, str))

    def cut(self, most: int) -> Part:
        """With so many of the contexts that it cites."""
        left = set(self.passages[:most])
        return replace(self, cited=tuple(one for one in self.cited if isinstance(one, str) or one in left))


def parts_of(sample: Sample) -> list[Part]:
    """The sentences of a response, as `ragbench.core.segmentation` splits it, with what they cite.

    A mark belongs to the sentence that it stands in or closely after. Where the sample has citations, they count and
    marks do not; one belongs to every sentence that it has a character of. Raises ValueError, with a reason, for a
    citation of a place that the response has not.
    """
    response = sample.response or ""
    names = _Names(sample)
    if sample.citations is None:
        text, marks = _without_marks(response, names)
        spans = segmentation.spans(text)
        found: list[list[int | str]] = [[] for _ in spans]
        for place, cited in marks:
            last = next((number for number, (_, end) in enumerate(spans) if end >= place), len(spans) - 1)
            if spans:
                found[last] += cited
    else:
        text, spans = response, segmentation.spans(response)
        found = [[] for _ in spans]
        for one in sample.citations:
            if not 0 <= one.start < one.end <= len(response):
                raise ValueError(
                    Reason(
                        "citation of {passage}: characters {start} to {end} are not in a response of {length}",
                        passage=one.passage, start=one.start, end=one.end, length=len(response),
                    )
                )  # fmt: skip
            for number, (start, end) in enumerate(spans):
                if one.start < end and start < one.end:
                    found[number].append(names.place(one.passage))
    return [
        Part(" ".join(text[start:end].split()), tuple(dict.fromkeys(cited)))
        for (start, end), cited in zip(spans, found, strict=True)
    ]


class _Names:
    """What names the contexts of a sample: their numbers from 1, and their ids."""

    def __init__(self, sample: Sample) -> None:
        chunks = sample.contexts or ()
        self._count = len(chunks)
        self._ids: Mapping[str, int] = {chunk.id: place for place, chunk in reversed(list(enumerate(chunks)))}

    def place(self, name: str) -> int | str:
        """The place of the context of that number, or id; the name itself of none."""
        if name.isdecimal():
            return int(name) - 1 if 1 <= int(name) <= self._count else name
        return self._ids.get(name, name)

    def marked(self, inside: str) -> list[int | str] | None:
        """What a mark names; None where brackets hold something else."""
        if _NUMBERS.fullmatch(inside):
            return [self.place(number) for number in _expanded(inside)]
        parts = [part.strip() for part in re.split(r"[,;]", inside)]
        return [self._ids[part] for part in parts] if all(part in self._ids for part in parts) else None


def _expanded(inside: str) -> Iterator[str]:
    """The numbers of a mark, 1–3 as 1, 2 and 3."""
    for part in re.split(r"[,;]", inside):
        low, *rest = (int(number) for number in re.split(r"[–-]", part))
        yield from map(str, range(low, rest[-1] + 1) if rest and rest[-1] > low else (low, *rest))


def _without_marks(response: str, names: _Names) -> tuple[str, list[tuple[int, list[int | str]]]]:
    """The text without marks, and where in it each stood."""
    pieces, marks, done, length = [], [], 0, 0
    for found in _MARK.finditer(response):
        cited = names.marked(found[1].strip())
        if cited is None:
            continue
        piece = response[done : found.start()].rstrip(" \t")
        pieces.append(piece)
        length += len(piece)
        marks.append((length, cited))
        done = found.end()
    return "".join([*pieces, response[done:]]), marks
