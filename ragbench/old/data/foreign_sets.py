"""Sets of questions, of dialogues and of decisions, as people have them: rows of a table to records of a data set."""

from __future__ import annotations

import itertools
import re
import shlex
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from ragbench.old.core import segmentation, settings
from ragbench.old.core.types import Chunk
from ragbench.old.data.brought import Brought, named_by, passing_over
from ragbench.old.data.cells import Forms, by_row, flag, opened, plain
from ragbench.old.data.columns import Columns
from ragbench.old.data.files import DatasetError, LeftOut, cut, cut_list
from ragbench.old.data.payloads import guess_of, label, moment, number
from ragbench.old.data.records import ChunkRecord, Decision, Dialogue, PastQuestion, QuestionRecord, checked
from ragbench.old.data.rows import listed, read_rows
from ragbench.old.data.samples import FIRST, NO_ANSWER, Given, contexts_of, items_of, sample_in, turns_in
from ragbench.old.data.shelf import Shelf
from ragbench.old.data.vocabulary import READS, field_of

LABEL_WITHOUT_TEXT = "label of a chunk whose text is not there (its question stays, recall is over its other labels)"
NO_LABEL_LEFT = "question none of whose relevant chunks has a text"


def name(value: Any) -> str | None:
    """An identifier as a text: whole numbers count as their digits (701.0 too); an empty text is none."""
    if (named := label(value)) is None and not isinstance(value, str | None):
        raise ValueError("a text or a whole number is expected")
    return named


def names(value: Any) -> list[str]:
    """A list of identifiers."""
    values = listed(value)
    if not isinstance(values, list | tuple):
        raise ValueError("a list is expected")
    parts = [part for entry in values for part in (entry if isinstance(entry, list | tuple) else [entry])]
    return [named for part in parts if (named := name(part)) is not None]


def grades(value: Any) -> dict[str, float]:
    """What is relevant, each by its name with its grade: 1 where a list has none; what has no grade above 0 is not."""
    if not isinstance(given := opened(value), Mapping):
        return dict.fromkeys(names(value), 1.0)
    if any(isinstance(grade, bool) or number(grade) is None for grade in given.values() if grade is not None):
        raise ValueError("a list, or names with a finite number each, is expected")
    return {str(named): float(grade) for named, grade in given.items() if grade and float(grade) > 0}


def sort(value: Any) -> str | None:
    """What questions are sorted by: a name, or several as one; nothing else sorts them."""
    try:
        return ", ".join(names(value if isinstance(value, list | tuple) else [value])) or None
    except ValueError:
        return None


def text(value: Any) -> str | None:
    """A text; one of blanks alone is none."""
    if value is not None and not isinstance(value, str):
        raise ValueError("a text is expected")
    return (value or "").strip() or None


def score(value: Any) -> int | None:
    """What a user gave an answer, from 1 to 5."""
    if value is None or value == "":
        return None
    word = "" if isinstance(value, bool) else str(value).strip().removesuffix(".0")
    if word not in ("1", "2", "3", "4", "5"):
        raise ValueError("a whole number from 1 to 5 is expected")
    return int(word)


def answers(value: Any) -> list[Mapping[str, Any]]:
    """The answers of SQuAD that have a text, also out of a list a column."""
    given = opened(value) or []
    given = by_row(given) if isinstance(given, Mapping) else given
    if not isinstance(given, list):
        raise ValueError("a list of answers is expected")
    return [own for own in given if isinstance(own, Mapping) and str(own.get("text") or "").strip()]


def taken(
    kinds: Mapping[str, Callable[[Any], Any]], fields: Mapping[str, Any], place: str, known: Columns
) -> dict[str, Any]:
    """The values of fields, each as its kind reads it. Raises DatasetError, naming the column as the table does."""
    values = {}
    for field, kind in kinds.items():
        try:
            values[field] = kind(fields.get(field))
        except ValueError as error:
            raise DatasetError(f"{place}: {known.read.get(field, field)} = {cut(fields[field])}: {error}") from None
    return values


def _question(asked: str | None, row: Mapping[str, Any], place: str) -> str:
    """The question, without blanks around it. Raises DatasetError where there is none."""
    if (question := text(asked)) is None and asked is not None:
        raise DatasetError(f"{place}: question = {cut(asked)}: a question is expected")
    if question is None:
        raise DatasetError(f"{place}: question is missing; it is expected in every item; it has {cut_list(row)}")
    return question


