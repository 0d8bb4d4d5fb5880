"""A real HTTP server on the loopback address that answers questions as a test says, well or badly on purpose."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Asked:
    """One request as it came: its headers' names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    text: str

    @property
    def body(self) -> Any:
        return json.loads(self.text)


@dataclass
class Reply:
    """status, headers and content: a JSON value, or bytes as they are. after: seconds until it comes.

    pieces: instead of the content, each (seconds to wait, bytes). broken: the connection ends before its announced end.
    """

    content: Any = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    after: float = 0.0
    pieces: Iterable[tuple[float, bytes]] | None = None
    broken: bool = False


@dataclass
class ServiceServer:
    """answer: what is replied to a request, a `Reply` or the JSON of a good one. asked: the requests that came."""

    answer: Callable[[Asked], Any]
    asked: list[Asked] = field(default_factory=list)
    in_flight: int = 0
    most_in_flight: int = 0
    url: str = ""

    @contextmanager
    def running(self) -> Iterator[ServiceServer]:
        server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        server.daemon_threads = True
        self.url = f"http://127.0.0.1:{server.server_port}/ask"
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield self
        finally:
            server.shutdown()
            server.server_close()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        owner, lock = self, threading.Lock()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1
            disable_nagle_algorithm = True

            def log_message(self, *arguments: Any) -> None:
                """Nothing is said."""

            def serve(self) -> None:
                raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                asked = Asked(self.command, self.path, headers, raw.decode())
                with lock:
                    owner.asked.append(asked)
                    owner.in_flight += 1
                    owner.most_in_flight = max(owner.most_in_flight, owner.in_flight)
                    given = owner.answer(asked)
                try:
                    self.send(given if isinstance(given, Reply) else Reply(given))
                except ConnectionError:
                    self.close_connection = True
                finally:
                    with lock:
                        owner.in_flight -= 1

            def send(self, reply: Reply) -> None:
                time.sleep(reply.after)
                content = reply.content if isinstance(reply.content, bytes) else json.dumps(reply.content).encode()
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                if reply.pieces is None:
                    self.send_header("Content-Length", str(len(content) + (10 if reply.broken else 0)))
                self.close_connection = reply.broken or reply.pieces is not None
                self.send_header("Connection", "close" if self.close_connection else "keep-alive")
                self.end_headers()
                for wait, piece in reply.pieces or [(0.0, content)]:
                    time.sleep(wait)
                    self.wfile.write(piece)
                    self.wfile.flush()

            do_POST = do_GET = do_PUT = serve  # noqa: N815

        return Handler
