"""BM25's nDCG@10 beside bm25s and rank-bm25 with the same tokens, and beside published figures.

    python -m benchmarks.bench_bm25 [--data ../shared/data] [--beir FOLDER ...]

For each real collection and variant: the mean, and the largest difference of a question's value from each peer's.
rank-bm25 (`pip install rank-bm25`, in an environment of its own) is left out where it is not there. It has of ours:

- lucene, atire: its BM25Okapi, given their idf. Its own idf is Robertson's, and a word of more than half of the
  passages weighs epsilon times the mean idf, which none of Kamphuis et al. 2020 has.
- robertson: its BM25Okapi with epsilon = 0. With 0.25, its default, values differ where a question has such a word.
- bm25+: its BM25Plus, which gives passages that share no word something too; here they are not found.
- bm25l: nothing. Its BM25L multiplies with the frequency of the word once more than Lv and Zhai 2011.

FOLDER: a BEIR folder (corpus.jsonl, queries.jsonl, qrels/test.tsv), named as BEIR names it. Beside it stands Anserini's
"flat" BM25 (Lucene, k1 0.9, b 0.4; title and text as one; docs/reproduce/from-document-collection of
castorini/anserini, commit 81e3414): with our words, and with words as Lucene's English analyzer makes them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from ragbench.old.core.settings import RetrieverSettings
from ragbench.old.core.types import Array, Chunk, Question
from ragbench.old.data import beir, foreign_sets
from ragbench.old.metrics import ranking_arrays
from ragbench.old.metrics.ranking import evaluate
from ragbench.old.systems.parts import retrievers
from tests.old.systems.test_systems import dataset_of

VARIANTS = ("lucene", "robertson", "atire", "bm25l", "bm25+")
K1, B, DEPTH = 1.5, 0.75, 10
SAME = 1e-9
PUBLISHED = {
    "arguana": 0.3970, "fiqa": 0.2361, "nfcorpus": 0.3218, "scidocs": 0.1490, "scifact": 0.6789, "trec-covid": 0.5947,
    "webis-touche2020": 0.4422,
}  # fmt: skip
"""nDCG@10 of Anserini's flat BM25 on the test questions."""
_LISTED = """
    a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to
    was will with
"""
STOP_WORDS = frozenset(_LISTED.split())
"""Of Lucene's English analyzer."""
Tokens = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Collection:
    """Passages in the order of their ids, and questions with relevant passages."""

    name: str
    chunks: Sequence[Chunk]
    questions: Sequence[Question]


def collections(data: Path) -> Iterator[Collection]:
    """Every set of `data` that has texts of passages."""
    for language in ("en", "ru"):
        yield xquad(data / "xquad" / f"xquad.{language}.json.gz")
    for part in ("clapnq", "fiqa"):
        yield multi_turn(data / "mtrag-un" / "mtragun_reference_clapnq_fiqa.jsonl.gz", part)


def xquad(path: Path) -> Collection:
    """Each question's own paragraph among the 180."""
    brought = foreign_sets.questions(path)
    chunks, questions = brought.chunks, brought.questions
    asked = [Question(one.id, one.text, relevant=one.relevant) for one in questions]
    return _collection(path.name.removesuffix(".json.gz"), {one.id: one.text for one in chunks}, asked)


def multi_turn(path: Path, part: str) -> Collection:
    """Last turns of dialogues, each with several relevant passages among those of all."""
    texts: dict[str, str] = {}
    asked = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["Collection"] != part:
                continue
            own = {one["document_id"]: one["text"] for one in row["contexts"]}
            texts |= own
            if own:
                asked.append(Question(row["task_id"], row["input"][-1]["text"], relevant=dict.fromkeys(own, 1.0)))
    return _collection(f"mtrag-un {part}", texts, asked)


def beir_folder(folder: Path) -> Collection:
    """The test questions that have a relevant passage."""
    brought = beir.read(*beir.files(folder))
    chunks, questions = brought.chunks, brought.questions
    texts = {one.id: f"{one.title or ''} {one.text}".strip() for one in chunks}
    return _collection(
        folder.name, texts, [Question(one.id, one.text, relevant=one.relevant) for one in questions if one.relevant]
    )


def _collection(name: str, texts: Mapping[str, str], asked: Sequence[Question]) -> Collection:
    return Collection(name, [Chunk(one, texts[one]) for one in sorted(texts)], asked)


def ours(one: Collection, variant: Any = "lucene", k1: float = K1, b: float = B) -> Array:
    """nDCG@10 of each question. A passage that is the question itself does not count, as in BEIR."""
    retriever = retrievers.Bm25Retriever(
        RetrieverSettings(variant=variant, k1=k1, b=b), dataset_of(one.chunks, one.questions, one.name)
    )
    found = retriever.search([question.text for question in one.questions], DEPTH + 1).hits
    hits = {
        question.id: [hit for hit in row if hit.chunk.id != question.id][:DEPTH]
        for question, row in zip(one.questions, found, strict=True)
    }
    ranked = ranking_arrays.from_questions(one.questions, hits, depth=DEPTH)
    return evaluate(ranked, [f"ndcg@{DEPTH}"])[f"ndcg@{DEPTH}"]


