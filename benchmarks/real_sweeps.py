"""What is left of a sweep of 48 configurations on sets with people's labels, and how long it takes.

    python -m benchmarks.real_sweeps FOLDER_OF_THE_REAL_DATA_SETS FOLDER [SET] [QUESTIONS] [JOBS] [SEARCH]

SET: the beginning of xquad:en, xquad:ru or mtrag-un. Three ways of cutting × eight ways of searching (two of BM25, two
embedders, hybrids of ranks and of scores) × three or five passages handed on; by MRR. Printed: the seconds of measuring
it and of measuring it again; how many configurations have a higher mean than the baseline, how many of these would be
called better if each were compared alone, and in their family; the best one's value and gain as they stand and
corrected; how many may be the best; and every configuration that is called better alone, but not in the family.
FOLDER gets a database of its own, which is stopped: an empty one for an honest clock. SEARCH: grid, or halving, whose
rounds are printed too.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from benchmarks import real_systems
from ragbench.old.core import settings
from ragbench.old.core.types import Verdict
from ragbench.old.extras.sweeps import ablation, effects
from ragbench.old.store import server
from ragbench.old.tiers.scoring.judged_metrics import Judging

SETS = ("xquad:en", "xquad:ru", "mtrag-un")
TABLES = f"""
dataset = "{{dataset}}"
[database]
folder = "{{database}}"
[chunkers.words40]
size = 40
[chunkers.words80]
size = 80
{real_systems.EMBEDDERS}[retrievers.light]
kind = "bm25"
b = 0.1
[retrievers.dense]
kind = "dense"
embedder = "sentences"
[retrievers.hybrid]
kind = "hybrid"
retrievers = ["bm25", "dense"]
[sweeps.parts]
chunker = ["none", "words80", "words40"]
embedder = ["sentences", "letters"]
retriever = ["hybrid", "bm25", "light", "dense"]
fusion = ["rrf", "weighted"]
k = [5, 3]
metric = "mrr"
search = "{{search}}"
"""
BETTER = (Verdict.BETTER, Verdict.SLIGHTLY_BETTER)


def tried(name: str, data: Path, folder: Path, most: int, jobs: int, search: str) -> None:
    """The lines of one set."""
    project = folder.resolve() / name.replace(":", "-")
    project.mkdir(parents=True, exist_ok=True)
    dataset = real_systems.read(name, data, project)
    path = project / "ragbench.toml"
    text = TABLES.format(dataset=dataset.name, database=folder.resolve() / "postgres", search=search)
    path.write_text(text, encoding="utf-8")
    os.environ["RAGBENCH_CONFIG"] = str(path)
    os.environ["RAGBENCH_TRUST"] = str(project)
    settings.load.cache_clear()
    request = ablation.AblationRequest(
        sweep="parts", limit=most, timed_questions=0, language=name.partition(":")[2] or "en"
    )
    sweeping = ablation.Sweeping.of(request)
    try:
        took = []
        for _ in range(2):
            began = time.perf_counter()
            outcomes = ablation.run(sweeping, Judging(), jobs)
            took.append(time.perf_counter() - began)
        measurement = ablation.stated(sweeping, outcomes, request)
    finally:
        server.stop(settings.load())
    facts, compared = measurement.facts["sweep"], [each.comparison for each in measurement.comparisons]
    higher = [each for each in compared if each.difference > 0]
    alone = [each for each in higher if each.p < 1 - each.level]
    together = [each for each in compared if each.verdict in BETTER]
    [chosen] = [each for each in measurement.placed if getattr(each, "where", {}) == ablation.CHOSEN]
    value = chosen.estimate  # type: ignore[union-attr]
    rows = measurement.extra["configurations"]
    levels = rows[list(facts["factors"])].astype(str).to_dict("records")
    single = {str(rows["system"][place]): factor for place, factor in effects.exchanges(levels, 0)}
    print(f"\n{name}: {len(rows)} configurations, {measurement.facts['n_questions']} questions, {jobs} jobs: "
          f"{took[0]:.0f} s, again {took[1]:.1f} s")  # fmt: skip
    for configurations, questions in facts["rounds"]:
        print(f"  {configurations} configurations on {questions} questions")
    print(f"  above the baseline {len(higher)}, called better alone {len(alone)}, in the family {len(together)}")
    print(f"  best {facts['chosen']}: {facts['seen']:.4f} seen, {value.value:.4f} left")
    print(f"  ({value.low:.4f} to {value.high:.4f}); gain {facts['seen_gain']:+.4f} seen, {facts['gain']:+.4f} left")
    print(f"  won {facts['share']:.0%} of choices, {int(rows['may_be_best'].sum())} may be the best")
    for each in alone:
        if each.verdict not in BETTER:
            exchanged = f" ({single[each.challenger]} alone)" if each.challenger in single else ""
            print(f"  taken back: {each.challenger}{exchanged}: {each.difference:+.4f}, p {each.p:.3f} alone, "
                  f"{each.low:+.4f} to {each.high:+.4f} in the family")  # fmt: skip
    sys.stdout.flush()


def main() -> None:
    """The lines of the sets that are named."""
    data, folder, *words = sys.argv[1:]
    begins, most, jobs, search = (*words, *("", "500", "1", "grid")[len(words) :])
    for name in SETS:
        if name.startswith(begins):
            tried(name, Path(data), Path(folder), int(most), int(jobs), search)


if __name__ == "__main__":
    main()
