"""A data set, looked over before anything is measured on it: what is odd, in how many texts, what it does."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypedDict

import numpy as np
from pydantic import Field

from ragbench.old.core import settings as configuration
from ragbench.old.core.annexes import offered, taken
from ragbench.old.core.measurement import Evidence, columns
from ragbench.old.core.segmentation import plain, stands_in
from ragbench.old.core.settings import Settings
from ragbench.old.core.types import Array, Chunk, Question
from ragbench.old.data import Dataset
from ragbench.old.data.doubts import Plain, copies_of, doubts, labelled
from ragbench.old.data.records import ChunkRecord, QuestionRecord
from ragbench.old.tiers.basics import requests
from ragbench.old.tiers.basics.requests import Request, tier
from ragbench.old.tiers.basics.session import Need, Needed, commit, dataset_of, versions
from ragbench.old.tiers.data import persons
from ragbench.old.tiers.data.copies import groups
from ragbench.old.tiers.data.language_detection import detected_languages
from ragbench.old.tiers.data.persons import Masker

if TYPE_CHECKING:
    import pandas as pd


class OddityRow(TypedDict):
    """How many texts of a table are odd in a way, of how many."""

    kind: str
    table: str
    found: int
    of: int | None


class OddTextRow(TypedDict):
    """An odd text, and the other that makes it so."""

    kind: str
    table: str
    id: str
    text: str
    other: str
    other_text: str


class LengthRow(TypedDict):
    """How many texts of a table have so many words."""

    table: str
    words: int
    texts: int


class LanguageRow(TypedDict):
    """How many texts of a table are in a language; empty: too short or unsure to tell."""

    table: str
    language: str
    texts: int


class DatasetRequest(Request):
    """What of a data set is looked at, and how its texts are shown."""

    dataset: requests.Dataset = ""
    sampled: int = Field(
        300,
        description="how many texts of a table are searched for names, and how many questions BM25 searches for",
        ge=1,
    )
    listed: int = Field(100, description="texts of each finding that are kept; the page shows the first", ge=1)
    mask: bool = Field(True, description="replace people's names, e-mail addresses, telephones and long numbers")
    seed: requests.Seed = Field(0, description="of the samples")
    language: requests.Language = "en"
    notebook: str = "dataset"

    def needed(self, settings: Settings) -> tuple[Needed, ...]:
        """Any texts."""
        return (Needed.of(Need.PASSAGES, Need.QUESTIONS, Need.HISTORY, Need.DIALOGUES),)


@tier(DatasetRequest)
def dataset(request: DatasetRequest) -> Evidence:
    """Look a data set over; nothing is retrieved, no model is asked.

    The tables are `oddities` (kind, table, texts found, of how many; see below),
    `odd_texts`, `lengths` (words) and `languages`. Raises DatasetError for a data set that is not there.
    """
    data = dataset_of(request.dataset or configuration.load().dataset, configuration.load(), request.language)
    shown = _shown(_masker(data) if request.mask else None)
    examined = examine(data, data.language, listed=request.listed, sampled=request.sampled, seed=request.seed)
    return Evidence(
        notebook=request.notebook,
        facts={
            "dataset": data.label,
            "dataset_title": data.title,
            "licence": data.licence,
            "data_hash": data.hash_with("dialogues", "decisions"),
            "n_questions": len(data.questions),
            "n_chunks": len(data.chunks),
            "left_out": dict(data.left_out),
            "describes": "dataset",
            "data_language": data.language,
            "consequences": [
                {"kind": oddity.kind, "table": oddity.table, **oddity.numbers}
                for oddity in examined.oddities
                if oddity.numbers
            ],
            "sampled": request.sampled,
            "told": MOST_TOLD,
            "masked": request.mask,
            "seed": request.seed,
            "systems": [],
            "versions": versions(),
            "commit": commit(),
        },
        extra={**_frames(examined, shown), **_further(data, shown)},
    )


def _masker(data: Dataset) -> Masker:
    users = dict.fromkeys(past.user for past in data.history if past.user is not None)
    return Masker(users, names=persons.finds_names())


def _shown(masker: Masker | None) -> Callable[[str], str]:
    return lambda text: text if masker is None else masker.text(text) or ""


def _further(data: Dataset, shown: Callable[[str], str]) -> Mapping[str, pd.DataFrame]:
    """The tables of annexes."""
    tables: dict[str, pd.DataFrame] = {}
    for name in offered("examined"):
        tables |= taken("examined", name).tables(data, shown)
    return tables


def _frames(examined: Examination, shown: Callable[[str], str]) -> Mapping[str, pd.DataFrame]:
    import pandas as pd

    def texts() -> Iterable[tuple[Any, ...]]:
        for oddity in examined.oddities:
            for each in oddity.examples:
                yield oddity.kind, oddity.table, each.id, shown(each.text), each.other, shown(each.other_text)

    rows = [(oddity.kind, oddity.table, oddity.found, oddity.of) for oddity in examined.oddities]
    return {
        "oddities": pd.DataFrame(rows, columns=columns(OddityRow)).astype({"found": "Int64", "of": "Int64"}),
        "odd_texts": pd.DataFrame(list(texts()), columns=columns(OddTextRow)),
        "lengths": pd.DataFrame(list(examined.lengths), columns=columns(LengthRow)),
        "languages": pd.DataFrame(list(examined.languages), columns=columns(LanguageRow)),
    }


FEWEST_WORDS = 2
"""Of a reference that stands in its question: a single word, or a number, stands there by chance."""
SHORT, LONG = 2, 350
"""Words of a question that is a search by keywords, and of a passage whose end a model of 512 tokens does not read."""
READ = 20_000
"""Characters of a text in which people are looked for."""
MOST_TOLD = 20_000
"""Texts of a table whose language is told: of more the share would be no surer than to a third of a per cent."""
_CYRILLIC = re.compile(r"[А-ЯЁ][а-яё]")


class Looked(Protocol):
    """What is looked at: a data set, or what a file brought."""

    @property
    def chunks(self) -> Sequence[Any]: ...
    @property
    def questions(self) -> Sequence[Any]: ...
    @property
    def dialogues(self) -> Sequence[Any]: ...
    @property
    def history(self) -> Sequence[Any]: ...


class Example(NamedTuple):
    """A text that is odd, by its name; and the text that it is so with, if there is one."""

    id: str
    text: str
    other: str = ""
    other_text: str = ""


@dataclass(frozen=True)
class Oddity:
    """How many texts of a table are odd in one way, and the first of them.

    kind: see `examine`. table: questions, references, passages, dialogues, log, logged_answers. found: of `of` texts
    that were looked at; `of` is None where the kind could not be looked for. numbers: what that does to the numbers of
    pages, as far as it was measured; see where they are made.
    """

    kind: str
    table: str
    found: int
    of: int | None
    examples: tuple[Example, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Examination:
    """All that was looked for, what was not found too.

    lengths: table, words, texts that have so many. languages: table, ISO 639-1 code ("" for untold), texts.
    """

    oddities: tuple[Oddity, ...]
    lengths: tuple[tuple[str, int, int], ...]
    languages: tuple[tuple[str, str, int], ...]

    @property
    def found(self) -> list[Oddity]:
        """What is there to be told."""
        return [oddity for oddity in self.oddities if oddity.found]


def examine(data: Looked, language: str, *, listed: int = 100, sampled: int = 300, seed: int = 0) -> Examination:
    """What is odd in a data set. Kinds:

    question_is_passage, question_in_passage, passage_copied, labels_nowhere: see `ragbench.old.data.doubts_of`; leaked
    is the two first together. answer_in_question: the words of a reference, FEWEST_WORDS at least, stand in its
    question. alike: questions, or passages, that are nearly the same as an earlier one. form: questions of one form.
    other_language: texts of another language than the data set's. short, long: questions of at most SHORT words,
    passages of more than LONG. mail, telephone, name: texts that hold one. greeting, noise: logged questions that ask
    nothing.

    listed: examples of each. sampled: texts of a table that names are looked for in, and questions of which it is
    looked what BM25 finds; they, and the MOST_TOLD texts of a table whose language is told, are drawn by `seed`.
    """
    drawing = _Drawing(sampled, np.random.default_rng(seed))
    tables = _tables(data)
    some = _Drawing(MOST_TOLD, np.random.default_rng(seed))
    drawn = {name: some(rows) for name, rows in tables.items()}
    told = {
        name: list(zip(rows, detected_languages([text for _, text in rows], language), strict=True))
        for name, rows in drawn.items()
    }
    made = [
        *_leaks(data, drawing),
        *_alike(data),
        *_forms(data),
        *_other(told, language),
        *_sizes(tables),
        *_people(tables, language, drawing),
        *_greetings(data),
    ]
    return Examination(
        tuple(Oddity(o.kind, o.table, o.found, o.of, o.examples[:listed], o.numbers) for o in made if o.of != 0),
        tuple(
            (name, words, count)
            for name, rows in tables.items()
            for words, count in sorted(Counter(len(text.split()) for _, text in rows).items())
        ),
        tuple(
            (name, code, count)
            for name, rows in told.items()
            for code, count in sorted(
                Counter(code for _, code in rows).items(), key=lambda item: (not item[0], -item[1], item[0])
            )
        ),
    )


@dataclass
class _Drawing:
    """At most so many of anything, in their order."""

    most: int
    random: np.random.Generator

    def __call__(self, some: Sequence[Any]) -> list[Any]:
        if len(some) <= self.most:
            return list(some)
        return [some[place] for place in sorted(self.random.choice(len(some), self.most, replace=False))]


def _tables(data: Looked) -> dict[str, list[tuple[str, str]]]:
    """Every text with the name of what it belongs to, by table; without those that hold none."""
    by_table: dict[str, list[tuple[str, str | None]]] = {
        "questions": [(question.id, question.text) for question in data.questions],
        "references": [(question.id, question.reference) for question in data.questions],
        "passages": [(chunk.id, chunk.text) for chunk in data.chunks],
        "dialogues": [
            (dialogue.id, text)
            for dialogue in data.dialogues
            for t in dialogue.turns
            for text in (t.question, t.answer)
        ],
        "log": [(past.id, past.question) for past in data.history],
        "logged_answers": [(past.id, past.answer) for past in data.history],
    }
    told = {table: [(name, text) for name, text in rows if text and text.strip()] for table, rows in by_table.items()}
    return {table: rows for table, rows in told.items() if rows}


def _oddity(
    kind: str, table: str, of: int | None, examples: Iterable[Example], numbers: Mapping[str, float] | None = None
) -> Oddity:
    every = tuple(examples)
    return Oddity(kind, table, len({example.id for example in every}), of, every, numbers or {})


def _leaks(data: Looked, drawing: _Drawing) -> Iterator[Oddity]:
    asked, texts = list(labelled(data.questions)), {question.id: question.text for question in data.questions}
    known = Plain(data.chunks)
    doubted = [
        (doubt.kind, Example(doubt.question, texts[doubt.question], doubt.other, doubt.text))
        for doubt in doubts(data.chunks, data.questions, known)
    ]
    of = {kind: [example for each, example in doubted if each == kind] for kind in KINDS}
    leaked = {example.id for kind in LEAKED for example in of[kind]}
    numbers = {
        "leaked": searched(
            data.chunks, [q for q in asked if q.id in leaked], [q for q in asked if q.id not in leaked], drawing, known
        ),
        "passage_copied": copied(known, asked),
        "labels_nowhere": reachable(data.chunks, asked),
    }
    for kind in KINDS:
        yield _oddity(kind, "questions", len(asked), of[kind], numbers.get(kind) if of[kind] else None)
        if leaked and kind == LEAKED[-1]:
            yield Oddity("leaked", "questions", len(leaked), len(asked), (), numbers["leaked"])
    referred = [question for question in data.questions if question.reference]
    held = (question for question in referred if _holds(question.text, question.reference))
    yield _oddity(
        "answer_in_question", "questions", len(referred), (Example(q.id, q.text, "", q.reference) for q in held)
    )


def _holds(question: str, reference: str) -> bool:
    words = plain(reference)
    return len(words.split()) >= FEWEST_WORDS and stands_in(words, plain(question))


def _alike(data: Looked) -> Iterator[Oddity]:
    for table, rows in (("questions", data.questions), ("passages", data.chunks)):
        first = groups([row.text for row in rows], by_digits=table == "questions")
        again = [place for place, leader in enumerate(first) if leader != place]
        numbers = {"different": float(len(rows) - len(again))}
        if again and table == "questions":
            numbers |= contradicting(rows, first)
        examples = (Example(rows[p].id, rows[p].text, rows[first[p]].id, rows[first[p]].text) for p in again)
        yield _oddity("alike", table, len(rows), examples, numbers)


def _forms(data: Looked) -> Iterator[Oddity]:
    rows = data.questions
    shared = forms([question.text for question in rows])
    examples = [Example(rows[place].id, rows[place].text, "", form.text) for form in shared for place in form.places]
    numbers = {"forms": len(shared), "largest": len(shared[0].places)} if shared else {}
    yield _oddity("form", "questions", len(rows), examples, numbers)


def _other(told: Mapping[str, Sequence[tuple[tuple[str, str], str]]], expected: str) -> Iterator[Oddity]:
    for name in ("questions", "passages", "log"):
        sure = [(row, code) for row, code in told.get(name, ()) if code]
        odd = [Example(*row, "", code) for row, code in sure if code != expected]
        yield _oddity("other_language", name, len(sure), odd)


def _sizes(tables: Mapping[str, Sequence[tuple[str, str]]]) -> Iterator[Oddity]:
    asked, passages = tables.get("questions", ()), tables.get("passages", ())
    yield _oddity("short", "questions", len(asked), (Example(*r) for r in asked if len(plain(r[1]).split()) <= SHORT))
    yield _oddity("long", "passages", len(passages), (Example(*r) for r in passages if len(r[1].split()) > LONG))


def _people(tables: Mapping[str, Sequence[tuple[str, str]]], language: str, drawing: _Drawing) -> Iterator[Oddity]:
    for name, rows in tables.items():
        marked = [(row, {place.kind for place in persons.places(row[1][:READ], language)}) for row in rows]
        for kind in ("mail", "telephone"):
            yield _oddity(kind, name, len(rows), (Example(*row) for row, kinds in marked if kind in kinds))
        written = [row for row in rows if _CYRILLIC.search(row[1])]
        if not written or not persons.finds_names():
            yield Oddity("name", name, 0, None, (), {"russian": float(bool(written))})
            continue
        some = drawing(rows)
        named = persons.names(text[:READ] for _, text in some)
        yield _oddity(
            "name",
            name,
            len(some),
            (Example(*r) for r, there in zip(some, named, strict=True) if any(mention.whole for mention in there)),
        )


def _greetings(data: Looked) -> Iterator[Oddity]:
    said = [(past, pleasantry(past.question)) for past in data.history]
    for kind in ("greeting", "noise"):
        own = [past for past, what in said if what == kind]
        paged = {"with_page": float(sum(past.url is not None for past in own))}
        yield _oddity(kind, "log", len(said), (Example(past.id, past.question) for past in own), paged)


LEAKED = ("question_is_passage", "question_in_passage")
KINDS = (*LEAKED, "passage_copied", "labels_nowhere")


def searched(
    chunks: Sequence[Any],
    leaked: Sequence[Any],
    others: Sequence[Any],
    drawing: Callable[[Sequence[Any]], list[Any]],
    known: Plain,
) -> Mapping[str, float]:
    """How many of the questions that leak, and of the others, find a relevant passage first by BM25; of how many each.

    Empty where none leaks.
    """
    if not leaked:
        return {}
    leaking, other = drawing(leaked), drawing(others)
    first = found_first(chunks, [*leaking, *other], known)
    return {
        "leaked": len(leaking),
        "leaked_first": sum(first[: len(leaking)]),
        "others": len(other),
        "others_first": sum(first[len(leaking) :]),
    }


def reachable(chunks: Sequence[Any], asked: Sequence[Any]) -> Mapping[str, float]:
    """labels: of all questions. lost: questions none of whose labels is in the base. recall: the highest mean recall
    that is left, over all depths: the mean share of a question's labels that are in the base."""
    there = {chunk.id for chunk in chunks} | {chunk.url for chunk in chunks}
    shares = [np.mean([name in there for name in (*question.relevant, *question.relevant_urls)]) for question in asked]
    labels = sum(len(question.relevant) + len(question.relevant_urls) for question in asked)
    return {
        "labels": labels,
        "lost": sum(bool(share == 0) for share in shares),
        "recall": float(np.mean(shares)) if shares else float("nan"),
    }


