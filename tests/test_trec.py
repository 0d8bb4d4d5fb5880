"""TREC files as they really are, trec_eval's conventions to the digit, and the command over both."""

from __future__ import annotations

import csv
import gzip
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragbench.core.metric import parse
from ragbench.data import trec
from ragbench.data.trec import lines
from ragbench.extras.significance import assessment
from ragbench.metrics import ranking_arrays
from ragbench.metrics.evaluation import evaluate
from tests import command_line

QRELS = "q1 0 a 1\nq1 0 b 0\nq1 0 c 2\nq2 0 a 1\nq3 0 z 0\n"
RUN = "q1 Q0 b 1 3.0 mine\nq1 Q0 a 2 2.0 mine\nq1 Q0 c 3 2.0 mine\nq9 Q0 a 1 1.0 mine\n"
RUNS = ("org_convdr", "org_convdr_bert", "org_manual_ance", "org_manual_ance_bert", "org_manual_bm25")


def written(folder: Path, name: str, text: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def retrieved(**scores: float) -> trec.Retrieved:
    return listed(list(scores), list(scores.values()))


def listed(documents: list[str], scores: list[float]) -> trec.Retrieved:
    names = pa.array(documents, pa.large_string())
    return trec.Retrieved(names, np.array(scores), np.arange(len(scores), dtype=float))


@pytest.mark.fault("encodings", tried="forms of a file of runs", count=9)
@pytest.mark.parametrize(
    "form",
    [
        QRELS.encode(),
        gzip.compress(QRELS.encode(), mtime=0),
        QRELS.replace("\n", "\r\n").encode(),
        QRELS.replace(" ", "\t").encode(),
        b"\xef\xbb\xbf" + QRELS.encode(),
        gzip.compress(b"\xef\xbb\xbf" + QRELS.replace("\n", "\r\n").encode(), mtime=0),
        ("# judged in May\n\n" + QRELS.replace("\n", "\n  \n#\n")).encode(),
        QRELS.rstrip("\n").encode(),
        (QRELS + "q1 0 a 1\n").encode(),
    ],
    ids=["plain", "gzip", "crlf", "tabs", "bom", "gzip bom crlf", "comments", "no last newline", "repeated"],
)
def test_every_form_of_a_file_reads_the_same(tmp_path: Path, form: bytes) -> None:
    expected = {"q1": {"a": 1.0, "b": 0.0, "c": 2.0}, "q2": {"a": 1.0}, "q3": {"z": 0.0}}
    assert trec.read_qrels(written(tmp_path, "any.name", form)) == expected


def test_a_run_keeps_the_order_of_its_file(tmp_path: Path) -> None:
    run = trec.read_run(written(tmp_path, "bm25.run.gz", gzip.compress(RUN.encode())))
    assert (run.name, run.tag) == ("bm25", "mine")
    assert run.queries["q1"].documents.to_pylist() == ["b", "a", "c"]
    assert list(run.queries["q1"].scores) == [3.0, 2.0, 2.0]
    assert trec.read_run(written(tmp_path, "empty.run", "")).queries == {}


@pytest.mark.parametrize(
    ("reader", "text", "message"),
    [
        (trec.read_qrels, "q1 0 a 1\nq1 0 a\n", r"line 2: 3 columns instead of 4; expected QUERY ITERATION"),
        (trec.read_qrels, "q1 0 a one\n", r"line 1: 'one' is not a grade"),
        (trec.read_qrels, "q1 0 a nan\n", r"line 1: 'nan' is not a grade"),
        (trec.read_qrels, "q1 0 a 1\n\nq1 0 a 2\n", r"line 3: query q1 and document a were judged 1 before and 2"),
        (trec.read_qrels, "# nothing\n", r"no judgements"),
        (trec.read_qrels, b"q1 0 \xff\xfe 1\n", r"line 1: not UTF-8"),
        (trec.read_qrels, "q" * 70_000, r"line 1: longer than 65536 bytes"),
        (trec.read_qrels, gzip.compress(QRELS.encode() * 99, mtime=0)[:-20], r"broken gzip"),
        (trec.read_run, "q1 Q0 a 1 2.0 t\nq1 Q0 b 2 t\n", r"line 2: 5 columns instead of 6; expected QUERY Q0"),
        (trec.read_run, "q1 Q0 a 1 inf t\n", r"line 1: 'inf' is not a score"),
        (trec.read_run, "q1 Q0 a 1 1_0 t\n", r"line 1: '1_0' is not a score"),
        (trec.read_run, QRELS, r"line 1: 4 columns instead of 6"),
        (trec.read_run, " Q0 b 1 3.0 mine\n", r"line 1: 5 columns instead of 6"),
    ],
)
def test_what_does_not_fit_names_file_line_and_form(
    tmp_path: Path, reader: Callable[[Path], Any], text: str | bytes, message: str
) -> None:
    path = written(tmp_path, "broken.txt", text)
    with pytest.raises(trec.TrecError, match=message) as caught:
        reader(path)
    assert str(path) in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(trec.TrecError, match="no such file"):
        trec.read_run(tmp_path / "none.run")
    with pytest.raises(trec.TrecError, match="is a folder"):
        trec.read_qrels(tmp_path)


@pytest.mark.fault("bombs", tried="a run that unpacks to no end", count=2)
@pytest.mark.parametrize("text", [RUN, "# many\n" + RUN])
def test_too_much_text_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(lines, "MOST_BYTES", 60)
    with pytest.raises(trec.TrecError, match=r"more than 6e-08 GB of text, half of this machine's memory; split it"):
        trec.read_run(written(tmp_path, "q.gz", gzip.compress(text.encode(), mtime=0)))


def in_columns(found: lines.Columns | None) -> Any:
    if found is None:
        return None
    texts = {name: column.to_pylist() for name, column in found.texts.items()}
    return dict(found.queries), texts, {name: one.tolist() for name, one in found.numbers.items()}, dict(found.words)


@pytest.mark.parametrize("text", [RUN, RUN.replace(" ", "\t"), RUN.replace("\n", "\r\n"), RUN.replace("a", "ё")])
def test_a_plain_file_is_read_in_columns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(lines, "BLOCK", 40)
    path = written(tmp_path, "r.run", text)
    assert in_columns(lines._plain(path, trec.RUN)) == in_columns(lines._checked(path, trec.RUN))
    one, two, three, other = text.splitlines(keepends=True)
    scattered = written(tmp_path, "s.run", one + other + two + three)
    assert in_columns(lines._plain(scattered, trec.RUN)) == in_columns(lines._checked(scattered, trec.RUN))
    assert list(trec.read_run(scattered).queries["q1"].ranks) == [1.0, 2.0, 3.0]


ODD = st.sampled_from(
    [
        *" \t\r\n\v\f#\"'\x1c\x1f\ufeff\u00a0\u2028\x85",
        "  ",
        "\n#",
        " \n",
        "\n ",
        "\n\n",
        "\r\n",
        "ё",
        "1_0",
        "nan",
        "-inf",
    ]
)


@settings(max_examples=300, deadline=None)
@given(
    gap=st.sampled_from([" ", "\t"]),
    end=st.sampled_from(["\n", "\r\n"]),
    odd=st.lists(st.tuples(st.integers(0, 60), ODD, st.booleans()), max_size=2),
)
def test_the_quick_way_says_what_the_strict_way_says_or_nothing(
    tmp_path_factory: pytest.TempPathFactory, gap: str, end: str, odd: list[tuple[int, str, bool]]
) -> None:
    folder = tmp_path_factory.mktemp("trec")
    for form, plain in ((trec.RUN, RUN), (trec.QRELS, QRELS)):
        text = plain.replace(" ", gap).replace("\n", end)
        for place, strange, instead in odd:
            text = text[:place] + strange + text[place + instead :]
        path = written(folder, "r", text.encode())
        quick = in_columns(lines._plain(path, form))
        assert odd or quick is not None
        if quick is not None:
            assert quick == in_columns(lines._checked(path, form))


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff\ufeffq1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\n",
        "q1 Q0 a 1 2 t\n\ufeffq1 Q0 b 2 1 t",
        "q1 Q0 a 1 2 t\n\ufeffq1 Q0 b 2 1 t\nq1 Q0 c 3 0 t\n",
    ],
)
@pytest.mark.parametrize("block", [20, 1 << 25])
def test_a_mark_of_byte_order_within_a_file_is_a_letter_to_both_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, block: int
) -> None:
    monkeypatch.setattr(lines, "BLOCK", block)
    run = trec.read_run(written(tmp_path, "r.run", text))
    assert list(run.queries) == (["\ufeffq1", "q1"] if text.startswith("\ufeff") else ["q1", "\ufeffq1"])
    assert run.queries["q1"].documents.to_pylist() == (
        ["b"] if text.startswith("\ufeff") else ["a", "c"][: text.count("\n")]
    )


