"""Settings: typed, closed to unknown keys, secrets from the environment alone."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import jsonschema
import pytest
from pydantic import BaseModel

from ragbench.old.core import settings
from ragbench.old.core.settings import ConfigurationError, MetricSettings, MetricsSettings, Settings, schema


def write(folder: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = folder / "other.toml"
    path.write_text(text, encoding="utf-8")
    monkeypatch.setenv("RAGBENCH_CONFIG", str(path))
    settings.load.cache_clear()


def test_the_file_is_read_and_the_environment_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(
        tmp_path,
        'dataset = "mine"\nlanguage = "en"\n[judges.big]\nbase_url = "http://x/v1"\nmodel = "m"\n',
        monkeypatch,
    )
    monkeypatch.setenv("RAGBENCH_LANGUAGE", "ru")
    found = settings.load()
    assert (found.dataset, found.language) == ("mine", "ru")
    assert found.judges["big"].concurrency == 16
    assert settings.project_folder() == tmp_path.resolve()


def test_the_project_file_is_valid(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGBENCH_CONFIG", str(Path(__file__).parents[4] / "ragbench.toml"))
    found = settings.load()
    assert found.baseline in found.systems
    assert len(found.systems) >= 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("datset = 'x'\n", r"there is no key 'datset'; did you mean dataset\? Legal here: .*baseline, .*language"),
        ("[systems.a]\nembeder = 'hashing'\n", r"no key 'systems.a.embeder'; did you mean embedder\?.*ef_search"),
        ("[databases.a.chunks]\nidd = 'x'\n", r"no key 'databases.a.chunks.idd'; did you mean id\?.*embedding, id"),
        ("[thresholds.mine.mrr]\ngod = 1\n", r"no key 'thresholds.mine.mrr.god'; did you mean good\?"),
        ("[embedders.hashing]\nkind = 'database'\ndatabase = 'b'\n", "databases are none"),
        ("language = 'de'\n", "language = 'de'.*'en' or 'ru'"),
        ("[systems.a]\nembedder = 'none'\n", r"systems\.a\.embedder = 'none': .*embedders are auto, hashing"),
        ("[systems.a]\n", "one of embedder, retriever, callable, results, url; given: none"),
        ("[systems.a]\ncallable = 'module.function'\n", "module:function"),
        ("baseline = 'z'\n", "baseline = 'z': systems are bm25, dense, hybrid"),
        ("[judges.lexical]\nbase_url = 'http://x'\nmodel = 'm'\n", "belongs to the offline judge"),
        ("[judges.a]\nbase_url = 'file:///etc/passwd'\nmodel = 'm'\n", "only http and https"),
        ("[judges.a]\nbase_url = 'http://x'\nmodel = 'm'\nconcurrency = 0\n", "judges.a.concurrency = 0"),
        ("[embedders.a]\nkind = 'openai'\nmodel = 'm'\n", "needs `base_url`"),
        ("database_url = 'postgresql://u:p@h/d'\n", "RAGBENCH_DATABASE_URL instead"),
        ("dataset = \n", "not a TOML file"),
        (f"a{'.a' * 400_000} = 1\n", "line 1 has a name of more than 200 parts"),
        (f"[x]\n\"=\" . 'b'{' .a' * 400} = 1\n", "line 2 has a name of more than 200 parts"),
        (f"[judges.a]\nmodel = 'm'\nfamily = '{'One sentence. ' * 300}'\n", "judges.a"),
    ],
)
def test_a_fault_names_the_key_and_what_is_legal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, expected: str
) -> None:
    write(tmp_path, text, monkeypatch)
    with pytest.raises(ConfigurationError, match=expected):
        settings.load()


def test_a_named_file_that_is_missing_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGBENCH_CONFIG", str(tmp_path / "none.toml"))
    with pytest.raises(ConfigurationError, match="there is no such file"):
        settings.load()


def test_an_unknown_variable_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "", monkeypatch)
    monkeypatch.setenv("RAGBENCH_LANGAUGE", "ru")
    with pytest.raises(ConfigurationError, match=r"RAGBENCH_LANGAUGE; legal: .*RAGBENCH_LANGUAGE"):
        settings.load()


def test_a_judges_key_may_have_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, '[judges.a]\nbase_url = "http://x"\nmodel = "m"\nkey_variable = "RAGBENCH_MY_KEY"\n', monkeypatch)
    monkeypatch.setenv("RAGBENCH_MY_KEY", "canary")
    assert "canary" not in repr(settings.load())


@pytest.mark.fault("secrets", tried="passwords of database addresses in what commands say", count=1)
def test_the_database_url_never_prints_its_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "", monkeypatch)
    monkeypatch.setenv("RAGBENCH_DATABASE_URL", "postgresql://user:canary@host/name")
    found = settings.load()
    assert "canary" not in repr(found)
    assert found.database_url is not None
    assert found.database_url.get_secret_value().endswith("canary@host/name")


def models(kind: Any = Settings) -> Iterator[type[BaseModel]]:
    """A model of the settings with those of its tables, however deep."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        yield kind
        for field in kind.model_fields.values():
            yield from models(field.annotation)
        if kind is MetricsSettings:  # the one table with tables of any name beside its keys
            yield from models(MetricSettings)
    for inner in get_args(kind):
        yield from models(inner)


