"""Which parts of a measurement only stand in for a model, and the sentence that goes wherever its numbers go."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ragbench.language import Translator

Part = Literal["retrieval", "embedder", "generator", "judge", ""]


@dataclass(frozen=True)
class StandIn:
    """An offline default in a measurement.

    part: what it does; "" where an older measurement tells its name alone. name: its own, of a retrieval the system's.
    systems: whose numbers it made; empty: those of all.
    """

    part: Part
    name: str
    systems: tuple[str, ...] = ()

    @property
    def fact(self) -> dict[str, Any]:
        """As plain values."""
        return {"part": self.part, "name": self.name, "systems": list(self.systems)}


def facts(part: Part, names: Iterable[str], *, own: bool = False) -> list[dict[str, Any]]:
    """Entries of the fact `stand_ins`. own: each made the numbers of the system that has its name, and no other's."""
    return [StandIn(part, name, (name,) if own else ()).fact for name in dict.fromkeys(names)]


def of(known: Mapping[str, Any], system: str | None = None) -> tuple[StandIn, ...]:
    """The stand-ins that a measurement's facts tell of, in `stand_ins`, `generators` and `judges`, each once.

    system: only those that made numbers of this system.
    """
    found = [*_listed(known.get("stand_ins")), *_generators(known.get("generators")), *_judges(known.get("judges"))]
    once = {(one.part, one.name): one for one in reversed(found)}
    kept = dict.fromkeys(once[one.part, one.name] for one in found)
    return tuple(one for one in kept if system is None or not one.systems or system in one.systems)


def caveat(found: Iterable[StandIn], _: Translator) -> str:
    """The sentence on the stand-ins; empty where there are none."""
    named = names(found, _)
    if not named:
        return ""
    return _(
        "Measured with offline stand-ins: {names}. They show that everything works, not how good a real model is.",
        names=named,
    )


def names(found: Iterable[StandIn], _: Translator) -> str:
    """`retrieval of ngrams, letters; judge lexical`."""
    by_part: dict[str, dict[str, None]] = {}
    for one in found:
        by_part.setdefault(one.part, {})[one.name] = None
    words = {
        "retrieval": _("retrieval of {names}"),
        "embedder": _("embedder {names}"),
        "generator": _("generator {names}"),
        "judge": _("judge {names}"),
        "": "{names}",
    }
    return "; ".join(words[part].replace("{names}", ", ".join(by_part[part])) for part in words if part in by_part)


def _listed(given: Any) -> list[StandIn]:
    found = []
    for one in given or ():
        if isinstance(one, Mapping):
            systems = tuple(map(str, one.get("systems") or ()))
            found.append(StandIn(one["part"], str(one["name"]), systems))
        else:
            found.append(StandIn("", str(one)))
    return found


def _generators(given: Any) -> list[StandIn]:
    systems: dict[str, list[str]] = {}
    for system, one in (given or {}).items():
        if one.get("stand_in"):
            systems.setdefault(str(one["name"]), []).append(str(system))
    return [StandIn("generator", name, tuple(own)) for name, own in systems.items()]


def _judges(given: Any) -> list[StandIn]:
    return [
        StandIn("judge", str(one["name"]))
        for one in given or ()
        if isinstance(one, Mapping) and one.get("stand_in") and one.get("name")
    ]
