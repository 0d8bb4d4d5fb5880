"""What a run will execute: notebooks, their parameters checked and put in, and all that would fail refused first."""

from __future__ import annotations

import ast
import contextlib
import difflib
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from ragbench.old.core import annexes, settings, trust
from ragbench.old.core.expectations import kind
from ragbench.old.core.language import translator
from ragbench.old.core.settings import OWN_TABLES
from ragbench.old.data import Dataset, available, places
from ragbench.old.report.keeping import results
from ragbench.old.report.pages import drawing
from ragbench.old.tiers import readiness
from ragbench.old.tiers.basics.choices import BenchError, parted
from ragbench.old.tiers.basics.requests import Request
from ragbench.old.tiers.basics.session import Lack, Need, dataset_of
from ragbench.old.tiers.judges.deciders import is_log
from ragbench.old.tiers.run.overview import NAME as OVERVIEW

TAG = "parameters"
MORE = "more-parameters"
"""Of the cell of those that fewer people set. It stands before the other: what is injected comes behind both."""
INJECTED = "injected-parameters"
COUNTED = (list, tuple)


class ParameterError(ValueError):
    """A parameter that no notebook has, or a value that does not fit its parameter."""


def defaults(notebook: Any, name: str) -> dict[str, Any]:
    """The parameters of a notebook with their defaults, those of the first screen before the others.

    Raises ParameterError where a cell of parameters holds anything but names and literals.
    """
    declared: dict[str, Any] = {}
    for tag in (TAG, MORE):
        cell = next((c for c in notebook.cells if tag in c.metadata.get("tags", ())), None)
        declared |= {} if cell is None else _declared(cell.source, name, tag)
    return declared


def _declared(source: str, name: str, tag: str) -> dict[str, Any]:
    declared: dict[str, Any] = {}
    try:
        statements = ast.parse(source).body
    except SyntaxError as error:
        raise ParameterError(f"{name}: the cell tagged {tag!r} is not Python: {error}") from None
    for statement in statements:
        target, value = _assignment(statement)
        if target is None or value is None:
            raise ParameterError(f"{name}: the cell tagged {tag!r} holds `{ast.unparse(statement)}`, not a literal")
        try:
            declared[target] = ast.literal_eval(value)
        except ValueError:
            raise ParameterError(f"{name}: the default of {target} is not a literal: {ast.unparse(value)}") from None
    return declared


def _assignment(statement: ast.stmt) -> tuple[str | None, ast.expr | None]:
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target: ast.expr = statement.targets[0]
        return (target.id if isinstance(target, ast.Name) else None), statement.value
    if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
        return statement.target.id, statement.value
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
        return None, None
    return None, None


