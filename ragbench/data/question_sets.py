"""Question sets: items of a question, its answer and the chunk it was written for, with or without people's marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints, field_validator

from ragbench.core.types import Chunk
from ragbench.data.brought import Brought, named_by
from ragbench.data.cells import flag, opened, plain, several
from ragbench.data.files import DatasetError, LeftOut, cut, cut_list
from ragbench.data.payloads import question_of
from ragbench.data.records import ChunkRecord, PastQuestion, QuestionRecord, Url
from ragbench.data.rows import checked, listed, read_rows
from ragbench.data.samples import Given, contexts_of, items_of, references_in
from ragbench.data.shelf import Shelf
from ragbench.data.vocabulary import AmbiguousError, Columns

MARKS = ("is_question_ok", "is_answer_ok", "is_chunk_ok")
MAX_CHARACTERS = 1_000_000  # a book; what is longer is a file that went into a cell
CALLED = {
    "question": "user_input", "ground_truth_answer": "reference", "confluence_url": "url",
    "relevant_chunk_ids": "reference_context_ids",
}  # fmt: skip
"""What an item of a question set calls fields of the vocabulary; all others it calls as that does."""
LABEL_WITHOUT_TEXT = "label of a chunk whose text is not there (its question stays, recall is over its other labels)"
NO_LABEL_LEFT = "question none of whose relevant chunks has a text"


def name(value: Any) -> Any:
    """An identifier as a text: whole numbers count as their digits (701.0 too); an empty text is none."""
    if isinstance(value, int | float) and not isinstance(value, bool) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, str):
        return value.strip() or None
    if value is None:
        return None
    raise ValueError("a text or a whole number is expected")


def names(value: Any) -> Any:
    """A list of identifiers."""
    values = listed(value)
    if not isinstance(values, list | tuple):
        raise ValueError("a list is expected")
    parts = [part for entry in values for part in (entry if isinstance(entry, list | tuple) else [entry])]
    return [named for part in parts if (named := name(part)) is not None]


def sort(value: Any) -> str | None:
    """What questions are sorted by: a name, or several as one; nothing else sorts them."""
    try:
        return ", ".join(names(value if isinstance(value, list | tuple) else [value])) or None
    except ValueError:
        return None


def text(value: Any) -> Any:
    """A text; one of blanks alone is none."""
    if value is not None and not isinstance(value, str):
        raise ValueError("a text is expected")
    if value is not None and len(value) > MAX_CHARACTERS:
        raise ValueError(f"a text of at most {MAX_CHARACTERS:,} characters is expected")
    return (value or "").strip() or None


_Name = Annotated[str, StringConstraints(max_length=300, pattern=r"^[^\x00-\x1f\x7f]+$")]
Flag = Annotated[bool | None, BeforeValidator(flag)]
Name = Annotated[_Name | None, BeforeValidator(name)]
Sort = Annotated[_Name | None, BeforeValidator(sort)]
Page = Annotated[Url | None, BeforeValidator(name)]
Pages = Annotated[list[Url], BeforeValidator(names)]
Names = Annotated[list[_Name], BeforeValidator(names)]
Text = Annotated[str | None, BeforeValidator(text)]


class Item(BaseModel):
    """An item of a question set. Older ones have only the chunk, the question, the answer and the page."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)

    id: Name = None
    source: Sort = None
    question_source: Sort = None
    category: Sort = None
    question: Text
    ground_truth_answer: Text = None
    references: tuple[str, ...] = ()
    chunk_id: Name = None
    chunk_text: Text = None
    confluence_url: Page = None
    relevant_chunk_ids: Names = []
    relevant_urls: Pages = []
    user_score: int | None = None
    question_answer_id: Name = None
    is_relevant_chunk_matched: Flag = None
    is_question_ok: Flag = None
    is_answer_ok: Flag = None
    is_chunk_ok: Flag = None

    @field_validator("question", mode="after")
    @classmethod
    def _asked(cls, value: str | None) -> str:
        if value is None:
            raise ValueError("a question is expected")
        return value

    @field_validator("user_score", mode="before")
    @classmethod
    def _score(cls, value: Any) -> int | None:
        if value is None or value == "":
            return None
        word = "" if isinstance(value, bool) else str(value).strip().removesuffix(".0")
        if word not in ("1", "2", "3", "4", "5"):
            raise ValueError("a whole number from 1 to 5 is expected")
        return int(word)


