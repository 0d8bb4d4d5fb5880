"""A data set looked over: every finding against texts counted by hand, and no alarm where there is nothing."""

from __future__ import annotations

import json
import random
from itertools import combinations
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from ragbench.old import tiers, views
from ragbench.old.cli.load import application
from ragbench.old.data import ChunkRecord, Dialogue, PastQuestion, QuestionRecord
from ragbench.old.tiers.data import copies, dataset, persons
from ragbench.old.tiers.data.copies import groups
from ragbench.old.tiers.data.dataset import Examination, Oddity, examine, forms, found_first, pleasantry
from ragbench.old.views import Page
from tests.old.small_project import write_lines

HOSTILE = "</script><script>alert(1)</script> <img src=x onerror=alert(2)> \x1b[31m & $x$"
KEYS = "The warden hands out keys to rooms on the first day of term between nine and five o'clock."


def question(name: str, text: str, *relevant: str, reference: str | None = None) -> QuestionRecord:
    return QuestionRecord(id=name, text=text, relevant=dict.fromkeys(relevant, 1.0), reference=reference)


def looked(*, language: str = "en", **tables: Any) -> Examination:
    given = {name: tables.get(name, []) for name in ("chunks", "questions", "dialogues", "history")}
    return examine(SimpleNamespace(**given), language)


def one(found: Examination, kind: str, table: str = "questions") -> Oddity:
    return next(each for each in found.oddities if (each.kind, each.table) == (kind, table))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 2**32), min_size=1, max_size=12), st.integers(1, 60))
def test_all_pairs_that_share_words_enough_are_held_against_each_other(seeds: list[int], longest: int) -> None:
    """As counted pair by pair, of texts drawn from few words, some of them another with a word or two changed."""
    texts: list[str] = []
    for seed in seeds:
        drawn = random.Random(seed)
        own = [f"w{drawn.randrange(80)}" for _ in range(drawn.randint(0, longest))]
        if texts and seed % 2:
            own = drawn.choice(texts).split()
            for _ in range(drawn.randint(0, 2)):
                own[drawn.randrange(len(own) + 1) :][:1] = [f"w{drawn.randrange(80)}"]
        texts.append(" ".join(own))
    sets = [set(text.split()) for text in texts]
    expected = {
        (one, other)
        for one, other in combinations(range(len(texts)), 2)
        if sets[one] and len(sets[one] & sets[other]) >= copies.SHARED * len(sets[one] | sets[other])
    }
    assert copies.candidates(texts) == expected


def test_leaks_copies_and_lost_labels_with_what_they_do_to_the_numbers() -> None:
    chunks = [
        ChunkRecord(id="c1", text=f"{KEYS} Where do I get the keys to my room? Ask there."),
        ChunkRecord(id="c2", text="Lunch is served in the canteen from noon until three."),
        ChunkRecord(id="c3", text="Lunch is served in the canteen, from noon until three!"),
        ChunkRecord(id="c4", text="The swimming pool is closed in August."),
    ]
    asked = [
        question("q1", "Where do I get the keys to my room?", "c1", reference="the keys"),
        question("q2", "May I swim in summer?", "c4", reference="no"),
        question("q3", "When is lunch served in the canteen?", "c2"),
        question("q4", "What of the gone?", "c4", "gone"),
        question("q5", "What of the lost?", "lost"),
        question("q6", "Zzz?", "c2", "c4"),
    ]
    found = looked(chunks=chunks, questions=asked)
    assert one(found, "question_in_passage").found == 1
    assert one(found, "question_in_passage").examples[0][:3] == ("q1", asked[0].text, "c1")
    # q2: no word in common with c4; q3: c2 and c3 score alike and c2 stands first; q4: "of the"; q5 has no passage
    assert one(found, "leaked").numbers == {"leaked": 1, "leaked_first": 1, "others": 5, "others_first": 1}
    assert one(found, "passage_copied").found == 2
    # the best text at 1: q1 1, q2 1, q3 1/2, q4 1, q6 1 (that without a copy); q5 has none
    assert one(found, "passage_copied").numbers == {"hit": pytest.approx(4.5 / 5), "n": 5}
    assert one(found, "labels_nowhere").found == 2
    assert one(found, "labels_nowhere").numbers == {
        "labels": 8,
        "lost": 1,
        "recall": pytest.approx((1 + 1 + 1 + 0.5 + 1) / 6),
    }
    json.dumps([dict(each.numbers) for each in found.oddities])  # as facts are kept
    assert one(found, "answer_in_question").of == 2
    assert [each.id for each in one(found, "answer_in_question").examples] == ["q1"], "one word stands there by chance"


