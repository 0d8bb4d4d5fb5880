"""Runs on disk: compared, held to gates, published, labelled, planned by."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ragbench.cli.main import run
from ragbench.core.frames import ESTIMATES, SCORES
from ragbench.core.metric import CATALOGUE
from ragbench.stats import state

N = 60


def write_run(folder: Path, shift: float, text: str = "what is {}?") -> None:
    """Write the folder of a run with one page, two systems and one metric."""
    generator = np.random.default_rng(1)
    base = generator.uniform(0.2, 0.6, N)
    rows = []
    for system, gain in (("v1", 0.0), ("v2", shift)):
        for place, value in enumerate(base):
            noise = 0.02 * ((place * 7) % 5 - 2)
            score = min(value + gain + (noise if gain else 0.0), 1.0)
            rows.append((system, "token_f1", f"q{place}", f"q{place}", score, "ok", "", ""))
    scores = pd.DataFrame(rows, columns=SCORES.names)
    statement = state(scores)
    frames = folder / "frames" / "rag_metrics"
    frames.mkdir(parents=True)
    scores.to_parquet(frames / "scores.parquet")
    statement.estimates.to_parquet(frames / "estimates.parquet")
    statement.comparisons.to_parquet(frames / "comparisons.parquet")
    questions = {
        "question_id": [f"q{i}" for i in range(N)],
        "text": [text.format(i) for i in range(N)],
    }
    pd.DataFrame(questions).to_parquet(frames / "questions.parquet")
    answers = {
        "system": ["v1"] * N,
        "question_id": questions["question_id"],
        "repeat": 0,
        "answer": ["=1+1 me@example.org"] * N,
        "contexts": [["a passage"]] * N,
        "ranks": [[1, 2]] * N,
        "error": "",
    }
    pd.DataFrame(answers).to_parquet(frames / "answers.parquet")
    summary = {
        name: [
            {"page": "rag_metrics", **row} for row in json.loads(frame.to_json(orient="records"))
        ]
        for name, frame in (
            ("estimates", statement.estimates),
            ("comparisons", statement.comparisons),
        )
    }
    (folder / "summary.json").write_text(json.dumps(summary))
    page = {"name": "rag_metrics", "request": {"primary": "token_f1", "baseline": "v1"}}
    manifest = {"pages": [page], "git_commit": f"c{shift}", "versions": {"numpy": "2"}}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    (folder / "index.html").write_text("<p>write to me@example.org</p>")


@pytest.fixture
def reports(project: Path) -> Path:
    write_run(project / "reports" / "20261101", 0.0)
    write_run(project / "reports" / "20261108", 0.1)
    return project


def test_two_runs_are_compared_question_by_question(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", "20261101", "20261108", "--json", "out.json", "--out", "page"]) == 0
    rows = json.loads((reports / "out.json").read_text())["comparisons"]
    by_system = {row["system"]: row for row in rows}
    assert by_system["v1"]["word"] == "equal on every question"
    assert by_system["v2"]["word"] == "better"
    assert by_system["v2"]["difference"] == pytest.approx(0.1)
    assert by_system["v2"]["n"] == N
    changes = json.loads((reports / "out.json").read_text())["changes"]
    assert changes == [{"what": "code", "20261101": "c0.0", "20261108": "c0.1"}]
    assert (reports / "page" / "comparison.html").is_file()
    assert "better" in capsys.readouterr().out


def test_runs_of_other_questions_are_refused_until_common_ones_will_do(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(reports / "reports" / "20261115", 0.1, text="who is {}?")
    assert run(["compare", "20261101", "20261115"]) == 3
    assert "--common-questions" in capsys.readouterr().err


def test_three_runs_are_one_family_and_their_history_a_figure(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(reports / "reports" / "20261115", 0.2)
    line = ["compare", "20261101", "20261108,20261115", "--baseline", "20261115", "-s", "v2"]
    assert run([*line, "--json", "out.json", "--out", "page", "--latex", "table.tex"]) == 0
    rows = json.loads((reports / "out.json").read_text())["comparisons"]
    assert [(row["challenger"], row["baseline"]) for row in rows] == [
        ("20261101", "20261115"),
        ("20261108", "20261115"),
    ]
    assert {row["word"] for row in rows} == {"worse"}
    assert [row["difference"] for row in rows] == pytest.approx([-0.2, -0.1])
    assert {row["family"] for row in rows} == {"primary"}
    page = (reports / "page" / "comparison.html").read_text()
    assert "rag_metrics · token_f1" in page
    assert page.count('"name":"2026') == 3  # the figure has a sign a run
    assert "\\toprule" in (reports / "table.tex").read_text()
    assert run([*line[:-1], "v9"]) == 4
    assert "share no page" in capsys.readouterr().err


def test_questions_that_runs_share_are_paired(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = reports / "reports" / "20261115"
    write_run(folder, 0.1)
    file = folder / "frames" / "rag_metrics" / "questions.parquet"
    questions = pd.read_parquet(file)
    questions.loc[:9, "text"] = "another question"
    questions.to_parquet(file)
    line = ["compare", "20261101", "20261115", "--json", "out.json"]
    assert run(line) == 3
    assert run([*line, "--common-questions"]) == 0
    assert "are not in all runs and were left out" in capsys.readouterr().err
    rows = json.loads((reports / "out.json").read_text())["comparisons"]
    assert {row["n"] for row in rows} == {50}


def test_results_are_compared_in_python(reports: Path) -> None:
    import ragbench as rb

    rows = [{"id": f"q{n}", "question": f"{n}?", "reference": "yes"} for n in range(40)]
    earlier, later = (
        rb.score([row | {"answer": "no" if n < wrong else "yes"} for n, row in enumerate(rows)], m)
        for wrong, m in ((20, ["token_f1"]), (0, ["token_f1"]))
    )
    comparison = rb.compare(earlier, later, draws=1_000)
    row = comparison.comparisons.iloc[0]
    assert (row["baseline"], row["challenger"]) == ("run 1", "run 2")
    assert (row["word"], row["difference"], row["n"]) == ("better", 0.5, 40)
    assert comparison.save(reports / "page").is_file()
    assert "run 2 against run 1: better" in str(comparison)


def rename_metric(folder: Path, name: str) -> None:
    file = folder / "frames" / "rag_metrics" / "scores.parquet"
    pd.read_parquet(file).assign(metric=name).to_parquet(file)


def test_a_metric_of_ones_own_is_compared_where_the_project_declares_it(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("20261101", "20261108"):
        rename_metric(reports / "reports" / name, "rudeness")
    assert run(["compare", "20261101", "20261108"]) == 4
    assert "nothing that the runs share can be better: rudeness" in capsys.readouterr().err
    settings = reports / "ragbench.toml"
    declared = '\n[metrics.rudeness]\nquestion = "Is it rude?"\nhigher_is_better = false\n'
    settings.write_text(settings.read_text() + declared)
    try:
        assert run(["compare", "20261101", "20261108", "-s", "v2", "--json", "out.json"]) == 0
    finally:
        CATALOGUE.pop("rudeness", None)
    rows = json.loads((reports / "out.json").read_text())["comparisons"]
    assert [row["word"] for row in rows] == ["worse"]


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        (["20261101"], "two runs are compared"),
        (["20261101", "20261101"], "two runs are called 20261101"),
        (["20261101", "20261108", "--baseline", "2025"], "there is no run '2025'"),
        (["20261101", "20261108", "--primary", "mrr"], "they share token_f1"),
    ],
)
def test_compare_refuses_in_a_sentence(
    reports: Path, runs: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["compare", *runs]) == 3
    assert said in capsys.readouterr().err


GATES = """
[gate.low]
metric = "token_f1"
system = "v2"
at_least = {least}
"""


@pytest.mark.parametrize(("least", "code"), [(0.3, 0), (0.9, 1), (0.5, 2)])
def test_a_gate_ends_with_its_code(reports: Path, least: float, code: int) -> None:
    mean = pd.read_parquet(
        reports / "reports" / "20261108" / "frames" / "rag_metrics" / "estimates.parquet"
    )
    value = mean.loc[mean["system"] == "v2", "value"].item()
    # The mean is about .5: an interval around it holds neither side of a gate at its middle.
    bound = value if code == 2 else least
    settings = reports / "ragbench.toml"
    settings.write_text(settings.read_text() + GATES.format(least=bound))
    line = ["gate", "20261108", "--junit", "gates.xml", "--markdown", "gates.md"]
    assert run(line) == code
    assert ("<failure" in (reports / "gates.xml").read_text()) == (code != 0)
    assert "token_f1" in (reports / "gates.md").read_text()


def test_a_gate_beside_the_baseline_says_its_condition_and_the_primary_verdict(
    reports: Path,
) -> None:
    settings = reports / "ragbench.toml"
    gate = '\n[gate.kept]\nmetric = "token_f1"\nsystem = "v2"\nnot_worse_by = 0.02\n'
    settings.write_text(settings.read_text() + gate)
    assert run(["gate", "20261108", "--markdown", "gates.md"]) == 0
    lines = (reports / "gates.md").read_text().splitlines()
    assert "| kept | v2 | token_f1 not worse by 0.02 | held |" in lines
    assert lines[-1].startswith("| rag_metrics | token_f1 | v2 | +0.1")
    assert lines[-1].endswith("] | better |")


def test_a_gate_of_an_unknown_metric_names_the_nearest(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = reports / "ragbench.toml"
    settings.write_text(settings.read_text() + '\n[gate.x]\nmetric = "token_f"\nat_least = 0.1\n')
    assert run(["gate", "20261108"]) == 3
    assert "token_f1" in capsys.readouterr().err


def test_a_gate_without_a_cut_off_is_shown_the_labels_that_have_one(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = reports / "reports" / "20261108" / "summary.json"
    file.write_text(file.read_text().replace('"token_f1"', '"mrr@10"'))
    settings = reports / "ragbench.toml"
    settings.write_text(settings.read_text() + '\n[gate.x]\nmetric = "mrr"\nat_least = 0.1\n')
    assert run(["gate", "20261108"]) == 3
    assert "no metric 'mrr' in the run; there are mrr@10" in capsys.readouterr().err


def test_what_is_published_holds_no_formula_and_no_address(reports: Path) -> None:
    assert run(["publish", "20261108", "--out", "public"]) == 0
    public = reports / "public"
    assert "me@example.org" not in (public / "index.html").read_text()
    answers = (public / "data" / "rag_metrics.answers.csv").read_text()
    assert "'=1+1" in answers
    assert "me@example.org" not in answers
    table = (public / "tables" / "rag_metrics.tex").read_text()
    assert "\\midrule" in table
    assert "better" in table
    data = pd.read_parquet(public / "data" / "rag_metrics.estimates.parquet")
    assert set(ESTIMATES.names) <= set(data.columns)


HOSTILE = "<script>alert(1)</script> | $x_{1}% & \\input{/etc/passwd}"


@pytest.mark.parametrize("most_written", [1_500, 0])
def test_a_real_run_with_hostile_texts_is_published(
    reports: Path, most_written: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    import base64
    import gzip
    import re

    import ragbench as rb
    from ragbench.views import questions as view

    monkeypatch.setattr(view, "MOST_WRITTEN", most_written)  # 0: what unfolds is packed
    secret = "call +7 912 345-67-89 or anna@example.org"
    rows = [
        {"id": f"100000000{n}", "system": system, "question": f"=1+{n} {HOSTILE}"}
        | {"answer": f"{secret} {system}", "reference": f"{n} {secret}"}
        for n in range(30)
        for system in ("v1", HOSTILE)
    ]
    rb.score(rows, ["token_f1", "rougeL_f"], draws=1_000).save(reports / "reports" / "real")
    assert run(["publish", "real", "--out", "public"]) == 0
    public = reports / "public"
    page = (public / "rag_metrics.html").read_text()
    assert "<script>alert(1)" not in page
    packed = re.findall(r'class="packed">([^<]+)<', page)
    assert len(packed) == (most_written == 0)
    unpacked = "".join(gzip.decompress(base64.b64decode(text)).decode() for text in packed)
    for text in (page, unpacked, *(path.read_text() for path in public.glob("data/*.csv"))):
        assert "anna@example.org" not in text
        assert "345-67" not in text
    questions = pd.read_parquet(public / "data" / "rag_metrics.questions.parquet")
    assert questions["question_id"].tolist()[:2] == ["1000000000", "1000000001"]
    assert "\n1000000000,'=1+0" in (public / "data" / "rag_metrics.questions.csv").read_text()
    latex = (public / "tables" / "rag_metrics.tex").read_text()
    assert "\\input{" not in latex
    assert "\\$x\\_\\{1\\}\\% \\&" in latex
    markdown = (public / "summary.md").read_text()
    assert "<script>" not in markdown
    assert "\\| $x_{1}" in markdown


def test_publish_never_replaces_a_run(reports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["publish", "20261108", "--out", "reports/20261101"]) == 3
    assert (reports / "reports" / "20261101" / "frames").is_dir()
    assert "other files" in capsys.readouterr().err
    for _ in range(2):
        assert run(["publish", "20261108", "--out", "public"]) == 0


def test_publish_never_replaces_a_folder_of_other_files(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (reports / "mine").mkdir()
    (reports / "mine" / "thesis.tex").write_text("years of work")
    assert run(["publish", "20261108", "--out", "mine"]) == 3
    assert (reports / "mine" / "thesis.tex").read_text() == "years of work"
    assert "other files" in capsys.readouterr().err


def test_a_run_is_named_by_its_beginning_or_refused(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["gate", "202611"]) == 3
    assert "20261101, 20261108" in capsys.readouterr().err
    assert run(["gate", "2025"]) == 3
    assert "there is no run '2025'" in capsys.readouterr().err


def test_labels_of_people_correct_a_judge(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    form = reports / "form.csv"
    line = ["label", "20261101", "--page", "rag_metrics", "--form", "form.csv", "--limit", "30"]
    assert run(line) == 0
    frame = pd.read_csv(form, dtype=str, keep_default_na=False)
    assert len(frame) == 30
    assert set(frame["label"]) == {""}
    scores = pd.read_parquet(
        reports / "reports" / "20261101" / "frames" / "rag_metrics" / "scores.parquet"
    )
    judged = scores[scores["system"] == "v1"].set_index("question_id")["value"]
    # People give each answer .1 less than the judge.
    frame["label"] = [f"{judged[question] - 0.1:.4f}" for question in frame["question_id"]]
    frame.to_csv(form, index=False)
    line = ["label", "20261101", "--page", "rag_metrics", "--take", "form.csv"]
    assert run([*line, "--json", "out.json", "--width", "0.01"]) == 0
    captured = capsys.readouterr()
    assert "without labels, and left out: v2" in captured.err
    rows = json.loads((reports / "out.json").read_text())["means"]
    means = {row["mean"]: row for row in rows}
    assert {row["system"] for row in rows} == {"v1"}
    corrected, alone = means["corrected"], means["judge alone"]
    assert corrected["value"] == pytest.approx(alone["value"] - 0.1, abs=2e-3)
    assert corrected["n"] == 30
    # The judge is always off by the same, so that what people add is known at once.
    assert (
        corrected["high"] - corrected["low"]
        < means["people alone"]["high"] - means["people alone"]["low"]
    )
    width = corrected["high"] - corrected["low"]
    needed = int(np.ceil(30 * (width / 0.01) ** 2))
    assert f"v1: {needed:,} labels for an interval of 0.01" in captured.out
    assert run([*line, "--width", "0.000001"]) == 3
    assert "more than 1,000,000 labels" in capsys.readouterr().err


def test_labels_are_refused_in_a_sentence(
    reports: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["label", "20261101"]) == 3
    assert "--form FILE writes" in capsys.readouterr().err
    assert run(["label", "20261101", "--form", "form.csv"]) == 3
    assert "--page names one of rag_metrics" in capsys.readouterr().err
    line = ["label", "20261101", "--page", "rag_metrics"]
    assert run([*line, "--form", "form.csv"]) == 0
    assert run([*line, "--take", "form.csv"]) == 3
    assert "fill the column label" in capsys.readouterr().err
    frame = pd.read_csv(reports / "form.csv", dtype=str, keep_default_na=False)
    frame.loc[0, "label"] = "good"
    frame.to_csv(reports / "form.csv", index=False)
    assert run([*line, "--take", "form.csv"]) == 3
    assert "good" in capsys.readouterr().err


def test_a_mark_is_in_the_file_before_the_next_answer_is_shown(reports: Path) -> None:
    from ragbench.extras.labels.marking import mark

    line = ["label", "20261101", "--page", "rag_metrics", "--form", "form.csv", "--limit", "2"]
    assert run(line) == 0
    widget = mark(reports / "form.csv", levels=(0, 0.5, 1))
    shown, buttons = widget.children
    assert "0 / 2" in shown.value
    assert [button.description for button in buttons.children] == ["0", "0.5", "1"]
    buttons.children[1].click()
    assert pd.read_csv(reports / "form.csv")["label"].tolist()[:1] == [0.5]
    assert "1 / 2" in shown.value
    buttons.children[2].click()
    buttons.children[2].click()
    assert pd.read_csv(reports / "form.csv")["label"].tolist() == [0.5, 1]
    assert "All answers are marked" in shown.value
    # Whoever opens the form again goes on where marks end.
    assert "All answers are marked" in mark(reports / "form.csv").children[0].value


def test_a_button_a_level_writes_the_mark_before_the_next_answer_is_shown(tmp_path: Path) -> None:
    from ragbench.extras.labels.marking import mark

    form = tmp_path / "form.csv"
    rows = {"question": ["q1", "q2", "q3"], "answer": "a", "contexts": "c", "label": ["4", "", ""]}
    pd.DataFrame(rows).to_csv(form, index=False)
    shown, buttons = mark(form).children
    assert [button.description for button in buttons.children] == ["1", "2", "3", "4", "5"]
    assert "1 / 3" in shown.value
    buttons.children[0].click()
    assert pd.read_csv(form, dtype=str)["label"].tolist()[:2] == ["4", "1"]
    assert "2 / 3" in shown.value
    buttons.children[4].click()
    assert pd.read_csv(form, dtype=str)["label"].tolist() == ["4", "1", "5"]
    assert "All answers are marked." in shown.value


def test_how_many_questions_are_needed(reports: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["plan", "--matters", "0.05"]) == 0
    assert "937 independent questions" in capsys.readouterr().out
    # The page's primary metric is meant, and not the first.
    file = reports / "reports/20261108/frames/rag_metrics/scores.parquet"
    scores = pd.read_parquet(file)
    pd.concat([scores.assign(metric="bleu"), scores]).to_parquet(file)
    assert run(["plan", "20261108", "--page", "rag_metrics", "--matters", "0.01"]) == 0
    assert "token_f1 of v2 against v1" in capsys.readouterr().out
    assert run(["plan", "--matters", "0.4"]) == 3
