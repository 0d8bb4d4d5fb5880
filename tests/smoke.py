"""`python -m tests.smoke PYTHON …` (`make smoke`): a new environment of each Python, a first report, and its numbers.

From the lock files, with an index as pip is set to. Where that has no CPU build of PyTorch, there is none: nothing of a
report with the models of ragbench.toml imports it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parent.parent
NUMBERS = ("tests/test_stats*.py", "tests/test_metric*.py")


def tried(python: str, folder: Path) -> str:
    """What came of one Python, in a line. Raises CalledProcessError, with what was said on the terminal."""
    begun = time.monotonic()
    subprocess.run([python, "-m", "venv", folder / "venv"], check=True)
    program, empty = folder / "venv" / "bin", folder / "empty"
    empty.mkdir()
    pip = [program / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    lock = (ROOT / "requirements-torch.lock").read_text(encoding="utf-8")
    torch = (
        subprocess.run([*pip, "--require-hashes", "-r", ROOT / "requirements-torch.lock"], check=False).returncode == 0
    )
    if not torch:
        [builder] = re.findall(r"^setuptools==.*(?:\n    --hash.*)+", lock, re.MULTILINE)
        (folder / "builder.lock").write_text(builder + "\n", encoding="utf-8")
        subprocess.run([*pip, "--require-hashes", "-r", folder / "builder.lock"], check=True)
    built = ("--no-build-isolation",)
    subprocess.run([*pip, *built, "--require-hashes", "-r", ROOT / "requirements.lock"], check=True)
    subprocess.run([*pip, *built, ROOT], check=True)
    known = {key: value for key, value in os.environ.items() if not key.startswith("RAGBENCH_") and key != "PYTHONPATH"}
    known["RAGBENCH_DATABASE__FOLDER"] = str(folder / "database")
    try:
        subprocess.run([program / "ragbench", "run"], cwd=empty, env=known, check=True)
    finally:
        subprocess.run([program / "ragbench", "db", "stop"], cwd=empty, env=known, check=False)
    files = sorted(str(path) for pattern in NUMBERS for path in ROOT.glob(pattern))
    chosen = ("-q", "-n", "auto", "-p", "no:cacheprovider", "-m", "not slow and not browser")
    paths = {**known, "PYTHONPATH": str(ROOT)}
    subprocess.run([program / "python", "-m", "pytest", *chosen, *files], cwd=ROOT, env=paths, check=True)
    pages = len(list((empty / "reports" / "latest").glob("*.html")))
    return f"{python}: {pages} pages, {'with' if torch else 'without'} PyTorch, {time.monotonic() - begun:.0f} s"


def main(*pythons: str) -> int:
    said = []
    for python in pythons:
        with tempfile.TemporaryDirectory(prefix="ragbench-smoke-", ignore_cleanup_errors=True) as folder:
            try:
                said.append(tried(python, Path(folder)))
            except (OSError, subprocess.CalledProcessError) as error:
                said.append(f"{python}: failed: {error}")
    print(*said, sep="\n")
    return any(": failed: " in line for line in said)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
