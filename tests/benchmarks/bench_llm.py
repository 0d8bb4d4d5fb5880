"""Calls a second and CPU a call of the client, its journal on, beside openai's client alone.

    python -m tests.benchmarks.bench_llm [CALLS] [IN_FLIGHT] [LATENCY] [--peer-python PATH]

PATH is the interpreter of an environment with ragas and langchain-openai: ragas's client is then
measured too.
The server is a process of its own, so that its CPU is not counted.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import openai

from tests.llm.asking import make_client, question

SERVER = Path(__file__).parents[1] / "llm" / "chat_server.py"
IN_RAGAS = Path(__file__).with_name("in_ragas.py")


def show(name: str, calls: int, took: float, cpu: float) -> None:
    """Print the line of a client: wall seconds and CPU seconds of all calls."""
    print(f"{name:34} {calls / took:7.0f} calls/s {1000 * cpu / calls:6.2f} ms CPU a call")


async def measure(
    name: str, ask: Callable[[int], Awaitable[object]], calls: int, most: int
) -> None:
    """Ask so many questions, so many at once; print a line."""
    numbers = iter(range(calls))

    async def work() -> None:
        for number in numbers:
            await ask(number)

    await ask(-1)  # opens the connection, and imports what is imported late
    began, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(work() for _ in range(most)))
    took, cpu = time.perf_counter() - began, time.process_time() - cpu
    show(name, calls, took, cpu)


async def main(url: str, calls: int, most: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with make_client(url, Path(folder) / "replies.sqlite", concurrency=most) as client:
            await measure("ragbench", lambda n: client.ask(question(n)), calls, most)
            await measure(
                "ragbench, out of the journal", lambda n: client.ask(question(n)), calls, most
            )
    for name, http in (
        ("httpx2", openai.DefaultAsyncHttpxClient),
        ("aiohttp", openai.DefaultAioHttpClient),
    ):
        import httpx2

        limits = httpx2.Limits(max_connections=most, max_keepalive_connections=most)
        bare = openai.AsyncOpenAI(base_url=url, api_key="none", http_client=http(limits=limits))

        async def ask(number: int, bare: openai.AsyncOpenAI = bare) -> object:
            return await bare.chat.completions.create(
                model="m",
                messages=[{"role": "user", "content": f"Question {number}?"}],
                temperature=0,
            )

        await measure(f"openai alone, over {name}", ask, calls, most)
        await bare.close()


def measure_ragas(python: str, url: str, calls: int, most: int) -> None:
    """Print the line of ragas's client, run by another interpreter."""
    done = subprocess.run(
        [python, str(IN_RAGAS), url, str(calls), str(most)],
        env={**os.environ, "RAGAS_DO_NOT_TRACK": "true"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    took, cpu = done.stdout.split()
    show("ragas, over langchain-openai", calls, float(took), float(cpu))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("calls", type=int, nargs="?", default=3000)
    parser.add_argument("in_flight", type=int, nargs="?", default=64)
    parser.add_argument("latency", nargs="?", default="0.05")
    parser.add_argument("--peer-python")
    given = parser.parse_args()
    server = subprocess.Popen(
        [sys.executable, str(SERVER), given.latency], stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        asyncio.run(main(url, given.calls, given.in_flight))
        if given.peer_python:
            measure_ragas(given.peer_python, url, given.calls, given.in_flight)
    finally:
        server.kill()
