"""What of a web page is its content: its text without navigation, cookie bars, footers and links to its headings.

By what the page says of itself: elements and roles of HTML's landmarks, and names of classes that sites give them. What
only may be such is left out where it consists of links. Of anything but links nothing is left out that holds most of
the page, so a page that calls everything a sidebar keeps all it has. Extractors of articles (trafilatura,
resiliparse) were tried: of short pages they drop lists, or keep the navigation and lose headings and tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

UNSEEN = ("head", "script", "style", "template", "noscript", "iframe", "svg", "object", "dialog")
CONTROLS = ("button", "input", "select", "textarea")
ROLES = {"navigation", "search", "banner", "contentinfo", "dialog", "alertdialog", "menu", "menubar", "tooltip"}
SECTIONS = ("main", "article", "section", "aside", "nav")
"""Within these a header or a footer is a part's, and no landmark of the page (HTML Standard, 4.3.8 and 4.3.9)."""
SURE = {
    "breadcrumb", "breadcrumbs", "headerlink", "navbar", "nav", "navigation", "pagination", "pager", "skip", "skiplink",
    "sidenav", "topnav",
}  # fmt: skip
"""Words of classes and ids that name no content, whatever stands in it."""
BARS = {"cookie", "cookies", "cookiebar", "cookiebanner", "consent", "gdpr"}
"""Those of cookie bars; a short text that speaks of cookies is one."""
LIKELY = {
    "menu", "sidebar", "toc", "footer", "header", "topbar", "toolbar", "social", "share", "related", "banner", "tags",
    "widget", "links", "localtoc", "sidebars", "onpage", "actions", "edit", "sourcelink",
}  # fmt: skip
"""Those that may name content too, a canteen's menu; left out where most of the text is links."""
BLOCKS = ("div", "section", "aside", "ul", "ol", "p", "form", "header", "footer", "nav", "a", "span", "details")
MOST = 0.5  # of the page's words: what holds as many is the page, whatever it is called
DENSE = 0.6  # of a block's words in links: it leads elsewhere
MAIN = 1 / 3  # of the words of a page that its main element must have to be the page
LONGEST_BAR = 150  # words of a cookie bar
_PARTS = re.compile(r"[\s_-]+|(?<=[a-z])(?=[A-Z])")
_PERMALINK = re.compile(r"^(link to|permalink|permanent link|anchor|direct link|ссылка на|постоянная ссылка)", re.I)
_SIGN = re.compile(r"^[\s#¶§\U0001f517\uf0c1]*$")
_COOKIES = re.compile(r"cookie|\bкуки", re.I)
_IMPRINT = re.compile(
    r"^\W*((copyright\W*+|(\(c\)|©)\s*+(©\s*+)?)(\d{4}|by\b)|"
    r"(built|powered|created|made|generated)\s++(with|by|using)\s|"
    r"all rights reserved|все права защищены|(сделано|создано|работает) на\s)|©\s*+\d{4}",
    re.I,
)
LONGEST_IMPRINT = 40  # words


def keep_content(soup: BeautifulSoup) -> int:
    """Takes out of a page what is not its content; how many of its words went."""
    for one in soup(UNSEEN):
        one.decompose()
    before = _words(soup)
    for one in list(_permalinks(soup)):
        _take_out(one)
    for find in (_cookie_bars, _landmarks, _named):
        whole = _words(soup)
        for one in list(find(soup)):
            own = 0 if one.decomposed else _words(one)
            if own <= MOST * whole or (own < whole and _is_of_links(one)):
                _take_out(one)
                whole -= own
    _only_main(soup)
    for find in (_leading_links, _imprints):
        for one in list(find(soup)):
            _take_out(one)
    for one in soup(CONTROLS):
        _take_out(one)
    return before - _words(soup)


def _take_out(one: Tag) -> None:
    if not one.decomposed:
        one.decompose()


