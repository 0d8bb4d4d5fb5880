"""Tables of answers, as people have them, to samples: JSON Lines, JSON, CSV, Parquet, mappings, data frames."""

from __future__ import annotations

import dataclasses
import itertools
import os
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ragbench.old.core import names
from ragbench.old.core.expectations import kind
from ragbench.old.core.types import Chunk, Sample
from ragbench.old.data import payloads
from ragbench.old.data.brought import passing_over
from ragbench.old.data.cells import (
    Form,
    Forms,
    by_row,
    fields_of,
    flag,
    held,
    mark,
    missing,
    native,
    opened,
    rows_of,
    several,
)
from ragbench.old.data.columns import Columns
from ragbench.old.data.files import MAX_ROWS, DatasetError, LeftOut, cut, cut_list, meant_beside
from ragbench.old.data.payloads import (
    OF_PASSAGES,
    answer_of,
    guess_of,
    label,
    passage_of,
    question_of,
    turns_of,
)
from ragbench.old.data.payloads import number as number_in
from ragbench.old.data.rows import is_torn, read_rows, without_totals
from ragbench.old.data.shapes import rows_in
from ragbench.old.data.shelf import Shelf
from ragbench.old.data.systems_of_answers import Ids, by_system
from ragbench.old.data.vocabulary import LEGAL, PARTS, READS, field_of, spoken

if TYPE_CHECKING:
    import pandas as pd

SAID = READS["said"]
"""Fields without any of which a row says nothing."""
READ = ("id", *SAID, *READS["beside"])
"""Fields of the vocabulary that a sample is made of."""
NO_ANSWER = ("CANNOTANSWER", "No Answer Present.")
"""What QuAC and MS MARCO have for an answer where the passages hold none."""
FIRST = 20
"""Rows that tell which systems answered."""
PERSON = "people"
"""Who labelled, where nobody is named."""
_FIELDS = tuple(field.name for field in dataclasses.fields(Sample))
Given = Mapping[str, Any]
"""Field → the name of its column, where that does not tell; of several columns each is what one system answered."""


def read_samples(path: Path, forms: Forms | None = None, columns: Given | None = None) -> list[Sample]:
    """The samples of a table, read as `ragbench.old.data.rows` reads them.

    An empty cell of a CSV file is an answer (a context, …) that was given and is empty; a column that is not there was
    not given. Lists may stand in a cell as JSON, Python or numpy print them. Which column is which field the
    `ragbench.old.data.vocabulary` tells, or columns.
    forms: is told how cells were written, which columns are read by nobody, and which rows were left out; without it a
    row that cannot be read is an error. Raises DatasetError with file, line and field for what cannot be read.
    """
    return unique([sample for _, sample in streamed(path, forms, columns, held=True)])


def streamed(
    path: Path,
    forms: Forms | None = None,
    columns: Given | Columns | None = None,
    *,
    held: bool = False,
    ratings: bool = False,
    system: str = "",
    ids: Ids | None = None,
) -> Iterator[tuple[str, Sample]]:
    """(place, sample) of each sample as `read_samples` reads them, one after the other; ids may stand there twice.

    ratings: the rows with which further people label an answer come by, too; else only that of the first. system: whose
    answers they are where no row says so; ids: of the rows, shared with other tables.
    """
    known = columns if isinstance(columns, Columns) else Columns(columns, READ)
    rows = read_rows(path, keep_empty=True, held=held, left_out=None if forms is None else forms.left_out)
    yield from _read(rows, path.name, known, forms, ratings, system, ids)
    if forms is not None and forms.labels:
        forms.labels += (
            f"; judges are tried by them once the table is loaded: ragbench load answers {shlex.quote(f'{path}')} "
            "--name NAME"
        )


