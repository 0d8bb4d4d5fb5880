"""`python -m tests.release.smoke [--brief] [PYTHON …]` (`make smoke`): a new environment of each Python, a first
report, two runs compared, and the tests of the numbers.

Without names it is the newest of each version of VERSIONS that is found on the PATH or among pyenv's; where there is
none that is said. Environments are made from the lock files, with an index as pip is set to. Where that has no CPU
build of PyTorch, and with --brief, there is none: nothing of a report with the models of ragbench.toml imports it.
--brief leaves the tests of the numbers out as well, and all of the report but Tier 1.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[2]
NUMBERS = ("tests/old/stats", "tests/old/metrics")
VERSIONS = ("3.12", "3.13")


def newest(version: str, pyenv: Path) -> str | None:
    """The newest Python of a version that this machine has and that can make environments; None if it has none."""
    known = [found for found in [shutil.which(f"python{version}")] if found]
    known += [str(one) for one in pyenv.glob(f"versions/{version}.*/bin/python")]
    asked = "import ensurepip, venv, sys; print(*sys.version_info[:3])"
    told = {
        one: subprocess.run([one, "-c", asked], capture_output=True, text=True, check=False)
        for one in known
    }
    able = {
        one: [*map(int, done.stdout.split())] for one, done in told.items() if done.returncode == 0
    }
    fitting = {
        one: found for one, found in able.items() if found[:2] == [*map(int, version.split("."))]
    }
    return max(fitting, key=lambda one: fitting[one], default=None)


def tried(python: str, folder: Path, brief: bool) -> str:
    """What came of one Python, in a line. Raises CalledProcessError, with what was said on the terminal."""
    begun = time.monotonic()
    subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
    program, empty = folder / "venv" / "bin", folder / "empty"
    empty.mkdir()
    pip = [
        program / "python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--no-deps",
        "--no-compile",
    ]
    lock = (ROOT / "requirements-torch.lock").read_text(encoding="utf-8")
    locked = [*pip, "--require-hashes", "-r", ROOT / "requirements-torch.lock"]
    torch = not brief and subprocess.run(locked, check=False).returncode == 0
    if not torch:
        [builder] = re.findall(r"^setuptools==.*(?:\n    --hash.*)+", lock, re.MULTILINE)
        (folder / "builder.lock").write_text(builder + "\n", encoding="utf-8")
        subprocess.run([*pip, "--require-hashes", "-r", folder / "builder.lock"], check=True)
    built = ("--no-build-isolation",)
    subprocess.run([*pip, *built, "--require-hashes", "-r", ROOT / "requirements.lock"], check=True)
    subprocess.run([*pip, *built, ROOT], check=True)
    known = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("RAGBENCH_") and key != "PYTHONPATH"
    }
    known["RAGBENCH_DATABASE__FOLDER"] = str(folder / "database")
    try:
        for words in (
            ["run", *(["tier1_retrieval"] if brief else []), "--name", "one"],
            ["run", "tier1_retrieval", "--name", "other"],
            ["compare", "one", "other", "--json", "difference.json"],
        ):
            subprocess.run([program / "ragbench", *words], cwd=empty, env=known, check=True)
    finally:
        subprocess.run([program / "ragbench", "db", "stop"], cwd=empty, env=known, check=False)
    pages = len(list((empty / "reports").glob("*/*.html")))
    said = f"{python}: {pages} pages, {'with' if torch else 'without'} PyTorch"
    if brief:
        return f"{said}, {time.monotonic() - begun:.0f} s"
    files = sorted(str(path) for pattern in NUMBERS for path in ROOT.glob(pattern))
    chosen = ("-q", "-n", "auto", "-p", "no:cacheprovider", "-m", "not slow and not browser")
    paths = {**known, "PYTHONPATH": str(ROOT)}
    subprocess.run(
        [program / "python", "-m", "pytest", *chosen, *files], cwd=ROOT, env=paths, check=True
    )
    return f"{said}, the tests of the numbers, {time.monotonic() - begun:.0f} s"


def main(*given: str) -> int:
    said, pythons = [], [one for one in given if one != "--brief"]
    if not pythons:
        pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
        for version in VERSIONS:
            found = newest(version, pyenv)
            pythons += [found] if found else []
            said += (
                []
                if found
                else [
                    f"Python {version}: this machine has none on its PATH or in {pyenv}: not tried"
                ]
            )
    for python in pythons:
        with tempfile.TemporaryDirectory(
            prefix="ragbench-smoke-", ignore_cleanup_errors=True
        ) as folder:
            Path(folder).chmod(0o755)  # the user that PostgreSQL runs as must be able to enter it
            try:
                said.append(tried(python, Path(folder), "--brief" in given))
            except (OSError, subprocess.CalledProcessError) as error:
                said.append(f"{python}: failed: {error}")
    print(*said, sep="\n")
    return any(": failed: " in line for line in said)


if __name__ == "__main__":
    signal.signal(
        signal.SIGTERM, lambda *_: sys.exit(143)
    )  # what was begun is stopped and removed then, too
    sys.exit(main(*sys.argv[1:]))
