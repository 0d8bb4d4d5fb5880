"""Five systems with real retrieval over sets with people's labels: what other scripts here measure.

bm25, dense (MiniLM or Navec by the language), a hybrid by ranks, one by scores, and `letters`, hashed character n-grams
in 256 buckets, which is worse on purpose. They search in the database of a folder that the caller gives.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from benchmarks.real_generation import unanswerable
from ragbench.old import data as datasets
from ragbench.old import systems
from ragbench.old.core import settings
from ragbench.old.core.types import Hit
from ragbench.old.data import Dataset
from ragbench.old.embed import wheels
from ragbench.old.store import Store, server

CAMPUS = Path(__file__).parents[1] / "data"
SETS = ("xquad:en", "xquad:ru", "campus:en", "campus:ru", "mtrag-un")
SYSTEMS = ("bm25", "dense", "hybrid", "weighted", "letters")
EMBEDDERS = """
[embedders.sentences]
kind = "auto"
[embedders.letters]
kind = "hashing"
tfidf = false
dimensions = 0
buckets = 256
"""
"""A small model out of a wheel, and n-grams of letters."""
TABLES = f"""
dataset = "campus"
[database]
folder = "{{folder}}"
{EMBEDDERS}[retrievers.dense]
kind = "dense"
embedder = "sentences"
[retrievers.letters]
kind = "dense"
embedder = "letters"
[retrievers.hybrid]
kind = "hybrid"
retrievers = ["bm25", "dense"]
[retrievers.weighted]
kind = "hybrid"
retrievers = ["bm25", "dense"]
fusion = "weighted"
weights = [0.7, 0.3]
"""
Rankings = Mapping[str, list[list[Hit]]]
"""System → the hits of each question, in the data set's order."""


@contextmanager
def opened(folder: Path) -> Iterator[Store]:
    """The database of the folder, started with these systems configured, and stopped.

    It lies beside the project, not in it: a server's files that come with a project have to be trusted first.
    """
    project = folder.resolve() / "project"
    project.mkdir(parents=True, exist_ok=True)
    tables = "".join(f'[systems.{name}]\nretriever = "{name}"\n' for name in SYSTEMS)
    path = project / "ragbench.toml"
    path.write_text(TABLES.format(folder=folder.resolve() / "postgres") + tables, encoding="utf-8")
    os.environ["RAGBENCH_CONFIG"] = str(path)
    settings.load.cache_clear()
    try:
        with Store.open(settings.load()) as store:
            yield store
    finally:
        server.stop(settings.load())


def read(name: str, data: Path, folder: Path) -> Dataset:
    """One of SETS. data: the folder of the real data sets. folder: where it may write."""
    if name.startswith("campus"):
        return datasets.load(name, CAMPUS, "en")
    language = name.partition(":")[2] or "en"
    if name == "mtrag-un":
        chunks, questions = unanswerable(data)
    else:
        brought = datasets.foreign_sets.questions(data / "xquad" / f"xquad.{language}.json.gz")
        chunks, questions = brought.chunks, brought.questions
    plain = name.replace(":", "-")
    about = {"title": name, "licence": "see its provenance", "source": name, "language": language}
    datasets.write(plain, folder / "data", chunks=chunks, questions=questions, replace=True, **about)
    return datasets.load(plain, folder / "data", language)


def found(dataset: Dataset, store: Store, k: int, names: tuple[str, ...] = SYSTEMS) -> Rankings:
    """The first k of every system."""
    known = wheels.settled(settings.load(), dataset.language)
    return {name: systems.make(name, known, store, dataset).retrieve(dataset.questions, k).hits for name in names}
