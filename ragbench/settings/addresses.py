"""Addresses of the web and of databases as they may be shown: without the passwords in them."""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import urlsplit

MASK = "••••"
METADATA = tuple(
    map(
        ipaddress.ip_network,
        ("169.254.0.0/16", "fe80::/10", "fd00:ec2::254/128", "fd20:ce::254/128", "100.100.100.200/32"),
    )
)
"""Link-local addresses, and those at which clouds hand out a machine's credentials."""
_URL_PASSWORD = re.compile(
    r"(\b[a-z][a-z0-9+.-]*://[^\s:/@'\"]*:)(?!\d{1,5}/)([^\s'\"<>]+)(@)", re.IGNORECASE
)  # what has a / in it is a password too, unless it began as a port does
_BEARER = re.compile(r"(Bearer\s+)[A-Za-z0-9._~+/=-]{8,}", re.IGNORECASE)


def without_passwords(text: str) -> str:
    """A text with the passwords of all URLs in it masked, and what follows `Bearer`."""
    return _BEARER.sub(rf"\1{MASK}", _URL_PASSWORD.sub(rf"\1{MASK}\3", text))


def without_credentials(url: str) -> str:
    """A URL as messages show it: nothing of what stands before its host or after its path."""
    bare = re.split(r"[?#]", url[url.rfind("@") + 1 :])[0]
    return f"{MASK}@{bare}" if "@" in url else bare


def is_metadata(host: str) -> bool:
    """Whether an address in figures is one of METADATA, be it written as IPv6 or not."""
    try:
        found = ipaddress.ip_address(host.strip("[]").partition("%")[0])
    except ValueError:
        return False
    inner = getattr(found, "ipv4_mapped", None) or found
    return any(inner in network for network in METADATA if inner.version == network.version)


def refuse_metadata(key: str, url: str) -> None:
    """Raises ValueError for an address that is never asked, whoever trusts the project."""
    if is_metadata(urlsplit(url).hostname or ""):
        raise ValueError(
            f"{key} = {without_credentials(url)!r} is link-local, where clouds keep a machine's credentials: it is "
            "never asked"
        )
