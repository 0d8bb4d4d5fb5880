"""Parts by their front: what a text, a frame and a figure become."""

from __future__ import annotations

from html import unescape

import pandas as pd
import pytest
from markupsafe import Markup

from ragbench.core.language import load_language
from ragbench.report.figures import add_intervals, new_figure, system_styles
from ragbench.report.page import Page
from ragbench.report.parts import DRAW_ALONE, Part, facts, trusted

ENGLISH = load_language("en")
TABLE = pd.DataFrame(
    {
        "bm25": ["0.275 [0.200, 0.358]", "−0.983"],
        "p": ["< 0.001", "–"],
        "verdict": ["▲ better", "○ not shown"],
    },
    index=["hit_rate@1", "mrr & co_1"],
)


def figure(name: str = "bm25"):
    """A forest plot of one point."""
    drawn = new_figure(ENGLISH)
    styles = system_styles([name], name)
    add_intervals(drawn, name, [0.5], [0.4], [0.7], [0], styles[name], ["mrr 0.500 [0.400, 0.700]"])
    return drawn


def test_a_text_is_escaped_and_parted_at_blank_lines() -> None:
    part = Part("a < b\n\nsecond", title="<Method>", note="n & m")
    assert part.html == (
        '<section class="part "><h2>&lt;Method&gt;</h2><p>a &lt; b</p><p>second</p>'
        '<p class="note">n &amp; m</p></section>'
    )
    assert str(part) == "<Method>\na < b\n\nsecond\nn & m"


def test_our_own_message_is_html_and_what_is_filled_in_is_escaped() -> None:
    text = trusted("<b>{name}</b> is better").format(name="<i>")
    assert Part(text).html == '<section class="part "><p><b>&lt;i&gt;</b> is better</p></section>'


def test_a_long_part_is_folded_under_its_title() -> None:
    html = Part("text", title="All numbers", is_folded=True).html
    assert "<details><summary>All numbers</summary><p>text</p></details>" in html


def test_a_frame_has_headings_of_rows_numbers_at_the_right_and_quiet_intervals() -> None:
    html = Part(TABLE).html
    assert "<thead><tr><th></th>" in html
    assert "<th>metric</th>" in Part(TABLE.rename_axis(index="metric")).html
    words = Part(pd.DataFrame({"model": ["small [v2]", "large"], "n": [1.5, None]})).html
    assert ">small [v2]</td>" in words
    cell = Markup("<b>0.5</b> [0.4, 0.6]")
    assert f">{cell}</td>" in Part(pd.DataFrame({"n": [cell]}, dtype=object)).html
    assert "<h2>" not in Part(TABLE).html
    assert '<td class="number">–</td>' in words
    assert '<td class="number">0.275 <span class="interval">[0.200, 0.358]</span></td>' in html
    assert '<td class="number">&lt; 0.001</td>' in html
    assert '<td class="words" dir="auto">▲ better</td>' in html
    assert ">mrr &amp; co_1</th>" in html
    for letters, kind in ((26, "short"), (27, "")):
        heading = "x" * letters
        assert f'class="{kind}">{heading}<' in Part(pd.DataFrame({"n": {heading: 1}})).html
    more = Part(pd.DataFrame({"n": ["1", "2"]}, index=["mrr", ""])).html
    assert more.count('<tr class="on">') == 1
    assert '<tr><th scope="row" dir="auto" class="short">mrr<' in more


@pytest.mark.parametrize(
    ("cell", "kind"),
    [("1,5 [1,2; 1,9]", "number"), ("", "number"), ("∞", "number"), ("12 of 15", "number"),
     ("x" * 40, "words"), ("x" * 41, "words long"),
     ("bm25", "words"), ("○ not shown", "words"), ("none", "words")],
)  # fmt: skip
def test_a_column_is_of_numbers_or_of_words(cell: str, kind: str) -> None:
    assert f'<td class="{kind}"' in Part(pd.DataFrame({"x": [cell]})).html


