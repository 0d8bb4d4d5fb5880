"""A run that can be killed: asks N questions and writes each rating down as soon as it is there.

python -m tests.llm.judging_run URL JOURNAL N IN_FLIGHT SCORES
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from ragbench.core.metric import run_async
from tests.llm.asking import make_client, question


async def main(url: str, journal: str, count: int, in_flight: int, scores: Path) -> None:
    async with make_client(url, journal, concurrency=in_flight) as client:
        with scores.open("a", encoding="utf-8") as file:

            async def score(number: int) -> None:
                reply = await client.ask(question(number))
                assert reply.value is not None, reply
                file.write(f"{number} {reply.value.rating}\n")
                file.flush()

            await asyncio.gather(*map(score, range(count)))


if __name__ == "__main__":
    url, journal, count, in_flight, scores = sys.argv[1:]
    run_async(main(url, journal, int(count), int(in_flight), Path(scores)))
