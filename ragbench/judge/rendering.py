"""Prompts with their texts inside: every slot filled, nothing in a text able to pass for the prompt."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import lru_cache

from ragbench.judge import instructions
from ragbench.judge.instructions import Mode
from ragbench.types import SLOT, Prompt

Texts = Mapping[str, "str | Sequence[str]"]
_KEY = b"ragbench: what a judge is shown"
_FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\u200b\u2060\ufeff\u202a-\u202e\u2066-\u2069]")

_CANARIES = {
    "ignore instructions": re.compile(
        r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instruction|prompt|rule|above|previous|prior)"
        r"|(?:игнорир|забуд|не\s+обращай|отмени)\w*.{0,40}(?:инструкц|указани|правил|предыдущ|выше)",
        re.IGNORECASE | re.DOTALL,
    ),
    "asks for a verdict": re.compile(
        r"\b(?:give|assign|return|output|respond|answer|rate|score|mark)\b.{0,40}"
        r"\b(?:maximum|highest|full|perfect|top|only|5/5|10/10|score|verdict|supported)\b.{0,30}"
        r"\b(?:score|rating|marks?|points?|verdict|grade|json|[1-9]0?)\b"
        r"|(?:постав|выстав|верни|выведи|присвой|оцени)\w*.{0,40}(?:максимальн|высш|балл|оценк|вердикт)",
        re.IGNORECASE | re.DOTALL,
    ),
    "addresses the judge": re.compile(
        r"\b(?:you are (?:now )?(?:an? |the )?(?:judge|evaluator|grader|assistant|ai)\b|dear (?:judge|evaluator|grader)"
        r"|as (?:the|an) (?:judge|evaluator|grader)|note to (?:the )?(?:judge|evaluator|grader))"
        r"|(?:вы|ты)\s*[—–-]?\s*(?:теперь\s+)?(?:судья|оценщик|ассистент)|уважаем\w+\s+(?:судья|оценщик)|(?:для|внимание)\s+судь",
        re.IGNORECASE,
    ),
    "plays a role": re.compile(
        r"(?:^|\n)\s*(?:#+\s*)?(?:system|assistant|user|developer|система|ассистент|пользователь)\s*:|<\|?(?:im_start|im_end|"
        r"system|assistant|endoftext|eot_id|start_header_id)\|?>|\[/?INST\]|<<SYS>>",
        re.IGNORECASE,
    ),
    "closes the text": re.compile(
        r"</?\s*text-[0-9a-f]{4,}|</?\s*(?:text|context|answer|response|document)\s*>", re.IGNORECASE
    ),
    "writes a verdict": re.compile(
        r"[\"'](?:score|rating|verdict|supported|faithful|answer|level|оценка|вердикт)[\"']\s*:", re.IGNORECASE
    ),
}


def render(prompt: Prompt, texts: Texts, language: str, mode: Mode) -> tuple[tuple[str, str], ...]:
    """The messages (role, text) that put the prompt with these texts.

    One pass fills the template, so braces in texts mean nothing. The marks around each text carry a hash of all the
    texts, so equal questions are equal messages, and no text can contain its own end: it would have to contain its
    own hash.
    Raises ValueError for slots that are missing or unknown, and for texts that are not strings.
    """
    if wrong := prompt.slots ^ set(texts):
        raise ValueError(
            f"prompt {prompt.name}: the slots are {sorted(prompt.slots)}; missing or unknown: {sorted(wrong)}"
        )
    clean = {name: _clean(prompt.name, name, text) for name, text in sorted(texts.items())}
    tag = _tag(clean)
    task = SLOT.sub(lambda slot: _delimited(slot[1], clean[slot[1]], tag), prompt.texts[language])
    rules = f"{instructions.RULES[language].format(tag=tag)}\n\n{instructions.MODES[mode][language]}"
    return (("system", rules), ("user", task))


def suspected_injections(texts: Texts) -> tuple[str, ...]:
    """ "slot: pattern" for each text that seems written to move a judge, in the order of slots; a flag, not a proof."""
    found = []
    for name, text in sorted(texts.items()):
        parts = (text,) if isinstance(text, str) else tuple(text)
        patterns = dict.fromkeys(pattern for part in parts for pattern in _canaries_in(part))
        found += [f"{name}: {pattern}" for pattern in patterns]
    return tuple(found)


@lru_cache(maxsize=4096)
def _canaries_in(text: str) -> tuple[str, ...]:
    """Patterns in one text; kept, because many questions share their contexts."""
    plain = _FORBIDDEN.sub("", unicodedata.normalize("NFKC", text))
    found = [pattern for pattern, canary in _CANARIES.items() if canary.search(plain)]
    return (*found, "hidden characters") if _FORBIDDEN.search(text) else tuple(found)


def _clean(prompt: str, name: str, text: str | Sequence[str]) -> str | tuple[str, ...]:
    if isinstance(text, str):
        return _FORBIDDEN.sub("", unicodedata.normalize("NFC", text.replace("\r\n", "\n").replace("\r", "\n")))
    if not isinstance(text, Sequence) or not all(isinstance(part, str) for part in text):
        raise ValueError(f"prompt {prompt}: the slot {name} takes a text or a sequence of texts, not {text!r:.80}")
    return tuple(str(_clean(prompt, name, part)) for part in text)


def _tag(clean: Mapping[str, str | tuple[str, ...]]) -> str:
    whole = json.dumps(clean, ensure_ascii=False)
    return hashlib.blake2b(whole.encode(), key=_KEY, digest_size=12).hexdigest()


def _delimited(name: str, text: str | tuple[str, ...], tag: str) -> str:
    if isinstance(text, str):
        return f'<text-{tag} name="{name}">\n{text}\n</text-{tag}>'
    marked = (
        f'<text-{tag} name="{name}" number="{number}">\n{part}\n</text-{tag}>' for number, part in enumerate(text, 1)
    )
    return "\n".join(marked) or f'<text-{tag} name="{name}">\n</text-{tag}>'
