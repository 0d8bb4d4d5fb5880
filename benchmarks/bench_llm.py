"""Calls per second and CPU per call of judging, beside ragas, against one server with a fixed latency.

    python -m benchmarks.bench_llm --peer PEER_ENVIRONMENT/bin/python --data FOLDER_OF_THE_REAL_DATA_SETS

The peer's environment: `pip install ragas==0.4.3 langchain-community==0.4.1`. Each side judges the same number of
samples, one call each, after a warm-up of four calls a place; ours with the journal in a PostgreSQL of its own, so
that every reply is committed before it is scored. Sides take turns, `--rounds` times; medians are printed. CPU is that
of the judging process (the server has its own), and for ours also that of the database's processes. Every sample has
`--contexts` passages of `--characters` of XQuAD's English paragraphs, no two of them the same. `--processes`: so many
judge their share of the samples at once, on one journal.

`ideal` is places / latency: a client, a server and a network that cost nothing. `bare` posts ready-made bytes with
aiohttp and throws the replies away: what this machine leaves of the ideal before any judging. `official` does the same
with the client of the package `openai` over its own aiohttp transport, which reads the replies and keeps none: ours is
built on it.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import gzip
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import product
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

ROOT = Path(__file__).parents[1]
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
    command = [sys.executable, "-m", "tests.old.llm.chat_server", "--latency", str(latency), "--reply", reply]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip()
        finally:
            process.kill()


def rows(samples: int, contexts: int, characters: int, data: Path | None) -> Iterator[dict[str, Any]]:
    """Question, response and contexts of so many samples."""
    text = "A context. " * (characters // 11 + 1)
    if data is not None:
        with gzip.open(data / "xquad" / "xquad.en.json.gz", "rt", encoding="utf-8") as file:
            articles = json.load(file)["data"]
        text = " ".join(part["context"] for article in articles for part in article["paragraphs"])
    step, places = 7, max(1, len(text) - characters)  # 7 has no factor in common with the number of places
    for n in range(samples):
        starts = [step * (n * contexts + part) % places for part in range(contexts)]
        passages = [text[start : start + characters] for start in starts]
        yield {"question": f"Question {n}?", "response": f"Answer {n}.", "contexts": passages}


def ours(side: str, url: str, file: str, in_flight: int, folder: str) -> None:
    """Judge, and print what it took."""
    import psutil

    from ragbench.old.core.settings import DatabaseSettings, JudgeSettings, Settings
    from ragbench.old.core.types import Judge, Prompt
    from ragbench.old.core.waves import gather
    from ragbench.old.judge import open_judges
    from ragbench.old.llm import run
    from ragbench.old.store import Store, server
    from ragbench.old.store.reply_journal import DatabaseJournal

    text = "Is the response carried by the retrieved contexts?\n{question}\n{response}\n{contexts}"
    prompt = Prompt("carried", 1, Verdict, {"en": text})
    name = f"{side}{file}{time.time_ns()}"
    judge = JudgeSettings(base_url=url, model="tester", concurrency=in_flight)
    settings = Settings(database=DatabaseSettings(folder=Path(folder)), judges={name: judge})

    def database_cpu() -> float:
        pid, seconds = server.status(settings).pid, 0.0
        for process in [psutil.Process(pid), *psutil.Process(pid).children(recursive=True)] if pid else []:
            with suppress(psutil.NoSuchProcess):  # a backend that ended meanwhile is counted by its parent
                seconds += sum(process.cpu_times()[:4])
        return seconds

    samples = [json.loads(line) for line in Path(file).read_text(encoding="utf-8").splitlines()]

    async def one(judge: Judge, texts: dict[str, Any]) -> int:
        answer = await judge.ask(prompt, texts)
        return int(answer.value is not None)

    async def work(store: Store) -> dict[str, float]:
        journal = None if side == "memory" else DatabaseJournal(store.engine)
        async with open_judges(settings, [name], journal=journal) as opened:
            (judge,) = opened.judges
            first = [
                {**texts, "question": f"{n} to warm up?"} for n, texts in enumerate(samples[: WARM_UP * in_flight])
            ]
            await gather([one(judge, texts) for texts in first])
            gc.collect()
            print("ready", flush=True)
            sys.stdin.readline()
            began, cpu, database = time.time(), time.process_time(), database_cpu()
            scored = sum(await gather([one(judge, texts) for texts in samples]))
            ended, cpu = time.time(), time.process_time() - cpu
            return {
                "began": began,
                "ended": ended,
                "cpu_seconds": cpu,
                "database_cpu_seconds": database_cpu() - database,
                "scored": scored,
            }

    with Store.open(settings) as store:
        print(json.dumps(run(work(store))))


def bare(side: str, url: str, file: str, in_flight: int) -> None:
    """Post as many requests of the same size, with aiohttp or with the client of openai, and print what it took."""
    import aiohttp
    import httpx2
    import openai

    texts = Path(file).read_text(encoding="utf-8").splitlines()
    messages = [[{"role": "user", "content": text}] for text in texts]
    bodies = [json.dumps({"model": "tester", "messages": one}).encode() for one in messages]

    async def place(session: Any, turns: Iterator[int]) -> int:
        done = 0
        for turn in turns:
            at = turn % len(bodies)
            if side == "official":
                made = await session.chat.completions.create(model="tester", messages=messages[at])
                done += bool(made.choices[0].message.content)
                continue
            async with session.post(f"{url}/chat/completions", data=bodies[at]) as response:
                done += bool(await response.read())
        return done

    def opened() -> Any:
        if side == "bare":
            return aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=in_flight))
        limits = httpx2.Limits(max_connections=in_flight, max_keepalive_connections=in_flight)
        client = openai.DefaultAioHttpClient(limits=limits, timeout=httpx2.Timeout(60))
        return openai.AsyncOpenAI(api_key="none", base_url=url, max_retries=0, http_client=client)

    async def work() -> dict[str, float]:
        async with opened() as session:

            async def post(count: int) -> int:
                turns = iter(range(count))
                return sum(await asyncio.gather(*(place(session, turns) for _ in range(in_flight))))

            await post(WARM_UP * in_flight)
            gc.collect()
            print("ready", flush=True)
            sys.stdin.readline()
            began, cpu = time.time(), time.process_time()
            scored = await post(len(bodies))
            return {
                "began": began,
                "ended": time.time(),
                "cpu_seconds": time.process_time() - cpu,
                "scored": scored,
            }

    print(json.dumps(asyncio.run(work())))


def measure(
    side: str, peer: str | None, url: str, files: Sequence[Path], in_flight: int, folder: Path
) -> dict[str, Any]:
    """One side, once, a file of samples in a process of its own, all at once."""
    if side == "peer":
        own = [str(peer), str(Path(__file__).with_name("ragas_judging.py"))]
    else:
        own = [sys.executable, "-m", "benchmarks.bench_llm", side]
    begun = [
        subprocess.Popen(
            [*own, url, str(file), str(in_flight), str(folder)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for file in files
    ]
    for process in begun:
        assert process.stdout is not None
        while (said := process.stdout.readline()) != "ready\n":
            if not said:
                raise SystemExit(f"{side} failed")
    for process in begun:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    found = [json.loads(process.communicate()[0].strip().splitlines()[-1]) for process in begun]
    return {
        "seconds": max(one["ended"] for one in found) - min(one["began"] for one in found),
        "cpu_seconds": sum(one["cpu_seconds"] for one in found),
        "database_cpu_seconds": max(one.get("database_cpu_seconds", 0.0) for one in found),
        "scored": sum(one["scored"] for one in found),
    }


def main() -> None:
    """Measure and print a table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--peer", help="the Python of an environment with ragas; left out: ours alone")
    options.add_argument("--samples", type=int, default=1600)
    options.add_argument("--in-flight", type=int, nargs="+", default=[16, 64, 256])
    options.add_argument("--latency", type=float, default=0.05)
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--contexts", type=int, default=5)
    options.add_argument("--characters", type=int, default=650)
    options.add_argument("--data", type=Path, help="left out: every context is the same")
    options.add_argument("--processes", type=int, nargs="+", default=[1])
    options.add_argument("--sides", nargs="+", choices=SIDES, default=SIDES)
    given = options.parse_args()
    sides = [side for side in given.sides if side != "peer" or given.peer]

    from ragbench.old.core.settings import DatabaseSettings, Settings
    from ragbench.old.store import server as database

    outer = Path(tempfile.mkdtemp(prefix="ragbench-bench-"))
    outer.chmod(0o755)
    folder = outer / "postgres"
    try:
        with server(given.latency) as url:
            print("processes  in flight  side      calls/s  of ideal  CPU ms/call  with database's")
            for processes, in_flight in product(given.processes, given.in_flight):
                files = {}
                for side in sides:
                    samples = max(given.samples // 4, WARM_UP * in_flight) if side == "peer" else given.samples
                    lines = [json.dumps(row) for row in rows(samples, given.contexts, given.characters, given.data)]
                    shares = 1 if side == "peer" else processes
                    files[side] = [outer / f"{side}{share}.jsonl" for share in range(shares)]
                    for share, file in enumerate(files[side]):
                        file.write_text("\n".join(lines[share::shares]), encoding="utf-8")
                rounds: dict[str, list[dict[str, Any]]] = {side: [] for side in sides}
                for _ in range(given.rounds):
                    for side in sides:
                        found = measure(side, given.peer, url, files[side], in_flight, folder)
                        rounds[side].append({name: value / found["scored"] for name, value in found.items()})
                speeds = {side: statistics.median(1 / r["seconds"] for r in found) for side, found in rounds.items()}
                for side, found in rounds.items():
                    cpu = statistics.median(r["cpu_seconds"] for r in found) * 1000
                    more = statistics.median(r["database_cpu_seconds"] for r in found) * 1000
                    share = speeds[side] * given.latency / in_flight / len(files[side])
                    times = f"  ×{speeds[side] / speeds['peer']:.1f} of the peer" if "peer" in speeds else ""
                    print(
                        f"{len(files[side]):>9}  {in_flight:>9}  {side:<8} {speeds[side]:>8.0f} {share:>8.0%} "
                        f"{cpu:>12.2f} {cpu + more:>12.2f}{times}",
                        flush=True,
                    )
    finally:
        database.stop(Settings(database=DatabaseSettings(folder=folder)))
        import shutil

        shutil.rmtree(outer)


if __name__ == "__main__":
    if len(sys.argv) > 1 and sys.argv[1] in SIDES:
        side, url, file, in_flight, folder = sys.argv[1:]
        if side in ("bare", "official"):
            bare(side, url, file, int(in_flight))
        else:
            ours(side, url, file, int(in_flight), folder)
    else:
        main()
