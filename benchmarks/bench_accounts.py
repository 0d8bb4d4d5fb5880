"""What do a budget and limits that processes share cost a call? 1, 2 and 4 processes with both, against none.

Run: python -m benchmarks.bench_accounts [--calls 2000] [--latency 0.5]. All ask one real HTTP server, 16 calls in
flight together; without limits that hold over processes each has its part of the 16 by itself. The journal is in a
PostgreSQL of the benchmark's own, which writes to the disk as yours does.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from ragbench.old.core.settings import RUN, BudgetSettings, DatabaseSettings, JudgeSettings, Settings  # noqa: E402
from ragbench.old.llm import Client, Completion, open_budget  # noqa: E402
from ragbench.old.store import Store, server  # noqa: E402
from tests.old.llm.llm_shapes import request  # noqa: E402

IN_FLIGHT, REPEATS = 16, 3


def part(url: str, folder: str, calls: int, in_flight: int, name: str) -> None:
    """Ask so many questions of one's own once a line comes in, and print seconds of the clock and of the processor."""

    async def work(store: Store) -> dict[str, float]:
        settings = JudgeSettings(base_url=url, model="tester", concurrency=in_flight)
        budget = open_budget(BudgetSettings(calls=10**9) if RUN in os.environ else BudgetSettings(), store.journal)
        client = Client(name, settings, journal=store.journal, budget=budget)

        async def ask(start: int, end: int) -> list[Completion]:
            return await asyncio.gather(*(client.complete(request(f"{name} {n}")) for n in range(start, end)))

        await ask(-IN_FLIGHT, 0)
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.readline)
        began, cpu = time.perf_counter(), time.process_time()
        found = await ask(0, calls)
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        await client.close()
        return {"seconds": seconds, "cpu": cpu, "done": sum(one.calls for one in found)}

    with Store.open(Settings(database=DatabaseSettings(folder=Path(folder)))) as store:
        print(json.dumps(asyncio.run(work(store))))


def together(url: str, folder: str, calls: int, processes: int, shared: bool) -> tuple[float, float]:
    """Seconds of the clock, and milliseconds of all processors of the askers a call."""
    environment = {key: value for key, value in os.environ.items() if key != RUN}
    name = f"bench {time.time_ns()}"
    if shared:
        environment[RUN] = name
    each = IN_FLIGHT if shared else IN_FLIGHT // processes
    command = [sys.executable, __file__, "--part", url, folder, str(calls // processes), str(each)]
    running = [
        subprocess.Popen([*command, f"{name} {n}"], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         text=True)
        for n in range(processes)
    ]  # fmt: skip
    for process in running:
        assert process.stdout is not None
        process.stdout.readline()
    told = []
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in running:
        out, _ = process.communicate()
        told.append(json.loads(out.splitlines()[-1]))
    assert sum(one["done"] for one in told) == calls // processes * processes
    return max(one["seconds"] for one in told), sum(one["cpu"] for one in told) * 1000 / calls


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--calls", type=int, default=2000)
    options.add_argument("--latency", type=float, default=0.02, help="seconds in which a call is answered")
    options.add_argument("--part", nargs=5)
    given = options.parse_args()
    if given.part:
        url, folder, calls, in_flight, name = given.part
        part(url, folder, int(calls), int(in_flight), name)
        return
    with tempfile.TemporaryDirectory(prefix="ragbench-bench-") as folder:
        Path(folder).chmod(0o755)
        settings = Settings(database=DatabaseSettings(folder=Path(folder) / "pg"))
        Store.open(settings).close()
        chat = [sys.executable, "-m", "tests.old.llm.chat_server", "--latency", str(given.latency)]
        with subprocess.Popen(chat, cwd=ROOT, stdout=subprocess.PIPE, text=True) as serving:
            assert serving.stdout is not None
            url = serving.stdout.readline().strip()
            answered = f"answered after {given.latency * 1000:g} ms"
            print(f"{given.calls} calls, {IN_FLIGHT} in flight, {answered}; best of {REPEATS}", flush=True)
            for processes in (1, 2, 4):
                for shared in (False, True):
                    runs = [together(url, f"{folder}/pg", given.calls, processes, shared) for _ in range(REPEATS)]
                    seconds, cpu = min(runs)
                    said = f"{processes} processes, {'shared' if shared else 'none  '}: {seconds:6.2f} s, "
                    said += f"{given.calls / seconds:5.0f} calls a second, {cpu:.2f} ms of processor a call"
                    print(said, flush=True)
            serving.terminate()
        server.stop(settings)


if __name__ == "__main__":
    main()