def test_questions_that_are_alike_count_once_and_what_contradicts_bounds_the_hit_rate() -> None:
    chunks = [ChunkRecord(id=name, text=f"Text {name} {n}") for n, name in enumerate(("a", "b", "c"))]
    asked = [
        question("q1", "Where is the library?", "a"),
        question("q2", "where is  the Library", "b"),
        question("q3", "Where is hall 1?", "a"),
        question("q4", "Where is hall 2?", "b"),
        question("q5", "Where is the library?", "a"),
    ]
    found = one(looked(chunks=chunks, questions=asked), "alike")
    assert found.found == 2
    assert [(each.id, each.other) for each in found.examples] == [("q2", "q1"), ("q5", "q1")]
    # of q1, q2, q5 one list puts "a" first and is right twice; q3 and q4 are right each
    assert found.numbers == {"different": 3, "contradicting": 3, "hit": pytest.approx(4 / 5)}


def test_a_template_is_told_from_what_people_ask() -> None:
    filled = [
        f"How do I get a certificate of {word} from the office?" for word in ("income", "study", "birth", "rent", "war")
    ]
    people = ["Where can I eat?", "Is the pool open on Monday?", "How do I get home?", "What is a retake?"] * 3
    [found] = forms([*filled, *people])
    assert found.text == "how do i get a certificate of … from the office"
    assert found.places == (0, 1, 2, 3, 4)
    assert forms(people) == []
    loose = [f"What is the {' '.join(f'{word}{n}' for word in ('old', 'big', 'far', 'red'))}?" for n in range(6)]
    assert forms([*people, *loose]) == [], "an opening is no template"
    assert forms([]) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Добрый день!", "greeting"), ("спасибо большое)))", "greeting"), ("Hi there", "greeting"), ("???", "noise"),
        ("", "noise"), ("аааааа", "noise"), ("/start", "noise"), ("тест", "noise"), ("👍", "noise"), ("x", "noise"),
        ("Здравствуйте, где деканат?", ""), ("справка", ""), ("1С", ""), ("12345", ""), ("help", ""),
        ("Hi, where is the library?", ""), ("100000", ""),
    ],
)  # fmt: skip
def test_what_asks_nothing(text: str, expected: str) -> None:
    assert pleasantry(text) == expected


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Write to it@campus.example.", "en", ["it@campus.example"]),
        ("@all of you, 5@2 and a@b", "en", []),
        ("Звоните 8 (3452) 59-77-77 или +7 912 345-67-89", "ru", ["8 (3452) 59-77-77", "+7 912 345-67-89"]),
        ("ГОСТ 7.32-2017, от 2025-09-01, 123 456 789 рублей, № 89123456789", "ru", []),
        ("Call (212) 555-0123 not 1234567890 in 2019-2020", "en", ["(212) 555-0123"]),
        ("Call (650) 253-0000", "en", ["(650) 253-0000"]),
    ],
)
def test_addresses_and_telephones_and_nothing_that_looks_like_them(
    text: str, language: str, expected: list[str]
) -> None:
    assert [text[place.start : place.end] for place in persons.places(text, language)] == expected


@pytest.mark.skipif(not persons.finds_names(), reason='needs the extra "models"')
def test_names_are_found_and_a_single_word_is_not_called_one() -> None:
    text = "Заведующая Иванова Мария Петровна принимает по вторникам, а Сидоров А. Б. по средам."
    found, none, far = persons.names([text, "где сидит деканат?", "\n".join(["Да. " * 600, text])])
    assert [text[place.start : place.end] for place in found] == ["Иванова Мария Петровна", "Сидоров А. Б."]
    assert all(place.whole for place in found)
    assert none == []
    assert len(far) == 2, "in a part after the first, too"


def test_people_and_noise_are_counted_by_table_and_what_cannot_be_looked_for_is_said() -> None:
    history = [
        PastQuestion(id="h1", question="Hello!", url="/a", answer="Write to it@campus.example"),
        PastQuestion(id="h2", question="thanks"),
        PastQuestion(id="h3", question="How do I call +44 20 7946 0958?"),
    ]
    dialogues = [Dialogue.model_validate({"id": "d", "turns": [{"question": "a@b.example?", "answer": "c@d.example"}]})]
    found = looked(history=history, dialogues=dialogues)
    assert (one(found, "greeting", "log").found, one(found, "greeting", "log").numbers) == (2, {"with_page": 1})
    assert one(found, "mail", "logged_answers").found == 1
    assert one(found, "mail", "dialogues").found == 1, "a dialogue counts once"
    assert one(found, "name", "log").of is None, "unmeasured is not zero"
    assert "noise" not in {each.kind for each in found.found}
    assert not any(each.kind == "alike" for each in found.oddities), "nothing to look at is not nothing found"


def test_searching_by_words_ranks_as_bm25_does() -> None:
    chunks = [ChunkRecord(id="a", text="cat dog"), ChunkRecord(id="b", text="cat cat bird", url="/b")]
    asked = [question("1", "DOG!", "a"), question("2", "bird", "a"), question("3", "fish", "a")]
    paged = QuestionRecord(id="4", text="the bird", relevant_urls={"/b": 1.0})
    assert found_first(chunks, [*asked, paged]) == [True, False, False, True]
    assert found_first([], asked) == [False] * 3


