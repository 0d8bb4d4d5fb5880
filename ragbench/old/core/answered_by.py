"""Which model says that it answered, held against the one that was asked: what is said of it, and when it warns."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, Literal

from ragbench.old.core.language import Translator

Role = Literal["judge", "generator", "embedder", "reranker", "system"]
Kinship = Literal["same", "alias", "other"]

SYSTEM, SHAPE = "system", "json_schema"
"""What can be unsent and is no parameter; see `ragbench.old.llm.request`."""
SHOWN_MODELS, SHOWN_CHARACTERS = 5, 80  # a line of the page
_ROUTE = re.compile(r":(?:free|nitro|floor|beta|extended|online|latest|exacto)$")
_SNAPSHOT = re.compile(r"[-@._:](?:\d{4}-\d{2}-\d{2}|\d{8}|\d{6}|\d{3,4}|latest)$")


@dataclass(frozen=True)
class AnsweredBy:
    """One model that was asked, and the names that its replies gave.

    role: what it was asked as; name: in ragbench.toml. asked: the model's name there. replies: how many gave each name.
    imported: how many of its replies came in a file, from somebody who says that the model gave them; whole: of how
    many. unsent: how many replies were asked without what their endpoint refuses, by its name.
    """

    role: Role
    name: str
    asked: str
    replies: Mapping[str, int]
    imported: int = 0
    whole: int = 0
    unsent: Mapping[str, int] = field(default_factory=dict)

    @property
    def warns(self) -> bool:
        """Whether the numbers may be another model's, or somebody's."""
        return self.kinship == "other" or self.imported > 0

    @property
    def kinship(self) -> Kinship:
        """same: all gave the name that was asked; other: one gave another model's, or two gave each other's."""
        kinships = {kinship(self.asked, name) for name in self.replies}
        kinships |= {kinship(name, two) for name, two in combinations(self.replies, 2)} - {"same"}
        return "other" if "other" in kinships else "alias" if "alias" in kinships else "same"

    @property
    def fact(self) -> dict[str, Any]:
        """As plain values."""
        known = {"role": self.role, "name": self.name, "asked": self.asked, "replies": dict(self.replies)}
        came = {"imported": self.imported, "whole": self.whole} if self.imported else {}
        less = {"unsent": dict(self.unsent)} if self.unsent else {}
        return {**known, "kinship": self.kinship, **came, **less}


def kinship(asked: str, served: str) -> Kinship:
    """Whether two names are of one model.

    alias: they differ by what does not change the model: a provider's prefix (`openai/gpt-4o`), a route (`:free`), or
    one of them alone names a snapshot (`gpt-4o-2024-08-06`). Two different snapshots are two models.
    """
    if asked.strip() == served.strip():
        return "same"
    first, second = _plain(asked), _plain(served)
    if first == second or _SNAPSHOT.sub("", first) == second or first == _SNAPSHOT.sub("", second):
        return "alias"
    return "other"


def of(known: Mapping[str, Any]) -> tuple[AnsweredBy, ...]:
    """The models of a measurement's facts whose replies said who gave them."""
    answerers: dict[tuple[Role, str], AnsweredBy] = {}
    judges = [judge for judge in known.get("judges") or () if isinstance(judge, Mapping)]
    generators = [generator for generator in (known.get("generators") or {}).values() if isinstance(generator, Mapping)]
    for role, models in (("judge", judges), ("generator", generators)):
        for entry in models:
            usage = entry.get("usage") or {}
            replies, asked = (
                entry.get("answered_by") or usage.get("answered_by"),
                entry.get("model") or usage.get("model"),
            )
            came, whole = int(usage.get("imported") or 0), int(usage.get("replies") or 0)
            unsent = entry.get("unsent") or usage.get("unsent") or {}
            if (replies or came or unsent) and asked:
                name = str(entry["name"])
                made = AnsweredBy(role, name, str(asked), replies or {}, came, whole, unsent)  # type: ignore[arg-type]
                _add(answerers, made)
    for entry in known.get("systems") or ():
        if isinstance(entry, Mapping) and isinstance(entry.get("embedder_answered_by"), Mapping):
            told = entry["embedder_answered_by"]
            name = str(entry["embedder"])  # systems that share it tell the same of it
            answerers["embedder", name] = AnsweredBy("embedder", name, str(told["asked"]), told["replies"])
    for told in known.get("answered_by") or ():
        counts = {"imported": told.get("imported", 0), "whole": told.get("whole", 0), "unsent": told.get("unsent", {})}
        _add(answerers, AnsweredBy(told["role"], told["name"], told["asked"], told["replies"], **counts))
    return tuple(answerers.values())


