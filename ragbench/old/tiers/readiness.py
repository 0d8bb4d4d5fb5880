"""What is known before anything is measured or paid: one list of cheap checks of names, files, functions and endpoints.

`ragbench run` makes them of what its pages use and refuses all faults at once; `ragbench doctor` makes them of all that
is configured.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ragbench.old.core import folders, trust
from ragbench.old.core import settings as configuration
from ragbench.old.core.names import unknown_judge
from ragbench.old.core.settings import ConfigurationError, Settings, SystemSettings
from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.core.types import EmbeddingError
from ragbench.old.embed import wheels
from ragbench.old.embed.model import Purpose, purpose
from ragbench.old.judge import legal_names
from ragbench.old.tiers.answers.written_answers import DEFAULT_GENERATOR
from ragbench.old.tiers.basics.choices import BenchError, parted
from ragbench.old.tiers.basics.requests import Request
from ragbench.old.tiers.judges.deciders import CONSTANTS, is_log
from ragbench.old.tiers.retrieval.tier0_embeddings import chosen_embedders
from ragbench.old.tiers.run import gates
from ragbench.old.tiers.scoring import judge_assignment, own_metrics

if TYPE_CHECKING:
    from ragbench.old.core.answered_by import Role
    from ragbench.old.core.settings import EmbedderSettings, GeneratorSettings, JudgeSettings, RerankerSettings
    from ragbench.old.store import Store


@dataclass(frozen=True)
class Parts:
    """What is used, by the names of ragbench.toml, each once. functions: of judges, as module:function."""

    systems: tuple[str, ...] = ()
    embedders: tuple[str, ...] = ()
    generators: tuple[str, ...] = ()
    judges: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()

    def __or__(self, other: Parts) -> Parts:
        names = ("systems", "embedders", "generators", "judges", "functions")
        return Parts(*(tuple(dict.fromkeys((*getattr(self, name), *getattr(other, name)))) for name in names))


def of_settings(settings: Settings) -> Parts:
    """All that is configured."""
    return Parts(*(tuple(own) for own in (settings.systems, settings.embedders, settings.generators, settings.judges)))


NAMING = ("systems", "embedders", "embedder", "judges", "k")


def of_requests(asked: Iterable[Request], settings: Settings) -> Parts:
    """What these requests will use."""
    made = Parts()
    for request in asked:
        given: Mapping[str, Any] = {name: getattr(request, name, None) for name in NAMING}
        if given["embedders"] is not None:
            made |= Parts(embedders=tuple(chosen_embedders(given["embedders"], given["systems"] or "", settings)))
        elif given["k"] is not None or request.writes:
            made |= _of_systems(parted(given["systems"] or "") or tuple(settings.systems), request, settings)
        if given["embedder"] is not None and request.embeds:
            made |= Parts(embedders=parted(given["embedder"] or settings.metric_embedder))
        if request.asks_judges:
            made |= _of_judges(parted(given["judges"] or ""), settings)
    known = [settings.embedders[name] for name in made.embedders if name in settings.embedders]
    return made | Parts(embedders=tuple(embedder.queries for embedder in known if embedder.queries))


def _of_systems(names: Sequence[str], request: Request, settings: Settings) -> Parts:
    """Systems that retrieve, with their embedders, and with their generators where answers are written."""
    writers = [
        settings.systems[name].generator or (DEFAULT_GENERATOR if settings.retriever(name) else "")
        for name in (names if request.writes else ())
    ]
    embedders = dict.fromkeys(embedder for name in names for embedder in settings.embedders_of(name))
    writers += [settings.rewriters[name].generator or "" for name in _used("rewriter", names, settings)]
    return Parts(tuple(names), tuple(embedders), tuple(dict.fromkeys(filter(None, writers))))


def _used(part: str, systems: Sequence[str], settings: Settings) -> list[str]:
    """The tables of a kind of part that systems name, each once."""
    return list(dict.fromkeys(name for system in systems if (name := getattr(settings.systems[system], part))))


def _of_judges(named: Sequence[str], settings: Settings) -> Parts:
    """Tables and functions, those of single metrics among them; a file of what was logged is no part."""
    common, own = judge_assignment.parted(named)
    whom = (
        *(common or (settings.judge_names() if own else ())),
        *(judge for judges in own.values() for judge in judges),
    )
    named = tuple(dict.fromkeys(map(str, whom)))
    functions = tuple(name for name in named if ":" in name and not is_log(name))
    tables = tuple(name for name in named if not (":" in name or is_log(name) or name in CONSTANTS))
    return Parts(judges=tables if named else settings.judge_names(), functions=functions)


class Finding(NamedTuple):
    """What a check says, with the way out of a fault. A note is nothing to mend for a first report."""

    kind: Literal["ok", "note", "fault"]
    text: str


Check = Callable[[Parts, Settings], Iterable[str]]
"""Faults of some parts, each in one sentence with the next command; nobody is asked for them."""


def check(asked: Sequence[Request], settings: Settings, *, asking: bool = True) -> None:
    """Refuse what is known to fail: parts that are not there, then a database that does not answer, and models that
    refuse or cannot be reached.

    asking: whether anybody may be asked; of models see the setting `ask_first`, too. One that has answered before is
    not asked: its replies are kept, and may be all that is needed. Raises BenchError that names all faults at once.
    """
    used = of_requests(asked, settings)
    said = faults(used, settings)
    if asking and not said:
        said = _database(used, settings)
    if asking and settings.ask_first and not said:
        known = _answered_before(settings) if any(probes(used, settings)) else lambda _: False
        needed = of_requests((request for request in asked if not request.spares_judges), settings).judges
        unknown = [
            probe
            for probe in probes(used, settings)
            if not known(probe) and (probe.role != "judge" or probe.name in needed)
        ]
        said = [text for kind, text in endpoints(unknown) if kind == "fault"]
    if len(said) == 1:
        raise BenchError(f"{said[0]}. Nothing was measured")
    if said:
        lines = "\n".join(f"- {line}" for line in said)
        raise BenchError(
            f"{len(said)} faults, and nothing was measured; `ragbench doctor` looks at everything\n{lines}"
        )


def faults(parts: Parts, settings: Settings) -> list[str]:
    """What all CHECKS say of these parts."""
    return [line for look in CHECKS for line in look(parts, settings)]


TAKEN = {"chunker": "a text", "rewriter": "a question", "reranker": "(question, texts)"}
"""What functions that are parts are called with."""


def _functions(parts: Parts, settings: Settings) -> Iterator[str]:
    """Those that are not there or take something else. Those that their user does not trust are not looked at: who runs
    a page is asked before."""
    paths = {f"systems.{name}.callable": (settings.systems[name].callable, "(question, k)") for name in parts.systems}
    paths |= {
        f"generators.{name}.callable": (settings.generators[name].callable, "(question, contexts)")
        for name in parts.generators
    }
    for part, parameters in TAKEN.items():
        table: Mapping[str, Any] = getattr(settings, f"{part}s")
        paths |= {
            f"{part}s.{name}.callable": (table[name].callable, parameters)
            for name in _used(part, parts.systems, settings)
        }
    wanted = {place: (path, takes) for place, (path, takes) in paths.items() if path}
    wanted |= {path: (path, "(question, answer, contexts)") for path in parts.functions}
    trusted = {path: takes for path, takes in wanted.values() if not trust.doubts(trust.Item("code", path, ""))}
    said = _missing(trusted) if trusted else {}
    for place, (path, _) in wanted.items():
        if why := said.get(path, ""):
            yield f"{place} = {path!r}: {why}" if place != path else f"judges = {path!r}: {why}"


IMPORTS = "from ragbench.old.systems.callables import tell_missing; tell_missing()"
IMPORT_SECONDS = 120.0  # a user's module may import PyTorch, from a slow disk too


def _missing(functions: Mapping[str, str]) -> dict[str, str]:
    """By module:function why it cannot be called. functions: module:function → what it takes.

    A process of its own imports them: what they load, or break, is not kept in this one.
    """
    environment = {**os.environ, **trust.passed_on()}
    how: dict[str, Any] = {"capture_output": True, "text": True, "timeout": IMPORT_SECONDS, "env": environment}
    with tempfile.TemporaryDirectory(prefix="ragbench-") as private:
        out = Path(private) / "reply.json"
        command = [sys.executable, "-P", "-c", IMPORTS, str(out)]
        try:
            done = subprocess.run(  # noqa: S603
                command, check=False, cwd=configuration.project_folder(), input=json.dumps(functions), **how
            )
        except subprocess.TimeoutExpired:
            return dict.fromkeys(
                functions, f"importing it, or another function, takes longer than {IMPORT_SECONDS:g} s"
            )
        if out.is_file():
            return dict(json.loads(folders.text(out)))
    lines = done.stderr.strip().splitlines() or ["it said nothing"]
    return dict.fromkeys(functions, f"importing it, or another function, ends the process: {excerpt(lines[-1], 200)}")


def _files(parts: Parts, settings: Settings) -> Iterator[str]:
    """Of what systems have logged."""
    for name in parts.systems:
        results = settings.systems[name].results
        if results is not None and not (configuration.project_folder() / results).is_file():
            yield f"systems.{name}.results = {str(results)!r}: there is no such file"


def _headers(parts: Parts, settings: Settings) -> Iterator[str]:
    """Variables that the headers of services are made of."""
    from ragbench.old.llm.transport import key_in

    for name in parts.systems:
        for variable in settings.systems[name].header_variables:
            yield from _refused(partial(key_in, f"systems.{name}.headers", variable))


def _embedders(parts: Parts, settings: Settings) -> Iterator[str]:
    for name in parts.embedders:
        yield from _embedder(name, settings)


def _embedder(name: str, settings: Settings) -> Iterator[str]:
    embedder = settings.embedders[name]
    match embedder.kind:
        case "openai":
            yield from _keyless(f"embedders.{name}", embedder)
        case "minilm" | "navec":
            if wheels.lacking(embedder.kind):
                yield wheels.missing(name, embedder.kind)
        case "database":
            variable = settings.databases[str(embedder.database)].url_variable
            if variable and not os.environ.get(variable):
                yield f"databases.{embedder.database}: the variable {variable} is not set: export {variable}=…"
            else:
                yield from _queries(name, settings)
        case "sentence_transformers":
            yield from _model(f"embedders.{name}.model", str(embedder.model), "embedder")


def _queries(name: str, settings: Settings) -> Iterator[str]:
    """Whether questions would have another width than the stored vectors; an endpoint is not asked for it here."""
    from ragbench.old.store import StoreError

    queries = settings.embedders[name].queries
    if queries is None or settings.embedders[queries].kind == "openai" or any(_embedder(queries, settings)):
        return
    try:
        _ask_embedder_of_questions(name, queries, settings)
    except (EmbeddingError, StoreError) as error:
        yield str(error)


def _rerankers(parts: Parts, settings: Settings) -> Iterator[str]:
    for name in _used("reranker", parts.systems, settings):
        reranker = settings.rerankers[name]
        if reranker.kind == "endpoint":
            yield from _keyless(f"rerankers.{name}", reranker)
        elif reranker.kind == "cross_encoder":
            yield from _model(f"rerankers.{name}.model", str(reranker.model), "cross_encoder")


def _model(key: str, model: str, wanted: Purpose) -> Iterator[str]:
    """A folder that is meant and not there, or holds a model for something else, or a model that no download can
    bring."""
    place = f"{key} = {model!r}"
    if gone := wheels.absent(wheels.COMPUTING):
        yield f"{place}: the package {gone[0]} is not installed: make setup"
        return
    path = Path(model).expanduser()
    folder = configuration.project_folder() / path
    if folder.is_dir():
        if why := _unfit(purpose(folder), wanted):
            yield f"{place}: {why}"
        return
    levels = model.split("/")
    is_path = path.is_absolute() or levels[0] in (".", "..", "~") or len(levels) > 2
    if is_path or (len(levels) == 2 and folder.parent.is_dir()):  # a model of a hub is called owner/model, too
        yield f"{place}: there is no such folder; name a folder with a sentence-transformers model, or one of its hub"
    elif os.environ.get("HF_HUB_OFFLINE") == "1":
        from ragbench.old.embed.model import is_kept

        if not is_kept(model):
            yield f"{place}: it is not on this machine, and HF_HUB_OFFLINE=1 forbids to download it: unset that once"


def _unfit(there: Purpose | None, wanted: Purpose) -> str:
    if there is None:
        return "this folder holds no model: neither modules.json nor config.json is in it"
    if wanted == "embedder" and there == "cross_encoder":
        return "this model scores pairs of texts and gives no vectors: it is a reranker, [rerankers.NAME]"
    if wanted == "cross_encoder" and there != "cross_encoder":
        return (
            "this model gives vectors of texts, and its scores of pairs would be random numbers; name a "
            "CrossEncoder of sentence-transformers, or use it as an embedder, [embedders.NAME]"
        )
    return ""


def _generators(parts: Parts, settings: Settings) -> Iterator[str]:
    from ragbench.old.systems import GenerationError, make_generator

    for name in parts.generators:
        generator = settings.generator(name)
        if generator.kind != "openai":
            continue
        try:
            make_generator(name, settings)
        except (GenerationError, ConfigurationError) as error:
            yield str(error)
        else:
            yield from _keyless(f"generator {name!r}", generator)


def _judges(parts: Parts, settings: Settings) -> Iterator[str]:
    legal = legal_names(settings)
    for name in parts.judges:
        if name not in legal:
            yield unknown_judge(name, legal)
        elif name in settings.judges:
            yield from _keyless(f"judge {name!r}", settings.judge(name))


def _gates(_: Parts, settings: Settings) -> Iterable[str]:
    return gates.faults(settings) if settings.gate else ()


def _metrics(_: Parts, __: Settings) -> Iterable[str]:
    """Of the project's own metrics."""
    return own_metrics.faults()


