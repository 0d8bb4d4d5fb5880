"""What runs over notebooks say, kept: scores and findings that a change of the house must leave as they are.

python -m tests.old.report.behaviour          what is different now
python -m tests.old.report.behaviour --keep   keep what is said now: of a change that was meant, and is named in CHANGELOG
python -m tests.old.report.behaviour logged   only this run
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ragbench.old.core import annexes
from tests.old.store.own_database import own_database

ROOT = Path(__file__).parents[3]
KEPT = Path(__file__).with_suffix(".json")
RUNS: dict[str, dict[str, Any]] = {
    "campus-en": {"dataset": "campus:en", "language": "en"},
    "campus-ru": {"dataset": "campus:ru", "language": "ru"},
    "default-en": {"dataset": "campus:en", "language": "en"},
    "default-ru": {"dataset": "campus:ru", "language": "ru"},
    "logged": {"dataset": "desk", "language": "en", "answers": "answers.jsonl"},
}
LOGGED = ("tier1_retrieval", "tier2_generation", "tier3_end_to_end", "sources", "rag_metrics", "overview")
"""What there is to say of answers that two other systems are logged to have given."""
DEFAULT = ("tier1_retrieval", "overview")
"""What another version of a model's library may change is no more than what the project's own systems find."""
NGRAMS = """
[embedders.ngrams]
tfidf = false
dimensions = 0
buckets = 1024

[embedders.ngrams-svd]
tfidf = true
dimensions = 256

[generators.one-sentence]
sentences = 1

[systems.ngrams]
embedder = "ngrams"
generator = "one-sentence"

