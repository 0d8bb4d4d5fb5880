"""Who looks at the first passages of a ranking again, and scores them against the question."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from ragbench.core.code import load_object
from ragbench.core.errors import BenchError, Unmeasured, look_up
from ragbench.core.metric import run_async
from ragbench.core.settings import RerankerTable, Settings
from ragbench.embed import TextEmbedder

Score = Callable[[str, list[str]], Sequence[float]]


@dataclass(frozen=True)
class Reranker:
    """Scores passages. score: a function of (question, texts) that returns a number each.

    depth: how many passages of a ranking it looks at. description: who scores, in a line.
    """

    score: Score
    depth: int
    description: str


def open_reranker(
    name: str,
    settings: Settings,
    open_embedder: Callable[[str], TextEmbedder],
    open_judge: Callable[[str], Any],
) -> Reranker:
    """Open the reranker of [rerankers.NAME]. Raises BenchError for a name that there is not."""
    table = look_up("reranker", name, settings.rerankers)
    if table.kind == "callable":
        function = load_object(table.callable, settings.root)
        return Reranker(function, table.depth, f"function {table.callable}")
    if table.kind == "embedder":
        embedder = open_embedder(table.embedder)
        return Reranker(by_cosine(embedder), table.depth, f"cosine of {embedder.describe()}")
    if table.kind == "judge":
        judge = open_judge(table.judge)
        return Reranker(by_grades(judge), table.depth, f"relevance graded by {judge.name}")
    if table.kind == "endpoint":
        return Reranker(by_endpoint(name, table, settings), table.depth, f"{table.model}, /rerank")
    folder = settings.path(Path(table.model).expanduser())
    if not folder.is_dir():
        raise BenchError(f"rerankers.{name}.model = {table.model!r}: there is no folder {folder}")
    return Reranker(by_cross_encoder(folder), table.depth, f"cross-encoder {folder.name}")


def by_cosine(embedder: TextEmbedder) -> Score:
    """Score by the cosine similarity of vectors."""

    def score(question: str, texts: list[str]) -> Sequence[float]:
        query = embedder.embed([question], "query")[0]
        return list(embedder.embed(texts) @ query)

    return score


def by_grades(judge: Any) -> Score:
    """Score by the grade of relevance, 0 to 3, that a judge gives (UMBRELA's prompt)."""
    from ragbench.metrics.judging import PROMPTS

    prompt = PROMPTS["relevance"]

    async def grade_all(question: str, texts: Sequence[str]) -> list[float]:
        async with judge:
            asked = [judge.ask(prompt, question=question, passage=text) for text in texts]
            return [float(reply.rating) for reply in await asyncio.gather(*asked)]

    def score(question: str, texts: list[str]) -> Sequence[float]:
        try:
            return run_async(grade_all(question, texts))
        except Unmeasured as error:
            raise BenchError(f"{judge.name}: {error}") from error

    return score


def by_cross_encoder(folder: Path) -> Score:
    """Score by a CrossEncoder of sentence-transformers (Nogueira and Cho 2019)."""

    def score(question: str, texts: list[str]) -> Sequence[float]:
        pairs = [(question, text) for text in texts]
        return load_cross_encoder(folder).predict(pairs, show_progress_bar=False)

    return score


@cache
def load_cross_encoder(folder: Path) -> Any:
    """Load a cross-encoder, without code of its own."""
    from sentence_transformers import CrossEncoder

    from ragbench.embed.models import silence

    silence()
    return CrossEncoder(str(folder), num_labels=1, trust_remote_code=False, local_files_only=True)


def by_endpoint(name: str, table: RerankerTable, settings: Settings) -> Score:
    """Score by `model` at `base_url`/rerank, in the form of Cohere, Jina and vLLM."""
    from ragbench.llm.endpoints import read_key, resolve
    from ragbench.systems.service import Request, send

    model = resolve(f"rerankers.{name}", table, settings.providers)
    key = read_key(f"rerankers.{name}", model)
    headers = {**({"Authorization": f"Bearer {key}"} if key else {}), **model.filled_headers()}

    def score(question: str, texts: list[str]) -> Sequence[float]:
        body = {"model": model.model, "query": question, "documents": list(texts)}
        request = Request("POST", f"{model.base_url}/rerank", headers, body)
        reply = send([request], model.timeout_seconds, 1)[0]
        if reply.error:
            raise BenchError(reply.error)
        try:
            rows = reply.value["results"]
            by_index = {row["index"]: row["relevance_score"] for row in rows}
            return [float(by_index[index]) for index in range(len(texts))]
        except (KeyError, TypeError, ValueError):
            raise BenchError(
                "its reply cannot be read: `results` with `index` and `relevance_score` is expected"
            ) from None

    return score
