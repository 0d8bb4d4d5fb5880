"""Settings: typed, closed to unknown keys, secrets from the environment alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragbench import settings
from ragbench.settings import ConfigurationError


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
    monkeypatch.setenv("RAGBENCH_CONFIG", str(Path(__file__).parent.parent / "ragbench.toml"))
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
        ("[systems.a]\nembedder = 'none'\n", r"systems\.a\.embedder = 'none': .*embedders are hashing"),
        ("[systems.a]\n", "one of embedder, callable, results; given: none"),
        ("[systems.a]\ncallable = 'module.function'\n", "module:function"),
        ("baseline = 'z'\n", "baseline = 'z': systems are hashing"),
        ("[judges.lexical]\nbase_url = 'http://x'\nmodel = 'm'\n", "belongs to the offline judge"),
        ("[judges.a]\nbase_url = 'file:///etc/passwd'\nmodel = 'm'\n", "only http and https"),
        ("[judges.a]\nbase_url = 'http://x'\nmodel = 'm'\nconcurrency = 0\n", "judges.a.concurrency = 0"),
        ("[embedders.a]\nkind = 'openai'\nmodel = 'm'\n", "needs `base_url`"),
        ("database_url = 'postgresql://u:p@h/d'\n", "RAGBENCH_DATABASE_URL instead"),
        ("dataset = \n", "not a TOML file"),
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