def _read(
    rows: Iterable[tuple[str, Any]],
    place_of_all: str,
    known: Columns,
    forms: Forms | None,
    ratings: bool = False,
    system: str = "",
    ids: Ids | None = None,
) -> Iterator[tuple[str, Sample]]:
    """(place, sample) of each sample in the rows; see `streamed`. A row that is a Sample is one."""
    left_out = None if forms is None else forms.left_out
    seen, count, bare, labelled = Shelf[None](), 0, LeftOut(), Counter[bool]()
    ids, is_named = ids or Ids(), None
    for place, item in _fields(rows, known, system, left_out):
        if not isinstance(item, Sample) and not item.keys() & SAID:
            bare.add("row without a column that is known", place)
            continue
        made: list[Sample] = []
        with passing_over(left_out, place):
            read = [item] if isinstance(item, Sample) else _samples(item, ids, place, forms)
            for sample in read:
                _refuse_torn(sample)
                is_named = bool(sample.system) if is_named is None else is_named
                if is_named != bool(sample.system):
                    has = "no system, and rows before it one" if is_named else "a system, and rows before it none"
                    raise DatasetError(f"{place}: {has}: name one in each, or in none")
                name = f"{sample.system or ''}\0{sample.id}"
                is_new = seen.put(name, None) if forms is not None or ratings else True
                is_rating = sample.labels and seen.put(f"{name}\0{[*sample.labels]}", None)
                if not (is_new or is_rating):
                    raise DatasetError(f"{place}: an id that stands in a row before")
            made = read
        if made and not isinstance(item, Sample) and not missing(cell := item.get("value")) and str(cell).strip():
            labelled[bool(made[-1].labels)] += 1
        if made and (is_new or ratings):
            count += len(made)
            yield from ((place, sample) for sample in made)
    if forms is not None:
        forms.unread += [*known.notes(), *guess_of(forms.guessed)]
        forms.format = known.format
        column = known.read.get("value", "")
        if ids.paired:
            forms.unread.append(f"{ids.paired} × row with an id of its own: it is compared by its question")
            ids.paired = 0
        if labelled[False]:
            may_be = f" (the right answers? --column {shlex.quote(f'reference={column}')})"
            is_open = not labelled[True] and "reference" not in known.read and "," not in column
            said = f"{column}: {labelled[False]} cells are neither a number nor yes or no, and no labels"
            forms.unread.append(f"{said}{may_be if is_open else ''}")
        if labelled[True]:
            forms.labels = f"{column}: people's labels of {labelled[True]} answer{'s' * (labelled[True] != 1)}"
    if not count:
        lost = left_out.said if left_out is not None else ""
        raise DatasetError(f"{place_of_all}: {f'no row can be used: {lost}' if lost else _nothing(known)}")
    if left_out is not None:
        left_out.join(bare)


def _fields(
    rows: Iterable[tuple[str, Any]], known: Columns, system: str, left_out: LeftOut | None = None
) -> Iterator[tuple[str, Any]]:
    """(place, field → value) of each answer in the rows, whose system is this one where they name none; a Sample as it
    is. left_out: counts those that are none; without it they are an error."""
    rows = iter(rows)
    first = list(itertools.islice(rows, FIRST))
    known.systems.meet(row for _, row in first if isinstance(row, Mapping))
    for place, row in itertools.chain(first, rows):
        if isinstance(row, Sample):
            yield place, row if row.system or not system else dataclasses.replace(row, system=system)
            continue
        items: list[Mapping[str, Any]] = []
        with passing_over(left_out, place):
            items += known.answers(row, place)
        for item in items:
            yield place, {**item, "system": system} if system and not item.get("system") else item


def _nothing(known: Columns) -> str:
    columns = [*known.read.values(), *known.unread]
    if not columns:
        return f"holds no samples; of {LEGAL} at least one is expected"
    guesses = "; ".join(known.guesses(known.unread)) or "name those that are: --column answer=COLUMN"
    return (
        f"none of its columns ({cut_list(columns)}) is one of {LEGAL}; {guesses} (columns = {{'answer': 'COLUMN'}} in "
        "Python)"
    )


