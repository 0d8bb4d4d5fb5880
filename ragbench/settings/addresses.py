"""Addresses of the web and of databases as they may be shown: without the passwords in them."""

from __future__ import annotations

import re

MASK = "••••"
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
