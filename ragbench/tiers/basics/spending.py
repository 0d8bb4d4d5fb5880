"""What the replies that a page was made from cost, and of a sample of questions what those of all would."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragbench.core.measurement import Measurement
from ragbench.core.settings import Settings
from ragbench.llm import Price


def spent(made: Measurement, known: Settings) -> dict[str, float]:
    """Replies of models that the page was made from, and what they cost, whether paid for now or earlier; or nothing.

    Answers of a generator are priced as ragbench.toml prices it. unpriced: how many have no price, and no money here.
    """
    judges = [judge for judge in made.facts.get("judges") or () if isinstance(judge, Mapping)]
    used = [judge["usage"] for judge in judges if judge.get("usage")]
    calls, money = sum(int(usage["replies"]) for usage in used), sum(float(usage["cost"]) for usage in used)
    unpriced = sum(int(usage.get("unpriced") or 0) for usage in used)
    answers = made.extra.get("answers")
    generators = made.facts.get("generators") or {}
    if answers is not None and "input_tokens" in answers:
        written = answers.dropna(subset=["input_tokens", "output_tokens"])
        for system, own in written.groupby("system"):
            generator = known.generators.get(str(generators.get(system, {}).get("name")))
            calls += len(own)
            if generator is None or not generator.is_priced:
                unpriced += len(own)
            else:
                price = Price(generator.input_price, generator.output_price)
                money += price.of(float(own["input_tokens"].sum()), float(own["output_tokens"].sum()))
    return {"calls": calls, "money": round(money, 9), "unpriced": unpriced} if calls else {}


def of_all(made: Measurement, known: Settings) -> dict[str, Any]:
    """The fact `part_of_all` with what all questions would take of models: `calls`, and `money` where all has a price;
    nothing of a page that has measured all."""
    taken = made.facts.get("part_of_all")
    if not taken:
        return {}
    here = spent(made, known)
    return {"part_of_all": scaled(taken, **here) if here else {**taken}}


def scaled(taken: Mapping[str, Any], calls: float, money: float, unpriced: float) -> dict[str, Any]:
    """The fact `part_of_all`, with what all would take where so much was taken for these."""
    scale = taken["of"] / taken["n"]
    told = {"calls": round(calls * scale)} if calls else {}
    return {**taken, **told, **({"money": round(money * scale, 9)} if calls and not unpriced else {})}
