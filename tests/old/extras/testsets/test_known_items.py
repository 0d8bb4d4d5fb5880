"""Known items are made of a passage's own words, as often as those come to mind, and every page says what they are."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ragbench.old import data, tiers, views
from ragbench.old.core import settings, stand_ins
from ragbench.old.core.language import translator
from ragbench.old.core.types import Verdict
from ragbench.old.data.files import DatasetError
from ragbench.old.data.records import KNOWN_ITEM, ChunkRecord
from ragbench.old.extras.testsets.known_items import Recall, draft
from ragbench.old.tiers.basics import withholding
from tests.old.cli.command_line import invoke
from tests.old.data.test_documents import folder as folder
from tests.old.small_project import CHUNKS, add, write_lines

BASE = [
    ChunkRecord(id="a", text="the the the grant grant deadline"),
    ChunkRecord(id="b", text="the warden hands out the key"),
    ChunkRecord(id="c", text="the canteen serves the soup of the day"),
]


def test_a_question_is_words_of_the_passage_that_it_is_labelled_with() -> None:
    made = draft(BASE, 60, Recall(noise=0.0))
    texts = {one.id: set(one.text.split()) for one in BASE}
    assert Counter(next(iter(one.relevant)) for one in made) == {"a": 20, "b": 20, "c": 20}
    for one in made:
        words = one.text.split()
        assert set(words) <= texts[next(iter(one.relevant))]
        assert len(set(words)) == len(words) >= 2
        assert (one.kind, one.answerable, one.reference) == (KNOWN_ITEM, True, None)


def test_the_same_seed_gives_the_same_questions_and_another_one_others() -> None:
    assert draft(BASE, 20, seed=3) == draft(BASE[::-1], 20, seed=3)
    assert [one.text for one in draft(BASE, 20, seed=3)] != [one.text for one in draft(BASE, 20, seed=4)]
    assert not {one.id for one in draft(BASE, 5, seed=3)} & {one.id for one in draft(BASE, 5, seed=4)}


@pytest.mark.parametrize(
    ("memory", "expected"),
    [
        # passage a has the ×3, grant ×2, deadline ×1; the base has 18 words, the ×8 of them
        ("popular", {"the": 3 / 6, "grant": 2 / 6, "deadline": 1 / 6}),
        ("discriminative", {"the": (18 / 8) / (18 / 8 + 9 + 18), "grant": 9 / 29.25, "deadline": 18 / 29.25}),
        ("both", {"the": 0.0, "grant": 2 / 3, "deadline": 1 / 3}),
    ],
)
def test_which_word_comes_to_mind_first(memory: str, expected: dict[str, float]) -> None:
    """By hand, after section 3 of the paper; `both` gives nothing to a word that every passage has."""
    made = draft([*BASE], 2_000, Recall(words=1, memory=memory, noise=0.0))  # type: ignore[arg-type]
    first = Counter(one.text.split()[0] for one in made if "a" in one.relevant)
    for word, share in expected.items():
        assert first[word] / first.total() == pytest.approx(share, abs=0.05)


def test_noise_draws_words_from_the_whole_base() -> None:
    made = draft(BASE, 3000, Recall(noise=0.5))
    own = {one.id: set(one.text.split()) for one in BASE}
    strange = [word not in own[next(iter(one.relevant))] for one in made for word in one.text.split()]
    words = Counter(word for one in BASE for word in one.text.split())
    alien = {
        one.id: sum(count for word, count in words.items() if word not in own[one.id]) / words.total() for one in BASE
    }
    assert np.mean(strange) == pytest.approx(0.5 * np.mean(list(alien.values())), abs=0.04)


def test_questions_to_one_passage_are_a_cluster() -> None:
    """Many questions to few passages are not as many observations."""
    assert [one.cluster for one in draft(BASE, 3)] == [None] * 3
    assert all([one.cluster] == [*one.relevant] for one in draft(BASE, 4))


def test_questions_are_as_long_as_asked() -> None:
    long = ChunkRecord(id="long", text=" ".join(f"{a}{b}{c}" for a in "abcdefgh" for b in "klmno" for c in "pqrstu"))
    lengths = [len(one.text.split()) for one in draft([long], 2000, Recall(words=8, noise=0.0))]
    assert np.mean(lengths) == pytest.approx(8, abs=0.3)
    assert min(lengths) >= 2


@pytest.mark.parametrize(
    ("wrong", "said"),
    [({"words": 0.0}, "--words 0"), ({"noise": 1.5}, "--noise 1.5: from 0 to 1")],
)
def test_a_recall_that_cannot_be_is_refused(wrong: dict[str, float], said: str) -> None:
    with pytest.raises(DatasetError, match=said):
        Recall(**wrong)  # type: ignore[arg-type]


def test_no_questions_come_of_a_base_without_words() -> None:
    assert draft([ChunkRecord(id="n", text="12 34 56")], 3) == []
    with pytest.raises(DatasetError, match="--questions 0"):
        draft(BASE, 0)


def test_every_reader_is_told_that_nobody_asked_them() -> None:
    found = stand_ins.of({"known_items": 120})
    assert [one.fact for one in found] == [{"part": "questions", "name": "120", "systems": []}]
    assert stand_ins.of({"stand_ins": [one.fact for one in found]}) == found
    assert "120 questions are known items" in stand_ins.caveat(found, translator("en"))
    assert "120" in stand_ins.caveat(found, translator("ru"))
    assert stand_ins.caveat(found, translator("ru")) != stand_ins.caveat(found, translator("en"))


QUICK: dict[str, Any] = {
    "systems": "bm25,ngrams,okapi", "metrics": "mrr", "repeats": 1, "timed_questions": 0, "ef_searches": [],
}  # fmt: skip


def test_near_copies_are_left_out_counted_and_named(project: Path) -> None:
    """A question to one of several copies would be a miss wherever another of them is found."""
    text = "The library opens at nine and closes at eight on weekdays, and lends books for fourteen days. Version {n}."
    rows = [{"id": f"a{n}", "text": text.format(n=n)} for n in range(3)]
    rows.append({"id": "b", "text": "The canteen sells lunch for two hundred roubles between noon and three."})
    folder = project / "data" / "copied"
    folder.mkdir()
    (folder / "dataset.toml").write_text('title = "C"\nlicence = "CC0"\nlanguages = ["en"]\n', encoding="utf-8")
    write_lines(folder / "chunks.en.jsonl", rows)
    write_lines(folder / "questions.en.jsonl", [{"id": "q", "text": "When?"}])
    done = invoke("draft", "copied", "--questions", "6")
    assert "2 passages left out, near copies of others: a1 of a0; a2 of a0" in " ".join(done.output.split())
    asked = [json.loads(line) for line in (folder / "questions.en.jsonl").read_text(encoding="utf-8").splitlines()]
    assert Counter(next(iter(row["relevant"])) for row in asked if row["id"] != "q") == {"a0": 3, "b": 3}


def test_passages_that_are_all_alike_get_few_questions_and_those_without_words_a_way_on(project: Path) -> None:
    text = "Employees wear the badge at all times, and visitors report to the reception. Notice {n}."
    for name, rows in {
        "alike": [{"id": f"a{n}", "text": text.format(n=n)} for n in range(4)],
        "short": [{"id": "s1", "text": "Hello."}, {"id": "s2", "text": "12 34"}],
    }.items():
        folder = project / "data" / name
        folder.mkdir()
        (folder / "dataset.toml").write_text('title = "A"\nlicence = "CC0"\nlanguages = ["en"]\n', encoding="utf-8")
        write_lines(folder / "chunks.en.jsonl", rows)
    said = " ".join(invoke("draft", "alike").output.split())
    assert "10 questions instead of 120: more than 10 to a passage tell nothing new" in said
    assert "10 known-item questions to 1 passage are in alike" in said
    refused = str(invoke("draft", "short").exception)
    assert "none of 2 passages has words that tell it from the others" in refused
    assert "ragbench run dataset --dataset short needs no questions" in refused


SYSTEMS = """
[retrievers.words]
kind = "bm25"
[retrievers.meaning]
kind = "dense"
embedder = "model"
[retrievers.both]
kind = "hybrid"
retrievers = ["words", "meaning"]
[embedders.model]
kind = "minilm"
[systems.bm25]
retriever = "bm25"
[systems.okapi]
retriever = "words"
[systems.dense]
embedder = "model"
[systems.other]
retriever = "meaning"
[systems.hybrid]
retriever = "both"
"""


def test_systems_that_match_by_different_things_get_no_verdict_from_known_items(project: Path) -> None:
    add(project, SYSTEMS)
    names = ("bm25", "okapi", "dense", "other", "hybrid", "ngrams", "good")
    ways = withholding.matching(settings.load(), names)
    assert ways == {"bm25": "words", "okapi": "words", "dense": "vectors", "other": "vectors",
                    "hybrid": "vectors+words", "ngrams": "letters", "good": ""}  # fmt: skip
    facts = {"known_items": 120, withholding.MATCHING: ways}
    withheld = {(a, b) for a in names for b in names if a < b and withholding.why(facts, [a, b], "mrr")}
    assert {pair for pair in ((a, b) for a in names for b in names if a < b) if pair not in withheld} == {
        ("bm25", "okapi"), ("dense", "other")
    }  # fmt: skip
    assert withholding.why(facts, ["bm25", "dense"], "mrr").startswith("120 questions are words of the passages")
    assert withholding.why(facts, ["bm25", "dense"], "mrr", {"slice": "kind:known_item"})
    assert not withholding.why(facts, ["bm25", "dense"], "mrr", {"slice": "kind:plain"}), "these are people's"
    assert not withholding.why(facts, ["bm25", "dense"], "faithfulness"), "it reads no ranking"
    assert not withholding.why(facts, ["bm25"], "mrr"), "a number of one system stays"
    assert not withholding.why({withholding.MATCHING: {}}, ["bm25", "dense"], "mrr")


def test_a_page_on_known_items_says_why_it_has_no_verdict(project: Path) -> None:
    add(project, SYSTEMS)
    texts = [f"The {word} of tower {n} is {n} metres high and old." for n in range(12) for word in ("roof", "gate")]
    write_lines(
        project / "data/small/chunks.en.jsonl",
        [{"id": name, "text": f"Text of {name}.", "url": url} for name, url in CHUNKS.items()]
        + [{"id": f"t{n}", "text": text} for n, text in enumerate(texts)],
    )
    assert invoke("draft", "small", "--questions", "60").exit_code == 0
    made = tiers.tier1_retrieval(**QUICK)
    told = {(each.metric, each.comparison.challenger): each.comparison for each in made.comparisons}
    against, alike = told["mrr@10", "ngrams"], told["mrr@10", "okapi"]
    assert against.verdict is Verdict.CANNOT_BE_TOLD
    assert against.withheld.startswith("60 questions are words of the passages that they look for")
    assert alike.withheld == ""
    shown = views.comparison.answer(views.Page(made, language="en")).words
    assert "known items" in shown
    assert "whether ngrams is better or worse than bm25 cannot be told: 60 questions are words" in shown


def test_the_command_writes_a_base_that_can_be_added_to_and_drafted_for(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ragbench.toml").write_text('[systems.ngrams]\nembedder = "hashing"\n', encoding="utf-8")

    def ran(*words: str, code: int = 0) -> str:
        done = invoke(*words)
        assert done.exit_code == code, done.output
        return done.output

    assert "nothing was written" in ran("load", "documents", "handbook", "--name", "kb", "--dry-run")
    assert not (tmp_path / "data").exists()
    said = ran("load", "documents", "handbook", "--name", "kb", "--size", "80", "-l", "en")
    assert "5 documents" in said
    assert "ragbench draft kb --questions 120" in said
    made = data.load("kb", tmp_path / "data")
    assert not made.questions
    assert {one.document for one in made.chunks} == {one.id for one in made.documents}
    assert "3 known-item questions are in kb" in ran("draft", "kb", "--questions", "3")
    (folder / "extra.md").write_text("One page more, on parking.", encoding="utf-8")
    again = ran("load", "documents", "handbook", "--name", "kb", "--size", "80", "--add")
    assert "5 of 6 documents have not changed" in again
    made = data.load("kb", tmp_path / "data")
    assert (len(made.documents), len(made.questions)) == (6, 3)
    named = {name for one in made.questions for name in one.relevant}
    changed = next(one.document for one in made.chunks if one.id in named)
    assert changed is not None
    (folder / changed).write_text("Another text altogether.", encoding="utf-8")
    refused = invoke("load", "documents", "handbook", "--name", "kb", "--size", "80", "--add")
    assert isinstance(refused.exception, DatasetError)
    assert "labelled with passages that have changed" in str(refused.exception)
    assert data.load("kb", tmp_path / "data") == made
