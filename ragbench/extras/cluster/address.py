"""Where a cluster is: processes of this machine, a scheduler's address, or a file that names one."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragbench.core import folders
from ragbench.store.pool import ClusterError

LEGAL = "local:4, tcp://HOST:8786, tls://HOST:8786, or a scheduler's FILE.json"
_LOCAL = re.compile(r"local:([0-9]{1,4})")
_REMOTE = re.compile(r"(tcp|tls|ws|wss)://\S+:[0-9]{1,5}/?")


@dataclass(frozen=True)
class Address:
    """count: of processes to start here; 0 where the cluster is there already. url: of its scheduler.

    folder: with the certificate and the key of one that speaks to nobody else; None: as Dask is configured.
    """

    count: int = 0
    url: str = ""
    folder: Path | None = None

    def connected(self) -> dict[str, Any]:
        """How a Dask client is made that reaches it."""
        if self.folder is None:
            return {"address": self.url}
        from distributed.security import Security

        return {"address": self.url, "security": Security(require_encryption=True, **roles(self.folder))}


def parse(text: str) -> Address:
    """Raises ClusterError, naming what is legal, and for a file that names no scheduler."""
    if (local := _LOCAL.fullmatch(text.strip())) and int(local[1]) > 0:
        return Address(count=int(local[1]))
    if _REMOTE.fullmatch(text.strip()):
        return Address(url=text.strip())
    path = Path(text).expanduser()
    if path.suffix == ".json" or path.is_file():
        try:
            described = json.loads(folders.text(path))
            url = str(described["address"])
        except OSError as error:
            raise ClusterError(f"cluster = {text!r}: the scheduler's file cannot be read: {error.strerror}") from None
        except (ValueError, KeyError, TypeError):
            raise ClusterError(f"cluster = {text!r}: the file is none that a Dask scheduler wrote: it has no address"
                               ) from None  # fmt: skip
        return Address(url=url, folder=path.parent if (path.parent / CERTIFICATE).is_file() else None)
    raise ClusterError(f"cluster = {text!r} is no cluster; legal are {LEGAL}")


def check(text: str) -> None:
    """Raises ClusterError, naming what is legal, for what names no cluster."""
    parse(text)


CERTIFICATE, KEY = "certificate.pem", "key.pem"


def roles(folder: Path) -> dict[str, str]:
    """The certificate and the key of the folder, for whoever takes part."""
    files = {"tls_ca_file": str(folder / CERTIFICATE)}
    for role in ("client", "scheduler", "worker"):
        files |= {f"tls_{role}_cert": str(folder / CERTIFICATE), f"tls_{role}_key": str(folder / KEY)}
    return files
