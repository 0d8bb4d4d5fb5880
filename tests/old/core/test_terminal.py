"""The door to the terminal: which signs it shows as numbers, and that no command prints past it."""

from __future__ import annotations

import io
import json
import re
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ragbench.old.cli import run
from ragbench.old.core import names, settings, terminal
from ragbench.old.llm import Tally
from ragbench.old.report import RunResult, Step
from tests.old.core import hostile
from tests.old.report import kept_runs
from tests.old.small_project import write_lines
from tests.old.views.measurements import measurement

IGNORABLE = {
    *(0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0), *range(0x180B, 0x1810), *range(0x2060, 0x2070),
    *range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFFC), *range(0xE0000, 0xE1000),
}  # fmt: skip
"""What Unicode lets a program draw as nothing (Default_Ignorable_Code_Point), whatever its category; blank letters."""


def is_dangerous(code: int) -> bool:
    """Told from Unicode's own table of categories, not from our classes."""
    return unicodedata.category(chr(code)) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") or code in IGNORABLE


@pytest.mark.fault("links", tried="every character of Unicode, held against its category", count=1114112)
def test_every_character_that_a_terminal_obeys_or_hides_is_in_a_class_and_no_other() -> None:
    pattern = terminal.pattern()
    found = [chr(code) for code in range(sys.maxunicode + 1) if bool(pattern.match(chr(code))) != is_dangerous(code)]
    unassigned = [sign for sign in found if unicodedata.category(sign) == "Cn"]  # of which the classes may know some
    assert [f"{ord(sign):04x}" for sign in found if sign not in set(unassigned)] == []
    assert all(pattern.match(sign) for sign in unassigned)


@pytest.mark.slow
@pytest.mark.parametrize("name", names.INVISIBLE)
@pytest.mark.fault("links", tried="each class of characters left out of the pattern", count=12)
def test_no_class_can_be_left_out(name: str) -> None:
    alone = terminal.pattern((names.INVISIBLE[name],))
    others = terminal.pattern(tuple(signs for other, signs in names.INVISIBLE.items() if other != name))
    own = [chr(code) for code in range(sys.maxunicode + 1) if alone.match(chr(code))]
    assert own
    assert not [sign for sign in own if others.match(sign)], "in two classes: leaving out one would not be seen"
    for sign in {own[0], own[len(own) // 2], own[-1]}:
        assert sign not in terminal.plain(f"a{sign}b")
        assert terminal.plain(f"a{sign}b") != "ab", "what is hidden is to be seen"


@pytest.mark.parametrize("text", hostile.STRINGS, ids=ascii)
@pytest.mark.fault("links", tried="names with markup, escapes and signs that hide", count=53)
def test_a_hostile_text_is_one_line_without_power(text: str) -> None:
    shown = terminal.plain(text)
    assert not terminal.pattern().search(shown)
    assert shown.isprintable()
    assert terminal.plain(shown) == shown
    assert [other for other in hostile.STRINGS if terminal.plain(other) == shown] == [text]
    assert terminal.pattern().sub(terminal._as_json, json.dumps(text, ensure_ascii=False)).isprintable()


def test_plain_words_of_all_languages_stay() -> None:
    for text in (
        "Привет, мир — «тест»",
        "naïve café",
        "日本語",
        "שלום",
        "नमस्ते",
        "0 … 1",
        "1\u202f234,5",
        "a\u00a0b",
        "👍",
        "",
    ):
        assert terminal.plain(text) == text


def test_no_line_of_an_error_passes_for_one_of_ours(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.tell("one\ngate mrr>=0.9 holds\r\x1b[2K", err=True)
    assert capsys.readouterr().err == "one\n  gate mrr>=0.9 holds\\r\\x1b[2K\n"


def test_json_stays_json_and_the_same_value(capsys: pytest.CaptureFixture[str]) -> None:
    value = {text: [text, 0.5, None] for text in hostile.STRINGS} | {"low\udc80": "\U000e0041"}
    terminal.dump(value)
    said = capsys.readouterr().out
    assert not hostile.remains(said)
    assert json.loads(said) == value


class Screen(io.StringIO):
    """A terminal, as far as a program can tell."""

    def isatty(self) -> bool:
        return True


def screen(monkeypatch: pytest.MonkeyPatch, stream: str, columns: int = 80) -> Screen:
    """A terminal of so many columns and no colours in place of a stream."""
    found = Screen()
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, stream, found)
    return found


def unstyled(text: str) -> list[str]:
    """The lines of a text without what moves the cursor or sets bold type."""
    return [line.rstrip() for line in re.split(r"[\r\n]+", re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text))]


WIDE = ("metric", "difference", "interval", "p", "corrected p", "detectable", "n", "unpaired", "verdict")
CELLS = (
    *("context_precision", "+0.0123", "-0.0123 … +0.0345", "0.0123", "0.0345", "0.0456", "48", "0"),
    "not shown; p of equivalence within ±0.05: 0.0123",
)


def test_a_table_too_wide_for_a_screen_is_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """No number and no word is folded or lost; each part names its rows."""
    shown = screen(monkeypatch, "stdout")
    terminal.table(WIDE, [CELLS], left={"metric", "verdict"}, bold={0})
    lines = unstyled(shown.getvalue())
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line.startswith("context_precision")] == [
        "context_precision     +0.0123  -0.0123 … +0.0345  0.0123      0.0345      0.0456",
        "context_precision  48         0  not shown; p of equivalence within ±0.05:",
    ]
    said = " ".join(lines).split()
    assert [word for cell in (*WIDE, *CELLS) for word in cell.split() if word not in said] == []


