"""The works that are cited, of `works.toml`: the address of each, and where a text cites it."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_suffix(".toml")
PREFIXES = {"10.": "https://doi.org/10.", "arXiv:": "https://arxiv.org/abs/", "ACL:": "https://aclanthology.org/"}
_MORE = r"(?:(?:,|\s)+(?:&|and|de|van|von|et al\.|[A-ZÀ-Ž][\w’'-]+))*"
_YEAR = r"(?:\((?P<within>(?:19|20)\d\d)(?:\)|(?=,))|(?P<bare>(?:19|20)\d\d)\b)"
CITED = re.compile(rf"(?<![\w-])[A-ZÀ-Ž](?=[a-zà-ž'’])[\w’-]*(?:'[A-Z]\w+)?{_MORE}(?:['’]s)?,?\s+{_YEAR}")
"""A name, perhaps others, and a year: what a citation looks like."""


@dataclass(frozen=True)
class Work:
    """address: empty for a book, and for what is in print alone."""

    cited: str
    title: str
    address: str


@functools.cache
def works() -> dict[tuple[str, str], Work]:
    """All of them by first author and year."""
    made = {}
    for row in tomllib.loads(TABLE.read_text(encoding="utf-8"))["work"]:
        at = row.get("at", "")
        for prefix, address in PREFIXES.items():
            if at.startswith(prefix):
                at = address + at.removeprefix(prefix)
        author, _, year = row["cited"].rpartition(" ")
        made[author, year] = Work(row["cited"], row["title"], at)
    return made


@functools.cache
def programs() -> dict[str, str]:
    """The page about metrics of every program that has them, by its name."""
    return dict(tomllib.loads(TABLE.read_text(encoding="utf-8"))["programs"])


def pieces(text: str) -> Iterator[tuple[str, str]]:
    """A text in pieces, each with the address of the work that it cites; "" for all between."""
    done = 0
    for match in CITED.finditer(text):
        work = cited_by(match)
        if work is not None and work.address:
            yield text[done : match.start()], ""
            yield match[0], work.address
            done = match.end()
    yield text[done:], ""


def cited_by(match: re.Match[str]) -> Work | None:
    """The work of a citation, by any of its names: programs stand before authors ("RAGAS, Es et al. 2023")."""
    for name in re.findall(r"[A-ZÀ-Ž][\w’'-]*", match[0]):
        work = works().get((name.removesuffix("'s").removesuffix("’s"), match["within"] or match["bare"]))
        if work is not None:
            return work
    return None


def linked(text: str) -> str:
    """The text with its citations as links of Markdown, and without any the program that it names."""
    text = "".join(f"[{piece}]({address})" if address else piece for piece, address in pieces(text))
    text = re.sub(r"(?<![\w/])arXiv:(\d{4}\.\d{5})", r"[arXiv:\1](https://arxiv.org/abs/\1)", text)
    for name, address in programs().items():
        if "https://" not in text:
            text = re.sub(rf"(?<!Spring AI )\b{name}\b", f"[{name}]({address})", text, count=1)
    return text


def link(app: Any, tree: Any) -> None:
    """What Sphinx calls for every page: citations become links, but in code, titles and links."""
    from docutils import nodes

    apart = (nodes.literal, nodes.literal_block, nodes.title, nodes.reference, nodes.comment)
    for node in list(tree.findall(nodes.Text)):
        ancestor = node.parent
        while ancestor is not None and not isinstance(ancestor, apart):
            ancestor = ancestor.parent
        found = list(pieces(node.astext()))
        if ancestor is None and len(found) > 1:
            made = [
                nodes.reference("", piece, refuri=address, internal=False) if address else nodes.Text(piece)
                for piece, address in found
                if piece
            ]
            node.parent.replace(node, made)
