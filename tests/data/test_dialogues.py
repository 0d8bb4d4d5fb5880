"""Dialogues as chats, assistants, help desks and corpora export them: one talk, told by each."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest

from ragbench.data import DatasetError, foreign_sets
from ragbench.data.samples import read_samples

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


EXPORTS = (
    chatgpt, open_webui, librechat, librechat_messages, librechat_tree, oasst, telegram, telegram_of_all, claude,
    of_turns, multiwoz, rasa, rasa_store, slack, intercom, zendesk, gemini,
)  # fmt: skip


@pytest.mark.parametrize("made", EXPORTS, ids=lambda made: made.__name__)
def test_an_export_is_the_talk_that_it_tells(tmp_path: Path, made: Any) -> None:
    (tmp_path / "a.json").write_text(json.dumps(made()))
    [dialogue] = foreign_sets.dialogues(tmp_path / "a.json").dialogues
    assert [(turn.question, turn.answer) for turn in dialogue.turns] == TALK


@pytest.mark.parametrize("made", [chatgpt, open_webui], ids=lambda made: made.__name__)
def test_its_answers_are_scored(tmp_path: Path, made: Any) -> None:
    (tmp_path / "a.json").write_text(json.dumps(made()))
    assert [(sample.user_input, sample.response) for sample in read_samples(tmp_path / "a.json")] == TALK


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
}


@pytest.mark.parametrize("header", DECIDED)
def test_decisions_are_said_in_words(tmp_path: Path, header: str) -> None:
    rows = [f"{ASKED};{SAID};{SINCE};{word}" for word in DECIDED[header]]
    rows[1] = rows[1].replace(SAID, "At 9.")
    (tmp_path / "a.csv").write_text("\n".join([header, *rows]))
    assert [own.show for own in foreign_sets.decisions(tmp_path / "a.csv").decisions] == [True, False]
