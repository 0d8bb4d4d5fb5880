"""Dialogues as chats, assistants, help desks and corpora export them: one talk, told by each."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from ragbench.old.cli.beginnings import Beginning
from ragbench.old.data import DatasetError, foreign_sets
from ragbench.old.data.cells import Forms
from ragbench.old.data.columns import Columns
from ragbench.old.data.samples import read_samples

ASKED, SAID, THEN, SINCE = "When does it open?", "At 8.", "And on Sunday?", "It is closed."
TALK = [(ASKED, SAID), (THEN, SINCE)]
LINES = [("user", ASKED), ("assistant", SAID), ("user", THEN), ("assistant", SINCE)]


def chatgpt() -> Any:
    """Its conversations.json: nodes in any order, one of which was answered anew, and a root that says nothing."""
    told = [("u1", "sys", *LINES[0]), ("bad", "u1", "assistant", "At 9."), ("a1", "u1", *LINES[1])]
    told = [("a2", "tool", *LINES[3]), ("sys", "root", "system", ""), *told, ("u2", "a1", *LINES[2])]
    nodes = {
        name: {"id": name, "parent": parent, "children": [], "message": {
            "author": {"role": role, "name": None}, "content": {"content_type": "text", "parts": [words]}}}
        for name, parent, role, words in [*told, ("tool", "u2", "tool", "searched")]
    }  # fmt: skip
    root = {"id": "root", "message": None, "parent": None, "children": ["sys"]}
    return [{"id": "t", "title": "x", "mapping": {**nodes, "root": root}, "current_node": "a2"}]


def open_webui() -> Any:
    told = [("2", "1", *LINES[1]), ("1", None, *LINES[0]), ("x", "1", "assistant", "At 9."), ("3", "2", *LINES[2])]
    nodes = {
        name: {"id": name, "parentId": parent, "childrenIds": [], "role": role, "content": words}
        for name, parent, role, words in [*told, ("4", "3", *LINES[3])]
    }
    return [{"id": "t", "title": "x", "chat": {"history": {"messages": nodes, "currentId": "4"}, "messages": []}}]


def librechat_messages() -> list[dict[str, Any]]:
    return [
        {"messageId": str(n), "parentMessageId": str(n - 1), "isCreatedByUser": role == "user", "text": words,
         "sender": "User" if role == "user" else "GPT-4o"}
        for n, (role, words) in enumerate(LINES)
    ]  # fmt: skip


def librechat() -> Any:
    other = {"messageId": "x", "parentMessageId": "0", "isCreatedByUser": False, "text": "At 9.", "sender": "GPT-4o"}
    first, *rest = librechat_messages()
    last = {**rest[-1], "text": "", "content": [{"type": "text", "text": SINCE}]}
    return {"conversationId": "t", "endpoint": "openAI", "options": {}, "messages": [first, other, *rest[:-1], last]}


def librechat_tree() -> Any:
    messages = librechat_messages()
    for message, reply in itertools.pairwise(messages):
        message["children"] = [reply, {**reply, "text": "Another."}]
    return {"conversationId": "t", "endpoint": "openAI", "messagesTree": [{**messages[0]}]}


def oasst() -> Any:
    below: list[Any] = []
    for role, words in reversed(LINES):
        name = "prompter" if role == "user" else role
        below = [
            {"message_id": words, "role": name, "text": words, "replies": below},
            {"role": name, "text": "Another."},
        ]
    return [{"message_tree_id": "t", "tree_state": "ready_for_export", "prompt": below[0]}]


def telegram() -> Any:
    """Its result.json of one chat: of a text with links the parts stand in a list."""
    service = {
        "id": 0,
        "type": "service",
        "date": "2025-01-15T09:00:00",
        "actor": "Ann",
        "text": "",
        "text_entities": [],
    }
    messages = [
        {"id": n, "type": "message", "date": "2025-01-15T10:30:00", "from": "Ann" if role == "user" else "Library",
         "from_id": role, "text": [words[:3], {"type": "bold", "text": words[3:]}],
         "text_entities": [{"type": "plain", "text": words[:3]}, {"type": "bold", "text": words[3:]}]}
        for n, (role, words) in enumerate(LINES, 1)
    ]  # fmt: skip
    return {"name": "Library", "type": "bot_chat", "id": 7, "messages": [service, *messages]}


def telegram_of_all() -> Any:
    return {"about": "x", "personal_information": {"user_id": 1}, "chats": {"about": "x", "list": [telegram()]}}


def claude() -> Any:
    names = {"user": "human", "assistant": "assistant"}
    return [{"uuid": "t", "chat_messages": [{"sender": names[role], "text": words} for role, words in LINES]}]


def multiwoz() -> Any:
    turns = [{"speaker": "USER" if role == "user" else "SYSTEM", "utterance": words} for role, words in LINES]
    return [{"dialogue_id": "t.json", "services": ["hotel"], "turns": turns}]


def of_turns() -> Any:
    """As our own files have them."""
    return [{"id": "t", "turns": [{"question": asked, "answer": said} for asked, said in TALK]}]


def rasa_events() -> list[dict[str, Any]]:
    said = [{"event": "user" if role == "user" else "bot", "text": words} for role, words in LINES]
    return [{"event": "action", "name": "action_listen"}, {"event": "session_started"}, *said]


def rasa() -> Any:
    return {"sender_id": "t", "slots": {}, "latest_message": {"text": THEN}, "events": rasa_events()}


def rasa_store() -> Any:
    """Rows of its SQL store: most are steps, and no messages."""
    return [
        {"id": n, "sender_id": "t", "type_name": event["event"], "timestamp": n, "data": json.dumps(event)}
        for n, event in enumerate(rasa_events())
    ]


def slack() -> Any:
    said = [
        {"type": "message", "text": words, "ts": f"17.{n}", "thread_ts": "17.0",
         **({"user": "U1"} if role == "user" else {"bot_id": "B1", "subtype": "bot_message"})}
        for n, (role, words) in enumerate(LINES)
    ]  # fmt: skip
    joined = {"type": "message", "subtype": "channel_join", "text": "<@U2> has joined", "user": "U2", "ts": "18.0"}
    return [*said, joined]


def intercom() -> Any:
    author = {"user": {"type": "user"}, "assistant": {"type": "bot"}}
    source, *said = [{"body": words, "author": author[role], "part_type": "comment"} for role, words in LINES]
    closed = {"body": None, "author": {"type": "admin"}, "part_type": "close"}
    return {"id": "t", "source": source, "conversation_parts": {"conversation_parts": [*said, closed]}}


def zendesk() -> Any:
    authors = {"user": 11, "assistant": 22}
    said = [{"author_id": authors[role], "body": words, "public": True} for role, words in LINES]
    return {"comments": [*said[:1], {"author_id": 33, "body": "a note", "public": False}, *said[1:]], "count": 5}


def gemini() -> Any:
    names = {"user": "user", "assistant": "model"}
    return [{"contents": 1, "messages": [{"role": names[role], "parts": [{"text": words}]} for role, words in LINES]}]


PLAIN = [words for _, words in LINES]
PAIRS = [
    {"user": ASKED, "assistant": SAID, "system": "Be kind."},
    {"human": THEN, "ai": SINCE},
]
IN_WORDS = {"user": ("Пользователь", "пользователь"), "assistant": ("Бот", "ассистент")}


def of_texts() -> Any:
    """As DailyDialog has them."""
    return [{"dialog": PLAIN, "act": [2, 1, 2, 1], "emotion": [0, 0, 0, 0]}]


def of_texts_in_a_cell() -> Any:
    return [{"диалог": str(PLAIN)}]


def ultrachat() -> Any:
    return [{"id": "0", "data": PLAIN}]


def blended_skill_talk() -> Any:
    return [{"context": "empathetic_dialogues", "free_messages": PLAIN[::2], "guided_messages": PLAIN[1::2]}]


def coqa() -> Any:
    return [{"story": "x", "questions": PLAIN[::2], "answers": {"input_text": PLAIN[1::2], "answer_start": [0, 1]}}]


def of_two_lists() -> Any:
    return [{"questions": PLAIN[::2], "expected_answers": PLAIN[1::2]}]


def of_named_texts() -> Any:
    return [{"conversation": [f"{IN_WORDS[role][0]}: {words}" for role, words in LINES]}]


def a_text() -> Any:
    return [
        {"dialogue": "\n\n".join(f"{'Human' if role == 'user' else 'Assistant'}: {words}" for role, words in LINES)}
    ]


def of_pairs() -> Any:
    return {"conversations": PAIRS}


def of_lists_of_two() -> Any:
    return [{"id": 1, "conversation": TALK}]


def of_questions_and_answers() -> Any:
    return [{"id": 1, "dialogue": [{"q": asked, "a": said} for asked, said in TALK]}]


def by_who_speaks() -> Any:
    return [{"messages": [{role: words} for role, words in LINES]}]


def llama_factory() -> Any:
    return [{"instruction": THEN, "input": "", "output": SINCE, "system": "Be kind.", "history": [[ASKED, SAID]]}]


def a_question_after_its_history() -> Any:
    return [{"history": PLAIN[:2], "question": THEN, "answer": SINCE}]


def a_question_after_pairs() -> Any:
    return [{"history": [[ASKED, SAID]], "question": THEN, "answer": SINCE}]


def in_russian() -> Any:
    said = [{"роль": IN_WORDS[role][1], "текст": words} for role, words in LINES]
    return [{"диалог": [{"роль": "система", "текст": "Будь вежлив."}, *said]}]


def with_tools() -> Any:
    """As OpenAI, Anthropic and ShareGPT have what a tool is asked, and gives."""
    asked, said, then, since = ({"role": role, "content": words} for role, words in LINES)
    call = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "search", "arguments": "{}"}}]}
    given = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "8"}]}
    tool = [{"role": role, "content": "{}"} for role in ("tool", "function", "observation", "function_call")]
    return [{"messages": [{"role": "system", "content": "x"}, asked, call, given, *tool, said, then, since]}]


def with_images() -> Any:
    """What is said to an image, or to what was deleted, answers no question that was asked before."""
    asked, said, then, since = ({"role": role, "content": words} for role, words in LINES)
    image, cat = {"role": "user", "content": [{"type": "image_url"}]}, {"role": "assistant", "content": "A cat."}
    gone = [{"role": "user", "content": "[deleted]"}, {**cat, "deleted": True}, {"role": "user", "content": ""}, cat]
    return [{"messages": [asked, image, said, image, cat, *gone, then, since]}]


def mt_bench() -> Any:
    return [{"prompt_id": 81, "category": "math", "prompt": PLAIN[::2], "reference": PLAIN[1::2]}]


def quac() -> Any:
    answers = {"texts": [[words] for words in PLAIN[1::2]], "answer_starts": [[0], [1]]}
    return [{"dialogue_id": "C_1", "context": "x", "questions": PLAIN[::2], "followups": [0, 1], "yesnos": [2, 2],
             "answers": answers, "orig_answers": {"texts": PLAIN[1::2], "answer_starts": [0, 1]}}]  # fmt: skip


def of_a_preference() -> Any:
    said = "".join(f"\n\n{'Human' if role == 'user' else 'Assistant'}: {words}" for role, words in LINES)
    return [{"chosen": said, "rejected": said.replace(SINCE, "At 9.")}]


def trec_cast() -> Any:
    turns = [{"number": n, "raw_utterance": asked, "passage": said} for n, (asked, said) in enumerate(TALK, 1)]
    return [{"number": 106, "turn": turns}]


def of_a_help_desk() -> Any:
    return [{"Номер обращения": "7", "Вопрос клиента": asked, "Ответ оператора": said} for asked, said in TALK]


TOLD_BY_TEXTS = (
    of_texts, of_texts_in_a_cell, ultrachat, blended_skill_talk, coqa, of_two_lists, of_named_texts, a_text, of_pairs,
    of_lists_of_two, of_questions_and_answers, by_who_speaks, in_russian, with_tools, with_images,
)  # fmt: skip
EXPORTS = (
    *TOLD_BY_TEXTS, llama_factory, a_question_after_its_history, a_question_after_pairs,
    chatgpt, open_webui, librechat, librechat_messages, librechat_tree, oasst, telegram, telegram_of_all, claude,
    of_turns, multiwoz, rasa, rasa_store, slack, intercom, zendesk, gemini, mt_bench, quac, of_a_preference,
    trec_cast, of_a_help_desk,
)  # fmt: skip


@pytest.mark.parametrize("made", EXPORTS, ids=lambda made: made.__name__)
def test_an_export_is_the_talk_that_it_tells(tmp_path: Path, made: Any) -> None:
    (tmp_path / "a.json").write_text(json.dumps(made()))
    [dialogue] = foreign_sets.dialogues(tmp_path / "a.json").dialogues
    assert [(turn.question, turn.answer) for turn in dialogue.turns] == TALK


@pytest.mark.parametrize("made", [quac, of_texts, of_pairs, mt_bench, of_a_help_desk], ids=lambda made: made.__name__)
def test_a_table_of_pandas_has_the_same_talk(tmp_path: Path, made: Any) -> None:
    rows = made() if isinstance(made(), list) else [made()]
    columns = {name: {str(n): row[name] for n, row in enumerate(rows)} for name in rows[0]}
    (tmp_path / "a.json").write_text(json.dumps(columns))
    [dialogue] = foreign_sets.dialogues(tmp_path / "a.json").dialogues
    assert [(turn.question, turn.answer) for turn in dialogue.turns] == TALK


def test_a_list_among_rows_is_counted(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(json.dumps({"rows": [{"row_idx": 0, "row": [1]}, of_texts()[0]]}) + "\n")
    brought = foreign_sets.dialogues(tmp_path / "a.jsonl")
    assert (len(brought.dialogues), [*brought.left_out.values()]) == (1, [1])


@pytest.mark.parametrize("made", [chatgpt, open_webui, telegram, *TOLD_BY_TEXTS], ids=lambda made: made.__name__)
def test_its_answers_are_scored(tmp_path: Path, made: Any) -> None:
    (tmp_path / "a.json").write_text(json.dumps(made()))
    samples = read_samples(tmp_path / "a.json", Forms())
    assert [(sample.user_input, sample.response or sample.reference) for sample in samples] == TALK


@pytest.mark.parametrize(
    "made", [llama_factory, a_question_after_its_history, a_question_after_pairs], ids=lambda made: made.__name__
)
def test_of_a_question_after_its_history_the_answer_is_scored(tmp_path: Path, made: Any) -> None:
    (tmp_path / "a.json").write_text(json.dumps(made()))
    [sample] = read_samples(tmp_path / "a.json", forms := Forms())
    assert (sample.user_input, sample.response, sample.system, forms.unread) == (THEN, SINCE, None, [])


def test_texts_in_turn_are_the_asker_s_and_the_answerer_s_which_is_told(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps([{"dialogue": [*PLAIN, "And then?"]}]))
    told = (
        "no message says who asks and who answers; taken is every first of two texts for the one who asks, every "
        "second for the one who answers"
    )
    brought = foreign_sets.dialogues(tmp_path / "a.json")
    [dialogue] = brought.dialogues
    assert [(turn.question, turn.answer) for turn in dialogue.turns] == [*TALK, ("And then?", None)]
    read_samples(tmp_path / "a.json", forms := Forms())
    assert told in brought.notes
    assert told in forms.unread


def test_an_answer_beside_texts_in_turn_is_that_of_the_last(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps([{"dialogue": PLAIN[:3], "response": SINCE}]))
    [sample] = read_samples(tmp_path / "a.json", Forms())
    assert (sample.user_input, sample.response) == (THEN, SINCE)


def test_a_word_where_a_dialogue_would_be_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps([{"dialogue": "d1", "answer": SAID}]))
    with pytest.raises(DatasetError, match="messages, or questions, is missing"):
        foreign_sets.dialogues(tmp_path / "a.json")
    [sample] = read_samples(tmp_path / "a.json", Forms())
    assert (sample.user_input, sample.response, sample.cluster) == (None, SAID, "d1")


@pytest.mark.parametrize(
    "said", [[], "[]", '[{"x": 1}]', [{"x": 1}], [1, 2], {"a": 1}, [{"role": "system", "content": "x"}], [["a"]]]
)
def test_of_a_dialogue_without_a_turn_no_sample_is_made(tmp_path: Path, said: Any) -> None:
    (tmp_path / "a.json").write_text(json.dumps([{"messages": said}, {"dialog": PLAIN}]))
    samples = read_samples(tmp_path / "a.json", forms := Forms())
    assert [sample.response for sample in samples] == [SAID, SINCE]
    assert "messages: none says who asks and who answers" in forms.left_out.said


def test_who_asks_is_told_where_no_message_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(telegram()))
    said = (
        "no message says who asks and who answers; taken is Ann for the one who asks, Library for the one who answers"
    )
    assert said in foreign_sets.dialogues(tmp_path / "a.json").notes


def test_of_three_who_are_named_none_is_guessed(tmp_path: Path) -> None:
    chat = telegram()
    chat["messages"][-1]["from"] = "Bob"
    (tmp_path / "a.json").write_text(json.dumps(chat))
    with pytest.raises(DatasetError, match=r"none says who asks and who answers; .*or the names of two who speak"):
        foreign_sets.dialogues(tmp_path / "a.json")


ROWS = {
    "conversation_id,role,content": ("user", "assistant"),
    "session_id,sender,message": ("customer", "Fin"),
    "ticket_id,author,body": ("client", "operator"),
    "chat_id,from,text": ("Client", "Support"),
    "ID диалога,Автор,Сообщение": ("клиент", "бот"),
    "Номер обращения,Отправитель,Реплика": ("Пользователь", "Оператор"),
}


@pytest.mark.parametrize("header", ROWS)
@pytest.mark.parametrize("is_newest_first", [False, True])
def test_messages_one_a_row_are_dialogues_in_the_order_of_time(
    tmp_path: Path, header: str, is_newest_first: bool
) -> None:
    names = dict(zip(("user", "assistant"), ROWS[header], strict=True))
    rows = [
        f"{talk},{names[role]},{words},2025-01-01T00:00:0{n}" for n, (role, words) in enumerate(LINES) for talk in "ab"
    ]
    rows = rows[::-1] if is_newest_first else rows
    (tmp_path / "a.csv").write_text("\n".join([f"{header},created_at", *rows]))
    made = {one.id: one.turns for one in foreign_sets.dialogues(tmp_path / "a.csv").dialogues}
    assert made.keys() == {"a", "b"}
    for turns in made.values():
        assert [(turn.question, turn.answer) for turn in turns] == TALK


def test_messages_of_no_dialogue_say_what_names_it(tmp_path: Path) -> None:
    rows = [{"role": role, "content": words, "talk": 1} for role, words in LINES]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    with pytest.raises(DatasetError, match="--column session=COLUMN"):
        foreign_sets.dialogues(tmp_path / "a.json", columns={"said": "content"})
    [dialogue] = foreign_sets.dialogues(tmp_path / "a.json", columns={"said": "content", "session": "talk"}).dialogues
    assert [(turn.question, turn.answer) for turn in dialogue.turns] == TALK


def test_dialogues_with_the_same_questions_and_names_of_their_own_are_two(tmp_path: Path) -> None:
    said = [{"role": role, "content": words} for role, words in LINES]
    rows = [{"conversation_id": name, "conversation": said} for name in ("a", "b")]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    assert len(foreign_sets.dialogues(tmp_path / "a.json").dialogues) == 2


DECIDED = {
    "Вопрос;Ответ;Контекст;Показывать ответ?": ("Да", "Нет"),
    "question;answer;context;show_answer": ("show", "hide"),
    "Запрос пользователя;Ответ бота;Найденные документы;Показать": ("показать", "не показывать"),
    "question;answer;context;decision": ("approve", "reject"),
    "question;answer;context;human_decision": ("allow", "block"),
    "question;answer;context;accept": ("ok", "not ok"),
    "Вопрос;Ответ;Контекст;Решение": ("Отправить", "Не отправлять"),
}


@pytest.mark.parametrize("header", DECIDED)
def test_decisions_are_said_in_words(tmp_path: Path, header: str) -> None:
    rows = [f"{ASKED};{SAID};{SINCE};{word}" for word in DECIDED[header]]
    rows[1] = rows[1].replace(SAID, "At 9.")
    (tmp_path / "a.csv").write_text("\n".join([header, *rows]))
    assert [own.show for own in foreign_sets.decisions(tmp_path / "a.csv").decisions] == [True, False]


def test_decisions_of_which_one_is_not_known_are_refused(tmp_path: Path) -> None:
    rows = [{"question": ASKED, "answer": own, "show": word} for own, word in ((SAID, "ship"), ("At 9.", "reject"))]
    (tmp_path / "a.json").write_text(json.dumps(rows))
    with pytest.raises(DatasetError, match=r"a word that is not known: .*show = 'ship'"):
        foreign_sets.decisions(tmp_path / "a.json")


def one_dialogue(folder: Path, row: dict[str, Any]) -> list[tuple[str, str | None]]:
    """The turns of the only dialogue of a file."""
    path = folder / "d.json"
    path.write_text(json.dumps([row], ensure_ascii=False), encoding="utf-8")
    [dialogue] = foreign_sets.dialogues(path).dialogues
    return [(turn.question, turn.answer) for turn in dialogue.turns]


@pytest.mark.parametrize("name", ["chat", "history", "chat_history", "transcript", "msgs", "История диалога", "Беседа"])
def test_a_dialogue_may_be_called_otherwise(tmp_path: Path, name: str) -> None:
    messages = [{"role": role, "content": words} for role, words in LINES]
    assert one_dialogue(tmp_path, {"id": "a", name: messages}) == TALK
    path = tmp_path / "late.json"
    path.write_text(json.dumps([{"id": "none", name: None}, {"id": "a", name: messages}]), encoding="utf-8")
    [late] = foreign_sets.dialogues(path).dialogues
    assert late.id == "a", "a row without any says nothing of the others"
    path.write_text(json.dumps([{name: "c-17", "answer": "Ann."}]), encoding="utf-8")
    assert read_samples(path)[0].user_input is None, "a name is no dialogue"
    path = tmp_path / "asked.json"
    path.write_text(json.dumps([{"question": "Who?", name: messages, "answer": "Ann."}]), encoding="utf-8")
    [sample] = read_samples(path)
    assert (sample.user_input, sample.response) == ("Who?", "Ann."), "of a question it is the history"


@pytest.mark.parametrize(
    "names", ["author message", "who text", "speaker_role utterance", "Role Text", "Автор Сообщение", "Кто Текст"]
)
def test_who_says_a_message_has_many_names(tmp_path: Path, names: str) -> None:
    who, what = names.split()
    assert one_dialogue(tmp_path, {"id": "a", "messages": [{who: role, what: words} for role, words in LINES]}) == TALK


@pytest.mark.parametrize(("called", "is_read"), [("д0", True), (7, True), ("Hello", False), ("a b 1", False)])
def test_what_a_dialogue_is_called_is_its_session(called: Any, is_read: bool) -> None:
    known = Columns(only=("user_input", "messages", "session"))
    told = known.of({"question": ASKED, "диалог": called}, "row 1")
    assert told == {"user_input": ASKED, "session" if is_read else "messages": called}


def test_ratings_of_answers_in_dialogues_are_ratings(bare: Path) -> None:
    rows = "".join(f"п{n};{who};{n % 2};д{n // 2}\n" for n in range(8) for who in ("Аня", "Боря"))
    (bare / "r.csv").write_text("item;rater;value;диалог\n" + rows)
    assert Beginning.named(["r.csv"], bare).next() == ["ragbench agree r.csv"]


def test_who_says_a_message_of_LangChain_is_its_role_where_its_kind_tells_nothing(tmp_path: Path) -> None:
    """After `dumpd` of langchain-core, which writes what a message was made of."""
    messages = [
        {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "ChatMessage"],
         "kwargs": {"role": role, "content": text}}
        for role, text in (("user", "When?"), ("assistant", "At 8."))
    ]  # fmt: skip
    (tmp_path / "a.json").write_text(json.dumps([{"messages": messages}]))
    [dialogue] = foreign_sets.dialogues(tmp_path / "a.json").dialogues
    assert [(turn.question, turn.answer) for turn in dialogue.turns] == [("When?", "At 8.")]
