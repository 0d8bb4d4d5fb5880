"""Numbers and the words that they govern in Russian: 1 вопрос, 2 вопроса, 5 вопросов, 21 вопрос, из 301 вопроса."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from ragbench.core import language

PLURAL = 3
MORE = (
    "измерение измерения измерений", "утверждение утверждения утверждений", "событие события событий",
    "повтор повтора повторов", "проверка проверки проверок", "выборка выборки выборок", "ячейка ячейки ячеек",
    "шаблон шаблона шаблонов", "решение решения решений", "попадание попадания попаданий", "отказ отказа отказов",
    "токен токена токенов", "секунда секунды секунд", "человек человека человек", "выбор выбора выборов",
    "эталон эталона эталонов", "ступень ступени ступеней", "кусок куска кусков", "балл балла баллов",
    "раз раза раз", "язык языка языков", "ошибка ошибки ошибок", "вектор вектора векторов",
)  # fmt: skip
"""Words that could be counted, and that no plural text of the catalogue has."""
SHARES = frozenset({"share", "shares", "rate", "high", "over", "both", "wins", "attacks", "flips", "ladder", "value"})
"""Places that hold a share: `{share} вопросов` is `21 % вопросов`."""
NAMES = frozenset({"name"})
"""Places that hold no number."""
GENITIVE = re.compile(
    r"(?:^|[^а-яё-])(?:из|у|от|до|для|около|больше|меньше|чем|без|всех|этих|первых|среди)[ \u00a0]$",
    re.IGNORECASE,
)
"""After these a number's word is in the genitive: из 21 вопроса, из 22 вопросов."""
SHORT = re.compile(r"[ \u00a0](?:хватило|не хватило|недостаточно)")
"""Before these, too: 22 вопросов хватило бы."""
NEXT = re.compile(r"\{n\}(?:</?\w+>)*[ \u00a0]([а-яё-]+)")
_COUNTED = re.compile(r"(?<![\w.,:−+-])(\d{1,3}(?:[ \u00a0\u202f]\d{3})*|\d+)(,\d+)?[ \u00a0]([а-яё-]+)")
_PLACE = re.compile(r"\{(\w+)[^}]*\}(?:</?\w+>)*[ \u00a0](?:[а-яё]+(?:ых|их)[ \u00a0])?([а-яё-]+)")


def messages() -> Iterator[tuple[str | tuple[str, str], tuple[str, ...]]]:
    """Every text and its Russian: of a plural three forms."""
    for one in language.catalogue(language.LOCALE / "ru" / "LC_MESSAGES" / "ragbench.po"):
        if one.id:
            yield one.id, (one.string,) if isinstance(one.string, str) else tuple(one.string)


@functools.cache
def declensions() -> dict[str, tuple[str, str, str]]:
    """The words that the catalogue counts, in the forms of 1, 2 and 5: found by its own plural texts."""
    found = {one.split()[0]: tuple(one.split()) for one in MORE}
    for _text, forms in messages():
        told = [NEXT.search(form) for form in forms]
        if len(forms) == PLURAL and all(told):
            one, few, many = (each[1] for each in told if each)
            if len({one, few, many}) == PLURAL and not one.endswith("ая"):
                found[one] = (one, few, many)
    return found


def place_of(number: int) -> int:
    """Which of the three forms a whole number asks for, by the rules of the language and not of the catalogue."""
    last, tens = number % 10, number % 100 // 10
    return 2 if tens == 1 else 0 if last == 1 else 1 if last in (2, 3, 4) else 2


def fits(number: str, fraction: str, word: str, forms: tuple[str, str, str], *, genitive: bool) -> bool:
    """Whether the word can stand after the number, in the nominative or in the genitive."""
    one, few, many = forms
    if fraction:
        return word == few
    place = place_of(int(re.sub(r"\D", "", number)))
    return word == ((few, many, many) if genitive else (one, few, many))[place]


def disagreeing(text: str) -> list[str]:
    """The numbers of a text that stand before a word in a form that they cannot govern."""
    by_form = {form: forms for forms in declensions().values() for form in forms}
    return [
        found[0]
        for found in _COUNTED.finditer(text)
        if found[3] in by_form
        and not fits(
            found[1], found[2] or "", found[3], by_form[found[3]],
            genitive=bool(GENITIVE.search(text[: found.start()]) or SHORT.match(text[found.end() :])),
        )
    ]  # fmt: skip


def governed() -> list[tuple[str, str]]:
    """Places that are no plural's number and stand before a word that is counted, in one form for all numbers, each
    with its text; but for those of shares."""
    by_form = {form for forms in declensions().values() for form in forms}
    return [
        (place, form)
        for text, forms in messages()
        for form in forms
        for place, word in _PLACE.findall(form)
        if word in by_form and place not in SHARES | NAMES and not (isinstance(text, tuple) and place == "n")
    ]