def _stands_there(shelf: Shelf[Any], identifier: str, place: str) -> DatasetError:
    return DatasetError(f"{place}: id = {identifier!r} stands in {shelf.place(identifier)} already; ids are unique")


MARKS = ("is_question_ok", "is_answer_ok", "is_chunk_ok")
KINDS: Mapping[str, Callable[[Any], Any]] = {
    "id": name, "chunk_id": name, "chunk_text": text, "url": name,
    "reference_context_ids": lambda value: grades([value] if isinstance(value, int | float) else value),
    "relevant_urls": grades, "cluster": name, "source": sort, "category": sort, "question_source": sort,
    "question_answer_id": name, "user_score": score,
    **dict.fromkeys(("answerable", "is_relevant_chunk_matched", *MARKS), flag),
}  # fmt: skip
"""Fields of a question beside those of a sample."""
QUESTION = (*KINDS, *READS["question"])
"""Fields of the vocabulary that a question set may have."""
LABELS = {"relevant", "gold"}
"""Columns of lists that are labels where these are ids of the base."""
CHUNK = {"id": "chunk_id", "text": "chunk_text", "url": "url"}
RECORD = {"text": "user_input", "relevant": "reference_context_ids", "relevant_urls": "relevant_urls", "id": "id"}
"""What the vocabulary calls the fields of a record."""
SEARCHED = ("retriev", "search", "found", "ctxs", "найденн", "извлечённ")
"""How names of columns begin whose passages a search gave: they are the base as far as it is seen, and no labels."""
PARTING = re.compile(r"[;,|\n]")
"""What parts ids in a cell."""
SUPPORTS = ("is_supporting", "is_selected")
"""What passages are marked with that an answer rests on, as MuSiQue and MS MARCO have them."""
NO_LABEL = {"is_relevant_chunk_matched": "was found not to match", "is_chunk_ok": "people marked as not in order"}
"""Marks of a chunk that take its label away, and why."""
SQUAD = "SQuAD"
PARAGRAPH = {"title": text, "context": text, "is_impossible": flag, "answers": answers}
UNMARKED = "{} of {} items carry no mark yet; they are kept as they are"
WRITTEN_FOR = "the contexts of {} questions without an answer are taken for relevant ones"
ANSWERED = (
    "{0} answers with their contexts are a system's, and not read: `ragbench load answers` reads them; --column "
    "{2} says that they are the right ones"
)
ID = re.compile(r"^[!-,;-^`-~]*+[-./0-9:_#][!-~]*+")
"""What is an id rather than a text."""
NAMES = "passages of one word: {}; if they are ids, give what they name, --chunks-from FILE"
FOUND = "what a search found for {} questions is part of the base, and labels nothing"


