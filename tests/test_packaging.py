"""The files that set a machine up agree with each other."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DECLARED = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"]]


def locked() -> dict[str, str]:
    lines = (ROOT / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pins = [line.split("==") for line in lines if line and not line.startswith("#")]
    return {canonicalize_name(name): version for name, version in pins}


def test_the_conda_environment_names_the_same_packages() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    [pip] = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    named = [str(Requirement(line)) for line in pip if not line.startswith("-")]
    assert sorted(named) == sorted(str(Requirement(line)) for line in DECLARED)
    assert "-c requirements.lock" in pip


def test_the_lock_pins_every_declared_package_within_its_range() -> None:
    pins = locked()
    for line in DECLARED:
        wanted = Requirement(line)
        assert canonicalize_name(wanted.name) in pins, f"{wanted.name} is not in requirements.lock: run `make lock`"
        assert wanted.specifier.contains(pins[canonicalize_name(wanted.name)], prereleases=True), line


def test_the_lock_is_not_tied_to_one_machine() -> None:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "+cpu" not in text
    assert "file:" not in text
    assert not re.search(r"^(nvidia|cuda|triton)", text, re.MULTILINE | re.IGNORECASE)


def test_the_makefile_has_its_targets() -> None:
    text = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z]+):", text, re.MULTILINE))
    assert {"setup", "report", "test", "lab", "check", "bench", "clean", "calibrate"} <= targets


def test_continuous_integration_calls_the_test_command() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert re.search(r"^make test$", script, re.MULTILINE)
    subprocess.run(["bash", "-n", str(ROOT / ".ci" / "run")], check=True)
