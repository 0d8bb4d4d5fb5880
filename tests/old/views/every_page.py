"""Every kind of page, really measured on one small project whose judged answers end in every way there is."""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragbench.old import tiers
from ragbench.old.core.measurement import Measurement
from ragbench.old.core.types import Status
from ragbench.old.views.view import VIEWS, View
from tests.old.judge.scripted_judge import Texts
from tests.old.llm.chat_server import ChatServer, asked_schema, embeddings, source_of
from tests.old.small_project import NOTEBOOKS, write_lines
from tests.old.views import every_ending
from tests.old.views.every_ending import WAYS

QUICK: dict[str, Any] = {"resamples": 100}
PARTS = (("kind", ["plain", 'a "b" <i>[c]</i>', None]), ("source", ["first", "второй"]))
WHERE = "Where is hall {n}?"


def every_view() -> Mapping[str, Callable[..., View]]:
    """All that there are, those of the annexes that are there too, whatever else was imported before."""
    extras = Path(tiers.__file__).parents[1] / "extras"
    for path in sorted(extras.rglob("*.py")):
        if "@view(" in path.read_text(encoding="utf-8"):
            importlib.import_module(
                ".".join(("ragbench", "old", "extras", *path.relative_to(extras).with_suffix("").parts))
            )
    return VIEWS


def text(n: int, way: str) -> str:
    """What the base says of a hall."""
    return f"[{way}] Hall {n} is in house {n % 3}. It opens at {7 + n % 5}."


def questions(ways: tuple[str, ...] = WAYS) -> list[dict[str, Any]]:
    """A question a way, of parts that differ; the last one has no answer in the base."""
    return [
        {
            "id": f"q{n:02}", "text": f"[{way}] {WHERE.format(n=n)}", "reference": text(n, way),
            "relevant": {f"c{n}": 1} if n + 1 < len(ways) else {}, "answerable": n + 1 < len(ways),
            **{name: values[n % len(values)] for name, values in PARTS},
        }
        for n, way in enumerate(ways)
    ]  # fmt: skip


