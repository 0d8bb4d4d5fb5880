"""The lines of a data set's files, as they are checked: one model a file, closed to fields that it does not know."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictStr, StringConstraints, ValidationError

from ragbench.old.core.expectations import expectation
from ragbench.old.data.files import DatasetError, cut, cut_list

_PRINTABLE = r"^[^\x00-\x1f\x7f]+$"
_NOT_BLANK = r"^[^\x00]*[^\s\x00][^\x00]*$"

Identifier = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=300, pattern=_PRINTABLE)]
Url = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=8192, pattern=_PRINTABLE)]
"""A page's address, as long as servers take one; it names a cluster, too."""
Text = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=1_000_000, pattern=_NOT_BLANK)]
Grade = Annotated[float, Field(gt=0, le=1000, allow_inf_nan=False)]
Relevance = dict[Identifier, Grade]
Pages = dict[Url, Grade]
Place = Annotated[int, Field(strict=True, ge=0)]
Rating = Annotated[float, Field(ge=0, le=100, allow_inf_nan=False)]
REAL = "real users"
"""What questions of a log name as their source."""
KNOWN_ITEM = "known_item"
"""The kind of questions that were drawn from passages' words: pages tell by it that nobody asked them."""
Draft = Literal["unreviewed", "reviewed"]
"""Of what a model wrote: whether a person has accepted it. What nobody has is marked wherever its numbers are."""


class Closed(BaseModel):
    """Frozen, and closed to fields that it does not know."""

    # keys alone are kept by the reader of JSON: texts hardly come again, and 16,384 of them are over a megabyte
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, cache_strings="keys")


class Record(Closed):
    """A line of a data set's file."""

    id: Identifier


def _is_unknown(value: object) -> bool:
    return value is None


def _is_empty(value: object) -> bool:
    return not value


class ChunkRecord(Record):
    """A passage of the knowledge base.

    document, start, end: which document it was cut from, and where, in characters of its text. A set without documents
    has the hash that it had before there were such fields.
    """

    text: Text
    url: Url | None = None
    title: StrictStr | None = None
    section: StrictStr | None = None
    document: Identifier | None = Field(default=None, exclude_if=_is_unknown)
    start: int | None = Field(default=None, ge=0, exclude_if=_is_unknown)
    end: int | None = Field(default=None, ge=0, exclude_if=_is_unknown)


class DocumentRecord(Record):
    """A document that passages were cut from: the digest of its bytes and of how it was cut, and how many they are."""

    digest: StrictStr
    title: StrictStr
    url: Url
    passages: int = Field(ge=1)


class QuestionRecord(Record):
    """A question with its labels; `relevant` maps chunk ids to grades, `relevant_urls` pages to grades.

    spans: of relevant chunks where in their text the answer stands, as pairs of start and end in characters from 0, the
    end not included; of a chunk without spans all of its text is labelled. references: all right answers where there
    are several, `reference` the first. nuggets: what a good answer says, each with its importance. irrelevant: chunks
    that were judged and found irrelevant; of all that neither names nobody knows. pooled: those that were to be judged,
    and that a sample left out. draft: of a question that a model wrote. graded_by: models that judged passages of it in
    people's place. A set without such fields has the hash that it had before there were any.
    """

    text: Text
    reference: StrictStr | None = None
    references: tuple[StrictStr, ...] = Field(default=(), exclude_if=_is_empty)
    relevant: Relevance = {}
    relevant_urls: Pages = {}
    spans: dict[Identifier, list[tuple[Place, Place]]] = Field(default={}, exclude_if=_is_empty)
    answerable: StrictBool | None = None
    kind: Identifier | None = None
    cluster: Url | None = None
    source: Identifier | None = None
    nuggets: dict[Text, Literal["vital", "okay"]] = Field(default={}, exclude_if=_is_empty)
    irrelevant: tuple[Identifier, ...] = Field(default=(), exclude_if=_is_empty)
    pooled: tuple[Identifier, ...] = Field(default=(), exclude_if=_is_empty)
    draft: Draft | None = Field(default=None, exclude_if=_is_unknown)
    graded_by: StrictStr | None = Field(default=None, exclude_if=_is_unknown)


class Turn(Closed):
    """One turn of a dialogue, with the answer that was expected."""

    question: Text
    answer: StrictStr | None = None
    relevant: Relevance = {}


class Dialogue(Record):
    """A dialogue: its turns in the order in which they were asked."""

    turns: tuple[Turn, ...] = Field(min_length=1)
    draft: Draft | None = Field(default=None, exclude_if=_is_unknown)


class Decision(Record):
    """An answer that should be shown to its user, or should not: the production judge's work.

    context: names of what the answer was written from, in rank order: chunks of the knowledge base, or passages of its
    own. passages: name → text of those, which nobody retrieves.
    """

    question: Text
    answer: StrictStr
    context: tuple[Identifier, ...] = ()
    show: StrictBool
    rationale: StrictStr | None = None
    passages: dict[Identifier, Text] = Field(default={}, exclude_if=_is_empty)


class PastQuestion(Record):
    """A question from production with the answer given, the page shown, and the user's score.

    stop_point: whether a dialogue ended with it. A set that says so nowhere has the hash that it had before.
    """

    question: Text
    answer: StrictStr | None = None
    url: Url | None = None
    score: Literal[1, 2, 3, 4, 5] | None = None
    user: Identifier | None = None
    asked_at: StrictStr | None = None
    stop_point: StrictBool = Field(default=False, exclude_if=_is_empty)


class RatedAnswer(Record):
    """An answer with the scores that people gave it; None where a person gave none.

    system: the model, or the system, that wrote it; its name tells the model family. A set that names none has the hash
    that it had before there was such a field.
    """

    question_id: Identifier
    answer: StrictStr
    context: tuple[Identifier, ...] = ()
    ratings: dict[Identifier, Rating | None]
    system: Identifier | None = Field(default=None, exclude_if=_is_unknown)


Row = TypeVar("Row", bound=BaseModel)


def checked(
    model: type[Row], item: Mapping[str, Any], place: str, called: Mapping[str, str] = MappingProxyType({})
) -> Row:
    """The row as `model` understands it. Raises DatasetError: place, field, value, and what was expected. called: what
    its file calls a field, where by another name."""
    try:
        return model.model_validate(item)
    except ValidationError as error:
        there = f"; it has {cut_list(item)}" if error.errors()[0]["type"] == "missing" else ""
        raise DatasetError(f"{place}: {fault(error, called=called)}{there}") from None


def fault(
    error: ValidationError, model: type[BaseModel] | None = None, called: Mapping[str, str] = MappingProxyType({})
) -> str:
    """The first fault of a row in one line: field, value, what was expected; the fields of a closed model, if given."""
    first = error.errors()[0]
    parts = [str(part) for part in first["loc"] if not str(part).startswith(("function-", "str", "int"))]
    field = ".".join([*(called.get(part, part) for part in parts[:1]), *parts[1:]])
    if first["type"] == "missing":
        return f"{field} is missing; it is expected in every item"
    if first["type"] == "extra_forbidden" and model is not None:
        return f"there is no field {field!r}; legal: {', '.join(model.model_fields)}"
    message = expectation(first)
    return f"{field} = {cut(first['input'])}: {message}" if field else message