CHECKS: tuple[Check, ...] = (
    _functions, _files, _headers, _embedders, _rerankers, _generators, _judges, _gates, _metrics,
)  # fmt: skip


def _keyless(who: str, endpoint: Any) -> Iterator[str]:
    from ragbench.old.llm.transport import read_key

    return _refused(partial(read_key, who, endpoint))


def _refused(work: Callable[[], object]) -> Iterator[str]:
    try:
        work()
    except ConfigurationError as error:
        yield str(error)


def _database(parts: Parts, settings: Settings) -> list[str]:
    """Why a server of one's own cannot be used; the embedded one is started when it is needed."""
    from ragbench.old.store import StoreError, server

    if settings.database_url is not None and (parts.systems or parts.embedders):
        try:
            server.required(settings)
        except StoreError as error:
            return [str(error)]
    return []


class Probe(NamedTuple):
    """One look at an endpoint: what it is asked as, its name in ragbench.toml, its model's name there, and a short
    question that gives the model's name in its reply, None where that is not told.

    ask raises what its room raises, and NoReplyError where it was asked in vain; a finding is all that is to be said.
    """

    role: Role
    name: str
    model: str
    ask: Callable[[], str | Finding | None]


QUESTION, RULES = "Answer with the word yes.", "Give a reason, in a few words, and the verdict."
SHORT: dict[str, Any] = {"attempts": 2, "patience_seconds": 30.0, "timeout_seconds": 20.0, "max_tokens": 16}
AT_ONCE = 8  # endpoints that are looked at together: each waits for its network
NOWHERE, PATIENCE = "Cannot connect to host", "patience_seconds ="
"""What is said of an endpoint that nobody is at, and of one whose fault may pass."""


