"""Where a table of answers comes from: a file of a user's, a data set's logged or rated ones, a stored run."""

from __future__ import annotations

import hashlib
import json
import math
import statistics
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from ragbench.old.core import settings as configuration
from ragbench.old.core.facts import Facts
from ragbench.old.core.measurement import Measurement
from ragbench.old.core.settings import Settings, urls
from ragbench.old.core.types import Chunk, Question, Sample
from ragbench.old.data import Dataset, in_memory, places
from ragbench.old.data.cells import Forms
from ragbench.old.data.samples import read_samples
from ragbench.old.data.subsets import drawn
from ragbench.old.llm import planning
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.tiers.basics.requests import MOST_RETRIEVED
from ragbench.old.tiers.basics.session import dataset_of
from ragbench.old.tiers.scoring.ledger import SYSTEM, system_name

if TYPE_CHECKING:
    from ragbench.old.systems import System

FROM_RUN = "run:"


@dataclass(frozen=True)
class AnswerTable:
    """Samples to be scored, and what a page says of where they come from.

    samples: may be read anew each time that they are asked for (`ragbench.old.tiers.scoring.ledger`). facts: `dataset`,
    `data_hash`, and what else is known. people: the mean of the scores that people gave, by system and sample, where
    the data set has them.
    """

    samples: Collection[Sample]
    facts: Facts
    people: Mapping[tuple[str, str], float] = field(default_factory=dict)

    @property
    def systems(self) -> tuple[str, ...]:
        """Their names, in order of appearance."""
        return tuple(dict.fromkeys(system_name(sample) for sample in self.samples))

    def of(self, systems: Sequence[str]) -> AnswerTable:
        """Only the answers of these systems and those that name none; all where no system is given.

        Raises BenchError where nothing is left.
        """
        kept = tuple(
            sample for sample in self.samples if not systems or sample.system is None or sample.system in systems
        )
        if not kept:
            raise BenchError(f"systems = {', '.join(systems)!r}: the answers are of {', '.join(self.systems)}")
        return replace(self, samples=kept)

    def drawn(self, limit: int) -> AnswerTable:
        """Only the answers to so many questions, of every system the same (`ragbench.old.data.subsets`)."""
        kept, taken = sample_of(tuple(self.samples), limit)
        planning.stand_for(taken)
        ids = {sample.id for sample in kept}
        people = {place: given for place, given in self.people.items() if place[1] in ids}
        return AnswerTable(kept, {**self.facts, **({"part_of_all": taken} if taken else {})}, people)


def sample_of(samples: Sequence[Sample], limit: int) -> tuple[tuple[Sample, ...], dict[str, Any] | None]:
    """The answers to so many questions, in proportion by language, and what is said of that; None where it is all."""
    kept = tuple(drawn(samples, limit, lambda sample: sample.id, lambda sample: sample.language))
    n, whole = (len({sample.id for sample in rows}) for rows in (kept, samples))
    return kept, {"n": n, "of": whole, "table": "questions"} if n < whole else None


def find_answers(
    answers: str, dataset: str, settings: Settings, language: str = "", asking: Sequence[str] = ()
) -> AnswerTable:
    """The answers named: a file or its URL, `run:FOLDER` or `run:FOLDER/NOTEBOOK`; if empty, those of the systems that
    are `asking`, else those that the data set has: logged ones, else rated ones. References are nobody's answers.

    language: of the page, see `ragbench.old.tiers.basics.session.dataset_of`.

    Raises BenchError or DatasetError, each with what is legal.
    """
    project = configuration.project_folder()
    if settings.in_memory[1] is not None and answers == in_memory.NAME:
        return of_samples(settings.in_memory[1], in_memory.NAME)
    if answers.startswith(FROM_RUN):
        return _of_run(answers.removeprefix(FROM_RUN), project / settings.reports_folder)
    if urls.is_url(answers):
        return _of_file(places.file(answers), answers)
    if answers:
        path = Path(answers).expanduser()
        path = path if path.is_absolute() or path.is_file() else project / path
        if not path.is_file():
            raise BenchError(f"answers = {answers!r}: there is no such file; give a table of answers, or {FROM_RUN}RUN")
        return _of_file(path, path.name)
    data = dataset_of(dataset or settings.dataset, settings, language)
    if asked := list(asking) or [name for name, system in settings.systems.items() if system.is_given]:
        return _of_systems(data, asked, settings)
    return _of_log(data, logged_answers(data.name, settings)) or _of_dataset(data)


def logged_answers(dataset: str, settings: Settings) -> list[Path]:
    """The files with what systems are logged to have answered, beside the tables of a data set."""
    name = dataset or settings.dataset
    folder = places.remote_data(name)[0] if urls.is_url(name) else places.own_data() / name.partition(":")[0]
    return sorted(folder.glob("answers.*.jsonl"))


