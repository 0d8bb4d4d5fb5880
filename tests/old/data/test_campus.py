"""The sample data set keeps its promises: counts, parallel languages, references that resolve, text that is text."""

from __future__ import annotations

import json
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest

CAMPUS = Path(__file__).parents[3] / "data" / "campus"
LANGUAGES = ("ru", "en")
TABLES = ("chunks", "questions", "dialogues", "decisions", "history", "ratings")
CYRILLIC = re.compile(r"[\u0400-\u04ff]")
HOST = "https://help.campus.example/"
ADDRESS = re.compile(r"[\w-]+(?:\.[\w-]+)*\.(?:example|com|ru|org|net|edu)\b")
FIELDS = {
    "chunks": {"id", "url", "title", "section", "text"},
    "questions": {"id", "text", "kind", "reference", "relevant", "answerable", "cluster", "source"},
    "dialogues": {"id", "turns"},
    "decisions": {"id", "question", "answer", "context", "show", "rationale"},
    "history": {"id", "question", "answer", "url", "score", "user", "asked_at"},
    "ratings": {"id", "question_id", "answer", "context", "ratings"},
}
# what may differ between the two languages of a row; everything else is one and the same
TRANSLATED = {"title", "section", "text", "reference", "question", "answer", "rationale"}
Row = dict[str, Any]


