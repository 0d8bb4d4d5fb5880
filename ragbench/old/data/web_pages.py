"""What of a web page is its content: its text without navigation, cookie bars, footers and links to its headings.

By what the page says of itself: elements and roles of HTML's landmarks, and names of classes that sites give them. What
only may be such is left out where it consists of links. Of anything but links nothing is left out that holds most of
the page, so a page that calls everything a sidebar keeps all it has. Extractors of articles (trafilatura,
resiliparse) were tried: of short pages they drop lists, or keep the navigation and lose headings and tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from bs4.element import CData, PreformattedString

from ragbench.old.data.cells import TABLE

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

PAGE: dict[str, tuple[str, ...]] = TABLE["pages"]
"""Elements, roles, words of classes and ids, and patterns of texts, by what they tell."""
SURE = re.compile(rf"\b({'|'.join(PAGE['sure'])})\b")
BARS = re.compile(rf"\b({'|'.join(PAGE['bars'])})\b")
LIKELY = re.compile("|".join(PAGE["likely"]))
_PERMALINK = re.compile("|".join(PAGE["permalinks"]), re.IGNORECASE)
_EDITS = re.compile("|".join(PAGE["edits"]), re.IGNORECASE)
_IMPRINT = re.compile("|".join(PAGE["imprints"]), re.IGNORECASE)
HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
MOST = 0.5  # of the page's words: what holds as many is the page, whatever it is called
DENSE = 0.6  # of a block's words in links: it leads elsewhere
MAIN = 1 / 3  # of the words of a page that its main element must have to be the page
LONGEST_BAR = 150  # words of a cookie bar
INDEX = 40  # links of a page of nothing else, as the index of a documentation: it leads elsewhere
_PARTS = re.compile(r"[\s_-]+|(?<=[a-z])(?=[A-Z])")
_FILES = re.compile(r"(\W*\S.{0,200}? \((application|audio|image|text|video)/[\w.+-]+\)\W*)+")
"""Files that are attached to a page, as Confluence lists them."""
_SIGN = re.compile(r"^[\s#¶§\U0001f517\uf0c1]*$")
_COOKIES = re.compile(r"cookie|\bкуки", re.I)
LONGEST_IMPRINT = 40  # words


def keep_content(soup: BeautifulSoup) -> None:
    """Takes out of a page what is not its content."""
    _take_out(soup(PAGE["unseen"]))
    for mark in [*soup.find_all(string=lambda text: isinstance(text, PreformattedString))]:
        if not isinstance(mark, CData):  # as Word has them before each item of a list
            mark.extract()
    _take_out(_links_of_the_page(soup))
    for tag in soup.select(":is(h1, h2, h3, h4, h5, h6) a[href^='#'], pre pre"):
        tag.unwrap()
    for find in (_cookie_bars, _landmarks, _named):
        whole = _words(soup)
        for tag in list(find(soup)):
            own = _words(tag)
            if own <= MOST * whole or (own < whole and _is_of_links(tag)):
                _take_out([tag])
                whole -= own
    _only_main(soup)
    _take_out(_leading_links(soup))
    _take_out(_imprints(soup))
    _take_out(soup(PAGE["controls"]))
    if len(soup("a")) >= INDEX and _is_of_links(soup):
        soup.clear()


def _take_out(tags: Iterable[Tag]) -> None:
    for tag in [*tags]:
        if not tag.decomposed:
            tag.decompose()


def _words(tag: Tag) -> int:
    return len(tag.get_text(" ").split())


def _links_of_the_page(soup: BeautifulSoup) -> Iterator[Tag]:
    """Those of headings to themselves, and those to the making of the page."""
    for tag in soup("a"):
        named = " ".join(str(tag.get(name) or "") for name in ("title", "aria-label")).strip()
        text = " ".join(tag.get_text(" ").split())
        to_itself = str(tag.get("href") or "").startswith("#") and _SIGN.match(tag.get_text())
        if to_itself or any(map(_PERMALINK.match, (named, text))) or any(map(_EDITS.fullmatch, (named, text))):
            yield tag


def _cookie_bars(soup: BeautifulSoup) -> Iterator[Tag]:
    """The blocks that speak of cookies and have a button, or a link that leads nowhere, by which one agrees."""
    for tag in soup.select("button, input, [role=button], a[href=''], a[href='#'], a[href^='javascript:']"):
        for block in tag.parents:
            if block.name in ("body", "main", "article", "[document]") or _words(block) > LONGEST_BAR:
                break
            if block.name in ("div", "section", "aside", "form", "p") and _COOKIES.search(block.get_text(" ")):
                yield block
                break


def _landmarks(soup: BeautifulSoup) -> Iterator[Tag]:
    """Navigation, and what stands above and below the page or an article; a header with the only first heading is its
    own."""
    for tag in soup(True):
        roles = str(tag.get("role") or "").split()
        within = tag.find_parent(PAGE["sections"])
        is_outer = within is None or (tag.name == "footer" and within.name in ("main", "article"))
        is_frame = tag.name in ("header", "footer") and is_outer
        if tag.name == "nav" or {*PAGE["roles"]} & {*roles} or is_frame or (tag.name == "footer" and _is_of_links(tag)):
            if tag.name == "header" and tag.find("h1") and len(soup("h1")) == len(tag("h1")):
                continue
            yield tag


def _named(soup: BeautifulSoup) -> Iterator[Tag]:
    title = soup.h1
    for tag in soup(PAGE["blocks"]):
        if tag.find(["main", "article"]) or (title is not None and tag in title.parents):
            continue
        is_part = tag.find(HEADINGS, recursive=False) is not None  # whose id is made of its heading
        given = [*(tag.get("class") or ()), "" if is_part else tag.get("id") or ""]
        named = " ".join(part.lower() for name in given for part in _PARTS.split(str(name)))
        if BARS.search(named):
            if _words(tag) <= LONGEST_BAR and _COOKIES.search(tag.get_text(" ")):
                yield tag
        elif (
            _FILES.fullmatch(" ".join(tag.get_text(" ").split()))
            or (SURE.search(named) and tag.find_parent(["p", "li", "td"]) is None)
            or (LIKELY.search(named) and _is_of_links(tag))
        ):
            yield tag


def _is_of_links(tag: Tag) -> bool:
    """Whether most of the words of a block are links, its headings aside."""
    words = _words(tag) - sum(map(_words, tag(HEADINGS)))
    links = sum(_words(link) for link in tag("a") if link.find_parent(["a", *HEADINGS]) is None)
    return 0 < links >= DENSE * words


def _only_main(soup: BeautifulSoup) -> None:
    found = soup.select("main, [role=main]")
    mains = [main for main in found if not any(other in main.parents for other in found)]
    if not mains or sum(map(_words, mains)) < MAIN * _words(soup):
        return
    kept = [main.extract() for main in mains]
    soup.clear()
    soup.extend(kept)


def _leading_links(soup: BeautifulSoup) -> Iterator[Tag]:
    """Lists and blocks of three links or more, and nothing else, before the first heading or paragraph of the page."""
    first = soup.find(["h1", "h2", "h3", "p", "table", "pre"])
    if first is None:
        return
    for tag in first.find_all_previous(["ul", "ol", "div"]):
        if tag not in first.parents and len(tag("a")) > 2 and _is_of_links(tag):
            yield tag


def _imprints(soup: BeautifulSoup) -> Iterator[Tag]:
    blocks = [tag for tag in soup(["p", "div", "small", "span", "address"]) if not tag.find(["p", "div"])]
    for block in blocks[-5:]:
        if _IMPRINT.search(" ".join(block.get_text(" ").split())) and _words(block) <= LONGEST_IMPRINT:
            yield block
