"""What a tier can be asked: defaults that are legal, wrong types refused with what is legal, a signature that tells."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from ragbench import bench
from ragbench.bench import BenchError
from ragbench.bench.basics.requests import legal

TIERS = [each for name in bench.__all__ if hasattr(each := getattr(bench, name), "request")]


@pytest.mark.parametrize("tier", TIERS, ids=lambda tier: tier.__name__)
def test_the_defaults_are_legal_and_every_parameter_is_told(tier: Any) -> None:
    made = tier.request(**{name: field.default for name, field in tier.request.parameters().items()})
    assert made == tier.request()
    assert made.notebook == tier.__name__
    assert list(inspect.signature(tier).parameters) == [*tier.request.parameters(), "notebook"]
    for name, field in tier.request.parameters().items():
        assert f"\n{name}: {field.description}. Legal: {legal(field)}." in tier.__doc__


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"k": "5"}, "k = '5': a whole number from 1 to 1000 is expected (documents of each ranking"),
        ({"k": 5.0}, "k = 5.0: a whole number"), ({"k": True}, "k = True: a whole number"),
        ({"level": "high"}, "level = 'high': a number above 0 and below 1 is expected"),
        ({"level": float("nan")}, "level = nan: a number"), ({"fresh_timings": 1}, "1: True or False is expected"),
        ({"dataset": None}, "dataset = None: a text is expected"), ({"systems": 5}, "5: a text or a list of texts is"),
        ({"systems": ["a", 5]}, "systems = ['a', 5]: a text or a list of texts is expected"),
        ({"ef_searches": 5}, "ef_searches = 5: a list, each item a whole number from 1 to 1000 is expected"),
        ({"ef_searches": [10, "x"]}, "each of ef_searches = 'x': a whole number from 1 to 1000 is expected"),
        ({"language": "fr"}, "language = 'fr': en or ru is expected"),
        ({"sytems": "a"}, "there is no parameter 'sytems'; did you mean 'systems'?; there are dataset, systems, "),
        ({"slice_by": "age"}, "slice_by names 'age'"),
    ],
)  # fmt: skip
def test_what_is_not_legal_is_refused_with_what_is(wrong: dict[str, Any], said: str) -> None:
    with pytest.raises(BenchError) as refusal:
        bench.tier1_retrieval(**wrong)
    assert said in str(refusal.value)
