"""The configurations of a sweep: which there are, which are the same, which cannot be, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragbench.old.core import settings
from ragbench.old.core.settings import ConfigurationError
from ragbench.old.core.types import Chunk
from ragbench.old.core.types.reason import read
from ragbench.old.extras.sweeps import grid as room
from ragbench.old.extras.sweeps.grid import Grid

PARTS = """
[retrievers.dense]
kind = "dense"
embedder = "hashing"
[retrievers.both]
kind = "hybrid"
retrievers = ["bm25", "dense"]
[embedders.wide]
dimensions = 64
[rerankers.judge]
kind = "callable"
callable = "reranking:scores"
[generators.model]
kind = "openai"
model = "m"
base_url = "http://127.0.0.1:9/v1"
[systems.bm25]
retriever = "bm25"
"""
CHUNKS = (Chunk("a", "A text."),)


def grid(folder: Path, sweep: str, chunks: tuple[Chunk, ...] = CHUNKS) -> Grid:
    (folder / "ragbench.toml").write_text(f"{PARTS}[sweeps.first]\n{sweep}\n", encoding="utf-8")
    settings.load.cache_clear()
    known = settings.load()
    return room.grid(room.sweep("first", known), known, chunks)


@pytest.mark.usefixtures("bare")
def test_what_a_part_does_not_use_makes_no_other_configuration(tmp_path: Path) -> None:
    made = grid(
        tmp_path,
        'retriever = ["bm25", "dense", "both"]\nembedder = ["hashing", "wide"]\nfusion = ["rrf", "weighted"]',
    )
    assert [each.name for each in made.configurations] == [
        "hashing · bm25 · rrf", "hashing · dense · rrf", "hashing · both · rrf", "hashing · both · weighted",
        "wide · dense · rrf", "wide · both · rrf", "wide · both · weighted",
    ]  # fmt: skip
    assert read(made.left_out["wide · bm25 · rrf"]) == "bm25 embeds nothing: it is the same with any embedder"
    assert read(made.left_out["hashing · dense · weighted"]) == "dense fuses nothing: it is the same with any fusion"
    assert len(made.configurations) + len(made.left_out) == 12
    whole = made.settings.retriever("wide · both · weighted")
    assert whole is not None
    assert whole.fusion == "weighted"
    assert made.settings.embedders_of("wide · both · weighted") == ("wide",)
    assert made.settings.embedders_of("hashing · dense · rrf") == ("hashing",)


@pytest.mark.usefixtures("bare")
def test_those_that_retrieve_alike_are_searched_once(tmp_path: Path) -> None:
    made = grid(tmp_path, 'retriever = ["bm25", "dense"]\nk = [3, 5]\nmetric = "recall@10"')
    assert [(each.k, each.search) for each in made.configurations] == [
        (3, "retriever=bm25"), (5, "retriever=bm25"), (3, "retriever=dense"), (5, "retriever=dense"),
    ]  # fmt: skip
    assert made.depth == room.DEEP


@pytest.mark.usefixtures("bare")
def test_a_reranker_without_texts_is_left_out_and_the_others_stay(tmp_path: Path) -> None:
    made = grid(tmp_path, 'reranker = ["none", "judge"]\nk = [3, 5]', (Chunk("a", " "),))
    assert [each.name for each in made.configurations] == ["none · 3", "none · 5"]
    assert read(made.left_out["judge · 3"]) == "the passages have no text that judge could read"


@pytest.mark.usefixtures("bare")
def test_an_index_that_few_passages_do_not_fill_is_left_out_before_anything_is_embedded(tmp_path: Path) -> None:
    lists = '[retrievers.lists]\nkind = "dense"\nembedder = "hashing"\nindex = "ivfflat"'
    sweep = f'retriever = ["bm25", "dense", "lists"]\n{lists}'
    made = grid(tmp_path, sweep, tuple(Chunk(str(n), "A text.") for n in range(10)))
    assert [each.name for each in made.configurations] == ["bm25", "dense"]
    assert 'index = "ivfflat", no lists set, and 10 passages' in read(made.left_out["lists"])
    few = grid(tmp_path, f"{sweep}\nlists = 1", tuple(Chunk(str(n), "A text.") for n in range(10)))
    assert [each.name for each in few.configurations] == ["bm25", "dense", "lists"]


@pytest.mark.usefixtures("bare")
def test_a_prompt_is_of_generators_that_ask_a_model(tmp_path: Path) -> None:
    (tmp_path / "short.txt").write_text("{question} {contexts}", encoding="utf-8")
    made = grid(
        tmp_path,
        'generator = ["extractive", "model"]\nprompt = ["built-in", "short.txt"]\nmetric = "token_f1"',
    )
    assert [each.name for each in made.configurations] == [
        "extractive · built-in", "model · built-in", "model · short.txt",
    ]  # fmt: skip
    assert made.settings.generators["model short.txt"].prompt == Path("short.txt")


@pytest.mark.usefixtures("bare")
@pytest.mark.parametrize(
    ("sweep", "said"),
    [
        ('retriever = ["bm25", "densee"]', r"sweeps.first.retriever = 'densee'.*did you mean 'dense'"),
        ('retriever = ["bm25", "bm25"]', "each value once"),
        ('retriever = ["bm25"]', "the factors make 1 configurations: 2 to 1000 are expected"),
        ('retrievers = ["bm25", "dense"]', "no key 'sweeps.first.retrievers'; did you mean retriever"),
        ("k = [0, 3]", "sweeps.first.k.0 = 0"),
        ('prompt = ["built-in", "../secret.txt"]', "a file below"),
        ('generator = ["extractive", "model"]', "mrr reads rankings and sees nothing of it"),
        ('k = [3, 5]\nmetric = "mrrr"', "metric = 'mrrr'"),
        ('k = [3, 5]\nmetric = "response_exact_match_rate"', "one of rankings or of single answers is expected"),
        ('retriever = ["bm25"]\nembedder = ["hashing", "wide"]', "fewer than two configurations can be"),
    ],
)
def test_wrong_factors_are_refused_with_what_is_legal(tmp_path: Path, sweep: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        grid(tmp_path, sweep)


@pytest.mark.usefixtures("bare")
def test_a_sweep_that_is_not_there_is_named_with_those_that_are(tmp_path: Path) -> None:
    (tmp_path / "ragbench.toml").write_text("[sweeps.parts]\nk = [3, 5]\n", encoding="utf-8")
    settings.load.cache_clear()
    assert room.only() == "parts"
    with pytest.raises(ConfigurationError, match=r"there is no \[sweeps.part\].*did you mean 'parts'"):
        room.sweep("part", settings.load())