def copied(known: Plain, asked: Sequence[Any]) -> Mapping[str, float]:
    """hit: the highest mean hit rate at 1 of a search that cannot tell equal texts apart, and puts one of them first by
    chance: of each question's best text the share of its copies that is marked. n: questions with such labels."""
    copies, best = copies_of(known, asked), []
    for question in asked:
        marked = Counter(known[name] for name in question.relevant if name in known.texts)
        if marked:
            best.append(max(count / copies[text] for text, count in marked.items()))
    return {"hit": float(np.mean(best)) if best else float("nan"), "n": len(best)}


def contradicting(questions: Sequence[Any], first: Sequence[int]) -> Mapping[str, float]:
    """contradicting: questions of a group that are alike and share no label. hit: the highest hit rate at 1 of all
    labelled ones that one list for each group leaves. first: for each question the place of the first of its group."""
    members: dict[int, list[Any]] = defaultdict(list)
    for question, place in zip(questions, first, strict=True):
        if question.relevant or question.relevant_urls:
            members[place].append({*question.relevant, *question.relevant_urls})
    most = [max(Counter(name for labels in group for name in labels).values()) for group in members.values()]
    apart = [len(group) for group in members.values() if len(group) > 1 and not set.intersection(*group)]
    asked = sum(map(len, members.values()))
    return {"contradicting": sum(apart), "hit": sum(most) / asked if asked else float("nan")}