class NoReplyError(RuntimeError):
    """A model gave no reply; the next call may fare better."""


def probes(parts: Parts, settings: Settings) -> Iterator[Probe]:
    """Of each judge, generator, embedder, reranker and system that is reached over a network."""
    for name in parts.judges:
        if name in settings.judges:
            judge = settings.judge(name)
            yield Probe("judge", name, judge.model, partial(_ask_judge, name, judge))
    for name in parts.generators:
        generator = settings.generator(name)
        if generator.kind == "openai":
            yield Probe("generator", name, str(generator.model), partial(_ask_generator, name, generator))
    for name in parts.embedders:
        embedder = settings.embedders[name]
        if embedder.kind == "openai":
            yield Probe("embedder", name, str(embedder.model), partial(_ask_embedder, name, embedder))
        elif embedder.kind == "sentence_transformers" and not _is_folder(embedder):
            yield Probe("embedder", name, str(embedder.model), partial(_look_up, name, embedder))
        elif (queries := embedder.queries) and settings.embedders[queries].kind == "openai":
            ask = partial(_ask_embedder_of_questions, name, queries, settings)
            yield Probe("embedder", name, str(settings.embedders[queries].model), ask)
    for name in _used("reranker", parts.systems, settings):
        if settings.rerankers[name].kind == "endpoint":
            reranker = settings.rerankers[name]
            yield Probe("reranker", name, str(reranker.model), partial(_ask_reranker, name, reranker))
    for name in parts.systems:
        if address := settings.systems[name].url:
            yield Probe("system", name, address, partial(_ask_system, name, settings.systems[name]))


