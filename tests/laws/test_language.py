"""Every text has its translation, every translation fits its text, and numbers take the language's form."""

from __future__ import annotations

import math
import re
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragbench.core import language
from ragbench.core.parts import Column, Table, Value
from tests.laws.test_notebooks import NOTEBOOKS
from tests.laws.texts import all_texts, texts_of_code


@pytest.fixture(scope="module")
def russian() -> dict[str | tuple[str, ...], object]:
    found = language.catalogue(language.LOCALE / "ru" / "LC_MESSAGES" / "ragbench.po")
    return {message.id: message for message in found if message.id}


@pytest.mark.law
def test_texts_are_found_at_all() -> None:
    found = {text for _, text in texts_of_code()}
    assert "Nothing was measured." in found
    assert ("{n} question", "{n} questions") in found
    assert "All pages of this run" in found


@pytest.mark.law
def test_every_text_is_translated(russian: dict) -> None:
    missing = {text: place for place, text in all_texts() if text not in russian or not all(_strings(russian[text]))}
    assert not missing, "`python -m tests.laws.texts` adds them to the catalogue:\n" + "\n".join(
        f"{place}: {text!r}" for text, place in missing.items()
    )


@pytest.mark.law
def test_a_missing_text_would_be_found(russian: dict) -> None:
    places = {text: place for place, text in all_texts()}
    for text in ("Nothing was measured.", "## What this does not show", "1 / rank of the first relevant passage"):
        assert text in places, "of code, of a notebook's Markdown, of a metric's declaration"
        assert russian[text].string != text
    assert {place.partition(":")[0] for place in places.values()} >= {path.name for path in NOTEBOOKS}


@pytest.mark.law
def test_the_catalogue_holds_nothing_else(russian: dict) -> None:
    wanted = {text for _, text in all_texts()}
    assert not [text for text in russian if text not in wanted]


def test_translations_fit_their_texts(russian: dict) -> None:
    for text, message in russian.items():
        sources = [text] if isinstance(text, str) else list(text)
        for translation in _strings(message):
            assert _fields(translation) == _fields(sources[-1]), (text, translation)
            assert re.findall(r"</?\w+>", translation) == re.findall(r"</?\w+>", sources[-1]), (text, translation)
            assert re.match(r"#*", translation)[0] == re.match(r"#*", sources[0])[0], translation
        assert not message.fuzzy


def _strings(message: object) -> list[str]:
    return [message.string] if isinstance(message.string, str) else list(message.string)


def _fields(text: str) -> set[str]:
    if "{" not in text:
        return set()
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize(
    ("n", "expected"), [(1, "1 вопрос"), (2, "2 вопроса"), (5, "5 вопросов"), (11, "11 вопросов"), (21, "21 вопрос"),
                        (1204, "1 204 вопроса")]
)  # fmt: skip
def test_russian_plurals(n: int, expected: str) -> None:
    said = language.translator("ru").plural("{n} question", "{n} questions", n)
    assert said.replace("\N{NO-BREAK SPACE}", " ").replace("\N{NARROW NO-BREAK SPACE}", " ") == expected


@pytest.mark.parametrize(
    ("code", "value", "digits", "signed", "expected"),
    [
        ("en", 0.203, 3, True, "+0.203"),
        ("en", -0.2034, 3, True, "−0.203"),
        ("en", 12345.6, 1, False, "12,345.6"),
        ("en", -0.0001, 3, False, "0.000"),
        ("en", 0.0, 3, True, "0.000"),
        ("en", 0.0001, 3, True, "+0.000"),
        ("en", -0.0001, 3, True, "−0.000"),
        ("en", -6e-18, 3, True, "0.000"),
        ("en", math.nan, 3, False, "—"),
        ("en", None, 3, False, "—"),
        ("en", math.inf, 3, False, "—"),
        ("ru", 0.203, 3, True, "+0,203"),
        ("ru", -12345.6, 1, False, "−12\N{NO-BREAK SPACE}345,6"),
    ],
)
def test_numbers(code: str, value: float | None, digits: int, signed: bool, expected: str) -> None:
    assert language.translator(code).number(value, digits, signed=signed) == expected


