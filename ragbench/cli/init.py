"""`ragbench init`: what lies in a folder, as the reader understands it, and what comes next."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from ragbench.core.errors import BenchError
from ragbench.core.secrets import visible
from ragbench.core.settings import FILE
from ragbench.core.trust import trust

MOST_FILES = 200  # that are looked at; a folder with more names them
# What speaks of the folder itself, and what ragbench writes there, by names without endings.
ABOUT = {"readme", "license", "licence", "changelog", "contributing", "requirements", "provenance"}
SKIPPED = ABOUT | {"reports", "notebooks", "public"}
NO_DATA = (".py", ".ipynb", ".toml", ".lock", ".yml", ".yaml", ".sh")
# In this order, since questions name passages.
LOAD = ("passages", "questions", "dialogues", "decisions", "history", "ratings")
SETS = ("campus", "beir")
LINES = {
    "answers": "answers",
    "traces": "an export of traces: a trace is a question with its answer",
    "questions": "questions",
    "passages": "passages",
    "dialogues": "dialogues",
    "decisions": "show / don't-show decisions",
    "history": "questions that people asked",
    "ratings": "people's ratings of answers",
    "qrels": "relevance judgements (TREC)",
    "run": "a run (TREC)",
    "document": "documents",
    "numbers": "scores: a row a question, a column a metric",
    "campus": "a data set of ragbench",
    "beir": "a data set as BEIR has them",
}


@dataclass
class Findings:
    """What was found: paths by kind with their columns, and what was named that is no file."""

    paths: dict[str, list[Path]] = field(default_factory=dict)
    columns: dict[Path, str] = field(default_factory=dict)
    services: list[str] = field(default_factory=list)
    callables: list[str] = field(default_factory=list)
    databases: list[str] = field(default_factory=list)

    def of(self, kind: str) -> list[Path]:
        """Return the paths of a kind."""
        return self.paths.get(kind, [])

    def alike(self, kind: str) -> list[list[Path]]:
        """Return the paths of a kind, those with the same columns together."""
        groups: dict[str, list[Path]] = {}
        for path in self.of(kind):
            groups.setdefault(self.columns[path], []).append(path)
        return list(groups.values())

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to go on with."""
        usable = [kind for kind in self.paths if kind]
        return not (usable or self.services or self.callables or self.databases)


