"""What a run would ask of models, found out without one call."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragbench import settings
from ragbench.bench.basics.needs import Lack
from ragbench.bench.basics.session import parted
from ragbench.llm import Outlook, planning
from ragbench.report.execution.preparation import prepared
from ragbench.report.execution.run import Report, Work

JUDGES = "judges"
"""The parameter of every notebook that asks models."""
SYSTEMS, DEPTH = "systems", "k"
"""Those of every notebook that asks systems."""


@dataclass(frozen=True)
class Planned:
    """outlooks: one a model, all notebooks together. silent: notebooks that ask no model, and were not executed.

    failures: notebooks that did not come to their end, each with the line that says why; what they would have asked
    after that is not in the outlooks. left_out: notebooks whose data are not there.
    """

    outlooks: tuple[Outlook, ...]
    silent: tuple[str, ...]
    failures: Mapping[str, str]
    left_out: tuple[Lack, ...] = ()


def plan(
    notebooks: Sequence[Path | str],
    given: Mapping[str, Any] | None = None,
    *,
    jobs: int = 1,
    language: str | None = None,
    progress: Report | None = None,
    lenient: bool = False,
) -> Planned:
    """Execute the notebooks in processes that look up in the journal and never ask, and add up what they would ask.

    Where the journal has no answer, the lexical judge's stands in for it, so that the calls that depend on it are
    counted too, about. Nothing is written but for vectors and the like that a run keeps in the database anyway.
    Parameters and errors: see `ragbench.report.execution.run`.
    """
    sources, defaults, values, left_out = prepared(
        notebooks, dict(given or {}), language, lenient=lenient, asking=False
    )
    asking = {name: notebook for name, notebook in sources.items() if _asks({**defaults[name], **values[name]})}
    with tempfile.TemporaryDirectory(prefix="ragbench-plan-", ignore_cleanup_errors=True) as private:
        place = Path(private) / "outlooks"
        work = Work(Path(private) / "run", progress, {planning.PLAN_FOLDER: str(place)})
        failures = work.all(asking, jobs)
        outlooks = tuple(planning.kept(place))
    return Planned(outlooks, tuple(name for name in sources if name not in asking), failures, left_out)


def _asks(parameters: Mapping[str, Any]) -> bool:
    """Whether a notebook with these parameters asks a model, or a system over HTTP."""
    known = settings.load().systems
    systems = parted(parameters[SYSTEMS]) or tuple(known) if {SYSTEMS, DEPTH} <= parameters.keys() else ()
    return JUDGES in parameters or any(known[name].url for name in systems if name in known)