def _of_file(path: Path, name: str) -> AnswerTable:
    forms = Forms()
    return of_samples(read_samples(path, forms), name, forms.left_out.told)


def of_samples(samples: Collection[Sample], name: str, left_out: Mapping[str, int] | None = None) -> AnswerTable:
    """Samples that were read already, or are read when they are asked for; left_out: what could not be, by reason.

    Raises BenchError for none.
    """
    if not samples:
        raise BenchError(f"{name} holds no answers")
    more: Facts = {"left_out": dict(left_out)} if left_out else {}
    return AnswerTable(samples, {"dataset": name, "data_hash": digest(samples), **more})


def digest(samples: Iterable[Sample]) -> str:
    """The SHA-256 of all that the samples hold."""
    made = hashlib.sha256()
    for sample in samples:
        made.update(json.dumps(_fields(sample), ensure_ascii=False, sort_keys=True).encode() + b"\n")
    return made.hexdigest()


def _fields(sample: Sample) -> dict[str, Any]:
    def texts(chunks: Sequence[Chunk] | None) -> list[list[str]] | None:
        return None if chunks is None else [[chunk.id, chunk.text] for chunk in chunks]

    plain = ("id", "user_input", "response", "reference", "language", "cluster", "system")
    return {
        **{name: getattr(sample, name) for name in plain},
        "contexts": texts(sample.contexts),
        "reference_contexts": texts(sample.reference_contexts),
        "rubric": None if sample.rubric is None else sorted(sample.rubric.items()),
        **({"references": list(sample.references)} if sample.references else {}),
        **({"nuggets": dict(sample.nuggets)} if sample.nuggets is not None else {}),
        **{
            name: json.loads(json.dumps(value, default=asdict))
            for name in ("trajectory", "reference_tool_calls", "reference_topics", "cost")
            if (value := getattr(sample, name)) is not None
        },
        **({"citations": [asdict(one) for one in sample.citations]} if sample.citations is not None else {}),
    }


def _of_systems(data: Dataset, systems: Sequence[str], settings: Settings) -> AnswerTable:
    """What systems that a caller has given answer to the questions of a data set, each asked once.

    Raises BenchError where none of them answers.
    """
    from ragbench.old.store import Store
    from ragbench.old.systems import make

    with Store.open(settings) as store:
        table = _answered(data, [make(name, settings, store, data) for name in systems], named=True)
    if table is None:
        raise BenchError(f"systems: {', '.join(systems)} retrieve, and answer nothing: there is nothing to score")
    return replace(table, facts={**table.facts, "answers": "answers of the systems"})


def _of_log(data: Dataset, files: Sequence[Path]) -> AnswerTable | None:
    """What systems are logged to have answered, in files beside the tables of the data set, with what people thought
    of these very answers; None where none answered."""
    from ragbench.old.systems.logged import LoggedSystem

    start = data.name.rpartition("/")[2]
    named = {f"{start}-{path.name.removeprefix('answers.').removesuffix('.jsonl')}": path for path in files}
    return _answered(data, [LoggedSystem(name, path, data) for name, path in named.items()])


def _answered(data: Dataset, systems: Sequence[System], *, named: bool = False) -> AnswerTable | None:
    """What systems answer by themselves; None where none does. Passages whose text nobody knows are left out.

    named: whether the answers of one system alone name it, too.
    """
    chunks = {chunk.id: chunk for chunk in data.chunks}
    rated = {(each.question_id, each.answer): each.ratings.values() for each in data.ratings}
    samples, people = [], {}
    for system in systems:
        name, retrieval = system.name, system.retrieve(data.questions, MOST_RETRIEVED)
        for question, hits in zip(data.questions, retrieval.hits, strict=True):
            answer = next((reply.answer for reply in retrieval.answers.get(question.id, ())), None)
            if answer is None:
                continue
            contexts = tuple(hit.chunk for hit in hits if hit.chunk.text) or None
            sample = replace(_asked(question, chunks), response=answer, contexts=contexts)
            samples.append(replace(sample, system=name) if named or len(systems) > 1 else sample)
            given = [score for score in rated.get((question.id, answer), ()) if score is not None]
            if given:
                people[system_name(samples[-1]), question.id] = statistics.fmean(given)
    if not samples:
        return None
    facts: Facts = {"dataset_title": data.title, "licence": data.licence, "answers": "logged answers"}
    return AnswerTable(tuple(samples), {"dataset": data.label, "data_hash": digest(samples), **facts}, people)