def samples_of(
    given: Sample | Mapping[str, Any] | Iterable[Any] | pd.DataFrame | str | Path | None,
    place: str = "samples",
    columns: Given | None = None,
    forms: Forms | None = None,
    *,
    system: str = "",
    ids: Ids | None = None,
) -> list[Sample]:
    """Samples out of one sample, one mapping, a list of either, or a table with one row a sample: a data frame of
    pandas, a table of pyarrow, an evaluation data set of ragas, a mapping from column to list, the path of a file; or
    of several systems, {system: its table}, a list of paths. A mapping may also be an object that gives one by
    `model_dump` (pydantic's models, so ragas' samples), and a context a document of LangChain.

    Fields go by `ragbench.old.data.vocabulary`; None, NaN and a missing column are "not given", an empty text is
    empty. Samples without an id are numbered from 1. columns, forms, system, ids: as of `streamed`. Raises
    DatasetError, naming row and field.
    """
    ids = ids or Ids()
    if (tables := by_system(given, place)) is not None:
        return unique([
            sample for name, where, table in tables
            for sample in samples_of(table, where, columns, forms, system=name, ids=ids)
        ])  # fmt: skip
    if isinstance(given, str | Path):
        if not os.path.isfile(given):  # noqa: PTH113 - of any length
            is_folder = os.path.isdir(given)  # noqa: PTH112
            why = "a folder; name a table in it" if is_folder else f"there is no such file{meant_beside(Path(given))}"
            raise DatasetError(
                f"{place} = {cut(str(given))}: {why}; answers are expected: a table's path, a data "
                "frame, a list of mappings"
            )
        read = streamed(Path(given), forms, columns, held=True, system=system, ids=ids)
        return unique([sample for _, sample in read])
    table: Any = None
    if isinstance(given, Mapping):
        given = {name: native(value) for name, value in given.items()}
        table = rows_in(given)
    is_alone = isinstance(given, Sample) or (isinstance(given, Mapping) and table is None)
    rows = list(rows_of([given] if is_alone else given if table is None else table, place=place))
    if not rows:
        raise DatasetError(f"{place}: no rows; at least one answer is expected")
    placed: list[tuple[str, Any]] = []
    for number, row in enumerate(rows, 1):
        where = place if is_alone else f"{place}, row {number}"
        placed.append((where, row if isinstance(row, Mapping | Sample) else fields_of(row)))
        if placed[-1][1] is None:
            raise DatasetError(
                f"{where}: a sample is a Sample or a mapping, not {kind(row)} ({cut(row)}); it is written as "
                "{'question': …, 'answer': …}"
            )
    used = placed if forms is None else without_totals(placed, forms.left_out)
    found = _read(used, place, Columns(columns, READ), forms, system=system, ids=ids)
    return unique([sample for _, sample in found])


def unique(samples: Sequence[Sample]) -> list[Sample]:
    """The samples, no id of which stands twice with one system. Raises DatasetError for one that does, and for too many
    of them."""
    seen: set[tuple[str | None, str]] = set()
    for sample in samples:
        if (sample.system, sample.id) in seen:
            raise DatasetError(f"the id {sample.id!r} stands twice; ids name the samples of a system, once each")
        seen.add((sample.system, sample.id))
    if len(samples) > MAX_ROWS:
        raise DatasetError(f"more than {MAX_ROWS:,} samples; split them")
    return list(samples)


def _refuse_torn(sample: Sample) -> None:
    """Raises DatasetError for a name that nothing can have, and for a text that nothing takes."""
    if sample.system and (why := names.fault(sample.system)):
        raise DatasetError(f"sample {sample.id!r}: system = {cut(sample.system)} {why}")
    for field in _FIELDS:
        if (value := getattr(sample, field)) is None or (isinstance(value, str) and value.isascii()):
            continue
        if is_torn(value):
            raise DatasetError(
                f"sample {sample.id!r}: {field} = {cut(value)} holds half of a character (a lone surrogate)"
            )


