"""Endpoints of vectors that answer without end: a named error in time, and never more than a gigabyte."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from ragbench.old.core.settings import EmbedderSettings
from ragbench.old.core.types import EmbeddingError
from ragbench.old.embed.openai_embeddings import MAX_BYTES, EndpointEmbedder
from tests.old.llm.chat_server import ChatServer
from tests.old.llm.llm_client import answering, packed

PROGRAM = """
import sys
from ragbench.old.embed.openai_embeddings import EndpointEmbedder
from ragbench.old.core.settings import EmbedderSettings
from ragbench.old.core.types import EmbeddingError
try:
    settings = EmbedderSettings(kind="openai", model="m", base_url=sys.argv[1], attempts=1, timeout_seconds=120)
    print(EndpointEmbedder("far", settings).embed(["x"] * 64).shape)
except EmbeddingError as error:
    print(error)
# ru_maxrss would begin at the size of the process that started this one
print(next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) // 1024)
"""


def filled(head: bytes, block: bytes, tail: bytes) -> ChatServer:
    """A server whose reply is as long as the limit admits, full of one thing."""
    body = head + block * ((MAX_BYTES - len(head) - len(tail)) // len(block)) + tail
    return answering(f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)


LONG = f"the response has more than {MAX_BYTES} bytes for 64 texts; set embedders.far.batch below 64"
REPLIES = {
    "endless": (lambda: answering(b"HTTP/1.1 200 OK\r\n\r\n", b" " * 2**20, 9_000), LONG),
    "chunks": (
        lambda: answering(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"100000\r\n" + b" " * 2**20 + b"\r\n", 9_000
        ),
        LONG,
    ),
    "gzip": (lambda: answering(packed(2**31)), LONG),
    "deflate": (lambda: answering(packed(2**31, "deflate")), LONG),
    "error": (lambda: answering(b"HTTP/1.1 500 X\r\n\r\n", b" " * 2**20, 9_000), LONG),
    "lists": (lambda: filled(b'{"data":[', b"[],", b"0]}"), "the response has more values than a reply"),
    "objects": (lambda: filled(b'{"data":[', b"{},", b"0]}"), "the response has more values than a reply"),
    "fields": (lambda: filled(b'{"data":[{', b'"aa":0,', b'"b":1}]}'), "the response has more values than a reply"),
    "numbers": (lambda: filled(b'{"data":[{"index":0,"embedding":[', b"0.5,", b"1]}]}"), "gave 1 vectors for 64 texts"),
    "texts": (lambda: filled(b'{"data":[{"index":0,"embedding":[', b'"ab",', b"1]}]}"), "gave 1 vectors for 64 texts"),
    "deep": (lambda: filled(b'{"data":', b"[", b"]}"), "the response has more values than a reply"),
}


@pytest.mark.slow
@pytest.mark.fault("bombs", tried="replies of vectors: endless, packed, full of lists", count=11)
@pytest.mark.parametrize("name", REPLIES)
def test_a_reply_without_bounds_is_an_error_within_a_gigabyte(name: str) -> None:
    make, said = REPLIES[name]
    with make().running() as server:
        done = subprocess.run([sys.executable, "-c", PROGRAM, server.url], capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stderr[-500:]
    message, peak = done.stdout.strip().rsplit("\n", 1)
    assert message.startswith(f"the embedder far (m at {server.url}) gave ")
    assert said in message
    assert int(peak) <= 1024, f"{peak} MB"
    print(name, peak, "MB")


@pytest.mark.timeout(60)
@pytest.mark.fault("hang", tried="vectors that drip past their limit, and no end of patience", count=2)
class TestTime:
    def test_a_drip_ends_with_the_limit_of_the_whole_response(self) -> None:
        with answering(b"HTTP/1.1 200 OK\r\n\r\n", b" ", 10_000, 0.05).running() as server:
            settings = EmbedderSettings(
                kind="openai", model="m", base_url=server.url, attempts=1, timeout_seconds=0.6, read_seconds=30
            )
            began = time.monotonic()
            with pytest.raises(EmbeddingError, match=r"no whole response within 0.6 s \(timeout_seconds\)") as raised:
                EndpointEmbedder("far", settings).embed(["x"])
        assert raised.value.dead
        assert time.monotonic() - began < 20

    def test_patience_ends_all_attempts(self) -> None:
        with answering(b"HTTP/1.1 503 X\r\nRetry-After: 0.2\r\nContent-Length: 0\r\n\r\n").running() as server:
            settings = EmbedderSettings(
                kind="openai", model="m", base_url=server.url, attempts=100, patience_seconds=0.6
            )
            began = time.monotonic()
            with pytest.raises(EmbeddingError, match=r"HTTP 503; tried \d times .*patience_seconds = 0.6\).*Run again"):
                EndpointEmbedder("far", settings).embed(["x"])
        assert time.monotonic() - began < 20
