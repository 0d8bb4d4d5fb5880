"""The store: one object over everything that ragbench keeps in PostgreSQL."""

from __future__ import annotations

from types import TracebackType

from sqlalchemy import Engine

from ragbench.settings import Settings
from ragbench.store import server
from ragbench.store.address import masked
from ragbench.store.engine import connect, migrate


class Store:
    """Chunks, vectors and search in one PostgreSQL database. A context manager; `open` starts the server if need be.

    `engine` is for the other rooms of this package; everything outside calls methods.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine

    @classmethod
    def open(cls, settings: Settings) -> Store:
        """Find or start the server, and bring its schema up to date. Raises StoreError, never with a password in it."""
        server.start(settings)
        engine = connect(server.address(settings), settings.database)
        migrate(engine)
        return cls(engine)

    def close(self) -> None:
        """Give all connections back. The server goes on running."""
        self.engine.dispose()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Store({masked(self.engine.url)})"
