"""A published run as runs of MLflow: numbers with their intervals, parameters, tags, and the site itself."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragbench.core import folders
from ragbench.core.installation import install
from ragbench.core.settings.secrets import excerpt
from ragbench.report.keeping import results

SCHEME = "mlflow:"
EXPERIMENT = "ragbench"
INSTALL = install("mlflow")
DATABASE, ARTIFACTS, SITE = "mlflow.db", "artifacts", "site"
_ILLEGAL = re.compile(r"[^\w\-. :/]")
MAX_VALUE = 5000
"""Letters of a parameter's value, and of a tag's: MLflow takes no more."""


class TrackingError(ValueError):
    """MLflow is not there, or refuses; the message says what helps."""


@dataclass(frozen=True)
class Target:
    """Where runs are logged to. address: as MLflow names it. folder: that of its SQLite file, where it is one."""

    named: str
    address: str
    folder: Path | None

    @classmethod
    def of(cls, to: str) -> Target:
        """`mlflow:FOLDER`, whose runs are in a SQLite file in it, or `mlflow:URI`.

        MLflow itself writes to folders of files no more. Raises TrackingError where nothing is named, and where mlflow
        is not installed.
        """
        named = to.removeprefix(SCHEME)
        if not named:
            raise TrackingError(f"--to {to}: mlflow:FOLDER or mlflow:URI is expected, such as mlflow:mlruns")
        try:
            import mlflow  # noqa: F401 - said before anything is made
        except ImportError as error:
            raise TrackingError(f"--to {to} needs mlflow ({error}): {INSTALL}, or pip install mlflow-skinny") from None
        if re.match(r"\w{2,}:", named):
            return cls(to, named, None)
        folder = Path(named).absolute()
        return cls(to, f"sqlite:///{folder / DATABASE}", folder)


def log(name: str, site: Path, target: Target) -> str:
    """Log the site of the run `name`: a run of MLflow for it, and one below it for each page and system.

    Numbers are those of the site's summary: a metric with `.low` and `.high` (the interval), `.n` and `.n_unmeasured`;
    one that could not be measured is no metric but a tag. The run of MLflow is returned, as its page's path.
    Raises TrackingError where MLflow's store refuses.
    """
    from mlflow import MlflowClient
    from mlflow.exceptions import MlflowException

    if target.folder is not None:
        target.folder.mkdir(parents=True, exist_ok=True)
    try:
        return _logged(MlflowClient(tracking_uri=target.address), name, site, target.folder)
    except MlflowException as error:
        raise TrackingError(f"--to {target.named}: MLflow refuses: {str(error).strip()}") from None


def _logged(client: Any, name: str, site: Path, folder: Path | None) -> str:
    summary, manifest = (_json(site / "data" / file) for file in (results.SUMMARY, results.MANIFEST))
    known = client.get_experiment_by_name(EXPERIMENT)
    place = None if folder is None else (folder / ARTIFACTS).as_uri()
    experiment = known.experiment_id if known else client.create_experiment(EXPERIMENT, artifact_location=place)
    begun = int(float(manifest["started"]) * 1000)
    ended = begun + int(float(manifest["seconds"]) * 1000)
    about = {"ragbench.run": name, "ragbench.status": manifest["status"], "ragbench.commit": manifest.get("commit")}
    about |= {f"ragbench.version.{package}": version for package, version in manifest["versions"].items()}
    whole = _begun(client, experiment, name, begun, about)
    _put(client, whole, begun, {}, manifest["parameters"], {})
    client.log_artifacts(whole, str(site), SITE)
    for page in manifest["notebooks"]:
        page_name = page["name"]
        own = [estimate for estimate in summary["estimates"] if estimate["notebook"] == page_name]
        tags = {"ragbench.page": page_name, "ragbench.caveat": manifest["caveats"].get(page_name)}
        tags |= {f"ragbench.{key}": value for key, value in manifest["data"].get(page_name, {}).items()}
        for system in dict.fromkeys(estimate["system"] for estimate in own):
            numbers, unmeasured = _numbers([estimate for estimate in own if estimate["system"] == system])
            named = {**tags, "ragbench.system": system, "mlflow.parentRunId": whole}
            below = _begun(client, experiment, f"{page_name}: {system}", begun, named)
            _put(client, below, ended, numbers, page["parameters"], unmeasured)
            client.set_terminated(below, end_time=ended)
    client.set_terminated(whole, "FINISHED" if manifest["status"] == "complete" else "FAILED", end_time=ended)
    return f"#/experiments/{experiment}/runs/{whole}"


def _numbers(estimates: list[dict[str, Any]]) -> tuple[dict[str, float], dict[str, str]]:
    """Metric → number, and tags of what could not be measured and of metrics whose name MLflow does not take."""
    numbers: dict[str, float] = {}
    tags: dict[str, str] = {}
    for estimate in estimates:
        key = _ILLEGAL.sub("_", estimate["metric"].replace("@", "_at_"))
        while key in numbers or f"{key}.n" in numbers:
            key += "_"
        if key != estimate["metric"]:
            tags[f"ragbench.core.metric.{key}"] = estimate["metric"]
        counted = {f"{key}.{part}": estimate[part] for part in ("low", "high", "n", "n_unmeasured")}
        numbers |= {
            name: float(value) for name, value in {key: estimate["value"], **counted}.items() if _is_number(value)
        }
        if not _is_number(estimate["value"]):
            tags[f"ragbench.unmeasured.{key}"] = estimate["note"] or f"{estimate['n_unmeasured']} could not be measured"
    return numbers, tags


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and value == value


def _begun(client: Any, experiment: str, name: str, begun: int, tags: Mapping[str, Any]) -> str:
    given = {key: _short(value) for key, value in tags.items() if value not in (None, "")}
    return str(client.create_run(experiment, start_time=begun, run_name=name, tags=given).info.run_id)


def _put(
    client: Any, run: str, moment: int, numbers: Mapping[str, float], given: Mapping[str, Any], tags: Mapping[str, str]
) -> None:
    from mlflow.entities import Metric, Param, RunTag

    client.log_batch(
        run,
        [Metric(key, value, moment, 0) for key, value in numbers.items()],
        [Param(_ILLEGAL.sub("_", key), _short(value)) for key, value in given.items()],
        [RunTag(key, _short(value)) for key, value in tags.items()],
    )


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return excerpt(text, MAX_VALUE)


def _json(path: Path) -> dict[str, Any]:
    return dict(json.loads(folders.text(path)))
