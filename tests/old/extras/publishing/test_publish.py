"""Publishing: a site without a path, a secret or a person it must not hold, whole or not there."""

from __future__ import annotations

import csv
import io
import json
import re
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import unquote, urlsplit

import pandas as pd
import pytest
from typer.testing import CliRunner

from ragbench.old import report
from ragbench.old.__main__ import _is_for_people
from ragbench.old.core.measurement import Measurement
from ragbench.old.extras.publishing import publish
from ragbench.old.extras.publishing.publish import Veil
from ragbench.old.report import exports
from ragbench.old.report.keeping import kept
from ragbench.old.tiers.data import persons
from tests.old.report import kept_runs
from tests.old.report.test_exports import FORMULAS
from tests.old.views.measurements import measurement

PEOPLE = ("ivan.petrov@example.org", "@petrov_ivan", "+7 912 345-67-89", "st0123456789")


def texts(folder: Path) -> dict[str, str]:
    """Every file of a site as a text, tables of Parquet written out."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            name = path.relative_to(folder).as_posix()
            table = path.suffix == ".parquet"
            found[name] = pd.read_parquet(path).to_csv() if table else path.read_text(encoding="utf-8")
    return found


def published(folder: Path, *made: Measurement, to: str = "site", **options: Any) -> Path:
    """The site of a run of these measurements."""
    if not (folder / "reports" / "one").exists():
        kept_runs.make(folder / "reports", "one", *made)
    return publish.publish("one", folder / to, **options).parent


@pytest.mark.skipif(not persons.finds_names(), reason='needs the extra "models"')
def test_names_of_people_are_masked_in_every_file_where_that_is_asked_for(bare: Path) -> None:
    name, mail = "Иванова Мария Петровна", "ivan.petrov@example.org"
    made = measurement(questions=3)
    text = f"Почему {name} не принимает по средам? {mail}"
    named = replace(
        made,
        questions=made.questions.assign(text=text, reference=text),
        retrieved=made.retrieved.assign(text=text),
        facts={**made.facts, "dataset_title": f"Вопросы, заданные {name}"},
    )
    open_ = texts(published(bare, named))
    assert any(name in text for text in open_.values())
    counted: Counter[str] = Counter()
    hidden = texts(published(bare, named, to="masked", names=counted))
    assert [path for path, text in hidden.items() if name in text or "Мария" in text or mail in text] == []
    assert (counted["names"], counted["texts"]) == (2, 2), "a text that stands in many places counts once"
    assert any("Почему ••• не принимает по средам?" in text for text in hidden.values())


def test_a_site_has_all_forms_and_only_relative_links_that_lead_somewhere(bare: Path) -> None:
    site, run = published(bare, measurement(questions=20)), bare / "reports" / "one"
    assert site == bare / "site"
    there = set(texts(site))
    assert {
        "index.html", "tier1_retrieval.html", "single/index.html", "single/tier1_retrieval.html", "data/scores.csv",
        "data/scores.parquet", "data/estimates.csv", "data/comparisons.csv", "data/summary.json", "data/manifest.json",
        "tables/tier1_retrieval.tex", "summary.md", "junit.xml",
    } <= there  # fmt: skip
    assert not {"parts", "scores.parquet", "tier1_retrieval.ipynb"} & {path.name for path in site.iterdir()}
    for page in site.rglob("*.html"):
        markup = re.sub(r"(<script[^>]*>).*?</script>", r"\1", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for target in re.findall(r'(?:href|src)="([^"]*)"', markup):
            parts = urlsplit(target)
            assert not parts.scheme or parts.scheme == "data", (page.name, target)
            assert not parts.path.startswith("/"), target
            if parts.path and not parts.scheme:
                assert (page.parent / unquote(parts.path)).is_file(), (page.name, target)
    assert (run / "manifest.json").is_file()
    assert not list((run).glob("*.html")), "the run itself is left as it was"


def test_a_site_has_the_languages_of_its_run_or_the_one_asked_for(bare: Path) -> None:
    run = kept_runs.make(bare / "reports", "one", measurement(questions=6))
    report.render(run, language="ru")
    both, russian = texts(published(bare)), texts(published(bare, to="russian", language="ru"))
    assert '<html lang="en">' in both["index.html"]
    for name in ("index.html", "tier1_retrieval.html", "metrics/mrr.html", "single/tier1_retrieval.html"):
        beside = f"single/ru/{name.removeprefix('single/')}" if "single" in name else f"ru/{name}"
        assert '<html lang="ru">' in both[beside]
        assert ('<nav class="languages"' in both[name]) == ("single" not in name)
        assert '<html lang="ru">' in russian[name]
        assert '<nav class="languages"' not in russian[name]
    for name in (name for name in both if name.endswith(".html") and not name.startswith("single")):
        for target in re.findall(r'(?:href|src)="([^"#:]+)[#"]', both[name]):
            assert (bare / "site" / name).parent.joinpath(unquote(target)).is_file(), (name, target)
    assert not [name for name in russian if name.startswith("ru/")]


@pytest.mark.fault("determinism", tried="two writings to the byte", count=1)
def test_the_same_run_makes_the_same_site(bare: Path) -> None:
    made = measurement(questions=12)
    first, second = texts(published(bare, made, to="a")), texts(published(bare, to="b", language="en"))
    assert first == second == texts(published(bare, to="a")), "the last is written anew in its place"


@pytest.mark.fault("secrets", tried="keys and paths in what is published", count=1)
def test_no_path_and_no_secret_of_this_machine_leaves_the_house(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret, password = "sk-canary-0123456789abcdef", "canary-of-a-password"
    monkeypatch.setenv("SOME_API_KEY", secret)
    monkeypatch.setenv("RAGBENCH_DATABASE_URL", f"postgresql://reader:{password}@db.example.org/rag")
    made = measurement(questions=8, reason=f"refused: {secret}", facts={"note": f"key {secret}", "file": str(bare)})
    said = f"read {bare}/answers.jsonl with {secret}\npostgresql://reader:{password}@db.example.org/rag\n"
    run = kept_runs.make(bare / "reports", "one", made, stdout=said, parameters={"file": f"{bare}/data/answers.jsonl"})
    notebook = run / "tier1_retrieval.ipynb"
    source = notebook.read_text().replace(
        '"views.comparison.answer(page)"', json.dumps(f"table = read('{bare}/a/b.csv')")
    )
    notebook.write_text(source)
    publish.publish("one", bare / "site")
    for name, text in texts(bare / "site").items():
        assert secret not in text, name
        assert password not in text, name
        assert str(bare) not in text, name
    page = (bare / "site" / "tier1_retrieval.html").read_text()
    assert "answers.jsonl" in page
    assert "b.csv" in page


@pytest.mark.fault("secrets", tried="paths of this machine on a page", count=7)
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("open('/home/someone/x/data.csv')", "open('data.csv')"), (r"C:\Users\x\data.csv", "data.csv"),
        ("~/secret/place/data.csv", "data.csv"), ("https://example.org/a/b", "https://example.org/a/b"),
        ("a/b/c of data/x", "a/b/c of data/x"), ("1/2 + 3/4", "1/2 + 3/4"),
        ("File \"/usr/lib/p/x.py\"", "File \"x.py\""),
    ],
)  # fmt: skip
def test_of_a_path_only_the_last_part_stays(text: str, shown: str) -> None:
    assert publish.without_paths(text) == shown


def real_users() -> Measurement:
    """Questions of people who say who they are, one of them in his id."""
    made = measurement(questions=6, notebook="real_users", question="I am " + ", ".join(PEOPLE) + " and ask {i}")
    named = {"q0": "user-7001234567"}
    questions = made.questions.assign(sample=made.questions["sample"].replace(named))
    scores = made.scores.assign(sample=made.scores["sample"].replace(named), reason=f"asked by {PEOPLE[0]}")
    extra = {
        "more": pd.DataFrame({"sample": ["user-7001234567"], "detail": [json.dumps({"by": PEOPLE[1], "x": 0.1234567})]})
    }
    retrieved = made.retrieved.assign(sample=made.retrieved["sample"].replace(named))
    return replace(made, questions=questions, scores=scores, retrieved=retrieved, extra=extra)


@pytest.mark.fault("personal-data", tried="published sites, by what is asked to be masked", count=3)
@pytest.mark.parametrize(("mask", "on_users", "on_others"), [("real_users", 0, 1), ("all", 0, 0), ("none", 1, 1)])
def test_people_are_masked(bare: Path, mask: Any, on_users: int, on_others: int) -> None:
    other = measurement(questions=6, question="Write to " + PEOPLE[0] + " of {i}")
    found = texts(published(bare, real_users(), other, mask=mask))
    users = found["real_users.html"] + found["single/real_users.html"]
    assert any(word in users for word in (*PEOPLE, "7001234567")) == bool(on_users)
    assert (PEOPLE[0] in found["tier1_retrieval.html"]) == bool(on_others)
    table = pd.read_csv(io.StringIO(found["data/scores.csv"]), keep_default_na=False)
    own = table[table["notebook"] == "real_users"]
    assert own["sample"].nunique() == 6  # a masked id is still one of its own
    assert any("7001234567" in sample for sample in own["sample"]) == bool(on_users)
    with pytest.raises(ValueError, match="real_users, all or none"):
        publish.publish("one", bare / "site", mask="some")  # type: ignore[arg-type]


@pytest.mark.fault("personal-data", tried="published pages of a log that was measured without masking", count=3)
def test_every_page_of_a_log_is_masked_whatever_it_is_called(bare: Path) -> None:
    of_a_log = replace(real_users(), facts={**real_users().facts, "masked": False})
    made = [replace(of_a_log, notebook=name) for name in ("tier_ux", "users_of_may", "real_users")]
    for name, text in texts(published(bare, *made)).items():
        assert [word for word in (*PEOPLE, "7001234567") if word in text] == [], name


def test_a_veil_leaves_numbers_and_what_belongs_together() -> None:
    made = Veil().measurement(real_users())
    samples = set(made.questions["sample"])
    assert samples == set(made.scores["sample"]) == set(made.retrieved["sample"])
    assert set(made.extra["more"]["sample"]) <= samples
    assert json.loads(made.extra["more"]["detail"][0]) == {"by": "@•••", "x": 0.1234567}
    assert made.scores["value"].equals(real_users().scores["value"])
    assert made.estimates == real_users().estimates


@pytest.mark.fault("formulas", tried="formulas from data in all CSV of a site", count=12)
def test_formulas_from_data_reach_no_csv_of_a_site(bare: Path) -> None:
    made = measurement(questions=12, systems=("base", "=1+1"))
    named = {f"q{i}": text for i, text in enumerate(FORMULAS)}
    made = replace(made, scores=made.scores.assign(sample=made.scores["sample"].replace(named), reason="@SUM(A1)"))
    for path in (published(bare, made, single=False) / "data").glob("*.csv"):
        for row in csv.reader(io.StringIO(path.read_bytes().decode(), newline="")):
            assert not [cell for cell in row if cell.lstrip().startswith(("=", "@", "＝"))], path.name


@pytest.mark.fault("disk", tried="files of others in a folder that is written anew", count=1)
def test_a_folder_that_holds_other_things_is_not_touched(bare: Path) -> None:
    kept_runs.make(bare / "reports", "one", measurement(questions=6))
    mine = bare / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("my work")
    with pytest.raises(FileExistsError, match="holds other things") as refused:
        publish.publish("one", mine)
    assert _is_for_people(refused.value), "the sentence alone is printed, without a trace"
    assert [path.name for path in mine.iterdir()] == ["thesis.txt"]
    linked = bare / "link"
    linked.symlink_to(mine)
    with pytest.raises(FileExistsError):
        publish.publish("one", linked)
    assert (mine / "thesis.txt").read_text() == "my work"


@pytest.mark.fault("disk", tried="a site whose writing breaks off", count=1)
def test_what_breaks_off_leaves_the_old_site_whole(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = texts(published(bare, measurement(questions=6), single=False))

    def break_off(*given: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(exports, "write", break_off)
    with pytest.raises(OSError, match="No space"):
        publish.publish("one", bare / "site", single=False)
    assert texts(bare / "site") == before
    assert {path.name for path in bare.iterdir()} == {"ragbench.toml", "reports", "site"}


OUTSIDE = (
    "..", ".", "../outside", "../../etc", "reports/../../outside", "/etc", "//etc", "..\\outside", "latest/..",
    "one/..", "one/../../outside", "%2e%2e/outside", "..%2foutside", "~", "~root", "\x00", "one\x00", "\u2025/outside",
    ".../outside", "one/../outside/", "",
)  # fmt: skip


@pytest.mark.fault("paths", tried="names of runs that lead elsewhere", count=21)
@pytest.mark.parametrize("name", OUTSIDE)
def test_a_runs_name_never_leads_out_of_the_reports(bare: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kept_runs.make(bare / "reports", "one", measurement(questions=4))
    kept_runs.make(bare, "outside", measurement(questions=4))
    (bare / "far" / "away").mkdir(parents=True)
    monkeypatch.chdir(bare / "far" / "away")  # a path from here would be one that its user meant
    assert len(OUTSIDE) == 21
    assert kept.folder_of(name) is None
    assert kept.folder_of("one") == (bare / "reports" / "one").resolve()


@pytest.mark.fault("paths", tried="files beside a page that lie elsewhere", count=1)
def test_a_page_needs_nothing_from_outside_its_folder(bare: Path) -> None:
    (bare / "secret.js").write_text("x")
    (bare / "site").mkdir()
    page = bare / "site" / "page.html"
    for name in ("../secret.js", "..%2fsecret.js", str(bare / "secret.js")):
        page.write_text(f'<main></main><script src="{name}"></script>')
        with pytest.raises(ValueError, match="does not lie beside it"):
            publish.self_contained(page, page.parent)


def test_a_run_without_pages_says_so(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = kept_runs.make(bare / "reports", "one", measurement(questions=4))
    gone = replace(kept.of_folder(folder), folder=bare / "gone")
    monkeypatch.setattr(kept, "find", lambda name: gone)
    with pytest.raises(FileNotFoundError, match="only its numbers are kept"):
        publish.publish("old", bare / "site")


def test_the_run_is_drawn_the_same_after_publishing(bare: Path) -> None:
    folder = kept_runs.make(bare / "reports", "one", measurement(questions=10))
    report.render(folder)
    before = (folder / "tier1_retrieval.html").read_bytes()
    publish.publish("one", bare / "site")
    assert (folder / "tier1_retrieval.html").read_bytes() == before
    assert (bare / "site" / "tier1_retrieval.html").read_bytes() == before  # nothing to mask: the same page


def tampered(folder: Path, **notebook: Any) -> None:
    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["notebooks"][0] |= notebook
    path.write_text(json.dumps(manifest))


@pytest.mark.fault("paths", tried="names in a report from others", count=39)
@pytest.mark.parametrize("command", [report.render, kept.of_folder, lambda run: publish.publish(run, run.parent / "s")])
@pytest.mark.parametrize(
    "notebook",
    [
        *({"name": name} for name in ("../victim/notes", "/tmp/notes", "..", ".", "", ".hidden", "x" * 300)),
        *({"name": name} for name in ("a\x00b", "a\\b", "a\nb")),
        {"name": 7},
        {"language": "../../en"},
        {"parameters": ["a list"]},
    ],
)  # fmt: skip
def test_a_received_manifest_names_nothing_outside_its_folder(bare: Path, notebook: Any, command: Any) -> None:
    folder = kept_runs.make(bare / "reports", "one", measurement(questions=6))
    victim = bare / "reports" / "victim"
    victim.mkdir()
    (victim / "notes.html").write_text("the user's")
    (victim / "notes.ipynb").write_bytes(next(folder.glob("*.ipynb")).read_bytes())
    tampered(folder, **notebook)
    with pytest.raises(ValueError, match=r"manifest\.json: notebooks\.0\.(name|language|parameters)"):
        command(folder)
    assert (victim / "notes.html").read_text() == "the user's"
    assert sorted(path.name for path in (bare / "reports").iterdir()) == ["one", "victim"]


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
    from ragbench.old.__main__ import application

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
    from ragbench.old.__main__ import application

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