[systems.ngrams-svd]
embedder = "ngrams-svd"
"""
RESAMPLES = 500
NEAR = 1e-6
"""Of a number, or of 1: two processors add in other orders, vectors are kept in 32 bits (1.2e-7 of a number), and
what they find differs by less."""
CLOCK = ("latency", "seconds", "per_second")


def said(folder: Path) -> dict[str, Any]:
    """All that the pages of a run state, by page: findings in full; the scores of a system by a metric as how many
    there are, a digest of what was measured and how that went, their sum, and their sum by weights of their names, of
    which at least one moves with every score that does."""
    return {path.parent.name: dict(_page(path.parent)) for path in sorted(folder.glob("parts/*/findings.json"))}


def differences(kept: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    """What was said and is said differently now, or no more; what is said besides counts as no difference."""
    found = []
    for page, findings in kept.items():
        for name, value in findings.items():
            other = now.get(page, {}).get(name)
            if not _is_near(value, other):
                found.append(f"{page}: {name}: {value} → {other}")
    return found


def _is_near(kept: Any, now: Any) -> bool:
    """Whether two findings are the same words, and numbers that are less than NEAR apart."""
    if isinstance(kept, list) and isinstance(now, list):
        return len(kept) == len(now) and all(map(_is_near, kept, now))
    if isinstance(kept, int | float) and isinstance(now, int | float):
        return math.isclose(kept, now, rel_tol=NEAR, abs_tol=NEAR)
    return bool(kept == now)


def _page(folder: Path) -> Iterator[tuple[str, Any]]:
    from ragbench.old.core.measurement import Measurement

    made = Measurement.load(folder)
    for named in made.estimates:
        if not any(word in named.metric for word in CLOCK):
            e = named.estimate
            yield f"{named.system} {named.metric}", _plain([e.value, e.low, e.high, e.n, e.n_unmeasured, e.method])
    for pair in made.comparisons:
        if not any(word in pair.metric for word in CLOCK):
            c = pair.comparison
            line = [c.difference, c.low, c.high, c.p, c.p_adjusted, c.n, c.minimum_detectable, str(c.verdict)]
            yield f"{c.baseline} → {c.challenger} {pair.metric}", _plain(line)
    for (system, metric), rows in made.scores.groupby(["system", "metric"], sort=True):
        if not any(word in metric for word in CLOCK):
            yield f"{system} {metric} scores", _scores(rows.to_dict("records"))


def _scores(rows: list[dict[str, Any]]) -> list[Any]:
    """No digest is made of values: one that lies where a digit begins would be another with another processor."""
    named = [(json.dumps([row["sample"], row["judge"], row["status"]]), row["value"]) for row in rows]
    values = [(name, value) for name, value in named if value is not None and not math.isnan(value)]
    weighted = (int.from_bytes(_digest(name)[:7], "big") / 2**56 * value for name, value in values)
    sums = [math.fsum(value for _, value in values), math.fsum(weighted)]
    return [len(rows), _digest("\n".join(sorted(name for name, _ in named))).hex()[:16], *_plain(sums)]


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()


def _plain(values: list[Any]) -> list[Any]:
    """Floats of twelve digits, more than are compared, NaN as None."""
    return [_rounded(value) for value in values]


def _rounded(value: Any) -> Any:
    if value is None or isinstance(value, str):
        return value
    return None if math.isnan(value) else float(f"{value:.12g}")


def run(name: str, folder: Path) -> dict[str, Any]:
    """What the notebooks say of one of RUNS, executed below `folder`; the current folder is changed."""
    from ragbench.old import report
    from ragbench.old.cli.run import tiers
    from ragbench.old.core import settings
    from tests.old.cli.command_line import ragbench

    made_by = _project if name == "logged" else _campus if name.startswith("campus") else _default
    os.environ["RAGBENCH_CONFIG"] = str(made_by(folder / name))
    os.chdir(Path(os.environ["RAGBENCH_CONFIG"]).parent)
    settings.load.cache_clear()
    if name == "logged":
        loaded = ragbench("load", "answers", RUNS[name]["answers"], "--name", "desk", "--language", "en")
        assert loaded.returncode == 0, loaded.stderr
    notebooks = LOGGED if name == "logged" else tiers() if name.startswith("campus") else DEFAULT
    made = report.run(notebooks, {**RUNS[name], "resamples": RESAMPLES}, out=folder / f"{name}-reports", jobs=2)
    if made.failures:
        raise SystemExit(f"failed: {dict(made.failures)}")
    return said(made.folder)


def _campus(folder: Path) -> Path:
    """A project of the sample data with systems that no model changes."""
    return _of_campus(folder, f'dataset = "campus"\nbaseline = "ngrams"\n{NGRAMS}')


def _default(folder: Path) -> Path:
    """What ragbench measures when it is told nothing else."""
    return _of_campus(folder, annexes.CONFIGURATION.read_text(encoding="utf-8"))


def _of_campus(folder: Path, settings: str) -> Path:
    folder.mkdir(parents=True)
    path = folder / "ragbench.toml"
    folders = f'data_folder = "{annexes.DATA}"\nnotebooks_folder = "{annexes.NOTEBOOKS}"\n'
    path.write_text(folders + settings, encoding="utf-8")
    return path


def _project(folder: Path) -> Path:
    """A project of one table of answers by two systems; some of the second one's are of another hall."""
    from ragbench.old.data import logged_files

    folder.mkdir(parents=True)
    passages = [
        f"Hall {n} is in house {n % 5}. It opens at {7 + n % 4} and holds {20 + 3 * n} people." for n in range(24)
    ]
    rows = [
        {
            "id": f"q{n:02}", "user_input": f"Where is hall {n}, and when does it open?", "system": system,
            "response": "" if found % 11 == 10 else f"Hall {n} is in house {found % 5} and opens at {7 + found % 4}.",
            "reference": f"In house {n % 5}; it opens at {7 + n % 4}.",
            "retrieved_contexts": [passages[found], passages[(n + 7) % 24]], "reference_contexts": [passages[n]],
        }
        for system, step in (("first", 0), ("second", 1))
        for n in range(24)
        for found in [(n + step * (n % 3 == 0)) % 24]
    ]  # fmt: skip
    (folder / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    path = folder / "ragbench.toml"
    systems = "".join(
        f'[systems.{system}]\nresults = "data/desk/{file}"\n'
        for system, file in logged_files(("first", "second")).items()
    )
    path.write_text(f'baseline = "first"\nnotebooks_folder = "{ROOT / "notebooks"}"\n{systems}', encoding="utf-8")
    return path


def main() -> None:
    """Run, compare or keep."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("runs", nargs="*", choices=[*RUNS, []], help="all, if none is named")
    asked = parser.parse_args()
    os.environ |= {"RAGBENCH_TRUST": "/", "RAGBENCH_EMBEDDER": "hashing"}  # as tests have it
    with tempfile.TemporaryDirectory() as folder, own_database("behaviour") as made:
        os.environ["RAGBENCH_DATABASE__FOLDER"] = str(made.database.folder)
        now = {name: run(name, Path(folder)) for name in asked.runs or RUNS}
        os.chdir(ROOT)
    if asked.keep:
        KEPT.write_text(json.dumps(kept() | now, ensure_ascii=False, indent=0, sort_keys=True) + "\n", encoding="utf-8")
        print(f"kept {sum(len(page) for one in now.values() for page in one.values())} findings in {KEPT.name}")
        return
    found = [f"{name}: {line}" for name in now for line in differences(kept()[name], now[name])]
    print("\n".join(found) or "nothing is different")
    raise SystemExit(bool(found))


def kept() -> dict[str, Any]:
    """What was kept, by run and page."""
    return json.loads(KEPT.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
