"""The pages of faults and attacks, made of the tests' own markers; run as a program, writes them anew, runs what they
count, and ends with 1 where that is not all tried.

A test says what it tries by `@pytest.mark.fault(ROW, tried="…", count=N)`. The markers are read from the source
without importing it: so the page is the same on a machine that lacks a browser or a data set.
"""

from __future__ import annotations

import argparse
import ast
import functools
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

from tests.docs import chapters

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "faults.md"
EVERY = "every"
"""What `--fault` is given for all rows."""
MARKED = "fault"
"""What the results of a test call its markers."""

HEAD = """\
# Faults and attacks

What can go wrong or be done to ragbench, what it promises then, and how the promise is tried. The parts are real
ones: a PostgreSQL server, an HTTP server that speaks the chat-completions protocol badly on purpose, signals,
processes, headless Chromium. The pages are made from the tests (`make faults`), and a test holds them equal to them: a
promise that no test tries says *not tried*, and `make faults` runs every test that is counted and fails where one of
them fails or is left out.

A row leads to its promise, how it is tried, and the command that runs its tests, the slow ones too; with
`--collect-only -q` it names them. Count: how many kills, texts, replies, files or other cases they try together.

| fault or attack | count | row |
|---|---:|---|
"""
COLUMNS = "| fault or attack | promise | how tried | count | command |\n|---|---|---|---:|---|\n"

FOOT = """
Not on this page: secrets in traces that are sent to others. ragbench sends none yet; they get their row together with
the feature.
"""


class Row(NamedTuple):
    """A fault or an attack, and what ragbench promises."""

    fault: str
    promise: str