def test_every_setting_says_what_it_is() -> None:
    found = {model.__name__: model for model in models()}
    assert found.keys() >= {"Settings", "JudgeSettings", "ProviderSettings", "BudgetSettings", "Band", "QuestionTable"}
    assert [
        f"{model}.{name}"
        for model, known in found.items()
        for name, field in known.model_fields.items()
        if not field.description or "|" in field.description
    ] == []


@pytest.fixture(scope="module")
def editor() -> jsonschema.Draft7Validator:
    """What an editor checks a ragbench.toml with."""
    made = json.loads(schema.text())
    jsonschema.Draft7Validator.check_schema(made)
    return jsonschema.Draft7Validator(made)


def test_editors_take_the_project_file(editor: jsonschema.Draft7Validator) -> None:
    text = (Path(__file__).parents[4] / "ragbench.toml").read_text(encoding="utf-8")
    assert text.splitlines()[0] == schema.LINE
    assert list(editor.iter_errors(tomllib.loads(text))) == []


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("datset = 'x'", ""), ("language = 'de'", "language"), ("quorum = 0", "quorum"),
        ("database_url = 'postgresql://u:p@h/d'", ""), ("[systems.a]\nembeder = 'hashing'", "systems.a"),
        ("[judges.a]\nbase_url = 'http://x'", "judges.a"), ("[embedders.a]\nkind = 'other'", "embedders.a.kind"),
        ("[embedders.a]\nngrams = [3, 4, 5]", "embedders.a.ngrams"), ("[budget]\ncalls = 0.5", "budget.calls"),
        ("[generators.a]\ntop_p = 0", "generators.a.top_p"), ("[thresholds.a.mrr]\ngod = 1", "thresholds.a.mrr"),
        ("[databases.a.chunks]\ntable = 3", "databases.a.chunks.table"),
        ("[smallest_difference.metrics]\nmrr = -1", "smallest_difference.metrics.mrr"),
    ],
)  # fmt: skip
def test_editors_mark_what_the_loader_refuses(
    editor: jsonschema.Draft7Validator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, place: str
) -> None:
    assert place in {".".join(map(str, error.absolute_path)) for error in editor.iter_errors(tomllib.loads(text))}
    write(tmp_path, text, monkeypatch)
    with pytest.raises(ConfigurationError):
        settings.load()


JUDGE = '[judges.mine]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\n'


