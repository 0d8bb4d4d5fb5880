"""Whether an answer says that there is none: a rule by words, in English and Russian.

An answer is a refusal when its first sentence says that the speaker does not know or cannot answer, or that the
knowledge base, the passages or the like hold nothing of what was asked. The rest of the answer does not count, and a
first sentence that only concedes it ("Although the text does not say …, it …") is none.
"""

from __future__ import annotations

import re
import unicodedata

from ragbench import segmentation
from ragbench.judge import words

REFUSALS = {
    "en": "The passages at hand do not answer this question.",
    "ru": "В найденных материалах нет ответа на этот вопрос.",
}
"""What the extractive generator says where nothing fits."""

_SOURCE = (
    r"\b(?:(?:knowledge )?base|contexts?|passages?|documents?|texts?|sources?|excerpts?|materials?|articles?"
    r"|(?:provided|given|available) information)\b"
)
_TELLS = (
    r"(?:say|mention|contain|give|provide|have|hold|include|specify|state|describe|answer|cover|address|discuss|indicate"
    r"|offer|explain|detail|list|name|show|tell|reveal)s?"
)
_NO = r"(?:do|does|did)(?: not|n['’]t)"
_KNOWLEDGE = r"(?:information|answers?|data|mention|details?|evidence|indication|references?|record)"
_ENGLISH = (
    rf"{_SOURCE}.{{0,60}}\b{_NO}\b.{{0,30}}\b{_TELLS}\b",
    rf"{_SOURCE}.{{0,30}}\b(?:has|have|{_TELLS})\b.{{0,15}}\b(?:no|nothing|neither)\b",
    rf"\b(?:no|not any|insufficient|not enough)\s+(?:\w+\s+){{0,2}}{_KNOWLEDGE}\b.{{0,60}}{_SOURCE}",
    rf"\b(?:nothing|there is no|there['’]s no|there are no)\b.{{0,40}}\b(?:in|from|by)\b.{{0,20}}{_SOURCE}",
    rf"\b(?:not|n['’]t)\b.{{0,20}}\b(?:mentioned|specified|stated|provided|given|described|contained|included|covered|"
    rf"found|available)\b.{{0,30}}\b(?:in|by)\b.{{0,20}}{_SOURCE}",
    r"\b(?:i|we)\b(?:['’](?:m|re)| am| are)?.{0,30}\b(?:(?:do|did|could|can|would)(?: not|n['’]t)|cannot|can not"
    r"|unable|not able|not sure|no)\b.{0,60}\b(?:know|have|confirm|advise|find|answer|provide|help|tell|locate"
    r"|determine|access|information|idea|see)\b",
    rf"\b(?:there is|there['’]s|there are|i have|i found|i see|we have) no\b.{{0,20}}\b{_KNOWLEDGE}\b",
    r"^(?:no|insufficient) (?:information|answer|data|details?)\b",
    r"\b(?:question|this) (?:cannot|can['’]t|can not) be answered\b",
    r"^(?:i['’]m |i am )?(?:very |so )?sorry\b",
    r"^(?:unanswerable|unknown|i don['’]t know|not enough information)\b",
)
_RUSSIAN_SOURCE = (
    r"\b(?:баз[аеуыо]\w*|контекст\w*|материал\w*|документ\w*|источник\w*|текст\w*|отрыв\w*|фрагмент\w*|справк\w*)\b"
)
_RUSSIAN_TOLD = (
    r"(?:сказан|указ|говор|упом|содерж|опис|найд|найт|привед|сообщ|представл|раскры|назван|освещ|объясн|отвеча|дает)\w*"
)
_RUSSIAN = (
    rf"{_RUSSIAN_SOURCE}.{{0,60}}\b(?:нет|ничего|отсутству\w+)\b",
    rf"{_RUSSIAN_SOURCE}.{{0,60}}\bне\s+{_RUSSIAN_TOLD}",
    rf"\bне\s+{_RUSSIAN_TOLD}.{{0,40}}{_RUSSIAN_SOURCE}",
    rf"\b(?:нет|отсутству\w+)\b.{{0,40}}\b(?:в|во|среди)\b.{{0,30}}{_RUSSIAN_SOURCE}",
    r"\b(?:нет|не наш\w+|не найден\w*|не удалось найти|недостаточно|отсутству\w+)\b.{0,30}"
    r"\b(?:информаци\w+|сведени\w+|данных|ответа?)\b",
    r"\b(?:информаци\w+|сведени\w+|данные|ответа?)\b.{0,40}\b(?:отсутству\w+|не наш\w+|не найден\w*|нет)\b",
    r"\b(?:не знаю|не знаем|не мо(?:гу|жем) (?:ответить|сказать|помочь|найти|предоставить|дать)|не располага\w+"
    r"|затрудня\w+)\b",
    r"^(?:извините|простите|к сожалению, не)\b",
    r"\bневозможно (?:ответить|определить|сказать|установить)\b",
)
_CONCEDES = re.compile(r"^(?:although|though|while|whereas|even if|хотя|несмотря на то)\b")
_PATTERNS = re.compile("|".join(f"(?:{pattern})" for pattern in (*_ENGLISH, *_RUSSIAN)))


def is_refusal(answer: str) -> bool:
    """Whether the answer's first sentence says that there is no answer; see the module for the rule."""
    plain = unicodedata.normalize("NFC", answer).strip()
    first = (segmentation.sentences(plain) or [plain])[0]
    folded = words.fold(first)
    return not _CONCEDES.match(folded) and bool(_PATTERNS.search(folded))