def _of_dataset(data: Dataset) -> AnswerTable:
    """The rated answers of a data set with what people thought of them. Raises BenchError where there are none."""
    if not data.ratings:
        raise BenchError(f'{data.label} has no logged or rated answers; name a file: answers = "answers.jsonl"')
    questions = {question.id: question for question in data.questions}
    chunks = {chunk.id: chunk for chunk in data.chunks}
    rated = tuple(
        replace(
            _asked(questions[each.question_id], chunks),
            id=each.id,
            response=each.answer,
            contexts=tuple(chunks[name] for name in each.context),
        )
        for each in data.ratings
    )
    given = {each.id: [rating for rating in each.ratings.values() if rating is not None] for each in data.ratings}
    people = {(SYSTEM, name): statistics.fmean(ratings) if ratings else math.nan for name, ratings in given.items()}
    facts: Facts = {"dataset_title": data.title, "licence": data.licence, "answers": "rated answers"}
    return AnswerTable(rated, {"dataset": data.label, "data_hash": data.content_hash, **facts}, people)


def _asked(question: Question, chunks: Mapping[str, Chunk]) -> Sample:
    relevant = sorted(question.relevant, key=lambda name: (-question.relevant[name], name))
    return Sample(
        question.id,
        user_input=question.text,
        reference=question.reference,
        reference_contexts=tuple(chunks[name] for name in relevant if name in chunks) or None,
        language=question.language,
        cluster=question.cluster or question.id,
        references=question.references,
        nuggets=question.nuggets or None,
    )


def _of_run(name: str, reports: Path) -> AnswerTable:
    """Answers that a run has kept: of the one notebook that has some, or of the one named behind the folder."""
    place, notebook = _folder(name, reports), ""
    if place is None and "/" in name:
        folder, notebook = name.rsplit("/", 1)
        place = _folder(folder, reports)
    if place is None:
        raise BenchError(f"{FROM_RUN}{name}: there is no such run; name a folder of {reports.name}/, such as latest")
    kept = {path.parent.name: path.parent for path in sorted(place.glob("parts/*/extra-answers.parquet"))}
    if notebook and notebook not in kept:
        raise BenchError(f"{FROM_RUN}{name}: answers are kept by {', '.join(kept) or 'no notebook'} of this run")
    if not notebook and len(kept) != 1:
        said = f"several notebooks kept answers, name one of them: {', '.join(kept)}" if kept else "it kept no answers"
        raise BenchError(f"{FROM_RUN}{name}: {said}")
    chosen = notebook or next(iter(kept))
    measurement = Measurement.load(kept[chosen])
    if "listed" in measurement.questions:
        listed, there = int(measurement.questions["listed"].notna().sum()), len(measurement.questions)
        raise BenchError(
            f"{FROM_RUN}{name}: {chosen} keeps the answers to {listed:,} of {there:,} questions, those that its page "
            "lists; name the table of answers itself"
        )
    kept_facts = {key: measurement.facts.get(key) for key in ("dataset", "data_hash", "licence")}
    facts = cast(Facts, {key: value for key, value in kept_facts.items() if value})
    return AnswerTable(tuple(_samples(measurement)), {**facts, "answers": chosen})


def _folder(name: str, reports: Path) -> Path | None:
    return next((path for path in (Path(name), reports / name) if (path / "parts").is_dir()), None)


def _samples(kept: Measurement) -> list[Sample]:
    """Every answer of each system to each question, repeats one after the other, with the contexts that it was written
    from. Where a run does not tell those from all that was retrieved, they are all that was retrieved.
    """
    questions: Iterable[Mapping[Any, Any]] = kept.questions.to_dict("records")
    asked = {str(row["sample"]): row for row in questions}
    passages: Iterable[Mapping[Any, Any]] = kept.retrieved.sort_values(
        ["system", "sample", "rank"], kind="stable"
    ).to_dict("records")
    contexts: dict[tuple[str, str], list[Chunk]] = {}
    for row in passages:
        contexts.setdefault((str(row["system"]), str(row["sample"])), []).append(
            Chunk(str(row["chunk"]), str(row["text"]))
        )
    answers: Iterable[Mapping[Any, Any]] = kept.extra["answers"].to_dict("records")
    samples = []
    for row in answers:
        place = (str(row["system"]), str(row["sample"]))
        question = asked.get(place[1], {})
        samples.append(
            Sample(
                place[1],
                user_input=_text(question.get("text")),
                response=_text(row["response"]),
                reference=_text(question.get("reference")),
                references=tuple(map(str, question.get("references", ()))),
                contexts=_written_from(contexts.get(place), row.get("contexts")),
                language=_text(question.get("language")),
                cluster=_text(question.get("cluster")),
                system=place[0],
            )
        )
    return samples


def _written_from(retrieved: Sequence[Chunk] | None, names: Any) -> tuple[Chunk, ...] | None:
    """The retrieved chunks of these names, in the order of the names; all where no names were kept."""
    if retrieved is None:
        return None
    if names is None or isinstance(names, float):
        return tuple(retrieved)
    known = {chunk.id: chunk for chunk in retrieved}
    return tuple(known[str(name)] for name in names if str(name) in known)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None
