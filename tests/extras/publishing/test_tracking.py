"""A run as runs of MLflow: what is logged, what is said where it cannot be, and what MLflow's own client reads back."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest
from typer.testing import CliRunner

from ragbench.core.measurement import Measurement
from ragbench.extras.publishing import publish
from tests.report import kept_runs
from tests.views.measurements import measurement


def estimate(metric: str, value: float | None, **more: object) -> dict[str, object]:
    return {
        "metric": metric,
        "value": value,
        "low": value,
        "high": value,
        "n": 20,
        "n_unmeasured": 0,
        "note": "",
        **more,
    }


def test_numbers_have_their_intervals_and_what_is_unmeasured_is_no_number() -> None:
    numbers, tags = publish._numbers(
        [
            estimate("mrr@10", 0.5, low=0.4, high=0.6),
            estimate("faithfulness", None, n=0, n_unmeasured=20, note="the judge gave up"),
            estimate("a(b)", 0.0),
            estimate("a_b_", 1.0),
        ]
    )
    assert numbers["mrr_at_10"] == 0.5
    assert (numbers["mrr_at_10.low"], numbers["mrr_at_10.high"], numbers["mrr_at_10.n"]) == (0.4, 0.6, 20)
    assert "faithfulness" not in numbers
    assert numbers["faithfulness.n_unmeasured"] == 20
    assert tags["ragbench.unmeasured.faithfulness"] == "the judge gave up"
    assert (numbers["a_b_"], numbers["a_b__"]) == (0.0, 1.0), "no number takes another's place"
    assert tags["ragbench.core.metric.a_b__"] == "a_b_"
    assert tags["ragbench.core.metric.mrr_at_10"] == "mrr@10"


def test_a_target_is_a_folder_or_an_address(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "mlflow", ModuleType("mlflow"))
    monkeypatch.chdir(tmp_path)
    of = publish.Target.of
    assert of("mlflow:runs").address == f"sqlite:///{tmp_path / 'runs' / 'mlflow.db'}"
    assert of("mlflow:runs").folder == tmp_path / "runs"
    for address in ("sqlite:///x.db", "http://host:5000", "postgresql://me@host/db", "databricks://profile"):
        assert (of(f"mlflow:{address}").address, of(f"mlflow:{address}").folder) == (address, None)
    with pytest.raises(publish.TrackingError, match="mlflow:FOLDER or mlflow:URI is expected"):
        of("mlflow:")


def test_without_mlflow_nothing_is_made_and_its_command_is_named(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ragbench.__main__ import application

    monkeypatch.setitem(sys.modules, "mlflow", None)
    kept_runs.make(bare / "reports", "one", measurement(questions=20))
    done = CliRunner().invoke(application, ["publish", "one", "--to", f"mlflow:{bare / 'runs'}"])
    assert "pip install 'PATH[mlflow]'" in str(done.exception)
    assert not (bare / "runs").exists()


def unmeasured(made: Measurement) -> Measurement:
    """The measurement with one number that nobody could measure."""
    first, *rest = made.estimates
    none = float("nan")
    lost = replace(first.estimate, value=none, low=none, high=none, n=0, n_unmeasured=20)
    return replace(made, estimates=(replace(first, estimate=lost), *rest))


@pytest.mark.slow
def test_mlflows_own_client_reads_it_back(bare: Path) -> None:
    mlflow = pytest.importorskip("mlflow")
    from ragbench.__main__ import application

    made = unmeasured(measurement(questions=20))
    kept_runs.make(bare / "reports", "one", made)
    for _ in range(2):
        done = CliRunner().invoke(application, ["publish", "one", "--to", f"mlflow:{bare / 'runs'}"])
        assert done.exit_code == 0, done.exception
    client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{bare / 'runs' / 'mlflow.db'}")
    experiment = client.get_experiment_by_name("ragbench")
    runs = client.search_runs([experiment.experiment_id])
    whole = next(run for run in runs if run.info.run_name == "one")
    below = {
        run.data.tags["ragbench.system"]: run.data
        for run in runs
        if run.data.tags.get("mlflow.parentRunId") == whole.info.run_id
    }
    assert len([run for run in runs if run.info.run_name == "one"]) == 2, "each time a run of its own"
    assert whole.info.status == "FINISHED"
    lost, *rest = made.estimates
    for one in rest:
        key, found = one.metric.replace("@", "_at_"), below[one.system].metrics
        assert (found[key], found[f"{key}.low"], found[f"{key}.high"], found[f"{key}.n"]) == (
            one.estimate.value, one.estimate.low, one.estimate.high, one.estimate.n
        )  # fmt: skip
    assert lost.metric.replace("@", "_at_") not in below[lost.system].metrics
    assert below[lost.system].params["k"] == "10"
    assert below[lost.system].tags["ragbench.dataset"] == "synthetic"
    place = Path(client.download_artifacts(whole.info.run_id, "site"))
    assert {"index.html", "summary.md", "tier1_retrieval.html"} <= {path.name for path in place.iterdir()}
    assert json.loads((place / "data" / "summary.json").read_text(encoding="utf-8"))["estimates"]
