"""What `ragbench trec` prints: the same for every order of lines, a reason for each dash, what could be seen at all."""

from __future__ import annotations

import json
import random
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ragbench.old.core.language import translator
from ragbench.old.core.parts import Style
from ragbench.old.core.types import Comparison, Verdict
from ragbench.old.data import DatasetError, trec
from ragbench.old.tiers.basics import verdict_tables
from tests.old.cli.command_line import invoke, one_line

call = partial(invoke, "trec")


def made(*words: object) -> Any:
    done = call(*words, "--json", "-")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def written(folder: Path, name: str, *lines: str) -> Path:
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def collection(draw: random.Random) -> tuple[list[str], list[list[str]]]:
    """Judgements of 24 queries in 8 dialogues, and three runs whose scores are often equal, as their ranks may be."""
    names = [f"{dialogue}_{turn}" for dialogue in range(8) for turn in range(3)]
    documents = [f"d{number}" for number in range(12)]
    qrels = [f"{q} 0 {d} {draw.randrange(3)}" for q in names for d in draw.sample(documents, 5)]
    runs = []
    for tag in "abc":
        run = []
        for query in names[: 24 - draw.randrange(3)]:
            for rank, document in enumerate(draw.sample(documents, 8), 1):
                place = draw.choice([rank, rank, 0, "-"])
                run.append(f"{query} Q0 {document} {place} {draw.choice([1, 1, 2, 2.5])} {tag}")
        runs.append(run)
    return qrels, runs


@pytest.mark.fault("determinism", tried="rows in another order", count=3)
@pytest.mark.parametrize(
    "more",
    [
        ("--clusters", "^(.+)_"),
        *(pytest.param(each, marks=pytest.mark.slow) for each in ((), ("--compatible", "trec_eval", "--all-pairs"))),
    ],
)
def test_the_order_of_lines_changes_no_sign(tmp_path: Path, more: tuple[str, ...]) -> None:
    draw = random.Random(7)
    qrels, runs = collection(draw)
    seen = set()
    for _ in range(3):
        paths = [written(tmp_path, name, *lines) for name, lines in zip("qabc", [qrels, *runs], strict=True)]
        words = (*paths, "-m", "mrr,ndcg@3,map", "--resamples", 200, "--per-query", *more)
        shown = call(*words)
        assert shown.exit_code == 0, shown.output
        seen.add((shown.output, json.dumps(made(*words))))
        for lines in (qrels, *runs):
            draw.shuffle(lines)
    assert len(seen) == 1


def test_the_primary_metric_is_a_family_of_its_own(tmp_path: Path) -> None:
    qrels, runs = collection(random.Random(3))
    files = [written(tmp_path, f"{place}.txt", *lines) for place, lines in enumerate([qrels, *runs])]
    asked = ("-m", "map,ndcg@5,P_5")
    families = {one["metric"]: one["family"] for one in made(*files, *asked, "--primary", "map")["comparisons"]}
    assert families == {"map": "primary: 2, max-T", "ndcg@5": "secondary: 4, max-T", "P_5": "secondary: 4, max-T"}
    assert {one["family"] for one in made(*files, *asked)["comparisons"]} == {"6, max-T"}
    wrong = call(*files, *asked, "--primary", "mpa")
    assert wrong.exit_code == 3
    assert "did you mean 'map'" in one_line(wrong.output)


def test_equal_scores_go_by_rank_and_then_by_name(tmp_path: Path) -> None:
    path = written(tmp_path, "r", "q Q0 c 2 1 t", "q Q0 b 1 1 t", "q Q0 e - 1 t", "q Q0 a 2 1 t", "q Q0 d 9 2 t")
    assert trec.listed_order(trec.read_run(path).queries["q"]).documents.to_pylist() == ["d", "b", "a", "c", "e"]


def test_words_behind_the_tag_are_ignored(tmp_path: Path) -> None:
    plain = ["q1 Q0 a 1 2.5 t", "q1 Q0 b 2 1.5 t"]
    run = trec.read_run(written(tmp_path, "nist", f"{plain[0]} more words 7", f"{plain[1]}\tmore"))
    known = trec.read_run(written(tmp_path, "plain", *plain))
    assert (run.tag, list(run.queries)) == (known.tag, list(known.queries))
    for query, row in run.queries.items():
        assert row.documents.equals(known.queries[query].documents)
        assert (row.scores.tolist(), row.ranks.tolist()) == (
            known.queries[query].scores.tolist(),
            known.queries[query].ranks.tolist(),
        )
    # as trec_eval has it, a judgement may have none
    with pytest.raises(DatasetError, match="line 1: 5 columns instead of 4"):
        trec.read_qrels(written(tmp_path, "q", "q1 0 a 1 more"))
    # the document's name is in two columns: what stands where the score should be is the rank
    with pytest.raises(DatasetError, match=r"line 1: more than 6 columns, .* and 'two\.html' is not a rank"):
        trec.read_run(written(tmp_path, "blank", "q1 Q0 page two.html 1 2.5 t"))


def test_real_runs_with_words_behind_the_tag(tmp_path: Path, shared_data: Any) -> None:
    import gzip

    folder = shared_data("trec-cast-2021")
    text = gzip.decompress((folder / "org_convdr.run.gz").read_bytes()).decode()
    path = written(tmp_path, "org_convdr", *(f"{line} automatic 2021" for line in text.splitlines()))
    words = ("-m", "mrr,ndcg@3,map", "--resamples", 200)
    assert made(folder / "qrels.txt.gz", path, *words) == made(
        folder / "qrels.txt.gz", folder / "org_convdr.run.gz", *words
    )


