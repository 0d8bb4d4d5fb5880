"""Numbers and facts as a page writes them, in English and Russian."""

from __future__ import annotations

import math
from typing import Any

import pytest

from ragbench.core.errors import BenchError
from ragbench.core.language import find_language, load_language

NAN, INF = math.nan, math.inf
# Method, what it is given, and what stands on an English and on a Russian page.
WRITTEN: list[tuple[str, tuple[Any, ...], dict[str, Any], str, str]] = [
    ("number", (0.70349,), {}, "0.703", "0,703"),
    ("number", (1234.5,), {}, "1,234.500", "1\u00a0234,500"),
    ("number", (12.5001, 0), {}, "13", "13"),
    ("number", (-0.2,), {}, "−0.200", "−0,200"),
    ("number", (-0.0001,), {}, "−0.000", "−0,000"),
    ("number", (0.2,), {"signed": True}, "+0.200", "+0,200"),
    ("number", (0.0,), {"signed": True}, "0.000", "0,000"),
    ("number", (NAN,), {}, "–", "–"),
    ("number", (INF,), {}, "∞", "∞"),
    ("number", (-INF,), {}, "−∞", "−∞"),
    ("count", (10_000,), {}, "10,000", "10\u00a0000"),
    ("percent", (0.123,), {}, "12\u00a0%", "12\u00a0%"),
    ("percent", (0.1234, 1), {}, "12.3\u00a0%", "12,3\u00a0%"),
    ("percent", (NAN,), {}, "–", "–"),
    ("ends", (0.1, 0.2), {}, "[0.100, 0.200]", "[0,100; 0,200]"),
    ("ends", (-0.1, 0.2), {"signed": True}, "[−0.100, +0.200]", "[−0,100; +0,200]"),
    ("ends", (NAN, 0.2), {}, "–", "–"),
    ("ends", (0.1, NAN), {}, "–", "–"),
    ("interval", (0.7, 0.6, 0.8), {}, "0.700 [0.600, 0.800]", "0,700 [0,600; 0,800]"),
    ("interval", (0.7, NAN, NAN), {}, "0.700", "0,700"),
    ("p_value", (0.042,), {}, "= 0.042", "= 0,042"),
    ("p_value", (0.001,), {}, "= 0.001", "= 0,001"),
    ("p_value", (0.00099,), {}, "< 0.001", "< 0,001"),
    ("p_value", (NAN,), {}, "–", "–"),
    ("fact", (True,), {}, "True", "True"),
    ("fact", (3,), {}, "3", "3"),
    ("fact", ([1, 0.5, "good"],), {}, "1, 0.500, good", "1, 0,500, хорошо"),
    ("fact", ("",), {}, "", ""),
]


@pytest.mark.parametrize(("method", "given", "options", "english", "russian"), WRITTEN)
def test_what_stands_on_a_page(
    method: str, given: tuple[Any, ...], options: dict[str, Any], english: str, russian: str
) -> None:
    for code, expected in (("en", english), ("ru", russian)):
        assert getattr(load_language(code), method)(*given, **options) == expected


def test_another_language_is_refused() -> None:
    with pytest.raises(BenchError, match="language 'de' is not there; there are en, ru"):
        load_language("de")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("a" * 75 + "я" * 25, "en"),
        ("a" * 74 + "я" * 26, "ru"),
        ("a" * 4000 + "я" * 9000, "en"),
        ("", "en"),
    ],
)
def test_a_text_is_russian_from_a_quarter_of_its_letters_on(text: str, language: str) -> None:
    assert find_language(text) == language
