"""Workbooks: a small file may name a cell a million rows and sixteen thousand columns away."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from ragbench.old.data.files import DatasetError, LeftOut
from ragbench.old.data.rows import read_rows

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
OF_PACKAGES = "http://schemas.openxmlformats.org/package/2006"


def workbook(path: Path, *sheets: str) -> Path:
    """A workbook with the cells of its sheets, which are called A, B …"""
    head = f'<Relationships xmlns="{OF_PACKAGES}/relationships">'
    one = f'<Relationship Id="r%s" Type="{OFFICE}/%s" Target="%s"/>'
    parts = [one % (n, "worksheet", f"worksheets/{n}.xml") for n, _ in enumerate(sheets)]
    named = "".join(f'<sheet name="{chr(65 + n)}" sheetId="{n + 1}" r:id="r{n}"/>' for n, _ in enumerate(sheets))
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("[Content_Types].xml", f'<Types xmlns="{OF_PACKAGES}/content-types"/>')
        file.writestr("_rels/.rels", head + one % (1, "officeDocument", "xl/workbook.xml") + "</Relationships>")
        file.writestr("xl/_rels/workbook.xml.rels", f"{head}{''.join(parts)}</Relationships>")
        book = f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>{named}</sheets></workbook>'
        file.writestr("xl/workbook.xml", book)
        for n, cells in enumerate(sheets):
            sheet = f'<worksheet xmlns="{MAIN}"><sheetData>{cells}</sheetData></worksheet>'
            file.writestr(f"xl/worksheets/{n}.xml", sheet)
    return path


def table(*rows: str) -> str:
    """The cells of rows, whose texts are parted by bars."""
    cells = ("".join(cell(f"{chr(65 + n)}{row}", text) for n, text in enumerate(texts.split("|")))
             for row, texts in enumerate(rows, 1))  # fmt: skip
    return "".join(f'<row r="{row}">{own}</row>' for row, own in enumerate(cells, 1))


def cell(place: str, text: str) -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>'


def test_a_cell_far_away_ends_in_a_sentence(tmp_path: Path) -> None:
    """The library would lay out all cells between the first and the last, and end the process that it is in."""
    near, far = f'<row r="2">{cell("A2", "question")}</row>', f'<row r="1048576">{cell("XFD1048576", "What?")}</row>'
    path = workbook(tmp_path / "far.xlsx", near + far)
    with pytest.raises(
        DatasetError,
        match=r"far\.xlsx: cannot be read: .* more than 1,073,741,824 bytes of memory; split it, or",
    ):
        list(read_rows(path))


def test_rows_keep_their_numbers_and_what_is_below_an_early_end_is_not_waited_for(tmp_path: Path) -> None:
    head = f'<row r="3">{cell("A3", "question")}{cell("B3", "answer")}</row>'
    more = "".join(f'<row r="{n}">{cell(f"A{n}", "What?")}{cell(f"B{n}", "That.")}</row>' for n in range(5, 5000))
    rows = read_rows(workbook(tmp_path / "near.xlsx", head + more))
    assert next(rows) == ("near.xlsx, row 5", {"question": "What?", "answer": "That."})
    rows.close()  # type: ignore[attr-defined]


def test_sheets_of_one_form_are_systems_and_others_are_passed_over(tmp_path: Path) -> None:
    about = table("Made by|us", "on|Monday")
    path = workbook(
        tmp_path / "a.xlsx", about, table("question|answer", "When?|8"), table("question|answer", "When?|9")
    )
    read = [(place, row.get("system"), row["answer"]) for place, row in read_rows(path)]
    assert read == [("a.xlsx, B, row 2", "B", "8"), ("a.xlsx, C, row 2", "C", "9")]
    alone = workbook(tmp_path / "b.xlsx", about, table("question|answer", "When?|8"), table("note|x", "n|1"))
    assert list(read_rows(alone)) == [("b.xlsx, row 2", {"question": "When?", "answer": "8"})]


def test_a_title_that_a_column_could_be_called_is_a_title(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", table("Answers", "question|answer", "When?|8"))
    assert list(read_rows(path)) == [("a.xlsx, row 3", {"question": "When?", "answer": "8"})]
    (tmp_path / "q.csv").write_text("question\nIs an answer, given late, one?\nWhen?\n")
    with pytest.raises(DatasetError, match="3 cells, but the header names 1"):
        list(read_rows(tmp_path / "q.csv"))


def test_a_column_that_stands_there_twice_is_named(tmp_path: Path) -> None:
    path = workbook(tmp_path / "a.xlsx", table("question|answer|answer", "When?|8|9"))
    with pytest.raises(DatasetError, match=r"a\.xlsx, row 1: the column 'answer' stands there twice"):
        list(read_rows(path))


def test_sheets_of_the_same_fields_are_systems_and_what_is_not_read_is_counted(tmp_path: Path) -> None:
    path = workbook(
        tmp_path / "a.xlsx",
        table("question|answer", "When?|8"),
        table("answer|note|question", "9|x|When?"),
        table("question|reference", "When?|8"),
    )
    left_out = LeftOut()
    read = [(row["system"], row["question"], row["answer"]) for _, row in read_rows(path, left_out=left_out)]
    assert read == [("A", "When?", "8"), ("B", "When?", "9")]
    assert left_out.said == "1 × sheet with other fields than the first (first: a.xlsx, C)"


def test_a_note_below_a_table_is_counted(tmp_path: Path) -> None:
    note = f'<row r="5">{cell("A5", "Made by us")}</row><row r="6">{cell("A6", "in May")}</row>'
    path = workbook(tmp_path / "a.xlsx", table("question|answer", "When?|8", "Where?") + note)
    left_out = LeftOut()
    assert [row["question"] for _, row in read_rows(path, left_out=left_out)] == ["When?", "Where?"]
    assert left_out.said.startswith("2 × row of one cell behind a blank one")
