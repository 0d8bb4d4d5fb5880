"""Folders of documents: passages by headings, and what is left out is named."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from ragbench.core.errors import BenchError
from ragbench.data import documents, read_documents

# ruff: noqa: E501
PAGE = """<html><head><title>Rules | Help</title><script>track()</script></head><body>
<nav><ul><li><a href="/">FRAME home</a></li></ul></nav><header><p>FRAME desk</p></header>
<main><h1>Rules<a class="headerlink" href="#r">FRAME</a></h1><p>Short <b>page</b>.</p>
<h2>Guests</h2><ul><li>Until 22:00.</li><li>With a passport.</li></ul>
<h2>Fees</h2><table><tr><th>House</th><th>Fee</th></tr><tr><td>3</td><td>1150</td></tr></table></main>
<footer>FRAME (c)</footer><div class="cookie-banner">FRAME cookies <button>OK</button></div></body></html>"""
WORD = (
    '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
    "<w:p><w:r><w:t>Keep quiet after ten.</w:t></w:r></w:p></w:body></w:document>"
)
PDF = b"""%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 100]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj
4 0 obj<</Length 44>>stream
BT /F 12 Tf 10 50 Td (Loans take 14 days.) Tj ET
endstream endobj
5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj
trailer<</Root 1 0 R>>
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "rules.html").write_text(PAGE, encoding="utf-8")
    (tmp_path / "dorm.md").write_text(
        "---\ntitle: Dorm\nurl: https://x/dorm\n---\nIntro.\n# Dorm\n## Guests\nUntil 22.\n"
        "```\n# no heading\n```\n### Fees\n100\n"
    )
    (tmp_path / "old.txt").write_bytes("Старый текст о правилах.".encode("cp1251"))
    (tmp_path / "loans.pdf").write_bytes(PDF)
    with zipfile.ZipFile(tmp_path / "quiet.docx", "w") as archive:
        archive.writestr("word/document.xml", WORD)
        types = "http://schemas.openxmlformats.org/package/2006/content-types"
        archive.writestr("[Content_Types].xml", f'<Types xmlns="{types}"/>')
    (tmp_path / ".hidden.md").write_text("Hidden.")
    (tmp_path / "link.md").symlink_to("dorm.md")
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "readme.md").write_text("Somebody else's.")
    return tmp_path


def test_every_kind_of_document(folder: Path) -> None:
    passages, notes = read_documents(folder)
    rows = passages[["url", "title", "section", "text"]].values.tolist()
    assert rows == [
        ["https://x/dorm", "Dorm", "", "Intro."],
        ["https://x/dorm", "Dorm", "Guests", "Until 22.\n```\n# no heading\n```"],
        ["https://x/dorm", "Dorm", "Guests › Fees", "100"],
        ["loans.pdf", "loans", "", "Loans take 14 days."],
        ["old.txt", "old", "", "Старый текст о правилах."],
        ["quiet.docx", "quiet", "", "Keep quiet after ten."],
        ["rules.html", "Rules | Help", "Rules", "Short page."],
        ["rules.html", "Rules | Help", "Rules › Guests", "- Until 22:00.\n- With a passport."],
        [
            "rules.html",
            "Rules | Help",
            "Rules › Fees",
            "| House | Fee  |\n| ----- | ---- |\n| 3     | 1150 |",
        ],
    ]
    assert notes == []


def test_long_sections_are_cut_and_ids_are_unique(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "# A\n" + "The hall is open. " * 200 + "\n\nSame.\n# B\nSame.\n# C\nSame."
    )
    passages, _ = read_documents(tmp_path, size=300)
    assert passages["text"].str.len().max() <= 300
    assert passages["passage_id"].is_unique


HOSTILE = {
    "comments.html": "<html><body>" + "<!--" * 20_000 + "<p>x</p>",
    "bold.html": "<html><body>" + "<b>" * 250_000,
    "broken.pdf": "%PDF-1.4 nonsense",
    "broken.docx": "PK nonsense",
    "empty.md": "# Only a heading\n",
    "large.txt": "a" * 300_000,
}


def test_hostile_documents_are_left_out_and_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in HOSTILE.items():
        (folder / name).write_text(text)
    many = "\n\n".join(
        f"{'#' * (number % 6 + 1)} H{number}\n\ntext {number}" for number in range(5_000)
    )
    (folder / "headings.md").write_text(many)
    monkeypatch.setattr(documents, "AT_ONCE", 7)
    passages, notes = read_documents(folder, size=400_000)
    assert passages["url"].value_counts()["headings.md"] == 5_000
    assert notes[0].startswith("5 documents were left out, the first bold.html: has no text")


def test_a_document_without_end_is_stopped(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    attributes = " ".join(f"a{number}=1" for number in range(2_500_000))
    (folder / "attributes.html").write_text(f"<html><body><p {attributes}>x</p>")
    monkeypatch.setattr(documents, "MAX_SECONDS", 0.5)
    passages, notes = read_documents(folder)
    assert "attributes.html: takes more than 0.5 seconds" in notes[0]
    assert {"dorm.md", "rules.html"} <= set(passages["passage_id"].str.partition("#")[0])


def test_a_module_of_the_folder_stands_in_for_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "json.py").write_text("raise SystemExit('hostile')")
    monkeypatch.chdir(folder)
    assert len(read_documents(Path())[0]) == 9


def test_a_folder_without_documents_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BenchError, match="holds no document"):
        read_documents(tmp_path)
    (tmp_path / "empty.md").write_text("")
    with pytest.raises(BenchError, match=r"no document can be read; empty.md: has no text"):
        read_documents(tmp_path)
