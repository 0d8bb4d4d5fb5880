"""A page over one measurement: who was compared on what, and the views a reader sees, in their order."""

from __future__ import annotations

from typing import Any

from ragbench.show.answering import AnsweringViews
from ragbench.show.blaming import BlameViews
from ragbench.show.calibrating import CalibratingViews
from ragbench.show.comparing import ComparingViews
from ragbench.show.conversing import ConversingViews
from ragbench.show.correcting import CorrectingViews
from ragbench.show.deciding import DecidingViews
from ragbench.show.describing import DescribingViews
from ragbench.show.judging import JudgedViews
from ragbench.show.overseeing import OverseeingViews
from ragbench.show.running import RunViews
from ragbench.show.trusting import JudgeQualityViews
from ragbench.show.view import View


class Page(
    ComparingViews,
    DescribingViews,
    CalibratingViews,
    JudgedViews,
    AnsweringViews,
    BlameViews,
    OverseeingViews,
    DecidingViews,
    ConversingViews,
    CorrectingViews,
    JudgeQualityViews,
    RunViews,
):
    """The page of a measurement in one language.

    primary: the metric that the answer sentence speaks of and that ranks the worst questions; by default what the
        measurement names as `primary`, else mrr where it was measured, else the first metric.

    Raises ValueError for a language without a catalogue and for a primary metric that was not measured.
    """

    def view(self, name: str, **options: Any) -> View:
        """The view of that name; raises ValueError, naming those there are, for any other."""
        if name not in VIEWS:
            raise ValueError(f"there is no view {name!r}; there are {', '.join(VIEWS)}")
        made: View = getattr(self, name)(**options)
        return made


VIEWS = tuple(
    name
    for kind in Page.__bases__
    for name, member in vars(kind).items()
    if not name.startswith("_") and getattr(member, "__annotations__", {}).get("return") == "View"
)
