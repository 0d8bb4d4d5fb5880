"""A folder of documents becomes passages: their text, their place, what is passed over, and what is read again."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragbench.old import data
from ragbench.old.data import documents, files
from ragbench.old.data.documents import Cutting
from ragbench.old.data.files import DatasetError
from ragbench.old.tiers.data.copies import near_copies

GUIDE = """---
title: Guide
url: https://kb.example/guide
---
# Grants

Applications are taken until 10 September.

## Deadlines

A reply comes within two weeks.

```
# no heading
```

Halls of residence
------------------

The warden hands out keys.
"""
WORD_XML = (
    '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
    '<w:p><w:pPr><w:pStyle w:val="Heading1"/></w:pPr><w:r><w:t>Library</w:t></w:r></w:p>'
    "<w:p><w:r><w:t>The reading room opens at nine.</w:t></w:r></w:p></w:body></w:document>"
)
STYLES = (
    '<w:styles xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
    '<w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style></w:styles>'
)
PARTS = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
    '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
    '<Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.'
    'wordprocessingml.document.main+xml"/></Types>'
)
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def relation(kind: str, target: str) -> str:
    return (
        '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="rId1" Type="{OFFICE}/{kind}" Target="{target}"/></Relationships>'
    )


def word_document(path: Path) -> None:
    """The smallest document after ECMA-376 that has a heading and a paragraph."""
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("[Content_Types].xml", PARTS)
        packed.writestr("_rels/.rels", relation("officeDocument", "word/document.xml"))
        packed.writestr("word/_rels/document.xml.rels", relation("styles", "styles.xml"))
        packed.writestr("word/document.xml", WORD_XML)
        packed.writestr("word/styles.xml", STYLES)


def pdf_document(path: Path, text: str, packed: bytes = b"") -> None:
    """A page with one line, or what is packed, after ISO 32000; offsets of objects as they come to lie."""
    stream = packed or f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET".encode()
    how = b" /Filter /FlateDecode" if packed else b""
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d%s >>\nstream\n%s\nendstream" % (len(stream), how, stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    made, places = b"%PDF-1.4\n", []
    for number, part in enumerate(parts, start=1):
        places.append(len(made))
        made += b"%d 0 obj\n%s\nendobj\n" % (number, part)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    made += b"xref\n0 6\n0000000000 65535 f \n" + table
    path.write_bytes(
        made + b"trailer << /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(made) - len(table) - 29)
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "handbook"
    (place / "office").mkdir(parents=True)
    (place / "guide.md").write_text(GUIDE, encoding="utf-8")
    (place / "canteen.txt").write_bytes("Столовая работает с десяти утра. Обед стоит двести рублей.".encode("cp1251"))
    (place / "office" / "hours.html").write_text(
        "<html><head><title>Hours</title><script>alert(1)</script></head><body><h1>Office</h1>"
        "<p>Open from nine to five.</p></body></html>",
        encoding="utf-8",
    )
    word_document(place / "library.docx")
    pdf_document(place / "dormitory.pdf", "The dormitory is closed in August.")
    return place


def test_every_kind_of_document_is_read_with_its_title_headings_and_page(folder: Path) -> None:
    found = documents.read(folder, Cutting(80), "https://kb.example/{path}")
    told = {(one.document, one.section): one for one in found.chunks}
    assert [(one.id, one.title, one.url) for one in sorted(found.documents, key=lambda one: one.id)] == [
        ("canteen.txt", "canteen", "https://kb.example/canteen.txt"),
        ("dormitory.pdf", "dormitory", "https://kb.example/dormitory.pdf"),
        ("guide.md", "Guide", "https://kb.example/guide"),
        ("library.docx", "Library", "https://kb.example/library.docx"),
        ("office/hours.html", "Hours", "https://kb.example/office/hours.html"),
    ]
    assert told["canteen.txt", None].text == "Столовая работает с десяти утра. Обед стоит двести рублей."
    assert told["dormitory.pdf", None].text == "The dormitory is closed in August."
    assert told["library.docx", None].text.endswith("The reading room opens at nine.")
    assert "alert" not in told["office/hours.html", "Office"].text
    assert told["guide.md", "Grants"].text.endswith("until 10 September.")
    assert told["guide.md", "Grants › Deadlines"].text.startswith("## Deadlines")
    assert told["guide.md", "Grants › Halls of residence"].text.endswith("hands out keys.")
    assert not found.left_out


def test_a_passage_says_where_it_stands_in_its_document(folder: Path) -> None:
    text = GUIDE.split("---\n", 2)[2]
    for one in documents.read(folder, Cutting(60, 20)).chunks:
        if one.document == "guide.md":
            assert text[one.start : one.end] == one.text


TEXTS = st.text(st.sampled_from("abc явь\n# .-_`*|<>[]()12"), max_size=400)


@settings(deadline=None, max_examples=25)
@given(text=TEXTS, size=st.integers(5, 60), unit=st.sampled_from(["characters", "words"]))
def test_whatever_a_document_holds_its_passages_fit_and_lie_where_they_say(
    tmp_path_factory: pytest.TempPathFactory, text: str, size: int, unit: documents.Unit
) -> None:
    folder = tmp_path_factory.mktemp("any")
    (folder / "a.md").write_text(text, encoding="utf-8")
    try:
        found = documents.read(folder, Cutting(size, 0, unit))
    except DatasetError:
        return
    whole = documents._text(folder / "a.md")[0]
    assert len({one.id for one in found.chunks}) == len(found.chunks)
    for one in found.chunks:
        assert one.start is not None
        assert whole[one.start : one.end] == one.text
        assert (len(one.text.split()) if unit == "words" else len(one.text)) <= size


def test_what_cannot_be_read_is_counted_and_named_and_the_rest_is_there(folder: Path, tmp_path: Path) -> None:
    (folder / "broken.docx").write_bytes(b"PK no archive")
    (folder / "broken.pdf").write_bytes(b"%PDF-1.4 no objects")
    (folder / "empty.md").write_text("# Only a heading\n", encoding="utf-8")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    (folder / ".hidden.md").write_text("secret", encoding="utf-8")
    (tmp_path / "outside.md").write_text("Not of this folder.", encoding="utf-8")
    (folder / "link.md").symlink_to(tmp_path / "outside.md")
    found = documents.read(folder, Cutting(80))
    assert found.left_out == {
        "document that cannot be read": 2,
        "document without a text": 1,
        "file that is no document (.png)": 1,
        "link that leads out of the folder": 1,
    }
    assert {note.split()[0] for note in found.notes} == {"broken.docx", "broken.pdf", "empty.md"}
    assert len(found.documents) == 5
    assert not any("secret" in one.text or "Not of this" in one.text for one in found.chunks)


def test_a_packed_document_that_unpacks_to_too_much_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MAX_BYTES", 1000)
    with zipfile.ZipFile(folder / "bomb.docx", "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("word/document.xml", " " * 10_000)
    assert (folder / "bomb.docx").stat().st_size < 1000
    found = documents.read(folder, Cutting(80))
    assert any(note.startswith("bomb.docx cannot be read: more than 1,000 bytes") for note in found.notes)


@pytest.mark.fault("bombs", tried="a PDF that unpacks to half a gigabyte, and one that computes without end", count=2)
@pytest.mark.parametrize(
    ("block", "count", "limit", "said"),
    [
        (b" " * 2**20, 500, {}, "would take more than 536,870,912 bytes of memory; split it"),
        pytest.param(
            b"q Q " * 2**18,
            99,
            {"SECONDS": 4},
            "would take more than 4 seconds to read; split it",
            marks=pytest.mark.slow,  # the other one is read in less, on a loaded machine, too
        ),
    ],
)
def test_a_pdf_of_a_few_bytes_takes_neither_memory_nor_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: bytes, count: int, limit: dict[str, int], said: str
) -> None:
    packing = zlib.compressobj(1)
    packed = b"".join([*(packing.compress(block) for _ in range(count)), packing.flush()])
    pdf_document(tmp_path / "bomb.pdf", "", packed)
    pdf_document(tmp_path / "other.pdf", "The gate is open.")
    for name, value in limit.items():
        monkeypatch.setattr(files, name, value)
    monkeypatch.setattr(documents, "_reader", reader := files.Apart(2**29))
    brought = documents.read(tmp_path, Cutting())
    assert [chunk.text for chunk in brought.chunks] == ["The gate is open."]
    assert said in " ".join(brought.notes)
    reader.close()


def test_a_document_that_nobody_lets_us_read_is_counted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Path.open

    def refused(path: Path, *args: Any, **options: Any) -> Any:
        if path.stem in ("guide", "dormitory"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *args, **options)

    monkeypatch.setattr(Path, "open", refused)
    found = documents.read(folder, Cutting(80))
    assert found.left_out == {"document that cannot be read": 2}
    assert found.notes == [f"{name} cannot be read: Permission denied" for name in ("dormitory.pdf", "guide.md")]


def test_a_page_of_tags_keeps_nobody_busy(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "MOST_TAGS", 10_000)
    (folder / "deep.html").write_text("<div>" * 9000 + "Text.", encoding="utf-8")
    (folder / "long.html").write_text("<p>Text.</p>" * 9000, encoding="utf-8")
    found = documents.read(folder, Cutting(80))
    assert "deep.html cannot be read: more than 300 tags within each other" in found.notes
    assert "long.html cannot be read: more than 10,000 tags; split it" in found.notes


@pytest.mark.parametrize(
    ("size", "overlap", "said"),
    [(0, 0, "--size 0: a whole number from 1"), (10, 10, "--overlap 10: from 0 to below --size 10"), (10, -1, "-1")],
)
def test_a_cutting_that_cannot_be_is_refused(size: int, overlap: int, said: str) -> None:
    with pytest.raises(DatasetError, match=said):
        Cutting(size, overlap)


def test_a_folder_without_documents_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"x")
    with pytest.raises(DatasetError, match=r"no document with a text.*\.docx; 1 × file that is no document \(\.png\)"):
        documents.read(tmp_path, Cutting())
    with pytest.raises(DatasetError, match="there is no such folder"):
        documents.read(tmp_path / "nowhere", Cutting())


def test_only_what_has_changed_is_read_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = documents.read(folder, Cutting(80))
    known = data.Records(chunks=first.chunks, documents=first.documents)
    (folder / "canteen.txt").write_text("The canteen has moved.", encoding="utf-8")
    (folder / "new.md").write_text("A page that was not there.", encoding="utf-8")
    (folder / "library.docx").unlink()
    opened: list[str] = []
    real = documents._text
    monkeypatch.setattr(documents, "_text", lambda path: opened.append(path.name) or real(path))
    second = documents.read(folder, Cutting(80), known=known)
    assert opened == ["canteen.txt", "new.md"]
    before = {one.id: one for one in first.chunks}
    after = {one.id: one for one in second.chunks}
    assert {one.document for one in after.values()} == {
        "canteen.txt", "dormitory.pdf", "guide.md", "library.docx", "new.md", "office/hours.html",
    }  # fmt: skip
    assert all(after[name] == one for name, one in before.items() if one.document != "canteen.txt")
    assert "3 of 5 documents have not changed, and were not read again" in second.notes
    assert any(note.startswith("1 documents are not in handbook any more") for note in second.notes)
    opened.clear()
    documents.read(folder, Cutting(81), known=known)
    assert len(opened) == 5, "another size cuts every document anew"


def test_texts_that_are_nearly_the_same_are_paired() -> None:
    long = "The warden hands out keys to the rooms on the first day of term between nine and five o'clock. " * 3
    texts = [long, "Lunch is served in the canteen from noon.", long.replace("nine", "ten", 1), long]
    assert [(one, other) for one, other, _ in near_copies(texts)] == [(0, 3), (0, 2), (2, 3)]
    assert near_copies(["one"]) == []


def test_what_a_document_says_of_itself_and_where_it_leads_are_no_passages(tmp_path: Path) -> None:
    """Front matter, its own table of contents, and documents that are one of others, as GitHub's wikis have them."""
    pages = {
        "hugo.md": '+++\ntitle = "Keys"\ndraft = false\n+++\n\nA key opens the door.\n',
        "own.md": "# Doors\n\n- [Open](#open)\n  - [Shut](#shut)\n\n## Open\n\n1. [A](#note) key opens it.\n",
        "_Sidebar.md": "# Doors\n\n* [Home](Home)\n* [Keys](Keys)\n* [Locks](Locks)\n",
        "few.md": "# Form\n\n[The form](form.pdf)\n",
    }
    for name, text in pages.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    made = documents.read(tmp_path, Cutting())
    assert {one.document: (one.title, one.text) for one in made.chunks} == {
        "hugo.md": ("Keys", "A key opens the door."),
        "own.md": ("Doors", "# Doors\n\n\n## Open\n\n1. [A](#note) key opens it."),
        "few.md": ("Form", "# Form\n\n[The form](form.pdf)"),
    }
    assert "_Sidebar.md holds no text of its own: it is a list of links" in made.notes[0]