def turns_in(
    item: Mapping[str, Any], place: str, guessed: dict[str, dict[str, None]]
) -> tuple[list[dict[str, Any]], bool]:
    """The turns of a row that is a dialogue, of messages or of lists of texts as MT-bench and CoQA have questions and
    answers, each with all else that the row has, its answer and reference at the last; none of any other row. And
    whether those before the last are its history alone. guessed: as of `turns_of`. Raises DatasetError for lists that
    are not as long."""
    asked = opened(item.get("questions", item.get("messages")))  # texts of a dialogue alone are said in turn
    answered, right = opened(item.get("response")), opened(item.get("expected_answers", item.get("reference")))
    if isinstance(answered, list) and answered and isinstance(answered[0], Mapping) and "turns" in answered[0]:
        answered = answered[0]["turns"]
    elif not isinstance(asked, list) or "user_input" in item:
        asked = answered = right = None
    given = {"user_input": asked, "response": answered, "reference": right}
    lists = {
        name: [question_of(part) if isinstance(part, Mapping) and "questions" in item else part for part in own]
        for name, own in given.items()
        if isinstance(own, list) and own
    }
    is_of_texts = all(isinstance(text, str | None) for own in lists.values() for text in own)
    if is_of_texts and lists.keys() - (set() if "questions" in item else {"user_input"}):
        if len({len(own) for own in lists.values()}) > 1:
            told = ", ".join(f"{len(own)} × {spoken(name)}" for name, own in lists.items())
            raise DatasetError(f"{place}: turns of {told}: as many of each are expected")
        rest = {name: value for name, value in item.items() if name not in (*lists, "messages", "questions")}
        return [{**rest, **dict(zip(lists, turn, strict=True))} for turn in zip(*lists.values(), strict=True)], False
    # before a question that stands by itself a dialogue is its history
    turns = turns_of(item["user_input"]) if "user_input" in item else turns_of(item.get("messages"), guessed)
    if turns is None and "user_input" not in item and not isinstance(opened(item.get("messages", "")), str):
        raise DatasetError(
            f"{place}: messages = {cut(item['messages'])}: none says who asks and who answers; role = user or "
            "assistant (type, from) is expected in each, or the names of two who speak; or pairs of question and "
            "answer, or texts in turn"
        )
    if turns is None:
        return [], False
    rest = {name: value for name, value in item.items() if name not in ("user_input", "messages")}
    ends = {name: rest.pop(name) for name in ("response", "reference") if name in rest}
    is_history = turns[-1].answer is None and (len(turns) == 1 or any(ends.values()))
    rows = [
        {**rest, "user_input": said.question, "response": said.answer, "contexts": rest.get("contexts", said.contexts)}
        for said in turns
    ]
    rows[-1] |= {name: value for name, value in ends.items() if value}
    return rows, is_history or (len(turns) == 1 and bool(ends.get("response")))


def _samples(item: Mapping[str, Any], ids: Ids, place: str, forms: Forms | None = None) -> list[Sample]:
    """The sample of a row; of a dialogue one a turn, which are drawn together, the reference at the last; of an agent's
    one with all messages. ids: of the rows."""
    item = payloads.of_agent(item)
    rows, is_history = turns_in(item, place, {} if forms is None else forms.guessed)
    if not rows and isinstance(alone := opened(item.get("questions", item.get("messages"))), str):
        item = {"user_input": alone, **item}
    asked = [asked for row in rows if (asked := row.get("user_input"))]
    named = {"id": ids.of(item, asked or item.get("user_input"))}
    if not rows:
        return [sample_in({**item, **named}, place, forms)]
    name = _name(named["id"])
    turns = [{**rows[-1], **named}] if is_history else [{**row, "id": f"{name}.{n}"} for n, row in enumerate(rows, 1)]
    return [sample_in({"session": name, **row}, place, forms) for row in turns]


def sample_in(
    item: Mapping[str, Any],
    place: str,
    forms: Forms | None = None,
    called: Mapping[str, str] = MappingProxyType({}),
) -> Sample:
    """The sample that the fields of a row are. called: the columns that they are. Raises DatasetError."""

    def at(field: str) -> str:
        return f"{place}, {called.get(field, field)}"

    def text(name: str, said: Callable[[Any], str | None]) -> str | None:
        return _text(item.get(name), at(name), said)

    def name_of(field: str) -> str | None:
        value = item.get(field)
        return None if value is None else label(value.get("id")) if isinstance(value, Mapping) else str(value)

    cost = number_in(item.get("cost"))
    if not missing(item.get("cost")) and item["cost"] != "" and (cost is None or cost < 0):
        cost = None
        if forms is not None:
            forms.left_out.add("cost that is no number from 0", place)
    identifier = _name(item.get("id", ""))
    given = [] if item.get("reference") is None else references_in(item["reference"], at("reference"))
    return Sample(
        id=identifier if item.get("repeat") in (None, 1, "1") else f"{identifier}-{_name(item['repeat'])}",
        user_input=text("user_input", question_of),
        response=text("response", answer_of),
        reference=next((reference for reference in given if reference.strip()), given[0] if given else None),
        references=several(given),
        contexts=contexts_of(item.get("contexts"), at("contexts"), forms, item.get("context_ids")),
        reference_contexts=contexts_of(
            item.get("reference_contexts"), at("reference_contexts"), forms, item.get("reference_context_ids")
        ),
        **{field: read(item.get(field)) for field, read in payloads.OF_PARTS.items()},
        cost=cost,
        language=name_of("language"),
        cluster=name_of("cluster") or name_of("session") or (identifier if "repeat" in item else None),
        system=name_of("system"),
        shown=_flag(item.get("shown"), at("shown")),
        labels=_labels(item),
    )


