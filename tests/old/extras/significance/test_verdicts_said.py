"""Verdicts as the commands of tables and of TREC files say them."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from ragbench.old.core.settings import DifferenceSettings
from ragbench.old.extras.significance import command
from ragbench.old.tiers.basics import bands
from ragbench.old.views.basics.text import clean

application = typer.Typer()
application.command("significance")(command.significance)
application.command("trec")(command.trec)


def test_the_commands_say_it(tmp_path: Path) -> None:
    for name, hit in (("a", 0), ("b", 1)):
        rows = [{"id": n, "talk": n // 4, "hit": hit} for n in range(20)]
        pd.DataFrame(rows).to_csv(tmp_path / f"{name}.csv", index=False)
        (tmp_path / f"{name}.run").write_text(
            "".join(f"q{n} Q0 {'d' if hit else 'x'} 1 1.0 {name}\n" for n in range(5)), encoding="utf-8"
        )
    (tmp_path / "qrels.txt").write_text("".join(f"q{n} 0 d 1\n" for n in range(5)), encoding="utf-8")
    first, second = (str(tmp_path / f"{name}.csv") for name in "ab")
    said = CliRunner().invoke(application, ["significance", first, second, "--cluster", "talk", "--metric", "hit"])
    assert "cannot be shown with 5 groups" in said.output
    assert "6 independent groups or more are needed before a difference can be shown" in said.output
    runs = [str(tmp_path / f"{name}.run") for name in "ab"]
    said = CliRunner().invoke(application, ["trec", str(tmp_path / "qrels.txt"), *runs, "-m", "hit_rate@1"])
    assert "cannot be shown with 5 questions" in clean(said.output)
    said = CliRunner().invoke(
        application, ["trec", str(tmp_path / "qrels.txt"), *runs, "-m", "hit_rate@1", "--json", "-"]
    )
    [row] = json.loads(said.stdout)["comparisons"]
    assert (row["verdict"], row["groups_needed"], row["minimum_detectable"]) == ("cannot be shown", 6, None)


def test_what_matters_is_a_share_of_what_can_be_reached(tmp_path: Path) -> None:
    """Ten of each kind of ranking: precision@10 with one relevant document ends at 0.1, and 5 % of that is 0.005."""
    chosen = DifferenceSettings()
    assert bands.of_interest("precision@10", chosen) == pytest.approx(0.05)
    assert bands.of_interest("precision@10", chosen, {"precision@10": 0.1}) == pytest.approx(0.005)
    for name, place in (("a", 9), ("b", 1)):
        lines = [
            f"q{n} Q0 {'d' if rank == place else f'x{rank}'} {rank} {20 - rank} {name}\n"
            for n in range(8)
            for rank in range(1, 11)
        ]
        (tmp_path / f"{name}.run").write_text("".join(lines), encoding="utf-8")
    (tmp_path / "qrels.txt").write_text("".join(f"q{n} 0 d 1\n" for n in range(8)), encoding="utf-8")
    runs = [str(tmp_path / f"{name}.run") for name in "ab"]
    metrics = "precision@10,precision@1,recall@10,mrr"
    said = CliRunner().invoke(application, ["trec", str(tmp_path / "qrels.txt"), *runs, "-m", metrics, "--json", "-"])
    margins = {row["metric"]: row["margin"] for row in json.loads(said.stdout)["comparisons"]}
    assert margins == pytest.approx({"precision@10": 0.005, "precision@1": 0.05, "recall@10": 0.05, "mrr": 0.05})
