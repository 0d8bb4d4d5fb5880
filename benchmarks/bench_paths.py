"""How the cost of every way in grows: each command at n and at 16 n, in seconds of a processor, with the exponent.

    python -m benchmarks.bench_paths [--only "run dataset" score …] [--rows 500] [--times 16] [--folder DIR]
    python -m benchmarks.bench_paths --only "run tier1_retrieval" --rows 10000 --passages 100000 --times 1

Rows are questions, answers, judgements, ratings, traces or dialogues; ten passages for each. Words follow Zipf's law,
as the cost of many methods hangs on how often the frequent ones are. Seconds are of the command, of all that it starts
and of PostgreSQL, less those of the same command on ten rows, which are what starting costs. n log n from 500 to 8,000
rows has an exponent of 1.13, so that one above 1.2 is marked.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import bench_loading
from benchmarks.bench_growth import answers, spent
from benchmarks.bench_search import server_seconds
from ragbench.old.core import settings
from ragbench.old.store import server

FEW, MOST = 10, 1.2
VOCABULARY = 50_000
SYSTEMS = """
dataset = "made"
baseline = "bm25"
[embedders.sentences]
kind = "hashing"
[retrievers.dense]
kind = "dense"
embedder = "sentences"
[systems.bm25]
retriever = "bm25"
[systems.dense]
retriever = "dense"
[sweeps.made]
retriever = ["bm25", "dense"]
k = [5, 3]
metric = "mrr"
"""


class Words:
    """Texts of words whose frequencies follow Zipf's law."""

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
        drawn = np.random.default_rng(0)  # the words themselves are the same for every seed
        self._words = ["".join(drawn.choice(letters, drawn.integers(3, 10))) for _ in range(VOCABULARY)]
        ranks = 1 / (np.arange(VOCABULARY) + 2.7)
        self._edges = np.cumsum(ranks / ranks.sum())

    def text(self, length: int) -> str:
        """So many words, in sentences of twelve."""
        drawn = np.minimum(np.searchsorted(self._edges, self._rng.random(length)), VOCABULARY - 1)
        words = [self._words[place] for place in drawn]
        parts = [" ".join(words[start : start + 12]) for start in range(0, length, 12)]
        return ". ".join(part.capitalize() for part in parts) + "."


def data_set(folder: Path, rows: int, passages: int) -> None:
    """Questions made of words of the passage that answers them; one passage in fifty is a near copy of another."""
    folder.mkdir(parents=True)
    (folder / "dataset.toml").write_text(
        'licence = "CC0-1.0"\nsource = "Made up."\nlanguages = ["en"]\ntitle = { en = "Made" }\n'
        'description = { en = "Made up." }\n',
        encoding="utf-8",
    )
    words, texts = Words(1), list[str]()
    for number in range(passages):
        text = f"{texts[number // 2]} Amended." if number % 50 == 49 else words.text(60)
        texts.append(text)
    chunks: Iterable[dict[str, Any]] = (
        {"id": f"c{n:07d}", "url": f"https://made.example/{n // 5}", "title": f"Page {n // 5}", "section": "",
         "text": text} for n, text in enumerate(texts)
    )  # fmt: skip
    rng = np.random.default_rng(2)

    def questions() -> Iterator[dict[str, Any]]:
        for n in range(rows):
            place = int(rng.integers(passages))
            parts = texts[place].split()
            start = int(rng.integers(len(parts) - 15))
            yield {
                "id": f"q{n:07d}", "text": " ".join(parts[start : start + 7]) + "?", "kind": "well_formed",
                "reference": " ".join(parts[start : start + 15]), "relevant": {f"c{place:07d}": 3}, "answerable": True,
            }  # fmt: skip

    bench_loading.json_lines(folder / "chunks.en.jsonl", chunks)
    bench_loading.json_lines(folder / "questions.en.jsonl", questions())


