"""What runs in a worker: the settings of whoever asks held first, then one part done."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from ragbench.core import settings
from ragbench.core.settings import RUN, TRUST, Settings
from ragbench.extras.cluster.worker_identity import Identity, issue
from ragbench.store.pool import UnfitError, Work

INTERVAL_SECONDS = 0.25


@dataclass(frozen=True)
class Task:
    """What every part needs, once a worker.

    run: whose budget and limits hold. load: work and what is common, pickled: it may need the settings held.
    """

    known: Settings
    folder: Path
    identity: Identity
    run: str
    load: bytes


def pack(work: Work, common: Any, known: Settings, identity: Identity, run: str) -> bytes:
    """A task as bytes. Nothing secret is in it: a worker takes keys and the database's address from its own
    environment."""
    import cloudpickle

    open_to_all = known.model_copy(update={"database_url": None, "cluster": None})
    made = Task(open_to_all, settings.project_folder(), identity, run, cloudpickle.dumps((work, common)))
    return bytes(cloudpickle.dumps(made))


def carry_out(packed: bytes, part: bytes, number: int, topic: str) -> Any:
    """One part, in a worker: what the work returns.

    Raises UnfitError in a worker that differs from whoever sent it.
    """
    import cloudpickle
    from distributed import get_worker

    run, work, common = _taken(packed)
    os.environ[RUN] = run
    worker = get_worker()
    told_at = 0.0

    def tell(state: Any) -> None:
        nonlocal told_at
        now = time.monotonic()
        if now - told_at >= INTERVAL_SECONDS:
            told_at = now
            worker.log_event(topic, {"part": number, "state": state})

    return work(common, cloudpickle.loads(part), tell)


@lru_cache(maxsize=2)
def _taken(packed: bytes) -> tuple[str, Work, Any]:
    import cloudpickle

    task: Task = cloudpickle.loads(packed)
    known = held(task.known, task.folder)
    if differences := task.identity.differs(issue(known)):
        raise UnfitError([f"the worker {_name()} {line}" for line in differences])
    work, common = cloudpickle.loads(task.load)
    return task.run, work, common


def held(known: Settings, folder: Path) -> Settings:
    """Let these be the settings of this process, with its own address of the database."""
    os.environ[TRUST] = str(folder.resolve())  # who may give a worker tasks may run anything in it already
    own = settings.own_database_url()
    known = known.model_copy(update={"database_url": own})
    settings.hold(known, folder)
    return known


def inspected(packed: bytes) -> Identity:
    """The identity of the process that this runs in, as it would be while it does the task."""
    import cloudpickle

    task: Task = cloudpickle.loads(packed)
    return issue(held(task.known, task.folder))


def _name() -> str:
    from distributed import get_worker

    return str(get_worker().address)