def main(
    what: Annotated[
        list[str] | None,
        typer.Argument(help="Files, folders, module:function, http://…, postgresql://…; else all."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace a ragbench.toml.")] = False,
) -> None:
    """Write a ragbench.toml for what lies in this folder, and say which command comes next.

    Every file is named with what the reader takes it for; nothing is imported, sent or changed.

    Examples: `ragbench init`, `ragbench init questions.csv http://localhost:8000/ask`,
    `ragbench init questions.csv search:retrieve`
    """
    file = Path(FILE)
    if file.exists() and not force:
        raise BenchError(f"{file} is there already; --force replaces it")
    findings = Findings()
    for target in what or ["."]:
        look_at(target, findings, is_named=bool(what))
    if findings.is_empty:
        raise BenchError(
            "nothing here that ragbench reads; name files, a service or a function, "
            "or try the sample: ragbench run -d campus"
        )
    trust(Path())
    file.write_text(settings_text(findings), encoding="utf-8")
    print(f"\nwrote {file}; next:")
    for command in next_commands(findings):
        print(f"  {command}")


def look_at(target: str, findings: Findings, *, is_named: bool) -> None:
    """Say what a file, folder, address or function is, and note it."""
    from ragbench.data import describe_file

    path = Path(target)
    if target.startswith(("http://", "https://")):
        findings.services.append(target)
        print(f"{target}: a service; doctor --online asks it once and proposes where its answer is")
    elif target.startswith(("postgresql", "postgres:")):
        findings.databases.append(target)
        print("postgresql://…: your database; its address stays out of the file")
    elif path.is_dir():
        look_into(path, findings)
    elif path.is_file():
        note(describe_file(path), findings)
    elif ":" in target:
        findings.callables.append(target)
        print(f"{target}: your function or object")
    elif is_named:
        raise BenchError(f"there is no {target}")


def look_into(folder: Path, findings: Findings) -> None:
    """Look at a folder: a data set as a whole, else each of its files and folders."""
    from ragbench.data import describe_file

    entries = [path for path in sorted(folder.iterdir()) if is_looked_at(path)]
    for path in entries[:MOST_FILES]:
        if path.is_dir():
            look_into_data(path, findings)
        else:
            note(describe_file(path), findings)
    if len(entries) > MOST_FILES:
        print(f"{folder}: {len(entries) - MOST_FILES} more were not looked at; name them")


def is_looked_at(path: Path) -> bool:
    """Tell whether a file may be data, or a folder may hold some."""
    is_hidden = path.name.startswith((".", "_"))
    return not (is_hidden or path.suffix in NO_DATA or path.stem.lower() in SKIPPED)


def look_into_data(folder: Path, findings: Findings) -> None:
    """Look at a folder within: a data set, else the tables that it holds, else documents."""
    from ragbench.data import describe_file
    from ragbench.data.files import TABLE_ENDINGS, ending_of

    described = describe_file(folder)
    has_tables = any(ending_of(path) in TABLE_ENDINGS for path in folder.iterdir())
    if described.kind in SETS or not (has_tables or folder.name == "data"):
        note(described, findings)
    else:
        look_into(folder, findings)


def note(described: Any, findings: Findings) -> None:
    """Print a line about a path, and keep it by kind."""
    findings.paths.setdefault(described.kind, []).append(described.path)
    findings.columns[described.path] = columns_text(described.columns)
    if not described.kind:
        # A column of texts may hold questions or passages.
        is_text = "none is known as a question" in described.reason
        way = f"; of passages: ragbench load passages {quoted([described.path])}" * is_text
        print(visible(f"{described.path}: not read: {described.reason}{way}"))
        return
    columns = columns_text(described.columns)
    print(visible(f"{described.path}: {LINES[described.kind]}{columns}"))


def columns_text(columns: Mapping[str, str]) -> str:
    """Say which column is which field, where their names differ."""
    if not columns:
        return ""
    pairs = [name if name == column else f"{name} = {column}" for name, column in columns.items()]
    return f" ({', '.join(pairs)})"


def settings_text(findings: Findings) -> str:
    """Return the ragbench.toml."""
    lines = [
        "# Paths are relative to this file; environment variables win: RAGBENCH_LANGUAGE=ru.",
        "# Secrets stand in the environment alone.",
        "",
        f"dataset = {json.dumps(dataset_name(findings), ensure_ascii=False)}",
        'language = "en"           # of the pages: "en" or "ru"',
        "",
    ]
    for url in findings.services:
        lines += [
            f"[systems.{unused_name('service', lines)}]",
            f"url = {json.dumps(url)}",
            r'body = "{\"question\": \"{question}\", \"k\": {k}}"',
            '# answer = "answer"       # JMESPaths into its reply: `ragbench doctor --online`',
            '# passages = "hits[].text"',
            "",
        ]
    for name in findings.callables:
        own = unused_name(name.partition(":")[2].rpartition(".")[2], lines)
        lines += [f"[systems.{own}]", f"callable = {json.dumps(name)}", ""]
    if findings.databases:
        lines += [
            "[databases.own]",
            'url_variable = "OWN_DATABASE_URL"   # export it; it may hold a password',
            '# passages = "table"     # `ragbench doctor` proposes schema, table and columns',
            "",
            "[retrievers.own]",
            'kind = "database"',
            'database = "own"',
            '# embedder = "minilm"    # that embeds questions as the passages were',
            "",
            "[systems.own]",
            'retriever = "own"',
            "",
        ]
    if not (findings.services or findings.callables or findings.databases):
        lines += [
            "# [systems.mine]",
            '# callable = "search:retrieve"   # (question, k) → passages; or url, results',
            "",
        ]
    lines += [
        "# [judges.my-judge]",
        '# provider = "openai"',
        '# model = "gpt-4o-mini"',
        '# key_variable = "OPENAI_API_KEY"',
        "",
    ]
    return "\n".join(lines)


def unused_name(name: str, lines: Sequence[str]) -> str:
    """Return the name, with a number where a system is called so already."""
    number = 1
    candidate = name
    while f"[systems.{candidate}]" in lines:
        number += 1
        candidate = f"{name}{number}"
    return candidate


def dataset_name(findings: Findings) -> str:
    """Return what `dataset` is set to: the first set that is there or will be loaded."""
    for kind in SETS:
        if findings.of(kind):
            return str(findings.of(kind)[0])
    if findings.databases:
        return "db:own"
    return loaded_name(findings) or "campus"


def loaded_name(findings: Findings) -> str:
    """Return the name of the set that tables and documents are loaded into; "" without any."""
    if findings.of("document"):
        return document_folder(findings).name or "documents"
    files = [path for kind in LOAD for path in findings.of(kind)]
    return files[0].name.partition(".")[0] if files else ""


def document_folder(findings: Findings) -> Path:
    """Return the folder that holds the documents."""
    path = findings.of("document")[0]
    return path if path.is_dir() else path.parent


def next_commands(findings: Findings) -> list[str]:
    """Return the commands that go on from here, in order."""
    tables = [*findings.alike("answers"), *[[path] for path in findings.of("traces")]]
    commands = [f"ragbench score {quoted(files)}" for files in tables]
    if findings.of("qrels") and findings.of("run"):
        files = [findings.of("qrels")[0], *findings.of("run")]
        commands.append(f"ragbench trec {quoted(files)}")
    commands += [
        f"ragbench significance {quoted(files)}"
        for files in findings.alike("numbers")
        if len(files) > 1
    ]
    name = shlex.quote(loaded_name(findings))
    if findings.of("document"):
        folder = shlex.quote(str(document_folder(findings)))
        commands.append(f"ragbench load documents {folder} --name {name}")
    commands += [
        f"ragbench load {kind} {shlex.quote(str(path))} --name {name}"
        for kind in LOAD
        for path in findings.of(kind)
    ]
    if findings.databases:
        commands.append("export OWN_DATABASE_URL=…   # the address that you named")
    if findings.services or findings.databases:
        commands.append("ragbench doctor" + " --online" * bool(findings.services))
    has_questions = findings.of("questions") or any(map(findings.of, SETS))
    if findings.of("document") and not has_questions:
        commands.append(f"ragbench draft {name}")
    is_measured_alone = commands and dataset_name(findings) == "campus"
    return commands if is_measured_alone else [*commands, "ragbench run"]


def quoted(paths: Sequence[Path]) -> str:
    """Return paths as a shell wants them."""
    return " ".join(shlex.quote(str(path)) for path in paths)
