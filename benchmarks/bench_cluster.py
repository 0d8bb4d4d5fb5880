"""What a cluster of this machine's workers costs and gives: judged calls against a server that takes its time.

`python -m benchmarks.bench_cluster [--calls 2000] [--latency 0.2] [--concurrency 64] [--workers 0,1,2,4]`; 0 is
no cluster. Each line is the same table of answers, judged anew. Starting the workers is told apart from the work.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

import ragbench as rb
from ragbench.old.core import settings
from ragbench.old.core.types import Sample
from ragbench.old.extras.cluster import address

SERVER = Path(__file__).parents[1] / "tests" / "llm" / "chat_server.py"


@contextlib.contextmanager
def serving(latency: float) -> Iterator[str]:
    command = [sys.executable, str(SERVER), "--latency", str(latency)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().strip()
        finally:
            server.terminate()


@contextlib.contextmanager
def working(count: int) -> Iterator[None]:
    os.environ.pop("RAGBENCH_CLUSTER", None)
    if count == 0:
        settings.load.cache_clear()
        yield
        return
    with address.started(count) as file:
        os.environ["RAGBENCH_CLUSTER"] = str(file)
        settings.load.cache_clear()
        yield
    os.environ.pop("RAGBENCH_CLUSTER")


def processor() -> float:
    """Seconds of this process and of all that it has started."""
    own = psutil.Process()
    total = 0.0
    for one in (own, *own.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            taken = one.cpu_times()
            total += taken.user + taken.system
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--workers", default="0,1,2,4")
    given = parser.parse_args()
    rows = [
        Sample(str(n), user_input=f"What is the number {n}?", response=f"The number {n} comes after {n - 1}.")
        for n in range(given.calls)
    ]
    print(f"{given.calls} calls, {given.latency * 1000:.0f} ms each, at most {given.concurrency} in flight together")
    print("workers  start s  work s  calls/s  CPU ms a call (server not counted)")
    with serving(given.latency) as url:
        for count in map(int, given.workers.split(",")):
            begun = time.perf_counter()
            with working(count):
                started = time.perf_counter()
                before = processor()
                judge = rb.judge(
                    model="m", base_url=url, name=f"j{count}-{time.time_ns()}", concurrency=given.concurrency
                )
                found = rb.score(rows, metrics=["answer_relevance"], judge=judge)
                seconds, taken = time.perf_counter() - started, processor() - before
            assert len(found) == given.calls
            print(
                f"{count:7}  {started - begun:7.1f}  {seconds:6.1f}  {given.calls / seconds:7.0f}  "
                f"{1000 * taken / given.calls:.2f}"
            )


if __name__ == "__main__":
    main()
