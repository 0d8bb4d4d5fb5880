"""Addresses of database servers, and how they are shown: never with a password."""

from __future__ import annotations

from urllib.parse import quote, quote_plus

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from ragbench.core.settings.addresses import MASK
from ragbench.store.errors import StoreError

SPOKEN = ("postgresql", "postgres", "postgresql+psycopg")
SECRET_PARAMETERS = ("password", "sslpassword")


def own_server(text: str, variable: str = "RAGBENCH_DATABASE_URL") -> URL:
    """The URL of a server of your own, read from the environment. The errors name the variable, never its text."""
    legal = "postgresql://USER:PASSWORD@HOST:PORT/DATABASE"
    try:
        url = make_url(text.strip())
    except (ArgumentError, ValueError):
        raise StoreError(f"{variable} is not a URL; write it as {legal}") from None
    if url.drivername not in SPOKEN:
        raise StoreError(f"{variable} begins with {url.drivername.split(':')[0]!r}; write it as {legal}")
    if not url.database:
        raise StoreError(f"{variable} names no database; write it as {legal}")
    query = dict(url.query)
    password = query.pop("password", None)
    if isinstance(password, str):
        url = url.set(password=url.password or password)
    return url.set(drivername="postgresql+psycopg", query=query)


def masked(text: object, url: URL | None = None) -> str:
    """`text` with `••••` for every password of `url`; a URL as `text` is rendered with its own passwords masked."""
    if isinstance(text, URL):
        # libpq takes a plus for a plus
        return masked(text.render_as_string(hide_password=True).replace("***", MASK).replace("+", "%20"), text)
    shown = str(text)
    if url is None:
        return shown
    secrets = [str(url.password)] if url.password else []
    secrets += [str(url.query[name]) for name in SECRET_PARAMETERS if name in url.query]
    for secret in secrets:
        for written in {secret, quote(secret), quote(secret, safe=""), quote_plus(secret)}:
            shown = shown.replace(written, MASK)
    return shown