def _labels(item: Mapping[str, Any]) -> dict[str, float] | None:
    """What people gave, by their names; what is neither a number nor a word for good or bad is none."""
    value = item.get("value")
    given = value if isinstance(value, Mapping) else {_name(item.get("rater") or PERSON): value}
    labels: dict[str, float] = {}
    for rater, cell in given.items():
        try:
            label = mark(cell)
        except ValueError:
            label = None
        if label is not None:
            labels[" ".join(str(rater).split())] = label
    return labels or None


def _name(value: Any) -> str:
    """An id as a text; a whole number that Parquet or pandas holds as 7.0 is 7."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def references_in(value: Any, place: str) -> list[str]:
    """The right answers of a field: a text, texts, lists of such, SQuAD's {"text": […]}, or one of these in a cell."""
    if isinstance(value, str) and not isinstance(inside := opened(value), str) and _is_of_answers(inside):
        value = inside
    if isinstance(value, Mapping):  # of SQuAD, TriviaQA and MKQA
        own = {str(name).casefold(): answers for name, answers in value.items()}
        given = [own.get("value", own.get("text")), own.get("normalized_aliases", own.get("aliases"))]
        value = [answers for answers in given if answers is not None] or value
    if isinstance(value, list | tuple):
        return [text for part in value for text in references_in(part, place)]
    is_beside = isinstance(value, Mapping) and payloads.BESIDE.issuperset(map(field_of, value))
    text = None if is_beside else _text(value, place, answer_of)
    return [] if text in (None, *NO_ANSWER) else [text]


def _is_of_answers(value: Any) -> bool:
    """Whether what stands in a cell is a list of answers, and not an answer that is written so."""
    if isinstance(value, Mapping):
        return isinstance(value.get("text"), list) or bool(value.keys() & {"answer", "output"})
    return all(
        bool(answer.keys() & {*PARTS.answered}) if isinstance(answer, Mapping) else isinstance(answer, str | list)
        for answer in value
    )


def _flag(value: Any, place: str) -> bool | None:
    try:
        shown: bool | None = flag(value)
    except ValueError:
        raise DatasetError(f"{place} = {cut(value)}: true or false, yes or no, да or нет, 1 or 0 is expected") from None
    return shown


def _text(value: Any, place: str, said: Callable[[Any], str | None]) -> str | None:
    """A text as it is, a number's digits, or what an object or a list of messages says."""
    if isinstance(value, list) and len(value) == 1:  # older tables hold a list of ground truths
        value = value[0]
    if value is None:
        return None
    if isinstance(value, str):
        inner = said(value) if value.lstrip().startswith("{") and value.rstrip().endswith("}") else None
        return inner or value
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _name(value)
    of_objects = isinstance(value, list) and bool(value) and all(isinstance(part, Mapping) for part in value)
    if (of_objects or not isinstance(value, list)) and (inner := said(value)):
        return inner
    if of_objects and all(isinstance(part.get("text"), str) for part in value):
        return " ".join(part["text"].strip() for part in value)  # sentence by sentence, each with its citations
    has = f" with {cut_list(value)}" if isinstance(value, Mapping) else ""
    raise DatasetError(f"{place}: a text is expected, found {kind(value)}{has}")