def test_running_titles_and_numbers_of_a_pdfs_pages_go_and_no_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = ["Rules of the house\n\nA key opens it.\n\nPage 1 of 3", "Rules of the house\nQuestion 2\nWhy?\n2/3",
             "Rules of the house\nIt shuts.\n\nстр. 3"]  # fmt: skip

    def read(text: str) -> str:
        monkeypatch.setattr(documents, "_reader", SimpleNamespace(read=lambda kind, data: [text]))
        return documents._of_pdf(b"")[0]

    assert read("\f".join(pages) + "\f") == "A key opens it.\n\nQuestion 2\nWhy?\n\nIt shuts."
    two = "\f".join(pages[:2])
    assert read(two) == two.replace("\f", "\n\n")
    assert read("Question 1\nWho?\fQuestion 2\nWhy?\fQuestion 3\nHow?").count("Question") == 3
    assert read("\f\f") == ""


def test_a_built_site_is_its_pages_and_not_their_sources_once_more(tmp_path: Path) -> None:
    for name in ("index.html", "search.html", "404.html", "_sources/index.md.txt", "_static/macros.html"):
        place = tmp_path / "docs" / "_build" / "html" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("<p>The warden hands out keys.</p>", encoding="utf-8")
    for found in (documents.paths(tmp_path / "docs"), list(documents.files(tmp_path))):
        assert [path.name for path in found] == ["index.html"]