def questions(
    path: Path,
    *,
    base: Mapping[str, ChunkRecord] | None = None,
    columns: Given | None = None,
) -> Brought:
    """The questions of a table, and the passages that it carries.

    base: the chunks of the whole knowledge base, if they are known; without it the base is what the file names, which
    is smaller than the real one, so retrieval is easier. A question's passages are its `chunk_text`, or the texts of
    its reference contexts; where it has contexts and no answer, these, which it was written from, unless a search gave
    them, or some are marked, as by HotpotQA, MuSiQue and MS MARCO: then these alone. An answer without
    contexts is the reference where no other is there. Of the marks
    `is_question_ok`, `is_answer_ok`, `is_chunk_ok` a 0 takes the question, its reference, or its label out, counted;
    an empty one is "not answered yet" and changes nothing. Items without an id get one made of question and chunk.
    Questions of one page form a cluster. Their kind is the category where the file has one, else `question_source`. A
    label of a chunk without a text is dropped, and a question that has no other label with it. columns: which column is
    which field, where the vocabulary does not tell.

    Of SQuAD a paragraph is a chunk, an article a page, and a question's only relevant chunk its own paragraph; one
    marked impossible, or in a table one without an answer, has none and is unanswerable. The sentence in which the
    first answer stands is the labelled text of the paragraph; all of it is, where the answer does not stand where
    `answer_start` says.

    Rows that cannot be used are left out and counted. Raises DatasetError where none can be.
    """
    left_out = LeftOut()
    rows = read_rows(path, held=False, left_out=left_out)
    begun = [*itertools.islice(rows, FIRST)] if base else []
    known = Columns(columns, QUESTION, labels_in((row for _, row in begun), base or {}))
    reading = Questions(known, base or {}, left_out)
    for place, row in itertools.chain(begun, rows):
        with passing_over(left_out, place):
            reading.take(known.of(row, place), row, place)
    if not reading.taken:
        guesses = "; ".join(("", *known.guesses(known.unread)))
        raise DatasetError(f"{path.name}: holds no questions: {left_out.said or 'at least one is expected'}{guesses}")
    brought = reading.finish()
    brought.left_out += left_out.told
    if not brought.questions:
        reasons = "; ".join(f"{count} × {reason}" for reason, count in brought.left_out.items())
        how = "; give the passages that it names, --chunks-from FILE" if NO_LABEL_LEFT in brought.left_out else ""
        raise DatasetError(f"{path.name}: no question is left ({cut(reasons)[1:-1]}){how}")
    brought.notes += known.notes()
    right = shlex.quote(f"reference={known.read.get('response')}")
    brought.notes += [note.format(number, reading.taken, right) for note, number in reading.notes.items() if number]
    if not brought.chunks:
        brought.notes.append(
            "no passages: what a service or a function of yours returns is the knowledge base, as far as it is seen; "
            "to search passages here, and to measure the search, give them: --chunks-from NAME or db:NAME"
        )
        asked = any(system.url or system.callable for system in settings.load().systems.values())
        brought.runs.append("tier3_end_to_end" if asked else "dataset")
    elif not base:
        brought.notes.append("the knowledge base is only the chunks that this file carries: retrieval is easier so")
    return brought


def labels_in(rows: Iterable[Mapping[str, Any]], base: Mapping[str, Any]) -> dict[str, str]:
    """The column, called as one of labels beside questions in memory, whose lists hold ids of the base alone → its
    field; none where another column has the labels."""
    found: dict[str, str] = {}
    for row in rows:
        if "reference_context_ids" in map(field_of, row):
            return {}
        for column in row.keys() & LABELS:
            own = opened(row[column])
            if isinstance(own, list) and own:
                if not all(label(name) in base for name in own):
                    return {}
                found[column] = "reference_context_ids"
    return found if len(found) == 1 else {}


