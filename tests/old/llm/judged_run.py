"""A run that can be killed: judges N texts with a journal in PostgreSQL, and tells each score that it has.

python -m tests.old.llm.judged_run URL FOLDER N OUT [NAME] [CONCURRENCY] [PER_MINUTE]: appends one line to OUT/told after
each score, and writes the whole table to OUT/table at the end. Ctrl-C ends it with 130.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from pydantic import BaseModel, Field

from ragbench.old.core.settings import DatabaseSettings, JudgeSettings, Settings
from ragbench.old.core.types import Judge, Prompt
from ragbench.old.core.waves import gather
from ragbench.old.judge import open_judges
from ragbench.old.llm import run
from ragbench.old.store import Store
from ragbench.old.store.reply_journal import DatabaseJournal


class Verdict(BaseModel):
    """A score from 1 to 5 with its reason."""

    score: int = Field(ge=1, le=5)
    reason: str


PROMPT = Prompt("killed", 1, Verdict, {"en": "Rate this text:\n{text}"})


async def judge_all(settings: Settings, journal: DatabaseJournal, name: str, n: int, told: int) -> dict[str, int]:
    """Scores by text; every score is told (written to the file descriptor) as soon as it is there."""

    async def one(judge: Judge, text: str) -> tuple[str, int]:
        answer = await judge.ask(PROMPT, {"text": text})
        assert answer.value is not None, answer
        os.write(told, f"{text}\t{answer.value.score}\n".encode())
        return text, answer.value.score

    async with open_judges(settings, [name], journal=journal) as opened:
        (judge,) = opened.judges
        return dict(await gather([one(judge, f"{name} text {number}") for number in range(n)]))


def main(
    url: str, folder: str, n: str, out: str, name: str = "killed", concurrency: str = "16", per_minute: str = ""
) -> None:
    rate = int(per_minute) if per_minute else None
    judge = JudgeSettings(base_url=url, model="tester", concurrency=int(concurrency), requests_per_minute=rate)
    settings = Settings(database=DatabaseSettings(folder=Path(folder)), judges={name: judge})
    told = os.open(Path(out) / "told", os.O_APPEND | os.O_CREAT | os.O_WRONLY)
    try:
        with Store.open(settings) as store:
            table = run(judge_all(settings, DatabaseJournal(store.engine), name, int(n), told))
    except KeyboardInterrupt:
        sys.exit(130)
    (Path(out) / "table").write_text(json.dumps(table, sort_keys=True, indent=0), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