def endpoints(asked: Sequence[Probe]) -> list[Finding]:
    """Whether each answers, and as which model; all are asked at the same time.

    One that is busy or slow is no fault: a run has more patience than a probe.
    """
    if not asked:
        return []
    with ThreadPoolExecutor(max_workers=AT_ONCE, thread_name_prefix="probe") as pool:
        return list(pool.map(_look, asked))


def _look(probe: Probe) -> Finding:
    from ragbench.old.core.answered_by import AnsweredBy, sentence
    from ragbench.old.core.language import translator
    from ragbench.old.systems.parts.reranking import UnansweredError

    who = f"{probe.role} {probe.name}"
    try:
        said = probe.ask()
    except Exception as error:  # whatever it fails with is what is to be known of it
        may_pass = isinstance(error, (NoReplyError, UnansweredError)) or PATIENCE in str(error)
        text = (
            f"{probe.role} {probe.name!r} ({probe.model}): {error}" if isinstance(error, NoReplyError) else str(error)
        )
        return Finding("note" if may_pass and NOWHERE not in str(error) else "fault", text)
    if said is None or isinstance(said, Finding):
        return said or Finding("note", f"{who}: {probe.model} answers, and does not say which model it is")
    answered = AnsweredBy(probe.role, probe.name, probe.model, {said: 1})
    told = sentence(answered, translator("en")) or f"{who}: {probe.model} answers"
    return Finding("note" if answered.kinship == "other" else "ok", told)