@pytest.mark.parametrize("gap", [" ", "\t"])
def test_a_last_line_that_lacks_a_word_is_found_by_its_blank(tmp_path: Path, gap: str) -> None:
    text = f"q1 Q0 a 1 2 t\nq1 Q0 b 2 1{gap}".replace(" ", gap)
    with pytest.raises(trec.TrecError, match="line 2: 5 columns instead of 6"):
        trec.read_run(written(tmp_path, "r.run", text))


def test_the_quick_way_keeps_to_the_longest_line(tmp_path: Path) -> None:
    path = written(tmp_path, "r.run", RUN + f"q1 Q0 {'x' * 70_000} 4 1.0 mine\n")
    with pytest.raises(trec.TrecError, match="line 5: longer than 65536 bytes"):
        trec.read_run(path)


def test_orders_of_the_two_conventions() -> None:
    row = retrieved(a=1.0, b=2.0, d=0.50000001, c=0.5, e=1.0)
    assert trec.listed_order(row).documents.to_pylist() == ["b", "a", "e", "d", "c"]
    assert trec.trec_eval_order(row).documents.to_pylist() == ["b", "e", "a", "d", "c"]
    # in 32 bits the scores of c and d are equal, and the later name goes first
    assert trec.trec_eval_order(retrieved(c=0.50000001, d=0.5)).documents.to_pylist() == ["d", "c"]
    twice = listed(["a", "a"], [2.0, 1.0])
    with pytest.raises(trec.TrecError, match="q7: document a is there twice"):
        trec.trec_eval_order(twice, where="q7")