class Questions:
    """Questions out of rows, and the passages that these carry; see `questions`.

    left_out: where questions are counted that cannot be used; without it they are raised, the base is all there is, and
    a label of what it lacks is an error. also: other names of passages of the base. taken: how many rows were used.
    notes: sentence → number of rows that it is about.
    """

    def __init__(
        self, known: Columns, base: Mapping[str, ChunkRecord], left_out: LeftOut | None, *,
        also: Mapping[str, str] = MappingProxyType({}),
    ) -> None:  # fmt: skip
        self.brought, self.taken, self.notes = Brought(), 0, Counter[str]()
        self._known, self._base, self._left_out = known, base, left_out
        self._called = {**also, **{chunk.text.strip(): chunk.id for chunk in base.values()}}
        self._chunks, self._history = Shelf(ChunkRecord, by_key=True), Shelf(PastQuestion)
        self._made: Shelf[dict[str, Any]] = Shelf()
        self._by_category = False
        self._articles: dict[str, tuple[int, dict[str, str]]] = {}

    def take(self, fields: Mapping[str, Any], row: Mapping[str, Any], place: str) -> None:
        """Remember the question of a row, and its chunks. Raises DatasetError for what contradicts those before it."""
        left_out = self.brought.left_out
        # forms that people fill in are spreadsheets
        fields = {field: plain(value) if isinstance(value, str) else value for field, value in fields.items()}
        if self._known.format == SQUAD and not (fields := self._of_squad(fields, row, place)):
            return
        if not {"reference", "contexts", "context_ids"} & fields.keys():
            fields = {**fields, "reference": fields.get("response")}
        if isinstance(listed_ids := opened(fields.get("chunk_id")), list) and "reference_context_ids" not in fields:
            fields = {**fields, "chunk_id": None, "reference_context_ids": listed_ids}
        own = taken(KINDS, fields, place, self._known)
        sample = sample_in(
            {part: fields.get(part) for part in ("user_input", "reference")}, place, called=self._known.read
        )
        asked, answer = _question(sample.user_input, row, place), text(sample.reference)
        if number(asked) is not None:
            raise DatasetError(f"{place}: question = {asked}: a question is expected, no number of one")
        if answer is None and fields.get("reference") in (*NO_ANSWER, *([each] for each in NO_ANSWER)):
            own["answerable"] = False
        identifier = own["id"] or named_by("q", asked, own["chunk_id"] or "")
        if (self._made.get(identifier) or {"text": asked})["text"] != asked:  # ids there are made of questions
            raise _stands_there(self._made, identifier, place)
        wanted, right = self._labels(own, fields, place), own["is_answer_ok"] is not False
        self.taken += 1
        self.notes[UNMARKED] += all(own[mark] is None for mark in MARKS)
        if own["is_question_ok"] is False:
            left_out["question that people marked as not in order"] += 1
            return
        if answer and not right:
            left_out["reference answer that people marked as not in order (its question stays)"] += 1
        for mark, why in NO_LABEL.items():
            if wanted and own[mark] is False:
                left_out[f"label of a chunk that {why} (its question stays)"] += 1
                wanted, fields = {}, {**fields, "spans": {}}
        made = {
            "id": identifier,
            "text": asked,
            "reference": answer if right else None,
            "references": sample.references if right else (),
            "relevant": wanted,
            "relevant_urls": own["relevant_urls"],
            "cluster": own["cluster"] or own["url"] or own["chunk_id"],
            "source": own["source"],
            "spans": fields.get("spans", {}),
            "answerable": own["answerable"],
        }
        if not self._made.put(identifier, {**made, "kinds": [own["category"], own["question_source"]]}, place):
            left_out[f"item that repeats a question {'under its id' if own['id'] else 'about the same chunk'}"] += 1
            return
        self._by_category = self._by_category or bool(own["category"])
        if (past := own["question_answer_id"]) is not None:
            about = {"id": past, "question": asked, "answer": answer, "url": own["url"], "score": own["user_score"]}
            if not self._history.put(past, checked(PastQuestion, about, place)):
                left_out["past question that stands there twice"] += 1

    def finish(self) -> Brought:
        """The questions, now that all chunks are known."""
        brought, kept = self.brought, Shelf(QuestionRecord)
        if self._by_category:
            brought.notes.append("the kind of a question, by which results are sliced, is its category")
        if self._known.read.keys().isdisjoint(MARKS):
            del self.notes[UNMARKED]
        for place, made in self._made.placed():
            with passing_over(self._left_out, place):
                category, source = made.pop("kinds")
                made["kind"] = category if self._by_category else source
                wanted = made["relevant"]
                made["relevant"] = {
                    chunk: grade for chunk, grade in wanted.items() if chunk in self._base or self._chunks.has(chunk)
                }
                labels = {**made["relevant"], **made["relevant_urls"]}
                if lost := [chunk for chunk in wanted if chunk not in made["relevant"]]:
                    if self._left_out is None:
                        there = f"there are {len(self._base):,}, such as {', '.join(map(repr, list(self._base)[:3]))}"
                        how = there if self._base else "there are no documents: give them as documents="
                        raise DatasetError(f"{place}: names the passage {cut(lost[0])}, which is not there; {how}")
                    stays = bool(labels) or not (self._base or self._chunks)
                    brought.left_out[LABEL_WITHOUT_TEXT if stays else NO_LABEL_LEFT] += len(lost) if stays else 1
                    if not stays:
                        continue
                if made["answerable"] is None and labels:
                    made["answerable"] = True
                kept.put(made["id"], checked(QuestionRecord, made, place, self._names_of(RECORD)))
        for chunk in self._base.values():
            self._chunks.put(chunk.id, chunk)
        brought.chunks, brought.questions, brought.history = self._chunks, kept, self._history
        return brought

    def _names_of(self, fields: Mapping[str, str]) -> dict[str, str]:
        """What the table calls the fields of a record."""
        return {own: self._known.read.get(field, own) for own, field in fields.items()}

    def _labels(self, own: Mapping[str, Any], fields: Mapping[str, Any], place: str) -> dict[str, float]:
        """What is relevant to a question, by ids, with its grade; the passages of its row are put there."""
        first, written = own["chunk_id"], own["chunk_text"]
        several = self._ids(first or "") if written is None else []
        chunks = [] if written is None else [Chunk(first, written) if first else Chunk.nameless(written)]
        passages, others = self._passages(fields, place)
        labels = dict.fromkeys([*(several or ([first] if first else ())), *self._named(chunks, place, own)], 1.0)
        for named, grade in own["reference_context_ids"].items():
            for chunk in self._ids(named) or [self._called.get(named, named)]:
                labels.setdefault(chunk, grade)
        labels = {**dict.fromkeys(self._named(passages, place), 1.0), **labels}
        self._named(others, place)
        return labels

    def _ids(self, text: str) -> list[str]:
        """The passages of the base that a text names, one or several that are parted by commas and the like; none for
        any other text."""
        parts = [text] if text in self._base else [part.strip() for part in PARTING.split(text)]
        return parts if all(part in self._base for part in parts) else []

    def _named(self, passages: Iterable[Chunk], place: str, own: Mapping[str, Any] | None = None) -> Iterable[str]:
        """The ids of passages among all, of those without one by their texts; those that are not there are put there.
        own: of the chunk that a question was written for, its row; raises DatasetError where it differs from another
        of its id. Of other passages the first of an id stays."""
        ids = []
        for passage in passages:
            said = passage.text.strip() if passage.is_nameless else "" if passage.text else passage.id
            if own is None and (named := self._ids(said)):
                ids += named  # no text, but what a passage of the base is called
                continue
            self.notes[NAMES] += bool(passage.is_nameless and ID.fullmatch(said))
            chunk = (self._called.get(passage.text.strip()) if passage.is_nameless else None) or passage.id
            if passage.text and chunk not in self._base:  # without one it may stand elsewhere with its text
                if self._left_out is None and self._base:
                    self.brought.left_out[LABEL_WITHOUT_TEXT] += 1
                    continue
                about = {"id": chunk, "text": passage.text, "url": own["url"] if own else None}
                called = self._names_of(CHUNK) if own else {}
                made = checked(ChunkRecord, about, place, called)
                if not self._chunks.put(chunk, made, place):
                    known = self._chunks.get(chunk) or made
                    differing = [part for part in ("text", "url") if about[part] not in (None, getattr(known, part))]
                    if differing and not own:
                        self.brought.left_out["passage whose id stands there with another text"] += 1
                    elif differing:
                        raise DatasetError(
                            f"{place}: {called[differing[0]]} of the chunk {chunk!r} differs from that of "
                            f"{self._chunks.place(chunk)}; one text and one page a chunk are expected"
                        )
            ids.append(chunk)
        return ids

    def _passages(self, fields: Mapping[str, Any], place: str) -> tuple[Sequence[Chunk], Sequence[Chunk]]:
        """The passages that a question was written from, and others that stand there. Raises DatasetError."""
        passages = contexts_of(fields.get("reference_contexts"), f"{place}, reference_contexts") or ()
        others: tuple[Chunk, ...] = ()
        where, ids = f"{place}, contexts", fields.get("context_ids")
        if "response" in fields:
            self.notes[ANSWERED] += bool({"contexts", "context_ids"} & fields.keys())
        elif "chunk_text" not in fields:
            is_searched = self._known.read.get("contexts", "").casefold().startswith(SEARCHED)
            parted = None if passages or ids else _supporting(fields, where)
            if parted is not None:
                passages, others = (contexts_of(part, where) or () for part in parted)
            else:
                others = contexts_of(fields.get("contexts"), where, ids=ids) or ()
                if not (passages or is_searched):
                    passages, others = others, ()
                    self.notes[WRITTEN_FOR] += bool(passages)
            self.notes[FOUND] += is_searched and bool(others)
        where, ids = f"{place}, corpus_passages", fields.get("corpus_ids")
        return passages, (*others, *(contexts_of(fields.get("corpus_passages"), where, ids=ids) or ()))

    def _of_squad(self, fields: Mapping[str, Any], row: Mapping[str, Any], place: str) -> dict[str, Any]:
        """The fields of a row of SQuAD, whose paragraph is put there; of a paragraph without a question there are none.
        Raises DatasetError."""
        about = taken(PARAGRAPH, row, place, self._known)
        title, paragraph, answers = about["title"] or "", about["context"], about["answers"]
        number, own = self._articles.setdefault(title, (len(self._articles), {}))
        page, chunk = f"squad:{quote(title)}", own.setdefault(str(paragraph), f"{number:04d}-{len(own):03d}")
        made = {"id": chunk, "text": paragraph, "url": page, "title": title.replace("_", " ")}
        self._chunks.put(chunk, checked(ChunkRecord, made, place), place)
        if "user_input" not in fields:
            return {}
        asked = {"id": row.get("id"), "user_input": fields["user_input"], "cluster": page, "source": "squad"}
        if (
            about["is_impossible"]
            or (answers and answers[0]["text"] in NO_ANSWER)
            or (not answers and isinstance(opened(row["answers"]), Mapping))
        ):
            return {**asked, "answerable": False}
        if not answers:
            raise DatasetError(f"{place}: answerable question without an answer")
        answer, start = str(answers[0]["text"]), answers[0].get("answer_start")
        start = start - len(row["context"]) + len(row["context"].lstrip()) if isinstance(start, int) else -1
        end = start + len(answer)
        around = [(first, last) for first, last in segmentation.spans(paragraph) if first < end and start < last]
        is_there = start >= 0 and paragraph[start:end] == answer
        labels = {"reference": answers, "reference_context_ids": [chunk]}
        return {**asked, **labels, "spans": {chunk: around} if is_there and around else {}}


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
    are_marked = any(isinstance(item, Mapping) and {*SUPPORTS} & item.keys() for item in items)
    if not any(marks) and not are_marked:  # marked, and none supports: the answer is not there
        return None
    own, others = ([item for item, mark in zip(items, marks, strict=True) if mark is side] for side in (True, False))
    return own, others