def by_words(texts: Sequence[str]) -> Callable[[str], Array]:
    """What gives the BM25 scores of all texts for a question, 0 where they share no word. texts: plain ones."""
    import bm25s

    from ragbench.old.systems.parts.retrievers import indexed

    index = bm25s.BM25()
    known = indexed(index, (text.split() for text in texts))

    def score(question: str) -> Array:
        words = [known[word] for word in plain(question).split() if word in known]
        return np.asarray(index.get_scores_from_ids(words)) if words else np.zeros(len(texts))

    return score


def found_first(
    chunks: Sequence[Chunk | ChunkRecord], questions: Sequence[Question | QuestionRecord], known: Plain | None = None
) -> list[bool]:
    """For each question whether the passage that BM25 puts first is relevant to it, or on a page that is.

    Words are taken as they are written, unstemmed; of passages that score alike the first of the base stands first.
    Robertson & Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond".
    """
    if not chunks or not questions:
        return [False] * len(questions)
    known = Plain(chunks) if known is None else known
    score, flags = by_words([known[chunk.id] for chunk in chunks]), []
    for question in questions:
        scores = score(question.text)
        if not scores.max() > 0:
            flags.append(False)
            continue
        first = chunks[int(scores.argmax())]
        flags.append(first.id in question.relevant or (first.url is not None and first.url in question.relevant_urls))
    return flags


