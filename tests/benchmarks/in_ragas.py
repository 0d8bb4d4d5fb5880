"""What the same calls take in ragas's own client: `python in_ragas.py URL CALLS IN_FLIGHT`.

Runs by itself in an environment with ragas and langchain-openai, which need other versions than
the package. Prints wall seconds and CPU seconds.
"""

from __future__ import annotations

import asyncio
import sys
import time
import warnings

# ragas calls this client of its deprecated: its metrics of 0.4 still take it.
warnings.simplefilter("ignore")

from langchain_core.prompt_values import StringPromptValue  # noqa: E402
from langchain_openai import ChatOpenAI  # noqa: E402
from ragas.llms import LangchainLLMWrapper  # noqa: E402


async def main(url: str, calls: int, most: int) -> None:
    """Ask so many questions, so many at once."""
    client = LangchainLLMWrapper(ChatOpenAI(base_url=url, api_key="none", model="m"))
    numbers = iter(range(calls))

    async def ask(number: int) -> None:
        prompt = StringPromptValue(text=f"Question {number}?")
        await client.agenerate_text(prompt, temperature=0)

    async def work() -> None:
        for number in numbers:
            await ask(number)

    await ask(-1)  # opens the connection, and imports what is imported late
    began, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(work() for _ in range(most)))
    print(time.perf_counter() - began, time.process_time() - cpu)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
