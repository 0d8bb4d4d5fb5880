"""Calls per second and CPU per call of judging, beside ragas, against one server with a fixed latency.

    python -m tests.benchmarks.bench_llm --peer PEER_ENVIRONMENT/bin/python

The peer's environment: `pip install ragas==0.4.3 langchain-community==0.4.1`. Each side judges the same number of
samples, one call each, after a warm-up of four calls a place; ours with the journal in a PostgreSQL of its own, so
that every reply is committed before it is scored. Sides take turns, `--rounds` times; medians are printed. CPU is that
of the judging process (the server has its own), and for ours also that of the database's processes.

`ideal` is places / latency: a client, a server and a network that cost nothing. `bare` posts ready-made bytes with
aiohttp and throws the replies away: what this machine leaves of the ideal before any judging.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

ROOT = Path(__file__).parents[2]
SIDES = ("bare", "journal", "memory", "official", "peer")
WARM_UP = 4
"""So many calls a place before the clock starts."""


class Verdict(BaseModel):
    """The peer's shape."""

    reason: str
    verdict: Literal[0, 1]


@contextmanager
def server(latency: float) -> Iterator[str]:
    """The test server in a process of its own."""
    reply = json.dumps({"reason": "as the context says", "verdict": 1})
    command = [sys.executable, "-m", "tests.chat_server", "--latency", str(latency), "--reply", reply]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


class Official:
    """The `openai` package with its aiohttp transport in the place of ours; its own retries are off."""

    def __init__(self, settings: Any, key: Any) -> None:
        import httpx2
        import openai

        limits = httpx2.Limits(max_connections=settings.concurrency, max_keepalive_connections=settings.concurrency)
        self._client = openai.AsyncOpenAI(
            api_key="none",
            base_url=settings.base_url,
            max_retries=0,
            http_client=openai.DefaultAioHttpClient(limits=limits, timeout=httpx2.Timeout(settings.timeout_seconds)),
        )

    async def post(self, path: str, body: Any, seconds: float) -> bytes:
        raw = await self._client.chat.completions.with_raw_response.create(**body)
        return bytes(raw.http_response.content)

    async def close(self) -> None:
        await self._client.close()


def ours(side: str, url: str, samples: int, in_flight: int, folder: str) -> None:
    """Judge, and print what it took."""
    import psutil

    from ragbench.judge import open_judges
    from ragbench.llm import endpoint, run
    from ragbench.settings import DatabaseSettings, JudgeSettings, Settings
    from ragbench.store import Store, server
    from ragbench.store.journal import DatabaseJournal
    from ragbench.types import Judge, Prompt
    from ragbench.waves import gather

    text = "Is the response carried by the retrieved contexts?\n{question}\n{response}\n{contexts}"
    prompt = Prompt("carried", 1, Verdict, {"en": text})
    if side == "official":
        endpoint.Transport = Official  # type: ignore[misc, assignment]
    name = f"{side}{time.time_ns()}"
    judge = JudgeSettings(base_url=url, model="tester", concurrency=in_flight)
    settings = Settings(database=DatabaseSettings(folder=Path(folder)), judges={name: judge})

    def database_cpu() -> float:
        pid, seconds = server.status(settings).pid, 0.0
        for process in [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)] if pid else []:
            with suppress(psutil.NoSuchProcess):  # a backend that ended meanwhile is counted by its parent
                seconds += sum(process.cpu_times()[:4])
        return seconds

    async def one(judge: Judge, number: int) -> int:
        contexts = ["A context. " * 40]
        texts = {"question": f"Question {number}?", "response": f"Answer {number}.", "contexts": contexts}
        answer = await judge.ask(prompt, texts)
        return int(answer.value is not None)

    async def work(store: Store) -> dict[str, float]:
        journal = None if side == "memory" else DatabaseJournal(store.engine)
        async with open_judges(settings, [name], journal=journal) as opened:
            (judge,) = opened.judges
            await gather([one(judge, -number) for number in range(1, 1 + WARM_UP * in_flight)])
            gc.collect()
            began, cpu, database = time.perf_counter(), time.process_time(), database_cpu()
            scored = sum(await gather([one(judge, number) for number in range(samples)]))
            seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
            return {
                "seconds": seconds,
                "cpu_seconds": cpu,
                "database_cpu_seconds": database_cpu() - database,
                "scored": scored,
            }

    with Store.open(settings) as store:
        print(json.dumps(run(work(store))))


