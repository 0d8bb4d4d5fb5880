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
CARRIERS = tuple(map(ipaddress.ip_network, ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96")))
"""Networks of IPv6 whose addresses end with one of IPv4 that they lead to."""
_FIGURES = re.compile(r"0[xX][0-9a-fA-F]{1,8}|0[0-7]{0,12}|[1-9][0-9]{0,9}")
_USER = re.compile(r"(?<=[a-z0-9+.-])://[^\s:/@'\"]*+:(?!\d{1,5}/)", re.IGNORECASE)
"""Up to a password, which may have a / in it, unless it begins as a port does."""
_PASSWORD = re.compile(r"[^\s'\"<>]++")
"""A password with what follows it: it ends at the last @."""
_BEARER = re.compile(r"(Bearer\s++)[A-Za-z0-9._~+/=-]{8,}+", re.IGNORECASE)


def without_passwords(text: str) -> str:
    """A text with the passwords of all URLs in it masked, and what follows `Bearer`."""
    parts, done, at = [], 0, 0
    while "@" in text and (user := _USER.search(text, at)) is not None:
        run = _PASSWORD.match(text, user.end())
        last = -1 if run is None else text.rfind("@", user.end() + 1, run.end())
        if last < 0:  # nor has any other URL of the same run one
            at = max(user.end(), run.end() if run else 0)
        else:
            parts += [text[done : user.end()], MASK]
            done = at = last
    return _BEARER.sub(rf"\1{MASK}", "".join((*parts, text[done:])))


def without_credentials(url: str) -> str:
    """A URL as messages show it: nothing of what stands before its host or after its path."""
    bare = re.split(r"[?#]", url[url.rfind("@") + 1 :])[0]
    return f"{MASK}@{bare}" if "@" in url else bare


def is_metadata(host: str) -> bool:
    """Whether an address in figures is one of METADATA, however it is written: as one number, in octal, within IPv6."""
    bare = host.strip("[]").partition("%")[0].rstrip(".")
    try:
        address = ipaddress.ip_address(bare)
    except ValueError:
        parts = bare.split(".")
        if len(parts) > 4 or not all(_FIGURES.fullmatch(part) for part in parts):
            return False
        *first, last = (int(re.sub("^0(?=[0-7])", "0o", part.lower()), 0) for part in parts)
        number = sum(figure << (24 - 8 * place) for place, figure in enumerate(first)) + last
        if number >= 2**32:
            return False
        address = ipaddress.IPv4Address(number)
    inner = [address]
    if isinstance(address, ipaddress.IPv6Address) and any(address in network for network in CARRIERS):
        inner.append(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    if isinstance(address, ipaddress.IPv6Address) and address.sixtofour is not None:
        inner.append(address.sixtofour)
    return any(
        candidate in network for candidate in inner for network in METADATA if candidate.version == network.version
    )


def refuse_metadata(key: str, url: str) -> None:
    """Raises ValueError for an address that is never asked, whoever trusts the project."""
    if is_metadata(urlsplit(url).hostname or ""):
        raise ValueError(
            f"{key} = {without_credentials(url)!r} is link-local, where clouds keep a machine's credentials: it is "
            "never asked"
        )
