"""Real answers with human labels of groundedness (BEGIN, 2022): the offline judge's show / don't show against them.

`python -m benchmarks.real_decisions FOLDER` makes a small project in FOLDER out of ../shared/data, measures the
four numbers with intervals, a three-class confusion matrix whose thresholds are chosen on one source and scored on the
other, the same classes as the page of `tier_judge` has them, and how often a mean corrected by 50 or 100 labels covers
the mean of all labels. Pages over the same data: `RAGBENCH_CONFIG=FOLDER/ragbench.toml ragbench run
tier_judge_pipeline`, and `ragbench run tier_judge -p ratings=begin.jsonl -p "classes=Generic, Not fully attributable,
Fully attributable"`.
"""

from __future__ import annotations

import gzip
import json
import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import metrics as sklearn_metrics

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data" / "begin-groundedness"
SOURCES = ("wow", "cmu")
CLASSES = ("Fully attributable", "Not fully attributable", "Generic")
COLUMNS = ("model_name", "data_source", "knowledge", "message", "response", "begin_label")


def rows(source: str) -> list[dict[str, str]]:
    """The labelled answers of one source; fields are parted by tabs and never quoted."""
    with gzip.open(DATA / f"begin_dev_{source}.tsv.gz", "rt", encoding="utf-8") as stream:
        head = stream.readline().rstrip("\n").split("\t")
        found = [dict(zip(head, line.rstrip("\n").split("\t"), strict=True)) for line in stream]
    assert set(COLUMNS) <= set(head), head
    assert {row["begin_label"] for row in found} <= set(CLASSES)
    return found


def project(folder: Path) -> Path:
    """A project with one data set of all answers to decide on."""
    place = folder / "data" / "begin"
    place.mkdir(parents=True, exist_ok=True)
    (place / "dataset.toml").write_text(
        'title = "BEGIN, development part"\nlicence = "CC-BY-4.0"\nlanguages = ["en"]\n', encoding="utf-8"
    )
    answers = [(source, number, row) for source in SOURCES for number, row in enumerate(rows(source))]
    texts = {row["knowledge"].strip(): f"k{number:04d}" for number, (_, _, row) in enumerate(answers)}
    chunks = [{"id": name, "text": text} for text, name in texts.items()]
    decisions = [
        {"id": f"{source}{number:04d}", "question": row["message"].strip() or "(nothing was said)",
         "answer": row["response"].strip(), "context": [texts[row["knowledge"].strip()]],
         "show": row["begin_label"] == CLASSES[0], "rationale": row["begin_label"]}
        for source, number, row in answers
    ]  # fmt: skip
    question = [{"id": "q", "text": "What does the passage say?", "relevant": {chunks[0]["id"]: 1}}]
    for name, lines in (("chunks", chunks), ("decisions", decisions), ("questions", question)):
        text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
        (place / f"{name}.en.jsonl").write_text(text, encoding="utf-8")
    path = folder / "ragbench.toml"
    path.write_text(
        f'dataset = "begin"\nnotebooks_folder = "{ROOT / "notebooks"}"\n[database]\nfolder = "{folder / "db"}"\n'
        '[systems.offline]\nembedder = "hashing"\n[embedders.hashing]\nkind = "hashing"\n',
        encoding="utf-8",
    )
    return path


def three(score: np.ndarray, low: float, high: float) -> np.ndarray:
    """0 attributable from `high` on, 2 generic below `low`, 1 between."""
    return np.where(score >= high, 0, np.where(score < low, 2, 1))


def best(score: np.ndarray, truth: np.ndarray) -> tuple[float, float]:
    """The two thresholds of the highest Cohen's κ."""
    grid = np.linspace(0, 1, 41)
    pairs = [(low, high) for low in grid for high in grid if low < high]
    return max(pairs, key=lambda pair: sklearn_metrics.cohen_kappa_score(truth, three(score, *pair)))