def test_a_word_longer_than_a_screen_is_folded_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = screen(monkeypatch, "stdout", 20)
    terminal.table(("name", "n"), [("abcdefghij" * 3, "12345")], left={"name"})
    lines = unstyled(shown.getvalue())
    assert max(map(len, lines)) <= 20
    assert "".join(line.split(" ")[0] for line in lines[1:]) == "abcdefghij" * 3
    assert "12345" in lines[1]


LONG = "tier1_retrieval: not measured 12: the endpoint at http://models.internal:8080/v1/chat/completions was slow (12)"


@pytest.mark.parametrize("columns", [60, 80])
@pytest.mark.parametrize("say", [terminal.say, terminal.tell, terminal.prose])
def test_a_note_is_broken_at_blanks(say: Callable[[str], None], columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    shown = screen(monkeypatch, "stdout", columns)
    say(LONG)
    lines = unstyled(shown.getvalue())[:-1]
    assert " ".join(line.strip() for line in lines) == LONG
    assert max(map(len, lines)) <= columns
    assert len(lines) > 1
    assert all(line.startswith("  ") for line in lines[1:]), "none passes for a line of its own"


def test_a_path_longer_than_a_screen_stays_in_one_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = screen(monkeypatch, "stderr", 40)
    path = "/".join(["folder"] * 10)
    terminal.say(f"the report is in {path} now", err=True, mark="!")
    assert unstyled(shown.getvalue())[:-1] == ["! the report is in", f"  {path}", "  now"]
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    terminal.say(LONG)
    assert sys.stdout.getvalue() == f"{LONG}\n", "a file has its sentences whole"


def test_a_file_has_every_row_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr(sys, "stdout", file)
    terminal.table(("a", "b"), [("x" * 3000, "y " * 900 + "z")])
    assert len(file.getvalue().splitlines()) == 2


def test_all_of_a_bar_s_words_are_on_a_narrow_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = screen(monkeypatch, "stderr")
    note = Tally(asked=123456, done=98765, journaled=54321, failed=1234, in_flight=128, cost=1234.5).describe(60.0)
    with terminal.Bars() as bars:
        for name in ("tier3_end_to_end", "rag_metrics"):
            run._draw(bars, Step(name, -1, -1, label="judging", work_done=98765, work_total=123456, note=note))
    lines = unstyled(shown.getvalue())
    assert max(map(len, lines)) <= 80
    said = " ".join(" ".join(lines).split())
    assert f"tier3_end_to_end: judging: {note}" in said
    assert f"rag_metrics: judging: {note}" in said
    assert re.search(r"tier3_end_to_end \S+ 98765/123456 -:--:--", said)


@pytest.mark.parametrize("colour", [True, False])
def test_colours_are_for_screens_alone(colour: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    if not colour:
        monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys, "stderr", Screen())
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    terminal.say("x", err=True, colour="red")
    terminal.say("x", colour="red")
    assert (sys.stderr.getvalue(), sys.stdout.getvalue()) == ("\x1b[31mx\x1b[0m\n" if colour else "x\n", "x\n")


@pytest.mark.fault("links", tried="bars whose names and notes are hostile", count=53)
def test_bars_obey_no_name(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = screen(monkeypatch, "stderr", 400)
    for text in hostile.STRINGS:
        with terminal.Bars() as bars:
            run._draw(bars, Step(text, 0, 4))
            run._draw(bars, Step(text, -1, -1, label=text, work_done=1, work_total=2, note=text))
        assert text.isprintable() or text not in shown.getvalue()
        assert terminal.plain(text) in shown.getvalue()


def test_what_python_prints_itself_goes_through_the_door(capsys: pytest.CaptureFixture[str]) -> None:
    import logging
    import subprocess

    program = (
        "import logging, os, threading, warnings\nfrom ragbench.old.core import terminal\nterminal.guard()\n"
        "warnings.warn('w\\x1b[41m ' + os.environ['OWN_API_KEY'])\n"
        "logging.getLogger('x').error('l\\x1b[41m ' + os.environ['OWN_API_KEY'])\n"
        "t = threading.Thread(target=lambda: 1 / int('t\\x1b[41m' + os.environ['OWN_API_KEY']))\nt.start(); t.join()\n"
        "raise RuntimeError('e\\x1b[41m\\n' + os.environ['OWN_API_KEY'])\n"
    )
    import os

    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "OWN_API_KEY": "canary-1234"},
    )
    assert done.returncode == 1
    for sign in "wlte":
        assert f"{sign}\\" in done.stderr
    assert not hostile.remains(done.stderr)
    assert "canary" not in done.stderr
    assert logging.lastResort is not None


