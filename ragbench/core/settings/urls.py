"""URLs of storage that is shared between machines: which may be named, and what is in one."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import unquote

from ragbench.core import names
from ragbench.core.language import LANGUAGES
from ragbench.core.settings.addresses import without_credentials

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
LONGEST = 1000
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
