"""From a name, a table, a function or an object to a judge."""

from __future__ import annotations

import inspect
import os
from collections.abc import Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ragbench.core.code import load_object
from ragbench.core.errors import BenchError, suggest
from ragbench.core.settings import Endpoint, JudgeTable, Settings, say_what_is_wrong
from ragbench.judge.lexical import LEXICAL, OfflineJudge
from ragbench.judge.model import ModelJudge
from ragbench.judge.own import ObjectJudge, adapt_function, find_function
from ragbench.judge.panel import Panel, Rule
from ragbench.llm import Client, Journal, Spending, resolve
from ragbench.metrics.judging import Prompt, own_prompts

# Where replies are kept: a path, or a URL of PostgreSQL that workers share. No key of
# ragbench.toml, since it may hold a password.
JOURNAL = "RAGBENCH_JOURNAL"
Place = Journal | str | Path | None
ADDRESSES = ("openai_api_base", "azure_endpoint", "base_url")  # of chat models of LangChain


def open_judge(
    given: Any,
    settings: Settings,
    language: str = "",
    *,
    journal: Place = None,
    spending: Spending | None = None,
    prompts: Mapping[str, Prompt[Any]] | None = None,
    planning: bool = False,
) -> Any:
    """Return a judge, to be entered by `async with`.

    given: "lexical" or the name of [judges.NAME]; a function of the prompt, a chat model, an
    object with `ask`, a judge; or a list of these, which is a panel by the rule of the settings.
    language: of prompts; "" for that of the texts. journal: None for the usual one. spending:
    shared by the models of a run. planning: nobody is asked. Raises BenchError for what is none.
    """
    spending = spending or Spending(settings.budget)
    if isinstance(given, list | tuple):
        options: dict[str, Any] = {"journal": journal, "spending": spending, "prompts": prompts}
        options["planning"] = planning
        judges = [open_judge(each, settings, language, **options) for each in given]
        rule = Rule(settings.aggregate, settings.tolerance, settings.quorum)
        return judges[0] if len(judges) == 1 else Panel(judges, rule)
    if given == LEXICAL:
        return OfflineJudge(language)
    if isinstance(given, str):
        given = open_named(given, settings, journal)
    elif not isinstance(given, ModelJudge | ObjectJudge | OfflineJudge | Panel):
        given = own_judge(given, journal=journal)
    if isinstance(given, ModelJudge):
        given.client.spending = spending
        words = {**project_prompts(settings), **(prompts or {}), **given.prompts}
        return replace(
            given, language=given.language or language, prompts=words, is_planning=planning
        )
    return given


def project_prompts(settings: Settings) -> dict[str, Prompt[Any]]:
    """Return the prompts that a project has words of its own for: [metrics.NAME] prompt = …."""
    import_module("ragbench.metrics")  # declares all prompts
    texts = {name: table.prompt for name, table in settings.metrics.items() if table.prompt}
    return own_prompts(texts, settings.root)


def open_named(name: str, settings: Settings, journal: Place) -> Any:
    """Open the judge of a table [judges.NAME]."""
    if name not in settings.judges:
        known = [LEXICAL, *settings.judges]
        raise BenchError(
            f"there is no judge {name!r}{suggest(name, known)}; there are {', '.join(known)}"
        )
    table = settings.judges[name]
    function = load_object(table.callable, settings.root) if table.callable else None
    client = load_object(table.client, settings.root) if table.client else None
    client = client() if inspect.isfunction(client) else client
    return make_judge(name, table, function, client, journal, settings.providers)


def own_judge(
    given: Any = None,
    *,
    name: str = "",
    client: Any = None,
    journal: Place = None,
    **table: Any,
) -> Any:
    """Make a judge of what stands in no file.

    given: a function of the prompt's text, a chat model of LangChain, an object with `ask`, or
    the name of a model, with base_url=, provider= or client= (openai's AsyncOpenAI) and the other
    keys of [judges.NAME]. The replies of a function are kept only where model= says which model
    answers, since another version of the function is not seen.
    """
    if isinstance(given, str):
        table["model"] = given
        given = None
    try:
        checked = JudgeTable.model_validate(table)
    except ValidationError as error:
        raise BenchError(f"judge: {say_what_is_wrong(error, JudgeTable)}") from None
    return make_judge(name, checked, given, client, journal, {})


def make_judge(
    name: str,
    table: JudgeTable,
    given: Any,
    openai_client: Any,
    journal: Place,
    providers: Mapping[str, Endpoint],
) -> Any:
    """Make a judge of an endpoint, or of the user's function or object, if one is given."""
    if name == LEXICAL:
        raise BenchError(f"{name!r} is the name of the offline judge; take another")
    if callable(getattr(given, "ask", None)):
        options = table.model_fields_set - {"callable"}
        if options:
            told = ", ".join(sorted(options))
            raise BenchError(f"an object with ask is asked as it is; leave out {told}")
        return ObjectJudge(given, name)
    if given is None:
        if not table.model:
            raise BenchError(
                "judge: give a model with base_url=, provider= or client=, a function of the "
                "prompt, or an object with ask"
            )
        if openai_client is None:
            table = resolve(f"judge {name or table.model}", table, providers)
        journal = journal or default_journal()
        client = Client(table, journal, name=name, openai_client=openai_client)
        return ModelJudge(client, table.mode)
    function = find_function(given)
    model = table.model or str(getattr(given, "model_name", ""))
    called = name or model or getattr(given, "__name__", type(given).__name__)
    # A function is asked once, since it may try again itself; a plain one without company, since
    # nobody knows whether threads may share it.
    usual: dict[str, Any] = {"attempts": 1, "replies": "text", "model": model}
    # Models of one name at two addresses say different things.
    addresses = [getattr(given, place, None) for place in ADDRESSES]
    usual["base_url"] = str(next(filter(None, addresses), ""))
    if not inspect.iscoroutinefunction(function):
        usual["concurrency"] = 1
    table = table.model_copy(update={**usual, **table.model_dump(exclude_unset=True)})
    journal = journal or (default_journal() if model else None)
    client = Client(table, journal, name=called, function=adapt_function(function))
    return ModelJudge(client, table.mode)


def default_journal() -> str | Path:
    """Return where replies are kept when nobody says where: in the user's data folder."""
    import platformdirs

    shared = os.environ.get(JOURNAL) or os.environ.get("RAGBENCH_DATABASE_URL")
    return shared or platformdirs.user_data_path("ragbench") / "replies.sqlite"