def make(folder: Path, database_folder: Path, server: str) -> Path:
    """Write the project; its configuration file is returned. server: of the judges, and of an embedder."""
    data = folder / "data" / "every"
    data.mkdir(parents=True)
    (data / "dataset.toml").write_text('title = "Every"\nlicence = "CC0"\nlanguages = ["en"]\n', encoding="utf-8")
    asked = questions()
    chunks = [
        {"id": f"c{n}", "text": text(n, way), "url": f"/{n % 4}", "title": f"Hall {n}"} for n, way in enumerate(WAYS)
    ]
    write_lines(data / "chunks.en.jsonl", chunks)
    write_lines(data / "questions.en.jsonl", asked)
    places = range(len(asked))
    write_lines(
        data / "history.en.jsonl",
        [
            {"id": f"h{n}", "question": asked[n // 2]["text"], "answer": f"In house {n}.", "url": f"/{n % 4}",
             "score": 1 + 2 * (n % 3), "user": f"u{n % 5}", "asked_at": "2025-09-01T10:30"}
            for n in places
        ],
    )  # fmt: skip
    turns = [{"question": one["text"], "answer": one["reference"], "relevant": one["relevant"]} for one in asked]
    write_lines(
        data / "dialogues.en.jsonl", [{"id": f"d{n}", "turns": turns[n : n + 1 + n % 3]} for n in places if n % 2]
    )
    write_lines(
        data / "decisions.en.jsonl",
        [
            {"id": f"s{n}", "question": asked[n // 2]["text"], "answer": asked[n // 2 if n % 4 else 0]["reference"],
             "context": [f"c{n // 2}"], "show": bool(n % 4), "rationale": "It is so."}
            for n in range(2 * len(asked))
        ],
    )  # fmt: skip
    write_lines(
        data / "ratings.en.jsonl",
        [
            {"id": f"r{n}", "question_id": asked[n]["id"], "answer": text(n, way), "context": [f"c{n}"],
             "ratings": {"ann": 1 + n % 5, "bob": 1 + (n + n % 2) % 5}}
            for n, way in enumerate(WAYS)
        ],
    )  # fmt: skip
    for name, ahead in (("near", 0), ("far", 1)):
        retrieved = [
            {"id": one["id"], "retrieved": [f"c{(n + ahead) % len(asked)}", f"c{n}"], "latency_ms": [n, n + 1],
             "answers": ["" if n == 1 else f"[{WAYS[n]}] In house {n + ahead}. It is old."] * 2}
            for n, one in enumerate(asked)
        ]  # fmt: skip
        write_lines(folder / f"{name}.jsonl", retrieved)
    judge = f'base_url = "{server}"\nattempts = 1\ntimeout_seconds = 2\nconcurrency = 4\n'
    path = folder / "ragbench.toml"
    path.write_text(
        f'dataset = "every"\nbaseline = "far"\nnotebooks_folder = "{NOTEBOOKS}"\n'
        f'[database]\nfolder = "{database_folder}"\n'
        '[systems.near]\nresults = "near.jsonl"\n[systems.far]\nresults = "far.jsonl"\n'
        '[systems.ngrams]\nembedder = "hashing"\n'
        f'[embedders.letters]\nkind = "openai"\nmodel = "letters"\nbase_url = "{server}"\ndimensions = 8\n'
        f'[judges.kind]\nmodel = "kind"\n{judge}[judges.strict]\nmodel = "strict"\n{judge}',
        encoding="utf-8",
    )
    return path


BOTH = "near,far"
WHO = {"judges": "kind,strict", "embedder": "letters"}
PAGES: dict[str, Callable[[], Measurement]] = {
    "tier0_embeddings": lambda: tiers.tier0_embeddings(embedders="hashing", projected=0, **QUICK),
    "tier1_retrieval": lambda: tiers.tier1_retrieval(systems=BOTH, k=3, timed_questions=0, **QUICK),
    "tier2_generation": lambda: tiers.tier2_generation(systems=BOTH, **WHO, **QUICK),
    "tier3_end_to_end": lambda: tiers.tier3_end_to_end(
        systems=BOTH, k=3, contexts=2, timed_questions=0, **WHO, **QUICK
    ),
    "tier_judge": lambda: tiers.tier_judge(judges="kind", tempted=6, **QUICK),
    "tier_judge_pipeline": lambda: tiers.tier_judge_pipeline(judges="kind", **QUICK),
    "tier_ux": lambda: tiers.tier_ux(embedders="hashing", **QUICK),
    "real_users": lambda: tiers.real_users(systems="ngrams", k=3, **QUICK),
    "sources": lambda: tiers.sources(systems=BOTH, n_topics=2, k=3),
    "dataset": lambda: tiers.dataset(),
    "rag_metrics": lambda: tiers.rag_metrics(**WHO, **QUICK),
}
"""What each notebook measures."""


FAULTS = {
    Status.JUDGE_ERROR: "!500", Status.PARSE_ERROR: "!not_json", Status.TIMEOUT: "!hang", Status.REFUSED: "!refusal",
    Status.TRUNCATED: "!length",
}  # fmt: skip
"""What an endpoint does where a judge has no score."""
_SLOT = re.compile(r'name="(\w+)"[^>]*>\n(.*?)\n</text-', re.DOTALL)


@dataclass
class Server(ChatServer):
    """A judge and an embedder that do to every text what it asks for. whole: the way of all texts, where it is one."""

    whole: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.answer = self._said

    def _said(self, body: dict[str, Any]) -> Any:
        slots: dict[str, list[str]] = {}
        for slot, text in _SLOT.findall("\n".join(turn["content"] for turn in body["messages"])):
            slots.setdefault(slot, []).append(text)
        way, schema = self.whole or every_ending.way_of(slots), asked_schema(body)
        if way in FAULTS:
            return FAULTS[Status(way)]
        return None if schema is None else every_ending.said(schema, _plain(slots), way, source_of(body))

    def _decide(self, path: str, raw: bytes, body: dict[str, Any]) -> tuple[str, int, Any]:
        if not path.endswith("/embeddings"):
            return super()._decide(path, raw, body)
        found = embeddings(body)
        for one, text in zip(found["data"], body["input"], strict=True):
            if Status.EMBEDDING_ERROR in (self.whole, every_ending.way_of({"text": text})):
                one["embedding"] = [0.0] * len(one["embedding"])
        return "", 200, found


def _plain(slots: Mapping[str, Sequence[str]]) -> Texts:
    return {name: list(texts) if name in ("statements", "passages") else texts[0] for name, texts in slots.items()}