def _words(one: Tag) -> int:
    return len(one.get_text(" ").split())


def _permalinks(soup: BeautifulSoup) -> Iterator[Tag]:
    """Links from a heading to itself."""
    for one in soup("a"):
        named = " ".join(str(one.get(name) or "") for name in ("title", "aria-label")).strip()
        to_itself = str(one.get("href") or "").startswith("#") and _SIGN.match(one.get_text())
        if to_itself or _PERMALINK.match(named) or _PERMALINK.match(one.get_text(" ").strip()):
            yield one


def _cookie_bars(soup: BeautifulSoup) -> Iterator[Tag]:
    """The blocks that speak of cookies and have a button, or a link, by which one agrees."""
    for one in soup(["button", "input", "a"]):
        for block in one.parents:
            if block.name in ("body", "main", "article", "[document]") or _words(block) > LONGEST_BAR:
                break
            if block.name in ("div", "section", "aside", "form", "p") and _COOKIES.search(block.get_text(" ")):
                if one.name != "a" or not block.find(["h1", "h2", "h3"]):
                    yield block
                break


def _landmarks(soup: BeautifulSoup) -> Iterator[Tag]:
    """Navigation, and what stands above and below the page; a header with the only first heading is the page's own."""
    for one in soup(True):
        roles = str(one.get("role") or "").split()
        is_frame = one.name in ("header", "footer") and one.find_parent(SECTIONS) is None
        if one.name == "nav" or ROLES & {*roles} or is_frame or (one.name == "footer" and _is_of_links(one)):
            if one.name == "header" and one.find("h1") and len(soup("h1")) == len(one("h1")):
                continue
            yield one


def _named(soup: BeautifulSoup) -> Iterator[Tag]:
    """Blocks whose classes or ids name something that is no content."""
    for one in soup(BLOCKS):
        if one.find(["main", "article", "h1"]):
            continue
        given = [*(one.get("class") or ()), one.get("id") or ""]
        parts = {part.lower() for name in given for part in _PARTS.split(str(name))}
        if parts & BARS:
            if _words(one) <= LONGEST_BAR and _COOKIES.search(one.get_text(" ")):
                yield one
        elif (parts & SURE and one.find_parent(["p", "li", "td"]) is None) or (parts & LIKELY and _is_of_links(one)):
            yield one


def _is_of_links(one: Tag) -> bool:
    """Whether most of the words of a block are links."""
    words = _words(one)
    return words == 0 or sum(_words(link) for link in one("a") if link.find_parent("a") is None) >= DENSE * words


def _only_main(soup: BeautifulSoup) -> None:
    """Leaves the main element alone where there is one that holds enough of the page."""
    mains = [*soup("main"), *(one for one in soup.find_all(True) if one.get("role") == "main" and one.name != "main")]
    mains = [one for one in mains if not any(other in one.parents for other in mains)]
    if not mains or sum(map(_words, mains)) < MAIN * _words(soup):
        return
    kept = [one.extract() for one in mains]
    soup.clear()
    soup.extend(kept)


def _leading_links(soup: BeautifulSoup) -> Iterator[Tag]:
    """Lists and blocks of three links or more, and nothing else, before the first heading or paragraph of the page."""
    first = soup.find(["h1", "h2", "h3", "p", "table", "pre"])
    if first is None:
        return
    for one in first.find_all_previous(["ul", "ol", "div"]):
        if one not in first.parents and len(one("a")) > 2 and _is_of_links(one):
            yield one


def _imprints(soup: BeautifulSoup) -> Iterator[Tag]:
    """Lines like © 2026 and "Built with" in the last part of the page."""
    blocks = [one for one in soup(["p", "div", "small", "span", "address"]) if not one.find(["p", "div"])]
    for one in blocks[-5:]:
        if _IMPRINT.search(" ".join(one.get_text(" ").split())) and _words(one) <= LONGEST_IMPRINT:
            yield one
