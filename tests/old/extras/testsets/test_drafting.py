"""Questions that a model drafts: of the kinds that were asked for, from passages all over the base, each checked."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragbench.old import data, tiers, views
from ragbench.old.core.types import SLOT
from ragbench.old.data.files import DatasetError
from ragbench.old.data.records import ChunkRecord
from ragbench.old.extras.testsets import candidates, drafting, kinds, prompts
from ragbench.old.views import Page
from tests.old.cli.command_line import invoke, one_line
from tests.old.extras.testsets import writer
from tests.old.judge.test_prompts_in_both_languages import structure
from tests.old.llm.chat_server import ChatServer

BASE = [ChunkRecord(id=name, text=text, url=f"/{name.partition('-')[0]}") for name, text in writer.PASSAGES.items()]


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with ChatServer(answer=writer.good).running() as running:
        yield running


def draft(*words: object, code: int = 0) -> str:
    done = invoke("draft", "kb", "--judge", "writer", *words)
    assert done.exit_code == code, (done.output, done.exception)
    return one_line(done.output)


def test_drafts_are_of_the_kinds_that_were_asked_for_and_marked(project: Path, server: ChatServer) -> None:
    writer.base(project, server)
    said = draft("--questions", "12", "--trust")
    assert "drafted questions are in kb, none of them reviewed" in said
    made = data.load("kb", project / "data")
    counts = Counter(question.kind for question in made.questions)
    assert counts == {"one_fact": 4, "several_passages": 2, "comparison": 1, "colloquial": 2, "misspelt": 1,
                      "unanswerable": 1}  # fmt: skip
    assert len(made.dialogues) == 1
    assert {q.draft for q in made.questions} | {d.draft for d in made.dialogues} == {"unreviewed"}
    texts = {chunk.id: chunk.text for chunk in made.chunks}
    for question in made.questions:
        assert question.answerable is (question.kind != "unanswerable")
        quoted = [texts[name][start:end] for name, spans in question.spans.items() for start, end in spans]
        assert all(len(quote.split()) > 3 for quote in quoted)
        assert len(question.relevant) == {"several_passages": 2, "comparison": 2, "unanswerable": 0}.get(
            str(question.kind), 1
        )
    pages = [{name.partition("-")[0] for name in question.relevant} for question in made.questions]
    assert len(set().union(*pages)) == len(writer.THINGS), "all pages are asked about"
    (compared,) = (own for question, own in zip(made.questions, pages, strict=True) if question.kind == "comparison")
    assert len(compared) == 2, "what is compared stands on different pages"


def test_it_goes_on_where_it_stopped_and_pays_nothing_twice(project: Path, server: ChatServer) -> None:
    writer.base(project, server)
    plan = draft("--questions", "12", "--limit", "4", "--plan", "--trust")
    assert server.calls == 0
    assert "No call was made" in plan
    draft("--questions", "12", "--limit", "4", "--trust")
    first = data.load("kb", project / "data")
    assert len(first.questions) + len(first.dialogues) == 4
    paid = server.calls
    draft("--questions", "12", "--limit", "4", "--dry-run")
    assert server.calls == paid
    draft("--questions", "12")
    whole = data.load("kb", project / "data")
    assert len(whole.questions) + len(whole.dialogues) == 12
    assert all(question in whole.questions for question in first.questions)
    paid = server.calls
    assert "12 questions of this draft are in the data set already" in draft("--questions", "12")
    assert server.calls == paid


def test_a_budget_stops_it_and_nothing_that_was_paid_is_lost(project: Path, server: ChatServer) -> None:
    writer.base(project, server)
    (project / "ragbench.toml").write_text((project / "ragbench.toml").read_text() + "[budget]\ncalls = 5\n")
    done = invoke("draft", "kb", "--judge", "writer", "--questions", "12", "--trust")
    assert done.exit_code != 0
    assert "budget" in str(done.exception).lower()
    assert server.calls <= 5
    assert not (project / "data/kb/questions.en.jsonl").exists()
    spent = server.calls
    (project / "ragbench.toml").write_text((project / "ragbench.toml").read_text().replace("calls = 5", "calls = 500"))
    draft("--questions", "12")
    requests = Counter(json.dumps(served.body["messages"]) for served in server.requests)
    assert max(requests.values()) == 1, "no question is asked twice"
    assert server.calls > spent


ALL = " ".join(writer.THINGS)
WRONG: dict[str, tuple[str, Any]] = {
    "quotes": ("quotes", lambda drafted: {**drafted, "quotes": [{"passage": 1, "text": "words that stand nowhere"}]}),
    "passage": ("quotes", lambda drafted: {**drafted, "quotes": [{"passage": 7, "text": "of the northern campus"}]}),
    "short": ("quotes", lambda drafted: {**drafted, "quotes": [{"passage": 1, "text": "the"}]}),
    "same": ("duplicate", lambda drafted: {**drafted, "question": f"What of {ALL}?"}),
    "language": ("language", lambda drafted: {**drafted, "question": "Сколько стоит вход в этот замечательный музей?"}),
    "copied": ("copied", lambda drafted: {**drafted, "question": f"{ALL} on every working day except in August"}),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_a_draft_drops_it(name: str, project: Path, server: ChatServer) -> None:
    expected, spoil = WRONG[name]

    def answer(body: dict[str, Any]) -> Any:
        drafted = writer.good(body)
        return spoil(drafted) if "quotes" in drafted else drafted

    server.answer = answer
    writer.base(project, server)
    code = 0 if name in ("same", "copied") else 4
    draft("--questions", "4", "--kinds", "one_fact", "--trust", code=code)
    kept = candidates.read(project / "data/kb", "en")
    dropped = Counter(str(candidate.dropped) for candidate in kept if candidate.dropped)
    assert dropped[expected]
    assert set(dropped) <= {expected, "duplicate"}, dropped
    assert max(candidate.attempt for candidate in kept) == drafting.ATTEMPTS - 1
    if code == 4:
        assert not (project / "data/kb/questions.en.jsonl").exists()
    if name == "same":
        assert len(data.load("kb", project / "data").questions) == 1


CHECKS: dict[str, tuple[str, str]] = {
    "draft_answered": ("from these passages alone", "not_answered"),
    "draft_alone": ("who has seen nothing else", "unclear"),
}


@pytest.mark.parametrize("name", CHECKS)
def test_a_check_that_fails_drops_it(name: str, project: Path, server: ChatServer) -> None:
    words, expected = CHECKS[name]
    server.answer = lambda body: writer.verdict(False) if words in body["messages"][1]["content"] else writer.good(body)
    writer.base(project, server)
    draft("--questions", "2", "--kinds", "one_fact", "--trust", code=4)
    assert {each.dropped for each in candidates.read(project / "data/kb", "en")} == {expected}


def test_a_question_that_the_model_knows_by_itself_is_dropped_and_one_it_gets_wrong_is_not(
    project: Path, server: ChatServer
) -> None:
    def answer(body: dict[str, Any]) -> Any:
        asked = body["messages"][1]["content"]
        if "what you know yourself" in asked:
            return {"answer": "library fee" if "library" in asked else "something else", "verdict": "yes"}
        if "Two answers to one question" in asked:
            return writer.verdict(writer.slots(body, "reference") == writer.slots(body, "answer"))
        return writer.good(body)

    server.answer = answer
    writer.base(project, server)
    draft("--questions", "12", "--kinds", "one_fact", "--trust")
    kept = candidates.read(project / "data/kb", "en")
    known = [candidate for candidate in kept if candidate.dropped == "known"]
    assert known
    assert {candidate.answer for candidate in known} == {"library fee"}
    answers = Counter(candidate.answer for candidate in kept if candidate.dropped is None)
    assert answers["library hours"]
    assert answers.total() >= 10


def test_an_unanswerable_question_is_held_against_the_whole_base(project: Path, server: ChatServer) -> None:
    def answer(body: dict[str, Any]) -> Any:
        if "from these passages alone" not in body["messages"][1]["content"]:
            return writer.good(body)
        told = any("Old Hermann" in text for text in writer.slots(body, "passages"))
        return writer.verdict(told and "gym" in writer.slots(body, "question")[0])

    server.answer = answer
    elsewhere = {"history-founder": "It was Old Hermann who founded the gym long ago, as all of us here know."}
    writer.base(project, server, {**writer.PASSAGES, **elsewhere})
    draft("--questions", "8", "--kinds", "unanswerable", "--trust")
    dropped = [each for each in candidates.read(project / "data/kb", "en") if each.dropped]
    assert {each.dropped for each in dropped} <= {"answered", "copied", "duplicate"}
    assert {each.question for each in dropped if each.dropped == "answered"} == {"Who founded the gym?"}


def test_the_page_of_the_data_set_tells_what_each_filter_dropped(project: Path, server: ChatServer) -> None:
    hostile = "<script>alert(1)</script> library canteen gym museum laboratory garden"
    server.answer = lambda body: (
        {**drafted, "question": hostile} if "quotes" in (drafted := writer.good(body)) and "fee" in str(drafted)
        else drafted
    )  # fmt: skip
    writer.base(project, server)
    draft("--questions", "12", "--kinds", "one_fact", "--trust")
    looked: dict[str, Any] = {"dataset": "kb"}
    made = tiers.dataset(**looked)
    rows = made.extra["drafts"]
    assert set(rows["dropped"]) >= {"", "duplicate"}
    shown = str(views.data.further(Page(made, language="en")).html())
    kept = len(data.load("kb", project / "data").questions)
    assert f"writer wrote {len(rows)} drafts. {kept} passed every filter. Of these 0 have been reviewed." in shown
    assert "asked before" in shown
    assert "<script>alert" not in shown
    assert "несколько" not in shown
    assert "Черновики вопросов" in str(views.data.further(Page(made, language="ru")).html())
    (project / "data/kb/drafts.en.jsonl").unlink()
    assert "Drafted" not in str(views.data.further(Page(tiers.dataset(**looked), language="en")).html())


def test_garbage_is_no_question(project: Path, server: ChatServer) -> None:
    server.answer = lambda body: "I would rather not."
    writer.base(project, server)
    draft("--questions", "2", "--trust", code=4)
    assert {each.dropped for each in candidates.read(project / "data/kb", "en")} == {"reply"}
    assert not (project / "data/kb/questions.en.jsonl").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--kinds", "one_fcat"), "--kinds 'one_fcat'"),
        (("--kinds", "one_fact=-1"), "a number above 0 is expected"),
        (("--styles", "rude"), "styles are plain, keywords, polite, novice, expert"),
        (("--overlap", "0"), "--overlap 0"),
        (("--questions", "0"), "--questions 0"),
        (("--judge", "lexical"), "lexical asks no model, and writes no questions"),
        (("--judge", "nobody"), "there is no judge 'nobody'"),
    ],
)
def test_what_cannot_be_asked_for_is_refused_in_a_sentence(
    words: tuple[str, ...], said: str, project: Path, server: ChatServer
) -> None:
    writer.base(project, server)
    done = invoke("draft", "kb", "--judge", "writer", "--trust", *words)
    assert done.exit_code != 0
    assert said in one_line(f"{done.output} {done.exception}")
    assert server.calls == 0


def test_a_base_in_a_language_that_no_prompt_has_is_refused(project: Path, server: ChatServer) -> None:
    german = {
        "p0": "Die Bibliothek ist an jedem Werktag von acht bis zwanzig Uhr geöffnet, der Eintritt bleibt frei.",
        "p1": "Wer ein Zeugnis braucht, stellt den Antrag im Dekanat und holt es nach drei Tagen dort ab.",
        "p2": "Das Schwimmbad wird im August gereinigt, deshalb fallen alle Kurse in diesem Monat aus.",
    }
    writer.base(project, server, german)
    done = invoke("draft", "kb", "--judge", "writer", "--trust")
    assert "3 of 3 passages are in the language 'de'" in str(done.exception)
    assert server.calls == 0


def test_three_documents_bear_as_many_questions_as_they_bear(project: Path, server: ChatServer) -> None:
    few = dict(list(writer.PASSAGES.items())[:3])
    writer.base(project, server, few)
    said = draft("--questions", "120", "--kinds", "one_fact", "--trust")
    assert "3 passages bear 15 questions, 5 each: 15 of 120 are drafted" in said
    (project / "data/kb/questions.en.jsonl").unlink()
    (project / "data/kb/chunks.en.jsonl").write_text('{"id": "p", "text": "Too short."}\n')
    done = invoke("draft", "kb", "--judge", "writer", "--trust")
    assert "none of 1 passages has 8 words" in str(done.exception)


@given(
    st.dictionaries(st.sampled_from(sorted(kinds.KINDS)), st.floats(0.01, 100), min_size=1),
    st.integers(1, 300),
    st.integers(0, 5),
)
def test_counts_keep_the_shares(shares: dict[str, float], number: int, seed: int) -> None:
    counts = kinds.counts_of(shares, number)
    assert sum(counts.values()) == number
    for kind, share in shares.items():
        assert abs(counts[kind] - number * share / sum(shares.values())) < 1
    tasks = kinds.tasks_of(shares, kinds.STYLES, number, seed)
    assert Counter(task.kind for task in tasks) == Counter({kind: n for kind, n in counts.items() if n})
    assert [task.number for task in tasks] == list(range(1, number + 1))


def test_every_page_is_asked_about_before_any_is_asked_about_again() -> None:
    spread = kinds.Spread(BASE, seed=3)
    firsts = [spread.passages_for("one_fact", place) for place in range(len(BASE))]
    pages = [chosen[0].url for chosen in firsts if chosen]
    assert len(set(pages[: len(writer.THINGS)])) == len(writer.THINGS)
    assert len({chosen[0].id for chosen in firsts if chosen}) == len(BASE)
    again = kinds.Spread(BASE[::-1], seed=3)
    assert [again.passages_for("one_fact", place) for place in range(len(BASE))] == firsts
    assert spread.passages_for("one_fact", spread.most) is None
    for place in range(spread.most):
        near, apart = spread.passages_for("several_passages", place), spread.passages_for("comparison", place)
        assert near is not None
        assert apart is not None
        assert near[0].url == near[1].url
        assert near[0].id != near[1].id
        assert apart[0].url != apart[1].url
    alone = kinds.Spread(BASE[:1], seed=0)
    assert alone.passages_for("comparison", 0) is None


@pytest.mark.parametrize(
    ("quote", "place"),
    [
        ("the key  is\nhere", (4, 19)),
        ("key", None),
        ("The key is", None),
        ("is here.", (12, 20)),
        ("key is there", None),
    ],
)
def test_a_quote_stands_there_word_for_word(quote: str, place: tuple[int, int] | None) -> None:
    assert drafting.place_of(quote, "Oh, the key is here.") == place


@pytest.mark.parametrize(
    ("question", "run"), [("when is the key here", 2), ("the key is here", 4), ("nothing", 0), ("oh the here", 2)]
)
def test_the_longest_run_of_copied_words(question: str, run: int) -> None:
    assert drafting.longest_run(question.split(), "oh the key is here") == run


@pytest.mark.parametrize("prompt", prompts.every(), ids=lambda prompt: prompt.name)
def test_prompts_are_built_alike_in_both_languages(prompt: Any) -> None:
    assert set(prompt.texts) == {"en", "ru"}
    assert structure(prompt, "ru") == structure(prompt, "en")
    assert not {"KIND", "STYLE", "LAST"} & set(prompt.texts["en"].split())
    assert SLOT.findall(prompt.texts["en"])


def test_drafts_of_another_shape_are_refused_with_their_line(tmp_path: Path) -> None:
    candidates.path_of(tmp_path, "en").write_text('{"id": "a"}\n', "utf-8")
    with pytest.raises(DatasetError, match=r"drafts\.en\.jsonl, line 1: attempt is missing"):
        candidates.read(tmp_path, "en")


def test_topics_are_taken_in_turn() -> None:
    told = "{word} {word} {word} number {number} of a long list of all those here"
    many = [
        ChunkRecord(id=f"{word}{number}", text=told.format(word=word, number=number))
        for word in ("falcon", "granite") for number in range(12)
    ]  # fmt: skip
    spread = kinds.Spread(many, seed=1)
    assert len(set(spread.topics)) > 1
    order = [spread.passages_for("one_fact", place) for place in range(8)]
    topics = [spread.topics[spread.passages.index(chosen[0])] for chosen in order if chosen]
    assert len(set(topics[: len(set(spread.topics))])) == len(set(spread.topics))
    assert np.bincount(spread.topics).min() > 0