def table(name: str, language: str) -> list[Row]:
    text = (CAMPUS / f"{name}.{language}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def strings(value: Any) -> Iterator[str]:
    """Every string inside, except keys: those are names of the format or ids."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def untranslated(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: untranslated(inner) for key, inner in value.items() if key not in TRANSLATED}
    return [untranslated(inner) for inner in value] if isinstance(value, list) else value


def prose(row: Row) -> Iterator[str]:
    """The texts of a row that are written in its language."""
    for key, value in row.items():
        if key in TRANSLATED and isinstance(value, str):
            yield value
        elif key == "turns":
            for turn in value:
                yield from prose(turn)


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=TABLES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def chunk_ids() -> set[str]:
    return {chunk["id"] for chunk in table("chunks", "ru")}


def test_description_names_the_licence_the_languages_and_that_all_is_invented() -> None:
    described = tomllib.loads((CAMPUS / "dataset.toml").read_text(encoding="utf-8"))
    readme = (CAMPUS / "README.md").read_text(encoding="utf-8")
    assert described["licence"] == "CC-BY-4.0"
    assert described["languages"] == list(LANGUAGES)
    assert set(described["title"]) == set(described["description"]) == set(LANGUAGES)
    assert "CC BY 4.0" in readme
    assert re.search(r"annotators\W+are invented", readme)
    assert CYRILLIC.search(readme)


def test_readme_states_the_counts_that_the_files_have() -> None:
    readme = (CAMPUS / "README.md").read_text(encoding="utf-8")
    stated = dict(re.findall(r"^\| `(\w+)\.<lang>\.jsonl` \| (\d+) ", readme, flags=re.MULTILINE))
    assert {table_name: int(n) for table_name, n in stated.items()} == {t: len(table(t, "ru")) for t in TABLES}


def test_files_are_plain_lines_of_normalised_text(name: str, language: str) -> None:
    raw = (CAMPUS / f"{name}.{language}.jsonl").read_bytes()
    text = raw.decode("utf-8")
    assert raw.endswith(b"\n")
    assert b"\r" not in raw
    assert not raw.startswith(b"\xef\xbb\xbf")
    assert unicodedata.is_normalized("NFC", text)
    for row in table(name, language):
        assert set(row) == FIELDS[name], row["id"]
        for string in strings(row):
            assert not any(unicodedata.category(sign) in {"Cc", "Cf", "Co", "Cn"} for sign in string), row["id"]
            assert string == string.strip(), row["id"]
            assert "  " not in string, row["id"]


def test_each_language_is_written_in_its_own_script(name: str, language: str) -> None:
    for row in table(name, language):
        texts = [text for text in prose(row) if text]
        assert bool(CYRILLIC.search(" ".join(texts))) == (language == "ru"), row["id"]
        if language == "en":
            assert not any(CYRILLIC.search(text) for text in strings(row)), row["id"]


def test_the_two_languages_differ_in_their_words_only(name: str) -> None:
    russian, english = table(name, "ru"), table(name, "en")
    assert untranslated(russian) == untranslated(english)
    assert all((a.get("answer") == "") == (b.get("answer") == "") for a, b in zip(russian, english, strict=True))


def test_numbers_survive_the_translation_of_chunks() -> None:
    """Amounts, rooms and dates are the same figures in both languages (English writes thousands with a comma)."""

    def figures(text: str) -> Counter[str]:
        joined = re.sub(r"(?<=\d)[ ,\u00a0](?=\d{3}\b)", "", text)
        return Counter(n.lstrip("0") or "0" for n in re.findall(r"\d+", joined))

    for russian, english in zip(table("chunks", "ru"), table("chunks", "en"), strict=True):
        few = (figures(russian["text"]) - figures(english["text"])) + (
            figures(english["text"]) - figures(russian["text"])
        )
        assert not few, (russian["id"], few)


def test_ids_and_texts_are_unique(name: str, language: str) -> None:
    rows = table(name, language)
    assert max(Counter(row["id"] for row in rows).values()) == 1
    key = {"chunks": "text", "questions": "text", "history": "question", "ratings": "question_id"}.get(name)
    texts = [row[key] for row in rows] if key else [json.dumps(untranslated(row) | row) for row in rows]
    assert [text for text, n in Counter(texts).items() if n > 1] == []


def test_no_address_outside_the_invented_domain(name: str, language: str) -> None:
    for row in table(name, language):
        for text in strings(row):
            assert all(found.endswith("campus.example") for found in ADDRESS.findall(text)), row["id"]


def test_chunks_are_passages_of_many_pages(language: str) -> None:
    chunks = table("chunks", language)
    assert len(chunks) >= 84
    assert len({chunk["url"] for chunk in chunks}) >= 44
    assert all(chunk["url"].startswith(HOST) for chunk in chunks)
    assert all(40 <= len(chunk["text"].split()) <= 130 for chunk in chunks)
    titles = {(chunk["url"], chunk["title"]) for chunk in chunks}
    assert len(titles) == len({url for url, _ in titles}), "a page has one title"
    assert len({(chunk["url"], chunk["section"]) for chunk in chunks}) == len(chunks), "a section is named once a page"


def test_questions_come_in_the_promised_kinds(language: str) -> None:
    kinds = Counter(question["kind"] for question in table("questions", language))
    assert set(kinds) == {"well_formed", "colloquial", "misspelt", "unanswerable"}
    assert 150 <= kinds.total() <= 165
    assert kinds["well_formed"] >= 50
    assert kinds["colloquial"] >= 40
    assert kinds["misspelt"] >= 32
    assert kinds["unanswerable"] >= 28


def test_labels_of_questions_agree_with_each_other(language: str, chunk_ids: set[str]) -> None:
    for question in table("questions", language):
        grades = question["relevant"]
        assert set(grades) <= chunk_ids, question["id"]
        assert set(grades.values()) <= {1, 2, 3}, question["id"]
        assert question["answerable"] is (question["kind"] != "unanswerable"), question["id"]
        assert (3 in grades.values()) is question["answerable"], question["id"]
        assert bool(grades) is question["answerable"], question["id"]
        assert question["reference"], question["id"]
        assert question["source"] == "written"


def test_relevance_is_graded_for_many_questions() -> None:
    graded = [q["id"] for q in table("questions", "ru") if len(set(q["relevant"].values())) > 1]
    assert len(graded) >= 45


def test_paraphrases_share_need_and_answer(language: str) -> None:
    groups: dict[str, list[Row]] = {}
    for question in table("questions", language):
        groups.setdefault(question["cluster"], []).append(question)
    sizes = Counter(len(group) for group in groups.values())
    assert sum(n for size, n in sizes.items() if size >= 2) >= 38
    assert max(sizes) <= 4
    for cluster, group in groups.items():
        assert len({json.dumps([q["relevant"], q["reference"], q["answerable"]]) for q in group}) == 1, cluster


def test_figures_of_a_reference_stand_in_its_relevant_chunks(language: str) -> None:
    chunks = {chunk["id"]: chunk["text"] for chunk in table("chunks", language)}
    for question in table("questions", language):
        if question["answerable"]:
            known = set(re.findall(r"\d+", " ".join(chunks[key] for key in question["relevant"])))
            assert set(re.findall(r"\d+", question["reference"])) <= known, question["id"]


def test_misspelt_questions_are_misspelt(language: str) -> None:
    """Most of them hold a word that no chunk and no well-formed question has."""
    rows = table("questions", language)
    clean = [chunk["text"] for chunk in table("chunks", language)]
    clean += [q["text"] for q in rows if q["kind"] == "well_formed"]
    known = set(re.findall(r"\w+", " ".join(clean).lower()))
    misspelt = [q["text"] for q in rows if q["kind"] == "misspelt"]
    strange = [sum(word not in known for word in re.findall(r"\w+", text.lower())) for text in misspelt]
    assert sum(n >= 1 for n in strange) == len(misspelt)


def test_dialogues_follow_up(language: str, chunk_ids: set[str]) -> None:
    dialogues = table("dialogues", language)
    assert len(dialogues) == 15
    assert {len(d["turns"]) for d in dialogues} == {2, 3, 4, 5, 6}
    for dialogue in dialogues:
        for turn in dialogue["turns"]:
            assert set(turn) == {"question", "answer", "relevant"}
            assert turn["question"], dialogue["id"]
            assert turn["answer"], dialogue["id"]
            assert set(turn["relevant"]) <= chunk_ids
            assert not turn["relevant"] or max(turn["relevant"].values()) == 3, dialogue["id"]
    assert any(not turn["relevant"] for d in dialogues for turn in d["turns"]), "one turn has no answer in the base"


def test_decisions_have_both_labels_in_fair_numbers(language: str, chunk_ids: set[str]) -> None:
    decisions = table("decisions", language)
    labels = Counter(decision["show"] for decision in decisions)
    assert labels.total() == 120
    assert set(labels) == {True, False}
    assert all(55 <= n <= 65 for n in labels.values())
    for decision in decisions:
        assert decision["rationale"], decision["id"]
        assert decision["context"], decision["id"]
        assert set(decision["context"]) <= chunk_ids
        assert decision["answer"] or decision["show"] is False, "an empty answer is never shown"
    assert any(not decision["answer"] for decision in decisions)
    shown = {decision["question"] for decision in decisions if decision["show"]}
    held = {decision["question"] for decision in decisions if not decision["show"]}
    assert len(shown & held) >= 50, "the question alone must not tell the label"


def test_figures_of_a_shown_answer_stand_in_its_context(language: str) -> None:
    chunks = {chunk["id"]: chunk["text"] for chunk in table("chunks", language)}
    for decision in table("decisions", language):
        if decision["show"]:
            known = set(re.findall(r"\d+", " ".join(chunks[key] for key in decision["context"])))
            assert set(re.findall(r"\d+", decision["answer"])) <= known, decision["id"]


def test_history_is_a_log_of_scored_questions(language: str) -> None:
    history = table("history", language)
    urls = {chunk["url"] for chunk in table("chunks", language)}
    scores = Counter(entry["score"] for entry in history)
    assert len(history) >= 90
    assert set(scores) == {1, 5}
    assert 0.6 <= scores[5] / len(history) <= 0.73
    assert {entry["url"] for entry in history} <= urls | {None}
    assert 2 <= sum(entry["url"] is None for entry in history) <= 6
    assert all(re.fullmatch(r"u\d{3}", entry["user"]) for entry in history)
    dates = [date.fromisoformat(entry["asked_at"]) for entry in history]
    assert dates == sorted(dates)
    assert len({entry["user"] for entry in history}) >= 10


def test_history_holds_near_copies_with_another_need(language: str) -> None:
    """Some pairs share nearly all words, yet only one of the two got a right answer: a cache must not mix them up."""
    words = [(set(re.findall(r"\w+", e["question"].lower())), e["score"]) for e in table("history", language)]
    traps = [
        len(one & other) / len(one | other)
        for i, (one, score) in enumerate(words)
        for other, other_score in words[i + 1 :]
        if score != other_score
    ]
    assert sum(overlap >= 0.6 for overlap in traps) >= 8


def test_annotators_mostly_agree_and_sometimes_do_not(language: str, chunk_ids: set[str]) -> None:
    ratings = table("ratings", language)
    questions = {question["id"] for question in table("questions", language)}
    assert len(ratings) == 60
    pairs = []
    for rating in ratings:
        assert rating["question_id"] in questions
        assert rating["answer"], rating["id"]
        assert rating["context"], rating["id"]
        assert set(rating["context"]) <= chunk_ids
        assert set(rating["ratings"]) == {"annotator_a", "annotator_b"}
        assert set(rating["ratings"].values()) <= {1, 2, 3, 4, 5, None}
        pairs.append(tuple(rating["ratings"].values()))
    both = [abs(a - b) for a, b in pairs if a is not None and b is not None]
    assert 2 <= len(pairs) - len(both) <= 4
    gaps = Counter(both)
    assert gaps[0] > gaps[1] >= 10
    assert 2 <= sum(n for gap, n in gaps.items() if gap >= 2) <= 8
    assert {a for a, _ in pairs} >= {1, 2, 3, 4, 5}
