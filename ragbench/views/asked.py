"""One call from what somebody has to its page: objects as systems, tables as data, no settings needed."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ragbench import tiers
from ragbench.core.measurement import Measurement
from ragbench.views.page import Page

HOW = """{first}

    page = rb.{name}(systems={{"v1": search, "v2": other}}, dataset=questions, documents=passages)

{systems}
dataset: {data} Also a name below data/, a folder as a Path, or what `rb.load` returns.
documents: the passages, where `dataset` is a table: a list of texts, mappings or documents of a framework, a mapping
    from id to text, or a data frame with a text, and an id at will; without ids their places count, from 0.

Nothing of a ragbench.toml is needed, and no folder has to be trusted for what is handed over. Every other parameter is
that of `rb.tiers.{tier}`. Returns the page: it shows itself, and its views are those of `rb.views`.
Raises BenchError for what is no system, DatasetError for what is no data, each with what is legal.
"""
SYSTEMS = {
    "retrievers": [
        "systems: by name a function of (question, k) or of the question alone, an object of LangChain, LlamaIndex or",
        'Haystack, results as a data frame, a list or a file, {"retriever": …, "generator": …}, or a name, such as',
        '"bm25". The first is the baseline. What a function returns in rank order: ids, texts, pairs of either with a',
        'score, mappings, or {"answer": …, "retrieved": …} of a system that answers by itself.',
    ],
    "writers": [
        "systems: by name a function of (question, texts of the contexts) that returns the answer, a runnable of",
        "LangChain that takes a question and a context, or answers as a data frame, a list or a file. The first is the",
        "baseline.",
    ],
    "embedders": [
        "systems: by name a function of a list of texts that returns a vector for each, an embedder of LangChain,",
        'LlamaIndex or sentence-transformers, or a name, such as "hashing".',
    ],
    "answers": [
        "systems: by name a table of answers (a data frame, a list or a file), or a system that answers the questions",
        "of `dataset` when it is asked, as for `rb.tier3`. `answers` takes one table that names its systems in a",
        "column.",
    ],
}
TABLES = {
    "questions": "a data frame or a list of questions: question, and at will id, reference, relevant (ids, texts or\n"
    "    places of passages, or their grades), kind, cluster, answerable.",
    "history": "a data frame or a list of logged questions: question, and at will answer, url, score, user, asked_at;\n"
    '    or {"dialogues": …}, a list of lists of messages.',
    "documents": "a data frame or a list of texts.",
}
TIERS = {
    "tier0": "tier0_embeddings",
    "tier1": "tier1_retrieval",
    "tier2": "tier2_generation",
    "tier3": "tier3_end_to_end",
    "ux": "tier_ux",
    "rag_metrics": "rag_metrics",
    "real_users": "real_users",
}


def _paged(name: str, tier: str) -> Callable[..., Page]:
    def measured(*args: Any, **given: Any) -> Page:
        if len(args) > 2:
            raise TypeError(f"{name} takes systems and dataset by their places, everything else by name")
        named = dict(zip(("systems", "dataset"), args, strict=False)) | given
        asked = {key: value for key, value in named.items() if key != "documents" or value is not None}
        measurement: Measurement = getattr(tiers, tier)(**asked)
        return Page(measurement, language=str(named.get("language", "en")))

    request = getattr(tiers, tier).request
    first = inspect.cleandoc(getattr(tiers, tier).__doc__).partition("\n")[0]
    said = {"systems": "\n    ".join(SYSTEMS[request.reads]), "data": TABLES[request.reads_table]}
    measured.__doc__ = HOW.format(name=name, tier=tier, first=first, **said)
    measured.__name__ = measured.__qualname__ = name
    documents = inspect.Parameter("documents", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Any)
    own = request.signature().parameters
    leading = [own["systems"], own["dataset"]]
    rest = [parameter for key, parameter in own.items() if key not in ("systems", "dataset", "notebook")]
    measured.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [*(parameter.replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=Any) for parameter in leading),
         documents, *rest], return_annotation=Page,
    )  # fmt: skip
    return measured


tier0, tier1, tier2, tier3, ux, rag_metrics, real_users = (_paged(*place) for place in TIERS.items())
