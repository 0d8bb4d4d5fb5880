"""Colours of systems: apart from each other and from the one of "worse" for everybody, and seen on the page's paper."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pytest

STYLES = Path(__file__).parents[3] / "ragbench" / "old" / "report" / "template"
VISION = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]),
    "tritanopia": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]),
}  # fmt: skip
"""Machado, Oliveira and Fernandes 2009, A physiologically-based model for simulation of color vision deficiency."""
APART, SEEN = 0.06, 3.0
"""Least distance in Oklab (Ottosson 2020), where 0.02 is just noticed; contrast of WCAG 2.2, 1.4.11."""
PAPER = {"light": "#ffffff", "dark": "#12171c"}


def linear(colour: str) -> np.ndarray:
    values = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def oklab(light: np.ndarray) -> np.ndarray:
    cones = np.array(
        [[0.4122214708, 0.5363325363, 0.0514459929], [0.2119034982, 0.6806995451, 0.1073969566],
         [0.0883024619, 0.2817188376, 0.6299787005]]
    ) @ np.clip(light, 0, 1)  # fmt: skip
    opponent = [[0.2104542553, 0.7936177850, -0.0040720468], [1.9779984951, -2.4285922050, 0.4505937099],
                [0.0259040371, 0.7827717662, -0.8086757660]]  # fmt: skip
    return np.array(opponent) @ np.cbrt(cones)


def contrast(one: str, other: str) -> float:
    low, high = sorted(float(np.array([0.2126, 0.7152, 0.0722]) @ linear(colour)) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def palette(scheme: str) -> tuple[list[str], str]:
    """The colours of systems, and the one of "worse"."""
    text = (STYLES / "page.css" if scheme == "dark" else STYLES / "views.css").read_text(encoding="utf-8")
    series = re.findall(r"--rb-series-\d: (#[0-9a-f]{6})", text)[:8]
    bad = re.search(r"--rb-bad: (#[0-9a-f]{6})", text)
    assert bad is not None
    return series, bad[1]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("vision", VISION)
def test_eight_systems_are_told_apart(scheme: str, vision: str) -> None:
    series, _bad = palette(scheme)
    assert len(set(series)) == 8
    seen = [oklab(VISION[vision] @ linear(colour)) for colour in series]
    close = [
        (series[a], series[b], round(float(np.linalg.norm(seen[a] - seen[b])), 3))
        for a, b in itertools.combinations(range(8), 2)
        if np.linalg.norm(seen[a] - seen[b]) < APART
    ]
    assert not close


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_system_is_seen_on_the_paper_and_none_has_the_colour_of_worse(scheme: str) -> None:
    series, bad = palette(scheme)
    assert [colour for colour in series if contrast(colour, PAPER[scheme]) < SEEN] == []
    assert min(float(np.linalg.norm(oklab(linear(one)) - oklab(linear(bad)))) for one in series) > APART


def test_jupyterlab_has_the_dark_colours_of_the_pages() -> None:
    views = (STYLES / "views.css").read_text(encoding="utf-8")
    assert re.findall(r"--rb-series-\d: (#[0-9a-f]{6})", views)[8:16] == palette("dark")[0]
