"""How sure the numbers of a page are, and by which random draws."""

from __future__ import annotations

from dataclasses import dataclass

from ragbench.core.errors import BenchError

LEAST_DRAWS = 200  # below, the ends of an interval are a matter of luck


@dataclass(frozen=True)
class Confidence:
    """Level of all intervals, number of draws, seed of every random number.

    The same values give the same bytes. Raises BenchError for a level outside 0.5 to 1, and for
    fewer than 200 draws.
    """

    level: float = 0.95
    draws: int = 10_000
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.5 < self.level < 1:
            raise BenchError(f"confidence {self.level:g} is no level; give one such as 0.95")
        if self.draws < LEAST_DRAWS:
            raise BenchError(f"{self.draws} draws are too few; give at least {LEAST_DRAWS}")


DEFAULT = Confidence()
