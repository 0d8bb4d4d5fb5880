"""Texts per second from an endpoint of vectors that takes its time, stored in a PostgreSQL of its own.

    python -m benchmarks.bench_embedding_endpoint

The endpoint is a process of its own and waits `--latency` seconds before each answer. Every line is a collection that
nothing is stored of: by how many requests at a time, packed or not, and by how many processes that all want the whole
collection at once. `asked` is how many texts the endpoint was asked for: a text is paid for once. CPU is that of all
embedding processes, without the server of the database.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
WIDTH = 384


def serve(latency: float) -> None:
    """Answer every text with the same vector, and a GET with how many texts there were; prints the address."""
    import asyncio
    import base64
    import struct

    from aiohttp import web

    numbers = [(place % 97 + 1) / 97 for place in range(WIDTH)]
    forms = {"base64": base64.b64encode(struct.pack(f"<{WIDTH}f", *numbers)).decode(), "float": numbers}
    ready = {form: json.dumps(vector) for form, vector in forms.items()}
    asked = 0

    async def embeddings(request: web.Request) -> web.Response:
        nonlocal asked
        body = await request.json()
        asked += len(body["input"])
        await asyncio.sleep(latency)
        vector = ready[body["encoding_format"]]
        rows = ",".join(f'{{"index":{place},"embedding":{vector}}}' for place in range(len(body["input"])))
        return web.Response(text=f'{{"model":"m","data":[{rows}]}}', content_type="application/json")

    async def count(_: web.Request) -> web.Response:
        return web.json_response(asked)

    async def work() -> None:
        application = web.Application(client_max_size=2**28)
        application.add_routes([web.post("/v1/embeddings", embeddings), web.get("/", count)])
        runner = web.AppRunner(application)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        print(f"http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
        await asyncio.Event().wait()

    asyncio.run(work())


def embed(url: str, name: str, texts: int, concurrency: int, encoding: str, folder: str) -> None:
    """Embed the collection, once a line comes in; print what it took."""
    from ragbench.old.core.settings import DatabaseSettings, EmbedderSettings, Settings
    from ragbench.old.embed.openai_embeddings import EndpointEmbedder
    from ragbench.old.store import Store

    known = EmbedderSettings(kind="openai", model=name, base_url=f"{url}/v1", concurrency=concurrency)
    embedder: Any = EndpointEmbedder(name, known)
    embedder._encoding = encoding
    corpus = [f"Passage {n} of the collection. " + "It says something. " * 30 for n in range(texts)]
    with Store.open(Settings(database=DatabaseSettings(folder=Path(folder)))) as store:
        print("ready", flush=True)
        sys.stdin.readline()
        began, cpu = time.time(), time.process_time()
        store.embed(embedder, corpus)
        print(json.dumps({"began": began, "ended": time.time(), "cpu": time.process_time() - cpu}))


@contextmanager
def running(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    """This file in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.bench_embedding_endpoint", *map(str, arguments)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def line(process: subprocess.Popen[str]) -> str:
    """The next line that a process prints."""
    assert process.stdout is not None
    if not (said := process.stdout.readline().strip()):
        raise SystemExit("a process failed")
    return said


def main() -> None:
    """Measure and print a table."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--texts", type=int, default=5_000)
    options.add_argument("--latency", type=float, default=0.2)
    given = options.parse_args()
    from ragbench.old.core.settings import DatabaseSettings, Settings
    from ragbench.old.store import server as database

    outer = Path(tempfile.mkdtemp(prefix="ragbench-bench-"))
    outer.chmod(0o755)
    try:
        print("at a time  encoding  processes  texts/s  CPU ms/text  asked")
        with running("serve", given.latency) as served:
            url, before = line(served), 0
            for concurrency, encoding, processes in (
                (1, "float", 1),
                (32, "float", 1),
                (32, "base64", 1),
                (1, "base64", 2),
            ):
                name = f"m{concurrency}{encoding}{processes}"
                asking = ("embed", url, name, given.texts, concurrency, encoding, outer / "postgres")
                with running(*asking) as first, running(*asking) as second:
                    begun = [first, second][:processes]
                    for one in begun:
                        line(one)
                    for one in begun:
                        assert one.stdin is not None
                        one.stdin.write("go\n")
                        one.stdin.flush()
                    found = [json.loads(line(one)) for one in begun]
                seconds = max(one["ended"] for one in found) - min(one["began"] for one in found)
                cpu = 1000 * sum(one["cpu"] for one in found) / given.texts
                asked = int(urllib.request.urlopen(url).read())
                print(
                    f"{concurrency:>9}  {encoding:<8} {processes:>10} {given.texts / seconds:>8.0f} {cpu:>12.3f} "
                    f"{asked - before:>6}",
                    flush=True,
                )
                before = asked
    finally:
        database.stop(Settings(database=DatabaseSettings(folder=outer / "postgres")))
        shutil.rmtree(outer)


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        serve(float(sys.argv[2]))
    elif sys.argv[1:2] == ["embed"]:
        embed(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]), sys.argv[6], sys.argv[7])
    else:
        main()
