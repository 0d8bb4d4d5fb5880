"""What `--plan` foresees of endpoints, held to what pages then ask a real server over HTTP."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import pytest

from ragbench.old.cli.console import outputs
from ragbench.old.core import settings
from ragbench.old.report.execution.forecast import to_compute
from ragbench.old.report.execution.preparation import reader
from ragbench.old.systems.work import Task, Work
from ragbench.old.tiers.basics.requests import Request
from ragbench.old.tiers.retrieval.tier0_embeddings import Tier0Request, tier0_embeddings
from ragbench.old.tiers.retrieval.tier1_retrieval import Tier1Request, tier1_retrieval
from tests.old.embed.servers import embeddings_server
from tests.old.small_project import add

SYSTEMS = """
[retrievers.dense]
kind = "dense"
embedder = "far"
[retrievers.words]
kind = "bm25"
[retrievers.both]
kind = "hybrid"
retrievers = ["dense", "words"]
[chunkers.small]
size = 2
[systems.far]
embedder = "far"
[systems.far_hnsw]
embedder = "far"
index = "hnsw"
[systems.hybrid]
retriever = "both"
[systems.cut]
embedder = "far"
chunker = "small"
[systems.near]
embedder = "hashing"
[systems.near_hnsw]
embedder = "hashing"
index = "hnsw"
[systems.near_cut]
embedder = "hashing"
chunker = "small"
"""
NEAR = ("near", "near_hnsw", "near_cut", "ngrams")


def planned(asked: Sequence[Request]) -> tuple[Work, ...]:
    known = settings.load()
    return to_compute(asked, known, reader(known))


def once(work: Iterable[Work]) -> list[Task]:
    """All tasks of a run, what is shared once."""
    found = list(work)
    return [*outputs.shared(task for one in found for task in one.tasks),
            *outputs.shared(task for one in found for task in one.anew)]  # fmt: skip


def embedded(tasks: Iterable[Task]) -> Counter[str]:
    """Texts that are embedded elsewhere, and requests."""
    found = Counter[str]()
    for task in tasks:
        found += Counter(texts=task.left, requests=task.calls)
    return found


@pytest.mark.slow
def test_pages_embed_as_many_texts_in_as_many_requests_as_were_planned(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with embeddings_server() as server:
        far = f'[embedders.far]\nkind = "openai"\nmodel = "counted"\nbase_url = "{server.url}"\nbatch = 2\n'
        add(project, far + SYSTEMS)
        brief: dict[str, Any] = {"resamples": 100, "words": (), "metrics": "mrr, retrieval_consistency"}
        asked = [
            Tier1Request(
                systems=", ".join(("far, far_hnsw, hybrid, cut", *NEAR)), repeats=3, ef_searches=(10,), **brief
            ),
            Tier1Request(systems="far, near, ngrams", repeats=2, timed_questions=2, ef_searches=(), **brief),
        ]
        rounds = []
        for _ in range(2):
            plan = planned(asked)
            assert not server.requests, "a plan asks nobody"
            for page in asked:
                tier1_retrieval(**page.model_dump())
            rounds.append((plan, Counter(texts=len(server.texts), requests=len(server.requests))))
            server.requests.clear()
    for plan, elsewhere in rounds:
        assert embedded(once(plan)) == elsewhere
    n, pages = 3, 5
    (first, elsewhere), (_, again) = rounds
    assert again == Counter(texts=(4 * 2 + 1) * n, requests=(4 * 2 + 1) * 2), "each system asks an endpoint anew"
    pieces, timed = 6, 4 * 2 * n + 2 * 2
    assert elsewhere["texts"] - again["texts"] == pages + pieces + n + timed
    outputs.show_work(first)
    said = [line.split() for line in capsys.readouterr().out.splitlines()]
    [own] = [line for line in said if line[:2] == ["far", "far"]]
    assert own[-2] == str(3 * n)
    [whole] = [line for line in said if line[:5] == ["all,", "what", "is", "shared", "once"]]
    assert whole[-2:] == [str((4 * 2 + 1) * n), f"{elsewhere['requests']:,}"]


@pytest.mark.parametrize(("texts", "count"), [("chunks", 5), ("questions", 4)])
def test_a_page_of_embedders_embeds_what_it_looks_at(
    project: Path, texts: Literal["chunks", "questions"], count: int
) -> None:
    with embeddings_server() as server:
        add(project, f'[embedders.far]\nkind = "openai"\nmodel = "{texts}"\nbase_url = "{server.url}"\nbatch = 2\n')
        asked = {"embedders": "far", "texts": texts, "projected": 0, "resamples": 100}
        plan = planned([Tier0Request(**asked)])
        tier0_embeddings(**asked)
        assert embedded(once(plan)) == Counter(texts=len(server.texts), requests=len(server.requests))
        assert len(server.texts) == count


def test_an_embedder_whose_passages_a_system_embeds_has_no_line_of_its_own_unless_they_are_cut(project: Path) -> None:
    with embeddings_server() as server:
        far = f'[embedders.far]\nkind = "openai"\nmodel = "lines"\nbase_url = "{server.url}"\nbatch = 2\n'
        add(project, far + SYSTEMS)
        looked = Tier0Request(embedders="far")
        for system, names in (("far", ["far"]), ("cut", ["cut", "far"])):
            assert [one.name for one in planned([Tier1Request(systems=system), looked])] == names


def test_texts_that_only_some_systems_embed_are_added_up() -> None:
    """Where a question is put anew by one of them, say."""
    plain = Task(("questions", "e"), "questions", "e", 2, 2, data="d", texts=frozenset("ab"))
    other = replace(plain, left=3, calls=3, texts=frozenset("bcd"))
    [both] = outputs.shared([plain, other])
    assert (both.left, both.calls) == (4, 4)
