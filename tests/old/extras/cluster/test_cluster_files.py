"""The files and commands for a cluster say only what there is: programs, options, variables, paths, services."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from ragbench.old.core import settings

pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
ROOT = Path(__file__).parents[4]
FOLDER = ROOT / "docs" / "how-to" / "cluster"
COMPOSE = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
KUBERNETES = list(yaml.safe_load_all((FOLDER / "kubernetes.yaml").read_text(encoding="utf-8")))
KEY = "MY_JUDGE_KEY"
"""Whatever a project's key is called."""


def containers() -> Iterator[Mapping[str, Any]]:
    """Of Compose and of Kubernetes: what runs ragbench or Dask."""
    yield from (one for one in COMPOSE["services"].values() if one.get("image") == "ragbench-cluster")
    for one in KUBERNETES:
        if "template" in one["spec"]:
            yield from one["spec"]["template"]["spec"]["containers"]


def variables(one: Mapping[str, Any]) -> set[str]:
    given = one.get("environment") or {each["name"]: each["value"] for each in one.get("env", ())}
    return set(given)


def parsed(words: list[str]) -> dict[str, Any]:
    """The options of a line of Dask, as its own programs read them."""
    from distributed.cli import dask_scheduler, dask_worker

    command: click.Command = {"scheduler": dask_scheduler.main, "worker": dask_worker.main}[words[1]]
    return command.make_context(words[1], words[2:]).params


def test_every_line_of_dask_is_one_that_dask_understands() -> None:
    lines = [one["command"] for one in containers() if one["command"][0] == "dask"]
    assert lines
    for words in lines:
        found = parsed(words)
        assert found["dashboard"] is False, words
        if words[1] == "worker":
            assert (found["nthreads"], found["memory_limit"]) == (1, "0"), words
            assert int(found["n_workers"]) >= 1
        else:
            assert found["port"] == "8786"
    with pytest.raises(click.UsageError):
        parsed(["dask", "worker", "tcp://host:8786", "--thread", "1"])


def test_every_line_of_ragbench_is_one_that_there_is() -> None:
    lines = [one["command"] for one in containers() if one["command"][0] == "ragbench"]
    assert len(lines) == 2
    schedulers = {words[words.index("--cluster") + 1] for words in lines}
    workers = {one["command"][2] for one in containers() if one["command"][:2] == ["dask", "worker"]}
    assert schedulers == workers == {"tcp://scheduler:8786"}


def test_every_variable_is_one_that_somebody_reads() -> None:
    import dask
    import distributed  # noqa: F401 - its defaults are in the configuration then

    texts = [path.read_text(encoding="utf-8") for path in FOLDER.iterdir()]
    texts.append((ROOT / "docs" / "how-to" / "cluster.md").read_text(encoding="utf-8"))
    named = set(re.findall(r"\b(?:RAGBENCH|DASK)_[A-Z_]*[A-Z]\b", "\n".join(texts)))
    assert {"RAGBENCH_DATABASE_URL", "RAGBENCH_TRUST", "RAGBENCH_CLUSTER"} <= named
    for name in named:
        prefix, _, rest = name.partition("_")
        if prefix == "RAGBENCH":
            assert rest.lower() in settings.Settings.model_fields or name in settings.PROCESS_VARIABLES, name
        elif "TLS" not in name:  # these take the name of a role, and have no default
            assert dask.config.get(rest.lower().replace("__", ".").replace("_", "-"), name) != name


def test_who_works_and_who_asks_have_the_same_database_and_keys() -> None:
    who = {name: variables(one) for name, one in COMPOSE["services"].items()}
    assert {"RAGBENCH_DATABASE_URL", KEY} <= who["worker"]
    assert who["run"] - who["worker"] == {"RAGBENCH_TRUST"}
    assert "RAGBENCH_DATABASE_URL" not in who["scheduler"]
    secrets = [one for one in containers() if "envFrom" in one]
    assert len(secrets) == 2
    assert all(one["envFrom"] == [{"secretRef": {"name": "ragbench"}}] for one in secrets)
    for one in containers():
        if one["command"][0] == "dask":
            role = one["command"][1].upper()
            assert f"DASK_DISTRIBUTED__{role}__HTTP__ROUTES" in variables(one), "no pages that show logs"


def test_the_project_is_at_one_path_and_only_who_asks_writes_to_it() -> None:
    volumes = {name: one.get("volumes", []) for name, one in COMPOSE["services"].items()}
    assert [one.rpartition("}")[2] for one in (*volumes["worker"], *volumes["run"])] == [":/project:ro", ":/project"]
    mounts = [one["volumeMounts"][0] for one in containers() if "volumeMounts" in one]
    assert [(one["mountPath"], one.get("readOnly", False)) for one in mounts] == [
        ("/project", True),
        ("/project", False),
    ]
    assert "WORKDIR /project" in (FOLDER / "Dockerfile").read_text(encoding="utf-8")


def test_services_and_volumes_that_are_named_are_there() -> None:
    for one in COMPOSE["services"].values():
        assert set(one.get("depends_on", ())) <= set(COMPOSE["services"])
        assert "ports" not in one, "whoever reaches the scheduler can run code"
    assert set(COMPOSE["volumes"]) == {"database"}
    claimed = [
        volume["persistentVolumeClaim"]["claimName"]
        for one in KUBERNETES if "template" in one["spec"]
        for volume in one["spec"]["template"]["spec"].get("volumes", ())
    ]  # fmt: skip
    assert claimed == ["project", "project"]


def test_every_file_that_is_named_is_there() -> None:
    build = COMPOSE["x-ragbench"]["build"]
    context = (FOLDER / build["context"]).resolve()
    assert context == ROOT
    assert (context / build["dockerfile"]).resolve() == FOLDER / "Dockerfile"
    image = (FOLDER / "Dockerfile").read_text(encoding="utf-8")
    copied = [word for line in re.findall(r"^COPY (.+)$", image, re.MULTILINE) for word in shlex.split(line)[:-1]]
    assert len(copied) > 8
    assert [name for name in copied if not (ROOT / name).exists()] == []
    assert {"requirements.lock", "requirements-torch.lock"} <= set(re.findall(r"-r (\S+)", image))
    for path in FOLDER.iterdir():
        for named in re.findall(r"\bdocs/[\w./-]+", path.read_text(encoding="utf-8")):
            assert Path(ROOT / named).exists(), f"{path.name}: {named}"