def of_runs(runs: Iterable[tuple[str, Iterable[Mapping[str, Any]]]]) -> list[dict[str, Any]]:
    """Those that warn of several runs, as the fact `answered_by`. runs: what each is called, and facts of its pages."""
    every = ((run, model) for run, facts in runs for model in together(facts))
    return [replace(model, name=f"{model.name} ({run})").fact for run, model in every if model.warns]


def together(facts: Iterable[Mapping[str, Any]]) -> tuple[AnsweredBy, ...]:
    """The same of several measurements, added up."""
    totals: dict[tuple[Role, str], AnsweredBy] = {}
    for known in facts:
        for model in of(known):
            _add(totals, model)
    return tuple(totals.values())


def sentence(model: AnsweredBy, _: Translator) -> str:
    """What is to be said of it; empty where all replies gave the name that was asked, none was imported, and all were
    asked with all that was meant."""
    if model.kinship == "same" and not model.imported and not model.unsent:
        return ""
    who = {
        "judge": _("Judge {name}", name=model.name),
        "generator": _("Generator {name}", name=model.name),
        "embedder": _("Embedder {name}", name=model.name),
        "reranker": _("Reranker {name}", name=model.name),
        "system": _("System {name}", name=model.name),
    }[model.role]
    said = {"who": who, "asked": model.asked, "models": models(model, _)}
    texts = []
    if model.kinship == "alias":
        texts.append(_("{who}: the model asked was {asked}; its replies call it {models}.", **said))
    if model.kinship == "other":
        texts.append(
            _(
                "{who}: the model asked was {asked}, but the replies name another: {models}. The numbers are of the "
                "model that answered.",
                **said,
            )
        )
    if model.imported:
        counts = {"imported": _.integer(model.imported), "whole": _.integer(model.whole)}
        texts.append(
            _(
                "{who}: {imported} of {whole} replies were imported from a file: the numbers are as true as whoever "
                "made it.",
                who=who,
                **counts,
            )
        )
    if model.unsent:
        names = [name for name in model.unsent if name not in (SYSTEM, SHAPE)]
        names += [_("a role for the rules, which stand before the question")] if SYSTEM in model.unsent else []
        names += [_("a JSON schema; the shape was asked for otherwise")] if SHAPE in model.unsent else []
        texts.append(
            _.plural(
                "{who}: {n} reply was asked for without what the endpoint refuses or ignores: {names}.",
                "{who}: {n} replies were asked for without what the endpoint refuses or ignores: {names}.",
                max(model.unsent.values()),
                who=who,
                names=_.enumeration(names),
            )
        )
    return " ".join(texts)


def warnings(known: Mapping[str, Any], _: Translator) -> list[str]:
    """What has to stand beside the numbers of a measurement's facts: they may be another model's, or somebody's."""
    return [sentence(model, _) for model in of(known) if model.warns]


def models(model: AnsweredBy, _: Translator) -> str:
    """The names that the replies gave, each with how many did: `gpt-4o-mini (12)`; the most frequent ones first."""
    most = sorted(model.replies.items(), key=lambda item: (-item[1], item[0]))
    short = {name: name if len(name) <= SHOWN_CHARACTERS else f"{name[:SHOWN_CHARACTERS]}…" for name, count in most}
    listed = [f"{short[name]} ({_.integer(count)})" for name, count in most[:SHOWN_MODELS]]
    if (rest := len(most) - SHOWN_MODELS) > 0:
        listed.append(_.plural("{n} name more", "{n} names more", rest))
    return _.enumeration(listed)


def _plain(name: str) -> str:
    return _ROUTE.sub("", name.strip().lower().rsplit("/", 1)[-1].removesuffix(".gguf"))


def _add(totals: dict[tuple[Role, str], AnsweredBy], added: AnsweredBy) -> None:
    before = totals.get((added.role, added.name))
    replies = Counter(before.replies if before is not None else ())
    replies.update({str(model): int(count) for model, count in added.replies.items()})
    came = added.imported + (before.imported if before else 0)
    whole = added.whole + (before.whole if before else 0)
    unsent = Counter(before.unsent if before else ())
    unsent.update(added.unsent)
    totals[added.role, added.name] = AnsweredBy(
        added.role, added.name, added.asked, dict(replies), came, whole, dict(unsent)
    )