def _answered_before(settings: Settings) -> Callable[[Probe], bool]:
    """Whether the database keeps a reply, or a vector, of a model."""
    from ragbench.old.store import Store
    from ragbench.old.systems.remote import named

    with Store.open(settings) as store:
        sizes = {(size.judge, size.model) for size in store.journal.sizes() if size.replies}
        embedders = {name for name in settings.embedders if _has_vectors(store, name, settings)}
        rerankers = {name for name in settings.rerankers if _has_scores(store, name, settings)}

    def known(probe: Probe) -> bool:
        if probe.role == "embedder":
            return probe.name in embedders
        if probe.role == "reranker":
            return probe.name in rerankers
        return (named(settings.systems[probe.name]) if probe.role == "system" else probe[1:3]) in sizes

    return known


def _has_vectors(store: Store, name: str, settings: Settings) -> bool:
    from ragbench.old.embed.openai_embeddings import EndpointEmbedder

    embedder = settings.embedders[name]
    if embedder.kind != "openai":
        return False
    try:
        return store.width(EndpointEmbedder(name, embedder)) is not None
    except EmbeddingError:  # its key is not there
        return False


def _has_scores(store: Store, name: str, settings: Settings) -> bool:
    from ragbench.old.systems import RetrievalError
    from ragbench.old.systems.parts.reranking import EndpointReranker

    reranker = settings.rerankers[name]
    try:
        return reranker.kind == "endpoint" and store.has_readings(
            {"reranker": EndpointReranker(name, reranker).identity}
        )
    except RetrievalError:  # its key is not there
        return False


