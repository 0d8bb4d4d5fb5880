"""Write the lock files anew: every package with its version and hashes, for every platform.

`python -m tests.release.locking` (`make lock`) keeps the versions there are, takes in what
pyproject.toml has new and drops what it no longer needs; `--upgrade` takes the newest of all. uv
does the resolving, in an environment that is thrown away; installing needs pip alone.

requirements.lock has what a report needs, requirements-test.lock and requirements-docs.lock what
tests and the site of the documents need besides. PyTorch is apart, because the index that most
people have offers it for Linux with several GB of CUDA, and another one the small build:
requirements-torch.lock has that, requirements-cuda.lock the other.
"""

from __future__ import annotations

import html
import re
import subprocess
import sys
import tempfile
import urllib.request
import venv
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).parents[2]
CPU_INDEX = "https://download.pytorch.org/whl/cpu/torch/"
DEFAULT_INDEX = "https://pypi.org/simple/torch/"
OLDEST_PYTHON = (3, 11)
FIRST = (
    "torch",
    "setuptools",
)  # setuptools builds the packages that come as source, and ragbench itself
# The extras of pyproject.toml that each lock is for.
EXTRAS = {
    "requirements.lock": ("models",),
    "requirements-test.lock": ("models", "cluster", "dev"),
    "requirements-docs.lock": ("models", "docs"),
}
EVERYTHING = ("models", "cluster", "dev", "docs")
HEADS = {
    "requirements.lock": "What a report needs but PyTorch, with the hashes of its files.",
    "requirements-test.lock": "What tests need besides.",
    "requirements-docs.lock": "What the site of the documents needs besides.",
    "requirements-torch.lock": "PyTorch without CUDA, and what builds packages.",
    "requirements-cuda.lock": "PyTorch as the default index offers it, on Linux with CUDA.",
}
WRITTEN_BY = "Written by `make lock`; tests/release/locking.py says more."
_ENTRY = re.compile(
    r"^([A-Za-z0-9][A-Za-z0-9._-]*)==([^\s;\\]+)([^\\\n]*)((?:\\\n\s+--hash=sha256:[0-9a-f]{64}\s*)+)",
    re.M,
)
_HASH = re.compile(r"sha256:([0-9a-f]{64})")
_FILE = re.compile(r'href="[^"]*?/?([^/"#]+\.whl)#sha256=([0-9a-f]{64})"')


def entries(text: str) -> list[tuple[str, str, str, tuple[str, ...]]]:
    """(name, version, marker with its semicolon or "", hashes) of every package of a lock file.

    Raises ValueError for a line that is no package with hashes: what is not understood must not fall out of a lock.
    """
    strange = [
        line
        for line in _ENTRY.sub("", text).splitlines()
        if line.strip() and not line.startswith("#")
    ]
    if strange:
        raise ValueError(f"{strange[0]!r} is no package with a version and hashes")
    return [
        (name, version, marker.strip(), tuple(_HASH.findall(hashes)))
        for name, version, marker, hashes in _ENTRY.findall(text)
    ]


def written(head: str, found: list[tuple[str, str, str, tuple[str, ...]]]) -> str:
    """A lock file of these packages."""
    lines = [f"# {head} {WRITTEN_BY}"]
    for name, version, marker, hashes in found:
        first = f"{name}=={version}" + (f" {marker}" if marker else "")
        lines.append(" \\\n".join([first, *(f"    --hash=sha256:{one}" for one in sorted(hashes))]))
    return "\n".join(lines) + "\n"


