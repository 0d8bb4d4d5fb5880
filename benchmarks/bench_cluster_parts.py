"""What does a cluster cost besides its work? Parts a second that the process which asks can hand out and take back.

Run: python -m benchmarks.bench_cluster_parts [--workers 2] [--parts 2000]. Processes of this machine, with TLS;
the parts have no work in them, and carry, and bring back, so many bytes each.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from ragbench.old.core import settings  # noqa: E402
from ragbench.old.extras.cluster import address  # noqa: E402
from ragbench.old.store import pool  # noqa: E402

BYTES = (0, 10_000, 1_000_000)


def echo(_common: None, part: bytes, _tell: Any) -> bytes:
    return part


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--parts", type=int, default=2000)
    given = options.parse_args()
    import cloudpickle

    cloudpickle.register_pickle_by_value(sys.modules[echo.__module__])  # no worker can import a script
    begun = time.perf_counter()
    with address.started(given.workers) as file:
        known = settings.load().model_copy(update={"cluster": str(file)})
        with pool.opened(known) as workers:
            assert workers is not None
            print(f"{workers.count} workers are there after {time.perf_counter() - begun:.1f} s", flush=True)
            print(f"one part alone: {1000 * workers.seconds_of_a_part():.0f} ms", flush=True)
            for size in BYTES:
                parts = [bytes(size)] * (given.parts if size < 1_000_000 else given.parts // 10)
                begun, cpu = time.perf_counter(), time.process_time()
                assert workers.map(echo, None, parts) == parts
                seconds, cpu = time.perf_counter() - begun, time.process_time() - cpu
                said = f"{len(parts):,} parts of {size:,} bytes there and back: {len(parts) / seconds:6.0f} a second, "
                print(f"{said}{1000 * cpu / len(parts):.2f} ms of the asker's processor a part", flush=True)


if __name__ == "__main__":
    main()