def bare(url: str, samples: int, in_flight: int) -> None:
    """Post as many requests of the same size, and print what it took."""
    import aiohttp

    text = "Is the response carried by the retrieved contexts?\nQuestion?\nAnswer.\n" + "A context. " * 40
    body = json.dumps({"model": "tester", "messages": [{"role": "user", "content": text}]}).encode()

    async def place(session: aiohttp.ClientSession, turns: Iterator[int]) -> int:
        done = 0
        for _ in turns:
            async with session.post(f"{url}/chat/completions", data=body) as response:
                done += bool(await response.read())
        return done

    async def work() -> dict[str, float]:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=in_flight)) as session:

            async def post(count: int) -> int:
                turns = iter(range(count))
                return sum(await asyncio.gather(*(place(session, turns) for _ in range(in_flight))))

            await post(WARM_UP * in_flight)
            gc.collect()
            began, cpu = time.perf_counter(), time.process_time()
            scored = await post(samples)
            return {
                "seconds": time.perf_counter() - began,
                "cpu_seconds": time.process_time() - cpu,
                "scored": scored,
            }

    print(json.dumps(asyncio.run(work())))


def measure(side: str, peer: str | None, url: str, samples: int, in_flight: int, folder: str) -> dict[str, Any]:
    """One side, once, in a process of its own."""
    here = Path(__file__)
    command = (
        [peer, str(here.with_name("ragas_judging.py")), url, str(samples), str(in_flight)]
        if side == "peer"
        else [sys.executable, "-m", "tests.benchmarks.bench_llm", side, url, str(samples), str(in_flight), folder]
    )
    done = subprocess.run([str(part) for part in command], cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{side} failed:\n{done.stderr}")
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    if found["scored"] != samples:
        raise SystemExit(f"{side} scored {found['scored']} of {samples}")
    return found


def main() -> None:
    """Measure and print a table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--peer", help="the Python of an environment with ragas; left out: ours alone")
    options.add_argument("--samples", type=int, default=1600)
    options.add_argument("--in-flight", type=int, nargs="+", default=[16, 64, 256])
    options.add_argument("--latency", type=float, default=0.05)
    options.add_argument("--rounds", type=int, default=3)
    given = options.parse_args()
    sides = SIDES if given.peer else SIDES[:-1]

    from ragbench.settings import DatabaseSettings, Settings
    from ragbench.store import server as database

    outer = Path(tempfile.mkdtemp(prefix="ragbench-bench-"))
    outer.chmod(0o755)
    folder = outer / "postgres"
    try:
        with server(given.latency) as url:
            print("in flight  side      calls/s  of ideal  CPU ms/call  with database's")
            for in_flight in given.in_flight:
                rounds: dict[str, list[dict[str, Any]]] = {side: [] for side in sides}
                for _ in range(given.rounds):
                    for side in sides:
                        samples = max(given.samples // 4, WARM_UP * in_flight) if side == "peer" else given.samples
                        found = measure(side, given.peer, url, samples, in_flight, str(folder))
                        rounds[side].append({name: value / samples for name, value in found.items()})
                speeds = {side: statistics.median(1 / r["seconds"] for r in found) for side, found in rounds.items()}
                for side, found in rounds.items():
                    cpu = statistics.median(r["cpu_seconds"] for r in found) * 1000
                    more = statistics.median(r.get("database_cpu_seconds", 0) for r in found) * 1000
                    share = speeds[side] * given.latency / in_flight
                    times = f"  ×{speeds[side] / speeds['peer']:.1f} of the peer" if "peer" in speeds else ""
                    print(
                        f"{in_flight:>9}  {side:<8} {speeds[side]:>8.0f} {share:>8.0%} {cpu:>12.2f} {cpu + more:>12.2f}"
                        f"{times}",
                        flush=True,
                    )
    finally:
        database.stop(Settings(database=DatabaseSettings(folder=folder)))
        import shutil

        shutil.rmtree(outer)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] in SIDES:
        side, url, samples, in_flight, folder = sys.argv[1:]
        if side == "bare":
            bare(url, int(samples), int(in_flight))
        else:
            ours(side, url, int(samples), int(in_flight), folder)
    else:
        main()
