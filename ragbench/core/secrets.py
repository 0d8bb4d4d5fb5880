"""Keep secrets out of logs, errors and pages, and orders out of terminals. Data never change."""

from __future__ import annotations

import os
import re
from urllib.parse import quote

LEAST_CHARACTERS = 8  # a shorter value, such as "password", stands in ordinary texts too
SECRET_NAME = re.compile(r"key|token|secret|password|credential|authorization", re.IGNORECASE)
# What carries a secret by its form, whoever set it: passwords in addresses, bearer tokens, keys.
FORMS = (
    re.compile(r"(?<=://)[^/\s:@]*:([^/\s@]+)(?=@)"),
    # On a page & is written &amp;.
    re.compile(
        r"(?:(?<=[?&])|(?<=&amp;))\w*(?:key|token|secret|password|sig)\w*=([^&\s\"']+)",
        re.IGNORECASE,
    ),
    re.compile(r"\bBearer\s+([\w.~+/=-]{8,})", re.IGNORECASE),
    re.compile(r"\b(sk-[\w-]{16,})"),
)
MASK = "••••"
# What would command a terminal or turn a line around; line feeds and tabs stay.
HIDDEN = re.compile(r"[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_secrets: set[str] = set()


def remember(secret: str | None) -> str:
    """Note a secret that ragbench uses, so that `mask` knows it; returns it, "" for None."""
    if secret and len(secret) >= LEAST_CHARACTERS:
        _secrets.add(secret)
    return secret or ""


def read_secret(variable: str) -> str:
    """Return the value of an environment variable that holds a secret; "" where it is not set."""
    return remember(os.environ.get(variable))


def mask(text: object) -> str:
    """Return the text with every secret that ragbench uses, and what looks like one, as dots."""
    masked = str(text)
    for secret in sorted(_secrets, key=len, reverse=True):
        for form in (
            secret,
            quote(secret, safe=""),
            secret.replace("\\", "\\\\").replace('"', '\\"'),
        ):
            masked = masked.replace(form, MASK)
    for pattern in FORMS:
        masked = pattern.sub(lambda found: found[0].replace(found[1], MASK), masked)
    return masked


def visible(text: object) -> str:
    """Return a text, perhaps of strangers, without what a terminal would obey."""
    return HIDDEN.sub("", str(text))


def shorten(text: object, most: int = 300) -> str:
    """Return a text of somebody else's as one line, masked before it is cut."""
    line = " ".join(mask(text).split())
    printable = "".join(letter for letter in line if letter.isprintable())
    return printable if len(printable) <= most else f"{printable[: most - 1]}…"
