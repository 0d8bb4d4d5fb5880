"""Lines of TREC files as they really are: every form of one, and what does not fit."""

from __future__ import annotations

import csv
import gzip
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ragbench.old.data import DatasetError, trec
from tests.old.data.trec.trec_files import QRELS, RUN, written


@pytest.mark.fault("encodings", tried="forms of a file of runs", count=9)
@pytest.mark.parametrize(
    "form",
    [
        QRELS.encode(),
        gzip.compress(QRELS.encode(), mtime=0),
        QRELS.replace("\n", "\r\n").encode(),
        QRELS.replace(" ", "\t").encode(),
        b"\xef\xbb\xbf" + QRELS.encode(),
        gzip.compress(b"\xef\xbb\xbf" + QRELS.replace("\n", "\r\n").encode(), mtime=0),
        ("# judged in May\n\n" + QRELS.replace("\n", "\n  \n#\n")).encode(),
        QRELS.rstrip("\n").encode(),
        (QRELS + "q1 0 a 1\n").encode(),
    ],
    ids=["plain", "gzip", "crlf", "tabs", "bom", "gzip bom crlf", "comments", "no last newline", "repeated"],
)
def test_every_form_of_a_file_reads_the_same(tmp_path: Path, form: bytes) -> None:
    expected = {"q1": {"a": 1.0, "b": 0.0, "c": 2.0}, "q2": {"a": 1.0}, "q3": {"z": 0.0}}
    assert trec.read_qrels(written(tmp_path, "any.name", form)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "#1 0 a 1\n#2 0 b 0\n",
        "# by hand\n#1\ta\t1\n#2\tb\t0\n",
        "#by hand\nquery_id,doc_id,rel\n#1,a,1\n#2,b,0\n",
        "#query_id\tdoc_id\trel\n#1\ta\t1\n#2\tb\t0\n",
    ],
)
def test_names_may_begin_as_comments_do(tmp_path: Path, text: str) -> None:
    assert trec.read_qrels(written(tmp_path, "q", text)) == {"#1": {"a": 1.0}, "#2": {"b": 0.0}}
    assert trec.read_qrels(written(tmp_path, "p", "#by hand\nq 0 a 1\n#in May 2024\n")) == {"q": {"a": 1.0}}


def test_a_run_keeps_the_order_of_its_file(tmp_path: Path) -> None:
    run = trec.read_run(written(tmp_path, "bm25.run.gz", gzip.compress(RUN.encode())))
    assert (run.name, run.tag) == ("bm25", "mine")
    assert run.queries["q1"].documents.to_pylist() == ["b", "a", "c"]
    assert list(run.queries["q1"].scores) == [3.0, 2.0, 2.0]
    assert trec.read_run(written(tmp_path, "empty.run", "")).queries == {}


@pytest.mark.parametrize(
    ("reader", "text", "message"),
    [
        (trec.read_qrels, "q1 0 a 1\nq1 0 a\n", r"line 2: 3 columns instead of 4; expected QUERY ITERATION"),
        (trec.read_qrels, "q1 0 a one\n", r"line 1: 'one' is not a grade"),
        (trec.read_qrels, "q1 0 a nan\n", r"line 1: 'nan' is not a grade"),
        (trec.read_qrels, "q1 0 a 1\n\nq1 0 a 2\n", r"line 3: query q1 and document a were judged 1 before and 2"),
        (trec.read_qrels, "# nothing\n", r"no judgements"),
        (trec.read_qrels, "q1 0 a 1\n#q1 0 b 1\n", r"line 2: begins with #, and has as many words as .* blank behind"),
        (trec.read_qrels, b"q1 0 a 1\n" * 9999 + b"q1 0 \xff\xfe 1\n", r"line 10000: not UTF-8"),
        (trec.read_qrels, "q" * 70_000, r"line 1: longer than 65536 bytes"),
        (trec.read_qrels, gzip.compress(QRELS.encode() * 99, mtime=0)[:-20], r"cannot be read"),
        (trec.read_run, "q1 Q0 a 1 2.0 t\nq1 Q0 b 2 t\n", r"line 2: 5 columns instead of 6; expected QUERY Q0"),
        (trec.read_run, "q1 Q0 a 1 inf t\n", r"line 1: 'inf' is not a score"),
        (trec.read_run, "q1 Q0 a 1 1_0 t\n", r"line 1: '1_0' is not a score"),
        (trec.read_run, QRELS, r"line 1: 4 columns instead of 6"),
        (trec.read_run, " Q0 b 1 3.0 mine\n", r"line 1: 5 columns instead of 6"),
    ],
)
def test_what_does_not_fit_names_file_line_and_form(
    tmp_path: Path, reader: Callable[[Path], Any], text: str | bytes, message: str
) -> None:
    path = written(tmp_path, "broken.txt", text)
    with pytest.raises(DatasetError, match=message) as caught:
        reader(path)
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no such file"):
        trec.read_run(tmp_path / "none.run")
    with pytest.raises(DatasetError, match="is a folder"):
        trec.read_qrels(tmp_path)


@pytest.mark.fault("bombs", tried="a run that unpacks to no end", count=2)
@pytest.mark.parametrize("text", [RUN, "# many\n" + RUN])
def test_too_much_text_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(trec, "MOST_BYTES", 60)
    with pytest.raises(DatasetError, match=r"more than 6e-08 GB of text, half of this machine's memory; split it"):
        trec.read_run(written(tmp_path, "q.gz", gzip.compress(text.encode(), mtime=0)))


