"""A real HTTP server on the loopback address that speaks chat completions and embeddings, well or badly on purpose.

Replies are valid for the shape that is asked for, and depend on the first user message alone, so that every repetition
and every repair yields the same value. Which fault strikes a call depends on the seed, on the request's body and on
how often this body came before: not on the order of arrival. A question's content is spoilt once at most: told of its
fault, the model mends it. Counters outlive the client.

As a program: `python chat_server.py --latency 0.05 --faults '{"429": 0.1}'` prints its base URL and serves.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import hashlib
import json
import random
import re
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

TRANSPORT_FAULTS = (
    *("429", "429_wait", "500", "502", "503", "529", "401", "402", "403", "404", "405", "400"),
    *("hang", "drip", "reset", "half", "html", "cut", "no_choices", "error_inside", "redirect"),
)
CONTENT_FAULTS = ("length", "nan", "prose", "empty", "refusal", "not_json")
TIMER_LATE_SECONDS = 0.0005
"""asyncio's timers wake at whole milliseconds, so half of one late on average."""
Answer = Callable[[dict[str, Any]], Any]


@dataclass(frozen=True)
class Raw:
    """A response as it is, in the place of a reply's content."""

    status: int
    value: Any


@dataclass
class Served:
    """One request that came in: path, headers (lower case), body, and what was done with it."""

    path: str
    headers: Mapping[str, str]
    body: dict[str, Any]
    fault: str = ""


