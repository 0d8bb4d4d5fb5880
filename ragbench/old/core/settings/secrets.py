"""Nothing secret leaves the process: values of key variables and passwords of URLs are masked at every door.

A door is where something goes to a file or a screen: `ragbench.old.core.terminal`, `ragbench.old.report.keeping.results`, a
measurement's `save`, the journal's export, labels and data sets. What an endpoint sends back is masked as it comes in.
"""

from __future__ import annotations

import html.entities
import os
import re
from base64 import b64encode
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

from ragbench.old.core import settings
from ragbench.old.core.settings.urls import MASK, without_passwords

if TYPE_CHECKING:
    import pandas as pd

AT_ONCE = 50_000
"""Cells of a table that are held as Python's texts."""
SHORTEST = 6
"""Shorter values are masked in URLs alone: a word of everyday would vanish from all data."""
LONG = 16
"""Characters of a value that is no word: it is masked in small and in capital letters, too."""
_SECRET_NAME = re.compile(
    r"(API_?KEY|TOKEN(?!S|IZER)|SECRET|PASSWORD|PASSWD|PGPASS|CREDENTIAL|PRIVATE_?KEY|ACCESS_?KEY|ACCOUNT_?KEY|"
    r"CONNECTION_?STRING)",
    re.IGNORECASE,
)
_SECRET_PARAMETER = re.compile(r"password|passwd|token|secret|key", re.IGNORECASE)

Mask = Callable[[str], str]


def masker() -> Mask:
    """A function that masks the secrets of this process in a text, and the password of any URL."""
    exact = exact_masker()
    return lambda text: without_passwords(exact(text))


def exact_masker() -> Mask:
    """A function that masks only the secrets that this process holds, for data that must stay as it is otherwise."""
    return _masking(_values())


def document_masker() -> Mask:
    """`exact_masker` for a whole file of text, where a secret made of digits alone could be a number of its own."""
    return _masking(frozenset(value for value in _values() if not value.isdecimal()))


def excerpt(text: object, limit: int, mask: Mask | None = None) -> str:
    """A text of somebody else's as one line of at most `limit` characters, masked before it is cut: of a secret that
    is cut first, no mask finds the rest. What was cut ends in …

    mask: a masker that was made before, where there are many texts.
    """
    said = " ".join((mask or masker())(str(text)).split())
    return said if len(said) <= limit else f"{said[: limit - 1]}…"


def masker_of(*values: str) -> Mask:
    """A function that masks these secrets, however they are written."""
    return _masking(frozenset(value for value in values if len(value) >= SHORTEST))


def value_of(variable: str) -> str:
    """What a variable holds, "" for nothing."""
    return os.environ.get(variable, "").strip()