def chosen(given: Mapping[str, Any], known: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """For each notebook the parameters it has among those given, as values of the right type.

    given: values, or texts as they are typed on a command line; known: defaults by notebook.
    Raises ParameterError, naming the parameters there are, for one that no notebook has.
    """
    everything = {name for parameters in known.values() for name in parameters}
    for name in given:
        if name not in everything:
            raise ParameterError(_unknown(name, known))
    return {
        notebook: {name: fitted(name, given[name], parameters[name]) for name in parameters if name in given}
        for notebook, parameters in known.items()
    }


def _unknown(name: str, known: Mapping[str, Mapping[str, Any]]) -> str:
    near = difflib.get_close_matches(name, {key for parameters in known.values() for key in parameters}, n=1)
    hint = f"; did you mean {near[0]}?" if near else "."
    lines = [f"there is no parameter {name!r}{hint}"]
    for notebook, parameters in known.items():
        listed = ", ".join(
            f"{key} = {json.dumps(_plain(value), ensure_ascii=False)}" for key, value in parameters.items()
        )
        lines.append(f"{notebook} has: {listed or 'none'}")
    return "\n".join(lines)


def fitted(name: str, given: Any, default: Any) -> Any:
    """The value of a parameter: text is read as a literal unless the default is text; types must match the default's.

    A whole number serves where the default has a decimal point; a default of None takes any literal.
    """
    value = given
    if isinstance(given, str) and not isinstance(default, str):
        value = _literal(name, given, default)
    value = _plain(value)
    wanted = _plain(default)
    if wanted is None or (value is None and isinstance(default, str | None)):
        return value
    if isinstance(wanted, float) and isinstance(value, int) and not isinstance(value, bool):
        value = float(value)
    if type(value) is not type(wanted):
        raise ParameterError(f"{name} = {given!r}: it is {kind(wanted)} (by default {default!r})")
    if isinstance(wanted, list) and wanted:
        return [_fitted_item(name, item, wanted[0], given) for item in value]
    return value


def _fitted_item(name: str, item: Any, like: Any, given: Any) -> Any:
    if isinstance(like, float) and type(item) is int:
        return float(item)
    if type(item) is not type(like):
        raise ParameterError(f"{name} = {given!r}: each item is {kind(like)}")
    return item


def _literal(name: str, text: str, default: Any) -> Any:
    if len(text) > 100_000:
        raise ParameterError(f"{name}: a value of {len(text)} characters is too long")
    for read in (json.loads, ast.literal_eval):
        try:
            return read(text.strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            continue
    if default is None or (isinstance(default, COUNTED) and all(isinstance(item, str) for item in default)):
        return text if default is None else [part.strip() for part in text.split(",")]
    raise ParameterError(
        f"{name} = {text!r}: it is {kind(_plain(default))} (by default {default!r}), written as a literal"
    )


def _plain(value: Any) -> Any:
    """Only what JSON knows: tuples become lists; anything else than its types, NaN and infinity are refused."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ParameterError(f"{value} is not a finite number")
    if isinstance(value, COUNTED):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise ParameterError(f"{value!r}: a parameter is a number, a text, true, false, None, or a list of these")


def checked(notebook: Any, values: Mapping[str, Any]) -> None:
    """Refuse values that what the notebook measures would refuse, before a kernel is started for it.

    Raises BenchError, with what is legal.
    """
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    for name in re.findall(r"\btiers\.(\w+)(?:\.of)?\(|\b(\w+)\.of\(", code):
        if request := _request(name[0] or name[1]):
            request(**{key: value for key, value in values.items() if key in request.parameters()})


def _request(name: str) -> type[Request] | None:
    """What a function of that name, of `tiers` or for the notebook of an annex, is asked for."""
    from ragbench.old import tiers

    measuring = getattr(tiers, name, None) or annexes.taken("notebooks", name)
    return getattr(measuring, "request", None)


def requests(notebook: Any, values: Mapping[str, Any]) -> list[Request]:
    """What the notebook will ask of the tiers with these values; none of a call that names anything but a parameter or
    a literal, since nobody knows before it is made."""
    asked: list[Request] = []
    for call, name in _calls(notebook):
        model = _request(name)
        if model is not None and isinstance(call.func, ast.Attribute) and call.func.attr == "of":
            with contextlib.suppress(KeyError, ValueError):
                asked.append(model(**{each: values[each] for each in model.parameters()}))
            continue
        with contextlib.suppress(KeyError, ValueError):
            given = {
                str(word.arg): values[word.value.id]
                if isinstance(word.value, ast.Name)
                else ast.literal_eval(word.value)
                for word in call.keywords
            }
            if model is not None and not call.args:
                asked.append(model(**given))
    return asked


def _calls(notebook: Any) -> Iterator[tuple[ast.Call, str]]:
    """Calls `tiers.something(…)`, `tiers.something.of(globals())` and, of what an annex measures for a notebook,
    `something.of(globals())`, each with its name; of a cell that is no Python none."""
    offered = annexes.offered("notebooks")
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        with contextlib.suppress(SyntaxError):
            for node in ast.walk(ast.parse(cell.source)):
                match node:
                    case ast.Call(func=ast.Attribute(value=ast.Name(id="tiers"), attr=name)):
                        yield node, name
                    case ast.Call(func=ast.Attribute(ast.Attribute(ast.Name(id="tiers"), attr=name), attr="of")):
                        yield node, name
                    case ast.Call(func=ast.Attribute(ast.Name(id=name), attr="of")) if name in offered:
                        yield node, name


def source(values: Mapping[str, Any]) -> str:
    """The code of the cell that sets the parameters."""
    return "\n".join(f"{name} = {value!r}" for name, value in values.items())


def inject(notebook: Any, values: Mapping[str, Any]) -> None:
    """Put the cell that sets the parameters behind the one that declares them; its id is always the same."""
    nbformat = results.notebook_format()

    notebook.cells = [cell for cell in notebook.cells if INJECTED not in cell.metadata.get("tags", ())]
    if not values:
        return
    place = next(i for i, cell in enumerate(notebook.cells) if TAG in cell.metadata.get("tags", ()))
    known = list(defaults(notebook, ""))  # in the notebook's order, in whatever order they were given
    ordered = sorted(values.items(), key=lambda item: known.index(item[0]) if item[0] in known else len(known))
    cell = nbformat.v4.new_code_cell(source(dict(ordered)), id=INJECTED, metadata={"tags": [INJECTED]})
    notebook.cells.insert(place + 1, cell)


def names(notebooks: Sequence[str]) -> str:
    """Notebook names for a message."""
    return ", ".join(notebooks) or "none"


Read = Callable[[str, str], Dataset]
"""Gives the data set of a name, in the language of a page where none is asked for."""
OF_EVERY_PAGE = {"dataset", "systems", "language"}


class Prepared(NamedTuple):
    """Notebooks by name with their parameters put in, their defaults, the values that differ, and what is left out.

    asked: what they ask of the tiers, each with a data set. read: gives data sets, each read once. reach: what
    executing them runs and sends. unread: notebooks that are not executed, for nobody has answered for them.
    """

    sources: dict[str, Any]
    defaults: dict[str, dict[str, Any]]
    values: dict[str, dict[str, Any]]
    left_out: tuple[Lack, ...]
    asked: list[Request]
    read: Read
    reach: tuple[trust.Item, ...]
    unread: tuple[str, ...] = ()


def prepared(
    notebooks: Sequence[Path | str],
    wanted: dict[str, Any],
    language: str | None,
    *,
    lenient: bool = False,
    asking: bool = True,
) -> Prepared:
    """What is executed, once all is known to be there that can be known; see `run`.

    wanted: gets the language, where a notebook has such a parameter and none was asked for. asking: whether endpoints
    may be asked, too.
    """
    paths = [find(notebook) for notebook in notebooks]
    _refuse_twice(paths)
    reached = reach(paths, wanted)
    if asking:
        trust.require(*reached)
    unread = tuple(path.stem for path in paths if not asking and trust.doubts(*trust.notebooks([path])))
    paths = [path for path in paths if path.stem not in unread]
    sources = {path.stem: drawing.notebook_at(path) for path in sorted(paths, key=lambda path: path.stem == OVERVIEW)}
    declared = {name: defaults(notebook, name) for name, notebook in sources.items()}
    if language is not None and any("language" in names for names in declared.values()):
        wanted.setdefault("language", language)
    values = chosen(wanted, declared)
    _refuse_unfit(sources, {name: {**declared[name], **values[name]} for name in sources}, values)
    known = settings.load()
    asked = {name: requests(notebook, {**declared[name], **values[name]}) for name, notebook in sources.items()}
    named = str(wanted.get("dataset") or "")
    read = reader(known)
    left_out = lacks(asked, known, named, read)
    for lack in left_out:
        del sources[lack.page], asked[lack.page]
    if left_out and (not lenient or not sources.keys() - {OVERVIEW}):
        said = "\n".join(f"{absent.page} {absent.sentence(translator('en'))}" for absent in left_out)
        hints = " ".join(dict.fromkeys(filter(None, (_hint(absent) for absent in left_out))))
        raise BenchError(f"{said}. {hints}`ragbench doctor` lists the pages that the data allow")
    every = [request for of_page in asked.values() for request in of_page]
    readiness.check(every, known, asking=asking)
    for name, notebook in sources.items():
        inject(notebook, values[name])
    return Prepared(sources, declared, values, left_out, every, read, reached, unread)


def _hint(absent: Lack) -> str:
    """How the data come by what a page lacks, where that is not in its name."""
    if absent.absent or absent.needed.any_of[0] not in (Need.RELEVANT, Need.PAGES, Need.PASSAGES):
        own = "A system that answers by itself is scored by its name: -p systems=NAME. "
        return own if absent.page == "rag_metrics" else ""
    more = {"tier1_retrieval": "; where the labels are pages, as in a log: -p unit=url",
            "tier2_generation": ", or let generators answer without passages: -p context=none"}  # fmt: skip
    seen = "What a service or a function answers by itself is measured by tier3_end_to_end"
    if "pool" in annexes.offered("commands"):
        name = absent.dataset.partition(":")[0]
        seen += f"; what it returned there becomes passages with labels by ragbench pool {name} --adopt --judge JUDGE"
    return (
        "Passages come with the questions: in columns chunk_id and chunk_text, in reference_contexts, or as "
        "relevant_chunk_ids of a base (ragbench load questions FILE --name NAME --chunks-from BASE), such as documents "
        f"(ragbench load documents FOLDER --name BASE)"
        f"{more.get(absent.page, '')}. {seen}. "
    )


def lacking(notebooks: Sequence[Path | str]) -> tuple[Lack, ...]:
    """Which notebooks lack data, with their own parameters."""
    sources = {path.stem: drawing.notebook_at(path) for path in map(find, notebooks)}
    asked = {name: requests(notebook, defaults(notebook, name)) for name, notebook in sources.items()}
    return lacks(asked, settings.load())


def lacks(
    asked: Mapping[str, Sequence[Request]], known: settings.Settings, dataset: str = "", read: Read | None = None
) -> tuple[Lack, ...]:
    """Pages that lack something, each with the first thing that it lacks.

    asked: by page what it asks of the tiers. dataset: that is named for all of them; empty: as in the settings. read:
    gives a data set, see `reader`.
    Raises DatasetError for a data set that cannot be read, and for one that is not there though somebody named it.
    """
    read = read or reader(known)

    def data(name: str, language: str = "") -> Dataset | None:
        return read(name, language) if _is_there(name, known) else None

    default = dataset or known.dataset
    needing = [request for requests in asked.values() for request in requests if request.needed(known)]
    if default not in {request.place(default)[0] for request in needing}:
        data(default)
    first: dict[str, Lack] = {}
    for page, requests in asked.items():
        for request in requests:
            name, language = request.place(default)
            for needed in request.needed(known):
                own = data(name, language)
                lack = needed.lack(page, own, name if own is None else own.label)
                if lack is not None:
                    first.setdefault(page, lack)
    return tuple(first.values())


def reader(known: settings.Settings) -> Read:
    """Reads each data set once."""
    return cache(lambda name, language: dataset_of(name, known, language))


def _is_there(name: str, known: settings.Settings) -> bool:
    """Whether the data set is there, or is to be there: only the one that nobody named may be missing.

    The sample data stand in for none: a project that names them measures them.
    """
    if "dataset" in known.model_fields_set or name != known.dataset or name.startswith(OWN_TABLES):
        return True
    return name in available(places.own_data())


def _refuse_unfit(
    sources: Mapping[str, Any], whole: Mapping[str, Mapping[str, Any]], given: Mapping[str, Mapping[str, Any]]
) -> None:
    """Raise what the first notebook says of its parameters; of several, with its name and those that take them."""
    refused: dict[str, BenchError] = {}
    for name, notebook in sources.items():
        try:
            checked(notebook, whole[name])
        except BenchError as error:
            refused[name] = error
    if not refused:
        return
    name, first = next(iter(refused.items()))
    if len(sources) == 1:
        raise first
    own = given[name].keys() - OF_EVERY_PAGE
    fit = [other for other in sources if own and other not in refused and own <= given[other].keys()]
    more = f"; it goes to every notebook that has the parameter, of which {', '.join(fit)} would take it" if fit else ""
    raise BenchError(f"{name}: {first}{more}")


def reach(notebooks: Sequence[Path | str], given: Mapping[str, Any]) -> tuple[trust.Item, ...]:
    """What executing these notebooks with these parameters would run and send."""
    functions = [name for name in parted(given.get("judges") or "") if ":" in name and not is_log(name)]
    judges = [trust.Item("code", "judges", f"runs {name}") for name in functions]
    return (*trust.named(), *trust.notebooks(find(notebook) for notebook in notebooks), *judges)


def find(notebook: Path | str) -> Path:
    """The path of a notebook that is named by its path, or by its name; see `ragbench.old.data.places`."""
    path = Path(notebook)
    for candidate in (path, places.notebook(path.name), places.notebook(f"{path.name}.ipynb")):
        if candidate is not None and candidate.suffix == ".ipynb" and candidate.is_file():
            return candidate
    there = places.notebooks()
    named = names([other.stem for other in there])
    raise FileNotFoundError(f"there is no notebook {str(notebook)!r}; {there[0].parent.name}/ has {named}")


def _refuse_twice(paths: Sequence[Path]) -> None:
    stems = [path.stem for path in paths]
    twice = sorted({stem for stem in stems if stems.count(stem) > 1 or stem == "index"})
    if twice:
        raise ValueError(f"pages are named after notebooks: {', '.join(twice)} cannot be, or is given twice")
