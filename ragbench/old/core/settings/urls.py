"""Addresses of the web, databases and shared storage: which may be named, and how they are shown without secrets."""

from __future__ import annotations

import ipaddress
import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import unquote, urlsplit

from ragbench.old.core import names
from ragbench.old.core.language import LANGUAGES

PACKAGES = {
    **dict.fromkeys(("file", "memory", "ftp", "http", "https"), ""),
    **dict.fromkeys(("s3", "s3a"), "s3fs"),
    **dict.fromkeys(("gs", "gcs"), "gcsfs"),
    **dict.fromkeys(("az", "abfs"), "adlfs"),
    **dict.fromkeys(("sftp", "ssh"), "paramiko"),
    "smb": "smbprotocol",
    "hdfs": "pyarrow",
    "webhdfs": "requests",
    "oss": "ossfs",
    "oci": "ocifs",
    "hf": "huggingface_hub",
}
"""Scheme → the package without which it cannot be read. None that is made of others, unpacks, or runs code."""
READ_ONLY = frozenset({"http", "https"})
LONGEST = 1000  # browsers and proxies take about 2,000
_BEGINS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)(://|::)")
_LANGUAGE = re.compile(rf"(.+):({'|'.join(LANGUAGES)})")


@dataclass(frozen=True)
class Url:
    """A file or folder of shared storage. scheme: in small letters; rest: what stands behind ://, without / at its end.

    There is no secret in it: passwords and keys are read from the environment.
    """

    scheme: str
    rest: str

    @classmethod
    def of(cls, text: str) -> Url:
        """Raises ValueError, with what is legal, for any that is not plain; a password in it is not said."""
        shown = without_credentials(text)[:LONGEST]
        begins = _BEGINS.match(text)
        if begins is None or begins[2] == "::" or "::" in text:
            raise ValueError(f"{shown}: a plain URL is expected, such as s3://bucket/folder; none is made of several")
        scheme, rest = begins[1].lower(), text[begins.end() :].rstrip("/")
        if scheme not in PACKAGES:
            raise ValueError(f"{shown}: {scheme}:// is not read; legal are {', '.join(sorted(PACKAGES))}")
        if any(sign in rest for sign in "?#") or ":" in rest.partition("/")[0].rpartition("@")[0]:
            raise ValueError(
                f"{shown}: no password and nothing behind ? or # may stand in a URL of storage; the storage's own "
                "variables (AWS_…, FSSPEC_…) and files hold them"
            )
        parts = unquote(rest).removeprefix("/").split("/")
        if len(text) > LONGEST or "\\" in unquote(rest) or names.fault(rest, LONGEST) or {".", "..", ""} & set(parts):
            raise ValueError(f"{shown}: the path of a folder or a file is expected behind ://, without . and .. in it")
        if scheme == "file" and not rest.startswith("/"):
            raise ValueError(f"{shown}: write the whole path: file:///folder")
        return cls(scheme, rest)

    def __str__(self) -> str:
        return f"{self.scheme}://{self.rest}"

    def __truediv__(self, below: str) -> Url:
        return Url.of(f"{self}/{below}")

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.rest.rpartition("/")[2]

    @property
    def parent(self) -> Url:
        """The folder that it lies in. Raises ValueError where it names none."""
        return Url.of(f"{self.scheme}://{self.rest.rpartition('/')[0]}")


def is_url(text: object) -> bool:
    """Whether a text is meant as a URL, legal or not."""
    return isinstance(text, str) and _BEGINS.match(text) is not None


def with_language(text: str) -> tuple[Url, str]:
    """The URL of a data set, and the language behind a colon: `s3://bucket/helpdesk:ru`; empty where there is none.

    Raises ValueError as `Url.of`.
    """
    match = _LANGUAGE.fullmatch(text)
    return (Url.of(match[1]), match[2]) if match else (Url.of(text), "")


def target(text: str) -> Url:
    """A URL that can be written to. Raises ValueError."""
    url = Url.of(text)
    if url.scheme in READ_ONLY:
        raise ValueError(f"{url}: {url.scheme}:// is only read; name storage, such as s3://bucket/folder")
    return url


MASK = "••••"
METADATA = tuple(
    map(
        ipaddress.ip_network,
        (*("169.254.0.0/16", "fe80::/10", "fd00:ec2::254", "fd20:ce::254"), *("100.100.100.200", "192.0.0.192")),
    )
)
"""Link-local addresses, and those at which clouds hand out a machine's credentials."""
CARRIERS = tuple(
    map(ipaddress.ip_network, ("::/96", "::ffff:0:0/96", "::ffff:0:0:0/96", "64:ff9b::/96", "64:ff9b:1::/96"))
)
"""Networks of IPv6 whose addresses end with one of IPv4 that they lead to."""
_HOST = re.compile(r"(?:[\w.-]+|\[[\w:.%]+\])(?::\d{1,5})?")
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
    """Whether an address in figures is one of METADATA, however it is written: as one number, in octal, within IPv6,
    in wide figures, which a resolver takes for the same."""
    plain = unicodedata.normalize("NFKC", host).replace("\N{IDEOGRAPHIC FULL STOP}", ".")
    bare = plain.strip("[]").partition("%")[0].rstrip(".")
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
    if isinstance(address, ipaddress.IPv6Address):
        inner += filter(None, (address.sixtofour, *(address.teredo or ())))
    return any(
        candidate in network for candidate in inner for network in METADATA if candidate.version == network.version
    )


def check_host(key: str, url: str) -> None:
    """Raises ValueError for an address without a host that all readers take for the same one, and for one that is never
    asked, whoever trusts the project."""
    parts = urlsplit(url)
    is_plain = url.isprintable() and unicodedata.is_normalized("NFKC", parts.netloc)
    if not is_plain or not _HOST.fullmatch(parts.netloc) or parts.port == 0:
        raise ValueError(f"{key} = {without_credentials(url)!r}: a host, and perhaps its port, is expected behind ://")
    if is_metadata(parts.hostname or ""):
        raise ValueError(
            f"{key} = {without_credentials(url)!r} is link-local, where clouds keep a machine's credentials: it is "
            "never asked"
        )