def _is_folder(embedder: EmbedderSettings) -> bool:
    return (configuration.project_folder() / str(embedder.model)).expanduser().is_dir()


class UnusableReplyError(RuntimeError):
    """A model replies, but not in the shape that a judge has to reply in."""


def _ask_judge(name: str, settings: JudgeSettings) -> str | None:
    """Asked for a shape, as judges are. Raises UnusableReplyError where the reply is of none."""
    from pydantic import BaseModel

    from ragbench.old import llm
    from ragbench.old.core.types import Status

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


def _ask_generator(name: str, settings: GeneratorSettings) -> str | None:
    from ragbench.old.core.types import Question
    from ragbench.old.systems.chat import ChatGenerator
    from ragbench.old.systems.generation import Task

    generator = ChatGenerator(name, settings.model_copy(update=SHORT))
    (written,) = generator.generate([Task(Question("probe", QUESTION), ())])
    if written.answer is None:
        raise NoReplyError(written.reason)
    return written.answered_by


def _ask_embedder(name: str, settings: EmbedderSettings) -> str | None:
    from ragbench.old.embed.openai_embeddings import EndpointEmbedder

    embedder = EndpointEmbedder(name, settings.model_copy(update=SHORT))
    embedder.embed([QUESTION])
    return next(iter(embedder.answered_by), None)


def _ask_embedder_of_questions(name: str, queries: str, settings: Settings) -> None:
    """Whether its vectors are as wide as the stored ones."""
    from ragbench.old.embed import query_encoder
    from ragbench.old.store import Source

    with Source.open(str(settings.embedders[name].database), settings) as source:
        query_encoder(name, queries, source, settings=settings)


def _look_up(name: str, settings: EmbedderSettings) -> None:
    """Whether the hub of models knows it."""
    from ragbench.old.embed.model import look_up

    try:
        look_up(str(settings.model), SHORT["timeout_seconds"])
    except EmbeddingError as error:
        raise EmbeddingError(f"embedders.{name}.model = {settings.model!r}: {error}") from None


def _ask_reranker(name: str, settings: RerankerSettings) -> str:
    from ragbench.old.systems.parts.reranking import EndpointReranker

    brief = {key: value for key, value in SHORT.items() if key in type(settings).model_fields}
    EndpointReranker(name, settings.model_copy(update=brief)).scores(QUESTION, [QUESTION, "no"])
    return str(settings.model)  # a reply does not name it


def _ask_system(name: str, settings: SystemSettings) -> Finding:
    from ragbench.old.systems.remote import unread

    brief = {key: value for key, value in SHORT.items() if key in SystemSettings.model_fields}
    told = f"system {name}: {settings.url} answers"
    if lines := unread(name, settings.model_copy(update=brief), QUESTION):
        return Finding("note", f"{told}, with passages that are not read: write {lines} into its table")
    return Finding("ok", told if settings.passages or settings.ids else f"{told}, without passages that can be told")
