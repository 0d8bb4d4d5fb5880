"""Every command with what it prints and how it ends: files, command line, exit code, words."""

from __future__ import annotations

import inspect
import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import ragbench as rb
from ragbench.cli.main import COMMANDS, is_installed, load_command, program, run
from ragbench.core.trust import forget
from tests.cli.conftest import typed

Write = Callable[..., None]


@pytest.mark.parametrize(
    ("files", "command", "code", "said"),
    [
        # Wrong words are answered with the nearest right one.
        ("", "scor x.csv", 3, "no command 'scor'; did you mean 'score'?"),
        ("", "score --format latex one.csv", 3, "no option --format; write --latex FILE"),
        ("", "score --metrcs a one.csv", 3, "no option --metrcs; did you mean '--metrics'?"),
        ("", "run --limit x", 3, "'--limit'"),
        ("", "run -d", 3, "Option '-d' requires an argument; see ragbench --help"),
        ("", "run --wwww", 3, "ragbench run has no option --wwww; see ragbench run --help"),
        ("", "metrics mmr", 3, "no metric 'mmr'; did you mean 'mrr'?"),
        ("", "run tier_1", 3, "no notebook 'tier_1'; did you mean 'tier1_retrieval'?"),
        ("", "run -d campsu", 3, "no data set 'campsu'"),
        ("", "run -s bm52", 3, "no system 'bm52'; did you mean 'bm25'?"),
        ("", "run -j lexcal", 3, "no judge 'lexcal'; did you mean 'lexical'?"),
        ("", "run -m mmr", 3, "no metric 'mmr'; did you mean 'mrr'?"),
        ("", "run -p k", 3, "-p k: write NAME=VALUE"),
        ("", "run -p =1", 3, "-p =1: write NAME=VALUE"),
        ("", "run xyz", 3, "no notebook 'xyz'; there are"),
        ("", "load x x.csv", 3, "no kind 'x'; there are documents"),
        ("", "run -d db:own", 3, "no database 'own'"),
        ("", "load question x.csv", 3, "no kind 'question'; did you mean 'questions'?"),
        ("", "gate", 3, "there are none; `ragbench run`"),
        ("", "compare a b", 3, "there is no run 'a'"),
        # Files.
        ("", "score nix.csv", 3, "there is no file nix.csv"),
        ("odd.csv", "score odd.csv", 3, "--column question=frage --column answer=antwort"),
        ("odd.csv", "score odd.csv -c question", 3, "write FIELD=COLUMN"),
        ("odd.csv", "score odd.csv -c question=", 3, "write FIELD=COLUMN"),
        ("odd.csv", "score odd.csv -c =frage", 3, "write FIELD=COLUMN"),
        ("answers.csv", "score answers.csv", 3, "--column system=version"),
        ("one.csv", "score one.csv -m context_recall", 3, "no row has all of these"),
        ("one.csv", "score one.csv -m exact_match -s v9", 3, "no system v9"),
        ("one.csv", "score one.csv -m exact_match", 0, "exact_match answers reaches 1.000"),
        ("one.csv", "score one.csv -m answer_relevance", 0, "offline stand-ins: judge lexical"),
        ("one.csv", "score one.csv --criterion polite", 3, "write NAME=QUESTION"),
        ("one.csv", "score one.csv --criterion =Polite?", 3, "write NAME=QUESTION"),
        ("one.csv", 'score one.csv --criterion "a=Is it polite?"', 4, "nothing was measured of a"),
        ("one.csv", "score one.csv --plan", 0, "no model would be asked"),
        ("one.csv", "load answers one.csv", 3, "scored where they lie: ragbench score one.csv"),
        ("odd.csv", "load questions odd.csv", 3, "text=COLUMN; the columns are frage, antwort"),
        ("odd.csv", "load dialogues odd.csv", 3, "no messages; name their column"),
        ("bad.bin", "load questions bad.bin", 3, "bad.bin: is no file that ends with"),
        ("one.csv", "load questions one.csv --name ../x", 3, "name is that of a folder"),
        ("one.csv", "load questions one.csv --name .x", 3, "name is that of a folder"),
        ("", "load documents docs", 3, "there is no docs"),
        ("", "load database own", 3, "no table [databases.own]"),
        (
            "judged.qrels first.run second.run",
            "trec judged.qrels first.run second.run -m nDCG@10,mrr",
            0,
            "second",
        ),
        ("", "init", 3, "nothing here that ragbench reads"),
        ("", "init nix.csv", 3, "there is no nix.csv"),
        ("", "lab", 3, "there is no folder"),
        ("", "metrics ndcg", 0, "options  k=None, gain=linear"),
        ("", "metrics ndcg,hallucination", 0, "scale    0 to 1, lower is better"),
        ("", "metrics show_decision", 0, "scale    0 to 1; neither end is good"),
        ("", "metrics mrr", 0, "reads    gains, ideal\noptions  k=None, level=None\nsource  "),
        ("", "metrics total_samples --json -", 0, '"bounds": [\n    0.0,\n    null\n   ]'),
        ("rows.csv", "score rows.csv -m exact_match", 0, "left out row 4: has neither"),
        ("rows.csv", "score rows.csv -m exact_match", 0, "left out 2 more rows"),
        ("three.csv", "score three.csv -m exact_match", 0, "left out row 4: has neither"),
        (
            "one.csv",
            'score one.csv -m exact_match --criterion "a=Polite?"',
            0,
            "nothing was measured of a: ",
        ),
        (
            "one.csv",
            'score one.csv -m exact_match --criterion "a=Polite?" --scale 5,1',
            3,
            "scale",
        ),
        (
            "one.csv",
            'score one.csv -m exact_match --criterion "a=Polite?" --scale 1,2,3',
            0,
            "● answers          0.000  1",
        ),
        (
            "one.csv",
            'score one.csv -m exact_match --criterion "a=Polite?" --scale bad,good',
            0,
            "● answers          0.000  1",
        ),
        ("", "metrics", 0, "faithfulness"),
        ("", "trust --list", 0, ""),
        ("", "--version", 0, "0."),
        ("", "", 0, "Begin with"),
    ],
)
def test_a_command_ends_with_its_code_and_says_why(
    write: Write,
    capsys: pytest.CaptureFixture[str],
    files: str,
    command: str,
    code: int,
    said: str,
) -> None:
    write(*files.split())
    assert typed(command) == code
    printed = capsys.readouterr()
    assert said in printed.out + printed.err
    assert "left out 0 more" not in printed.err
    # An error is one sentence.
    assert code == 0 or printed.err.strip().splitlines()[-1].startswith("ragbench: ")


