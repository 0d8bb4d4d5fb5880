"""Functions, models, endpoints and files that pages will use, and what is wrong with them without asking anybody."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ragbench.core import settings as configuration
from ragbench.core import trust
from ragbench.core.settings import ConfigurationError, Settings, SystemSettings
from ragbench.core.types import EmbeddingError
from ragbench.embed import wheels
from ragbench.embed.model import Purpose, purpose
from ragbench.judge import legal_names
from ragbench.tiers.answers.written_answers import DEFAULT_GENERATOR
from ragbench.tiers.basics.choices import parted
from ragbench.tiers.basics.requests import Request
from ragbench.tiers.decisions.deciders import CONSTANTS, is_log
from ragbench.tiers.readiness import processes
from ragbench.tiers.retrieval.tier0_embeddings import chosen_embedders
from ragbench.tiers.run import gates
from ragbench.tiers.scoring import judge_assignment, own_metrics

TAKEN = {"chunker": "a text", "rewriter": "a question", "reranker": "(question, texts)"}
"""What functions that are parts are called with."""
NAMING = ("systems", "embedders", "embedder", "judges", "k")
_IMPORT = "from ragbench.systems.callables import tell_missing; tell_missing()"


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
    tables = (settings.systems, settings.embedders, settings.generators, settings.judges)
    return Parts(*(tuple(table) for table in tables))


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
    writers += [settings.rewriters[rewriter].generator or "" for rewriter in used("rewriter", names, settings)]
    return Parts(tuple(names), tuple(embedders), tuple(dict.fromkeys(filter(None, writers))))


def used(part: str, systems: Sequence[str], settings: Settings) -> list[str]:
    """The tables of a kind of part that systems name, each once."""
    return list(dict.fromkeys(name for system in systems if (name := getattr(settings.systems[system], part))))


def _of_judges(named: Sequence[str], settings: Settings) -> Parts:
    """Tables and functions, those of single metrics among them; a file of what was logged is no part."""
    common, own = judge_assignment.parted(named)
    whom = (*(common or (settings.judge_names() if own else ())), *(judge for each in own.values() for judge in each))
    named = tuple(dict.fromkeys(map(str, whom)))
    functions = tuple(name for name in named if ":" in name and not is_log(name))
    tables = tuple(name for name in named if not (":" in name or is_log(name) or name in CONSTANTS))
    return Parts(judges=tables if named else settings.judge_names(), functions=functions)


def faults(parts: Parts, settings: Settings) -> list[str]:
    """Everything that would fail, each in one sentence with the next command; nobody is asked for it."""
    return [
        *_imports(parts, settings),
        *(said for name in parts.systems if (said := _results(name, settings.systems[name]))),
        *(said for name in used("reranker", parts.systems, settings) if (said := _reranker(name, settings))),
        *(said for name in parts.systems if (said := _headers(name, settings.systems[name]))),
        *(said for name in parts.embedders if (said := _embedder(name, settings))),
        *(said for name in parts.generators if (said := _generator(name, settings))),
        *(said for name in parts.judges if (said := _judge(name, settings))),
        *(gates.faults(settings) if settings.gate else ()),
        *own_metrics.faults(),
    ]


def _imports(parts: Parts, settings: Settings) -> Iterator[str]:
    """Functions that are not there, found out in a process of its own: what they load is not kept in this one.

    Those that their user does not trust are not looked at: who runs a page is asked before.
    """

    places = {f"systems.{name}.callable": (settings.systems[name].callable, "(question, k)") for name in parts.systems}
    places |= {
        f"generators.{name}.callable": (settings.generators[name].callable, "(question, contexts)")
        for name in parts.generators
    }
    for part, parameters in TAKEN.items():
        table: Mapping[str, Any] = getattr(settings, f"{part}s")
        places |= {
            f"{part}s.{name}.callable": (table[name].callable, parameters)
            for name in used(part, parts.systems, settings)
        }
    wanted = {place: (path, takes) for place, (path, takes) in places.items() if path}
    wanted |= {path: (path, "(question, answer, contexts)") for path in parts.functions}
    trusted = {path: takes for path, takes in wanted.values() if not trust.doubts(trust.Item("code", path, ""))}
    if not trusted:
        return
    said = _missing(trusted)
    for place, (path, _) in wanted.items():
        if why := said.get(path, ""):
            yield f"{place} = {path!r}: {why}" if place != path else f"judges = {path!r}: {why}"


def _missing(functions: Mapping[str, str]) -> dict[str, str]:
    """functions: module:function → what it takes."""
    try:
        return processes.told(_IMPORT, functions)
    except processes.ProcessError as error:
        return dict.fromkeys(functions, f"importing it, or another function, {error}")


def _results(name: str, system: SystemSettings) -> str:
    if system.results is None or (configuration.project_folder() / system.results).is_file():
        return ""
    return f"systems.{name}.results = {str(system.results)!r}: there is no such file"


def _headers(name: str, system: SystemSettings) -> str:
    from ragbench.llm.transport import key_in

    return _refused(lambda: [key_in(f"systems.{name}.headers", variable) for variable in system.header_variables])


def _embedder(name: str, settings: Settings) -> str:
    embedder = settings.embedders[name]
    if embedder.kind == "openai":
        return _refused(lambda: _key(f"embedders.{name}", embedder))
    if embedder.kind in ("minilm", "navec") and wheels.lacking(embedder.kind):
        return wheels.missing(name, embedder.kind)
    if embedder.kind == "database":
        variable = settings.databases[str(embedder.database)].url_variable
        if variable and not os.environ.get(variable):
            return f"databases.{embedder.database}: the variable {variable} is not set: export {variable}=…"
        return _queries(name, settings)
    if embedder.kind != "sentence_transformers":
        return ""
    return _model(f"embedders.{name}.model", str(embedder.model), "embedder")


def _queries(name: str, settings: Settings) -> str:
    """Whether questions would have another width than the stored vectors; an endpoint is not asked for it here."""
    from ragbench.embed import query_encoder
    from ragbench.store import Source, StoreError

    embedder = settings.embedders[name]
    if (
        embedder.queries is None
        or settings.embedders[embedder.queries].kind == "openai"
        or _embedder(embedder.queries, settings)
    ):
        return ""
    try:
        with Source.open(str(embedder.database), settings) as source:
            query_encoder(name, embedder.queries, source, settings=settings)
    except (EmbeddingError, StoreError) as error:
        return str(error)
    return ""


def _reranker(name: str, settings: Settings) -> str:
    reranker = settings.rerankers[name]
    if reranker.kind == "endpoint":
        return _refused(lambda: _key(f"rerankers.{name}", reranker))
    return (
        _model(f"rerankers.{name}.model", str(reranker.model), "cross_encoder")
        if reranker.kind == "cross_encoder"
        else ""
    )


def _model(key: str, model: str, wanted: Purpose) -> str:
    """A folder that is meant and not there, or holds a model for something else, or a model that no download can
    bring."""
    place = f"{key} = {model!r}"
    if gone := wheels.absent(wheels.COMPUTING):
        return f"{place}: the package {gone[0]} is not installed: make setup"
    path = Path(model).expanduser()
    folder = configuration.project_folder() / path
    if folder.is_dir():
        return _unfit(place, purpose(folder), wanted)
    parts = model.split("/")
    is_path = path.is_absolute() or parts[0] in (".", "..", "~") or len(parts) > 2
    is_path = is_path or (len(parts) == 2 and folder.parent.is_dir())  # a model of a hub is called owner/model, too
    if is_path:
        return f"{place}: there is no such folder; name a folder with a sentence-transformers model, or one of its hub"
    if os.environ.get("HF_HUB_OFFLINE") == "1":
        from ragbench.embed.model import is_kept

        if not is_kept(model):
            return f"{place}: it is not on this machine, and HF_HUB_OFFLINE=1 forbids to download it: unset that once"
    return ""


def _unfit(place: str, purpose: Purpose | None, wanted: Purpose) -> str:
    if purpose is None:
        return f"{place}: this folder holds no model: neither modules.json nor config.json is in it"
    if wanted == "embedder" and purpose == "cross_encoder":
        return f"{place}: this model scores pairs of texts and gives no vectors: it is a reranker, [rerankers.NAME]"
    if wanted == "cross_encoder" and purpose != "cross_encoder":
        return (
            f"{place}: this model gives vectors of texts, and its scores of pairs would be random numbers; name a "
            "CrossEncoder of sentence-transformers, or use it as an embedder, [embedders.NAME]"
        )
    return ""


def _generator(name: str, settings: Settings) -> str:
    from ragbench.systems import GenerationError, make_generator

    generator = settings.generator(name)
    if generator.kind != "openai":
        return ""
    try:
        make_generator(name, settings)
    except (GenerationError, ConfigurationError) as error:
        return str(error)
    return _refused(lambda: _key(f"generator {name!r}", generator))


def _judge(name: str, settings: Settings) -> str:
    legal = legal_names(settings)
    if name not in legal:
        return f"there is no judge {name!r}; judges are {', '.join(legal)} (tables [judges.NAME])"
    return _refused(lambda: _key(f"judge {name!r}", settings.judge(name))) if name in settings.judges else ""


def _key(who: str, endpoint: Any) -> object:
    from ragbench.llm.transport import read_key

    return read_key(who, endpoint)


def _refused(work: Callable[[], object]) -> str:
    try:
        work()
    except ConfigurationError as error:
        return str(error)
    return ""
