"""ragbench.toml and the environment: what they set, and the sentence for what they may not."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from ragbench.core import settings
from ragbench.core.errors import BenchError
from ragbench.core.settings import load_settings

# ruff: noqa: E501
REFUSED = {
    "no TOML": ("language = ", "ragbench.toml cannot be read"),
    "a key": ("langage = 'ru'", "langage: there is no such key; did you mean 'language'"),
    "of a table": ("[budget]\ncals = 1", "budget.cals: .* did you mean 'calls'.* there are calls, tokens, money"),
    "of a named table": ("[judges.a]\ntemprature = 1", "judges.a.temprature: .* did you mean 'temperature'"),
    "of a band": ("[thresholds.a.mrr]\ngood = 1\nbest = 2", "there is no such key; there are good, excellent, scale"),
    "by its name here": ("[databases.a]\nshema = 'x'", "did you mean 'schema'"),
    "a key in a header": ("[judges.a]\nheaders = {X-Api-Key = 'canary'}", "X-Api-Key: name the variable that holds its secret"),
    "a key in a query": ("[judges.a]\nquery = {token = 'canary'}", "token: name the variable"),
    "a scheme": ("[judges.a]\nbase_url = 'ftp://h'", "begins with http:// or https://"),
    "a model that is not asked": ("[embedders.a]\nmodel = 'm'", "auto is a model of its own"),
    "an address that is not asked": ("[embedders.a]\nkind = 'navec'\nbase_url = 'http://h'", "navec is a model of its own"),
    "a provider that is not asked": ("[embedders.a]\nprovider = 'openai'", "auto is a model of its own"),
    "nothing": ("[systems.a]", "systems.a: it has nothing; name one of retriever"),
    "two things": ("[systems.a]\nretriever = 'bm25'\nurl = 'http://h'", "it has retriever and url"),
    "two things and a generator": ("[systems.a]\nretriever = 'bm25'\nurl = 'http://h'\ngenerator = 'g'", "it has retriever and url"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), REFUSED.values(), ids=REFUSED)
def test_what_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "ragbench.toml").write_text(text)
    with pytest.raises(BenchError, match=sentence) as refused:
        load_settings(tmp_path)
    assert "canary" not in str(refused.value)


ACCEPTED = {
    "a header": "[judges.a]\nheaders = {X-Api-Key = '{MY_KEY}', X-Team = 'me'}",
    "an embedder's endpoint": "[embedders.a]\nkind = 'openai'\nmodel = 'm'\nbase_url = 'https://h'",
    "a folder": "[embedders.a]\nkind = 'sentence_transformers'\nmodel = 'm'",
    "a generator alone": "[systems.a]\ngenerator = 'extractive'",
    "a retriever and a generator": "[systems.a]\nretriever = 'bm25'\ngenerator = 'extractive'",
}


@pytest.mark.parametrize("text", ACCEPTED.values(), ids=ACCEPTED)
def test_what_is_taken(tmp_path: Path, text: str) -> None:
    (tmp_path / "ragbench.toml").write_text(text)
    load_settings(tmp_path)


# Of numbers the usual value, the least and the greatest that are legal, and what lies beyond.
LIMITS = """
Model            temperature       None 0    2       -0.1 2.1
Model            top_p             None 0.01 1       0 1.1
Model            max_tokens        None 1    1000000 0
Model            dimensions        None 1    1000000 0
Model            concurrency       16   1    4096    0 4097
Model            timeout_seconds   120  0.1  1000000 0
Model            connect_seconds   10   0.1  1000000 0
Model            read_seconds      120  0.1  1000000 0
Model            attempts          6    1    100     0 101
Model            patience_seconds  300  0.1  1000000 0
Model            input_price       0    0    1000000 -0.1
Model            output_price      0    0    1000000 -0.1
EmbedderTable    batch             64   1    1000000 0
RetrieverTable   m                 16   2    100     1 101
RetrieverTable   ef_construction   64   4    1000    3 1001
RetrieverTable   ef_search         40   1    1000    0 1001
RetrieverTable   lists             None 1    32768   0 32769
RetrieverTable   probes            1    1    32768   0 32769
RerankerTable    depth             20   1    1000    0 1001
GeneratorTable   sentences         2    1    20      0 21
GeneratorTable   refuse_below      0.49 0    1       -0.1 1.1
SystemTable      ef_search         40   1    1000    0 1001
SystemTable      probes            1    1    32768   0 32769
SystemTable      concurrency       1    1    1024    0 1025
SystemTable      timeout_seconds   60   0.1  1000000 0
DatabaseSettings connections       8    1    90      0 91
DatabaseSettings connect_seconds   10   0.1  1000000 0
DatabaseSettings statement_seconds 600  0.1  1000000 0
DatabaseSettings lock_seconds      20   0.1  1000000 0
Budget           calls             None 1    1000000 0
Budget           tokens            None 1    1000000 0
Budget           money             None 0.1  1000000 0
Gate             not_worse_by      None 0.1  1000000 0
Gate             most_unmeasured   0.02 0    1       -0.1 1.1
Settings         tolerance         None 0    1000000 -0.1
Settings         quorum            None 1    1000000 0
"""
NEEDED: dict[str, dict[str, Any]] = {
    "RetrieverTable": {"kind": "bm25"},
    "RerankerTable": {"kind": "judge"},
    "SystemTable": {"retriever": "bm25"},
    "Gate": {"metric": "mrr"},
}


@pytest.mark.parametrize("line", LIMITS.strip().splitlines(), ids=lambda line: line[:35])
def test_the_usual_value_and_the_limits_of_a_number(line: str) -> None:
    name, key, *words = line.split()
    usual, least, most, *beyond = map(ast.literal_eval, words)
    table: type[BaseModel] = getattr(settings, name)
    needed = NEEDED.get(name, {})
    assert getattr(table.model_validate(needed), key) == usual
    for value in (least, most):
        assert getattr(table.model_validate({**needed, key: value}), key) == value
    for value in beyond:
        with pytest.raises(ValidationError):
            table.model_validate({**needed, key: value})


def test_the_environment_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "ragbench.toml").write_text("language = 'en'\n[budget]\ncalls = 3\ntokens = 9")
    monkeypatch.setenv("RAGBENCH_LANGUAGE", "ru")
    monkeypatch.setenv("RAGBENCH_BUDGET__CALLS", "7")
    monkeypatch.setenv("RAGBENCH_JUDGES__MINE__MODEL", "m")
    monkeypatch.setenv("RAGBENCH_JOURNAL", "no key of the file")
    monkeypatch.setenv("BASELINE", "of another program")
    read = load_settings(tmp_path)
    assert (read.language, read.budget.calls, read.budget.tokens) == ("ru", 7, 9)
    assert read.baseline == ""
    assert read.judges["mine"].model == "m"
    assert read.root == tmp_path.resolve()
    monkeypatch.setenv("RAGBENCH_BUDGET__CALLS", "many")
    monkeypatch.chdir("/")
    with pytest.raises(BenchError, match=r"the environment .*budget.calls: .* valid integer"):
        load_settings()


def test_the_environment_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own.toml").write_text("language = 'ru'")
    (tmp_path / "ragbench.toml").write_text("baseline = 'a'")
    for named, expected in ((tmp_path / "own.toml", ("ru", "")), (tmp_path, ("en", "a"))):
        monkeypatch.setenv("RAGBENCH_CONFIG", str(named))
        read = load_settings()
        assert (read.language, read.baseline) == expected
    monkeypatch.setenv("RAGBENCH_CONFIG", str(tmp_path / "none.toml"))
    with pytest.raises(BenchError, match=r"there is no .*none.toml; `ragbench init` writes one"):
        load_settings()


def test_a_header_is_filled_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "abc")
    model = settings.Model(headers={"Authorization": "Bearer {MY_KEY}", "X-Team": "me"})
    assert model.filled_headers() == {"Authorization": "Bearer abc", "X-Team": "me"}
    monkeypatch.delenv("MY_KEY")
    with pytest.raises(BenchError, match="variable MY_KEY is not set"):
        model.filled_headers()