_SAID = """
hello hi hey there good morning afternoon evening day greetings bye goodbye thanks thank you thx very much
a lot please ok okay cool great dear team sir madam
привет приветствую приветик здравствуй здравствуйте здрасте здрасьте добрый доброе доброго день дня утро утра
вечер вечера время времени суток всем салют хай пока свидания до спасибо спс благодарю большое вам вас тебе
огромное пожалуйста ок окей хорошо понятно понял поняла ясно уважаемые коллеги
"""
_TRIED = "test testing start menu тест проверка старт меню asdf qwerty йцукен фыва"
GREETINGS, TRIALS = frozenset(_SAID.split()), frozenset(_TRIED.split())
LONGEST = 6
"""Words of a greeting; more of them ask something."""
_REPEATED = re.compile(r"(.)\1{3,}")


def pleasantry(text: str) -> str:
    """`greeting` for greetings and thanks alone, `noise` for what has no word to search by, else "".

    Noise: no letter and no digit, or one alone, one again and again, a bot's command, or a trial of the line.
    """
    words = plain(text).split()
    if words and len(words) <= LONGEST and all(word in GREETINGS for word in words):
        return "greeting"
    if len("".join(words)) < 2 or (text.strip().startswith("/") and len(words) == 1):
        return "noise"
    mashed = all(word in TRIALS or (_REPEATED.search(word) is not None and not word.isdigit()) for word in words)
    return "noise" if mashed else ""