ROWS: Mapping[str, Row] = {
    "kill": Row(
        "a run is ended with SIGKILL",
        "no reply that was paid for is lost; the next run takes it from the journal and ends in the same scores",
    ),
    "interrupt": Row(
        "Ctrl+C, SIGINT or SIGTERM",
        "what was measured is kept, the run is marked as interrupted, the exit code is 130 or 143, and the command "
        "that goes on is printed",
    ),
    "database": Row(
        "PostgreSQL dies, and comes back or does not",
        "the same numbers, or within a minute one sentence that says what to do; never a score of 0",
    ),
    "locks": Row(
        "locks of others, statements without end, no connection left",
        "every wait has a limit from the settings, and reaching it is named",
    ),
    "rate-limits": Row(
        "a provider answers 429, 500, 502, 503 or 529",
        "the wait that the provider asks for is kept, by all calls together; the scores are those of a clean run, and "
        "a budget is not passed",
    ),
    "hang": Row(
        "a provider hangs, drips, resets, refuses, or breaks off TLS",
        "connecting, reading and the whole call have limits of their own; each way ends within its limit",
    ),
    "garbage": Row(
        "a model replies with nonsense, nothing, HTML, half a JSON, prose around it",
        "one request to repair, then the value is unmeasured with its reason; no score is made up",
    ),
    "non-numbers": Row(
        "a score is NaN, infinite, a word, a boolean, nested or off its scale",
        "refused and never clamped; no file of ours holds a NaN that JSON does not know",
    ),
    "denied": Row(
        "a provider refuses the key, the account or the model",
        "the run stops at once and says which variable or setting to look at",
    ),
    "flattering": Row(
        "what fails is what would have scored low",
        "unmeasured values are counted beside every mean, and a gate fails above the share that may be unmeasured",
    ),
    "disk": Row(
        "the disk is full or cannot be written to",
        "the old file or folder stays whole, nothing half-written takes its place",
    ),
    "parallel-runs": Row(
        "several commands at the same time",
        "every run has a folder of its own, and each finishes as if it were alone",
    ),
    "changed": Row(
        "code, prompt, model, parameters, input or parser change between runs",
        "nothing old is taken for new: each is a part of the key that kept values are found by",
    ),
    "orphans": Row("the command dies while its kernels run", "no process of it is left behind"),
    "secrets": Row(
        "API keys and passwords of database addresses",
        "they come from the environment only, and stand in no log, notebook, page, error, manifest or database",
    ),
    "cut": Row(
        "an error or a reply with a key in it that is too long to be shown whole",
        "it is masked before it is cut: no part of the key is left, wherever it stands",
    ),
    "markup": Row(
        "HTML and scripts in data, in answers, in names of models and files",
        "they stay text on every page: nothing runs, no dialog opens, nothing is fetched",
    ),
    "links": Row(
        "Markdown links, `javascript:` and `data:` addresses, terminal escapes, bidirectional marks",
        "only links to the web and within the page lead somewhere; what steers a terminal or turns text around "
        "is shown",
    ),
    "formulas": Row(
        "spreadsheet formulas in a CSV that we write",
        "a cell that a spreadsheet would run is written as text unless asked otherwise; numbers stay numbers",
    ),
    "sql": Row(
        "SQL in names of tables, columns and data sets, and in texts",
        "names are looked up in the catalogue and quoted, texts are values, and users' tables are read in transactions "
        "that cannot write",
    ),
    "injections": Row(
        "orders to the judge in answers and contexts",
        "what is judged is marked off by a delimiter that its author cannot know, a score comes from its field alone, "
        "characters that nobody sees are taken out; three kinds are flagged and counted, and the share of attacks that "
        "have a flag stands beside the count",
    ),
    "paths": Row(
        "`..`, absolute paths and links in names, parameters and archives",
        "nothing outside of the folder that was meant is read or written",
    ),
    "pickle": Row(
        "data that runs code when it is read: pickle, YAML objects, arrays of objects",
        "no such reader stands in the package, and a file of this kind is refused",
    ),
    "bombs": Row(
        "archives that unpack without end, lines of a gigabyte, deep JSON, millions of rows",
        "a sentence that names the limit, within a gigabyte of memory",
    ),
    "parameters-code": Row("code in the parameters of a notebook", "a parameter is a literal, or it is refused"),
    "redirects": Row(
        "an endpoint of another scheme, or one that sends on to another host",
        "only http and https are spoken, and a key goes nowhere but where it was meant for",
    ),
    "vectors": Row(
        "embeddings of another width, with NaN, of zeros, or missing",
        "refused by name with how many there are, before they are stored or searched with",
    ),
    "determinism": Row(
        "another clock, time zone, locale, hash seed, number of threads or order of rows",
        "the same numbers to the last digit; ties are broken by what is measured and not by its place",
    ),
    "encodings": Row(
        "Unicode in two forms, CRLF, byte-order marks, UTF-16, Windows-1251",
        "the same data and the same numbers, or the place that cannot be read",
    ),
    "network": Row(
        "others on the same network or machine",
        "what listens does so on 127.0.0.1 or a socket of ours; another address only by an option",
    ),
    "cloned-projects": Row(
        "a project or a report that somebody else wrote",
        "before one answer for its folder nothing of it runs, no data or database that lies elsewhere is opened, and "
        "nothing is sent; after that a host that is new asks again. No file of it takes the place of a module",
    ),
    "metadata": Row(
        "an address, a name or a redirect leads to where clouds keep a machine's credentials",
        "link-local addresses are never asked, whoever trusts the project",
    ),
    "personal-data": Row(
        "people's names, addresses and numbers in a log of questions",
        "masked before they are kept or shown, and masked in what is published unless asked otherwise",
    ),
    "cluster": Row(
        "workers, the scheduler or the database of a cluster go away",
        "the same numbers, and no reply paid for twice; or one sentence, and the same command goes on",
    ),
    "other-worker": Row(
        "a worker of a cluster has another version, other packages or files, or no key",
        "it is given nothing, and each difference is named with what mends it; data come from the command alone",
    ),
    "numbers": Row(
        "a number that nobody can mean in a reply, a header or a file of others",
        "it is not believed, or refused by name; no neighbour's reply is lost, and the command goes on",
    ),
    "patterns": Row(
        "a text that is written to keep a pattern busy",
        "every pattern of the package takes time in proportion to the text",
    ),
    "received": Row(
        "a received run that somebody has changed, cut or spoilt",
        "it is taken, or refused in one sentence; nothing of a refused one stays",
    ),
    "two-versions": Row(
        "two versions of ragbench use one database",
        "each refuses tables of the other in one sentence, and leaves them alone",
    ),
}


GROUPS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "runs": (
        "Runs that are ended, disturbed or repeated",
        ("kill", "interrupt", "database", "locks", "disk", "parallel-runs", "changed", "orphans", "determinism"),
    ),
    "models": (
        "Models and their providers",
        ("rate-limits", "hang", "garbage", "non-numbers", "denied", "flattering", "injections", "numbers", "redirects"),
    ),
    "people": (
        "Secrets, people and networks",
        ("secrets", "cut", "personal-data", "metadata", "network", "cloned-projects"),
    ),
    "texts": (
        "Hostile texts and names",
        ("markup", "links", "formulas", "sql", "paths", "parameters-code", "patterns"),
    ),
    "files": (
        "Data, files and machines of others",
        ("pickle", "bombs", "vectors", "encodings", "received", "two-versions", "cluster", "other-worker"),
    ),
}
"""The pages, each with its title and its rows."""


class Trial(NamedTuple):
    """What one marker says: what is tried, how many times, and by the marker in which line."""

    row: str
    tried: str
    count: int
    place: str


class MarkerError(ValueError):
    """A marker that the page cannot be made of."""


@functools.cache
def trials(folder: Path = TESTS) -> tuple[Trial, ...]:
    """What the tests below a folder say they try. Raises MarkerError."""
    found = []
    for path in sorted(folder.rglob("test_*.py")):
        source = path.read_text(encoding="utf-8")
        if "mark.fault" in source:
            found += [_trial(call, f"{path.relative_to(folder)}:{call.lineno}") for call in _markers(ast.parse(source))]
    return tuple(found)