@dataclass
class ChatServer:
    """latency: seconds from a request to its reply. faults: name → rate. answer: body → reply content (text, or a
    JSON value), or a fault's name as "!name", or a whole response as `Raw`; None generates a value of the asked shape.
    vectors: body → response of an endpoint of embeddings; None for `embeddings`. mechanisms: the ways of asking
    for a shape that are understood; the others get a 400 that says so. keep: remember every request (else count only).
    arrivals: when each of them came (monotonic seconds), and the model that was asked for.
    """

    latency: float = 0.0
    faults: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    answer: Answer | None = None
    vectors: Callable[[dict[str, Any]], Any] | None = None
    mechanisms: tuple[str, ...] = ("json_schema", "json_object", "tool")
    keep: bool = True
    redirect_to: str = "http://127.0.0.1:9/elsewhere"
    retry_after: str = "0.05"
    usage: bool = True
    served: Callable[[dict[str, Any]], Any] = lambda body: body["model"]
    requests: list[Served] = field(default_factory=list)
    calls: int = 0
    answered: int = 0
    in_flight: int = 0
    most_in_flight: int = 0
    port: int = 0
    tls: ssl.SSLContext | None = None
    arrivals: list[tuple[float, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._seen: collections.Counter[bytes] = collections.Counter()
        self._struck: set[str] = set()
        self._ready = threading.Event()
        unknown = set(self.faults) - set(TRANSPORT_FAULTS) - set(CONTENT_FAULTS)
        assert not unknown, f"no such faults: {unknown}"

    @property
    def url(self) -> str:
        return f"http{'s' if self.tls else ''}://127.0.0.1:{self.port}/v1"

    @contextmanager
    def running(self) -> Iterator[ChatServer]:
        """The server in a thread of its own."""
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_until_complete, args=(self.serve(),), daemon=True)
        thread.start()
        assert self._ready.wait(10)
        try:
            yield self
        finally:
            loop.call_soon_threadsafe(self._stop.set)
            thread.join(10)
            loop.close()

    async def serve(self, announce: bool = False) -> None:
        self._stop = asyncio.Event()
        server = await asyncio.start_server(self._connection, "127.0.0.1", self.port, backlog=1024, ssl=self.tls)
        self.port = server.sockets[0].getsockname()[1]
        self._ready.set()
        if announce:
            print(self.url, flush=True)
        await self._stop.wait()
        server.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                first, *lines = head.decode("latin-1").split("\r\n")
                headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
                raw = await reader.readexactly(int(headers.get("content-length") or 0))
                method, path, *_ = first.split(" ")
                if method == "GET":
                    await self._respond(writer, 200, self.counters())
                    continue
                if not await self._post(writer, path, headers, raw):
                    return
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.LimitOverrunError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    def counters(self) -> dict[str, Any]:
        return {"calls": self.calls, "answered": self.answered, "most_in_flight": self.most_in_flight}

    async def _post(self, writer: asyncio.StreamWriter, path: str, headers: Mapping[str, str], raw: bytes) -> bool:
        """Serve one request; False when the connection is over."""
        self.calls += 1
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        due = asyncio.get_running_loop().time() + self.latency - TIMER_LATE_SECONDS
        try:
            body = json.loads(raw)
            served = Served(path, headers, body)
            if self.keep:
                self.arrivals.append((time.monotonic(), body.get("model", "")))
                self.requests.append(served)
            served.fault, status, value = self._decide(path, raw, body)
            reply = _message(status, value)
            if self.latency:
                await asyncio.sleep(due - asyncio.get_running_loop().time())
            if served.fault in TRANSPORT_FAULTS:
                return await self._break(writer, served.fault, body)
            self.answered += status == 200
            return await self._send(writer, reply)
        finally:
            self.in_flight -= 1

    def _decide(self, path: str, raw: bytes, body: dict[str, Any]) -> tuple[str, int, Any]:
        """Fault, status and content: all work is done before the latency ends, so that it adds nothing to it."""
        if path.partition("?")[0].endswith("/embeddings"):
            found = embeddings(body) if self.vectors is None else self.vectors(body)
            return ("", found.status, found.value) if isinstance(found, Raw) else ("", 200, found)
        refused = self._refuses_mechanism(body)
        if refused:
            return "", 400, {"error": {"message": refused}}
        content = self.answer(body) if self.answer is not None else None
        if isinstance(content, Raw):
            return "", content.status, content.value
        fault = content[1:] if isinstance(content, str) and content.startswith("!") else self._draw(raw, body)
        return fault, 200, None if fault in TRANSPORT_FAULTS else self._completion(body, content, fault)

    def _draw(self, raw: bytes, body: dict[str, Any]) -> str:
        if not self.faults:
            return ""
        key = hashlib.sha256(raw).digest()
        self._seen[key] += 1
        chance = random.Random(f"{self.seed} {key.hex()} {self._seen[key]}").random()
        question = json.dumps(body["messages"][:2])
        for name, rate in self.faults.items():
            if chance < rate:
                if name in CONTENT_FAULTS:
                    if question in self._struck:
                        return ""
                    self._struck.add(question)
                return name
            chance -= rate
        return ""

    async def _respond(self, writer: asyncio.StreamWriter, status: int, value: Any, **headers: str) -> bool:
        return await self._send(writer, _message(status, value, **headers))

    async def _send(self, writer: asyncio.StreamWriter, message: bytes) -> bool:
        writer.write(message)
        await writer.drain()
        return True

    async def _break(self, writer: asyncio.StreamWriter, fault: str, body: dict[str, Any]) -> bool:
        whole = json.dumps(self._completion(body, None, "")).encode()
        if fault == "hang":
            await asyncio.sleep(3600)
        if fault == "drip":
            writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(whole) + 10_000}\r\n\r\n".encode())
            for byte in whole * 100:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(0.05)
        if fault == "reset":
            writer.transport.abort()
        if fault == "half":
            writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(whole)}\r\n\r\n".encode() + whole[: len(whole) // 2])
        if fault in ("hang", "drip", "reset", "half"):
            return False
        if fault == "html":
            return await self._respond(writer, 200, b"<html><body>score: 5</body></html>")
        if fault == "cut":
            return await self._respond(writer, 200, whole[: len(whole) // 2])
        if fault == "no_choices":
            return await self._respond(writer, 200, {"choices": []})
        if fault == "error_inside":
            return await self._respond(writer, 200, {"error": {"message": "upstream failed", "code": 502}})
        if fault == "redirect":
            return await self._respond(writer, 307, {}, Location=self.redirect_to)
        if fault == "429_wait":
            return await self._respond(writer, 429, {"error": {"message": "slow down"}}, Retry_After=self.retry_after)
        return await self._respond(writer, int(fault), {"error": {"message": f"planned {fault}"}})

    def _refuses_mechanism(self, body: dict[str, Any]) -> str:
        kind = (body.get("response_format") or {}).get("type")
        if kind is not None and kind not in self.mechanisms:
            return f"response_format.type {kind} is not supported by this model"
        if body.get("tools") and "tool" not in self.mechanisms:
            return "tools are not supported by this model"
        return ""

    def _completion(self, body: dict[str, Any], content: Any, fault: str) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": None}
        if content is None:
            schema = asked_schema(body)
            content = generate(schema, source_of(body)) if schema else f"answer {source_of(body).random():.6f}"
        text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        finish = "stop"
        if fault == "length":
            text, finish = text[: len(text) // 2], "length"
        elif fault == "nan":
            text = re.sub(r"\d+", "NaN", text) if re.search(r"\d", text) else '{"score": NaN}'
        elif fault == "prose":
            text = f"Sure! Here is my verdict: {text} I hope that helps."
        elif fault == "empty":
            text = ""
        elif fault == "not_json":
            text = "score: 4.5 out of 5"
        elif fault == "refusal":
            message["refusal"], text = "I cannot judge this.", ""
        if body.get("tools") and not fault:
            call = {"name": body["tools"][0]["function"]["name"], "arguments": text}
            message["tool_calls"] = [{"id": "1", "type": "function", "function": call}]
        else:
            message["content"] = text
        prompt = sum(len(turn["content"]) for turn in body["messages"]) // 4
        found = {
            "id": "chatcmpl-test",
            "object": "chat.completion",
            "created": 0,
            "model": self.served(body),
            "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        }
        if self.usage:
            found["usage"] = {"prompt_tokens": prompt, "completion_tokens": len(text) // 4, "total_tokens": 0}
        return found


def _message(status: int, value: Any, **headers: str) -> bytes:
    data = value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()
    more = "".join(f"{name.replace('_', '-')}: {text}\r\n" for name, text in headers.items())
    head = f"HTTP/1.1 {status} X\r\nContent-Type: application/json\r\n{more}Content-Length: {len(data)}\r\n\r\n"
    return head.encode() + data


def source_of(body: dict[str, Any]) -> random.Random:
    """Randomness that depends on the model and the first user message alone."""
    first = next((turn["content"] for turn in body["messages"] if turn["role"] == "user"), "")
    return random.Random(f"{body['model']}\n{first}")


def asked_schema(body: dict[str, Any]) -> dict[str, Any] | None:
    """The JSON schema of the reply, wherever the request says it."""
    form = body.get("response_format") or {}
    if form.get("type") == "json_schema":
        return form["json_schema"]["schema"]
    if body.get("tools"):
        return body["tools"][0]["function"]["parameters"]
    for turn in body["messages"]:
        start = turn["content"].find('{"')
        if turn["role"] == "system" and start >= 0:
            return json.JSONDecoder().raw_decode(turn["content"][start:])[0]
    return None


def generate(schema: dict[str, Any], source: random.Random, root: dict[str, Any] | None = None) -> Any:
    """A value that the schema admits."""
    root = root or schema
    if "$ref" in schema:
        return generate(root["$defs"][schema["$ref"].rsplit("/", 1)[-1]], source, root)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return source.choice(schema["enum"])
    if "anyOf" in schema:
        return generate(source.choice(schema["anyOf"]), source, root)
    kind = schema.get("type")
    if kind == "object":
        return {name: generate(inner, source, root) for name, inner in schema.get("properties", {}).items()}
    if kind == "array":
        least = schema.get("minItems", 1)
        size = source.randint(least, schema.get("maxItems", least + 2))
        return [generate(schema["items"], source, root) for _ in range(size)]
    if kind == "integer":
        low = schema.get("minimum", 0)
        return source.randint(low, schema.get("maximum", low + 5))
    if kind == "number":
        low = schema.get("minimum", 0.0)
        return round(source.uniform(low, schema.get("maximum", low + 1.0)), 3)
    if kind == "boolean":
        return source.random() < 0.5
    if kind == "null":
        return None
    return " ".join(source.choices(("claim", "утверждение", "text", "ответ", "chunk"), k=4))


def embeddings(body: dict[str, Any]) -> dict[str, Any]:
    """Deterministic unit vectors, one a text."""
    texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
    rows = []
    for index, text in enumerate(texts):
        source = random.Random(f"{body['model']}\n{text}")
        vector = [source.gauss(0, 1) for _ in range(body.get("dimensions") or 32)]
        norm = sum(x * x for x in vector) ** 0.5
        rows.append({"object": "embedding", "index": index, "embedding": [x / norm for x in vector]})
    return {"object": "list", "model": body["model"], "data": rows, "usage": {"prompt_tokens": 1, "total_tokens": 1}}


if __name__ == "__main__":
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--port", type=int, default=0)
    options.add_argument("--latency", type=float, default=0.0)
    options.add_argument("--faults", type=json.loads, default={})
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--reply", help="the content for requests that ask for no shape in a known way")
    given = options.parse_args()
    fixed = (lambda body: None if asked_schema(body) else given.reply) if given.reply else None
    chat = ChatServer(given.latency, given.faults, given.seed, fixed, keep=False, port=given.port)
    asyncio.run(chat.serve(announce=True))
