"""Web pages without their frame: navigation, cookie bars and footers are gone, and no word of the content is."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from hypothesis import given
from hypothesis import strategies as st

from ragbench.old.data import documents
from ragbench.old.data.documents import Cutting
from ragbench.old.data.web_pages import INDEX, keep_content

CONTENT = {
    "en": "<h1>Library</h1><p>The reading room opens at eight.</p><ul><li>Bring a pass</li><li>Show it</li></ul>"
    "<table><tr><th>Day</th><th>Hours</th></tr><tr><td>Monday</td><td>8–22</td></tr></table>"
    "<ol><li><a href='a'>Loans</a></li><li><a href='b'>Fines</a></li><li><a href='c'>Rooms</a></li></ol>"
    "<dl><dt>Loan</dt><dd>fourteen days</dd></dl><pre>make hours</pre><blockquote>Quiet, please.</blockquote>",
    "ru": "<h1>Библиотека</h1><p>Читальный зал открыт с восьми.</p><ul><li>Возьмите пропуск</li><li>Покажите</li></ul>"
    "<table><tr><th>День</th><th>Часы</th></tr><tr><td>Понедельник</td><td>8–22</td></tr></table>"
    "<ol><li><a href='a'>Абонемент</a></li><li><a href='b'>Штрафы</a></li><li><a href='c'>Залы</a></li></ol>"
    "<dl><dt>Выдача</dt><dd>четырнадцать дней</dd></dl><pre>make hours</pre><blockquote>Тише.</blockquote>",
}
FRAME = {
    "nav": "<nav><ul><li><a href='/'>Home FRAME</a></li></ul></nav>",
    "role": "<div role='navigation'>FRAME <a href='/'>Start</a></div>",
    "header": "<header><a href='/'>FRAME University</a> <form role='search'><input value='x'></form></header>",
    "menu": "<div class='main-menu'><a href='/'>FRAME</a> <a href='/c'>Contacts</a></div>",
    "unnamed list": "<ul><li><a href='/'>FRAME</a></li><li><a href='/a'>Us</a></li><li><a href='/b'>New</a></li></ul>",
    "breadcrumbs": "<div class='breadcrumbs'>You are here: FRAME / <a href='/l'>Library</a></div>",
    "skip": "<a class='skip-link' href='#main'>FRAME Skip to main content</a>",
    "cookies": "<div class='x1'><p>FRAME uses cookies to count you.</p><button>Accept all</button></div>",
    "cookies by class": "<div id='cookie-consent'>FRAME: this site keeps cookies. <a href='/p'>More</a></div>",
    "куки": "<div class='plate'>FRAME использует куки. <button>Принять</button></div>",
    "footer": "<footer><p>FRAME, street 1, phone 2</p></footer>",
    "imprint": "<div class='end'>© 2026 FRAME University</div>",
    "built": "<p>Built with FRAME 5.1</p>",
    "rights": "<p>Все права защищены. FRAME</p>",
    "edit": "<a class='button' href='e.md' title='Edit this page'>FRAME</a>",
    "source": "<a href='/FRAME/a.md'>Edit on GitHub</a>",
    "updated": "<p>Last updated on FRAME</p>",
    "pages": "<div class='pagination'><a href='1'>FRAME 1</a> <a href='2'>2</a></div>",
    "not printed": "<div class='noprint'>FRAME From the encyclopedia</div>",
    "Confluence": "<div class='page-metadata'>FRAME Created by A, last modified by B</div>",
    "attached": "<div class='greybox'>* <a href='attachments/1.png'>FRAME.png</a> (image/png)<br/></div>",
    "section edit": "<span class='mw-editsection'>[<a href='/e'>FRAME</a> | <a href='/s'>code</a>]</span>",
    "Word's contents": "<p class=MsoToc1><a href='#_T1'>FRAME 1. Rules<span>. </span>3</a></p>",
    "other pages": "<div class='toctree-wrapper compound'><ul><li><a href='a.html'>FRAME</a></li></ul></div>",
    "found": "<div class='search-results'><h1>FRAME results matching</h1></div>",
    "reply": "<div class='comment-respond'><h3>FRAME Leave a reply</h3><form><textarea></textarea></form></div>",
    "author": "<div class='article-meta'>FRAME <time>2 years ago</time></div>",
    "votes": "<div class='article-votes'><span>FRAME: was this article helpful?</span> 1 out of 2</div>",
    "helpful": "<p>Was this page helpful? FRAME</p>",
    "полезна": "<p>Была ли эта статья полезна? FRAME</p>",
    "printed": "<div class='printfooter'>FRAME Retrieved from <a href='/w'>the wiki</a></div>",
    "notice": "<div id='siteNotice'>FRAME asks for gifts</div>",
    "dialog": "<dialog open>FRAME: subscribe</dialog>",
    "toc": "<aside class='page-toc'><b>FRAME</b> <a href='#a'>One of it</a> <a href='#b'>Two of it</a></aside>",
}
FIRST = {"nav", "role", "header", "menu", "unnamed list", "breadcrumbs", "skip", "cookies", "toc"}


def read(html: str) -> str:
    return documents._of_html(html.encode())[0]


read_once = functools.cache(read)
"""For what many compare with."""


def words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text))


@pytest.mark.parametrize("language", CONTENT)
@pytest.mark.parametrize("main", ["{}", "<main>{}</main>", "<div role='main'>{}</div>", "<article>{}</article>",
                                  "<div class='content'><div>{}</div></div>"])  # fmt: skip
@pytest.mark.parametrize("name", FRAME)
def test_the_frame_goes_and_the_content_stays(name: str, main: str, language: str) -> None:
    whole = main.format(CONTENT[language])
    alone = read_once(f"<html><body>{whole}</body></html>")
    assert "FRAME" not in alone
    assert {"8", "22", "make", "hours"} <= words(alone)
    framed = FRAME[name] + whole if name in FIRST else whole + FRAME[name]
    assert read(f"<html><head><title>T</title></head><body>{framed}</body></html>") == alone


@pytest.mark.parametrize("language", CONTENT)
def test_a_page_without_a_frame_loses_no_word(language: str) -> None:
    from bs4 import BeautifulSoup

    soup = BeautifulSoup(CONTENT[language], "html.parser")
    made = read(f"<body>{CONTENT[language]}</body>")
    assert words(soup.get_text(" ")) <= words(made)
    assert "| --- | --- |" in made
    assert made.startswith("# ")


@pytest.mark.parametrize(
    "html",
    [
        "<div class='sidebar'><h1>Opening</h1><p>Everything here is in the sidebar.</p></div>",
        "<div class='menu'><h2>Canteen</h2><p>Soup, bread and tea on Monday.</p></div>",
        "<div class='nav-content'><p>The theme calls the whole page navigation, which it is not at all.</p></div>",
        "<body class='has-sidebar nav-open'><div id='cookies'><h1>Baking cookies</h1>"
        "<p>Mix butter with sugar.</p></div></body>",
        "<header><h1>Rules of the house</h1><p>Be quiet after ten.</p></header><p>Thank you.</p>",
        "<section><h2>Part</h2><p>Text.</p><footer>Signed by the dean.</footer></section>",
        "<p>Copyright protects works for seventy years.</p>",
        "<h1>API</h1><p>How it is asked.</p><section id='pagination'><h2>Pagination</h2><p>By 20.</p></section>",
        "<h1>UI</h1><p>All of its parts.</p><div class='section' id='navigation'><h2>Menu</h2><p>Left.</p></div>",
        "<blockquote><p>Be brief.</p><footer>The dean</footer></blockquote><p>So it is.</p>",
        "<p>See <a href='#top'>the top</a> and <a href='x'>the other page</a> of it.</p>",
        "<form id='aspnet'><p>All of an old page stands in a form.</p><input value='x'></form>",
        "<details><summary>When?</summary><p style='display:none'>At eight.</p></details>",
        "<p>We set a cookie for the login. <a href='c'>Which one</a> is told elsewhere.</p><h2>Other</h2><p>Text.</p>",
        "<table class='links'><tr><td>Rector</td><td>Room 5</td></tr></table>",
    ],
)  # fmt: skip
def test_content_that_is_called_like_a_frame_stays(html: str) -> None:
    from bs4 import BeautifulSoup

    assert words(BeautifulSoup(html, "html.parser").get_text(" ")) <= words(read(html))


def test_links_of_headings_to_themselves_go() -> None:
    made = read(
        "<h1>Data<a class='headerlink' href='#d' title='Link to this heading'>#</a></h1>"
        "<h2>Часы<a href='#h' aria-label='Ссылка на раздел'>¶</a></h2><h3>C<a href='#c'></a></h3><p>x</p>"
    )
    assert made.split("\n\n") == ["# Data", "## Часы", "### C", "x"]


def test_the_footer_of_an_article_is_no_part_of_it() -> None:
    page = "<main><article>{}{}</article></main>"
    footer = "<footer><p>Tags: <a href='/t'>rooms</a>. Last updated on Monday by Ann. Was it helpful?</p></footer>"
    assert read(page.format(CONTENT["en"], footer)) == read(page.format(CONTENT["en"], ""))


def test_what_word_and_mdbook_write_reads_as_text() -> None:
    made = read(
        "<h1><a class='header' href='#c'>Keys</a></h1><p class=MsoListParagraph><![if !supportLists]><span>1)</span>"
        "<![endif]> first</p><pre><pre class='playground'><code>open()</code></pre></pre>"
    )
    assert made == "# Keys\n\n1) first\n\n```\nopen()\n```"


def test_a_main_element_that_holds_next_to_nothing_is_not_the_page() -> None:
    made = read("<main><p>Short.</p></main><div><p>But here stands all that the page has to say about it.</p></div>")
    assert "all that the page has to say" in made


BLOCK = st.sampled_from(["<p>{}</p>", "<ul><li>{}</li></ul>", "<h2>{}</h2>", "<div>{}</div>", "<pre>{}</pre>",
                         "<table><tr><td>{}</td></tr></table>", "<section><p>{}</p></section>"])  # fmt: skip
WORD = st.sampled_from(["alpha", "beta", "гамма", "cookie", "nav", "2026", "delta"])


@given(st.lists(st.tuples(BLOCK, st.lists(WORD, min_size=1, max_size=4)), min_size=1, max_size=6), st.booleans())
def test_no_plain_block_loses_a_word(blocks: list[tuple[str, list[str]]], in_main: bool) -> None:
    content = "".join(form.format(" ".join(said)) for form, said in blocks)
    made = read(f"<body><nav><a href='/'>Home</a></nav>{'<main>' * in_main}{content}{'</main>' * in_main}</body>")
    told = [word for _, said in blocks for word in said]
    assert sorted(word for word in made.replace("|", " ").split() if word in told) == sorted(told)


def test_passages_of_a_folder_are_content_alone(tmp_path: Path) -> None:
    for number in range(3):
        page = "".join(FRAME[name] for name in FIRST) + f"<main>{CONTENT['en']}<p>Room {number}.</p></main>"
        (tmp_path / f"{number}.html").write_text(page + FRAME["footer"], encoding="utf-8")
    found = documents.read(tmp_path, Cutting(200))
    assert found.chunks
    assert not [one.text for one in found.chunks if "FRAME" in one.text]


@pytest.mark.parametrize(("links", "is_index"), [(INDEX, True), (INDEX - 1, False)])
def test_a_page_of_links_alone_has_no_content(links: int, is_index: bool) -> None:
    entries = "".join(f'<li><a href="api.html#{n}">function_{n}() (in module api)</a></li>' for n in range(links))
    soup = BeautifulSoup(f"<h1>Index</h1><table><tr><td><ul>{entries}</ul></td></tr></table>", "html.parser")
    keep_content(soup)
    assert ("function_1()" not in soup.get_text()) is is_index


@pytest.mark.parametrize("named", ['class="cookie-bar"', 'id="consent"'])
def test_a_bar_of_cookies_is_told_by_its_name_without_a_button(named: str) -> None:
    page = f"<body><p>The key opens it, and cookies are for tea.</p><div {named}>We use cookies.</div></body>"
    assert "We use" not in documents._of_html(page.encode())[0]


@pytest.mark.parametrize("within", ["main", "div"])
@pytest.mark.parametrize("link", ['<a href="/safe">Security</a>', '<a href="#safe">below</a>', '<a name="safe"></a>'])
def test_a_paragraph_on_cookies_with_a_link_is_no_bar_of_them(within: str, link: str) -> None:
    told = f"<p>The server sets a cookie for each session; see {link}.</p>"
    page = f"<body><{within}><h1>Sessions</h1><p>{'Who signs in has a session. ' * 9}</p>{told}</{within}></body>"
    assert "sets a cookie for each session" in documents._of_html(page.encode())[0]


@pytest.mark.parametrize("agrees", ['<a href="#">OK</a>', '<span role="button">OK</span>', "<button>OK</button>"])
def test_a_bar_of_cookies_has_something_to_agree_by(agrees: str) -> None:
    page = f"<body><p>{'Who signs in has a session. ' * 9}</p><div>We use cookies. {agrees}</div></body>"
    assert "We use" not in documents._of_html(page.encode())[0]
