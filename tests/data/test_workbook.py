"""Workbooks: a small file may name a cell a million rows and sixteen thousand columns away."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from ragbench.data.files import DatasetError
from ragbench.data.rows import read_rows

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
OF_PACKAGES = "http://schemas.openxmlformats.org/package/2006"


def workbook(path: Path, cells: str) -> Path:
    """A workbook of one sheet."""
    one = f'<Relationships xmlns="{OF_PACKAGES}/relationships"><Relationship Id="r1" Type="{OFFICE}/%s" Target="%s"/>'
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("[Content_Types].xml", f'<Types xmlns="{OF_PACKAGES}/content-types"/>')
        file.writestr("_rels/.rels", one % ("officeDocument", "xl/workbook.xml") + "</Relationships>")
        file.writestr("xl/_rels/workbook.xml.rels", one % ("worksheet", "worksheets/1.xml") + "</Relationships>")
        sheets = '<sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets>'
        file.writestr("xl/workbook.xml", f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}">{sheets}</workbook>')
        file.writestr("xl/worksheets/1.xml", f'<worksheet xmlns="{MAIN}"><sheetData>{cells}</sheetData></worksheet>')
    return path


def cell(place: str, text: str) -> str:
    return f'<c r="{place}" t="inlineStr"><is><t>{text}</t></is></c>'


def test_a_cell_far_away_ends_in_a_sentence(tmp_path: Path) -> None:
    """The library would lay out all cells between the first and the last, and end the process that it is in."""
    near, far = f'<row r="2">{cell("A2", "question")}</row>', f'<row r="1048576">{cell("XFD1048576", "What?")}</row>'
    path = workbook(tmp_path / "far.xlsx", near + far)
    with pytest.raises(DatasetError, match=r"far\.xlsx: would take more than 1,073,741,824 bytes of memory; split it"):
        list(read_rows(path))


def test_rows_keep_their_numbers_and_what_is_below_an_early_end_is_not_waited_for(tmp_path: Path) -> None:
    head = f'<row r="3">{cell("A3", "question")}{cell("B3", "answer")}</row>'
    more = "".join(f'<row r="{n}">{cell(f"A{n}", "What?")}{cell(f"B{n}", "That.")}</row>' for n in range(5, 5000))
    rows = read_rows(workbook(tmp_path / "near.xlsx", head + more))
    assert next(rows) == ("near.xlsx, row 5", {"question": "What?", "answer": "That."})
    rows.close()  # type: ignore[attr-defined]