@dataclass
class _Reading:
    """The items of one file on their way in, with the places where things were seen first."""

    base: Mapping[str, ChunkRecord]
    marked: bool
    brought: Brought = field(default_factory=Brought)
    chunks: Shelf[ChunkRecord] = field(default_factory=lambda: Shelf(ChunkRecord, by_key=True))
    questions: Shelf[QuestionRecord] = field(default_factory=lambda: Shelf(QuestionRecord))
    history: Shelf[PastQuestion] = field(default_factory=lambda: Shelf(PastQuestion))
    items: Shelf[Item] = field(default_factory=lambda: Shelf(Item))
    by_category: bool = False
    left_out: LeftOut = field(default_factory=LeftOut)

    def take(self, item: Item, place: str, passages: Sequence[Chunk] = (), others: Sequence[Chunk] = ()) -> None:
        """Remember the item and its chunks; refuse what contradicts what was seen before. others: chunks that are not
        relevant to it."""
        self._chunk(item, place)
        for passage in (*passages, *others):
            self.chunks.put(passage.id, ChunkRecord(id=passage.id, text=passage.text), place)
        if passages:
            own = [*item.relevant_chunk_ids, *(passage.id for passage in passages)]
            item = item.model_copy(update={"relevant_chunk_ids": list(dict.fromkeys(own))})
        key = f"unnamed {len(self.items)}" if item.id is None else f"id {item.id}"
        if not self.items.put(key, item, place):
            known = self.items.get(key)
            if known is not None and known.question == item.question:  # ids there are made of questions
                self.brought.left_out["item that repeats a question under its id"] += 1
                return
            there = self.items.place(key).rsplit(", ", 1)[1]
            raise DatasetError(f"{place}: id = {item.id!r} stands in {there} already; ids are unique")
        self.by_category = self.by_category or bool(item.category)

    def _chunk(self, item: Item, place: str) -> None:
        if item.chunk_id is None and item.chunk_text is not None:
            raise DatasetError(f"{place}: chunk_id is missing; a chunk_text needs the id of its chunk")
        if item.chunk_id is None or item.chunk_text is None or item.chunk_id in self.base:
            return
        made = ChunkRecord(id=item.chunk_id, text=item.chunk_text, url=item.confluence_url)
        if self.chunks.put(made.id, made, place):
            return
        known, first = self.chunks.get(made.id) or made, self.chunks.place(made.id)
        if known.text != made.text or known.url != made.url:
            what = "chunk_text" if known.text != made.text else "confluence_url"
            raise DatasetError(
                f"{place}: {what} of the chunk {item.chunk_id!r} differs from that of {first.rsplit(', ', 1)[1]}; "
                "one text and one page a chunk are expected"
            )

    def finish(self) -> Brought:
        """Questions out of the items, now that all chunks are known."""
        if self.by_category:
            self.brought.notes.append("the kind of a question, by which results are sliced, is its category")
        for place, item in self.items.placed():
            if self.marked and item.is_question_ok is False:
                self.brought.left_out["question that people marked as not in order"] += 1
                continue
            question = self._question(item)
            if question is None:
                continue
            if not self.questions.put(question.id, question):
                self.brought.left_out["item that repeats a question about the same chunk"] += 1
                continue
            self._past(item, place)
        for chunk in self.base.values():
            self.chunks.put(chunk.id, chunk)
        self.brought.chunks, self.brought.questions, self.brought.history = self.chunks, self.questions, self.history
        return self.brought

    def _is_there(self, chunk: str) -> bool:
        return chunk in self.base or self.chunks.has(chunk)

    def _question(self, item: Item) -> QuestionRecord | None:
        reference, wanted, pages = item.ground_truth_answer, self._wanted(item), dict.fromkeys(item.relevant_urls, 1.0)
        if self.marked and item.is_answer_ok is False and reference is not None:
            self.brought.left_out["reference answer that people marked as not in order (its question stays)"] += 1
            reference = None
        if missing := [chunk for chunk in wanted if not self._is_there(chunk)]:
            wanted = [chunk for chunk in wanted if chunk not in missing]
            if not wanted and not pages and (self.base or self.chunks):
                self.brought.left_out[NO_LABEL_LEFT] += 1
                return None
            self.brought.left_out[LABEL_WITHOUT_TEXT] += len(missing)
        page = item.confluence_url
        return QuestionRecord(
            id=item.id or named_by("q", str(item.question), item.chunk_id or ""),
            text=str(item.question),
            reference=reference,
            references=() if reference is None else item.references,
            relevant=dict.fromkeys(wanted, 1.0),
            relevant_urls=pages,
            answerable=True if wanted or pages else None,
            kind=item.category if self.by_category else item.question_source,
            cluster=page or item.chunk_id,
            source=item.source,
        )

    def _wanted(self, item: Item) -> list[str]:
        wanted = list(dict.fromkeys([*([item.chunk_id] if item.chunk_id else []), *item.relevant_chunk_ids]))
        if wanted and item.is_relevant_chunk_matched is False:
            self.brought.left_out["label of a chunk that was found not to match (its question stays)"] += 1
            return []
        if wanted and self.marked and item.is_chunk_ok is False:
            self.brought.left_out["label of a chunk that people marked as not in order (its question stays)"] += 1
            return []
        return wanted

    def _past(self, item: Item, place: str) -> None:
        if item.question_answer_id is None:
            return
        made = {
            "id": item.question_answer_id,
            "question": item.question,
            "answer": item.ground_truth_answer,
            "url": item.confluence_url,
            "score": item.user_score,
        }
        if not self.history.put(item.question_answer_id, checked(PastQuestion, made, place)):
            self.brought.left_out["past question that stands there twice"] += 1


