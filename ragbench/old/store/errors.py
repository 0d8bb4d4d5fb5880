"""What can go wrong between ragbench and its database, in one line and with the next command."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import psycopg.errors as pg
import sqlalchemy.exc


class StoreError(RuntimeError):
    """The database cannot do what was asked. The message names the thing, the value and the next command."""


class DisturbedClockError(RuntimeError):
    """A clock would have been read in a process that others run beside: what is measured is measured again, alone."""


_REFUSED = re.compile(
    r"FATAL:\s+((?:database|role) .* does not exist|password authentication failed.*|no pg_hba.conf.*)"
)
FULL = ("too many clients", "remaining connection slots")
FROZEN = "look whether it was stopped or its machine hangs"
AGAIN = "run the same command again: what was computed is kept"


@contextmanager
def told_plainly(doing: str) -> Iterator[None]:
    """Turn the driver's errors inside into a StoreError of one line; `doing` says what was being done."""
    try:
        yield
    except sqlalchemy.exc.TimeoutError:
        raise StoreError(
            f"while {doing}: all connections of this process are taken; raise database.connections in ragbench.toml"
        ) from None
    except sqlalchemy.exc.DBAPIError as error:
        raise StoreError(f"while {doing}: {explain(error.orig)}") from None
    except sqlalchemy.exc.SQLAlchemyError as error:
        raise StoreError(f"while {doing}: {first_line(error)}") from None
    except psycopg.Error as error:
        raise StoreError(f"while {doing}: {explain(error)}") from None


def explain(error: BaseException | None) -> str:
    """One line for people: what the server said, and what to do about it."""
    said = first_line(error)
    if isinstance(error, pg.LockNotAvailable):
        return f"another session holds a lock for longer than database.lock_seconds ({said}); {AGAIN}"
    if isinstance(error, pg.QueryCanceled):
        return f"the time limit database.statement_seconds was reached ({said}); raise it in ragbench.toml"
    if isinstance(error, pg.DiskFull):
        return f"the database's disk is full ({said}); make room, then {AGAIN}"
    if isinstance(error, pg.InsufficientPrivilege):
        return f"the database user may not do this ({said}); ask the server's owner for the right"
    if is_full(said):
        return f"all connections of the server are taken ({said}); end other clients, then {AGAIN}"
    if (refused := _REFUSED.search(said)) is not None:
        return f"the server refuses the connection ({refused[1]}); look at the database's name, user and password"
    if is_silent(error):
        return f"the database server does not answer ({said}): {FROZEN}, then {AGAIN}"
    if went_away(error):
        return f"the database server went away during the run ({said}); {AGAIN}"
    return said


def is_full(said: str) -> bool:
    """Whether a server says that it has no connection left, for anybody or for all but its owner."""
    return any(words in said for words in FULL)


def went_away(error: BaseException | None) -> bool:
    """Whether the connection is gone, or was never made (a statement that the server refused is not that)."""
    if isinstance(error, pg.AdminShutdown | pg.CrashShutdown | pg.CannotConnectNow):
        return True
    return isinstance(error, psycopg.OperationalError | psycopg.InterfaceError) and error.sqlstate is None


def is_silent(error: BaseException | None) -> bool:
    """Whether a server that is there does not answer; that is waited for once, by whoever raised it."""
    return isinstance(error, pg.ConnectionTimeout)


def first_line(error: BaseException | None) -> str:
    """The first line of an error's text, without SQL and parameters."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