class Place:
    """A folder of a project, with inputs of so many rows, and what commands cost there."""

    def __init__(self, folder: Path, rows: int, passages: int) -> None:
        self.folder, self.rows, self.passages = folder, rows, passages
        folder.mkdir()
        (folder / "ragbench.toml").write_text(SYSTEMS, encoding="utf-8")

    def input(self, name: str, write: Callable[[Path], object]) -> str:
        """The path of an input, which is written when it is first asked for."""
        path = self.folder / name
        if not path.exists():
            write(path)
        return str(path)

    def spend(self, *words: str, passed: tuple[int, ...] = (0,)) -> tuple[float, float]:
        """Seconds of a processor, and megabytes at most, of a command."""
        known, said = settings.load(), self.folder / "said"
        theirs = server_seconds(known)
        child = os.posix_spawn(
            sys.executable,
            [sys.executable, "-m", "ragbench", *words],
            {**os.environ, "RAGBENCH_CONFIG": str(self.folder / "ragbench.toml"), "TMPDIR": str(self.folder)},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 1, str(said), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600),
                (os.POSIX_SPAWN_DUP2, 1, 2),
            ],
        )  # fmt: skip
        most, seconds = spent(child)
        _, status, _used = os.wait4(child, 0)
        assert os.waitstatus_to_exitcode(status) in passed, said.read_text(encoding="utf-8")[-2000:]
        return seconds + server_seconds(known) - theirs, most / 2**20


def made(place: Place) -> None:
    """The data set of a place."""
    place.input("data/made", lambda path: data_set(path, place.rows, place.passages))


def logged(place: Place) -> None:
    """The same data set with a log, dialogues of two turns, and two people's ratings of as many answers."""
    made(place)

    def write(path: Path) -> None:
        shutil.copytree(place.folder / "data/made", path)
        lines = (path / "questions.en.jsonl").read_text(encoding="utf-8").splitlines()
        asked = [{**json.loads(line), "number": number} for number, line in enumerate(lines)]
        turns = [{"question": q["text"], "answer": q["reference"], "relevant": q["relevant"]} for q in asked]
        bench_loading.json_lines(path / "history.en.jsonl", (
            {"id": f"h{q['number']:07d}", "question": q["text"], "answer": q["reference"], "score": 1 + q["number"] % 5,
             "url": f"https://made.example/{int(next(iter(q['relevant']))[1:]) // 5}", "user": f"u{q['number'] % 97}"}
            for q in asked
        ))  # fmt: skip
        bench_loading.json_lines(path / "dialogues.en.jsonl", (
            {"id": f"d{q['number']:07d}", "turns": [turns[q["number"]], turns[q["number"] - 1]]} for q in asked
        ))  # fmt: skip
        bench_loading.json_lines(path / "ratings.en.jsonl", (
            {"id": f"r{q['number']:07d}", "question_id": q["id"], "answer": q["reference"],
             "context": list(q["relevant"]), "ratings": {"anna": 1 + q["number"] % 5, "boris": 1 + q["number"] % 4}}
            for q in asked
        ))  # fmt: skip

    place.input("data/logged", write)


def run(
    notebook: str, *more: str, name: str = "", data: Callable[[Place], None] = made
) -> Callable[[Place], tuple[float, float]]:
    """A page; the run is called by its size too, as all are kept in one database."""

    def spend(place: Place) -> tuple[float, float]:
        data(place)
        called = f"{name or notebook.replace('_', '-')}-{place.rows}"
        return place.spend("run", notebook, "--name", called, "--out", str(place.folder / "reports"), *more)

    return spend


def of_runs(*words: str, runs: int = 1) -> Callable[[Place], tuple[float, float]]:
    """What is done with one run of Tier 1, or two of them; {one}, {two} and {to} are names."""

    def spend(place: Place) -> tuple[float, float]:
        for name, more in list({"one": (), "two": ("-p", "k=20")}.items())[:runs]:
            done = place.folder / f"{name}.made"
            if not done.exists():
                run("tier1_retrieval", *more, name=name)(place)
                done.touch()
        names = {"one": f"one-{place.rows}", "two": f"two-{place.rows}", "to": place.folder / f"made-{words[0]}"}
        return place.spend(*(word.format(**names) for word in words))

    return spend


def brought(place: Place) -> tuple[float, float]:
    """A run that was exported, brought in again, as it is from another machine."""
    file = place.folder / "made-runs.zip"
    if not file.exists():
        of_runs("runs", "export", "{one}", "{to}.zip")(place)
    place.spend("runs", "delete", f"one-{place.rows}", "--yes")
    shutil.rmtree(place.folder / "reports")
    return place.spend("runs", "import", str(file))


