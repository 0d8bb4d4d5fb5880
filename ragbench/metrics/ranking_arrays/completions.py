"""Rankings as they would be if what nobody judged were known, or were not there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ragbench.core.types import Ranking


def unjudged(ranking: Ranking, k: int | None = None) -> NDArray[np.bool_]:
    """(questions, depth) whether a document was retrieved among the first k, and nobody judged it."""
    judged = ranking.gains > 0 if ranking.judged is None else ranking.judged
    depth = ranking.gains.shape[1]
    shown = np.arange(depth) < np.minimum(ranking.lengths, depth if k is None else k)[:, None]
    return np.asarray(shown & ~judged)


def all_relevant(ranking: Ranking, k: int | None = None) -> Ranking:
    """The same where everything that was retrieved among the first k and not judged is as relevant as the best that is
    known for its question, 1 where nothing is.

    The ideal has these too, so that a metric that is divided by it stays within its bounds; it can be lower then.
    """
    flags = unjudged(ranking, k)
    best = ranking.ideal[:, :1] if ranking.ideal.shape[1] else np.zeros((len(ranking), 1))
    more = np.where(flags, np.where(best > 0, best, 1.0), 0.0)
    ideal = -np.sort(-np.concatenate([ranking.ideal, more], axis=1), axis=1)
    judged = None if ranking.judged is None else ranking.judged | flags
    return replace(ranking, gains=np.where(flags, more, ranking.gains), ideal=ideal, judged=judged, pooled=None)


def condensed(ranking: Ranking) -> Ranking:
    """The same without what was not judged: the judged documents move up (Sakai 2007, Alternatives to bpref, SIGIR)."""
    judged = ranking.gains > 0 if ranking.judged is None else ranking.judged
    order = np.argsort(~judged, axis=1, kind="stable")
    lengths = judged.sum(axis=1)
    kept = np.arange(judged.shape[1]) < lengths[:, None]
    gains = np.where(kept, np.take_along_axis(ranking.gains, order, axis=1), 0.0)
    return replace(ranking, gains=gains, lengths=lengths, judged=kept, pooled=None, ties=None)
