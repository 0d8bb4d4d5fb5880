"""`ragbench.compare`: runs beside each other, in Python."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragbench.core.errors import BenchError
from ragbench.core.language import Language, load_language
from ragbench.extras.runs.comparing import Compared, compare_runs
from ragbench.extras.runs.pages import compared_page, history
from ragbench.report.finished import find_run, read_run
from ragbench.report.page import Page
from ragbench.stats import Confidence


@dataclass(frozen=True, repr=False)
class Comparison(Compared):
    """Runs beside each other. In Jupyter it shows its page; printed, the page's text."""

    language: Language

    @property
    def page(self) -> Page:
        """The page."""
        return compared_page(self, self.language)

    @property
    def figure(self) -> Any:
        """plotly's figure of the first primary metric over the runs."""
        return history(self, self.language)[0].content

    def save(self, folder: Path | str) -> Path:
        """Write the page into a folder; returns its path."""
        return self.page.save(Path(folder) / "comparison.html")

    def __repr__(self) -> str:
        return str(self.page)

    def _ipython_display_(self) -> None:
        self.page._ipython_display_()


def compare(
    *runs: Any,
    baseline: str = "",
    primary: str = "",
    systems: Sequence[str] = (),
    only_common: bool = False,
    language: str = "",
    level: float = 0.95,
    draws: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Compare runs question by question: intervals, p and verdicts of one family; what changed.

    runs: names, "latest", folders, or results as `ragbench.tier1` returns them; the first is the
    baseline unless another is named. Results are called run 1, run 2, …. Raises BenchError for
    fewer than two, and for runs of different questions unless only_common=True.
    """
    from ragbench.tiers.common import open_project

    settings = open_project()
    finished = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, run in enumerate(runs, start=1):
            if hasattr(run, "save_frames"):
                kept = Path(folder) / f"run {number}"
                run.save_frames(kept)
            else:
                kept = find_run(str(run), settings)
            if kept.name in finished:
                raise BenchError(f"two runs are called {kept.name}: name one of them, or rename it")
            finished[kept.name] = read_run(kept)
        if baseline and baseline not in finished:
            baseline = find_run(baseline, settings).name
        compared = compare_runs(
            finished,
            baseline=baseline,
            primary=primary,
            systems=systems,
            only_common=only_common,
            confidence=Confidence(level, draws, seed),
        )
    return Comparison(**vars(compared), language=load_language(language or settings.language))
