"""The sockets of all that speaks HTTP: none to where machines keep their own credentials."""

from __future__ import annotations

import errno
import socket
from typing import Any

from ragbench.core.settings.addresses import is_metadata


class MetadataAddressError(OSError):
    """A name led to a link-local address, where clouds hand out a machine's credentials."""


def opened(address: tuple[Any, ...]) -> socket.socket:
    """An unconnected socket for an address that a name was resolved to. Raises MetadataAddressError."""
    family, kind, protocol, _, place = address
    if is_metadata(str(place[0])):
        raise MetadataAddressError(
            errno.EACCES, f"{place[0]} is link-local, where clouds keep a machine's credentials: it is never asked"
        )
    return socket.socket(family, kind, protocol)
