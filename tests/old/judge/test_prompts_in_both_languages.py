"""Every prompt says the same in English and in Russian as far as its structure tells, and so do judges' numbers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import ragbench.old as rb
from ragbench.old.core.metric import parse
from ragbench.old.core.types import SLOT, Prompt
from ragbench.old.judge.pairwise import PAIRWISE
from ragbench.old.metrics import catalogue
from tests.old.llm.chat_server import ChatServer, asked_schema
from tests.old.tiers.polite_answers import kept_nowhere

LABELS = ("rubrics_score", "simple_criteria", 'aspect_critique(aspect="Is it polite?")')
PROMPTS: dict[str, Prompt[Any]] = {
    each.name: each
    for metric in [*catalogue().values(), *map(parse, LABELS)]
    if not metric.is_users
    for each in metric.prompts
} | {PAIRWISE.name: PAIRWISE}
EXAMPLE = {"en": re.compile(r"^Example[^\n]*", re.MULTILINE), "ru": re.compile(r"^Пример[^\n]*", re.MULTILINE)}
CYRILLIC = re.compile(r"[А-Яа-яЁё]")
SCRIPTED = ("faithfulness", "response_groundedness", "context_precision")


def structure(prompt: Prompt[Any], language: str) -> dict[str, Any]:
    """What has to be equal in both languages."""
    text = prompt.texts[language]
    examples = [text[found.start() :].split("\n\n")[0] for found in EXAMPLE[language].finditer(text)]
    return {
        "slots in order": SLOT.findall(text),
        "bullets": len(re.findall(r"^- ", text, re.MULTILINE)),
        "levels": re.findall(r"^- (\d+):", text, re.MULTILINE),
        "words of the reply": re.findall(r'^- "([a-zA-Z_]+)"', text, re.MULTILINE),
        "paragraphs": len(re.split(r"\n\s*\n", text.strip())),
        "examples": len(examples),
        "what examples give": [one.count("·") for one in examples],
        "numbers of examples": [sorted(set(re.findall(r"\d+", one))) for one in examples],
    }


def test_there_are_as_many_as_the_metrics_ask_with() -> None:
    assert len(PROMPTS) >= 20
    assert {"claims", "entailment", "context_precision", "response_groundedness"} <= set(PROMPTS)


@pytest.mark.parametrize("name", sorted(PROMPTS))
def test_both_languages_are_built_alike(name: str) -> None:
    assert set(PROMPTS[name].texts) == {"en", "ru"}
    assert structure(PROMPTS[name], "ru") == structure(PROMPTS[name], "en")


@pytest.mark.parametrize("name", sorted(PROMPTS))
def test_each_is_written_in_its_language(name: str) -> None:
    """No Cyrillic in English; in Russian Latin letters in words of the reply and of slots alone."""
    texts = PROMPTS[name].texts
    assert not CYRILLIC.search(texts["en"])
    rest = re.sub(r'"[^"\n]*"|\{[a-z_0-9]+\}', "", texts["ru"])
    assert set(re.findall("[A-Za-z]+", rest)) <= {"A", "B", "Tie"}


MIRROR = str.maketrans(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "абцдефгхийклмнопярстувшчызАБЦДЕФГХИЙКЛМНОПЯРСТУВШЧЫЗ",
)
ROWS = [
    {"id": "a", "user_input": "Where does the library stand?",
     "response": "The library stands in Green Street. It has nine rooms.",
     "reference": "The library stands in Green Street.",
     "retrieved_contexts": ["The library stands in Green Street.", "Dogs bark."]},
    {"id": "b", "user_input": "When does the canteen open?", "response": "The canteen opens at eight.",
     "reference": "The canteen opens at nine on Monday.",
     "retrieved_contexts": ["The canteen opens at nine on Monday."]},
]  # fmt: skip
JUDGED = ("faithfulness", "factual_correctness", "context_recall", "context_precision", "response_groundedness",
          "noise_sensitivity", "faithfulness_rating", "answer_accuracy")  # fmt: skip


def mirrored(value: Any) -> Any:
    """The same in Cyrillic letters, one for each Latin one: what is alike stays as alike."""
    if isinstance(value, list):
        return [mirrored(one) for one in value]
    return value.translate(MIRROR)


def russian() -> list[dict[str, Any]]:
    return [{name: one if name == "id" else mirrored(one) for name, one in row.items()} for row in ROWS]


@pytest.mark.parametrize("metric", JUDGED)
def test_the_offline_judge_scores_mirrored_texts_alike(metric: str) -> None:
    english = rb.score(ROWS, metric, "lexical", language="en")
    mirror = rb.score(russian(), metric, "lexical", language="ru")
    assert mirror[metric] == pytest.approx(english[metric], nan_ok=True)


def reply(body: dict[str, Any]) -> dict[str, Any]:
    """By the shape alone: two claims, of which the first is supported; the first word of every list of words."""
    schema = asked_schema(body) or {}
    return filled(schema, schema)


def filled(node: dict[str, Any], root: dict[str, Any], place: int = 0) -> Any:
    if "$ref" in node:
        return filled(root["$defs"][node["$ref"].rsplit("/", 1)[1]], root, place)
    if "enum" in node:
        return node["enum"][min(place, len(node["enum"]) - 1)]
    if "anyOf" in node:
        return filled(node["anyOf"][0], root, place)
    kind = node.get("type")
    if kind == "object":
        return {
            name: place + 1 if name == "statement" and part.get("type") == "integer" else filled(part, root, place)
            for name, part in node["properties"].items()
        }
    if kind == "array":
        return [filled(node["items"], root, number) for number in range(2)]
    return {"integer": node.get("minimum", 1), "number": 0.5, "boolean": True}.get(str(kind), f"text {place}")


def test_a_scripted_model_is_asked_in_both_and_scores_alike(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept_nowhere(monkeypatch)
    with ChatServer(answer=reply).running() as server:
        judge: Any = rb.judge(model="some", base_url=server.url, name="m")
        found: dict[str, Any] = {}
        language: Any
        for language, rows in (("en", ROWS), ("ru", russian())):
            server.requests.clear()
            found[language] = rb.score(rows, list(SCRIPTED), judge, language=language)
            asked = [one.body["messages"][-1]["content"] for one in server.requests]
            assert asked
            assert all(bool(CYRILLIC.search(text)) == (language == "ru") for text in asked)
        for metric in SCRIPTED:
            assert found["ru"][metric] == found["en"][metric]
            assert all(value == value for value in found["en"][metric])