@pytest.fixture
def call(project: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """The command line inside this process, on a wide terminal."""
    from ragbench.old.__main__ import application

    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "2000")

    def command(*words: Any) -> Result:
        settings.load.cache_clear()
        return CliRunner().invoke(application, list(map(str, words)), catch_exceptions=True)

    return command


def told(done: Result) -> str:
    """All that a person sees of a command, the message of its error among it."""
    error = done.exception
    return done.output + ("" if error is None or isinstance(error, SystemExit) else "\n".join(terminal.lines(error)))


def assert_shown(done: Result, texts: tuple[str, ...] = hostile.STRINGS, allowed: str = "\n") -> None:
    assert done.exit_code == 0, told(done)
    assert hostile.remains(done.output, allowed) == []
    assert [text for text in texts if terminal.plain(text) not in done.output] == []


POSSIBLE = [text for text in hostile.STRINGS if names.fault(text) is None]
"""What a system may be called; the others are refused where they are read."""
STORABLE = tuple(text for text in hostile.STRINGS if "\0" not in text)
"""PostgreSQL keeps no null character."""
LINES = tuple(text for text in hostile.STRINGS if len(text.split()) == 1 and len(text.splitlines()) == 1)
"""What can be a name in a table whose cells are parted by white space."""


@pytest.mark.slow
@pytest.mark.fault("links", tried="systems, questions and answers with hostile names, scored", count=53)
def test_score(call: Callable[..., Result], project: Path) -> None:
    rows = [
        {
            "id": f"{number} {text}",
            "system": text if text in POSSIBLE else "plain",
            "user_input": text,
            "response": text,
            "reference": "x",
        }
        for text in hostile.STRINGS
        for number in range(2)
    ]
    path = write_lines(project / "answers.jsonl", rows)
    names = tuple(POSSIBLE)
    assert_shown(call("score", path, "-m", "exact_match", "--resamples", 100, "--gate", "exact_match<=1"), names)
    as_json = call("score", path, "-m", "exact_match", "--resamples", 100, "--json", "-")
    assert hostile.remains(as_json.stdout) == []
    assert {one["system"] for one in json.loads(as_json.stdout)["estimates"]} == {*names, "plain"}
    for text in hostile.TOGETHER:
        assert hostile.remains(told(call("score", path, "-m", text))) == []
        assert hostile.remains(told(call("score", path, "--baseline", f"no {text}"))) == []


@pytest.mark.slow
@pytest.mark.fault("links", tried="questions, ids and answers to be loaded", count=53)
def test_load(call: Callable[..., Result], project: Path) -> None:
    items = [
        {"question": f"{text}?", "ground_truth_answer": text, "chunk_id": text, "chunk_text": text, "id": text}
        for text in hostile.STRINGS
    ]
    for start in range(0, len(items), 3):  # so many are shown of each
        (project / "set.json").write_text(json.dumps(items[start : start + 3]), encoding="utf-8")
        done = call("load", "questions", "set.json", "--name", "x", "--dry-run")
        assert hostile.remains(told(done)) == [], start
    for text in hostile.TOGETHER:
        assert hostile.remains(told(call("load", "questions", text, "--name", text, "--dry-run"))) == []


def kept_reply(name: str) -> dict[str, Any]:
    """A row of the journal: what a judge and a model of that name said."""
    from ragbench.old.llm.journal import Entry
    from ragbench.old.llm.request import key_of

    request = {"prompt": "p", "version": 1, "repeat": 0, "name": name}
    identity = {"judge": name, "endpoint": "http://127.0.0.1:9/v1", "model": name}
    key = key_of(identity, request)
    tokens: Any = (1, 1, False, 0.0, 0.1)
    return dict(Entry(key, *identity.values(), "p", 1, 0, request, "yes", "stop", None, *tokens).as_row())