def test_questions_that_differ_in_a_number_alone_are_two() -> None:
    texts = [f"{KEYS} " * 4 + f"Is that so in room {n}?" for n in (1, 2)]
    assert groups(texts) == [0, 0]
    assert groups(texts, by_digits=True) == [0, 1]


@given(
    st.lists(
        st.sampled_from(["", "?", "one two three four", "One  two three four!", KEYS, KEYS.replace("nine", "ten")])
    )
)
def test_groups_name_the_first_of_their_members(texts: list[str]) -> None:
    found = groups(texts)
    assert all(found[place] == place for place in set(found))
    assert all(one <= place for place, one in enumerate(found))
    assert all(found[texts.index(text)] == place for text, place in zip(texts, found, strict=True))
    assert groups(texts) == found


def test_a_page_of_hostile_texts_masks_people_and_is_drawn_in_both_languages(project: Path) -> None:
    folder = project / "data" / "small"
    text = f"What of a1@example.org {HOSTILE}?"
    rows = [{"id": f"q{n}<b>", "text": text, "relevant": {"a1": 1}} for n in range(3)]
    write_lines(folder / "questions.en.jsonl", rows)
    made = tiers.dataset()
    assert made.extra["oddities"].query("kind == 'alike' and table == 'questions'")["found"].tolist() == [2]
    assert not made.extra["odd_texts"]["text"].str.contains("a1@").any()
    for language in ("en", "ru"):
        page = Page(made, language=language)
        for view in (
            views.comparison.answer,
            views.data.oddities,
            views.data.sizes,
            views.about.method,
            views.about.summary,
        ):
            html = str(view(page).html())
            assert "<img" not in html
            assert "\x1b" not in html
            assert "None" not in html
            assert "nan" not in html.casefold().replace("financ", "")
    said = views.comparison.answer(Page(made)).html().striptags()
    assert "Questions: 2 of 3 (67%) nearly the same as an earlier one." in said
    assert "a1@" in str(views.data.oddities(Page(tiers.dataset(mask=False))).html())


@pytest.mark.parametrize("rows", [[], [{"id": "q", "text": "Why?"}]])
def test_a_set_without_questions_labels_or_answers_is_looked_over_too(
    project: Path, rows: list[dict[str, Any]]
) -> None:
    path = write_lines(project / "data" / "small" / "questions.en.jsonl", rows)
    if not rows:
        path.unlink()
    made = tiers.dataset()
    assert made.facts["n_questions"] == len(rows)
    said = views.data.oddities(Page(made)).html().striptags()
    assert ("Labels without a text" in said) is False, "there are no labels to look at"
    assert "Names of people were looked for only in texts with Russian letters" in said


def test_load_says_what_the_page_would(project: Path) -> None:
    items = [
        {"question": "Where is the old library of the town?", "chunk_id": "1", "ground_truth_answer": "Here it is.",
         "chunk_text": f"Where is the old library of the town? It is here. \x1b[31m {n}"}
        for n in range(1)
    ]  # fmt: skip
    path = project / "set.json"
    path.write_text(json.dumps(items), encoding="utf-8")
    done = CliRunner().invoke(application, ["questions", str(path), "--name", "mine", "--check", "--dry-run"])
    assert done.exit_code == 0, done.output
    said = " ".join(done.output.split())
    assert "check: 1 of 1 labelled questions stands word for word in its relevant passage" in said
    assert "1 of 1 questions that their passages give away find a relevant passage first. There are no others" in said
    assert "Looked for and not found: Questions that are their passage;" in said
    assert "\x1b" not in done.output
    assert "warning:" not in done.output, "what is checked is not warned of twice"


def test_a_share_that_was_found_is_never_nothing() -> None:
    from ragbench.old.core.language import translator
    from ragbench.old.views.sentences.data_sets import told

    [said] = told(Oddity("mail", "passages", 1, 3000, (), {}), "en", translator("en"))
    assert said == "Passages: 1 of 3,000 (0.03%) with an e-mail address."


def test_of_many_texts_the_language_of_a_drawn_part_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    english = "The quick brown fox jumps over the lazy dog near the river bank today"
    russian = "Быстрая коричневая лиса прыгает через ленивую собаку у берега реки сегодня"
    rows = [ChunkRecord(id=f"c{n}", text=f"{english if n % 4 else russian} {n}") for n in range(40)]
    assert looked(chunks=rows).languages == (("passages", "en", 30), ("passages", "ru", 10))
    monkeypatch.setattr(dataset, "MOST_TOLD", 12)
    data = SimpleNamespace(chunks=rows, questions=[], dialogues=[], history=[])
    parts = [examine(data, "en", seed=seed) for seed in (0, 0, 1)]
    counts = [{code: count for _, code, count in one.languages} for one in parts]
    assert counts[0] == counts[1]
    assert [sum(one.values()) for one in counts] == [12, 12, 12]
    [odd] = [one for one in parts[0].found if one.kind == "other_language"]
    assert (odd.found, odd.of) == (counts[0]["ru"], 12)