def agents(place: Place) -> tuple[float, float]:
    """Runs of two agents: three calls each, of which one in seven names another place."""

    def write(path: Path) -> None:
        def call(number: int, step: int) -> dict[str, Any]:
            return {"name": f"tool{step}", "args": {"place": f"p{number % 97}"}}

        def turn(number: int, step: int, shift: int) -> dict[str, Any]:
            made = call(number + (number * step % 7 == shift), step)
            return {"role": "assistant", "content": "", "tool_calls": [made]}

        bench_loading.json_lines(path, (
            {"id": f"q{n:07d}", "system": name, "reference_tool_calls": [call(n, step) for step in range(3)],
             "messages": [{"role": "user", "content": f"What is {n}?"},
                          *(turn(n, step, shift) for step in range(3))]}
            for n in range(place.rows) for shift, name in enumerate(("first", "second"))
        ))  # fmt: skip

    given = f"answers={place.input('agents.jsonl', write)}", "-p", "judges=lexical"
    return run("agents", "-p", *given)(place)


def swept(place: Place) -> tuple[float, float]:
    """Four configurations."""
    made(place)
    return place.spend("sweep", "made", "--out", str(place.folder / "swept"))


def scored(*metrics: str) -> Callable[[Place], tuple[float, float]]:
    """A table of answers, scored; all metrics that need no model where none is named."""

    def spend(place: Place) -> tuple[float, float]:
        table = place.input("answers.jsonl", lambda path: bench_loading.json_lines(path, answers(place.rows)))
        asked = [word for metric in metrics for word in ("-m", metric)]
        asked += ["--judge", "lexical", "--embedder", "hashing"]
        return place.spend("score", table, *asked, "--json", str(place.folder / "scores.json"),
                           "--out", str(place.folder / "scores"), passed=(0, 4))  # fmt: skip

    return spend


def loaded(form: str) -> Callable[[Place], tuple[float, float]]:
    """A file of one of the forms of `bench_loading`."""
    command, _, ending = form.partition(".")

    def spend(place: Place) -> tuple[float, float]:
        rows = bench_loading.FORMS[form](place.rows, place.passages)
        table = place.input(f"{command}.rows.{ending}", lambda path: bench_loading.WRITERS[ending](path, rows))
        return place.spend("load", command, table, "--name", f"loaded-{command}-{ending}")

    return spend


def documents(place: Place) -> tuple[float, float]:
    """A folder of documents."""

    def write(path: Path) -> None:
        words = Words(3)
        path.mkdir()
        for number in range(place.rows):
            text = "\n\n".join(f"## Section {n}\n\n{words.text(60)}" for n in range(4))
            (path / f"{number}.md").write_text(f"# Page {number}\n\n{text}\n", encoding="utf-8")

    return place.spend("load", "documents", place.input("documents", write), "--name", "loaded-documents")


def judged(place: Place) -> tuple[float, float]:
    """Runs against judgements: a hundred documents a query."""
    rng = np.random.default_rng(0)

    def qrels(path: Path) -> None:
        path.write_text("".join(f"q{n} 0 d{rng.integers(100)} 1\n" for n in range(place.rows)), encoding="utf-8")

    def found(path: Path) -> None:
        with path.open("w", encoding="utf-8") as file:
            for n in range(place.rows):
                order = rng.permutation(100)
                file.writelines(f"q{n} Q0 d{one} {rank} {-rank} t\n" for rank, one in enumerate(order))

    runs = [place.input(f"{name}.run", found) for name in ("one", "two")]
    return place.spend("trec", place.input("qrels", qrels), *runs, "--json", str(place.folder / "trec.json"))


