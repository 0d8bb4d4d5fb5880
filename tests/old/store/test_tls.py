"""A PostgreSQL behind TLS: who answers is checked against an authority of its own, by all connections.

The server that comes with ragbench speaks no TLS: what does is a few lines here, between it and its client.
"""

from __future__ import annotations

import asyncio
import select
import socket
import socketserver
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from ragbench.old.core.settings import Settings
from ragbench.old.store import Store, server
from ragbench.old.store.reply_journal import DatabaseJournal
from tests.old.llm.test_tls import authority as authority

SSL_REQUEST, GSS_REQUEST = bytes.fromhex("0000000804d2162f"), bytes.fromhex("0000000804d21630")
"""What a client of PostgreSQL begins with (the protocol's documentation, "Message Formats")."""


@contextmanager
def encrypted(settings: Settings, certificate: Path) -> Iterator[str]:
    """The address of the settings' database through TLS. certificate: without `.pem` and `.key`."""
    server.start(settings)
    url = server.address(settings)
    place = f"{url.query['host']}/.s.PGSQL.{url.port or url.query.get('port', 5432)}"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{certificate}.pem", f"{certificate}.key")

    class Ends(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            while (asked := self.request.recv(8, socket.MSG_WAITALL)) == GSS_REQUEST:
                self.request.sendall(b"N")
            if asked != SSL_REQUEST:
                return
            self.request.sendall(b"S")
            with (
                suppress(OSError),
                context.wrap_socket(self.request, server_side=True) as client,
                socket.socket(socket.AF_UNIX) as database,
            ):
                database.connect(place)
                passed_on(client, database)

    class Listener(socketserver.ThreadingTCPServer):
        daemon_threads, block_on_close = True, False

    with Listener(("127.0.0.1", 0), Ends) as listener:
        threading.Thread(target=listener.serve_forever, args=(0.05,), daemon=True).start()
        yield f"postgresql://{url.username}@127.0.0.1:{listener.server_address[1]}/{url.database}"
        listener.shutdown()


def passed_on(client: ssl.SSLSocket, database: socket.socket) -> None:
    """Until either end closes."""
    other: dict[Any, Any] = {client: database, database: client}
    while True:
        ready = [client] if client.pending() else select.select([client, database], [], [])[0]
        for one in ready:
            if not (some := one.recv(65536)):
                return
            other[one].sendall(some)


@pytest.mark.parametrize("certificate", ["good", "elsewhere", "expired"])
def test_tls_to_its_own_authority(certificate: str, database_settings: Settings, authority: Path) -> None:
    with encrypted(database_settings, authority / certificate) as url:
        secured = f"?sslmode=verify-full&sslrootcert={authority / 'ca.pem'}"
        settings = Settings(database_url=SecretStr(url + secured))
        found = server.status(settings)
        assert found.running == (certificate == "good"), found.problem
        if not found.running:
            assert "certificate" in found.problem
            return
        with Store.open(settings) as store, store.engine.connect() as connection:
            raw: Any = connection.connection.driver_connection
            assert raw.pgconn.ssl_in_use
            assert asyncio.run(_found(store)) == {}


async def _found(store: Store) -> Any:
    connections = DatabaseJournal(store.engine).on_loop()
    try:
        return await connections.find(["nothing"])
    finally:
        await connections.close()