def contexts_of(value: Any, place: str, forms: Forms | None = None, ids: Any = None) -> tuple[Chunk, ...] | None:
    """The contexts of a field: a text, a list or a mapping of texts, or the text of such a list in a cell.

    place: what an error names, the field behind its last comma. forms: is told how they were written, and how many
    were None or empty, which are left out. ids: theirs, as many; one without is named by its text (`Chunk.nameless`).
    None where neither is there. Raises DatasetError for anything else.
    """
    if ids is None and (named := payloads.names_of(value)):
        value, ids = None, named
    ids = [ids] if isinstance(ids, int | float) and not missing(ids) else ids
    names = items_of(ids, f"{place} (ids)") if ids != "" else None
    names = names and [part for entry in names for part in (entry if isinstance(entry, list | tuple) else [entry])]
    if value is None and names is None:
        return None
    texts = None if names and value == "" else items_of(value, place, forms)  # an empty cell beside ids is no text
    if texts is None:
        return tuple(Chunk(_name(name), "") for name in names or () if not missing(name))
    where, _, name = place.rpartition(", ")
    if names is not None and len(texts) == 1 < len(names) and isinstance(value, str) and forms is not None:
        forms.left_out.add(f"list of ids beside one text of all passages in {name}", where)
        names = None
    if names is not None and len(names) != len(texts):
        raise DatasetError(f"{place}: {len(texts)} texts and {len(names)} identifiers; there is one for each")
    given = [(number, text, names[number] if names else None) for number, text in enumerate(texts)]
    kept = [own for own in given if not _says_nothing(own[1])]
    if forms is not None and len(kept) < len(given):
        forms.left_out.add(f"passage without a text in {name}", where, len(given) - len(kept))
    return tuple(_chunk(text, name, number, place) for number, text, name in kept)


def _says_nothing(value: Any) -> bool:
    texts = [value[name] for name in value.keys() & OF_PASSAGES] if isinstance(value, Mapping) else ()
    is_blank = isinstance(value, str) and not value.strip()
    return missing(value) or is_blank or (bool(texts) and all(map(_says_nothing, texts)))


def _chunk(value: Any, identifier: Any, number: int, place: str) -> Chunk:
    if isinstance(value, Chunk):
        return value
    passage = passage_of(value)
    if passage is None or passage.text is None:
        has = f"; it has {cut_list(value)}" if isinstance(value, Mapping) else ""
        raise DatasetError(
            f"{place}[{number}] = {cut(value)}: a text, or an object with a text, is expected{has}; its text is called "
            "text"
        )
    name = identifier if not missing(identifier) and identifier != "" else passage.id
    return Chunk.nameless(passage.text) if name is None else Chunk(_name(name), passage.text)


def items_of(value: Any, place: str, forms: Forms | None = None) -> list[Any] | None:
    """The passages of a field, as they are written there: a list as it is, or out of a cell that holds one as text; the
    texts of a mapping; one text as a list of one."""
    if value is None:
        return None
    form: Form = "list"
    if isinstance(value, str):
        try:
            parsed = held(value)
        except ValueError as error:
            raise DatasetError(f"{place} = {cut(value)}: {error}") from None
        if parsed is None or (isinstance(parsed[0], Mapping) and not _is_of_texts(parsed[0])):
            parsed = [value] if value.strip() else [], "text"
        value, form = parsed
    if isinstance(value, Mapping) and len(value) > 1 and value.keys() & OF_PASSAGES:
        value = by_row(value) or value  # {"title": […], "sentences": […]}
    if isinstance(value, Mapping) and (entries := payloads.entries_of(value)) is not None:
        value, form = entries, "list"
    if isinstance(value, Mapping) and not value.keys() & {*OF_PASSAGES, *PARTS.ids}:
        value, form = list(value.values()), "mapping"
        value = value[0] if len(value) == 1 and isinstance(value[0], list) else value
    if isinstance(value, Mapping | Chunk) or fields_of(value) is not None:
        value = [value]
    if not isinstance(value, Iterable):
        raise DatasetError(f"{place} = {cut(value)}: a list of texts is expected")
    texts = list(value)
    if all(isinstance(group, list) and all(isinstance(text, str | None) for text in group) for group in texts):
        is_named = all(len(group) == 2 and group[0] and not any(map(str.isspace, group[0])) for group in texts)
        if is_named:  # pairs of a name and a text
            texts = [{"id": name, "text": text} for name, text in texts]
        else:  # several texts a fact
            texts = [text for group in texts for text in group]
    if forms is not None:
        forms.add(place.rsplit(", ", 1)[1], form, len(texts))
    return texts


def _is_of_texts(value: Mapping[str, Any]) -> bool:
    """Whether a mapping that stood in a cell is one of contexts: any other is a context that is written so."""
    is_of_texts = all(isinstance(content, str | Mapping) for content in value.values())
    return bool(value.keys() & OF_PASSAGES) or is_of_texts or payloads.entries_of(value) is not None