@pytest.mark.filterwarnings("error")
def test_scores_too_large_for_trec_eval_are_equal_to_it(tmp_path: Path) -> None:
    text = "q Q0 a 1 1e300 t\nq Q0 b 2 1e200 t\nq Q0 d 3 -1e300 t\nq Q0 e 4 -1e301 t\nq Q0 c 5 3 t\n"
    read = trec.read_run(written(tmp_path, "r.run", text)).queries["q"]
    assert trec.trec_eval_order(read).documents.to_pylist() == ["b", "a", "c", "e", "d"]
    assert trec.listed_order(read).documents.to_pylist() == ["a", "b", "c", "d", "e"]


def test_names_of_runs_are_distinct(tmp_path: Path) -> None:
    one = trec.read_run(written(tmp_path, "x.run", RUN))
    (tmp_path / "sub").mkdir()
    other = trec.read_run(written(tmp_path / "sub", "x.txt", RUN))
    assert trec.distinct_names([one, other]) == [str(one.path), str(other.path)]
    with pytest.raises(trec.TrecError, match="given twice"):
        trec.distinct_names([one, one])


PEERS = {"mrr": "recip_rank", "average_precision": "map", "bpref": "bpref", "r_precision": "Rprec", "ndcg": "ndcg",
         "inferred_ap": "infAP"}  # fmt: skip
for _k in (1, 3, 5, 10):
    PEERS |= {f"recall@{_k}": f"recall_{_k}", f"precision@{_k}": f"P_{_k}"}
    PEERS |= {f"hit_rate@{_k}": f"success_{_k}", f"ndcg@{_k}": f"ndcg_cut_{_k}"}


@pytest.mark.parametrize("level", [1, 2])
def test_1000_random_rankings_against_pytrec_eval(level: int) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(level)
    names = np.array([f"d{number}" for number in range(40)])
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for number in range(1000):
        # never negative grades alone: pytrec_eval does not come back from them
        judged = rng.choice(names, rng.integers(1, 20), replace=False)
        qrels[f"q{number}"] = {"never retrieved": 0} | {str(d): int(rng.integers(-2, 4)) for d in judged}
        if rng.random() < 0.95:
            found = rng.choice(names, rng.integers(1, 30), replace=False)
            scores = rng.choice([0.5, 0.5 + 1e-9, 1.0, 2.0, rng.normal(), rng.normal()], len(found))
            run[f"q{number}"] = {str(d): float(score) for d, score in zip(found, scores, strict=True)}
    asked = {"map", "bpref", "ndcg", "Rprec", "recip_rank", "infAP"}
    asked |= {f"{measure}.1,3,5,10" for measure in ("recall", "P", "success")}
    peer = pytrec_eval.RelevanceEvaluator(qrels, asked | {"ndcg_cut.1,3,5,10"}, relevance_level=level).evaluate(run)
    counted = trec.trec_eval_queries(
        {query: dict(known) for query, known in qrels.items()},
        trec.Run("r", "", Path("r"), {query: retrieved(**row) for query, row in run.items()}),
    )
    assert set(counted) == set(peer)
    made = ranking_arrays.from_lists(
        [trec.trec_eval_order(retrieved(**run[query])).documents.to_pylist() for query in counted],
        [qrels[query] for query in counted],
    )
    for label, theirs in PEERS.items():
        metric = parse(label)
        bound = metric.with_options(level=level) if "level" in metric.legal_options else metric
        values = evaluate(made, [bound], without_relevant="zero")[bound.label]
        expected = [peer[query][theirs] for query in counted]
        np.testing.assert_allclose(values, expected, rtol=0, atol=1e-12, err_msg=label)