def of_bm25s(corpus: Tokens, variant: str) -> Callable[[Sequence[str]], Array]:
    """Gives the scores of all passages."""
    import bm25s

    delta = {"bm25l": 0.5}.get(variant, 1.0)
    library = bm25s.BM25(k1=K1, b=B, delta=delta, method=variant, dtype="float64")
    library.index(corpus, show_progress=False)

    def scores(asked: Sequence[str]) -> Array:
        known = [word for word in asked if word in library.vocab_dict]
        return library.get_scores(known) if known else np.zeros(len(corpus))

    return scores


def of_rank_bm25(corpus: Tokens, variant: str, epsilon: float = 0.0) -> Callable[[Sequence[str]], Array] | None:
    """Gives the scores of all passages; None for a variant that it does not have."""
    import rank_bm25

    if variant == "bm25+":
        return rank_bm25.BM25Plus(corpus, k1=K1, b=B, delta=1.0).get_scores
    if variant == "bm25l":
        return None
    okapi = rank_bm25.BM25Okapi(corpus, k1=K1, b=B, epsilon=epsilon)
    within, number = Counter(word for text in corpus for word in set(text)), len(corpus)
    if variant == "lucene":
        okapi.idf = {word: math.log(1 + (number - df + 0.5) / (df + 0.5)) for word, df in within.items()}
    elif variant == "atire":
        okapi.idf = {word: math.log(number / df) for word, df in within.items()}
    factor = 1.0 if variant == "atire" else K1 + 1
    return lambda asked: okapi.get_scores(asked) / factor


def ndcg(one: Collection, corpus: Tokens, scores: Callable[[Sequence[str]], Array]) -> Array:
    """By hand: gains of 1, ties by id; a passage that shares no word is not found."""
    places = {chunk.id: place for place, chunk in enumerate(one.chunks)}
    holds = [frozenset(text) for text in corpus]
    values = []
    for question in one.questions:
        asked = retrievers.tokens(question.text)
        given = np.round(scores(asked), 9)
        shared = np.array([given[place] > 0 and not words.isdisjoint(asked) for place, words in enumerate(holds)])
        order = [int(place) for place in np.lexsort((np.arange(len(given)), -given)) if shared[place]][:DEPTH]
        wanted = {places[name] for name in question.relevant}
        gained = sum(1 / math.log2(rank + 1) for rank, place in enumerate(order, 1) if place in wanted)
        values.append(gained / sum(1 / math.log2(rank + 1) for rank in range(1, min(DEPTH, len(wanted)) + 1)))
    return np.array(values)


def lucene_words(text: str) -> list[str]:
    """Words as Lucene's English analyzer makes them, nearly: no possessives, its stop words out, Porter's stems."""
    found = [re.sub(r"['’]s$", "", word) for word in re.findall(r"\w+(?:[.'’]\w+)*", text.lower())]
    return [_porter(word) for word in found if word not in STOP_WORDS]


@cache
def _porter(word: str) -> str:
    from nltk.stem import PorterStemmer

    return str(PorterStemmer(mode=PorterStemmer.MARTIN_EXTENSIONS).stem(word))


def with_words_of_lucene(one: Collection, k1: float, b: float) -> Array:
    """`ours`, with those words in the place of our own."""
    with mock.patch.object(retrievers, "tokens", lucene_words):
        return ours(replace(one, name=f"{one.name} by Lucene's words"), "lucene", k1, b)


def compared(one: Collection) -> None:
    """Print a line a variant."""
    corpus = [retrievers.tokens(chunk.text) for chunk in one.chunks]
    print(f"{one.name}: {len(one.questions)} questions, {len(one.chunks)} passages")
    for variant in VARIANTS:
        mine = ours(one, variant)
        told = [f"ragbench {mine.mean():.6f}", _beside("bm25s", mine, ndcg(one, corpus, of_bm25s(corpus, variant)))]
        try:
            peer = of_rank_bm25(corpus, variant)
            if peer is not None:
                told.append(_beside("rank-bm25", mine, ndcg(one, corpus, peer)))
            if variant == "robertson":
                default = of_rank_bm25(corpus, variant, 0.25)
                assert default is not None
                told.append(_beside("its BM25Okapi as it is", mine, ndcg(one, corpus, default)))
        except ModuleNotFoundError:
            told.append("rank-bm25 is not there")
        print(f"  {variant:<10}", "; ".join(told), flush=True)


def _beside(name: str, mine: Array, theirs: Array) -> str:
    off = np.abs(mine - theirs)
    where = f", {int((off > SAME).sum())} of {len(off)} questions" if off.max() > SAME else ""
    return f"{name} {theirs.mean():.6f}, off by {off.max():.0e} at most{where}"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--beir", type=Path, nargs="*", default=[])
    asked = parser.parse_args()
    for one in collections(asked.data) if asked.data.is_dir() else ():
        compared(one)
    for one in map(beir_folder, asked.beir):
        print(
            f"{one.name}: {len(one.questions)} questions, {len(one.chunks)} passages; as it is {ours(one).mean():.4f}"
        )
        published = PUBLISHED.get(one.name, math.nan)
        for words, values in (("our", ours(one, "lucene", 0.9, 0.4)), ("its", with_words_of_lucene(one, 0.9, 0.4))):
            mean = float(values.mean())
            print(f"  k1 0.9, b 0.4, {words} words: {mean:.4f}, published {published:.4f}, {mean - published:+.4f}")


if __name__ == "__main__":
    main()
