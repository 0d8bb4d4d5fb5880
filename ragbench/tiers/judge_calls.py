"""What both tiers of judges share: many calls at the same time, and how long each took."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import pandas as pd

from ragbench.core.metric import Metric, run_async
from ragbench.core.progress import bar
from ragbench.core.types import Sample, Score
from ragbench.tiers.clock import find_readings, keep_readings
from ragbench.tiers.common import Workbench
from ragbench.tiers.scoring import AT_ONCE, sample_fields

Result = TypeVar("Result")


class Stopwatch:
    """A judge around a judge, for one score: asks for one repeat and adds up the time.

    milliseconds: of the replies; NaN where nothing was asked.
    """

    def __init__(self, judge: Any, repeat: int) -> None:
        self.judge = judge
        self.name = judge.name
        self.sees_images = getattr(judge, "sees_images", False)
        self.repeat = repeat
        self.milliseconds = math.nan

    async def ask(self, prompt: Any, **values: Any) -> Any:
        """See `ragbench.metrics.judging.Judge`."""
        # A metric may ask several times itself.
        values["repeat"] = self.repeat + 100 * values.get("repeat", 0)
        if hasattr(self.judge, "answer"):
            # A model says how long it took, also for a reply that an earlier run paid for.
            reply = await self.judge.answer(prompt, **values)
            self.add(reply.seconds)
            return self.judge.unwrap(reply)
        began = time.perf_counter()
        try:
            return await self.judge.ask(prompt, **values)
        finally:
            self.add(time.perf_counter() - began)

    def add(self, seconds: float) -> None:
        """Add the time of a reply."""
        before = 0.0 if math.isnan(self.milliseconds) else self.milliseconds
        self.milliseconds = before + 1000 * seconds


class Timed(NamedTuple):
    """A score, and the milliseconds that the judge took for it; NaN where it has no score, or was
    not asked."""

    score: Score
    latency_ms: float


async def score_timed(judge: Any, metric: Metric, sample: Sample, repeat: int = 0) -> Timed:
    """Score a sample by one judge, for one repeat."""
    watch = Stopwatch(judge, repeat)
    score = await metric.measure(judge=watch, **sample_fields(sample))
    return Timed(score, watch.milliseconds if score.status == "ok" else math.nan)


def run_calls(
    judge: Any, calls: Sequence[Callable[[], Awaitable[Result]]], label: str
) -> list[Result]:
    """Make all calls of one judge, many at the same time; return their results in order."""
    results: dict[int, Result] = {}

    async def run() -> None:
        queue = iter(enumerate(calls))
        with bar(label, len(calls)) as shown:

            async def work() -> None:
                for place, call in queue:
                    results[place] = await call()
                    shown.update()

            async with judge:
                await asyncio.gather(*(work() for _ in range(min(AT_ONCE, len(calls)))))

    run_async(run())
    return [results[place] for place in range(len(calls))]


def keep_latencies(
    bench: Workbench, judge: Any, samples: Sequence[Sample], latencies_ms: Sequence[float]
) -> list[float]:
    """Return the times of the first run on the same answers, if the judge only stands in.

    Its time is no model's, and a page that is made again is then the same page.
    """
    if not getattr(judge, "is_stand_in", False):
        return list(latencies_ms)
    answers = [(sample.id, sample.question, sample.answer) for sample in samples]
    inputs = {"what": "latency of judging", "judge": judge.name, "answers": answers}
    kept = find_readings(bench.store, inputs)
    if kept is None:
        kept = keep_readings(bench.store, inputs, pd.DataFrame({"latency_ms": latencies_ms}))
    return kept["latency_ms"].tolist()
