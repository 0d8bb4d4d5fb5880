"""Where the numbers come from, so that somebody else can have them again. No clock and no path."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ragbench.core.parts import Content, Phrase, Styled, Text, joined, terms
from ragbench.core.stand_ins import names as names_of
from ragbench.core.stand_ins import of
from ragbench.views.basics.material import Material
from ragbench.views.basics.text import clean, shown
from ragbench.views.sentences.facts import unit
from ragbench.views.sentences.judges import known
from ragbench.views.view import view

_PATH = re.compile(r"(?<![\w.-])(?:[A-Za-z]:[\\/]|/|~/)(?:[^\s,;:'\"]+[\\/])+([^\s,;:'\"\\/]*)")

PLAIN = frozenset({"unit", "seed", "data_hash", "commit"})
NO_LICENCE = "not stated"
"""What a data set keeps where nobody named its licence."""
WHO = ("name", "model", "mode")
MADE = ("name", "kind", "stand_in", "own")
"""Of a generator, its name, and what the sentences on it say."""
IDENTITIES = ("embedder_identity",)


@view("provenance")
def provenance(material: Material, present: frozenset[str]) -> Content:
    """Where the numbers come from: data, systems, parameters, seeds, versions, commit."""
    return (Text(material.text("Provenance"), "h2"), terms(_rows(material)))


def _rows(material: Material) -> list[tuple[Phrase, Phrase]]:
    rows = list[tuple[Phrase, Phrase]]()
    for key, name in _names(material).items():
        value: Any = material.facts.get(key)
        if key == "stand_ins":
            value = names_of(of(material.facts), material.text)
        if value in (None, "", [], {}):
            continue
        if key == "judges":
            value = [
                ", ".join(str(judge[name]) for name in WHO if judge.get(name)) for judge in known(material)
            ] or value
        if key == "answers":
            value = {
                "rated answers": material.text("rated answers"),
                "logged answers": material.text("logged answers"),
            }.get(value, value)
        if key == "licence" and value == NO_LICENCE:
            value = material.text("not stated")
        if key == "generators":
            own = ((Styled(shown(system), "code"), " ", generator(material, told)) for system, told in value.items())
            text: Phrase = Styled(joined("; ", own), look="rb-list")
        else:
            text = shown(unit(material) if key == "unit" else value) if key in PLAIN else flat(material, value)
        rows.append((name, text))
    for system in material.facts.get("systems", ()):
        for key in IDENTITIES:
            if isinstance(system, Mapping) and system.get(key):
                name = material.text("embedder of {system}", system=clean(system.get("name")))
                rows.append((name, flat(material, system[key])))
    return rows


def _names(material: Material) -> dict[str, str]:
    """What is told of where numbers come from, in its order; all other facts stand in sentences, tables or parameters
    of the page."""
    _ = material.text
    return {
        "dataset": _("data set"),
        "data_hash": _("hash of the data"),
        "n_questions": _("questions"),
        "n_chunks": _("passages"),
        "unit": _("unit"),
        "baseline": _("baseline"),
        "seed": _("seed"),
        "level": _("confidence level"),
        "resamples": _("resamples"),
        "stand_ins": _("offline stand-ins"),
        "judge": _("judge"),
        "judges": _("judges"),
        "aggregate": _("how judges become one"),
        "quorum": _("judges that a score needs"),
        "parameters": _("parameters"),
        "cutoffs": _("cut-offs"),
        "depth": _("depth"),
        "commit": _("commit"),
        "versions": _("versions"),
        "licence": _("licence"),
        "dataset_title": _("title of the data set"),
        "n_without_relevant": _("questions without a relevant passage"),
        "n_clusters": _("independent groups"),
        "k": _("depth of rankings"),
        "unanswered": _("questions without a result"),
        "repeats": _("times every question was asked"),
        "part_of_all": _("sample of the questions"),
        "sampled": _("texts of a table that are searched for names"),
        "told": _("texts of a table whose language is told, at most"),
        "timed_questions": _("questions that were timed"),
        "slices_left_out": _("slices that are not shown"),
        "left_out": _("left out when the data were read"),
        "answers": _("answers"),
        "calls": _("calls of judges"),
        "embedder": _("embedder of metrics"),
        "generators": _("generators"),
        "key_metrics": _("key metrics"),
        "languages": _("languages"),
        "masked": _("users' ids and addresses masked"),
        "n_history": _("past questions"),
        "n_page_gone": _("past questions whose page is gone"),
        "n_without_vector": _("past questions without a vector"),
        "n_sessions": _("dialogues"),
        "n_texts": _("texts"),
        "n_to_be_shown": _("answers to be shown"),
        "n_topics": _("topics"),
        "n_unanswerable": _("questions without an answer in the base"),
        "n_users": _("users"),
        "n_without_context": _("questions without a passage to answer from"),
        "n_without_page": _("past questions without a page"),
        "raters": _("people who rated"),
        "threshold_set": _("set of thresholds"),
        "topics_embedder": _("embedder of topics"),
    }


def generator(material: Material, told: Mapping[str, Any]) -> Phrase:
    """A generator by its name, and how it is set."""
    how = flat(material, {key: value for key, value in told.items() if key not in MADE})
    return joined(", ", (shown(told.get("name")), how))


def flat(material: Material, value: Any) -> Phrase:
    """A JSON value as a line of text; of a path only its last part."""
    if isinstance(value, Mapping):
        parts = [
            (Styled(shown(key), "code"), " ", flat(material, item)) for key, item in value.items() if item is not None
        ]
        return Styled(joined(", ", parts), look="rb-list")
    if isinstance(value, Sequence) and not isinstance(value, str):
        return joined(", ", [flat(material, item) for item in value])
    if isinstance(value, bool):
        return shown(material.text("yes") if value else material.text("no"))
    if isinstance(value, int):
        return shown(value if abs(value) > 10**7 else material.text.integer(value))
    if isinstance(value, float):
        return shown(material.text.number(value, 6).rstrip("0").rstrip(".,"))
    return shown(_PATH.sub(r"\1", str(value)), 300)