def test_lines_of_one_query_are_found_wherever_they_stand(tmp_path: Path) -> None:
    one, two, three, other = RUN.splitlines(keepends=True)
    run = trec.read_run(written(tmp_path, "s.run", one + other + two + three))
    assert list(run.queries) == ["q1", "q9"]
    assert run.queries["q1"].documents.to_pylist() == ["b", "a", "c"]
    assert list(run.queries["q1"].ranks) == [1.0, 2.0, 3.0]


def test_several_tabs_part_words_as_one(tmp_path: Path) -> None:
    text = RUN.replace(" ", "\t")
    doubled = text[:30] + text[30:].replace("\t", "\t\t")
    assert trec.read_run(written(tmp_path, "d.run", doubled)).queries.keys() == {"q1", "q9"}


def word_by_word(text: str, separator: str) -> list[tuple[str, str, float, float]] | None:
    """Query, document, score and rank of the lines of a run, after the format's own text; None where one is wrong."""
    read = []
    for line in re.split(r"\r\n|\r|\n", text):
        if line.isspace() or re.match(r"#([# \t\f]|$)", line) or not line:
            continue
        words = (
            re.findall(r"[^ \t\v\f]+", line)
            if separator == " "
            else [word.strip() for word in (re.split(r"\t+", line) if separator == "\t" else next(csv.reader([line])))]
        )
        number = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)
        if line.startswith("#"):
            if len(words) >= 6:
                return None  # a name, or what somebody took out
            continue
        if len(words) < 6 or not words[0] or not words[2] or not number.fullmatch(words[4]):
            return None
        score, place = (word.replace(",", ".") for word in (words[4], words[3]))
        rank = float(place) if number.fullmatch(place) else None
        is_moved = rank is None and (len(words) > 6 or number.fullmatch(words[5]))
        if is_moved or not math.isfinite(float(score)):
            return None
        read.append((words[0], words[2], float(score), math.inf if rank is None else rank))
    return read


ODD = st.sampled_from(
    [
        *" \t\r\n\v\f#\"'\x1c\x1f\ufeff\u00a0\u2028\x85",
        "  ",
        "\n#",
        " \n",
        "\n ",
        "\n\n",
        "\r\n",
        "ё",
        "1_0",
        "nan",
        "-inf",
        *".e+,\0",
        " ,",
        "\u3000\t",
        "True",
    ]
)


@settings(max_examples=settings.default.max_examples * 8)
@given(
    gap=st.sampled_from([" ", "\t", ","]),
    end=st.sampled_from(["\n", "\r\n", "\r"]),
    odd=st.lists(st.tuples(st.integers(24, 80), ODD, st.booleans()), max_size=2),
    block=st.sampled_from([1, 30, 1 << 23]),
)
@example(gap=" ", end="\n", odd=[(34, "\n#", False)], block=1)  # a block of comments alone
@example(gap=" ", end="\n", odd=[(68, ",", False)], block=30)
def test_lines_are_read_as_word_by_word(
    tmp_path_factory: pytest.TempPathFactory, gap: str, end: str, odd: list[tuple[int, str, bool]], block: int
) -> None:
    text = RUN.replace(" ", gap).replace("\n", end)
    for place, strange, instead in odd:  # behind the first line, which tells the form
        text = text[:place] + strange + text[place + instead :]
    path = written(tmp_path_factory.mktemp("trec"), "r", text.encode())
    wanted = word_by_word(text, gap)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trec, "BLOCK", block)
        if wanted is None:
            with pytest.raises(DatasetError, match=r"line \d+: "):
                trec.read_run(path)
            return
        run = trec.read_run(path)
    read = [
        (query, *row)
        for query, own in run.queries.items()
        for row in zip(own.documents.to_pylist(), own.scores.tolist(), own.ranks.tolist(), strict=True)
    ]
    queries = list(dict.fromkeys(query for query, *_ in wanted))
    assert read == sorted(wanted, key=lambda row: queries.index(row[0]))


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff\ufeffq1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\n",
        "q1 Q0 a 1 2 t\n\ufeffq1 Q0 b 2 1 t",
        "q1 Q0 a 1 2 t\n\ufeffq1 Q0 b 2 1 t\nq1 Q0 c 3 0 t\n",
    ],
)
def test_a_mark_of_byte_order_within_a_file_is_a_letter(tmp_path: Path, text: str) -> None:
    run = trec.read_run(written(tmp_path, "r.run", text))
    assert list(run.queries) == (["\ufeffq1", "q1"] if text.startswith("\ufeff") else ["q1", "\ufeffq1"])
    assert run.queries["q1"].documents.to_pylist() == (
        ["b"] if text.startswith("\ufeff") else ["a", "c"][: text.count("\n")]
    )


def test_a_last_line_that_lacks_a_word_is_found_by_its_blank(tmp_path: Path) -> None:
    text = "q1 Q0 a 1 2 t\nq1 Q0 b 2 1 "
    with pytest.raises(DatasetError, match="line 2: 5 columns instead of 6"):
        trec.read_run(written(tmp_path, "r.run", text))


def test_the_longest_line_is_kept_to(tmp_path: Path) -> None:
    path = written(tmp_path, "r.run", RUN + f"q1 Q0 {'x' * 70_000} 4 1.0 mine\n")
    with pytest.raises(DatasetError, match="line 5: longer than 65536 bytes"):
        trec.read_run(path)


def test_a_long_file_is_read_in_the_order_of_its_lines(tmp_path: Path) -> None:
    rows = [(f"q{line % 7}", f"d{line:05d}", line / 8) for line in range(20_000)]
    path = written(tmp_path, "r.run", "".join(f"{query} Q0 {name} 1 {score} mine\n" for query, name, score in rows))
    expected = [name for query, name, _ in rows if query == "q3"]
    assert trec.read_run(path).queries["q3"].documents.to_pylist() == expected