@pytest.mark.slow
@pytest.mark.fault("links", tried="judges and models of the journal", count=52)
def test_journal(call: Callable[..., Result], project: Path) -> None:
    from ragbench.old.store import Store
    from ragbench.old.store.reply_journal import DatabaseJournal

    with Store.open(settings.load()) as store:
        DatabaseJournal(store.engine).bring_in([kept_reply(text) for text in STORABLE])
    assert_shown(call("journal"), STORABLE)
    for text in hostile.TOGETHER:
        assert hostile.remains(told(call("journal", "export", "x.jsonl", "-j", text))) == []


@pytest.mark.slow
@pytest.mark.fault("links", tried="names on the command line, in every place for one", count=318)
def test_refused_command_lines(call: Callable[..., Result], project: Path) -> None:
    for text in hostile.TOGETHER:
        for words in (
            (text,), ("metrics", text), ("metrics", "--grain", text), ("run", text, "-p", text), ("run", "-d", text),
            ("run", "-s", text), ("render", text),
        ):  # fmt: skip
            done = call(*words)
            assert hostile.remains(told(done)) == [], words


@pytest.mark.fault("links", tried="systems in the settings, as doctor lists them", count=53)
def test_doctor(call: Callable[..., Result], project: Path) -> None:
    path = project / "ragbench.toml"
    before = path.read_text(encoding="utf-8")

    def table(text: str) -> str:
        name = json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
        return f'[systems.{name}]\nresults = "good.jsonl"\n'

    path.write_text(before + "".join(table(text) for text in POSSIBLE), encoding="utf-8")
    done = call("doctor")
    assert hostile.remains(done.output) == []
    assert [text for text in POSSIBLE if terminal.plain(text) not in done.output] == []
    path.write_text(before + "".join(table(text) for text in hostile.STRINGS), encoding="utf-8")
    settings.load.cache_clear()
    done = call("doctor")
    assert hostile.remains(done.output) == []
    assert "invisible sign" in done.output


@pytest.mark.fault("links", tried="the last lines of a run that failed", count=53)
def test_the_last_lines_of_a_run(
    call: Callable[..., Result], project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import typer

    made = measurement(hostile.STRINGS, ("mrr",), questions=3, facts={"stand_ins": ["embedder"]})
    folder = kept_runs.make(project / "reports", "one", made)
    failed = RunResult(folder, {text: text for text in hostile.STRINGS}, "\x1b[41m")
    with pytest.raises(typer.Exit):
        run._conclude(failed, gate=False, sent_to="")
    said = capsys.readouterr()
    assert hostile.remains(said.out + said.err) == []
    assert [text for text in hostile.STRINGS if terminal.plain(text) not in said.err] == []
    toml = project / "ragbench.toml"
    toml.write_text(f'{toml.read_text(encoding="utf-8")}[gate.g]\nmetric = "mrr"\nat_least = 0.1\n', encoding="utf-8")
    settings.load.cache_clear()
    run.hold(folder)
    said = capsys.readouterr()
    assert hostile.remains(said.out + said.err) == []
    assert [text for text in hostile.STRINGS if terminal.plain(text) not in said.err] == []


@pytest.mark.fault("links", tried="systems in the text of notebooks' objects", count=53)
def test_objects_of_notebooks_as_text() -> None:
    import ragbench.old as rb
    from ragbench.old import views

    rows = [{"id": "1", "system": text, "user_input": "q", "response": "a", "reference": "a"} for text in POSSIBLE]
    assert hostile.remains(repr(rb.score(rows, metrics=["exact_match"]))) == []
    page = views.Page(measurement(hostile.STRINGS, ("mrr",), questions=3), language="en")
    assert hostile.remains(repr(page)) == []
    for view in ("answer", "table", "method"):
        assert hostile.remains(page.view(view)._repr_mimebundle_()["text/plain"]) == []


def test_without_a_screen_a_line_is_written_now_and_then_with_the_time_left(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr("ragbench.old.core.terminal.time.monotonic", lambda: now[0])
    with terminal.Bars() as bars:
        for second in range(0, 100, 10):  # 400 came from the store at once, then ten a second
            now[0] = float(second)
            bars.show("tier1", 400 + 10 * second if second else 0, 2000, "dense" if second else "")
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "tier1 …",
        "tier1, dense: 800 of 2,000, about 2.0 min left",
        "tier1, dense: 1,100 of 2,000, about 1.5 min left",
    ]
