"""Retrieval on real data that lies beside the checkout: what the figures of a report on it are, in one command.

    python -m benchmarks.real_data ../shared/data

XQuAD in Russian and English, and multi-turn questions asked as their last turn, as rewritten by people, and with all
turns before them. The passages of the multi-turn sets come from the tasks that carry their texts; a question is asked
only where all its relevant passages are among them, so the numbers are those of a small pool, not of the collection.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from ragbench.old import data as datasets
from ragbench.old import stats
from ragbench.old.core import settings
from ragbench.old.core.measurement import Measurement
from ragbench.old.data import ChunkRecord, QuestionRecord
from ragbench.old.tiers import tier1_retrieval

CONVERSATION = re.compile("^(.+)<::>")
FORMS = ("lastturn", "rewrite", "questions")
METRICS = "hit_rate@1,hit_rate@5,mrr,recall@5,ndcg@5,ndcg@10"


def main() -> None:
    """Load, measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--systems", default="")
    arguments = parser.parse_args()
    data = arguments.data.resolve()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        keep = {"data_folder": folder}
        loaded = settings.load().model_copy(update=keep)
        settings.load.cache_clear()
        settings.load = lambda: loaded  # type: ignore[assignment]
        for language in ("ru", "en"):
            brought = datasets.foreign_sets.questions(data / "xquad" / f"xquad.{language}.json.gz")
            chunks, questions = brought.chunks, brought.questions
            _write(folder, f"xquad-{language}", language, chunks, questions)
            _tell(f"xquad-{language}", tier1_retrieval(f"xquad-{language}", arguments.systems))
        for collection in ("clapnq", "fiqa"):
            _multi_turn(data, folder, collection, arguments.systems)


def _multi_turn(data: Path, folder: Path, collection: str, systems: str) -> None:
    corpus = folder / f"{collection}.corpus.jsonl"
    corpus.write_text("".join(json.dumps(row) + "\n" for row in _passages(data)), encoding="utf-8")
    found: dict[str, Measurement] = {}
    for form in FORMS:
        source = data / "mtrag-retrieval"
        queries = folder / f"{collection}.{form}.jsonl"
        with gzip.open(source / f"{collection}_{form}.jsonl.gz", "rt", encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        spoken = [{**row, "text": row["text"].replace("|user|: ", "")} for row in rows]
        queries.write_text("".join(json.dumps(row) + "\n" for row in spoken), encoding="utf-8")
        brought = datasets.beir.read(corpus, queries, source / f"{collection}_qrels_dev.tsv.gz", clusters=CONVERSATION)
        name = f"{collection}-{form}"
        _write(folder, name, "en", brought.chunks, brought.questions)
        found[form] = tier1_retrieval(name, systems, metrics=METRICS)
        _tell(f"{name} (left out: {dict(brought.left_out)})", found[form])
    for form in ("rewrite", "questions"):
        _contrast(found["lastturn"], found[form], form)


def _passages(data: Path) -> Iterable[dict[str, str]]:
    known: dict[str, str] = {}
    with gzip.open(data / "mtrag-human-eval" / "human_eval_half.json.gz", "rt", encoding="utf-8") as file:
        known |= {row["document_id"]: row["text"] for row in json.load(file)["documents"]}
    with gzip.open(data / "mtrag-un" / "mtragun_reference_clapnq_fiqa.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            known |= {row["document_id"]: row["text"] for row in json.loads(line)["contexts"]}
    return [{"_id": name, "text": text} for name, text in sorted(known.items()) if text.strip()]


def _write(folder: Path, name: str, language: str, chunks: list[ChunkRecord], questions: list[QuestionRecord]) -> None:
    about = {"title": name, "licence": "see its provenance", "source": name, "language": language}
    datasets.write(name, folder, chunks=chunks, questions=questions, **about)


def _tell(title: str, found: Measurement) -> None:
    print(f"\n{title}: n = {found.facts['n_questions']}, clusters = {found.facts['n_clusters']}")
    for one in found.estimates:
        e = one.estimate
        print(f"  {one.system:12} {one.metric:12} {e.value:.3f} [{e.low:.3f}, {e.high:.3f}] {e.method}")
    for both in found.comparisons:
        c = both.comparison
        print(
            f"  {c.challenger} - {c.baseline} {both.metric:12} {c.difference:+.3f} [{c.low:+.3f}, {c.high:+.3f}] "
            f"p = {c.p:.4f}, corrected {c.p_adjusted:.4f}: {c.verdict}"
        )


def _contrast(last: Measurement, other: Measurement, form: str) -> None:
    """The same questions in another form, system by system, paired by question."""
    for system in dict.fromkeys(last.scores["system"]):
        columns = [
            m.scores[m.scores["system"] == system]
            .pivot_table(index="sample", columns="metric", values="value")
            .sort_index()
            for m in (last, other)
        ]
        conversations = [CONVERSATION.search(name).group(1) for name in columns[0].index]  # type: ignore[union-attr]
        compared = stats.compare_metrics(
            {name: np.asarray(columns[0][name]) for name in columns[0]},
            {name: np.asarray(columns[1][name]) for name in columns[0]},
            clusters=conversations,
            names=("lastturn", form),
        )
        for name, c in zip(compared, stats.adjust(list(compared.values())), strict=True):
            print(
                f"  {system}: {form} - lastturn {name:12} {c.difference:+.3f} [{c.low:+.3f}, {c.high:+.3f}] "
                f"p = {c.p:.4f}, corrected {c.p_adjusted:.4f}: {c.verdict} (n = {c.n}, {c.clusters} conversations)"
            )


if __name__ == "__main__":
    main()
