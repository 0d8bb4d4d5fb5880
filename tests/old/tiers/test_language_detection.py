"""In which language texts are."""

from __future__ import annotations

import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier

import ragbench.old as rb
from ragbench.old.tiers.data import language_detection as read
from ragbench.old.tiers.data.language_detection import classified, detected_languages


@pytest.mark.parametrize(
    ("text", "expected", "told"),
    [
        ("Where can I renew my library card this week?", "en", "en"),
        ("Как мне продлить читательский билет в библиотеке?", "en", "ru"),
        ("Wie kann ich meinen Bibliotheksausweis verlängern?", "en", "de"),
        ("wen to sned teh form for exrta mony for reserch", "en", ""),
        ("What are malum prohibitum considerations?", "en", ""),
        ("Moodle", "ru", ""),
    ],
)
def test_a_language_is_told_where_there_is_enough_of_it(text: str, expected: str, told: str) -> None:
    assert detected_languages([text, text[:9]], expected) == [told, ""]


def test_many_texts_are_read_as_py3langid_reads_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read, "AT_ONCE", 40)
    texts = [passage.text[:length] for code in ("en", "ru") for length in (9, 100, 300)
             for passage in rb.load(f"campus:{code}").chunks[:20]]  # fmt: skip
    texts += [
        "",
        "7",
        "!!!",
        "\ud800",
        "ПРИВЕТ ВСЕМ",
        "Шта се дешава",
        "Što se događa",
        "今日は天気がいいです",
        "ą ę" * 99,
    ]
    own = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
    assert classified([]) == []
    for (code, sure), alone in zip(classified(texts), map(own.classify, texts), strict=True):
        assert (code, sure) == (alone[0], pytest.approx(alone[1], abs=1e-4))