def test_lists_repeat_or_take_commas(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("answers.csv")
    table = ["score", "answers.csv", "-c", "system=version", "--json"]
    assert run([*table, "a.json", "-m", "exact_match,token_f1", "-s", "v1,v2"]) == 0
    assert (
        run([*table, "b.json", "-m", "exact_match", "-m", "token_f1", "-s", "v1", "-s", "v2"]) == 0
    )
    first, second = (json.loads(Path(name).read_text()) for name in ("a.json", "b.json"))
    assert first == second
    assert {row["metric"] for row in first["estimates"]} == {"exact_match", "token_f1"}
    # v1 has none of two right, v2 both.
    values = [row["value"] for row in first["estimates"] if row["metric"] == "exact_match"]
    assert values == [0, 1]
    assert len(first["scores"]) == 8


def test_every_way_out_of_score(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write("answers.csv")
    line = "score answers.csv -c system=version -m token_f1 -m exact_match --primary exact_match"
    line += " --baseline v2 --out page --json - --latex paper/table.tex --limit 2"
    assert typed(f"{line} --confidence 1.5") == 3
    assert "--confidence" in capsys.readouterr().err
    assert typed(f"{line} --confidence 0.9") == 0
    printed = capsys.readouterr().out
    assert "On exact_match" in printed
    assert "stand-ins" not in printed
    assert '"level": 0.9' in printed
    latex = Path("paper/table.tex").read_text()
    assert "\\toprule" in latex
    assert "exact\\_match & v1" in latex
    assert Path("page/rag_metrics.html").is_file()
    assert Path("page/frames/rag_metrics/scores.parquet").is_file()


def test_files_are_systems(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    rows = "question,answer,reference\nWhen?,{},At 8.\nWhere?,{},Here.\n"
    write(v1__csv=rows.format("At 9.", "Here."), v2__csv=rows.format("At 8.", "Here."))
    assert typed("score v1.csv v2.csv -m exact_match --json -") == 0
    scores = json.loads(capsys.readouterr().out.partition("\n{")[2].join(["{", ""]))["scores"]
    assert [(row["system"], row["value"]) for row in scores] == [
        ("v1", 0),
        ("v1", 1),
        ("v2", 1),
        ("v2", 1),
    ]


def test_columns_of_the_project_are_read_unless_others_are_named(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write(
        "odd.csv", "one.csv", ragbench__toml='[columns]\nquestion = "frage"\nanswer = "antwort"\n'
    )
    assert typed("score odd.csv -m answer_relevance") == 0
    assert typed("load questions odd.csv --name own") == 0
    assert "'When is it open?'" in Path("data/own/questions.en.jsonl").read_text().replace('"', "'")
    Path("texts.csv").write_text("id,text\n1,It opens at 8.\n")
    assert typed("load passages texts.csv --name own") == 0
    capsys.readouterr()
    for command in ("score one.csv -m exact_match", "load questions one.csv"):
        assert typed(command) == 3
        assert "[columns] in ragbench.toml" in capsys.readouterr().err
    assert typed("load questions one.csv --name two -c text=question") == 0


def test_an_embedder_that_would_not_be_asked_is_refused(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    write("one.csv", ragbench__toml='[embedders.e]\nbase_url = "http://h/v1"\nmodel = "m"\n')
    assert typed("score one.csv -m semantic_similarity --embedder e") == 3
    assert 'write kind = "openai" for an endpoint' in capsys.readouterr().err


def test_strangers_texts_give_a_terminal_no_orders(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    codes = "\x1b]0;x\x07\u202e"
    row = f"When?,At 8.,At 8.,v{codes}1\n"
    (folder / "answers.csv").write_text(f"question,answer,reference,system\n{row}")
    (folder / "odd.csv").write_text(f"frage{codes},antwort\nWhen?,At 8.\n")
    assert typed("score answers.csv -m exact_match") == 0
    assert typed("score odd.csv") == 3
    assert typed("init") == 0
    printed = "".join(capsys.readouterr())
    assert "v]0;x1" in printed
    assert not set(printed) & set(codes[:1] + codes[-2:])


def test_metrics_of_the_project_are_there_by_name(
    write: Write, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = 'modules = ["own_words"]\n[metrics.polite]\nquestion = "Is it polite?"\n'
    code = (
        "from ragbench.core.metric import metric\n\n@metric\ndef brevity(answer):\n"
        '    """1 for a short answer."""\n    return float(len(answer) < 9)\n'
    )
    write("one.csv", ragbench__toml=settings, own_words__py=code)
    assert typed("score one.csv -m brevity --json n.json") == 0
    assert json.loads(Path("n.json").read_text())["scores"][0]["value"] == 1
    assert typed("score one.csv -m polite") == 4
    assert "cannot answer aspect_critique" in capsys.readouterr().err


def test_a_folder_is_used_when_its_user_said_so(
    write: Write, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    forget(folder)
    write("one.csv", ragbench__toml='modules = ["stolen"]\n', stolen__py="open('seen', 'w')\n")
    for command in ("score one.csv", "run", "load questions one.csv", "gate", "doctor", "lab"):
        assert typed(command) == 5
    assert not Path("seen").exists()
    assert "If so: ragbench trust" in capsys.readouterr().err
    assert run(["trust"]) == 0
    assert typed("score one.csv -m exact_match") == 0
    assert Path("seen").exists()
    (folder / "below").mkdir()
    capsys.readouterr()
    assert run(["trust", "below", "--remove"]) == 0
    assert (
        f"below is not trusted any more; it lies in {folder}, which is" in capsys.readouterr().out
    )
    assert run(["trust", "--remove"]) == 0
    assert capsys.readouterr().out.endswith("is not trusted any more\n")
    assert typed("score one.csv -m exact_match") == 5


def test_secrets_are_masked_where_we_speak_and_data_stay(
    write: Write, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("POSTGRES_PASSWORD", "password")
    monkeypatch.setenv("MY_KEY", "key-of-mine-1234")
    settings = (
        '[judges.mini]\nbase_url = "http://127.0.0.1:9/v1"\nmodel = "m"\nkey_variable = "MY_KEY"\n'
        'attempts = 1\n[gate.x]\nmetric = "key-of-mine-1234"\n'
    )
    text = "id,question\nq1,Where is my password? Is it key-of-mine-1234?\n"
    write(ragbench__toml=settings, q__csv=text)
    assert typed("load questions q.csv --name own") == 0
    loaded = Path("data/own/questions.en.jsonl").read_text()
    assert "Where is my password? Is it key-of-mine-1234?" in loaded
    write("one.csv")
    assert typed("score one.csv -m key-of-mine-1234 -j mini") == 3
    assert typed("score one.csv -m answer_relevance -j mini") == 4
    assert typed("score one.csv -m key-of-mine-1234 -j mini") == 3
    last = capsys.readouterr().err.splitlines()[-1]
    assert "key-of-mine-1234" not in last
    assert "••••" in last


def test_a_fault_of_ours_is_no_failed_gate(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("ragbench.cli.metrics.print_list", lambda: 1 / 0)
    assert run(["metrics"]) == 70
    assert "ZeroDivisionError" in capsys.readouterr().err

    def interrupt() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("ragbench.cli.metrics.print_list", interrupt)
    assert run(["metrics"]) == 130
    assert "Go on with: ragbench metrics" in capsys.readouterr().err


def test_a_command_that_is_told_to_end_ends_with_the_code_of_the_signal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def be_told(arguments: list[str]) -> int:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        return 130

    monkeypatch.setattr("ragbench.cli.main.run", be_told)
    handler = signal.getsignal(signal.SIGTERM)
    try:
        with pytest.raises(SystemExit) as ended:
            program()
    finally:
        signal.signal(signal.SIGTERM, handler)
    assert ended.value.code == 128 + signal.SIGTERM


def installed_commands() -> list[str]:
    return [name for name, entry in COMMANDS.items() if is_installed(entry[0])]


@pytest.mark.parametrize("name", installed_commands())
def test_help_begins_with_twelve_options_at_most(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([name, "--help"]) == 0
    assert f"ragbench {name}" in capsys.readouterr().out
    options = [each for each in load_command(name).params if each.param_type_name == "option"]
    first = [each for each in options if each.rich_help_panel is None]
    assert len(first) < 12, "--help is one, too"


def test_one_option_has_one_word() -> None:
    words: dict[str, set[tuple[str, ...]]] = {}
    for name in installed_commands():
        for parameter in load_command(name).params:
            for option in parameter.opts:
                if parameter.param_type_name == "option" and len(option) == 2:
                    words.setdefault(option, set()).add(tuple(parameter.opts))
    assert {option: len(names) for option, names in words.items() if len(names) > 1} == {}


def test_options_of_statistics_have_one_default_everywhere() -> None:
    names = ("confidence", "draws", "seed", "workers")
    defaults: dict[str, set[object]] = {name: set() for name in names}
    for name in installed_commands():
        for parameter in load_command(name).params:
            if parameter.name in defaults:
                defaults[parameter.name].add(parameter.default)
    in_python = inspect.signature(rb.compare).parameters
    defaults["confidence"].add(in_python["level"].default)
    for name in ("draws", "seed"):
        defaults[name].add(in_python[name].default)
    assert defaults == {
        "confidence": {0.95},
        "draws": {10_000},
        "seed": {0},
        "workers": {3},
    }


def test_nothing_heavy_is_imported_for_help_and_for_the_package() -> None:
    code = (
        "import sys, ragbench; from ragbench.cli.main import run; run(['--help']);"
        "print(sorted({'pandas', 'numpy', 'torch', 'plotly', 'pydantic'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_no_file_of_the_folder_stands_in_for_a_package(folder: Path) -> None:
    (folder / "typer.py").write_text("raise SystemExit(9)")
    done = subprocess.run([sys.executable, "-m", "ragbench", "--version"], check=False)
    assert done.returncode == 0


def test_a_reader_that_has_seen_enough_is_no_fault() -> None:
    command = [sys.executable, "-m", "ragbench", "metrics"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.close()  # as `head` does
    assert process.wait() == 0


def test_an_annex_that_was_taken_off_is_no_command() -> None:
    assert not is_installed("ragbench.extras.removed.command")


def test_lab_opens_the_notebooks_and_hands_on_the_rest(
    write: Write, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed_on: list[str] = []
    monkeypatch.setattr("os.execv", lambda program, arguments: typed_on.extend(arguments))
    write(**{"notebooks/mine.ipynb": "{}"})
    assert typed("lab -- --no-browser") == 0
    assert Path.cwd().name == "notebooks"
    assert typed_on[1:] == ["-m", "jupyterlab", "--ServerApp.ip=127.0.0.1", "--no-browser"]
    monkeypatch.chdir(folder)
    assert typed("lab --ip 0.0.0.0") == 0
    assert typed_on[-1] == "--ServerApp.ip=0.0.0.0"


def test_every_public_name_is_there() -> None:
    import ragbench

    assert ragbench.metrics.faithfulness.name == "faithfulness"
    for name in dir(ragbench):
        assert getattr(ragbench, name) is not None
    assert callable(ragbench.judge)
    with pytest.raises(AttributeError, match="no attribute 'scoer'"):
        _ = ragbench.scoer