def main(folder: Path) -> None:
    os.environ["RAGBENCH_CONFIG"] = str(project(folder))
    from ragbench.old import stats, tiers

    made = tiers.tier_judge_pipeline(judges="lexical")
    print(made.facts["dataset"], made.facts["n_questions"], "answers,", made.facts["n_to_be_shown"], "to be shown,",
          made.facts["n_clusters"], "questions")  # fmt: skip
    for each in made.estimates:
        e = each.estimate
        ends = "—" if e.low is None or e.high is None else f"[{e.low:.3f}, {e.high:.3f}]"
        print(f"{each.system:10} {each.metric:20} {e.value:.3f} {ends} {e.method}")
    table = made.extra["decisions"].query("system == 'lexical'").reset_index(drop=True)
    print(table["cell"].value_counts().to_dict())
    said = table["decision"].fillna(value=False).to_numpy(dtype=bool)
    label = table["label"].to_numpy()
    for name, own, peer in (
        ("accuracy", "accuracy", sklearn_metrics.accuracy_score(label, said)),
        ("precision", "decision_precision", sklearn_metrics.precision_score(label, said)),
        ("recall", "decision_recall", sklearn_metrics.recall_score(label, said)),
        ("F1", "f1_score", sklearn_metrics.f1_score(label, said)),
    ):
        value = next(e.estimate.value for e in made.estimates if (e.system, e.metric) == ("lexical", own))
        print(f"{name}: |own - scikit-learn| = {abs(value - peer):.1e}")
    [row] = made.extra["thresholds"].query("system == 'lexical'").to_dict("records")
    cost = {one.where["threshold"]: one.estimate for one in made.estimates_by("threshold") if one.system == "lexical"}
    gain = {one.comparison.challenger: one.comparison for one in made.comparisons_by("threshold")}["lexical"]
    chosen, own = cost["chosen"], cost["own"]
    print(f"threshold {row['threshold']:.3f}: cost {chosen.value:.3f} [{chosen.low:.3f}, {chosen.high:.3f}], own "
          f"decisions {own.value:.3f}, difference {gain.difference:.3f}, p {gain.p:.4f}")  # fmt: skip
    classes = table["rationale"].map(CLASSES.index).to_numpy()
    score, source = table["score"].fillna(0.0).to_numpy(), table["sample"].str[:3].to_numpy()
    for chosen, scored in (("wow", "cmu"), ("cmu", "wow")):
        low, high = best(score[source == chosen], classes[source == chosen])
        truth, guess = classes[source == scored], three(score[source == scored], low, high)
        agree = stats.agreement(truth, guess, categories=[0, 1, 2], resamples=2000)
        kappa = agree["cohen_kappa"]
        apart = abs(kappa.value - sklearn_metrics.cohen_kappa_score(truth, guess))
        print(f"three classes, thresholds {low:.3f} and {high:.3f} of {chosen}, scored on {scored}: accuracy "
              f"{agree['accuracy'].value:.3f}, kappa {kappa.value:.3f} [{kappa.low:.3f}, {kappa.high:.3f}], "
              f"|kappa - scikit-learn| = {apart:.1e}")  # fmt: skip
        print("rows people, columns judge:", CLASSES)
        print(stats.confusion(truth.tolist(), guess.tolist(), categories=[0, 1, 2])[1])
    on_the_page(table, folder)
    corrected_by(label.astype(float), score)


def on_the_page(table: pd.DataFrame, folder: Path) -> None:
    """The three classes as `tier_judge` shows them: cut points of one half of the answers, scored on the other."""
    from ragbench.old import tiers

    order = ("Generic", "Not fully attributable", "Fully attributable")
    rows = [
        {"id": row["sample"], "people": {"annotator": row["rationale"]},
         "judges": {"lexical": None if row["score"] is None else float(row["score"])},
         "cluster": row["question"], "question": row["question"], "answer": row["answer"]}
        for row in table.to_dict("records")
    ]  # fmt: skip
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    (folder / "begin.jsonl").write_text(text, encoding="utf-8")
    found = tiers.tier_judge(ratings="begin.jsonl", classes=", ".join(order), resamples=2000)
    print("tier_judge, rows people, columns judge:", order)
    counts = found.extra["confusion"].query("said != ''").pivot(index="people", columns="said", values="count")
    print(counts.loc[list(order), list(order)].to_numpy())
    for one in found.estimates_by("class"):
        e = one.estimate
        print(f"  {one.where['class'] or 'all':24} {one.metric:22} {e.value:.3f} [{e.low:.3f}, {e.high:.3f}]")
    print(found.extra["cuts"].to_string())
    matrix = counts.loc[list(order), list(order)].to_numpy(dtype=int)
    places = np.array([(i, j) for i in range(3) for j in range(3) for _ in range(matrix[i, j])])
    for name, weights in (
        ("cohen_kappa", None),
        ("cohen_kappa_linear", "linear"),
        ("cohen_kappa_quadratic", "quadratic"),
    ):
        [own] = [one.estimate.value for one in found.estimates_by("class") if one.metric == name]
        peer = sklearn_metrics.cohen_kappa_score(places[:, 0], places[:, 1], weights=weights)
        print(f"{name}: |own - scikit-learn| = {abs(own - peer):.1e}")


def corrected_by(label: np.ndarray, score: np.ndarray) -> None:
    """How often a mean corrected by a few labels covers the mean of all of them."""
    from ragbench.old import stats

    print(f"share to be shown {label.mean():.3f}; mean score of the judge {score.mean():.3f}; "
          f"correlation {np.corrcoef(label, score)[0, 1]:.3f}")  # fmt: skip
    for number in (50, 100):
        hits, widths, alone = 0, [], []
        for seed in range(1000):
            order = np.random.default_rng(seed).permutation(len(label))
            first, rest = order[:number], order[number:]
            one = stats.prediction_powered(label[first], score[first], score[rest], seed=seed)
            assert one.low is not None
            assert one.high is not None
            hits += one.low <= label.mean() <= one.high
            widths.append(one.high - one.low)
            alone.append(one.intervals["people"][1] - one.intervals["people"][0])
        print(f"{number} labels: covered {hits / 1000:.3f}, width {np.mean(widths):.3f} against {np.mean(alone):.3f}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
