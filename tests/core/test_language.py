"""Numbers and facts as a page writes them, in English and Russian."""

from __future__ import annotations

import math
import re

import pytest

from ragbench.core.errors import BenchError
from ragbench.core.language import find_language, load_language

# What is written how, and what stands on an English and on a Russian page (~: no line break).
WRITTEN = """
number(0.70349)               0.703                0,703
number(1234.5)                1,234.500            1~234,500
number(12.5001, 0)            13                   13
number(-0.2)                  −0.200               −0,200
number(-0.0001)               −0.000               −0,000
number(0.2, signed=True)      +0.200               +0,200
number(0.0, signed=True)      0.000                0,000
number(nan)                   –                    –
number(inf)                   ∞                    ∞
number(-inf)                  −∞                   −∞
count(10_000)                 10,000               10~000
percent(0.123)                12~%                 12~%
percent(0.1234, 1)            12.3~%               12,3~%
percent(nan)                  –                    –
ends(0.1, 0.2)                [0.100, 0.200]       [0,100; 0,200]
ends(-0.1, 0.2, signed=True)  [−0.100, +0.200]     [−0,100; +0,200]
ends(nan, 0.2)                –                    –
ends(0.1, nan)                –                    –
interval(0.7, 0.6, 0.8)       0.700 [0.600, 0.800]  0,700 [0,600; 0,800]
interval(0.7, nan, nan)       0.700                0,700
p_value(0.042)                = 0.042              = 0,042
p_value(0.001)                = 0.001              = 0,001
p_value(0.00099)              < 0.001              < 0,001
p_value(nan)                  –                    –
fact(True)                    True                 True
fact(3)                       3                    3
fact([1, 0.5, "good"])        1, 0.500, good       1, 0,500, хорошо
"""


@pytest.mark.parametrize("line", WRITTEN.strip().splitlines(), ids=lambda line: line[:28])
def test_what_stands_on_a_page(line: str) -> None:
    call, *expected = re.split(" {2,}", line.replace("~", "\N{NO-BREAK SPACE}"))
    for code, text in zip(("en", "ru"), expected, strict=True):
        names = {"language": load_language(code), "nan": math.nan, "inf": math.inf}
        assert eval(f"language.{call}", names) == text


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
