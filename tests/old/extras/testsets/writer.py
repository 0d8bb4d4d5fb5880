"""A base of documents, and a model behind a real server that drafts questions from it as a test scripts."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.old.llm.chat_server import ChatServer, asked_schema
from tests.old.small_project import add, write_lines

THINGS = ("library", "canteen", "gym", "museum", "laboratory", "garden")
FACTS = {
    "opening": "The {thing} of the northern campus opens at {n} o'clock on every working day except in August.",
    "price": "Whoever visits the {thing} without a student card has to pay {n} coins at its main gate.",
}
PASSAGES = {
    f"{thing}-{fact}": text.format(thing=thing, n=number + 7)
    for number, thing in enumerate(THINGS)
    for fact, text in FACTS.items()
}
Reply = Callable[[str, dict[str, Any], list[str]], Any]


def base(project: Path, server: ChatServer, passages: dict[str, str] = PASSAGES, language: str = "en") -> None:
    """Make `data/kb` of passages, two a page, and let `writer` be a judge at the server."""
    folder = project / "data" / "kb"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "dataset.toml").write_text(f'title = "KB"\nlicence = "CC0"\nlanguages = ["{language}"]\n', "utf-8")
    rows = [{"id": name, "text": text, "url": f"/{name.partition('-')[0]}"} for name, text in passages.items()]
    write_lines(folder / f"chunks.{language}.jsonl", rows)
    if "[judges.writer]" not in (project / "ragbench.toml").read_text("utf-8"):
        add(project, f'[judges.writer]\nbase_url = "{server.url}"\nmodel = "m"\nattempts = 1\n')


def slots(body: dict[str, Any], name: str) -> list[str]:
    """The texts that stand in a slot of the prompt."""
    asked = body["messages"][1]["content"]
    return re.findall(rf'name="{name}"(?: number="\d+")?>\n(.*?)\n</text', asked, re.DOTALL)


def subject(text: str) -> str:
    """What a passage is about, and which of its facts it tells."""
    thing = next((thing for thing in THINGS if thing in text), "nothing")
    return f"{thing} {'fee' if ' pay ' in text or 'fee' in text else 'hours'}"


def good(body: dict[str, Any]) -> Any:
    """A model that does what it is asked for: questions in its own words, verdicts by what passages are about."""
    passages = slots(body, "passages")
    properties = (asked_schema(body) or {}).get("properties", {})
    if "missing" in properties:
        return {"question": f"Who founded the {subject(passages[0]).split()[0]}?", "missing": "who founded it"}
    if "quotes" in properties:
        about = [subject(text) for text in passages]
        quotes = [{"passage": number, "text": text[:40].rpartition(" ")[0]} for number, text in enumerate(passages, 1)]
        style = len(body["messages"][1]["content"]) % 89
        drafted = {"question": f"Tell me the {' and the '.join(about)}, please {style}", "answer": about[-1]}
        if "first_question" in properties:
            drafted |= {"first_question": f"And the {about[0]}?", "first_answer": about[0]}
            quotes = quotes[1:]
        return {**drafted, "quotes": quotes}
    if "answer" in properties:
        return {"answer": "", "verdict": "no"}
    if passages:
        question = slots(body, "question")[0]
        return verdict(all(thing in question for thing in {subject(text).split()[0] for text in passages[:1]})
                       and "founded" not in question)  # fmt: skip
    return verdict(True)


def verdict(right: bool) -> dict[str, str]:
    return {"reason": "so it is", "verdict": "yes" if right else "no"}
