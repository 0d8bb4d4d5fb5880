"""Answers of systems: out of tables, dialogues, SQuAD, exports of traces, and objects in Python."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ragbench.core.errors import BenchError
from ragbench.core.numbers import read_numbers
from ragbench.core.types import Sample
from ragbench.data.columns import Columns, check_answers, choose_columns, text_of
from ragbench.data.files import (
    LeftOut,
    Table,
    naming,
    read_table,
    rows_of_columns,
    table_of,
)
from ragbench.data.messages import (
    Turn,
    is_dialogue,
    read_messages,
    read_tool_calls,
    read_turns,
    text_inside,
)
from ragbench.data.passages import (
    count_empty,
    read_id_groups,
    read_labels,
    read_passages,
    read_references,
)
from ragbench.data.traces import is_trace_export, rows_of_traces
from ragbench.data.values import Row, as_list, find, name_by_text, unpack
from ragbench.data.vocabulary import LISTS, field_of, normalize

# What stands beside a whole dialogue speaks of its end.
OF_ITS_END = (
    *("answer", "contexts", "context_ids", "messages", "labels"),
    *("reference", "reference_contexts", "reference_context_ids"),
)
MIXED_WORD = re.compile("[a-zA-Z][а-яёА-ЯЁ]|[а-яёА-ЯЁ][a-zA-Z]")


@dataclass
class Answers:
    """Samples, the rows that were left out, and what a reader of the numbers should know."""

    samples: list[Sample] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def read_answers(
    source: Any, columns: Mapping[str, str] | None = None, system: str = ""
) -> Answers:
    """Read questions and answers.

    source: a file (CSV, TSV, JSON, JSON Lines, Parquet, Excel, an export of traces; plain or
    packed), several files (a system each, called as the file), {system: any of these}, a list of
    dicts or samples, {"question": [...], "answer": [...]}, or a frame. columns: field → column or
    path, for names that are not known: {"answer": "bot.text"}. system: its name where no column
    has it. Raises BenchError where the source could only be read by guessing, or no row can be
    used.
    """
    if isinstance(source, str | Path):
        with naming(Path(source)):
            return _read_table(read_table(source), columns, system)
    if isinstance(source, list | tuple) and source and isinstance(source[0], str | Path):
        paths = {Path(path).name.split(".")[0]: Path(path) for path in source}
        if len(paths) < len(source):
            raise BenchError("two files have one name; give {system: file} with a name for each")
        source = paths
    # Files are systems, whatever they are called: answers.csv is no column of answers.
    is_files = isinstance(source, Mapping) and all(
        isinstance(part, Path) for part in source.values()
    )
    if not isinstance(source, Mapping) or (any(map(field_of, source)) and not is_files):
        return _read_table(table_of(source), columns, system)
    answers = Answers()
    for name, part_source in source.items():
        part = read_answers(part_source, columns, name)
        answers.samples += part.samples
        answers.left_out += part.left_out
        answers.notes += [note for note in part.notes if note not in answers.notes]
    return answers


def _read_table(table: Table, named: Mapping[str, str] | None, system: str) -> Answers:
    """Return the samples of a table, and what was left out of it."""
    if is_trace_export(table.rows):
        if named:
            # A step a row would make thirteen answers of one trace.
            raise BenchError("is an export of traces, read as it is; leave --column out")
        table = rows_of_traces(table.rows)
    table.rows = unfold(table.rows)
    columns = choose_columns(table, named or {})
    if table.rows:
        check_answers(columns, table)
    answers = Answers(left_out=table.left_out)
    empty_passages = mixed_words = 0
    for number, row in enumerate(table.rows, table.start):
        values = columns.values(row)
        try:
            samples = samples_of_row(values, str(number), columns, system)
        except BenchError as error:
            # One odd row does not refuse a file; it is counted and named.
            answers.left_out.append(LeftOut(f"row {number}", str(error)))
            continue
        answers.samples += samples
        empty_passages += count_empty(values["contexts"])
        mixed_words += bool(MIXED_WORD.search(f"{samples[-1].answer} {samples[-1].reference}"))
    if not answers.samples:
        reasons = [f"{row.place}: {row.reason}" for row in answers.left_out[:2]]
        raise BenchError(f"no row can be used; {'; '.join(reasons)}")
    is_named = bool(columns.paths.keys() & {"id", "question_id"})
    if not is_named and (system or columns.paths.keys() & {"system", "repeat"}):
        answers.samples = _name_by_question(answers.samples)
    if empty_passages:
        answers.notes.append(f"{empty_passages:,} empty passages were left out")
    if mixed_words:
        answers.notes.append(f"{mixed_words:,} answers mix Latin and Cyrillic letters in a word")
    if columns.unread:
        answers.notes.append(f"columns that nothing reads: {', '.join(columns.unread)}")
    _check_repeats(answers, columns, table)
    return answers


def _name_by_question(samples: list[Sample]) -> list[Sample]:
    """Give samples without ids those of their questions, by which systems are compared.

    The number of its row would pair unlike questions wherever systems stand in another order.
    """
    seen: Counter[tuple[str | None, ...]] = Counter()
    named = []
    for sample in samples:
        key = (sample.question, sample.system, sample.repeat)
        seen[key] += 1
        again = f"-{seen[key]}" if seen[key] > 1 else ""
        named.append(replace(sample, id=f"q-{name_by_text(str(sample.question))[:8]}{again}"))
    return named


def _check_repeats(answers: Answers, columns: Columns, table: Table) -> None:
    """Refuse an id that stands twice for one system: its rows are systems or repeats.

    Only the user knows which: a column that differs between the rows is offered, never taken.
    Questions that are asked again are refused where a column looks like the name of a system.
    """
    ids = Counter((sample.id, sample.system, sample.repeat) for sample in answers.samples)
    (name, _, _), times = ids.most_common(1)[0]
    texts = {(sample.question, sample.system, sample.repeat) for sample in answers.samples}
    again = len(answers.samples) - len(texts) if "question" in columns.paths else 0
    differing = [
        column for column in columns.unread if len({str(row.get(column)) for row in table.rows}) > 1
    ]
    likely = [column for column in differing if normalize(column) in LISTS["systems_perhaps"]]
    if times > 1 or (again and likely):
        what = f"the id {name!r} stands {times} times"
        if times == 1:
            what = f"{again} questions stand again"
        option = shlex.quote(f"system={[*likely, *differing, 'COLUMN'][0]}")
        raise BenchError(
            f"{what}; it has the columns {', '.join(table.columns)}; say which names the system: "
            f"--column {option}, or --column repeat=COLUMN where one system answered often"
        )
    if again:
        answers.notes.append(f"{again:,} rows ask a question again under another id")


def unfold(rows: list[Row]) -> list[Row]:
    """Return the questions of articles of SQuAD; any other rows as they are.

    Of MS MARCO's passages those that were selected are the relevant ones.
    """
    unfolded = []
    for row in rows:
        if "paragraphs" in row:
            unfolded += _questions_of_article(row)
            continue
        passages = row.get("passages")
        passages = rows_of_columns(passages) if isinstance(passages, dict) else as_list(passages)
        selected = [passage for passage in passages if find(passage, "is_selected")]
        unfolded.append({**row, "reference_contexts": selected} if selected else row)
    return unfolded


def _questions_of_article(article: Row) -> list[Row]:
    rows = []
    try:
        for paragraph in article["paragraphs"]:
            for question in paragraph["qas"]:
                row = {"context": paragraph["context"], "title": article.get("title"), **question}
                rows.append(row | {"answerable": not question.get("is_impossible")})
    except (AttributeError, KeyError, TypeError) as error:
        raise BenchError(f"an article is not as SQuAD writes it ({error!r}); correct it") from None
    return rows


def samples_of_row(values: Row, number: str, columns: Columns, system: str) -> list[Sample]:
    """Return the sample of a row, or one for each question of its dialogue.

    Raises BenchError for a row that cannot be used.
    """
    name = text_of(values, "question_id") or text_of(values, "id") or number
    # ragas writes a dialogue as the question itself.
    dialogue = values["question"] or values["messages"]
    turns = [Turn(values["question"])]
    is_recorded = columns.format.get("recorded", False)
    if is_recorded:
        values["answer"] = text_inside(values["answer"], "answer")
        turns = [Turn(text_inside(dialogue, "question"))]
    elif is_dialogue(dialogue):
        # Questions of one dialogue are no independent evidence.
        values |= {"messages": dialogue, "cluster": values["cluster"] or name}
        turns = read_turns(dialogue)
        # Where the user has the last word, the answers before are not the system's.
        if turns[-1].answer is None and values["answer"] is not None:
            turns = turns[-1:]
    samples = []
    for position, turn in enumerate(turns, 1):
        is_last = position == len(turns)
        own = values if is_last else {**values, **dict.fromkeys(OF_ITS_END)}
        parts = {part: getattr(turn, part) or own[part] for part in ("answer", "contexts")}
        own_name = f"{name}:{position}" if len(turns) > 1 else name
        own = {**own, **parts, "question": turn.question, "id": own_name}
        samples.append(_sample(own, columns, system))
    return samples


def _sample(values: Row, columns: Columns, system: str) -> Sample:
    question, answer = text_of(values, "question"), text_of(values, "answer")
    if "answer" in columns.paths and answer is None:
        answer = ""  # the column is there, and the system said nothing
    if question is None and not answer:
        raise BenchError("has neither a question nor an answer")
    parted_by = columns.format.get("passages_parted_by", "")
    cost = values["cost"]
    values["tool_calls"] = values["tool_calls"] or read_tool_calls(values["messages"])
    others: Row = {name: text_of(values, name) or "" for name in ("repeat", "cluster", "language")}
    for name in ("rubric", "nuggets"):
        mapping = unpack(values[name])
        others[name] = mapping if isinstance(mapping, dict) else None
    for name in ("tool_calls", "expected_tool_calls", "topics"):
        others[name] = tuple(as_list(values[name])) or None
    return Sample(
        id=values["id"],
        question=question,
        answer=answer,
        references=read_references(values["reference"]),
        contexts=read_passages(values["contexts"], values["context_ids"], parted_by),
        reference_contexts=read_passages(values["reference_contexts"], parted_by=parted_by),
        reference_context_ids=read_id_groups(values["reference_context_ids"]),
        system=text_of(values, "system") or system,
        labels=read_labels(values["labels"] or {}),
        messages=tuple(read_messages(values["messages"])) or None,
        cost=None if cost is None else float(read_numbers([cost], "cost")[0]),
        **others,
    )
