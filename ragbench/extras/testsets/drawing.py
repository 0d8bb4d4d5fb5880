"""Questions whose pool people grade, drawn with kept chances: likelier where the judge's doubt moves numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from pydantic import Field

from ragbench import stats
from ragbench.data.files import DatasetError
from ragbench.data.records import Closed
from ragbench.extras.testsets import kept_lines


class Drawn(Closed):
    """A question with the chance that it had in a drawing. round: how many drawings there were with this one."""

    question: str
    chance: float = Field(gt=0, le=1)
    chosen: bool
    round: int = Field(ge=1)


def drawn(doubts: Mapping[str, float], graded: set[str], number: int, round_: int) -> list[Drawn]:
    """One drawing of about `number` questions, each by itself, with a chance of `stats.chances`.

    doubts: of each question how unsure its values are, from 0 on. graded: those of them whose pool people have graded;
    their chance is 1, which is what it is once they are known, whatever they were chosen by. round_: another one draws
    others. Raises DatasetError where fewer than `number` are not graded.
    """
    left = [name for name in sorted(doubts) if name not in graded]
    if number > len(left):
        raise DatasetError(
            f"--limit {number}: people have not graded the pools of {len(left)} questions; at most these"
        )
    chances = stats.chances([doubts[name] for name in left], number)
    made = [Drawn(question=name, chance=1.0, chosen=True, round=round_) for name in doubts if name in graded]
    for name, chance in zip(left, map(float, chances), strict=True):
        made.append(Drawn(question=name, chance=chance, chosen=_place(name, round_) < chance, round=round_))
    return sorted(made, key=lambda record: record.question)


def _place(name: str, round_: int) -> float:
    """A number from 0 to 1 that hangs on the name and the drawing alone, so that both can be done again."""
    return int(sha256(f"{round_}\0{name}".encode()).hexdigest()[:13], 16) / 16**13


def path_of(place: Path, language: str) -> Path:
    """Where the last drawing of a data set's folder is kept."""
    return place / f"drawn.{language}.jsonl"


def read(place: Path, language: str) -> list[Drawn]:
    """The last drawing; none where there is no file. Raises DatasetError, naming file and line."""
    records = kept_lines.read(path_of(place, language), Drawn)
    last = max((record.round for record in records), default=0)
    return [record for record in records if record.round == last]


def keep(place: Path, language: str, drawing: Sequence[Drawn]) -> None:
    """Write a drawing in the place of the one before."""
    kept_lines.keep(path_of(place, language), Drawn, drawing, lambda record: record.question)
