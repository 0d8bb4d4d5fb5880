"""One short question to each model and system behind an address: whether it answers, and as which model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from ragbench.core.settings import ConfigurationError, SystemSettings
from ragbench.core.types import EmbeddingError
from ragbench.tiers.readiness.parts import Parts, used

if TYPE_CHECKING:
    from ragbench.core.answered_by import Role
    from ragbench.core.settings import EmbedderSettings, GeneratorSettings, JudgeSettings, RerankerSettings, Settings
    from ragbench.store import Store

Probe = tuple["Role", str, str, Callable[[], str | None]]
"""What is asked, its name in ragbench.toml, its model's name there, and a call that gives the name of its reply."""
QUESTION, RULES = "Answer with the word yes.", "Give a reason, in a few words, and the verdict."
SHORT: dict[str, Any] = {"attempts": 2, "patience_seconds": 30.0, "timeout_seconds": 20.0, "max_tokens": 16}
AT_ONCE = 8
NOWHERE, PATIENCE = "Cannot connect to host", "patience_seconds ="
"""What is said of an endpoint that nobody is at, and of one whose fault may pass."""


class NoReplyError(RuntimeError):
    """A model gave no reply; the next call may fare better."""


def probes(settings: Settings, parts: Parts) -> Iterator[Probe]:
    """A probe of each judge, generator, embedder, reranker and system that is reached over a network. Each raises what
    its room raises, and NoReplyError where it was asked in vain."""
    for name in parts.judges:
        if name in settings.judges:
            judge = settings.judge(name)
            yield "judge", name, judge.model, partial(_judge, name, judge)
    for name in parts.generators:
        generator = settings.generator(name)
        if generator.kind == "openai":
            yield "generator", name, str(generator.model), partial(_generator, name, generator)
    for name in parts.embedders:
        embedder = settings.embedders[name]
        if embedder.kind == "openai":
            yield "embedder", name, str(embedder.model), partial(_embedder, name, embedder)
        elif embedder.kind == "sentence_transformers" and not _is_folder(embedder):
            yield "embedder", name, str(embedder.model), partial(_hub, name, embedder)
        elif (queries := embedder.queries) and settings.embedders[queries].kind == "openai":
            yield (
                "embedder",
                name,
                str(settings.embedders[queries].model),
                partial(_of_questions, name, queries, settings),
            )
    for name in used("reranker", parts.systems, settings):
        if settings.rerankers[name].kind == "endpoint":
            reranker = settings.rerankers[name]
            yield "reranker", name, str(reranker.model), partial(_reranker, name, reranker)
    for name in parts.systems:
        if address := settings.systems[name].url:
            yield "system", name, address, partial(_system, name, settings.systems[name])


def faults(parts: Parts, settings: Settings) -> list[str]:
    """Why models will refuse every call, or cannot be reached, one sentence each; all are asked at the same time.

    A model that has answered before is not asked: its replies are kept, and may be all that is needed. One that is busy
    or slow is no fault: a run has more patience than a probe.
    """
    asked = list(probes(settings, parts))
    if not asked:
        return []
    known = _answered_before(settings)
    unknown = [probe for probe in asked if not known(*probe[:3])]
    with ThreadPoolExecutor(max_workers=AT_ONCE, thread_name_prefix="probe") as pool:
        return [said for said in pool.map(_fault, unknown) if said]


def _fault(probe: Probe) -> str:
    from ragbench.llm import ModelError
    from ragbench.systems import RetrievalError
    from ragbench.systems.parts.reranking import UnansweredError, UnreadableError

    role, name, model, ask = probe
    try:
        ask()
    except (ModelError, ConfigurationError) as error:
        return str(error)
    except (EmbeddingError, RetrievalError) as error:
        return "" if PATIENCE in str(error) and NOWHERE not in str(error) else str(error)
    except UnreadableError as error:
        return str(error)
    except UnansweredError as error:
        return str(error) if NOWHERE in str(error) else ""
    except UnusableReplyError as error:
        return str(error)
    except NoReplyError as error:
        return f"{role} {name!r} ({model}): {error}" if NOWHERE in str(error) else ""
    return ""


def _answered_before(settings: Settings) -> Callable[[str, str, str], bool]:
    """Whether the database keeps a reply, or a vector, of a model."""
    from ragbench.store import Store
    from ragbench.systems.remote import named

    with Store.open(settings) as store:
        sizes = {(size.judge, size.model) for size in store.journal.sizes() if size.replies}
        embedders = {name for name in settings.embedders if _has_vectors(store, name, settings)}
        rerankers = {name for name in settings.rerankers if _has_scores(store, name, settings)}

    def known(role: str, name: str, model: str) -> bool:
        if role == "embedder":
            return name in embedders
        if role == "reranker":
            return name in rerankers
        return (named(settings.systems[name]) if role == "system" else (name, model)) in sizes

    return known


