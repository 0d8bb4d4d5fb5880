"""Work that goes on at once ends with the reason of the first that failed, and with nothing around it."""

from __future__ import annotations

import asyncio
import traceback

import pytest

from ragbench.old.core.waves import gather
from ragbench.old.llm import BudgetSpent


async def spent() -> None:
    await asyncio.sleep(0)
    raise BudgetSpent("the budget admits no further call")


async def patient() -> None:
    await asyncio.sleep(60)


def test_the_reason_is_raised_as_it_is() -> None:
    async def nested() -> None:
        await gather([patient(), gather([patient(), spent()])])

    with pytest.raises(BudgetSpent) as raised:
        asyncio.run(nested())
    shown = "".join(traceback.format_exception(raised.value))
    assert "admits no further call" in shown
    assert "ExceptionGroup" not in shown
    error: BaseException | None = raised.value
    while error is not None:  # what prints the context prints the reason: IPython does, whatever is suppressed
        assert not isinstance(error, BaseExceptionGroup)
        error = error.__context__