def test_what_lies_in_folders_within_each_other_is_found_down_to_the_twentieth(tmp_path: Path) -> None:
    place = tmp_path
    for level in range(documents.DEEPEST_FOLDER + 3):
        (place / f"at{level}.md").write_text("A key opens the door.", encoding="utf-8")
        place /= "inner"
        place.mkdir()
    assert [path.stem for path in documents.files(tmp_path)] == [
        f"at{level}" for level in range(documents.DEEPEST_FOLDER + 1)
    ]


def test_what_half_of_the_pages_begin_with_is_no_running_title(monkeypatch: pytest.MonkeyPatch) -> None:
    pages = [f"{'Notes' if page % 2 else f'Part {page}, of keys'}\nKey {page} opens a door." for page in range(6)]
    monkeypatch.setattr(documents, "_reader", SimpleNamespace(read=lambda kind, data: ["\f".join(pages)]))
    assert documents._of_pdf(b"")[0].count("Notes") == 3


def test_links_to_folders_and_folders_of_runs_are_not_gone_through(tmp_path: Path) -> None:
    for name in ("docs/a.md", "docs/inner/b.md", "runs/latest/c.md", "runs/2026/d.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("A key opens the door.", encoding="utf-8")
    (tmp_path / "docs" / "inner" / "up").symlink_to(tmp_path / "docs")
    assert [path.name for path in documents.files(tmp_path)] == ["a.md", "b.md"]


def test_items_of_a_plain_text_that_look_like_contents_stay(tmp_path: Path) -> None:
    for name in ("a.txt", "b.md"):
        (tmp_path / name).write_text("- [Keys](#keys)\n\nA key opens the door.\n", encoding="utf-8")
    texts = {chunk.document: chunk.text for chunk in documents.read(tmp_path, Cutting(80)).chunks}
    assert {name: "Keys" in text for name, text in texts.items()} == {"a.txt": True, "b.md": False}