SEARCHED = ("retriev", "search", "found", "ctxs", "найденн", "извлечённ")
"""How names of columns begin whose passages a search gave: they are the base as far as it is seen, and no labels."""
SUPPORTS = ("is_supporting", "is_selected")
"""What passages are marked with that an answer rests on, as MuSiQue and MS MARCO have them."""
READ = ("contexts", "reference_contexts", "response", "note", "context_ids", "choices", "supporting", "corpus_passages",
        "corpus_ids", *(CALLED.get(name, name) for name in Item.model_fields))  # fmt: skip
"""Fields of the vocabulary that a question set may have."""


def read(
    path: Path,
    *,
    base: Mapping[str, ChunkRecord] | None = None,
    marked: bool = False,
    columns: Given | None = None,
) -> Brought:
    """The questions of a table, and the passages that it carries.

    base: the chunks of the whole knowledge base, if they are known; without it the base is what the file names, which
    is smaller than the real one, so retrieval is easier. A question's passages are its `chunk_text`, or the texts of
    its reference contexts; where it has contexts and no answer, these, which it was written from, unless a search gave
    them, or some are marked, as by HotpotQA, MuSiQue and MS MARCO: then these alone. An answer without
    contexts is the reference where no other is there. marked: heed
    `is_question_ok`, `is_answer_ok`, `is_chunk_ok`: a 0 takes the question, its reference, or its label out, counted;
    an empty mark is "not answered yet" and changes nothing. Items without an id get one made of question and chunk.
    Questions of one page form a cluster. Their kind is the category where the file has one, else `question_source`. A
    label of a chunk without a text is dropped, and a question that has no other label with it. columns: which column is
    which field, where the vocabulary does not tell.

    Rows that cannot be used are left out and counted. Raises DatasetError where none can be.
    """
    reading, known = _Reading(base or {}, marked), Columns(columns, READ)
    unmarked, written_for, searched, answered = 0, 0, 0, 0
    for place, row in read_rows(path, held=False, left_out=reading.left_out):
        fields = known.of(row, place)
        if marked:  # forms that people fill in are spreadsheets
            fields = {name: plain(value) if isinstance(value, str) else value for name, value in fields.items()}
        try:
            is_searched = known.read.get("contexts", "").casefold().startswith(SEARCHED)
            item, passages, others = _item(fields, row, place, is_searched)
            reading.take(item, place, passages, others)
        except AmbiguousError:
            raise
        except DatasetError as error:
            reading.left_out.fault(error, place)
            continue
        unmarked += all(getattr(item, mark) is None for mark in MARKS)
        written_for += "contexts" in fields and bool(passages) and "reference_contexts" not in fields and not others
        searched += is_searched and bool(others)
        answered += "response" in fields and bool({"contexts", "context_ids"} & fields.keys())
    if not reading.items:
        why = reading.left_out.said or "at least one is expected"
        guesses = "; ".join(known.guesses(known.unread))
        raise DatasetError(f"{path.name}: holds no questions: {why}{f'; {guesses}' if guesses else ''}")
    brought = reading.finish()
    brought.left_out += reading.left_out.told
    if not brought.questions:
        reasons = "; ".join(f"{count} × {reason}" for reason, count in brought.left_out.items())
        how = "; give the passages that it names, --chunks-from FILE" if NO_LABEL_LEFT in brought.left_out else ""
        raise DatasetError(f"{path.name}: no question is left ({cut(reasons)[1:-1]}){how}")
    brought.notes += known.notes()
    if marked and unmarked:
        brought.notes.append(f"{unmarked} of {len(reading.items)} items carry no mark yet; they are kept as they are")
    if written_for:
        brought.notes.append(f"the contexts of {written_for} questions without an answer are taken for relevant ones")
    if answered:
        brought.notes.append(
            f"{answered} answers with their contexts are a system's, and not read: `ragbench load answers` reads them; "
            "--column reference=COLUMN says that they are the right ones"
        )
    if searched:
        brought.notes.append(f"what a search found for {searched} questions is part of the base, and labels nothing")
    if not brought.chunks:
        brought.notes.append(
            "no passages: what a service or a function of yours returns is the knowledge base, as far as it is seen; "
            "to search passages here, and to measure the search, give them: --chunks-from NAME or db:NAME"
        )
        brought.runs.append("tier3_end_to_end")
    elif not base:
        brought.notes.append("the knowledge base is only the chunks that this file carries: retrieval is easier so")
    return brought


