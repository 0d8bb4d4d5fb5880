"""Works that are begun at once and awaited together: whoever waits, waits for an answer and not for the work before."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Sequence
from typing import Any, TypeVar

Result = TypeVar("Result")


async def gather(works: Sequence[Coroutine[Any, Any, Result]]) -> list[Result]:
    """The results, in order. The models' limiters decide how many calls are in flight; here all start together.

    The first error ends the others, but only once what they had received is kept; then it is raised as it is.
    """
    failed: BaseException | None = None
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(work) for work in works]
    except BaseExceptionGroup as errors:
        failed = first(errors)
    if failed is not None:
        raise failed  # out here: inside, the group would be its context, and a notebook would print that one
    return [task.result() for task in tasks]


def first(error: BaseException) -> BaseException:
    """Of errors that were raised together the first one, however deep in groups it lies; another error as it is."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
