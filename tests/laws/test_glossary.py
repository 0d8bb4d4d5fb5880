"""One Russian word for one thing: the terms that were chosen, and those that nobody may bring back."""

from __future__ import annotations

import functools
import re

import pytest

from ragbench.core import language

GLOSSARY = (
    # English, the Russian stem that was chosen, and the stems that it is not called by
    ("question", "вопрос", r"запрос\w* к судье"),
    (r"\bruns?\b", "запуск", "прогон"),
    ("interval", "интервал", "промежут"),
    ("verdict", "вердикт", r"\bвывод(?!ит)"),
    (r"\bjudges?\b", "суд", "оценщик|арбитр"),
    ("passage|chunk", "фрагмент", "отрыв|пассаж|чанк|кусоч"),
    ("baseline", "баз", "бейзлайн|опорн"),
    ("embedder|embedding", "эмбеддер|эмбеддинг", "векторизатор|кодировщик|вложени"),
    (r"\braters?\b", "", "аннотатор|разметчик"),
    (r"\breferences?\b", "эталон", "референс|образец|образц"),
    (r"\bscores?\b", "оцен", "скор(?!о|ре)|балл(?!ы? —)"),
    ("slice", "срез", "подгрупп"),
    ("famil", "семейств", ""),
    ("cache", "кэш", "кеш"),
    ("dialogue", "диалог", "бесед"),
    (r"\bturns?\b", "реплик", ""),
    ("latenc", "задерж", "латентн"),
    ("threshold", "порог", ""),
    ("stand-in", "замен", "заглуш|заместит"),
    ("bootstrap", "бутстреп", "бутстрэп|бутстрап"),
    ("data set", "набор", "датасет"),
    ("refus", "отказ|отвер|отклон", ""),
    ("prompt", "промпт", "подсказк|запрос этого"),
    ("knowledge base", "баз", "корпус"),
    ("claim", "утвержден", "тезис"),
    ("unmeasured", "измер", ""),
    (r"of one form|\bforms? (?:is|are) shared", "шаблон", "форм[аеуы]"),
    ("greet", "приветств", "здоров"),
    ("nearly the same", "почти", "дубл"),
    (r"\bTiers? \d", r"Tier \d", r"уров\w+ \d"),
    ("production judge", "судья в продукте|судьи в продукте", "производствен|продуктивн"),
    (r"\bprobes?\b", "провер|просматрива", r"\bпроб[аыуе]?\b"),
    ("call that failed|failed call", "неудавш", "сорвавш"),
    ("offline", "автономн", "офлайн|встроенн"),
    ("between bands|A band of", "диапазон", "полос|уровн"),
    ("notebook", "блокнот", "ноутбук"),
    ("smallest difference of interest", "практически значим", "для дела"),
    ("confidence level", "доверительная вероятность", "уров"),
)
FULL_MARKS = re.compile(r"высш\w+ балл|(?:^|\s)пят\w+ балл")
"""Of a scale of marks, which a score is none of."""


@functools.cache
def pairs() -> list[tuple[str, str]]:
    found = language.catalogue(language.LOCALE / "ru" / "LC_MESSAGES" / "ragbench.po")
    return [
        (message.id if isinstance(message.id, str) else message.id[1],
         message.string if isinstance(message.string, str) else " ".join(message.string))
        for message in found
        if message.id
    ]  # fmt: skip


@pytest.mark.parametrize(("english", "chosen", "others"), GLOSSARY, ids=[one[1] for one in GLOSSARY])
def test_one_thing_has_one_word(english: str, chosen: str, others: str) -> None:
    named = [(text, said) for text, said in pairs() if re.search(english, text, re.IGNORECASE)]
    assert any(re.search(chosen, said, re.IGNORECASE) for _, said in named), "the chosen word is in use"
    wrong = [
        (text, said)
        for text, said in named
        if others and re.search(others, FULL_MARKS.sub("", said), re.IGNORECASE)
    ]  # fmt: skip
    assert not wrong


def test_a_second_word_is_found() -> None:
    """The rules are of stems, and catch every form."""
    forbidden = {chosen: others for _, chosen, others in GLOSSARY}
    for chosen, said in (("запуск", "этого прогона"), ("кэш", "из кеша"), ("вердикт", "без вывода")):
        assert re.search(forbidden[chosen], said)