GAP = "…"
FEWEST_QUESTIONS = 5  # fewer have a beginning in common by chance
SHARE_OF_QUESTIONS = 0.05  # below, a template matters to no mean
FEWEST_WORDS_OF_A_FORM = 3  # "What is …" is how people ask, not a template
SHARE_OF_WORDS = 0.6  # more of it said than filled in
OFTEN = 4
"""A word that fewer questions have is what a template was filled with."""


class Form(NamedTuple):
    """A form, its gaps as GAP, and the places of the questions that have it."""

    text: str
    places: tuple[int, ...]


def forms(texts: Sequence[str]) -> list[Form]:
    """The forms that many questions share, largest first.

    The words that fewer than OFTEN of the different questions have are gaps. A form counts where at least
    FEWEST_QUESTIONS different ones, and SHARE_OF_QUESTIONS of all, have it, where it has FEWEST_WORDS_OF_A_FORM words
    besides its gaps, and these are at least SHARE_OF_WORDS of a question's words: what people ask has openings in
    common, a template almost all.
    """
    split = [plain(text).split() for text in texts]
    different = {tuple(words) for words in split}
    spread = Counter(word for words in different for word in set(words))
    members: dict[str, list[int]] = defaultdict(list)
    for place, words in enumerate(split):
        fixed = [word if spread[word] >= OFTEN and not word.isdigit() else GAP for word in words]
        kept = sum(word != GAP for word in fixed)
        if kept >= FEWEST_WORDS_OF_A_FORM and SHARE_OF_WORDS * len(words) <= kept < len(words):
            merged = [word for at, word in enumerate(fixed) if word != GAP or at == 0 or fixed[at - 1] != GAP]
            members[" ".join(merged)].append(place)
    least = max(FEWEST_QUESTIONS, SHARE_OF_QUESTIONS * len(different))
    shared = [
        Form(text, tuple(places))
        for text, places in members.items()
        if len({tuple(split[place]) for place in places}) >= least
    ]
    return sorted(shared, key=lambda form: (-len(form.places), form.text))
