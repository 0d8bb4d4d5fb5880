"""What a run would ask of models and compute itself, found out without one call and without computing it."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragbench.core import settings, trust
from ragbench.llm import Outlook, planning
from ragbench.report.execution import concurrency, kernel_pool
from ragbench.report.execution import run as execution
from ragbench.report.execution.concurrency import Round
from ragbench.report.execution.preparation import prepared
from ragbench.systems.work import Work
from ragbench.tiers import readiness
from ragbench.tiers.basics.choices import parted
from ragbench.tiers.basics.needs import Lack

JUDGES = "judges"
"""The parameter of every notebook that asks models."""
SYSTEMS, DEPTH = "systems", "k"
"""Those of every notebook that asks systems."""


@dataclass(frozen=True)
class Planned:
    """outlooks: one a model, all notebooks together. silent: notebooks that ask no model, and were not executed.

    failures: notebooks that did not come to their end, each with the line that says why; what they would have asked
    after that is not in the outlooks. left_out: notebooks whose data are not there. work: what systems and embedders
    have yet to compute. unread: notebooks of a folder that nobody has answered for, which were not executed.
    """

    outlooks: tuple[Outlook, ...]
    silent: tuple[str, ...]
    failures: Mapping[str, str]
    left_out: tuple[Lack, ...] = ()
    work: tuple[Work, ...] = ()
    unread: tuple[str, ...] = ()


@trust.planned()
def plan(
    notebooks: Sequence[Path | str],
    given: Mapping[str, Any] | None = None,
    *,
    jobs: int | None = None,
    language: str | None = None,
    progress: execution.Report | None = None,
    lenient: bool = False,
) -> Planned:
    """Execute the notebooks in processes that look up in the journal and never ask, and add up what they would ask.

    Where the journal has no answer, the lexical judge's stands in for it, so that the calls that depend on it are
    counted too, about; for a system that has something to compute, relevant passages do. Nothing is written.
    Of a folder that nobody has answered for, neither functions nor models are loaded: see
    `ragbench.core.trust.planned`. Parameters and errors: see `ragbench.report.execution.run`.
    """
    sources, defaults, values, left_out, asked, read, _, unread = prepared(
        notebooks, dict(given or {}), language, lenient=lenient, asking=False
    )
    work = readiness.work(asked, settings.load(), read)
    asking = {name: notebook for name, notebook in sources.items() if _asks({**defaults[name], **values[name]})}
    with tempfile.TemporaryDirectory(prefix="ragbench-plan-", ignore_cleanup_errors=True) as private:
        place = Path(private) / "outlooks"
        with kernel_pool.opened(len(asking)) as forks:
            executed = execution.Work(Path(private) / "run", progress, {planning.PLAN_FOLDER: str(place)}, forks)
            failures = executed.all(asking, [Round(tuple(asking), jobs or concurrency.affordable())])
        rewriters = (rewriter.outlook for rewriter in work if rewriter.outlook is not None)
        outlooks = tuple(planning.together((*planning.kept(place), *rewriters)))
    silent = tuple(name for name in sources if name not in asking)
    return Planned(outlooks, silent, failures, left_out, work, unread)


def _asks(parameters: Mapping[str, Any]) -> bool:
    """Whether a notebook with these parameters asks a model, or a system over HTTP."""
    known = settings.load().systems
    systems = parted(parameters[SYSTEMS]) or tuple(known) if {SYSTEMS, DEPTH} <= parameters.keys() else ()
    return JUDGES in parameters or any(known[name].url for name in systems if name in known)
