"""Could another threshold make the extractive stand-in refuse the questions that nobody can answer, and only those?

    python -m tests.benchmarks.real_refusals FOLDER_OF_THE_REAL_DATA_SETS

For each set: the area under the curve of the best sentence's fit (0.5: answerable and unanswerable questions fit the
passages equally well), and what a threshold refuses that is chosen on other questions (five folds of whole clusters)
for the highest mean of both shares. Contexts: the five passages nearest by character n-grams (TF-IDF).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold

from ragbench.datasets import load
from ragbench.settings import GeneratorSettings
from ragbench.systems.extractive import fits
from tests.benchmarks.real_generation import unanswerable

READ = 5


def best_fits(texts: Sequence[str], questions: Sequence[str]) -> np.ndarray:
    """(questions,) the fit of the best sentence among the passages that are read."""
    vectors = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True)
    base = vectors.fit_transform(texts)
    near = (vectors.transform(questions) @ base.T).toarray()
    found = []
    for question, row in zip(questions, near, strict=True):
        read = [texts[place] for place in np.argsort(-row)[:READ]]
        found.append(max((each.fit for each in fits(question, read)), default=0.0))
    return np.array(found)


def chosen(fit: np.ndarray, answerable: np.ndarray) -> float:
    """The threshold of the highest mean of the shares of right refusals and of right answers."""
    tried = np.unique(fit)
    right = [((fit[~answerable] < each).mean() + (fit[answerable] >= each).mean()) / 2 for each in tried]
    return float(tried[int(np.argmax(right))])


def told(name: str, fit: np.ndarray, answerable: np.ndarray, clusters: np.ndarray) -> None:
    """One line a rule: how many of each kind it refuses."""
    print(f"{name}: area under the curve {roc_auc_score(answerable, fit):.3f}")
    refused = np.zeros(len(fit), dtype=bool)
    for train, test in GroupKFold(5).split(fit[:, None], answerable, clusters):
        refused[test] = fit[test] < chosen(fit[train], answerable[train])
    default = fit < GeneratorSettings().refuse_below
    for rule, each in (("refuse_below as it is", default), ("chosen on other questions", refused)):
        print(f"  {rule}: refused {each[~answerable].sum()} of {(~answerable).sum()} unanswerable, "
              f"{each[answerable].sum()} of {answerable.sum()} answerable")  # fmt: skip


def main(folder: Path) -> None:
    """campus in both languages, and the tasks of mtrag-un."""
    data = Path(__file__).parents[2] / "data"
    sets = {name: (load(name, data).chunks, load(name, data).questions) for name in ("campus:ru", "campus:en")}
    for name, (chunks, questions) in {**sets, "mtrag-un": unanswerable(folder)}.items():
        fit = best_fits([chunk.text for chunk in chunks], [question.text for question in questions])
        answerable = np.array([question.answerable is not False for question in questions])
        told(name, fit, answerable, np.array([question.cluster or question.id for question in questions]))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
