"""Questions that are typed now: every system retrieves, and its generator answers.

What takes long to make ready is kept from one question to the next as long as nothing of it changes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ragbench.old import embed
from ragbench.old.core import settings as configuration
from ragbench.old.core import stand_ins
from ragbench.old.core.facts import Facts
from ragbench.old.core.settings import OWN_TABLES, EmbedderSettings, Settings, urls
from ragbench.old.core.trust import UntrustedError
from ragbench.old.core.types import Embedder, EmbeddingError, Question, Status
from ragbench.old.data import Dataset, places
from ragbench.old.extras.live.responses import Response, Responses
from ragbench.old.systems import Generation, Retrieval, Task, make, within
from ragbench.old.systems.callables import told
from ragbench.old.tiers.answers.written_answers import generator_name, opened_generator, with_kept_seconds
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.tiers.basics.objects import in_place
from ragbench.old.tiers.basics.requests import MOST_RETRIEVED
from ragbench.old.tiers.basics.session import Session, dataset_of
from ragbench.old.tiers.retrieval.timing import source

if TYPE_CHECKING:
    from ragbench.old.store import Store
    from ragbench.old.systems import System


Made = TypeVar("Made")
FITTED = ("hashing", "minilm", "navec", "sentence_transformers")
"""Embedders that are fitted or read from a disk; what asks elsewhere is made in no time, and made anew."""


@dataclass
class Cache:
    """A data set and its embedders, each with what it was made from. What was made from something else is made anew."""

    _kept: dict[str, tuple[Any, Any]] = field(default_factory=dict)

    def dataset(self, name: str, settings: Settings) -> Dataset:
        """The data set of that name, read again when one of its files has changed; of a database, always."""
        if name.startswith(OWN_TABLES) or settings.in_memory[0] is not None:
            return dataset_of(name, settings)
        remote = urls.is_url(name)
        place = places.remote_data(name)[0] if remote else places.data(name) / name.partition(":")[0]
        return self._made("dataset", (name, place, _files(place)), lambda: dataset_of(name, settings))

    def embedder(self, name: str, settings: EmbedderSettings, dataset: Dataset) -> Embedder:
        """The embedder fitted on the data set."""
        texts = [chunk.text for chunk in dataset.chunks]
        if settings.kind not in FITTED:
            return embed.make(name, settings, texts)
        about = (settings, dataset.content_hash)
        return self._made(f"embedder {name}", about, lambda: embed.make(name, settings, texts))

    def _made(self, what: str, about: Any, make: Callable[[], Made]) -> Made:
        if what not in self._kept or self._kept[what][0] != about:
            self._kept[what] = about, make()
        made: Made = self._kept[what][1]
        return made


def _files(place: Path) -> list[tuple[str, int, int]]:
    """The files of a folder by name, time and size: when these are the same, so is what they hold."""
    if not place.is_dir():
        return []
    return sorted((path.name, (status := path.stat()).st_mtime_ns, status.st_size) for path in place.iterdir())


NOTEBOOK = "ask"
_CACHE = Cache()


def ask(
    question: str | Sequence[str],
    systems: Any = "",
    *,
    dataset: Any = "",
    documents: Any = None,
    k: int = 5,
    answer: bool = True,
    language: str = "",
) -> Responses:
    """A question, or several, to systems: what each retrieves and answers, and how long it takes.

        rb.ask("When does it open?", {"v1": "bm25", "v2": search}, documents=passages).to_pandas()

    systems: names of ragbench.toml, comma-separated or as a list, or objects by name as for `rb.tier1`; empty: all of
        ragbench.toml. dataset: its name, `name:ru` for one of its languages, or a table of questions; empty: as in
        ragbench.toml. documents: the passages that are searched, in place of a data set's, or beside its questions.
    k: chunks that are retrieved, and that the answer is written from.
    answer: False leaves the generators out. language: of what is shown; empty: the data set's.

    A question that stands in the data set word by word is that one: logged results have it, and what is relevant is
    known. A system that raises has its reason in place of a ranking or of an answer, and the others go on. Replies of
    models come out of the journal where they are there. Milliseconds are those of the first time that the question was
    put to the system as it is now, read after a turn that warms it up; without another turn of a function of your own.

    ragbench.toml and the data set are read again when they have changed. Raises BenchError for an empty question, an
    unknown system and a k beyond 1 to 1000, DatasetError for a data set that is not there, UntrustedError for a project
    that its user does not trust, StoreError without a database.
    """
    texts = _texts(question)
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= MOST_RETRIEVED:
        raise BenchError(f"k = {k!r}: how many chunks are retrieved is a whole number from 1 to {MOST_RETRIEVED}")
    configuration.load.cache_clear()
    given = {"systems": systems, "dataset": dataset, **({} if documents is None else {"documents": documents})}
    with in_place(given) as named:
        return _told(texts, named["systems"], named["dataset"], k, answer, language)


def _told(
    texts: Sequence[str], systems: str | Sequence[str], dataset: str, k: int, answer: bool, language: str
) -> Responses:
    from ragbench.old.llm import open_budget

    session = Session.begin(NOTEBOOK, dataset, systems, "", read=_CACHE.dataset)
    known = {query.text.strip(): query for query in session.dataset.questions}
    asked = [known.get(text) or Question(text, text, language=session.dataset.language) for text in texts]
    with session.store() as store:
        responses = [each for name in session.systems for each in _retrieved(session, store, name, asked, k)]
        if answer:
            responses = _answered(session, store, responses, open_budget(session.settings.budget, store.journal))
    order = {query.id: place for place, query in enumerate(asked)}
    responses.sort(key=lambda response: order[response.question.id])
    return Responses(
        responses=tuple(responses),
        dataset=session.dataset.label,
        n_chunks=len(session.dataset.chunks),
        k=k,
        stand_ins=tuple(stand_ins.of(_facts(responses))),
        language=language or session.dataset.language,
    )


def _texts(question: str | Sequence[str]) -> list[str]:
    given = [question] if isinstance(question, str) else list(question)
    for text in given:
        if not isinstance(text, str) or not text.strip():
            raise BenchError(f'question = {text!r}: a text is expected, rb.ask("How do I …?"), or a list of texts')
    if not given:
        raise BenchError('there is no question; write one, rb.ask("How do I …?"), or a list of them')
    return list(dict.fromkeys(text.strip() for text in given))


def _retrieved(session: Session, store: Store, name: str, asked: Sequence[Question], k: int) -> list[Response]:
    """What one system retrieves for each question, or why it does not."""
    try:
        system = make(name, session.settings, store, session.dataset, _CACHE.embedder)
    except UntrustedError:
        raise
    except Exception as error:
        return [Response(question, name, reason=told(error)) for question in asked]
    return [_one(session, store, system, question, k) for question in asked]


def _one(session: Session, store: Store, system: System, question: Question, k: int) -> Response:
    try:
        got = _retrieval(session, system, question, k)
    except UntrustedError:
        raise
    except Exception as error:
        return Response(question, system.name, reason=told(error))
    times = _times(session, store, system, question, k, got)
    answers = () if session.settings.systems[system.name].generator else got.answers.get(question.id, ())
    made = Response(
        question,
        system.name,
        hits=tuple(got.hits[0]),
        reason=got.errors.get(question.id, ""),
        is_stand_in=got.is_stand_in,
    )
    timed: dict[str, Any] = {f"{part}_ms": ms for part, ms in times.items()}
    made = replace(made, **timed)
    return replace(made, answer=answers[0], generator=system.name, answers_itself=True) if answers else made


def _retrieval(session: Session, system: System, question: Question, k: int) -> Retrieval:
    from ragbench.old.store import StoreError
    from ragbench.old.systems.configured import ConfiguredSystem

    if not isinstance(system, ConfiguredSystem):
        return system.retrieve([question], k)
    try:
        return system.retrieve_one(question, k)
    except (EmbeddingError, StoreError):  # nothing was measured yet with these chunks
        with session.progress(system.name, len(session.dataset.chunks)) as progress:
            system.prepare(progress)
        return system.retrieve_one(question, k)


def _times(
    session: Session, store: Store, system: System, question: Question, k: int, got: Retrieval
) -> dict[str, float]:
    """Milliseconds by part, as they were when these inputs were first measured; nothing of a log."""
    search = "search" if system.description["kind"] == "configured" else "call"
    taken = {"embed": got.embed_ms, search: got.search_ms, **got.part_ms}
    read = {part: np.asarray(ms, float) for part, ms in taken.items() if ms is not None}
    if not read:
        return {}
    about = {
        "what": "latency of a question asked live", "system": dict(system.description), "source": source(system),
        "data": session.dataset.content_hash, "k": k, "question": question.text,
    }  # fmt: skip
    kept = store.readings(about, lambda: read)
    return {part: float(ms[0]) for part, ms in kept.items() if np.isfinite(ms[0])}


def _answered(session: Session, store: Store, responses: list[Response], budget: Any) -> list[Response]:
    """With an answer for each ranking; systems that share a generator ask it together, so that it is not waited for
    twice. What answers by itself is left as it is, and so is what retrieved nothing because it failed."""
    waiting: dict[str, list[Response]] = {}
    for ranked in responses:
        if ranked.answer is None and not ranked.reason:
            waiting.setdefault(generator_name(session, ranked.system), []).append(ranked)
    written = {
        (response.question.id, response.system): replace(response, answer=answer, generator=name, **more)
        for name, own in waiting.items()
        for response, (answer, more) in zip(own, _written(session, store, name, own, budget), strict=True)
    }
    return [written.get((response.question.id, response.system), response) for response in responses]


def _written(
    session: Session, store: Store, name: str, own: Sequence[Response], budget: Any
) -> list[tuple[Generation, Mapping[str, Any]]]:
    """The generator's answer to each, and whether it is a stand-in; where it fails altogether, why."""
    try:
        writer = opened_generator(session, store, name, budget)
        limit = writer.max_context_characters
        tasks = [
            Task(response.question, within([hit.chunk for hit in response.hits], limit).contexts) for response in own
        ]
        done = writer.generate(tasks)
        if not writer.keeps_readings:
            done = with_kept_seconds(store, writer, tasks, done)
    except UntrustedError:
        raise
    except Exception as error:
        failed = Generation.failed(Status.MISSING_FIELD, told(error))
        return [(failed, {})] * len(own)
    return [(generation, {"generator_is_stand_in": writer.is_stand_in}) for generation in done]


def _facts(responses: Sequence[Response]) -> Facts:
    """What only stands in for a model, as a measurement's facts tell it."""
    retrieving = [response.system for response in responses if response.is_stand_in]
    writers = {
        response.system: {"name": response.generator, "stand_in": True}
        for response in responses
        if response.generator_is_stand_in
    }
    return {"stand_ins": stand_ins.facts("retrieval", retrieving, own=True), "generators": writers}