def _markers(tree: ast.Module) -> Iterator[ast.Call]:
    """In the order of the file, wherever they stand: above a test, above a class, in the marks of a parameter."""
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda one: one.lineno):
        if getattr(call.func, "attr", "") == "fault" and ast.unparse(call.func) == "pytest.mark.fault":
            yield call


def _trial(call: ast.Call, place: str) -> Trial:
    try:
        given = [ast.literal_eval(argument) for argument in call.args]
        named = {keyword.arg or "**": ast.literal_eval(keyword.value) for keyword in call.keywords}
    except ValueError as error:
        raise MarkerError(f"{place}: the arguments of a fault marker are literals, not {ast.unparse(call)}") from error
    return checked(given, named, place)


def checked(given: Sequence[object], named: Mapping[str, object], place: str) -> Trial:
    """A marker's arguments as a trial. Raises MarkerError for a row that there is not, and for other arguments."""
    match given, {**named}:
        case [str(row)], {"tried": str(tried), "count": int(count), **rest} if tried.strip() and count > 0 and not rest:
            if row not in ROWS:
                raise MarkerError(f"{place}: no row {row!r} on the page of faults; there are {', '.join(ROWS)}")
            return Trial(row, tried, count, place)
    raise MarkerError(f'{place}: a fault marker is fault(ROW, tried="in a few words", count=N), not {given} {named}')


def made(known: Sequence[Trial]) -> dict[Path, str]:
    """The index, and a page a group of rows."""
    trials_of = {name: [trial for trial in known if trial.row == name] for name in ROWS}
    index = HEAD
    pages = {}
    for group, (title, names) in GROUPS.items():
        for name in names:
            count = sum(trial.count for trial in trials_of[name])
            index += f"| {_cell(ROWS[name].fault)} | {count} | [`{name}`](faults/{group}.md) |\n"
        rows = "".join(_line(name, trials_of[name]) for name in names)
        pages[PAGE.with_suffix("") / f"{group}.md"] = f"# {title}\n\n{COLUMNS}{rows}"
    return {PAGE: chapters.index(index + FOOT, PAGE, GROUPS), **pages}


def _line(name: str, known: Sequence[Trial]) -> str:
    counts: dict[str, int] = {}
    for one in known:
        counts[one.tried] = counts.get(one.tried, 0) + one.count
    most_first = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    tried = "; ".join(f"{_cell(text)} ({count})" for text, count in most_first) or "*not tried*"
    command = f"`python -m pytest --fault {name}`" if known else ""
    row = ROWS[name]
    return f"| {_cell(row.fault)} | {_cell(row.promise)} | {tried} | {sum(counts.values())} | {command} |\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def untried(known: Sequence[Trial], results: Path) -> dict[Trial, str]:
    """What was counted and not tried whole, by the results of pytest (JUnit's XML): markers of which a test failed, was
    left out, or none ran, as where there are no results; each with what a test of it said first."""
    ran: dict[tuple[object, ...], list[str]] = {}
    for case in ElementTree.parse(results).getroot().iter("testcase") if results.exists() else ():
        bad = [part for part in case if part.tag in ("failure", "error", "skipped")]
        said = [f"{part.tag}: {case.get('name')}: {(part.get('message') or '').splitlines()[0:1]}" for part in bad]
        for named in case.iter("property"):
            if named.get("name") == MARKED:
                ran.setdefault(tuple(json.loads(str(named.get("value")))), []).append("; ".join(said))
    found = {}
    for one in known:
        outcomes = ran.get((one.place.partition(":")[0], one.row, one.tried, one.count), ["none of its tests ran"])
        if worst := next(filter(None, outcomes), ""):
            found[one] = f"not tried: {one.row}: {one.tried} ({one.count}), {one.place}: {worst}"
    return found


def main(*given: str) -> int:
    """Write the page, run what it counts, and say what was not tried; 1 if there is such."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--page", action="store_true", help="only write the page")
    parser.add_argument("--fault", choices=(EVERY, *ROWS), default=EVERY, help="only this row")
    asked, options = parser.parse_known_args(given)
    chapters.write(PAGE, made(trials()))
    if asked.page:
        return 0
    known = [one for one in trials() if asked.fault in (EVERY, one.row)]
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder) / "results.xml"
        words = ["-m", "pytest", "-q", "--fault", asked.fault, f"--junitxml={results}", *options]
        code = subprocess.run([sys.executable, *words], cwd=TESTS.parent, check=False).returncode
        missed = untried(known, results)
    print(*missed.values(), sep="\n", end="\n" if missed else "")
    count = sum(one.count for one in known if one not in missed)
    print(f"{len(known) - len(missed)} of {len(known)} markers tried, which count {count}; pytest ended with {code}")
    return int(bool(code or missed))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