def test_a_frame_is_text_and_latex() -> None:
    part = Part(TABLE, title="Numbers")
    first = str(part).splitlines()[2]
    assert " ".join(first.split()) == "hit_rate@1 0.275 [0.200, 0.358] < 0.001 ▲ better"
    latex = part.to_latex("tab:one")
    assert r"\toprule" in latex
    assert r"\caption{Numbers}" in latex
    assert r"mrr \& co\_1 & $-$0.983 & -- & not shown \\" in latex


def test_only_a_frame_becomes_latex() -> None:
    with pytest.raises(TypeError, match="only a frame becomes LaTeX, and this part is a str"):
        Part("text").to_latex()


def test_a_figure_is_data_for_the_page_and_plotlys_own_for_jupyter() -> None:
    bundle = Part(figure(), title="bm25 < dense")._repr_mimebundle_()
    assert bundle["application/vnd.plotly.v1+json"]["layout"]["title"]["x"] == 0
    assert "<h2>" not in bundle["text/html"]
    assert figure().layout.separators == ".,"
    russian = new_figure(load_language("ru"))
    assert russian.layout.separators == ",\N{NO-BREAK SPACE}"
    assert bundle["application/vnd.plotly.v1+json"]["layout"]["title"]["text"] == (
        "<b>bm25 &lt; dense</b>"
    )
    assert "<figcaption>bm25 &lt; dense</figcaption>" in bundle["text/html"]
    assert bundle["text/html"].endswith(DRAW_ALONE)
    assert bundle["text/plain"] == "bm25 < dense\nbm25: mrr 0.500 [0.400, 0.700]"


def test_texts_of_people_are_no_marks_in_a_figure() -> None:
    name = '</script><img src=x onerror=alert(1)><a href="https://evil.example">x</a>'
    html = Part(figure(name)).html
    assert "</script><img" not in html
    assert "\\u003ca href" not in html
    assert "\\u003cextra>" in html  # plotly's own mark stays


def test_systems_have_signs_of_their_own_the_baseline_is_grey_and_one_has_the_accent() -> None:
    styles = system_styles(["new", "old", "other"], baseline="old")
    assert [style.sign for style in styles.values()] == ["◆", "●", "■"]
    assert styles["old"].colour == "#7d8b97"
    assert styles["new"].colour == "#c4533a"


def test_a_page_loads_nothing_and_lets_only_its_own_scripts_run(tmp_path) -> None:
    parts = [facts({"questions": 2}), Part(figure(), title="Finding")]
    page = Page("Tier & co", parts).save(tmp_path / "page.html")
    html = page.read_text(encoding="utf-8")
    assert html.startswith("<!doctype html>")
    assert "default-src 'none'; script-src 'self' 'sha256-" in unescape(html)
    assert "<h1>Tier &amp; co</h1>" in html
    assert "https://" not in html
    assert (tmp_path / "plotly.min.js").stat().st_size > 1_000_000
    assert html.count('src="plotly.min.js"') == 1


def test_a_page_without_figures_needs_no_plotly(tmp_path) -> None:
    Page("Text", [Part("text")]).save(tmp_path / "page.html")
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]
    assert "plotly" not in (tmp_path / "page.html").read_text(encoding="utf-8").split("<body")[1]


def test_a_page_shows_its_parts_in_jupyter(capsys: pytest.CaptureFixture[str]) -> None:
    Page("Text", [Part("one"), Part("two")])._ipython_display_()
    assert capsys.readouterr().out.split() == ["one", "two"]


def test_a_secret_that_is_used_is_masked_on_a_page(tmp_path, monkeypatch) -> None:
    from ragbench.core.secrets import read_secret

    monkeypatch.setenv("MY_KEY", "canary-4711-key")
    read_secret("MY_KEY")
    page = Page("Text", [Part("Bearer canary-4711-key")]).save(tmp_path / "page.html")
    assert "canary" not in page.read_text(encoding="utf-8")


def test_markup_of_paragraphs_is_text_line_by_line() -> None:
    assert str(Part(Markup("<p>one <b>b</b></p><p>two</p>"))) == "one b\ntwo"