def masked(value: Any, mask: Mask) -> Any:
    """A JSON value with every text in it masked, names of fields among them."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, Mapping):
        return {masked(key, mask): masked(item, mask) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [masked(item, mask) for item in value]
    return value


def masked_table(table: pd.DataFrame, mask: Mask) -> pd.DataFrame:
    """The same table where nothing had to be masked, else a copy."""
    there = [] if mask is str else [name for name in table.columns if table[name].dtype.kind not in "biufcmM"]
    starts = range(0, len(table), AT_ONCE)
    hides = [
        name
        for name in there
        if any(
            hidden is not other
            for start in starts
            for cells in [table[name].iloc[start : start + AT_ONCE].tolist()]
            for hidden, other in zip(_hidden(cells, mask), cells, strict=True)
        )
    ]
    return table.assign(**{name: _hidden(table[name].tolist(), mask) for name in hides}) if hides else table


def _hidden(cells: list[Any], mask: Mask) -> list[Any]:
    """The same cells, each itself where nothing had to be masked."""
    plain = {cell for cell in cells if isinstance(cell, str)}
    known = {text: better for text in plain if (better := mask(text)) != text}
    return [known.get(cell, cell) if isinstance(cell, str) else _nested(cell, mask) for cell in cells]


def _nested(cell: Any, mask: Mask) -> Any:
    """A cell of a table that is no text: itself, unless it is a list or a mapping that holds a secret."""
    plain = cell.tolist() if hasattr(cell, "tolist") else cell
    if not isinstance(plain, list | tuple | Mapping):
        return cell
    better = masked(plain, mask)
    return cell if repr(better) == repr(masked(plain, str)) else better


def _values() -> frozenset[str]:
    """Secret values: of variables whose names say so, of the variables that the settings name, of URLs."""
    try:
        named = settings.key_variables(settings.load())
    except (settings.ConfigurationError, OSError):
        named = set()
    return _values_among(tuple(os.environ.items()), frozenset(named))


@lru_cache(maxsize=4)  # a masker is made for every cell that a fault quotes; variables hardly ever change
def _values_among(variables: tuple[tuple[str, str], ...], named: frozenset[str]) -> frozenset[str]:
    values = {value.strip() for name, value in variables if name in named or _SECRET_NAME.search(name)}
    for _, value in variables:
        if "://" in value:
            values |= _passwords(value)
    return frozenset(value for value in values if len(value) >= SHORTEST)


def _passwords(url: str) -> set[str]:
    try:
        parts = urlsplit(url.strip())
        given = [value for name, value in parse_qsl(parts.query) if _SECRET_PARAMETER.search(name)]
        password = parts.password
    except ValueError:
        return set()
    return {*given, *({password, unquote(password)} if password else ())}


def _anyhow(value: str) -> str:
    """A pattern of a value however it is written: as it is, or as JSON, HTML, URLs and Python write it, once or within
    each other, by whatever library; of a long one small and capital letters are the same."""
    pattern = "".join(map(_sign, re.findall(r"\\++|[^\\]", value)))
    return f"(?i:{pattern})" if len(value) >= LONG else pattern


def _sign(sign: str) -> str:
    """A pattern of one sign of a value, or of as many backslashes as stand there."""
    if (count := len(sign)) > 1 or sign == "\\":
        return rf"(?:\\{{{count},{8 * count}}}|(?i:%(?:25)*5c|&(?:amp;)*(?:#0*92|#x0*5c|bsol);){{{count}}})"
    if sign.isascii() and sign.isalnum():
        return sign
    units = sign.encode("utf-16-be", "surrogatepass").hex()
    escaped = "".join(rf"\\{{1,4}}u{units[start : start + 4]}" for start in range(0, len(units), 4))
    of_url = "".join(f"%(?:25)*{byte:02x}" for byte in sign.encode("utf-8", "surrogatepass"))
    code, names = ord(sign), [name for name, there in html.entities.html5.items() if there == sign and name[-1] == ";"]
    of_html = "|".join((f"#0*{code};", f"#x0*{code:x};", *map(re.escape, names)))
    byte = rf"|\\{{1,4}}x{code:02x}" if code < 256 else ""
    space = r"|\+" if sign == " " else ""
    return rf"(?:\\{{0,4}}{re.escape(sign)}|(?i:{escaped}|{of_url}|&(?:amp;)*(?:{of_html}){byte}){space})"


def _encoded(value: str) -> set[str]:
    """What stands for a long value, whole, in its bytes as base64, beside whatever others, in hexadecimal, and with
    every byte as in a URL; none of a short one, of which a word could be one."""
    given = value.encode("utf-8", "surrogatepass")
    if len(given) < LONG:
        return set()
    signs = set()
    for before in range(3):  # bytes of others in the first group of three
        whole = b64encode(b"\0" * before + given).decode().rstrip("=")
        core = whole[-(-8 * before // 6) : len(whole) - bool((before + len(given)) % 3)]
        signs |= {core, core.replace("+", "-").replace("/", "_")}
    return {*signs, given.hex(), "".join(f"%{byte:02x}" for byte in given)}


@lru_cache(maxsize=256)
def _masking(values: frozenset[str]) -> Mask:
    secrets = sorted(values, key=lambda value: (-len(value), value))
    if not secrets:
        return str
    encoded = sorted({sign for value in secrets for sign in _encoded(value)})
    forms = [*map(_anyhow, secrets), *(rf"(?i:[\w+/-]{{0,2}}{re.escape(sign)}[\w+/-]{{0,2}}=*)" for sign in encoded)]
    pattern = re.compile("|".join(forms))
    runs = {max(re.findall("[a-z0-9]+", value.lower()), key=len, default="") for value in secrets}
    runs |= {sign.lower() for sign in encoded}

    def mask(text: str) -> str:
        # what every way of writing leaves as it is is looked for first: that is a hundred times as fast, and nearly
        # always all there is to do
        small = text.lower()
        return pattern.sub(MASK, text) if any(run in small for run in runs) else text

    return mask