def _has_vectors(store: Store, name: str, settings: Settings) -> bool:
    from ragbench.embed.endpoint import EndpointEmbedder

    embedder = settings.embedders[name]
    if embedder.kind != "openai":
        return False
    try:
        return store.width(EndpointEmbedder(name, embedder)) is not None
    except EmbeddingError:  # its key is not there
        return False


def _has_scores(store: Store, name: str, settings: Settings) -> bool:
    from ragbench.systems import RetrievalError
    from ragbench.systems.parts.reranking import EndpointReranker

    reranker = settings.rerankers[name]
    try:
        return reranker.kind == "endpoint" and store.has_readings(
            {"reranker": EndpointReranker(name, reranker).identity}
        )
    except RetrievalError:  # its key is not there
        return False


def _is_folder(embedder: EmbedderSettings) -> bool:
    from ragbench.core.settings import project_folder

    return (project_folder() / str(embedder.model)).expanduser().is_dir()


class UnusableReplyError(RuntimeError):
    """A model replies, but not in the shape that a judge has to reply in."""


def _judge(name: str, settings: JudgeSettings) -> str | None:
    """Asked for a shape, as judges are. Raises UnusableReplyError where the reply is of none."""
    from typing import Literal

    from pydantic import BaseModel

    from ragbench import llm
    from ragbench.core.types import Status

    class Said(BaseModel):
        reason: str
        verdict: Literal["yes", "no"]

    brief = {key: value for key, value in SHORT.items() if key != "max_tokens"}
    client = llm.Client(name, settings.model_copy(update=brief))
    request = llm.Request(
        (("system", RULES), ("user", QUESTION)), "probe", 2, Said, llm.Decoding(settings.temperature, max_tokens=256)
    )

    async def ask() -> llm.Completion:
        try:
            return await client.complete(request)
        finally:
            await client.close()

    completion = llm.run(ask())
    if completion.calls == 0:
        raise NoReplyError(completion.reason)
    if completion.status is not Status.OK:
        raise UnusableReplyError(
            f"judge {name!r} ({settings.model} at {settings.address}) answers, but not in a shape that can be read: "
            f'{completion.reason}; set replies = "text" in [judges.{name}], or name another model'
        )
    return completion.answered_by


def _generator(name: str, settings: GeneratorSettings) -> str | None:
    from ragbench.core.types import Question
    from ragbench.systems.chat import ChatGenerator
    from ragbench.systems.generation import Task

    (generation,) = ChatGenerator(name, settings.model_copy(update=SHORT)).generate(
        [Task(Question("probe", QUESTION), ())]
    )
    if generation.answer is None:
        raise NoReplyError(generation.reason)
    return generation.answered_by


def _embedder(name: str, settings: EmbedderSettings) -> str | None:
    from ragbench.embed.endpoint import EndpointEmbedder

    embedder = EndpointEmbedder(name, settings.model_copy(update=SHORT))
    embedder.embed([QUESTION])
    return next(iter(embedder.answered_by), None)


def _of_questions(name: str, queries: str, settings: Settings) -> str | None:
    """Whether its vectors are as wide as the stored ones."""
    from ragbench.embed import query_encoder
    from ragbench.store import Source

    with Source.open(str(settings.embedders[name].database), settings) as source:
        query_encoder(name, queries, source, settings=settings)
    return None


def _reranker(name: str, settings: RerankerSettings) -> str:
    from ragbench.systems.parts.reranking import EndpointReranker

    brief = {key: value for key, value in SHORT.items() if key in type(settings).model_fields}
    EndpointReranker(name, settings.model_copy(update=brief)).scores(QUESTION, [QUESTION, "no"])
    return str(settings.model)  # a reply does not name it


def _system(name: str, settings: SystemSettings) -> str:
    from ragbench.core.types import Question
    from ragbench.systems.remote import RemoteSystem

    brief = {key: value for key, value in SHORT.items() if key in SystemSettings.model_fields}
    RemoteSystem(name, settings.model_copy(update=brief), ()).retrieve([Question("probe", QUESTION)], 1)
    return str(settings.url)  # a service has no other name


def _hub(name: str, settings: EmbedderSettings) -> str | None:
    from ragbench.embed.model import look_up

    try:
        look_up(str(settings.model), SHORT["timeout_seconds"])
    except EmbeddingError as error:
        raise EmbeddingError(f"embedders.{name}.model = {settings.model!r}: {error}") from None
    return None
