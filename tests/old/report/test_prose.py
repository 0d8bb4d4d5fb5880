"""Markdown of notebooks as HTML: what an author means stays, and nothing in it acts or leads astray."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from ragbench.old.core.language import translator
from ragbench.old.report.pages.notebook_pages import may_be_followed, prose

ATTACKS = (
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](javascript&#58;alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](<java\u0000script:alert(1)>)",
    "[x](<\u0001javascript:alert(1)>)",
    "[x](vbscript:msgbox(1))",
    "[x](data:text/html,<script>alert(1)</script>)",
    "[x](data:image/svg+xml,<svg/onload=alert(1)>)",
    "[x](file:///etc/passwd)",
    "[x](blob:https://evil/1)",
    "[x](about:blank)",
    "[x](ws://evil)",
    "[x](x:alert(1))",
    "[x][1]\n\n[1]: javascript:alert(1)",
    "<javascript:alert(1)>",
    "[x](javascript&amp;#58;alert(1))",
    "[x](view-source:x)",
    "![x](//[)",
    "![x](javascript:alert(1))",
    "![x](https://evil/x.png)",
    "![x](//evil/x.png)",
    "![x](\\\\evil/x.png)",
    "![x](data:image/svg+xml;base64,PHN2Zy8+)",
    "<svg onload=alert(1)>",
    "<svg><a xlink:href=javascript:alert(1)>x</a></svg>",
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "<iframe src=//evil></iframe>",
    "<a href=javascript:alert(1)>x</a>",
    '[x](https://e.org ""onmouseover=alert(1) x="")',
    '![x" onerror=alert(1) x="](x.png)',
    "`<script>alert(1)</script>`",
    "\x1b[31mred\x1b]8;;http://evil\x07x",
    "\u202egnp.exe\u202c \u2066x\u2069",
    "a\x00b\x07c\u200f",
)


class Reader(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]


assert len(set(ATTACKS)) >= 30


@pytest.mark.fault("links", tried="HTML and links in Markdown", count=37)
@pytest.mark.parametrize("text", ATTACKS)
def test_nothing_in_markdown_acts(text: str) -> None:
    html = str(prose(text, translator("en")))
    found = Reader(html)
    assert not {"script", "svg", "iframe", "style", "object"} & set(found.tags), html
    assert not [name for name, _ in found.attributes if name.startswith("on") or "xlink" in name], html
    for name, value in found.attributes:
        if name in ("href", "src"):
            address = re.sub(r"[\x00-\x20]", "", value).replace("\\", "/").lower()
            assert re.match(r"https?://|mailto:|#|[\w./%&;()-]*$", address), html
            assert name == "href" or not re.match(r"(\w+:)?//", address), "a picture asks no other host"
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f\u200e\u200f\u202a-\u202e\u2066-\u2069]", html)


@pytest.mark.parametrize(
    "url",
    [
        "https://arxiv.org/abs/2309.15217#s3",
        "http://x",
        "mailto:a@b.c",
        "tier1.html",
        "metrics/mrr.html#x",
        "#top",
        "../a:b",
    ],
)
def test_links_that_authors_mean_stay(url: str) -> None:
    assert may_be_followed(url)
    assert f'href="{url}"' in prose(f"[x]({url})", translator("en"))


def test_a_picture_of_the_report_stays() -> None:
    assert '<img src="figures/a.png" alt="x"' in prose("![x](figures/a.png)", translator("en"))