@pytest.mark.parametrize(
    ("text", "systems", "dataset"),
    [
        (JUDGE, ["bm25", "dense", "hybrid"], "campus"),
        ('language = "ru"\n', ["bm25", "dense", "hybrid"], "campus"),
        ("", ["bm25", "dense", "hybrid"], "campus"),
        (f'dataset = "own"\n{JUDGE}', ["bm25", "dense", "hybrid"], "own"),
        (f'data_folder = "elsewhere"\n{JUDGE}', ["bm25", "dense", "hybrid"], "campus"),
        (f'[systems.words]\nretriever = "bm25"\n{JUDGE}', ["words"], "campus"),
    ],
)
def test_a_file_that_names_no_systems_has_the_samples(
    text: str, systems: list[str], dataset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ragbench.toml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("RAGBENCH_CONFIG", str(tmp_path / "ragbench.toml"))
    settings.load.cache_clear()
    found = settings.load()
    assert (list(found.systems), found.dataset) == (systems, dataset)
    assert list(found.judges) == (["mine"] if JUDGE in text else [])
    if len(systems) == 3:
        assert (found.baseline, found.embedders_of("dense")) == ("bm25", ("sentences",))
    monkeypatch.setenv("RAGBENCH_DATASET", "other")
    settings.load.cache_clear()
    assert list(settings.load().systems) == systems, "the environment names data"


SAMPLE = ["bm25", "dense", "hybrid"]


@pytest.mark.parametrize(
    "text",
    [
        "[judges.a]\nbase_url = 'http://x/v1'\nmodel = 'm'\n", "", "language = 'ru'\n", "dataset = 'mine'\n",
        "data_folder = 'elsewhere'\n", "embedder = 'mine'\n[embedders.mine]\ndimensions = 16\n",
        "[generators.short]\nsentences = 1\n", "[chunkers.small]\nsize = 20\n",
    ],
    ids=["judge", "nothing", "language", "data", "folder", "embedder", "generator", "chunker"],
)  # fmt: skip
def test_who_names_no_system_gets_the_three_of_the_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    write(tmp_path, text, monkeypatch)
    found = settings.load()
    assert found.systems_in_order == SAMPLE
    assert found.baseline == "bm25"
    assert found.dataset == ("mine" if "'mine'" in text and "dataset" in text else "campus")
    assert found.embedders_of("hybrid") == ("sentences",)


def test_a_table_of_ones_own_is_not_mixed_with_that_of_the_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "[retrievers.dense]\nkind = 'bm25'\nk1 = 1.2\n[embedders.sentences]\ndimensions = 16\n"
    write(tmp_path, text, monkeypatch)
    found = settings.load()
    assert found.retriever("dense").kind == "bm25"  # type: ignore[union-attr]
    assert found.embedders["sentences"].kind == "hashing"
    assert list(found.systems) == SAMPLE


def test_who_names_systems_has_no_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "[systems.mine]\nretriever = 'bm25'\n", monkeypatch)
    assert list(settings.load().systems) == ["mine"]
    monkeypatch.setenv("RAGBENCH_SYSTEMS", '{"other": {"retriever": "bm25"}}')
    settings.load.cache_clear()
    assert sorted(settings.load().systems) == ["mine", "other"]


MODEL = "[embedders.minilm]\nkind = 'minilm'\n"
OWN = "[systems.a]\nembedder = 'own'\n"
NGRAMS = "[systems.ngrams]\nembedder = 'hashing'\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "sentences"),
        ("[systems.a]\nretriever = 'bm25'\n", "auto"),
        (NGRAMS, "auto"),
        (NGRAMS + "[systems.b]\nembedder = 'minilm'\n" + MODEL, "minilm"),
        (NGRAMS + MODEL, "auto"),
        ("embedder = 'hashing'\n[systems.b]\nembedder = 'minilm'\n" + MODEL, "hashing"),
        ("embedder = 'minilm, hashing'\n" + NGRAMS + MODEL, "minilm, hashing"),
        ("[databases.own]\n[embedders.own]\nkind = 'database'\ndatabase = 'own'\n" + OWN, "auto"),
    ],
)  # fmt: skip
def test_what_metrics_embed_with(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, expected: str) -> None:
    monkeypatch.delenv("RAGBENCH_EMBEDDER")
    write(tmp_path, text, monkeypatch)
    assert settings.load().metric_embedder == expected


def test_a_model_without_a_kind_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path, "[embedders.e5]\nbase_url = 'http://x/v1'\nmodel = 'e5'\n", monkeypatch)
    with pytest.raises(
        ConfigurationError, match=r"model = 'e5' is of an embedder of kind 'openai' or .*: write kind ="
    ):
        settings.load()


def test_an_embedder_of_metrics_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAGBENCH_EMBEDDER")
    write(tmp_path, "embedder = 'hasing'\n", monkeypatch)
    with pytest.raises(ConfigurationError, match=r"embedder = 'hasing': .* did you mean 'hashing'"):
        settings.load()


@pytest.mark.parametrize(
    ("text", "place"),
    [('[systems.x]\nresults = "a\\u0000"\n', "systems.x.results"), ('reports_folder = "\\u0000"\n', "reports_folder"),
     ('[judges.x]\nwithout = ["seed", "a\\u0000"]\n', "judges.x.without")],
)  # fmt: skip
def test_a_null_character_is_refused_by_its_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, place: str
) -> None:
    write(tmp_path, text, monkeypatch)
    with pytest.raises(ConfigurationError, match=rf"{place}: it has a null character"):
        settings.load()