def compiled(names: tuple[str, ...], *options: str) -> str:
    """What uv resolves pyproject.toml with these extras to, on every platform."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        program = Path(folder) / "bin"
        subprocess.run([program / "pip", "install", "--quiet", "uv"], check=True)
        out = Path(folder) / "all.lock"
        there = [
            path.read_text(encoding="utf-8") for name in HEADS if (path := ROOT / name).is_file()
        ]
        known = {
            f"{name}=={version} {marker}\n"
            for text in there
            for name, version, marker, _ in entries(text)
        }
        out.write_text(
            "".join(sorted(known)), encoding="utf-8"
        )  # without hashes: uv would keep those of one index
        oldest = ".".join(map(str, OLDEST_PYTHON))
        extras = [word for name in names for word in ("--extra", name)]
        how = ("--universal", "--generate-hashes", "--no-annotate", "--python-version", oldest)
        command = [program / "uv", "pip", "compile", "--quiet", *how, *extras, *options]
        subprocess.run([*command, "pyproject.toml", "-o", out], cwd=ROOT, check=True)
        return out.read_text(encoding="utf-8")


def wheels(index: str, version: str) -> dict[str, str]:
    """File name → hash of torch's wheels of a version in an index. Raises OSError where it cannot be reached."""
    with urllib.request.urlopen(index, timeout=30) as answer:
        page = html.unescape(answer.read().decode())
    found = {unquote(name): digest for name, digest in _FILE.findall(page)}
    return {
        name: digest
        for name, digest in found.items()
        if name.split("-")[1].split("+")[0] == version
    }


def cpu_hashes(version: str, known: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """The hashes of torch's builds without CUDA; those that are `known` by version where the index is out of reach."""
    pythons = [f"-cp3{minor}-" for minor in range(OLDEST_PYTHON[1], 15)]
    try:
        small = wheels(CPU_INDEX, version)
    except OSError as error:
        if version in known:
            print(
                f"{CPU_INDEX} cannot be reached ({error}): the hashes of torch {version} stay as they are"
            )
            return known[version]
        raise
    default = {
        name: one for name, one in wheels(DEFAULT_INDEX, version).items() if "linux" not in name
    }
    return tuple(
        one
        for name, one in {**default, **small}.items()
        if any(python in name for python in pythons)
    )


def is_cuda(name: str) -> bool:
    """Whether a package only serves PyTorch's CUDA builds."""
    return name.startswith(("nvidia-", "cuda-")) or name == "triton"


def is_plain(name: str) -> bool:
    """Whether a package is neither PyTorch nor of its CUDA builds."""
    return name not in FIRST and not is_cuda(name)


def of_people(text: str) -> list[tuple[str, str, str, tuple[str, ...]]]:
    """The packages of a lock, without those for browsers."""
    return [entry for entry in entries(text) if "== 'emscripten'" not in entry[2]]


def main(*options: str) -> None:
    path = ROOT / "requirements-torch.lock"
    old = entries(path.read_text(encoding="utf-8")) if path.is_file() else []
    # First all, then what each lock is for, at the versions that all agree on.
    found = of_people(compiled(EVERYTHING, *options))
    (ROOT / "requirements.lock").write_text(written(HEADS["requirements.lock"], found), "utf-8")
    needed = {
        name: {entry[0] for entry in of_people(compiled(extras))} for name, extras in EXTRAS.items()
    }
    for name in ("requirements-test.lock", "requirements-docs.lock"):
        needed[name] -= needed["requirements.lock"]
    [(_, version, _, _)] = torch = [entry for entry in found if entry[0] == "torch"]
    hashes = cpu_hashes(version, {entry[1]: entry[3] for entry in old if entry[0] == "torch"})
    parts = {
        **{
            name: [e for e in found if is_plain(e[0]) and e[0] in names]
            for name, names in needed.items()
        },
        "requirements-torch.lock": [
            ("torch", version, "", hashes),
            *(e for e in found if e[0] == "setuptools"),
        ],
        "requirements-cuda.lock": [
            *torch,
            *(e for e in found if e[0] == "setuptools" or is_cuda(e[0])),
        ],
    }
    for name, part in parts.items():
        (ROOT / name).write_text(written(HEADS[name], part), encoding="utf-8")
        print(f"{name}: {len(part)} packages")


if __name__ == "__main__":
    main(*sys.argv[1:])