def table(path: Path, header: list[str], rows: Iterable[Iterable[object]]) -> None:
    """A CSV file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(header)
        writer.writerows(rows)


def tested(place: Place) -> tuple[float, float]:
    """Fourteen metrics of two systems."""

    def write(path: Path) -> None:
        values = np.random.default_rng(len(path.name)).beta(5, 2, (place.rows, 14))
        table(path, ["id", *(f"m{k}" for k in range(14))], ([n, *row] for n, row in enumerate(values.tolist())))

    return place.spend("significance", place.input("first.csv", write), place.input("second.csv", write))


def agreed(place: Place) -> tuple[float, float]:
    """Three raters of every item."""

    def write(path: Path) -> None:
        rng = np.random.default_rng(0)
        rows = ((n, rater, int(rng.integers(1, 6))) for n in range(place.rows) for rater in ("anna", "boris", "vera"))
        table(path, ["item", "rater", "value"], rows)

    given = ("--scale", "ordinal", "--categories", "1,2,3,4,5")
    return place.spend("agree", place.input("ratings.csv", write), *given)


PATHS: dict[str, Callable[[Place], tuple[float, float]]] = {
    "score": scored("rouge1_f", "exact_match", "bleu", "context_recall"),
    "score, all": scored(),
    "significance": tested,
    "agree": agreed,
    "trec": judged,
    "load documents": documents,
    **{f"load {form}": loaded(form) for form in bench_loading.FORMS},
    **{f"run {name}": run(name) for name in (
        "dataset", "tier0_embeddings", "tier1_retrieval", "tier2_generation", "sources",
    )},
    "run tier3_end_to_end": run("tier3_end_to_end", "-p", "embedder=sentences"),  # not a model's time
    "run agents": agents,
    **{f"run {name}": run(name, "--dataset", "logged", *more, data=logged) for name, *more in (
        ("real_users",), ("tier_ux",), ("rag_metrics", "-p", "judges=lexical"), ("tier_judge", "-p", "judges=lexical"),
    )},
    "sweep": swept,
    "render": of_runs("render", "{one}"),
    "history": of_runs("history", "--out", "{to}"),
    "pool": of_runs("pool", "made", "--run", "{one}", "--sheet", "{to}.csv"),
    "compare": of_runs("compare", "{one}", "{two}", "--out", "{to}", runs=2),
    "runs export": of_runs("runs", "export", "{one}", "{to}.zip"),
    "runs import": brought,
    "publish": of_runs("publish", "{one}", "--to", "{to}"),
}  # fmt: skip


def main() -> None:
    """Each way in, at n and at so many times n."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", default=list(PATHS))
    parser.add_argument("--rows", type=int, default=500)
    parser.add_argument("--passages", type=int, help="ten for each row if not given")
    parser.add_argument("--times", type=int, default=16)
    parser.add_argument("--folder", type=Path)
    given = parser.parse_args()
    outer = Path(tempfile.mkdtemp(prefix="ragbench-paths-", dir=given.folder))
    outer.chmod(0o755)
    os.environ["RAGBENCH_DATABASE__FOLDER"] = str(outer / "postgres")
    sizes = [FEW, given.rows, given.rows * given.times] if given.times > 1 else [FEW, given.rows]
    places = [
        Place(outer / str(rows), rows, rows * (given.passages or 10 * given.rows) // given.rows) for rows in sizes
    ]
    os.environ |= {"RAGBENCH_CONFIG": str(places[0].folder / "ragbench.toml"), "RAGBENCH_TRUST": "/"}
    settings.load.cache_clear()
    server.start(settings.load())
    try:
        for name in given.only:
            tell(name, places, [PATHS[name](place) for place in places])
    finally:
        server.stop(settings.load())
        shutil.rmtree(outer, ignore_errors=True)


def tell(name: str, places: list[Place], found: list[tuple[float, float]]) -> None:
    """One line; the exponent is of what is left without the start."""
    start, own = found[0][0], found[1:]
    each = ", ".join(
        f"{place.rows:,}: {seconds:.1f} s, {most:,.0f} MiB"
        for place, (seconds, most) in zip(places[1:], own, strict=True)
    )
    grown = ""
    if len(own) > 1:
        first, last = (max(seconds - start, 0.05) for seconds, _most in own)
        exponent = math.log(last / first) / math.log(places[-1].rows / places[1].rows)
        grown = f"; exponent {exponent:.2f}{' (!)' if exponent > MOST else ''}"
    print(f"{name}: start {start:.1f} s; {each}{grown}", flush=True)


if __name__ == "__main__":
    main()
