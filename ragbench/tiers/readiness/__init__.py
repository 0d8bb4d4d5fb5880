"""What is known before anything is measured or paid: which pages lack their data, and what would fail."""

from collections.abc import Sequence

from ragbench.core.settings import Settings
from ragbench.tiers.basics.choices import BenchError
from ragbench.tiers.basics.requests import Request
from ragbench.tiers.readiness import endpoints, parts, searches
from ragbench.tiers.readiness.pages import Read, lacking, reader
from ragbench.tiers.readiness.work import work

__all__ = ["check", "lacking", "reader", "work"]


def _database(settings: Settings) -> list[str]:
    """Why a server of one's own cannot be used; the embedded one is started when it is needed."""
    from ragbench.store import StoreError, server

    try:
        server.required(settings)
    except StoreError as error:
        return [str(error)]
    return []


def check(asked: Sequence[Request], settings: Settings, read: Read | None = None, *, asking: bool = True) -> None:
    """Refuse what is known to fail: parts that are not there or do not fit the data, then models that refuse or cannot
    be reached, and functions that fail at the first questions.

    read: gives data sets, see `reader`. asking: whether models and functions may be asked; see the setting `ask_first`.
    Raises BenchError that names all faults at once.
    """
    used, read = parts.of_requests(asked, settings), read or reader(settings)
    faults = [*parts.faults(used, settings), *searches.faults(asked, settings, read)]
    if asking and settings.database_url is not None and (used.systems or used.embedders) and not faults:
        faults = _database(settings)
    if asking and settings.ask_first and not faults:
        faults = [*endpoints.faults(used, settings), *searches.failing(asked, settings, read)]
    if len(faults) == 1:
        raise BenchError(f"{faults[0]}. Nothing was measured")
    if faults:
        lines = "\n".join(f"- {fault}" for fault in faults)
        raise BenchError(
            f"{len(faults)} faults, and nothing was measured; `ragbench doctor` looks at everything\n{lines}"
        )