@pytest.mark.parametrize("value", [0.0, 6e-18, -6e-18, 0.00004, -0.00004, 0.2, -0.2])
def test_every_output_writes_the_sign_of_a_difference_alike(value: float) -> None:
    """Of one that is rounded to 0 too: a page had a plus before a loss, an article none."""
    table = Table((Column("d", "interval", signed=True),), ((Value(value, -1.0, 1.0),),))
    sign = language.translator("en").number(value, signed=True).rstrip("0123456789.")
    digits = f"{abs(value):.3f}"
    assert rf"\num{{{sign.replace(language.MINUS, '-')}{digits}}}" in table.latex("x")
    assert f"{sign}{digits} [" in table.markdown()
    assert f"{sign}{digits} [" in table._repr_html_()


def test_intervals_part_their_ends_where_a_comma_is_the_decimal_mark() -> None:
    assert language.translator("en").interval(0.125, 0.28) == "[0.125, 0.280]"
    assert language.translator("ru").interval(0.125, 0.28) == "[0,125; 0,280]"
    assert language.translator("ru").interval(None, 0.28) == "—"


def test_no_interval_without_zero_is_written_as_one_with_it() -> None:
    """Ends of differences have more decimals near 0, and a sign where no number of them serves; values have not."""
    told = language.translator("en").interval
    assert told(0.0004, 0.1, signed=True) == "[+0.0004, +0.100]"
    assert told(math.nextafter(0, 1), 0.1, signed=True) == "[>0, +0.100]"
    assert told(-0.1, -1e-9, signed=True) == "[−0.100, <0]"
    assert told(0.0, 0.1, signed=True) == "[0.000, +0.100]"
    assert told(0.0004, 0.1) == "[0.000, 0.100]"
    one = Table((Column("d", "interval", signed=True),), ((Value(None, math.nextafter(0, 1), 0.1),),))
    assert r"[$>0$, \num{+0.100}]" in one.latex("x")
    assert "[>0, +0.100]" in one.markdown()
    assert "[&gt;0, +0.100]" in one._repr_html_()


def test_p_values() -> None:
    _ = language.translator("en")
    assert _.p_value(0.4994) == "0.499"
    assert _.p_value(0.0001) == "<\N{NO-BREAK SPACE}0.001"
    assert _.p_value(0.4994, relation=True) == "p\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}0.499", "no line ends inside"
    assert _.p_value(0.0001, relation=True) == "p\N{NO-BREAK SPACE}<\N{NO-BREAK SPACE}0.001"
    assert _.p_value(math.nan) == "—"


def test_percent_and_lists() -> None:
    assert language.translator("en").percent(0.95) == "95%"
    assert language.translator("ru").percent(0.95) == "95\N{NO-BREAK SPACE}%"
    assert language.translator("en").enumeration(["a", "b", "c"]) == "a, b, and c"
    assert language.translator("ru").enumeration(["a", "b", "c"]) == "a, b и c"
    assert language.translator("en").enumeration(["a"]) == "a"
    assert language.translator("en").enumeration([]) == ""


def test_an_unknown_text_stays_english_and_an_unknown_language_is_refused() -> None:
    assert language.translator("ru")("no catalogue has this") == "no catalogue has this"
    with pytest.raises(ValueError, match="there are en, ru"):
        language.translator("tlh")


@pytest.mark.fault("markup", tried="values in translated sentences", count=1)
def test_values_are_escaped_and_texts_are_not() -> None:
    said = language.translator("en").html("<b>{name}</b>", name="<script>")
    assert said == "<b>&lt;script&gt;</b>"


def test_blocks_are_translated_one_by_one() -> None:
    _ = language.translator("ru")
    text = "## All numbers\n\nno catalogue has this\n\n\n## Method"
    assert _.blocks(text).split("\n\n")[0].startswith("## ")
    assert "no catalogue has this" in _.blocks(text)
    assert _.blocks(text) != text


@given(st.floats(-1e9, 1e9), st.integers(0, 6))
def test_a_number_reads_back(value: float, digits: int) -> None:
    for code, decimal in (("en", "."), ("ru", ",")):
        text = language.translator(code).number(value, digits)
        plain = re.sub(r"[^\d−" + re.escape(decimal) + "]", "", text).replace(decimal, ".").replace("−", "-")
        assert float(plain) == pytest.approx(value, abs=0.51 * 10**-digits, rel=1e-12)