def decisions(path: Path, *, columns: Given | None = None, most: int | None = None) -> Brought:
    """Answers that a production judge should show to the user, or should not; their contexts are passages of their own,
    and none of the knowledge base.

    A context is a text, a list of texts, or either of them as a cell of a table holds it (`ragbench.old.data.cells`).
    An answer that is empty stays (it should not be shown). Items without an id get one made of their texts; an item
    that repeats question, answer and context, contradicts one before or cannot be used is left out and counted.
    columns: which column is which field, where the vocabulary does not tell; most: as of `read_rows`. Raises
    DatasetError where none is left.
    """
    brought, forms = Brought(), Forms()
    known, made = Columns(columns, ("id", "user_input", "response", "contexts", "shown", "rationale")), Shelf(Decision)
    for place, row in read_rows(path, held=False, left_out=forms.left_out, most=most):
        with passing_over(forms.left_out, place):
            fields = known.of(row, place)
            sample = sample_in(fields, place, forms=forms, called=known.read)
            more = taken({"id": name, "rationale": text}, fields, place, known)
            asked, answer = _question(sample.user_input, row, place), text(sample.response) or ""
            if sample.shown is None:
                called, has = known.read.get("shown", "ground_truth_show"), cut_list(row)
                how = "" if "shown" in known.read else "; --column shown=COLUMN says which of them says so"
                raise DatasetError(f"{place}: {called} is missing; it is expected in every item; it has {has}{how}")
            passages = {named_by("context", own): own for each in sample.contexts or () if (own := each.text.strip())}
            identifier = more["id"] or named_by("decision", asked, answer, *passages.values())
            about = {
                "id": identifier, "question": asked, "answer": answer, "context": tuple(passages),
                "show": sample.shown, "rationale": more["rationale"], "passages": passages,
            }  # fmt: skip
            if made.put(identifier, checked(Decision, about, place), place):
                continue
            if more["id"]:
                raise _stands_there(made, identifier, place)
            if made.get(identifier) != Decision(**about):
                raise DatasetError(
                    f"{place}: {known.read['shown']} = {sample.shown}: {made.place(identifier)} says "
                    f"{not sample.shown} of the same texts"
                )
            brought.left_out["item that repeats question, answer and context"] += 1
    brought.left_out += forms.left_out.told
    if not made:
        raise DatasetError(f"{path.name}: holds no decisions: {forms.left_out.said or 'at least one is expected'}")
    unread = next((why for why in forms.left_out.told if "true or false, yes or no" in why), "")
    if unread and len({decided.show for decided in made}) == 1:
        raise DatasetError(f"{path.name}: one of its two decisions is a word that is not known: {unread}")
    brought.decisions = made
    brought.notes += [*known.notes(), *forms.notes]
    if without := sum(not decided.passages for decided in made):
        brought.notes.append(
            f"{without} of {len(made)} decisions carry no context: the offline judge decides none of them"
        )
    return brought


