"""What is known before anything is measured or paid: which pages lack their data, and what would fail."""

from collections.abc import Iterable

from ragbench.bench.basics.requests import Request
from ragbench.bench.basics.session import BenchError
from ragbench.bench.readiness import endpoints, parts
from ragbench.bench.readiness.pages import lacking
from ragbench.settings import Settings

__all__ = ["check", "lacking"]


def _database(settings: Settings) -> list[str]:
    """Why a server of one's own cannot be used; the embedded one is started when it is needed."""
    from ragbench.store import StoreError, server

    try:
        server.required(settings)
    except StoreError as error:
        return [str(error)]
    return []


def check(asked: Iterable[Request], settings: Settings, *, asking: bool = True) -> None:
    """Refuse what is known to fail: parts that are not there, then models that refuse or cannot be reached.

    asking: whether models may be asked; see the setting `ask_first`. Raises BenchError that names all faults at once.
    """
    used = parts.of_requests(asked, settings)
    found = parts.faults(used, settings)
    if asking and settings.database_url is not None and (used.systems or used.embedders) and not found:
        found = _database(settings)
    if asking and settings.ask_first and not found:
        found = endpoints.faults(used, settings)
    if len(found) == 1:
        raise BenchError(f"{found[0]}. Nothing was measured")
    if found:
        lines = "\n".join(f"- {one}" for one in found)
        raise BenchError(
            f"{len(found)} faults, and nothing was measured; `ragbench doctor` looks at everything\n{lines}"
        )