@given(
    st.dictionaries(st.sampled_from("abcdefgh"), st.integers(-3, 3), min_size=1),
    st.lists(st.sampled_from("abcdefgh"), min_size=1, unique=True),
)
def test_a_grade_below_0_is_no_judgement(known: dict[str, int], found: list[str]) -> None:
    """As TREC has it: −1 pooled and not judged, −2 not pooled."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    known |= {"never retrieved": 0}  # of negative grades alone pytrec_eval does not come back
    run = {"q": {document: float(-place) for place, document in enumerate(found)}}
    peer = pytrec_eval.RelevanceEvaluator({"q": known}, {"bpref", "map", "Rprec", "ndcg"}).evaluate(run)["q"]
    labels = {"bpref": "bpref", "average_precision": "map", "r_precision": "Rprec", "ndcg": "ndcg"}
    made = ranking_arrays.from_lists([found], [known])
    column = ranking_arrays.from_columns([pa.array(found)], [known])
    for label, theirs in labels.items():
        expected = pytest.approx(peer[theirs], abs=1e-12)
        for one in (made, column):
            assert evaluate(one, [label], without_relevant="zero")[label][0] == expected, label


def test_bpref_passes_over_what_is_pooled_and_not_judged() -> None:
    made = ranking_arrays.from_lists([["D1", "D2"]], [{"D1": -1, "D2": 1}])
    assert list(evaluate(made, ["bpref"])["bpref"]) == [1.0]
    assert list(evaluate(ranking_arrays.from_lists([["D1", "D2"]], [{"D1": 0, "D2": 1}]), ["bpref"])["bpref"]) == [0.0]


def test_duplicates_agree_with_pytrec_eval_on_the_first_place() -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    rng = np.random.default_rng(5)
    for _ in range(200):
        row = [f"d{number}" for number in rng.integers(0, 8, 12)]
        known = {f"d{number}": int(rng.integers(0, 3)) for number in range(0, 10, 2)}
        made = ranking_arrays.from_lists([row], [known])
        once = {document: float(-place) for place, document in enumerate(dict.fromkeys(row))}
        peer = pytrec_eval.RelevanceEvaluator({"q": known}, {"map", "ndcg_cut.5", "P.5"}).evaluate({"q": once})["q"]
        for label, theirs in (("average_precision", "map"), ("ndcg@5", "ndcg_cut_5"), ("precision@5", "P_5")):
            value = evaluate(made, [label], without_relevant="zero")[label][0]
            assert value == pytest.approx(peer[theirs], abs=1e-12), (label, row, known)


@pytest.mark.parametrize("definition", ["pytrec_eval", "ir_measures"])
def test_oracle_under_the_conventions_of_trec_eval(definition: str, shared_data: Callable[[str], Path]) -> None:
    oracle = json.loads(shared_data("retrieval-oracle/oracle.json").read_text())
    labels = {name: name.replace("hit@", "hit_rate@") for name in oracle["metrics"]}
    for case in oracle["cases"]:
        qrels = {query: dict(known) for query, known in case["input"]["qrels"].items()}
        # a dictionary keeps the last score of a document that is there twice, as the libraries were given it
        rows = {query: retrieved(**dict(row)) for query, row in case["input"]["run"].items()}
        run = trec.Run("r", "", Path("r"), rows)
        if definition == "pytrec_eval":
            qrels = {query: known for query, known in qrels.items() if known}
        metrics = {label: parse(label) for label in labels.values()}
        plan = assessment.Plan(metrics, compatible="trec_eval", complete=definition == "ir_measures")
        found = assessment.assess(qrels, [run], plan)
        for name, label in labels.items():
            expected, estimate = case["expected"][definition]["mean"].get(name), found.estimates["r", label]
            assert estimate.n == case["expected"][definition]["n"], case["name"]
            assert expected is None if not estimate.n else estimate.value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", RUNS)
def test_trec_cast_to_the_last_digit_that_trec_eval_prints(name: str, shared_data: Callable[[str], Path]) -> None:
    folder = shared_data("trec-cast-2021")
    names = "map Rprec bpref recip_rank ndcg P_1 P_3 P_5 P_10 recall_5 recall_10 recall_20 recall_100"
    names += " ndcg_cut_3 ndcg_cut_5 ndcg_cut_10 ndcg_cut_20 success_1 success_5 success_10"
    plan = assessment.Plan(assessment.asked(names.replace(" ", ","), 1), level=1, compatible="trec_eval", complete=True)
    found = assessment.assess(
        trec.read_qrels(folder / "qrels.txt.gz"), [trec.read_run(folder / f"{name}.run.gz")], plan
    )
    seen = 0
    with gzip.open(folder / "expected_trec_eval.tsv.gz", "rt", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["run"] != name or row["measure"] not in plan.metrics:
                continue
            if row["qid"] == "all":
                value = found.estimates[name, row["measure"]].value
            else:
                value = found.values[name][row["measure"]][found.queries.index(row["qid"])]
            assert f"{value:.4f}" == row["value"], row
            seen += 1
    assert seen == 20 * 95


def test_ir_measures_samples_against_pytrec_eval(shared_data: Callable[[str], Path]) -> None:
    pytrec_eval = pytest.importorskip("pytrec_eval")
    folder = shared_data("ir-measures-samples")
    for name in ("compat", "cwl"):
        qrels, run = trec.read_qrels(folder / f"{name}.qrels"), trec.read_run(folder / f"{name}.run")
        whole = {query: {d: int(grade) for d, grade in known.items()} for query, known in qrels.items()}
        asked = {"map", "bpref", "ndcg", "Rprec", "recip_rank", "recall.5,10", "P.5,10", "ndcg_cut.5,10"}
        peer = pytrec_eval.RelevanceEvaluator(whole, asked).evaluate(
            {
                query: dict(zip(row.documents.to_pylist(), row.scores.tolist(), strict=True))
                for query, row in run.queries.items()
            }
        )
        names = [each for each in next(iter(peer.values())) if each not in ("runid", "num_q")]
        plan = assessment.Plan(assessment.asked(",".join(names), None), compatible="trec_eval")
        found = assessment.assess(qrels, [run], plan)
        for query, values in peer.items():
            for each in names:
                value = found.values[name][each][found.queries.index(query)]
                assert value == pytest.approx(values[each], abs=1e-12), (name, query, each)


@pytest.fixture
def invoke() -> Callable[..., Any]:
    return partial(command_line.invoke, "trec")


def test_the_command_by_our_own_rules(tmp_path: Path, invoke: Callable[..., Any]) -> None:
    qrels, run = written(tmp_path, "q.txt", QRELS), written(tmp_path, "x.run", RUN)
    target = tmp_path / "out.json"
    done = invoke(qrels, run, "--metrics", "mrr,ndcg@10,map", "--per-query", "--json", target)
    assert done.exit_code == 0, done.output
    made = json.loads(target.read_text())
    [reciprocal] = [row for row in made["estimates"] if row["metric"] == "mrr"]
    # q1: a, tied with c, keeps the file's order: rank 2. q2 was not answered: 0. q3 has nothing relevant: no value.
    assert reciprocal["value"] == pytest.approx((1 / 2 + 0) / 2)
    assert (reciprocal["system"], reciprocal["n"], reciprocal["n_unmeasured"]) == ("x", 2, 1)
    assert {"notebook", "low", "high", "level", "method"} <= set(reciprocal)
    assert made["comparisons"] == []
    by_query = {(row["query"], row["metric"]): row["value"] for row in made["per_query"]}
    assert by_query["q1", "map"] == pytest.approx((1 / 2 + 2 / 3) / 2)
    assert by_query["q3", "map"] is None
    assert set(made["per_query"][0]) == {"run", "query", "metric", "value"}
    [facts] = made["facts"]["runs"]
    assert (facts["queries_missing"], facts["queries_not_judged"], facts["tied_scores"]) == (2, 1, 1)


def test_the_command_by_the_rules_of_trec_eval(tmp_path: Path, invoke: Callable[..., Any]) -> None:
    qrels, run = written(tmp_path, "q.txt", QRELS), written(tmp_path, "x.run", RUN)

    def value(*more: str) -> tuple[float, int]:
        done = invoke(qrels, run, "-m", "recip_rank", "--compatible", "trec_eval", "--json", "-", *more)
        assert done.exit_code == 0, done.output
        [row] = json.loads(done.stdout)["estimates"]
        return row["value"], row["n"]

    assert value() == (pytest.approx(1 / 2), 1)  # c before a, but both are relevant; q2 and q3 are left out
    assert value("--complete") == (pytest.approx(1 / 6), 3)
    assert value("--level", "2") == (pytest.approx(1 / 2), 1)


def test_two_runs_are_compared_and_corrected(shared_data: Callable[[str], Path], invoke: Callable[..., Any]) -> None:
    folder = shared_data("trec-cast-2021")
    files = [folder / f"{name}.run.gz" for name in ("org_manual_bm25", "org_manual_ance_bert", "org_convdr")]
    arguments = (folder / "qrels.txt.gz", *files, "-m", "ndcg@10,map", "--resamples", "999", "--json", "-")
    made = json.loads(invoke(*arguments).stdout)
    assert [(row["challenger"], row["metric"]) for row in made["comparisons"]] == [
        ("org_manual_ance_bert", "ndcg@10"),
        ("org_manual_ance_bert", "map"),
        ("org_convdr", "ndcg@10"),
        ("org_convdr", "map"),
    ]
    values = {(row["system"], row["metric"]): row["value"] for row in made["estimates"]}
    for row in made["comparisons"]:
        assert row["baseline"] == "org_manual_bm25"
        difference = values[row["challenger"], row["metric"]] - values[row["baseline"], row["metric"]]
        assert row["difference"] == pytest.approx(difference)
        assert row["p"] <= row["p_adjusted"] <= 1
        assert row["low"] <= row["difference"] <= row["high"]
        assert row["verdict"] in ("better", "worse", "not shown")
        assert row["n"] == 94
    every = json.loads(invoke(*arguments, "--all-pairs", "--clusters", "^(.+)_").stdout)
    assert len(every["comparisons"]) == 6
    assert {row["clusters"] for row in every["estimates"]} == {11}


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("-m", "nddcg@3"), "did you mean ndcg"),
        (("-m", "retrieval_consistency"), "not a metric of rankings"),
        (("-m", "mrr", "--level", "0"), "above 0"),
        (("-m", "ndcg(gain=square)"), "linear or exponential"),
        (("-m", "mrr", "--clusters", "("), "unterminated"),
        (("--compatible", "ranx"), "trec_eval"),
    ],
)
def test_requests_that_cannot_be_followed(
    tmp_path: Path, invoke: Callable[..., Any], more: tuple[str, ...], message: str
) -> None:
    done = invoke(written(tmp_path, "q", QRELS), written(tmp_path, "r", RUN), *more)
    assert done.exit_code == 3
    assert message in " ".join(done.output.replace("│", " ").split())


def test_clusters_must_match_every_query(tmp_path: Path) -> None:
    import re

    qrels, run = trec.read_qrels(written(tmp_path, "q", QRELS)), trec.read_run(written(tmp_path, "r", RUN))
    plan = assessment.Plan(assessment.asked("mrr", None), clusters=re.compile("^(.+)_"))
    with pytest.raises(trec.TrecError, match="finds no group in the query 'q1'"):
        assessment.assess(qrels, [run], plan)


def test_all_metrics_are_measured_where_none_is_named() -> None:
    names = list(assessment.asked("", None))
    assert {"hit_rate@1", "mrr", "recall@3", "precision@10", "ndcg@5", "map", "bpref", "rbp", "r_precision"} <= set(
        names
    )
    assert assessment.asked("P_5,ndcg_cut_10,success_1,map_cut_20,Rprec", 2)["map_cut_20"].label == (
        "average_precision(level=2)@20"
    )


SHORT = {
    "five columns": "q1 Q0 b 1 3.0\nq1 Q0 a 2 2.0\n",
    "no placeholder": "q1 b 1 3.0 t\nq1 a 2 2.0 t\n",
    "no placeholder, no tag": "q1\tb\t1\t3.0\nq1\ta\t2\t2.0\n",
    "MS MARCO": "q1\tb\t1\nq1\ta\t2\n",
    "scores alone": "q1 a 2.0\nq1 b 3.0\n",
    "header": "qid Q0 docno rank score tag\nq1 Q0 b 1 3.0 t\nq1 Q0 a 2 2.0 t\n",
    "header in another order": "score\tdoc_id\tquery_id\n3.0\tb\tq1\n2.0\ta\tq1\n",
    "header with ranks": "query-id,doc-id,rank\nq1,a,2\nq1,b,1\n",
    "commas, an index": ",query_id,doc_id,score\n0,q1,b,3.0\n1,q1,a,2.0\n",
    "quoted": 'query_id,doc_id,score\n"q1","a",2.0\n"q1","b",3.0\n',
    "dictionary": '{"q1": {"a": 2.0, "b": 3}}',
    "lists": '{"q1": ["b", "a"]}',
    "pairs": '{"q1": [["b", 3], ["a", 2]]}',
    "rows": '[{"query_id": "q1", "doc_id": "a", "score": 2.0}, {"query_id": "q1", "doc_id": "b", "score": 3.0}]',
    "JSON Lines": '{"qid": "q1", "docid": "a", "score": 2}\n{"qid": "q1", "docid": "b", "score": 3}\n',
}  # fmt: skip


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("text", SHORT.values(), ids=SHORT)
def test_runs_of_other_forms_have_the_same_order(tmp_path: Path, text: str, zipped: bool, mark: bytes) -> None:
    content = mark + text.encode()
    run = trec.read_run(written(tmp_path, "r", gzip.compress(content) if zipped else content))
    assert list(run.queries) == ["q1"]
    assert trec.listed_order(run.queries["q1"]).documents.to_pylist() == ["b", "a"]
    assert trec.trec_eval_order(run.queries["q1"]).documents.to_pylist() == ["b", "a"]


JUDGED = {
    "BEIR": "query-id\tcorpus-id\tscore\nq1\ta\t1\nq1\tb\t0\nq2\tc\t2\n",
    "three columns": "q1 a 1\nq1 b 0\nq2 c 2\n",
    "header": "query_id iteration doc_id relevance\nq1 0 a 1\nq1 0 b 0\nq2 0 c 2\n",
    "commas": "qid,docno,label\nq1,a,1\nq1,b,0\nq2,c,2\n",
    "dictionary": '{"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}',
}


@pytest.mark.parametrize("text", JUDGED.values(), ids=JUDGED)
def test_judgements_of_other_forms_are_the_same(tmp_path: Path, text: str) -> None:
    assert trec.read_qrels(written(tmp_path, "q", text)) == {"q1": {"a": 1.0, "b": 0.0}, "q2": {"c": 2.0}}


def test_parquet_is_read_by_its_columns(tmp_path: Path) -> None:
    from pyarrow import parquet

    table = {"query-id": [1, 1, 2], "corpus-id": ["a", "b", "c"], "score": [1, 0, 2]}
    parquet.write_table(pa.table(table), tmp_path / "q.parquet")
    assert trec.read_qrels(tmp_path / "q.parquet") == {"1": {"a": 1.0, "b": 0.0}, "2": {"c": 2.0}}
    parquet.write_table(pa.table({"q_id": ["q", "q"], "doc_id": ["a", "b"], "score": [1.5, 2.5]}), tmp_path / "r")
    assert trec.listed_order(trec.read_run(tmp_path / "r").queries["q"]).documents.to_pylist() == ["b", "a"]
    parquet.write_table(pa.table({"a": [1], "b": [2]}), tmp_path / "other")
    with pytest.raises(trec.TrecError, match="has the columns a, b; expected columns like query_id, doc_id, score"):
        trec.read_run(tmp_path / "other")
    twice = pa.table({"query-id": ["q", "q"], "corpus-id": ["a", "a"], "score": [1, 2]})
    parquet.write_table(twice, tmp_path / "twice")
    with pytest.raises(trec.TrecError, match="query q and document a were judged 1 before and 2 here"):
        trec.read_qrels(tmp_path / "twice")


@pytest.mark.parametrize(
    ("reader", "text", "message"),
    [
        (trec.read_run, "q1\tb\t1\nq1\ta\n", "line 2: 2 columns instead of 3; expected QUERY DOCUMENT SCORE"),
        (trec.read_run, "q1 0 a 1\n", "line 1: 4 columns instead of 6"),
        (trec.read_run, "qid,docid,score\nq1,a,x\n", "line 2: 'x' is not a score"),
        (trec.read_run, '{"q1": {"a": null}}', "query q1: None is not a score, a finite number"),
        (trec.read_run, '{"q1": {"a": true}}', "query q1: True is not a score, a finite number"),
        (trec.read_run, '{"q1": 7}', r"query q1: expected \{document: score\}"),
        (trec.read_run, '{"q1": {', "is no JSON that can be read"),
        (trec.read_run, "[1, 2]", "or rows with the fields query_id, doc_id, score"),
        (trec.read_qrels, "query-id\tcorpus-id\tscore\nq\ta\t1\nq\ta\t2\n", "line 3: query q and document a were"),
    ],
)  # fmt: skip
def test_other_forms_that_do_not_fit(tmp_path: Path, reader: Callable[[Path], Any], text: str, message: str) -> None:
    with pytest.raises(trec.TrecError, match=message):
        reader(written(tmp_path, "broken", text))


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(st.sampled_from([("q1", "a"), ("q1", "b"), ("q2", "a")]), st.floats(-9, 9), min_size=1),
    st.permutations(["query_id", "doc_id", "score"]),
)
def test_no_order_of_columns_or_lines_changes_a_run(
    tmp_path_factory: pytest.TempPathFactory, scores: dict[tuple[str, str], float], order: list[str]
) -> None:
    rows = [(query, document, score) for (query, document), score in scores.items()]
    folder = tmp_path_factory.mktemp("forms")
    plain = trec.read_run(
        written(folder, "r", "".join(f"{query} Q0 {document} 1 {score!r} t\n" for query, document, score in rows))
    )
    named = [dict(zip(("query_id", "doc_id", "score"), row, strict=True)) for row in rows]
    lines_ = [order, *([str(row[name]) for name in order] for row in named)]
    tabs = trec.read_run(written(folder, "t", "".join("\t".join(line) + "\n" for line in lines_)))
    nested: dict[str, dict[str, float]] = {}
    for query, document, score in rows:
        nested.setdefault(query, {})[document] = score
    for other in (tabs, trec.read_run(written(folder, "j", json.dumps(nested)))):
        assert list(other.queries) == list(plain.queries)
        for query, row in plain.queries.items():
            assert trec.listed_order(other.queries[query]).documents.equals(trec.listed_order(row).documents)


@pytest.mark.parametrize(
    ("written_", "label"),
    [
        ("nDCG@10", "ndcg@10"), ("NDCG@10", "ndcg@10"), ("ndcg_cut_10", "ndcg@10"), ("ndcg_cut.10", "ndcg@10"),
        ("nDCG", "ndcg"), ("nDCG(dcg='exp-log2')@5", "ndcg(gain=exponential)@5"), ("P@10", "precision@10"),
        ("P_10", "precision@10"), ("P(rel=2)@10", "precision(level=2)@10"), ("SetP", "precision"), ("RR", "mrr"),
        ("RR@10", "mrr@10"), ("MRR@10", "mrr@10"), ("recip_rank", "mrr"), ("AP", "average_precision"),
        ("MAP@100", "average_precision@100"), ("map_cut_20", "average_precision@20"), ("R@100", "recall@100"),
        ("Recall@100", "recall@100"), ("recall.100", "recall@100"), ("Success@5", "hit_rate@5"),
        ("success_5", "hit_rate@5"), ("hits@5", "hit_rate@5"), ("Judged@10", "judged@10"), ("Rprec", "r_precision"),
        ("R-Prec", "r_precision"), ("Bpref", "bpref"), ("RBP(p=0.9)@10", "rbp(p=0.9)@10"),
        ("RR(cutoff=10)", "mrr@10"), ("map", "average_precision"),
        ("ndcg(gain=exponential)@10", "ndcg(gain=exponential)@10"),
        ("no_such", "no_such"),
    ],
)  # fmt: skip
def test_names_as_the_field_writes_them(written_: str, label: str) -> None:
    from ragbench.data.trec import measures

    assert measures.label(written_) == label
    if label != "no_such":
        assert parse(label).grain == "ranking"


def test_a_name_that_is_near_is_suggested_whatever_its_case(tmp_path: Path, invoke: Callable[..., Any]) -> None:
    qrels, run = written(tmp_path, "q.txt", QRELS), written(tmp_path, "x.run", RUN)
    done = invoke(qrels, run, "-m", "nDGC@10")
    assert done.exit_code == 3
    assert "there is no metric 'nDGC@10'; did you mean ndcg?" in command_line.one_line(done.output)
    made = json.loads(invoke(qrels, run, "-m", "P.1,3,nDCG@10", "--json", "-").stdout)
    assert [row["metric"] for row in made["estimates"]] == ["P.1", "P.3", "nDCG@10"]


def test_what_a_short_form_was_read_as_is_said_once(tmp_path: Path, invoke: Callable[..., Any]) -> None:
    qrels = written(tmp_path, "q.txt", QRELS)
    shown = invoke(qrels, written(tmp_path, "x.tsv", "q1\tb\t1\nq1\ta\t2\nq2\ta\t1\n"), "-m", "RR@10").output
    assert shown.count("x was read as QUERY DOCUMENT RANK; it lacks 1 of 3 judged queries") == 1
    assert "was read as" not in invoke(qrels, written(tmp_path, "x.run", RUN), "-m", "RR@10").output


def test_the_share_of_judged_documents_is_that_of_ir_measures() -> None:
    qrels: list[dict[str, float]] = [{"D0": 0, "D1": 1, "D2": 1, "D3": 2, "D4": 0}, {"D0": 1, "D3": 2, "D5": 2}]
    run = [["D0", "D2", "D3", "D1", "D4"], ["D1", "D3", "D2", "D4"]]
    made = ranking_arrays.from_lists(run, qrels)
    expected = {"judged": [1, 1 / 4], "judged@1": [1, 0], "judged@2": [1, 1 / 2], "judged@3": [1, 1 / 3],
                "judged@1000": [1, 1 / 4]}  # fmt: skip
    for label, values in expected.items():
        np.testing.assert_allclose(evaluate(made, [label])[label], values, rtol=0, atol=1e-12, err_msg=label)
    gaps = ranking_arrays.from_lists([["a"], [], ["a", "b"]], [{}, {"a": 1}, {"a": -1, "b": 0}])
    np.testing.assert_array_equal(evaluate(gaps, ["judged"])["judged"], [np.nan, np.nan, 0.5])


def test_what_only_describes_is_not_compared(tmp_path: Path, invoke: Callable[..., Any]) -> None:
    qrels, run = written(tmp_path, "q.txt", QRELS), written(tmp_path, "x.run", RUN)
    other = written(tmp_path, "y.run", RUN.replace("q9", "q2"))
    made = json.loads(invoke(qrels, run, other, "-m", "Judged@10,RR", "--json", "-").stdout)
    assert {row["metric"] for row in made["estimates"]} == {"Judged@10", "RR"}
    assert {row["metric"] for row in made["comparisons"]} == {"RR"}
