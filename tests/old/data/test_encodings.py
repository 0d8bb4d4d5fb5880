"""A file is read in the encoding that it is in, or refused with its possible readings; never as another alphabet."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ragbench.old import data
from ragbench.old.core import settings
from ragbench.old.data.encodings import RUSSIAN, UnknownEncodingError, encoding_of
from ragbench.old.data.files import DatasetError, read_lines, read_text
from tests.old.cli.command_line import ragbench

ROWS = """question,answer
До скольки открыта библиотека?,"С 9 до 21 часа, кроме воскресенья."
Где находится столовая?,Во втором корпусе - рядом с ёлкой.
Кто выдаёт пропуск?,Дежурный; подробности на сайте campus.example.
"""
SHORT = (
    "Привет, мир",
    "Когда открыта библиотека?",
    "если у вас есть доступ к нему",
    "Кто придумал дорожные чеки?",
    "ЧЕМ ЯВЛЯЕТСЯ БОРДОСКАЯ ЖИДКОСТЬ",
    "Я НАШЕЛ ЕГО",
    "БЕГ",
    "Если вы не хотите платить",
    "ВСЕ ТЕ ЖЕ",
    "Да",
    "ёж",
    "Он и она",
    "США",
    "Уже поздно",
    "Где держит скотину Полифем?",
    "“Цитата” и «ещё одна»",
    "Что такое ГОСТ?",
    "В Е Ё",
)
OTHERS = {
    "Mädchen für Österreich, Straße": "cp1252",
    "naïve café déjà à la carte, où": "cp1252",
    "il gatto è nero e il cane è bianco, è vero, è ora, è poi": "cp1252",
    "¿Qué señor?": "latin-1",
    "Zürich": "latin-1",
    "ÄÖÜ äöü ß": "latin-1",
    "zażółć gęślą jaźń, Łódź": "cp1250",
    "Příliš žluťoučký kůň": "cp1250",
    "Τα ελληνικά γράμματα είναι εδώ και δεν γίνονται ποτέ ρωσικά, όσο μεγάλο και αν είναι το κείμενο": "iso8859-7",
    "שלום עולם וברכה לכל הקוראים, הטקסט הזה ארוך מספיק כדי שלא יהיה ספק באיזו שפה הוא נכתב": "cp1255",
    "مرحبا بالعالم، هذا النص طويل بما يكفي حتى لا يكون هناك شك في اللغة التي كتب بها": "cp1256",
    "日本語のテキスト文字化け": "shift_jis",
    "中文文本编码测试简单的例子": "gbk",
    "Добрий день, як справи? Це українська мова її їжаків, і вона теж має свої літери, яких немає в інших": "koi8-u",
    "поезд в Київ прибывает на станцию": "koi8-u",
}


def kept(folder: Path, content: bytes, name: str = "rows.csv") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


@pytest.mark.fault("encodings", tried="Russian rows in five encodings, plain and gzipped", count=10)
@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("encoding", RUSSIAN)
def test_russian_is_read_right_in_every_encoding_of_it(tmp_path: Path, encoding: str, pack: type[bytes]) -> None:
    assert read_text(kept(tmp_path, pack(ROWS.encode(encoding)))) == ROWS


@pytest.mark.fault("encodings", tried="short Russian texts in five encodings: right or refused", count=90)
@pytest.mark.parametrize("encoding", RUSSIAN)
def test_a_text_that_is_too_short_is_read_right_or_refused(encoding: str) -> None:
    assert "wrong" not in [outcome(text.encode(encoding, "ignore"), encoding) for text in SHORT]


@pytest.mark.fault("encodings", tried="real questions by ones and fives, in five encodings", count=1800)
@pytest.mark.parametrize("encoding", RUSSIAN)
def test_real_questions_are_never_read_as_another_alphabet(shared_data: Callable[[str], Path], encoding: str) -> None:
    packed = shared_data("rubq-dev/RuBQ_1.0_dev.json.gz").read_bytes()
    questions = [row["question_text"] for row in json.loads(gzip.decompress(packed))]
    found = {}
    for size in (1, 5):
        texts = ["\n".join(questions[place : place + size]) for place in range(0, len(questions), size)]
        found[size] = [outcome(text.encode(encoding, "ignore"), encoding) for text in texts]
        assert "wrong" not in found[size]
    shouted = [outcome(question.upper().encode(encoding, "ignore"), encoding) for question in questions[:100]]
    assert "wrong" not in shouted
    assert shouted.count("right") > 90 or encoding == "mac-cyrillic"
    assert found[5].count("right") == 60 or encoding == "mac-cyrillic"
    assert found[1].count("right") > 270 or encoding == "mac-cyrillic"


def outcome(raw: bytes, encoding: str) -> str:
    """Whether bytes are read as they are in `encoding`."""
    try:
        return "right" if raw.decode(encoding_of([raw])) == raw.decode(encoding) else "wrong"
    except (UnknownEncodingError, UnicodeDecodeError):
        return "refused"


@pytest.mark.fault("encodings", tried="texts of other languages: none becomes Cyrillic", count=15)
@pytest.mark.parametrize("text", OTHERS)
def test_no_other_language_becomes_cyrillic(tmp_path: Path, text: str) -> None:
    raw = text.encode(OTHERS[text])
    for content in (raw, raw * 40, b"id,text\n" + b"".join(b"%d,%b\n" % (number, raw) for number in range(40))):
        with pytest.raises(DatasetError, match=r"^rows\.csv.*[Ss]ave.* as UTF-8"):
            read_text(kept(tmp_path, content))


def test_the_refusal_shows_how_the_text_could_be_read(tmp_path: Path) -> None:
    path = kept(tmp_path, "Wo ist die Bücherei?\n".encode("cp1252"))
    with pytest.raises(DatasetError, match=r"cp1252 reads 'die Bücherei\?'.*`ragbench --encoding cp1252 …`"):
        read_text(path)


@pytest.mark.fault("encodings", tried="UTF-16 and UTF-32, both ends first, with and without a mark", count=8)
@pytest.mark.parametrize("mark", ["\ufeff", ""])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_texts_are_found_out(tmp_path: Path, encoding: str, mark: str) -> None:
    letters = re.sub(r"[^А-яё]", "", ROWS) + "\n"
    for text in (ROWS, letters, "id,text\n1,plain\n2,English\n"):
        assert read_text(kept(tmp_path, (mark + text).encode(encoding))) == text
    lines = '{"a": "Где?"}\n{"a": "Там, за углом."}\n'
    path = kept(tmp_path, (mark + lines).encode(encoding), "rows.jsonl")
    assert [row["a"] for _, row in read_lines(path)] == ["Где?", "Там, за углом."]


@pytest.mark.fault("encodings", tried="a file that goes on in another encoding", count=1)
def test_a_file_in_two_encodings_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragbench.old.data.files.BLOCK_BYTES", 256)
    first, second = (ROWS * 3).encode("cp1251"), (ROWS * 3).encode()
    with pytest.raises(DatasetError, match="begins in cp1251 and goes on in UTF-8; save the whole file as UTF-8"):
        read_text(kept(tmp_path, first + second))
    with pytest.raises(DatasetError, match=r"byte \d+ is not UTF-8"):
        read_text(kept(tmp_path, second + first))


def test_a_named_encoding_is_taken_where_the_file_does_not_say_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RAGBENCH_ENCODING", "cp1252")
    settings.load.cache_clear()
    assert read_text(kept(tmp_path, "Bücher\n".encode("cp1252"))) == "Bücher\n"
    for own in ("utf-8", "utf-8-sig", "utf-16", "utf-32", "utf-16-be"):
        assert read_text(kept(tmp_path, ROWS.encode(own))) == ROWS
    monkeypatch.setenv("RAGBENCH_ENCODING", "shift_jis")
    settings.load.cache_clear()
    path = kept(tmp_path, '{"a": "文字化け"}\n{"a": "次"}\n'.encode("shift_jis"), "rows.jsonl")
    assert [row["a"] for _, row in read_lines(path)] == ["文字化け", "次"]
    monkeypatch.setenv("RAGBENCH_ENCODING", "cp99")
    settings.load.cache_clear()
    with pytest.raises(settings.ConfigurationError, match="encoding = 'cp99': one that Python knows is expected"):
        settings.load()
    monkeypatch.undo()
    settings.load.cache_clear()


def test_the_command_line_takes_the_encoding_before_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kept(tmp_path, "question,answer,contexts\nWo?,Die Bücherei.,Die Bücherei ist da.\n".encode("cp1252"))
    words = ("load", "answers", "rows.csv", "--name", "desk", "--language", "en")
    for option, code in ((("--encoding", "cp1252"), 0), ((), 3), (("--encoding", "cp99"), 3)):
        done = ragbench(*option, *words, "--replace")
        assert done.returncode == code, done.stderr
        assert "Traceback" not in done.stderr
    assert data.load("desk", tmp_path / "data").chunks[0].text == "Die Bücherei ist da."
