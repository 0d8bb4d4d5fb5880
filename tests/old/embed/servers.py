"""A real HTTP server on the loopback address that embeds and ranks by the usual protocols, well or badly on purpose."""

from __future__ import annotations

import base64
import hashlib
import json
import struct
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Literal

WIDTH = 12


@dataclass
class EmbeddingsServer:
    """What it was asked, and how it shall answer.

    change: called with the correct reply, gives the reply that is sent. script: answers given before that, each a
    (status, headers, body) or "hang" or "reset". refuses: texts that it cannot take; a request with one is a 400.
    packs: what it does where vectors in base64 are asked for. seconds: before an answer. most_at_once: so many
    requests it had at the same time.
    """

    url: str = ""
    change: Callable[[dict[str, Any]], Any] = lambda reply: reply
    script: list[tuple[int, dict[str, str], str] | str] = field(default_factory=list)
    refuses: Callable[[str], bool] = lambda text: False
    packs: Literal["as_asked", "never", "refuses"] = "never"
    seconds: float = 0.0
    at_once: int = 0
    most_at_once: int = 0
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        return [text for request in self.requests for text in request["input"]]


def vector_of(text: str, width: int = WIDTH) -> list[float]:
    """What the server answers for a text: digits of its hash, never all zero."""
    return [1 + byte / 256 for byte in hashlib.sha256(text.encode()).digest()[:width]]


def packed_vector(numbers: list[float]) -> str:
    """As endpoints pack it."""
    return base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()


def ranks_of(request: dict[str, Any]) -> dict[str, Any]:
    """What the server answers where passages are to be ranked: the shorter, the better; best first."""
    scores = [{"index": place, "relevance_score": 1 / len(text)} for place, text in enumerate(request["documents"])]
    return {"results": sorted(scores, key=lambda one: -one["relevance_score"])}


@contextmanager
def embeddings_server() -> Iterator[EmbeddingsServer]:
    state, lock = EmbeddingsServer(), threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            state.requests.append(request)
            state.headers.append({name.lower(): value for name, value in self.headers.items()})
            if state.script:
                planned = state.script.pop(0)
                if planned == "hang":
                    time.sleep(60)
                    planned = "reset"
                if planned == "reset":
                    self.close_connection = True
                    return
                assert not isinstance(planned, str)
                self._send(planned[0], planned[2], planned[1])
                return
            if "documents" in request:
                self._send(200, json.dumps(state.change(ranks_of(request))), {})
                return
            if any(state.refuses(text) for text in request["input"]):
                self._send(400, json.dumps({"error": {"message": "a text is {not} welcome"}}), {})
                return
            packed = request.get("encoding_format") == "base64"
            if packed and state.packs == "refuses":
                self._send(422, json.dumps({"error": {"message": "encoding_format: only float is known"}}), {})
                return
            with lock:
                state.at_once += 1
                state.most_at_once = max(state.most_at_once, state.at_once)
            time.sleep(state.seconds)
            with lock:
                state.at_once -= 1
            width = request.get("dimensions", WIDTH)
            form = packed_vector if packed and state.packs == "as_asked" else list
            data = [
                {"object": "embedding", "index": place, "embedding": form(vector_of(text, width))}
                for place, text in enumerate(request["input"])
            ]
            reply = {
                "object": "list",
                "model": request["model"],
                "data": data,
                "usage": {"prompt_tokens": 1, "total_tokens": 1},
            }
            changed = state.change(reply)
            self._send(200, changed if isinstance(changed, str) else json.dumps(changed), {})

        def _send(self, status: int, body: str, headers: dict[str, str]) -> None:
            raw = body.encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(raw)))
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None:
            """Nothing: a test's output is its failures."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
