"""Who writes answers: the extractive stand-in, a model at a real server, a function, a log; what a limit cuts."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragbench.old.core.settings import ConfigurationError, GeneratorSettings, ProviderSettings, Settings, SystemSettings
from ragbench.old.core.types import Chunk, Question, Status
from ragbench.old.data import Dataset
from ragbench.old.llm import MemoryJournal, ProviderRefused
from ragbench.old.systems import Generation, GenerationError, Task, chat, make_generator, within
from ragbench.old.systems.callables import FunctionGenerator, FunctionSystem
from ragbench.old.systems.chat import ChatGenerator
from ragbench.old.systems.generation import ExtractiveGenerator, fits, share
from ragbench.old.systems.logged import LoggedSystem
from ragbench.old.systems.refusals import REFUSALS, is_refusal
from ragbench.old.systems.retrieval import RetrievalError
from tests.old.llm.chat_server import ChatServer

LIBRARY = Chunk("library", "Научная библиотека открыта до 21:00. В субботу читальный зал закрыт.")
CANTEEN = Chunk("canteen", "Обед в столовой стоит 250 рублей. Столовая открыта с 11:00.")
ASKED = Question("q", "Сколько стоит обед в столовой?", language="ru")


def asked_about(*questions: Question) -> Dataset:
    return Dataset("d", "ru", "D", "CC0", (LIBRARY, CANTEEN), questions, (), (), (), (), "0" * 64)


PROMPT = "Passages: {contexts}\nQuestion: {question}"


class TestWithin:
    def test_what_is_cut_is_counted(self) -> None:
        assert within([LIBRARY, CANTEEN], None).contexts == (LIBRARY, CANTEEN)
        chunks = [Chunk("a", "one two three"), Chunk("b", "four five six"), Chunk("c", "7")]
        found = within(chunks, 18)  # 13 of a, 5 left: "four" fits, "four five" does not; nothing follows a cut
        assert [chunk.text for chunk in found.contexts] == ["one two three", "four"]
        assert (found.cut, found.characters_cut) == (2, len("four five six") - len("four") + len("7"))
        found = within([LIBRARY], len(LIBRARY.text))
        assert (found.contexts, found.cut, found.characters_cut) == ((LIBRARY,), 0, 0)

    @given(st.lists(st.text(alphabet="ab я", max_size=30), max_size=5), st.integers(1, 80))
    def test_the_limit_holds_and_every_character_is_accounted_for(self, texts: list[str], limit: int) -> None:
        found = within([Chunk(str(n), text) for n, text in enumerate(texts)], limit)
        kept = sum(len(chunk.text) for chunk in found.contexts)
        assert kept <= limit
        assert kept + found.characters_cut == sum(map(len, texts))


class TestTemplates:
    @pytest.mark.fault("injections", tried="braces in texts of a template", count=1)
    def test_braces_in_texts_mean_nothing(self) -> None:
        said = chat.fill(PROMPT, "What is {contexts}?", ["{question} {0} {{x}}", "b"], "en")
        assert said == "Passages: [1] {question} {0} {{x}}\n\n[2] b\nQuestion: What is {contexts}?"

    @pytest.mark.parametrize(
        ("template", "message"),
        [
            ("{question}", "missing: contexts"),
            ("{contexts}", "missing: question"),
            ("{question} {contexts} {answer}", "unknown: answer"),
            ("no slots", "missing: contexts, question"),
        ],
    )
    def test_a_slot_left_unfilled_is_refused(self, template: str, message: str) -> None:
        with pytest.raises(GenerationError, match=message):
            chat.fill(template, "q", [], "en")

    def test_both_languages_have_both_slots_and_say_how_to_refuse(self) -> None:
        for language, template in chat.BUILT_IN.items():
            chat.check(template, language)
            assert REFUSALS[language] in template
            assert is_refusal(REFUSALS[language])

    def test_a_file_is_read_and_checked(self, tmp_path: Path) -> None:
        path = tmp_path / "prompt.txt"
        path.write_text(PROMPT, encoding="utf-8")
        assert chat.read("mine", path) == PROMPT
        path.write_text("{question} only", encoding="utf-8")
        with pytest.raises(GenerationError, match=r"generators\.mine\.prompt.*missing: contexts"):
            chat.read("mine", path)
        with pytest.raises(GenerationError, match="there is no such file"):
            chat.read("mine", tmp_path / "other.txt")


class TestExtractive:
    def answer(self, question: str, *chunks: Chunk, **more: Any) -> str:
        return ExtractiveGenerator("e", GeneratorSettings(**more)).answer(question, chunks)

    def test_the_sentence_that_shares_most_is_the_answer(self) -> None:
        for sentences in (1, 2):  # the next best fits far less than the best one
            assert self.answer(ASKED.text, LIBRARY, CANTEEN, sentences=sentences) == "Обед в столовой стоит 250 рублей."

    def test_sentences_keep_the_order_of_the_contexts(self) -> None:
        chunk = Chunk("c", "The library closes at nine. It is big. The library opens at eight.")
        both = "The library closes at nine. The library opens at eight."
        asked = "When does the library open and close?"
        assert self.answer(asked, chunk) == both
        assert fits(asked, [chunk.text])[1].fit == pytest.approx(0.3), "it fits not at all, its passage wholly"

    def test_where_nothing_fits_it_refuses_in_the_questions_language(self) -> None:
        assert self.answer(ASKED.text, Chunk("z", "Zebras graze quietly.")) == REFUSALS["ru"]
        assert self.answer("How much is lunch?", Chunk("z", "Тишина в горах.")) == REFUSALS["en"]
        assert self.answer(ASKED.text) == REFUSALS["ru"]

    def test_the_threshold_decides(self) -> None:
        asked = "Сколько стоит обед в читальном зале?"
        together = share(fits(asked, [LIBRARY.text, CANTEEN.text]))
        assert 0 < together < 1
        assert is_refusal(self.answer(asked, LIBRARY, CANTEEN, refuse_below=together + 1e-9))
        assert not is_refusal(self.answer(asked, LIBRARY, CANTEEN, refuse_below=together - 1e-9))

    def test_what_is_asked_has_to_stand_together(self) -> None:
        """Each of the two passages has one of the two words: fit 1/2 of the two that both have."""
        apart = fits("kiosk prices", ["The kiosk.", "Our prices."])
        assert share(apart) == pytest.approx(1 / 2, abs=0.05), "n-grams of other words count a little"
        assert share(fits("kiosk prices", ["The kiosk has prices.", "Our prices."])) == 1.0
        assert share(fits("kiosk prices", ["1", "2"])) == 0.0
        assert share([]) == 0.0

    def test_a_word_that_no_passage_has_does_not_count(self) -> None:
        texts = ["The kiosk opens at nine. It has a roof.", "The library has a roof."]
        known, more = fits("kiosk opens", texts), fits("kiosk opens qqqq", texts)
        assert share(more) == pytest.approx(share(known))
        assert max(s.fit for s in more) == pytest.approx(max(s.fit for s in known) * 2 / 3)

    @given(st.text("abкот . ", max_size=30), st.lists(st.text("abкот .\n", max_size=40), max_size=4))
    def test_a_share_is_one(self, question: str, texts: list[str]) -> None:
        assert 0 <= share(fits(question, texts)) <= 1 + 1e-9

    def test_misspelt_words_still_fit(self) -> None:
        assert "250" in self.answer("скока стоет абед в сталовой", LIBRARY, CANTEEN, sentences=1)

    def test_it_is_a_stand_in_and_always_there(self) -> None:
        made = make_generator("extractive", Settings())
        assert made.is_stand_in
        (found,) = made.generate([Task(ASKED, (CANTEEN,))])
        assert found.status is Status.OK
        assert found.seconds is not None


class TestChat:
    def one(self, **server: Any) -> Generation:
        """The answer of a server that behaves like this."""
        with ChatServer(**server).running() as running:
            (found,) = self.made(running).generate([Task(ASKED, (CANTEEN,))])
        return found

    def made(self, server: ChatServer, journal: MemoryJournal | None = None, **more: Any) -> ChatGenerator:
        given = {"kind": "openai", "base_url": server.url, "model": "writer", "attempts": 2, "timeout_seconds": 5.0}
        return ChatGenerator("writer", GeneratorSettings(**{**given, **more}), journal=journal)

    def test_question_and_contexts_reach_the_model_and_the_answer_comes_back(self) -> None:
        with ChatServer(answer=lambda body: " 250 рублей. ").running() as server:
            (found,) = self.made(server).generate([Task(ASKED, (LIBRARY, CANTEEN))])
        assert (found.answer, found.status) == ("250 рублей.", Status.OK)
        assert found.seconds is not None
        assert (found.input_tokens or 0) > 0
        assert (found.output_tokens or 0) > 0
        (message,) = server.requests[0].body["messages"]
        assert ASKED.text in message["content"]
        assert f"[1] {LIBRARY.text}\n\n[2] {CANTEEN.text}" in message["content"]
        assert message["content"].startswith("Ответьте")
        assert "response_format" not in server.requests[0].body

    def test_paid_once_and_a_repeat_asks_anew(self) -> None:
        journal = MemoryJournal()
        tasks = [Task(ASKED, (CANTEEN,), repeat) for repeat in (0, 1)]
        with ChatServer().running() as server:
            first = self.made(server, journal).generate(tasks)
            again = self.made(server, journal).generate(tasks)
            other = self.made(server, journal).generate([Task(ASKED, (LIBRARY,))])
        assert server.calls == 3
        assert again == first, "the same seconds and tokens, out of the journal"
        assert other[0].answer != first[0].answer

    @pytest.mark.fault("flattering", tried="a model that fails to answer", count=2)
    @pytest.mark.parametrize(("fault", "status"), [("refusal", Status.REFUSED), ("html", Status.JUDGE_ERROR)])
    def test_a_failure_is_no_empty_answer(self, fault: str, status: Status) -> None:
        found = self.one(faults={fault: 1.0})
        assert found.answer is None
        assert found.status is status
        assert found.reason

    @pytest.mark.parametrize(
        ("reply", "answer"),
        [("<think>250? Yes.</think>\n250 рублей.", "250 рублей."), ("A <think> tag.", "A <think> tag."),
         ("<think>Nothing.</think>", "")],
    )  # fmt: skip
    def test_what_a_model_thinks_aloud_is_no_part_of_its_answer_and_an_empty_one_is_one(
        self, reply: str, answer: str
    ) -> None:
        assert self.one(answer=lambda body: reply).answer == answer
        empty = self.one(faults={"empty": 1.0})
        assert (empty.answer, empty.status) == ("", Status.OK)

    @pytest.mark.fault("denied", tried="refusals by their code", count=1)
    def test_a_key_that_is_refused_stops_everything(self) -> None:
        with pytest.raises(ProviderRefused, match="generator 'writer'"):
            self.one(faults={"401": 1.0})

    def test_an_own_prompt_is_used(self, tmp_path: Path) -> None:
        path = tmp_path / "own.txt"
        path.write_text(PROMPT, encoding="utf-8")
        with ChatServer().running() as server:
            made = self.made(server, prompt=path)
            made.generate([Task(ASKED, (CANTEEN,))])
        assert (
            server.requests[0].body["messages"][0]["content"] == f"Passages: [1] {CANTEEN.text}\nQuestion: {ASKED.text}"
        )
        assert made.description["prompt"] != "built-in"

    def test_a_plan_counts_the_calls_and_makes_none(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from ragbench.old.llm import planning

        monkeypatch.setenv(planning.PLAN_FOLDER, str(tmp_path))
        with ChatServer().running() as server:
            (found,) = self.made(server, key_variable="NOT_SET").generate([Task(ASKED, (CANTEEN,))])
        assert server.calls == 0
        assert found.answer
        (outlook,) = planning.kept(tmp_path)
        assert outlook.plan().calls == 1


class TestFunction:
    def made(self, folder: Path, monkeypatch: pytest.MonkeyPatch, code: str, name: str) -> FunctionGenerator:
        (folder / f"{name}.py").write_text(code, encoding="utf-8")
        monkeypatch.setenv("RAGBENCH_CONFIG", str(folder / "ragbench.toml"))
        return FunctionGenerator("mine", GeneratorSettings(kind="callable", callable=f"{name}:answer"))

    def test_it_gets_the_question_and_the_texts(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        code = "async def answer(question, contexts):\n    return {'answer': question + '|' + '|'.join(contexts)}\n"
        (found,) = self.made(tmp_path, monkeypatch, code, "writes_well").generate([Task(ASKED, (CANTEEN,))])
        assert found.answer == f"{ASKED.text}|{CANTEEN.text}"

    def test_what_is_no_answer_has_its_status(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        code = "SAID = [None, ' ', 7, iter(['go', 'od'])]\ndef answer(question, contexts):\n    return SAID.pop(0)\n"
        found = self.made(tmp_path, monkeypatch, code, "writes_oddly").generate([Task(ASKED, ())] * 4)
        assert [one.status for one in found] == [Status.MISSING_FIELD, Status.OK, Status.PARSE_ERROR, Status.OK]
        assert [one.answer for one in found] == [None, "", None, "good"], "silence is an answer, and so is a stream"

    def test_one_error_is_a_reason_and_only_errors_are_an_error(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        code = "def answer(question, contexts):\n    return contexts[0]\n"
        made = self.made(tmp_path, monkeypatch, code, "writes_sometimes")
        good, bad = made.generate([Task(ASKED, (CANTEEN,)), Task(ASKED, ())])
        assert good.status is Status.OK
        assert "IndexError" in bad.reason
        with pytest.raises(GenerationError, match="failed for all 1 tasks: IndexError"):
            made.generate([Task(ASKED, ())])


def test_an_answer_is_there_exactly_when_its_status_is_ok() -> None:
    with pytest.raises(ValueError, match="None exactly when"):
        Generation(None)
    with pytest.raises(ValueError, match="None exactly when"):
        Generation("text", Status.TIMEOUT)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"kind": "openai", "model": "m"}, "base_url"),
        ({"kind": "openai", "base_url": "http://x/v1"}, "model"),
        ({"kind": "callable"}, "callable"),
        ({"callable": "a:b"}, "kind 'callable'"),
        (
            {"model": "m", "base_url": "http://x/v1"},
            "model = 'm' is of a generator of kind 'openai': write",
        ),
        ({"kind": "callable", "callable": "a"}, "module:function"),
        ({"max_context_characters": 0}, "greater than or equal to 1"),
        ({"surprise": 1}, "Extra inputs"),
    ],
)
def test_a_table_that_cannot_be_followed_is_refused(table: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        GeneratorSettings(**table)


def test_names_are_checked() -> None:
    with pytest.raises(ConfigurationError, match=r"no generator 'x'; there are extractive"):
        make_generator("x", Settings())
    writer = GeneratorSettings(kind="openai", model="m", provider="p")
    with pytest.raises(ValueError, match=r"systems\.a\.generator = 'x'"):
        Settings(systems={"a": SystemSettings(embedder="hashing", generator="x")})
    with pytest.raises(ValueError, match=r"generators\.g\.provider = 'p'"):
        Settings(generators={"g": writer})
    provider = ProviderSettings(base_url="http://x/v1", concurrency=3)
    shared = Settings(providers={"p": provider}, generators={"g": writer})
    assert (shared.generator("g").base_url, shared.generator("g").concurrency) == ("http://x/v1", 3)


def test_logged_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.jsonl"
    lines = [
        {"id": "q1", "retrieved": ["library"], "answer": "One.", "latency_ms": 1500},
        {"id": "q2", "answers": ["Two.", "Three."], "latency_ms": [10, None]},
        {"id": "q3", "retrieved": ["canteen"]},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    dataset = asked_about(*(Question(f"q{n}", f"Question {n}?") for n in (1, 2, 3)))
    questions = dataset.questions
    found = LoggedSystem("log", path, dataset).retrieve(questions, 5)
    assert [[hit.chunk.id for hit in hits] for hits in found.hits] == [["library"], [], ["canteen"]]
    assert {name: [(one.answer, one.seconds) for one in each] for name, each in found.answers.items()} == {
        "q1": [("One.", 1.5)],
        "q2": [("Two.", 0.01), ("Three.", None)],
    }
    for wrong in ({"id": "q1"}, {"id": "q1", "answers": "x"}, {"id": "q1", "answer": "x", "latency_ms": -1},
                  {"id": "q1", "answers": ["x"], "latency_ms": [1, 2]}):  # fmt: skip
        path.write_text(json.dumps(wrong), encoding="utf-8")
        with pytest.raises(RetrievalError, match="line 1"):
            LoggedSystem("log", path, dataset)


def test_what_a_log_knows_of_stages_tokens_and_errors(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    lines = [
        {"id": "q1", "retrieved": ["library"], "answer": "One.", "latency_ms": 350, "search_ms": 40, "generate_ms": 300,
         "input_tokens": 120, "output_tokens": 12, "model": "small-1"},
        {"id": "q2", "answer": "Two.", "latency_ms": 90},
        {"id": "q3", "retrieved": ["canteen"], "error": "TimeoutError: no reply", "search_ms": 20},
        {"id": "q4", "error": "ConnectionError: no index"},
    ]  # fmt: skip
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    dataset = asked_about(*(Question(f"q{n}", f"Question {n}?") for n in (1, 2, 3, 4)))
    found = LoggedSystem("log", path, dataset).retrieve(dataset.questions, 5)
    first = found.answers["q1"][0]
    assert (first.seconds, first.input_tokens, first.output_tokens, first.answered_by) == (0.3, 120, 12, "small-1")
    assert found.answers["q2"][0].seconds is None, "what was logged of the whole is not what writing took"
    np.testing.assert_array_equal(found.logged_ms["search"], [40, np.nan, 20, np.nan])
    np.testing.assert_array_equal(found.logged_ms["answer"], [350, 90, np.nan, np.nan])
    assert found.errors == {"q4": "ConnectionError: no index"}, "q3 has hits"
    assert [(one.answer, one.reason) for name in ("q3", "q4") for one in found.answers[name]] == [
        (None, "the log: TimeoutError: no reply"), (None, "the log: ConnectionError: no index"),
    ]  # fmt: skip
    for wrong in ({"search_ms": -1}, {"input_tokens": 1.5}, {"output_tokens": True}, {"error": 7}):
        path.write_text(json.dumps({"id": "q1", "answer": "x", **wrong}), encoding="utf-8")
        with pytest.raises(RetrievalError, match=rf"line 1: {next(iter(wrong))} = "):
            LoggedSystem("log", path, dataset)


def test_what_a_log_says_was_shown(tmp_path: Path) -> None:
    path = tmp_path / "log.json"
    marks = [True, "false", 1, "0", "yes", "No", "да", " НЕТ ", None, ""]
    rows: list[dict[str, Any]] = [{"id": f"q{n}", "answer": "One.", "shown": mark} for n, mark in enumerate(marks)]
    rows += [{"id": "q10", "answer": "One."}, {"id": "q11", "answers": ["One.", "Two."], "shown": ["да", None]},
             {"id": "q12", "answers": ["One.", "Two."], "shown": 0}]  # fmt: skip
    path.write_text(json.dumps(rows), encoding="utf-8")
    dataset = asked_about(*(Question(f"q{n}", f"Question {n}?") for n in range(13)))
    questions = dataset.questions
    found = LoggedSystem("log", path, dataset).retrieve(questions, 5).answers
    said = [[one.shown for one in found[f"q{n}"]] for n in range(13)]
    assert said[:11] == [[mark] for mark in (True, False) * 4 + (None,) * 3]
    assert said[11:] == [[True, None], [False, False]]
    for wrong in ("maybe", 2, [True], {"a": 1}):
        path.write_text(json.dumps([{"id": "q1", "answers": ["One.", "Two."], "shown": wrong}]), encoding="utf-8")
        with pytest.raises(RetrievalError, match=r"log.json, item 1: shown = .*да or нет, 1 or 0 is expected.*\(2\)"):
            LoggedSystem("log", path, dataset)
    path.write_text(json.dumps([{"id": "q1", "retrieved": [], "shown": "yes"}]), encoding="utf-8")
    with pytest.raises(RetrievalError, match="item 1: shown = 'yes': it is of an \"answer\", and there is none"):
        LoggedSystem("log", path, dataset)


REFUSING = [
    "I don't know.",
    "I'm sorry, but I cannot answer that.",
    "The provided context does not mention the price.",
    "There is no information about this in the documents.",
    "The base says nothing of rooms for families.",
    "К сожалению, в базе знаний нет ответа на этот вопрос.",
    "В контексте не указано, сколько это стоит.",
    "Не знаю.",
    "Информация о цене отсутствует.",
    "There is nothing about bicycles in the knowledge base.",
    "No relevant details were found in the provided documents.",
]
ANSWERING = [
    "Нет, книгу нельзя унести домой.",
    "No, students do not have to pay.",
    "Документы не нужны: достаточно пропуска.",
    "You cannot keep a refrigerator in the room.",
    "Не позже 3 августа.",
    "The fee is 250 roubles. The text does not say more.",
    "No, in the context of the game, a sprite is a picture.",
    "Although the text does not address the fee, it names a discount of ten per cent.",
    "Хотя в базе не сказано о цене, скидка — десять процентов.",
]


def test_refusals_by_rule() -> None:
    assert [answer for answer in REFUSING if not is_refusal(answer)] == []
    assert [answer for answer in ANSWERING if is_refusal(answer)] == []


def test_references_of_campus_are_told_apart() -> None:
    data = Path(__file__).parents[3] / "data" / "campus"
    for language in ("ru", "en"):
        rows = [json.loads(line) for line in (data / f"questions.{language}.jsonl").open(encoding="utf-8")]
        wrong = [row["id"] for row in rows if is_refusal(row["reference"]) == row["answerable"]]
        assert not wrong
        assert sum(not row["answerable"] for row in rows) == 28


def test_references_of_real_dialogues(shared_data: Any) -> None:
    """Not what the rule was made on: at least 8 of 10 refusals found, no answer taken for one."""
    with gzip.open(shared_data("mtrag-un/mtragun_reference_clapnq_fiqa.jsonl.gz"), "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    by_class = {
        name: [is_refusal(row["targets"][0]["text"]) for row in rows if row["answerability"] == [name]]
        for name in ("ANSWERABLE", "UNANSWERABLE")
    }
    assert (len(by_class["ANSWERABLE"]), sum(by_class["ANSWERABLE"])) == (116, 0)
    assert sum(by_class["UNANSWERABLE"]) / len(by_class["UNANSWERABLE"]) > 0.8


def test_a_function_that_answers_by_itself_and_one_that_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = (
        "def both(question, k):\n"
        "    return {'answer': None if 'two' in question else 'Yes.', 'retrieved': ['library']}\n"
        "def scores(question, k):\n    return {'answer': 0.5, 'library': 0.9}\n"
    )
    (tmp_path / "answers_alone.py").write_text(code, encoding="utf-8")
    monkeypatch.setenv("RAGBENCH_CONFIG", str(tmp_path / "ragbench.toml"))
    dataset = asked_about(Question("q1", "one?"), Question("q2", "two?"))
    questions = dataset.questions
    found = FunctionSystem("alone", "answers_alone:both", dataset, 60).retrieve(questions, 5)
    assert [[hit.chunk.id for hit in hits] for hits in found.hits] == [["library"], ["library"]]
    assert [one.answer for one in found.answers["q1"]] == ["Yes."]
    assert [one.status for one in found.answers["q2"]] == [Status.MISSING_FIELD]
    assert found.answers["q1"][0].seconds is not None
    assert not found.untold
    scored = FunctionSystem("scores", "answers_alone:scores", dataset, 60).retrieve(questions, 5)
    assert not scored.answers, "a chunk whose id is answer, with its score"
    assert [hit.chunk.id for hit in scored.hits[0]] == ["library", "answer"]
