"""Names of measures as the tools of the field write them: `nDCG@10`, `P_10`, `AP(rel=2)`, `RR@10`, `Judged@5`."""

from __future__ import annotations

import re

NAMES = {
    "p": "precision", "prec": "precision", "precision": "precision", "setp": "precision",
    "r": "recall", "recall": "recall", "setr": "recall", "setrecall": "recall",
    "rr": "mrr", "mrr": "mrr", "reciprank": "mrr",
    "ap": "average_precision", "map": "average_precision", "mapcut": "average_precision",
    "averageprecision": "average_precision",
    "ndcg": "ndcg", "ndcgcut": "ndcg",
    "success": "hit_rate", "hit": "hit_rate", "hits": "hit_rate", "hitrate": "hit_rate",
    "rprec": "r_precision", "rprecision": "r_precision",
    "bpref": "bpref", "infap": "inferred_ap", "rbp": "rbp", "judged": "judged",
}  # fmt: skip
"""Name, without case and without what parts its words → the metric: those of trec_eval, ir_measures, BEIR and ranx."""
_WRITTEN = re.compile(r"(?P<name>[A-Za-z][A-Za-z_-]*?)(?P<options>\(.*\))?(?:[@_.](?P<cut>\d+))?")
_GAINS = {"log2": "linear", "exp-log2": "exponential"}


def label(name: str) -> str:
    """The catalogue's label of a measure: `nDCG(dcg='exp-log2')@10` is `ndcg(gain=exponential)@10`.

    A name that no tool has, and one that is a label already, stays as it is.
    """
    written = _WRITTEN.fullmatch(name.strip())
    key = "" if written is None else re.sub("[_-]", "", written["name"]).casefold()
    if written is None or key not in NAMES:
        return name
    cut, options = written["cut"], []
    for option in (written["options"] or "()")[1:-1].split(","):
        given, sign, value = (part.strip() for part in option.partition("="))
        value = value.strip("'\"")
        if given == "cutoff":
            cut = value
        elif given == "dcg":
            options.append(f"gain={_GAINS.get(value, value)}")
        elif given:
            options.append(f"{'level' if given == 'rel' else given}{sign}{value}")
    return NAMES[key] + (f"({', '.join(options)})" if options else "") + (f"@{cut}" if cut else "")
