"""Tiers 2 and 3 on real data that lie beside the checkout, both notebooks from end to end: pages, figures, time.

    python -m benchmarks.real_generation ../shared/data FOLDER [SET …]

FOLDER gets data, reports and a database of its own (stopped at the end). Sets: xquad-ru, xquad-en (extractive answers
over n-gram retrieval), mtrag-un (the same, multi-turn, with unanswerable questions), mtrag-models (logged answers of
two real models with the passages that they were shown).
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ragbench.old import data as datasets
from ragbench.old.data import ChunkRecord, QuestionRecord

ROOT = Path(__file__).parents[1]
NOTEBOOKS = ("tier2_generation", "tier3_end_to_end")
EXTRACTIVE = """
[generators.one-sentence]
kind = "extractive"
sentences = 1
[embedders.ngrams]
kind = "hashing"
tfidf = false
dimensions = 0
buckets = 1024
[systems.ngrams]
embedder = "ngrams"
generator = "one-sentence"
[systems.tfidf-svd]
embedder = "hashing"
"""


def main() -> None:
    """Load, run, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("sets", nargs="*", default=["xquad-ru", "xquad-en", "mtrag-un", "mtrag-models"])
    given = parser.parse_args()
    data, folder = given.data.resolve(), given.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o755)
    for name in given.sets:
        systems = EXTRACTIVE
        if name.startswith("xquad"):
            language = name[-2:]
            brought = datasets.foreign_sets.questions(data / "xquad" / f"xquad.{language}.json.gz")
            chunks, questions = brought.chunks, brought.questions
        elif name == "mtrag-un":
            language, (chunks, questions) = "en", unanswerable(data)
        else:
            language, (chunks, questions) = "en", judged_by_people(data)
            systems = logged(data, folder)
        about = {"title": name, "licence": "see its provenance", "source": name, "language": language}
        datasets.write(name, folder / "data", chunks=chunks, questions=questions, replace=True, **about)
        path = folder / f"{name}.toml"
        path.write_text(
            f'dataset = "{name}"\nlanguage = "{language}"\nnotebooks_folder = "{ROOT / "notebooks"}"\n'
            f'reports_folder = "reports-{name}"\n[database]\nfolder = "{folder / "postgres"}"\n{systems}',
            encoding="utf-8",
        )
        run(name, path, folder)
    command(folder / f"{given.sets[0]}.toml", folder, "db", "stop")


def unanswerable(data: Path) -> tuple[list[ChunkRecord], list[QuestionRecord]]:
    """The last turns of dialogues; the gold passages of all tasks are the base. Underspecified ones are left out."""
    texts: dict[str, str] = {}
    questions = []
    for task in _lines(data / "mtrag-un" / "mtragun_reference_clapnq_fiqa.jsonl.gz"):
        [kind] = task["answerability"]
        relevant = [one["document_id"] for one in task["contexts"] if one["text"].strip()]
        texts |= {one["document_id"]: one["text"] for one in task["contexts"] if one["text"].strip()}
        if kind == "UNDERSPECIFIED" or (kind != "UNANSWERABLE" and not relevant):
            continue
        questions.append(_question(task, kind, relevant if kind != "UNANSWERABLE" else [], task["conversation_id"]))
    return _chunks(texts), questions


def judged_by_people(data: Path) -> tuple[list[ChunkRecord], list[QuestionRecord]]:
    """The tasks whose answers people scored; what a task's annotation calls relevant is."""
    found = _scored(data)
    texts = {one["document_id"]: one["text"] for one in found["documents"] if one["text"].strip()}
    questions = []
    for task in found["tasks"]:
        [kind] = task["Answerability"]
        places = task.get("annotations", {}).get("context_relevance", {}).get("system", [])
        relevant = [task["contexts"][place]["document_id"] for place in places if place < len(task["contexts"])]
        relevant = [name for name in relevant if name in texts] if kind != "UNANSWERABLE" else []
        questions.append(_question(task, kind, relevant, task["task_id"].split("<::>")[0]))
    return _chunks(texts), questions


def logged(data: Path, folder: Path) -> str:
    """Write the models' answers as logs, and the tables of systems that read them."""
    found = _scored(data)
    shown = {task["task_id"]: [one["document_id"] for one in task["contexts"]] for task in found["tasks"]}
    tables = ""
    for model in (one["model_id"] for one in found["models"] if one["model_id"] != "reference"):
        name = "".join(letter if letter.isalnum() else "-" for letter in model.lower()).strip("-")
        rows = [
            {"id": one["task_id"], "retrieved": shown[one["task_id"]], "answer": one["model_response"]}
            for one in found["evaluations"]
            if one["model_id"] == model
        ]
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        tables += f'[systems.{name}]\nresults = "{name}.jsonl"\n'
    return tables


def run(name: str, path: Path, folder: Path) -> None:
    """Both notebooks, with their time and the figures of their pages."""
    begun = time.perf_counter()
    command(path, folder, "run", *NOTEBOOKS)
    report = folder / f"reports-{name}" / "latest"
    print(f"\n{name}: {time.perf_counter() - begun:.0f} s; {report}/index.html")
    summary = json.loads((report / "summary.json").read_text(encoding="utf-8"))
    for one in summary["estimates"]:
        low, high = (float("nan") if one[end] is None else one[end] for end in ("low", "high"))
        value = float("nan") if one["value"] is None else one["value"]
        print(
            f"  {one['notebook'][:5]} {one['system']:26} {one['metric']:30} {value:7.3f} [{low:.3f}, {high:.3f}] "
            f"n = {one['n']}, unmeasured {one['n_unmeasured']}"
        )
    for notebook in NOTEBOOKS:
        _tell(report / "parts" / notebook)


def _tell(part: Path) -> None:
    import pandas as pd

    for row in pd.read_parquet(part / "extra-refusals.parquet").to_dict("records"):
        print(
            f"  {part.name[:5]} {row['system']:26} refused {row['part']:14} {row['refused']} of {row['n']}: "
            f"{row['share']:.3f} [{row['low']:.3f}, {row['high']:.3f}]"
        )


def command(path: Path, folder: Path, *words: str) -> None:
    """One command of ragbench with this configuration."""
    environment = {**os.environ, "RAGBENCH_CONFIG": str(path), "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run([sys.executable, "-m", "ragbench", *words], check=True, env=environment, cwd=folder)


def _question(task: dict[str, Any], kind: str, relevant: list[str], cluster: str) -> QuestionRecord:
    return QuestionRecord(
        id=task["task_id"],
        text=task["input"][-1]["text"],
        reference=task["targets"][0]["text"],
        relevant=dict.fromkeys(relevant, 1.0),
        answerable=kind != "UNANSWERABLE",
        kind=kind.lower(),
        cluster=cluster,
    )


def _chunks(texts: dict[str, str]) -> list[ChunkRecord]:
    return [ChunkRecord(id=name, text=text) for name, text in sorted(texts.items())]


def _scored(data: Path) -> dict[str, Any]:
    with gzip.open(data / "mtrag-human-eval" / "human_eval_half.json.gz", "rt", encoding="utf-8") as file:
        found: dict[str, Any] = json.load(file)
    return found


def _lines(path: Path) -> Iterable[dict[str, Any]]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        yield from (json.loads(line) for line in lines)


if __name__ == "__main__":
    main()
