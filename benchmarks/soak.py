"""Hours of work on one database: do memory, open files or connections of long-lived processes grow?

Run: python -m benchmarks.soak [--minutes 120] (`make soak`). Processes that live as long as the soak ask a server
that spoils 5 % of its replies, by every fault that a client goes on after, in rounds of a client each; every fourth
question is one of before, out of the journal. A line a minute says what all of them take; at the end a straight line
through the minutes after the first fifth says whether it is flat: growing is what grows by more than the bound with
95 % certainty. Exit code 1 for growth, or for a process that died.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import shutil
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from sqlalchemy import text  # noqa: E402

from ragbench.old.core.settings import DatabaseSettings, JudgeSettings, Settings  # noqa: E402
from ragbench.old.llm import Client  # noqa: E402
from ragbench.old.store import Store, server  # noqa: E402
from ragbench.old.store.reply_journal import DatabaseJournal  # noqa: E402
from tests.old.llm.chat_server import CONTENT_FAULTS, TRANSPORT_FAULTS, ChatServer  # noqa: E402
from tests.old.llm.llm_shapes import request  # noqa: E402

PROCESSES = 8
ROUND = 60
FATAL = {"400", "401", "402", "403", "404", "405", "redirect"}  # a client stops at these: that is shown elsewhere
FAULTS = [fault for fault in (*TRANSPORT_FAULTS, *CONTENT_FAULTS) if fault not in FATAL]
RATE = 0.05
BOUNDS = {"client memory, MB": 0.002, "server memory, MB": 0.005, "descriptors": 0.005, "connections": 0.005}
"""What a minute may add, as a share of the mean."""


def work(number: int, url: str, settings: Settings, until: float, done: Any) -> None:
    """One process: rounds of questions until the time is over."""
    judge = JudgeSettings(
        base_url=url, model="m", concurrency=8, attempts=6, connect_seconds=2, read_seconds=5, timeout_seconds=20
    )

    async def one_round(store: Store, first: int) -> None:
        client = Client(f"soak{number}", judge, journal=DatabaseJournal(store.engine))
        asked = [first + n if n % 4 else max(0, first - n) for n in range(ROUND)]
        try:
            found = await asyncio.gather(
                *(client.complete(request(f"{number} {n}")) for n in asked), return_exceptions=True
            )
        finally:
            await client.close()
        with done.get_lock():
            done[0] += len(found)
            done[1] += sum(isinstance(one, BaseException) for one in found)

    first = 0
    with Store.open(settings) as store:
        while time.time() < until:
            asyncio.run(one_round(store, first))
            first += ROUND


def memory(pid: int) -> float:
    """Resident megabytes, of which pages that processes share count once in each."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS:")), 0.0)


def taken(pids: list[int], store: Store, postgres: list[int]) -> dict[str, float]:
    with store.engine.connect() as connection:
        connections = int(
            connection.scalar(text("SELECT count(*) FROM pg_stat_activity WHERE datname IS NOT NULL")) or 0
        )
    return {
        "client memory, MB": sum(memory(pid) for pid in pids),
        "server memory, MB": sum(memory(pid) for pid in postgres if Path(f"/proc/{pid}").exists()),
        "descriptors": float(sum(sum(1 for _ in Path(f"/proc/{pid}/fd").iterdir()) for pid in pids)),
        "connections": float(connections),
    }


def judged(minutes: list[float], values: list[float], bound: float) -> tuple[bool, str]:
    """Whether the values grow by more than `bound` of their mean a minute, and the slope in words."""
    from scipy import stats

    x, y = np.array(minutes), np.array(values)
    keep = x >= x.max() / 5
    if keep.sum() < 4:
        return False, "too short to say"
    line = stats.linregress(x[keep], y[keep])
    margin = float(stats.t.ppf(0.975, keep.sum() - 2) * line.stderr)
    limit = bound * float(y[keep].mean())
    growing = line.slope - margin > limit
    said = "GROWING" if growing else "flat"
    return growing, f"{said}: {line.slope:+.3f} ± {margin:.3f} a minute, {limit:.3f} may be"


def main(minutes: float, every: float) -> int:
    outer = Path(tempfile.mkdtemp(prefix="ragbench-soak-"))
    outer.chmod(0o755)
    settings = Settings(database=DatabaseSettings(folder=outer / "postgres", connections=4))
    context = multiprocessing.get_context("spawn")
    chat = ChatServer(latency=0.02, faults=dict.fromkeys(FAULTS, RATE / len(FAULTS)), keep=False)
    table: dict[str, list[float]] = {}
    times: list[float] = []
    processes: list[Any] = []
    try:
        with Store.open(settings) as store, chat.running():
            done = context.Array("q", [0, 0])
            until = time.time() + 60 * minutes
            processes = [
                context.Process(target=work, args=(number, chat.url, settings, until, done))
                for number in range(PROCESSES)
            ]
            for process in processes:
                process.start()
            print("minute   questions  unmeasured   " + "   ".join(BOUNDS), flush=True)
            begun = time.time()
            while time.time() < until - every - 2:  # what is counted while they end would bend the line
                time.sleep(every)
                postgres = [process.pid for process in server.cluster_of(settings).processes()]
                found = taken([int(process.pid) for process in processes if process.is_alive()], store, postgres)
                times.append((time.time() - begun) / 60)
                for name, value in found.items():
                    table.setdefault(name, []).append(value)
                cells = "   ".join(f"{value:{len(name)}.0f}" for name, value in found.items())
                print(f"{times[-1]:6.1f}  {done[0]:10,}  {done[1]:10,}   {cells}", flush=True)
            for process in processes:
                process.join(60)
            died = [process.exitcode for process in processes if process.exitcode != 0]
    finally:
        for process in processes:
            if process.is_alive():
                process.kill()
                process.join()
        server.stop(settings)
        shutil.rmtree(outer)
    verdicts = {name: judged(times, values, BOUNDS[name]) for name, values in table.items()}
    for name, (_, words) in verdicts.items():
        print(f"{name:<20} {words}")
    if died:
        print(f"{len(died)} processes died: exit codes {died}")
    return int(bool(died) or any(growing for growing, _ in verdicts.values()))


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--minutes", type=float, default=120)
    options.add_argument("--every", type=float, default=60, help="seconds between two lines")
    given = options.parse_args()
    sys.exit(main(given.minutes, given.every))