def test_a_dash_stands_with_its_reason(tmp_path: Path) -> None:
    qrels = written(tmp_path, "q", "q1 0 a 1", "q2 0 a 1", "q3 0 b 0")
    first = written(tmp_path, "[first]", "q1 Q0 b 1 2 t", "q1 Q0 a 2 1 t", "q2 Q0 a 1 2 t")
    second = written(tmp_path, "second", "q1 Q0 b 1 7 t", "q1 Q0 a 2 1 t", "q2 Q0 a 1 9 t")
    none = written(tmp_path, "none", "q3 Q0 b 1 1 t")
    shown = call(qrels, first, second, "-m", "mrr", "--per-query").output
    assert "nan" not in shown
    assert "second − [first]:" in shown
    assert any(line.startswith("[first]  mrr") for line in shown.splitlines())
    assert "— all differences are equal" in shown
    assert "second\tq3\tmrr\t—" in shown
    shown = call(qrels, first, none, "-m", "mrr", "--compatible", "trec_eval").output
    assert "nan" not in shown
    [row] = [line for line in shown.splitlines() if line.startswith("mrr")]
    assert "— no question was measured on both sides" in row
    alone = written(tmp_path, "alone", "q1 0 a 1")
    assert "— too few questions" in call(alone, first, second, "-m", "mrr").output
    # nothing to pair is in the file too
    [row] = made(qrels, first, none, "-m", "mrr", "--compatible", "trec_eval")["comparisons"]
    assert (row["n"], row["note"], row["p"], row["difference"]) == (0, "empty", None, None)


def test_groups_and_the_smallest_difference_are_said(shared_data: Any) -> None:
    folder = shared_data("trec-cast-2021")
    files = [folder / "qrels.txt.gz", *(folder / f"org_manual_{name}.run.gz" for name in ("bm25", "ance_bert"))]
    words = (*files, "-m", "map", "--clusters", "^(.+)_", "--resamples", 999)
    shown, found = call(*words).output, made(*words)
    [row] = found["comparisons"]
    assert found["facts"]["clusters"] == row["clusters"] == 11
    assert "94 judged queries in 11 groups, 0 without" in shown
    assert row["minimum_detectable"] > 0.05
    [line] = [line for line in shown.splitlines() if line.startswith("map")]
    for said in (f"{row['minimum_detectable']:.4f}", f"{row['p_adjusted']:.4f}", row["verdict"]):
        assert said in line
    assert "detectable: a difference of this size" in shown


def comparison(verdict: Verdict, **more: Any) -> Comparison:
    known: dict[str, Any] = {
        "baseline": "a", "challenger": "b", "difference": 0.1, "low": -0.05, "high": 0.25, "level": 0.95, "method": "t",
        "p": 0.1, "test": "sign flips", "effect_size": 0.3, "n": 40, "n_dropped": 2, "p_adjusted": 0.2,
        "minimum_detectable": 0.125,
    }  # fmt: skip
    return Comparison(verdict=verdict, **(known | more))


def words(one: Comparison) -> list[str]:
    return Style().written(verdict_tables.comparisons([("m", one)], translator("en"), 4))[0][1:]


def test_a_comparison_in_words() -> None:
    assert words(comparison(Verdict.NOT_SHOWN)) == [
        "+0.1000", "−0.0500 … +0.2500", "0.1000", "0.2000", "0.1250", "40", "2", "not shown",
    ]  # fmt: skip
    same = comparison(Verdict.SAME, margin=0.3, p_equivalence=0.01, minimum_detectable=None)
    assert (words(same)[-1], words(same)[4]) == ("same within ±0.3", "—")
    neither = comparison(Verdict.NOT_SHOWN, margin=0.3, p_equivalence=0.5)
    assert words(neither)[-1] == "not shown; p of equivalence within ±0.3: 0.5000"
    few = comparison(Verdict.CANNOT_BE_SHOWN, clusters=7, minimum_detectable=None)
    assert words(few)[-1] == "cannot be shown with 7 groups"
    assert words(comparison(Verdict.CANNOT_BE_SHOWN, n=1))[-1] == "cannot be shown with 1 question"
    gaps = comparison(Verdict.CANNOT_BE_TOLD, withheld="2 of 42 pairs unmeasured")
    assert words(gaps)[-1] == "cannot be told: 2 of 42 pairs unmeasured"
    for verdict in (Verdict.SLIGHTLY_BETTER, Verdict.SLIGHTLY_WORSE):
        assert words(comparison(verdict))[-1] == str(verdict)
    alone = comparison(Verdict.NOT_SHOWN, low=float("nan"), high=float("nan"), note="no_spread", clusters=1)
    assert words(alone)[1] == "— a single group"


def test_later_copies_and_strange_queries_are_counted(tmp_path: Path) -> None:
    qrels = written(tmp_path, "q", "q1 0 a 1")
    run = written(tmp_path, "r", "q1 Q0 a 1 3 t", "q1 Q0 a 2 2 t", "q1 Q0 b 3 1 t", "q7 Q0 a 1 1 t")
    shown = call(qrels, run, "-m", "mrr").output
    assert "r answers 1 query that nobody judged; it names documents again in 1 line, which count for nothing" in shown
