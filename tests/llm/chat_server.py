"""A real HTTP server on the loopback address, whose replies a test writes, well or badly.

As a program it speaks well, for tests and benchmarks that need it in a process of its own:
`python chat_server.py LATENCY` prints its address.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import ssl
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

GOOD = '{"reason": "r", "rating": 4}'


@dataclass
class Raw:
    """A response as it is. content: bytes, or a JSON value."""

    content: Any
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Break:
    """What goes wrong instead of a response: hang, drip, reset, half."""

    how: str


@dataclass
class Request:
    """A request that came in."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]


# What a test writes: the request's body and its number, from 1 → content of the reply, or Raw.
Answer = Callable[[dict[str, Any], int], Any]


class Server:
    """url: its address, ending with /v1. requests: what came in, in order."""

    def __init__(
        self, answer: Answer, latency: float = 0.0, tls: ssl.SSLContext | None = None
    ) -> None:
        self.answer = answer
        self.latency = latency
        self.tls = tls
        self.requests: list[Request] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.url = ""

    async def serve(self) -> None:
        """Serve until it is cancelled."""
        server = await asyncio.start_server(
            self._connect, "127.0.0.1", 0, backlog=1024, ssl=self.tls
        )
        self.url = (
            f"http{'s' if self.tls else ''}://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
        )
        async with server:
            await server.serve_forever()

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(
            asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError
        ):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                pairs = [line.partition(":") for line in head[1:]]
                headers = {name.lower(): value.strip() for name, _, value in pairs}
                body = await reader.readexactly(int(headers.get("content-length") or 0))
                request = Request(head[0].split(" ")[1], headers, json.loads(body or b"{}"))
                self.requests.append(request)
                self.in_flight += 1
                self.most_in_flight = max(self.most_in_flight, self.in_flight)
                try:
                    await self._respond(writer, request, len(self.requests))
                finally:
                    self.in_flight -= 1
        writer.close()

    async def _respond(self, writer: asyncio.StreamWriter, request: Request, number: int) -> None:
        answer = self.answer(request.body, number)
        if self.latency:
            await asyncio.sleep(self.latency)
        if isinstance(answer, Break):
            await self._break(writer, answer.how)
            raise ConnectionError
        raw = answer if isinstance(answer, Raw) else Raw(says(answer))
        content = raw.content
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        lines = {"Content-Type": "application/json", "Content-Length": len(data), **raw.headers}
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        writer.write(f"HTTP/1.1 {raw.status} X\r\n{head}\r\n".encode() + data)
        await writer.drain()

    async def _break(self, writer: asyncio.StreamWriter, how: str) -> None:
        if how == "hang":
            await asyncio.sleep(600)
        elif how == "reset":
            writer.transport.abort()
        else:
            writer.write(b"HTTP/1.1 200 X\r\nContent-Length: 9999\r\n\r\n{")
            while how == "drip":
                writer.write(b" ")
                await writer.drain()
                await asyncio.sleep(0.05)


@contextlib.contextmanager
def serving(
    answer: Answer = lambda body, number: GOOD,
    latency: float = 0.0,
    tls: ssl.SSLContext | None = None,
) -> Iterator[Server]:
    """A server in a thread of its own."""
    server = Server(answer, latency, tls)
    loop = asyncio.new_event_loop()
    task = loop.create_task(server.serve())
    thread = threading.Thread(target=_run, args=(loop, task), daemon=True)
    thread.start()
    while not server.url:
        pass
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(5)


def _run(loop: asyncio.AbstractEventLoop, task: asyncio.Task[None]) -> None:
    with contextlib.suppress(asyncio.CancelledError):
        loop.run_until_complete(task)
    others = asyncio.all_tasks(loop)
    for other in others:
        other.cancel()
    if others:
        loop.run_until_complete(asyncio.wait(others))
    loop.close()


def says(content: Any, finish: str = "stop", **message: Any) -> dict[str, Any]:
    """A reply of chat completions: a prompt of 10 tokens, and 10 of its own."""
    message = {"role": "assistant", "content": content, **message}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"choices": [choice], "usage": {"prompt_tokens": 10, "completion_tokens": 10}}


def fails(status: int, words: str, **headers: str) -> Raw:
    """A refusal in OpenAI's form."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Raw({"error": {"message": words}}, status, named)


async def main(latency: str) -> None:
    server = Server(lambda body, number: GOOD, float(latency))
    task = asyncio.create_task(server.serve())
    while not server.url:
        await asyncio.sleep(0.01)
    print(server.url, flush=True)
    await task


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