def dialogues(path: Path, *, columns: Given | None = None, most: int | None = None) -> Brought:
    """The dialogues of a table: a list of messages each (OpenAI's `messages`, ShareGPT's `conversations`), a tree of
    them (ChatGPT's export), or two lists of `questions` and `expected_answers`, or a row a turn or a message, which
    names its session; those are in the order of time, where all say theirs.

    Each is a session of its own: turns of different dialogues are never compared. Without answers they are not known.
    Rows that cannot be used are left out and counted. most: as of `read_rows`. Raises DatasetError where none can be.
    """
    brought, left_out, known = Brought(), LeftOut(), Columns(columns, READS["dialogue"])
    made, sessions = Shelf(Dialogue), dict[str, list[tuple[float | None, Any]]]()
    guessed: dict[str, dict[str, None]] = {}
    for place, row in read_rows(path, held=False, left_out=left_out, spread=False, most=most):
        with passing_over(left_out, place):
            fields = known.of(row, place)
            session, at = str(fields.get("session", "")), moment(fields.get("time"))
            if "role" in fields and not fields.keys() & {"messages", "questions", "user_input"}:
                if fields.get("said"):  # else a step of a program
                    sessions.setdefault(session, []).append((at, [{"role": fields["role"], "content": fields["said"]}]))
                continue
            turns = _turns(fields, row, place, guessed)
            if session and not fields.keys() & {"messages", "questions"}:
                sessions.setdefault(session, []).append((at, turns))
                continue
            own = taken({"id": name}, fields, place, known)["id"]
            identifier = own or named_by("dialogue", *filter(None, [session]), *(str(one["question"]) for one in turns))
            if not made.put(identifier, checked(Dialogue, {"id": identifier, "turns": turns}, place), place):
                if own:
                    raise _stands_there(made, identifier, place)
                brought.left_out["dialogue that stands there twice"] += 1
    for session, timed in sessions.items():
        if None not in (at for at, _ in timed):
            timed.sort(key=lambda own: own[0] or 0)
        place = f"{path.name}, {session}"
        with passing_over(left_out, place):
            if not session:
                raise DatasetError(f"{place}messages of no dialogue; --column session=COLUMN says where it is named")
            messages = [message for _, part in timed for message in part]
            turns = _turns({"messages": messages}, {}, place, guessed)
            made.put(session, checked(Dialogue, {"id": session, "turns": turns}, place))
    brought.left_out += left_out.told
    if not made:
        raise DatasetError(f"{path.name}: holds no dialogues: {left_out.said or 'at least one is expected'}")
    brought.dialogues = made
    brought.notes += [*known.notes(), *guess_of(guessed)]
    if alone := sum(len(dialogue.turns) == 1 for dialogue in made):
        brought.notes.append(f"{alone} of {len(made)} dialogues have one turn: nothing can be measured of them")
    return brought


def _turns(
    fields: Mapping[str, Any], row: Mapping[str, Any], place: str, guessed: dict[str, dict[str, None]]
) -> list[dict[str, str | None]]:
    """The turns of a row, of its messages where it has any; guessed: as of `turns_of`. Raises DatasetError."""
    is_asked = "user_input" in fields and "messages" not in fields
    rows, _ = turns_in({n: own for n, own in fields.items() if n != "user_input" or is_asked}, place, guessed)
    rows = rows or ([dict(fields)] if is_asked and "session" in fields else [])
    if not rows:
        if "questions" in fields:
            why = "a list of at least one question is expected"
            raise DatasetError(f"{place}: questions = {cut(fields['questions'])}: {why}")
        raise DatasetError(
            f"{place}: messages, or questions, is missing; one is expected in every item; it has {cut_list(row)}"
        )
    said = (sample_in(own, place) for own in rows)
    return [
        {
            "question": _question(own.user_input, row, f"{place}, turn {n}"),
            "answer": text(own.reference or own.response),
        }
        for n, own in enumerate(said, 1)
    ]