def _item(
    fields: Mapping[str, Any], row: Mapping[str, Any], place: str, is_searched: bool
) -> tuple[Item, tuple[Chunk, ...], tuple[Chunk, ...]]:
    """The item of a row, the passages that it was written from, and others that stand there. Raises DatasetError."""
    given = {name: fields[CALLED.get(name, name)] for name in Item.model_fields if CALLED.get(name, name) in fields}
    passages = contexts_of(fields.get("reference_contexts"), f"{place}, reference_contexts") or ()
    others: tuple[Chunk, ...] = ()
    if "response" not in fields and "chunk_text" not in fields:
        where, ids = f"{place}, contexts", fields.get("context_ids")
        parted = None if passages or ids else _supporting(fields, where)
        if parted is not None:
            passages, others = (contexts_of(part, where) or () for part in parted)
        else:
            others = contexts_of(fields.get("contexts"), where, ids=ids) or ()
            passages, others = (passages, others) if passages or is_searched else (others, ())
    where, ids = f"{place}, corpus_passages", fields.get("corpus_ids")
    others += contexts_of(fields.get("corpus_passages"), where, ids=ids) or ()
    if "question" not in given and row:
        raise DatasetError(f"{place}: question is missing; it is expected in every item; it has {cut_list(row)}")
    if not isinstance(asked := given.get("question"), str):
        given["question"] = question_of(asked) or asked
    if "ground_truth_answer" not in given and not {"contexts", "context_ids"} & fields.keys() and "response" in fields:
        given["ground_truth_answer"] = fields["response"]
    if "ground_truth_answer" in given:
        wanted = references_in(given["ground_truth_answer"], f"{place}: ground_truth_answer")
        given |= {"ground_truth_answer": next(iter(wanted), None), "references": several(wanted)}
    return checked(Item, given, place), passages, others


def _supporting(fields: Mapping[str, Any], where: str) -> tuple[list[Any], list[Any]] | None:
    """The passages that the answer rests on, and all others, as they are written; None where nothing tells them."""
    items, told = items_of(fields.get("contexts"), where) or [], opened(fields.get("supporting"))
    titles = told.get("title", []) if isinstance(told, Mapping) else [fact[0] for fact in told or ()]
    marks = [
        any(item.get(mark) for mark in SUPPORTS) or item.get("title") in titles
        if isinstance(item, Mapping)
        else isinstance(item, list) and bool(item) and item[0] in titles
        for item in items
    ]
    if not any(marks):
        return None
    own, others = ([item for item, mark in zip(items, marks, strict=True) if mark is side] for side in (True, False))
    return own, others
