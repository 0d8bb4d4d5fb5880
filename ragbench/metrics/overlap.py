"""Words and characters that an answer shares with its reference: ROUGE, BLEU and chrF.

ROUGE is rouge-score's, of words of every alphabet; BLEU and chrF are sacrebleu's. Single answers
take answers and references, one or lists of them (`ragbench.core.metric.call_texts` says what is
missing); those of a corpus give one number for all answers together.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ragbench.core.metric import metric, pair_texts
from ragbench.metrics.texts import part_unspaced, runs, stem_word, without_invisible

Array = NDArray[np.float64]
Texts = tuple[str, ...]
Answers = Sequence[str | None]
References = Sequence[Any]  # of every answer one text, or several
Mode = Literal["f1", "precision", "recall"]
Tokenizer = Literal["13a", "intl", "char", "zh", "none"]

LIN = "Lin 2004, ROUGE: A package for automatic evaluation of summaries, ACL (rouge-score)"
POST = "Papineni et al. 2002, BLEU, ACL; Post 2018, A call for clarity, WMT (sacrebleu)"
KINDS = ("rouge1", "rouge2", "rougeL")
ROUGE_BATCH = 100  # pairs
ORDERS = 4  # BLEU counts runs of one to four words


@metric(source=LIN)
def rouge1_f(answers: Texts, references: Texts, stem: bool = False, mode: Mode = "f1") -> Array:
    """F1 of the words that answer and reference share (ROUGE-1).

    stem: compare Snowball stems, Russian of Cyrillic words, English of others. mode: precision is
    the share of the answer's words that are shared, recall of the reference's. NaN for a
    reference without words; an answer without words shares nothing.
    Above 0.4 acceptable for short texts. Words that are shared are no proof of the same meaning.
    """
    return rouge_values(rouge_counts(answers, references, stem)["rouge1"], mode)


@metric(source=LIN)
def rouge2_f(answers: Texts, references: Texts, stem: bool = False, mode: Mode = "f1") -> Array:
    """F1 of the pairs of neighbouring words that answer and reference share (ROUGE-2).

    stem, mode: as of rouge1_f. NaN for a reference of fewer than two words.
    """
    return rouge_values(rouge_counts(answers, references, stem)["rouge2"], mode)


@metric(source=LIN, name="rougeL_f")
def rouge_l_f(answers: Texts, references: Texts, stem: bool = False, mode: Mode = "f1") -> Array:
    """F1 of the longest sequence of words that answer and reference share in order (ROUGE-L).

    stem, mode: as of rouge1_f. Above 0.5 good. Words that are shared are no proof of the same
    meaning.
    """
    return rouge_values(rouge_counts(answers, references, stem)["rougeL"], mode)


@metric(source=POST, bounds=(0.0, 100.0))
def bleu(
    answers: Texts, references: Texts, tokenize: Tokenizer = "13a", lowercase: bool = False
) -> Array:
    """Sentence BLEU of each answer, 0 to 100, by sacrebleu's rules with effective order.

    100 · BP · (p₁ ⋯ pₘ)^(1/m), m = min(4, words of the answer); an order that shares nothing counts
    as half, a quarter, … of one match. Its mean over answers is not `corpus_bleu`.
    Above 50 very good, 20 to 40 acceptable, below to be improved, as of translations; of answers
    in words of their own it says little.
    """
    return bleu_values(count_bleu(answers, [references], tokenize, lowercase), effective_order=True)


@metric(source="Popović 2015, chrF; Popović 2017, chrF++, WMT (sacrebleu)", bounds=(0.0, 100.0))
def chrf(
    answers: Texts,
    references: Texts,
    words: int = 0,
    chars: int = 6,
    beta: float = 2.0,
    lowercase: bool = False,
) -> Array:
    """F2 of the character 1- to 6-grams that answer and reference share, 0 to 100.

    words: the longest run of words that counts too; 2 is chrF++. chars: the longest run of
    characters. beta: how many times as much recall counts as precision.
    """
    scorer = chrf_scorer(words, chars, beta, lowercase)
    scores = []
    for answer, reference in zip(answers, references, strict=True):
        compared = without_invisible(reference)
        scores.append(scorer.sentence_score(without_invisible(answer), [compared]).score)
    # Sums of floats can end a bit above 100.
    return np.minimum(np.array(scores), 100.0)


@dataclass(frozen=True)
class CorpusMetric:
    """What one number of a whole set is made of: sums of counts over its answers.

    count(answers, references) gives (answers, columns), NaN where an answer is unmeasured;
    value(totals) makes the number of sums of its rows, (…, columns) → (…,): so that a bootstrap
    can draw answers without counting again.
    """

    count: Callable[..., Array]
    value: Callable[[Array], Array]

    def measure(self, answers: Answers, references: References) -> float:
        """Return the number of all answers that are measured; NaN without any."""
        counts = self.count(answers, references)
        measured = counts[~np.isnan(counts).any(axis=1)]
        return float(self.value(measured.sum(axis=0))) if len(measured) else float("nan")


@metric(kind="set", source=LIN)
def corpus_rouge1_f(answers: Answers, references: References) -> float:
    """ROUGE-1 of all answers together: long answers count for more than short ones.

    Shared words are summed over answers before the shares are taken; another number than the mean
    of rouge1_f. Of several references the one counts that is best for its answer.
    """
    return CORPUS["corpus_rouge1_f"].measure(answers, references)


@metric(kind="set", source=LIN)
def corpus_rouge2_f(answers: Answers, references: References) -> float:
    """ROUGE-2 of all answers together, from summed counts of pairs of words."""
    return CORPUS["corpus_rouge2_f"].measure(answers, references)


@metric(kind="set", source=LIN, name="corpus_rougeL_f")
def corpus_rouge_l_f(answers: Answers, references: References) -> float:
    """ROUGE-L of all answers together, from summed lengths of common sequences."""
    return CORPUS["corpus_rougeL_f"].measure(answers, references)


@metric(kind="set", source=POST, bounds=(0.0, 100.0))
def corpus_bleu(answers: Answers, references: References) -> float:
    """BLEU of all answers together, 0 to 100, as sacrebleu's corpus score.

    Another number than the mean of `bleu`. Several references count together, as sacrebleu counts.
    """
    return CORPUS["corpus_bleu"].measure(answers, references)


def signature(name: str, **options: Any) -> str:
    """Return sacrebleu's signature: what another must set to get the same number.

    name: bleu, corpus_bleu or chrf; of any other metric it is "".
    """
    if name not in ("bleu", "corpus_bleu", "chrf"):
        return ""
    if name == "chrf":
        scorer = chrf_scorer(**options)
    else:
        scorer = bleu_scorer(**options, effective_order=name == "bleu")
    scorer.num_refs = 1
    return str(scorer.get_signature())


# ROUGE


# The last texts are kept, so that ROUGE-1, -2 and -L of one table cut and count it once.
@lru_cache(maxsize=1)
def rouge_counts(answers: Texts, references: Texts, stem: bool) -> dict[str, Array]:
    """Count every pair: kind → (pairs, 3) shared, in the answer, in the reference."""
    encoded, lengths = encode_words(answers + references, stem)
    n_pairs = len(answers)
    recalls = rouge_recalls(encoded[n_pairs:], encoded[:n_pairs])
    counts = {}
    for kind, recall in zip(KINDS, recalls.T, strict=True):
        # Of n words there are n − 1 pairs.
        n_units = np.maximum(lengths - (kind == "rouge2"), 0)
        shared = np.rint(recall * n_units[n_pairs:])
        counts[kind] = np.column_stack([shared, n_units[:n_pairs], n_units[n_pairs:]])
    return counts


def encode_words(texts: Texts, stem: bool) -> tuple[list[str], NDArray[np.int64]]:
    """Write every word as a number, since rouge-score deletes all letters but a to z.

    Returns the texts in numbers, and how many words each has.
    """
    numbers: dict[str, int] = {}

    @cache  # what stands between two blanks occurs again and again, and is cut once
    def encode(piece: str) -> str:
        found = [stem_word(word) for word in runs(piece)] if stem else runs(piece)
        return "".join(f" {numbers.setdefault(word, len(numbers))}" for word in found)

    encoded = ["".join(map(encode, text.split())) for text in texts]
    return encoded, np.array([text.count(" ") for text in encoded], dtype=np.int64)


def rouge_recalls(references: Sequence[str], answers: Sequence[str]) -> Array:
    """Return the recalls, (pairs, kinds): rouge-score's port to Rust and itself give the same."""
    try:
        from rouge_score_rs.rouge_scorer import RougeScorer as Scorer

        score = Scorer(KINDS).score_batch
    except ImportError:  # there is no wheel for every machine
        from rouge_score.rouge_scorer import RougeScorer

        score = partial(map, RougeScorer(KINDS).score)
    recalls: list[float] = []
    # Thousands of results at once would set off Python's collector.
    for start in range(0, len(answers), ROUGE_BATCH):
        batch = slice(start, start + ROUGE_BATCH)
        scores = score(references[batch], answers[batch])
        recalls += [found[kind].recall for found in scores for kind in KINDS]
    return np.array(recalls).reshape(-1, len(KINDS))


def rouge_values(counts: Array, mode: Mode = "f1") -> Array:
    """Return (…,) F1, precision or recall of (…, 3) counts; NaN where the reference has none."""
    shared, in_answer, in_reference = np.moveaxis(counts, -1, 0)
    precision = shared / np.maximum(in_answer, 1)
    recall = shared / np.maximum(in_reference, 1)
    # Where nothing is shared both are 0: any divisor but 0 will do.
    f1 = 2 * precision * recall / np.where(shared > 0, precision + recall, 1.0)
    values = {"f1": f1, "precision": precision, "recall": recall}[mode]
    return np.where(in_reference > 0, values, np.nan)


def count_corpus_rouge(kind: str) -> Callable[..., Array]:
    """Return the function that counts a corpus for one kind of ROUGE."""

    def count(answers: Answers, references: References) -> Array:
        rows, *pairs = pair_texts(answers, references)
        counts = rouge_counts(*map(tuple, pairs), stem=False)[kind]
        values = np.nan_to_num(rouge_values(counts), nan=-1.0)
        best = np.full((len(answers), 3), np.nan)
        # Rising values: of several references the best is written last.
        order = np.argsort(values, kind="stable")
        best[np.array(rows, dtype=int)[order]] = counts[order]
        return best

    return count


# BLEU


def count_corpus_bleu(answers: Answers, references: References) -> Array:
    """Count a corpus for BLEU; NaN rows without an answer or a reference."""
    rows, _, texts = pair_texts(answers, references)
    several: dict[int, list[str]] = {}
    for row, reference in zip(rows, texts, strict=True):
        several.setdefault(row, []).append(reference)
    width = max(map(len, several.values()), default=1)
    # A row with fewer references than others repeats its last one, which changes no count.
    streams = [tuple(own[min(n, len(own) - 1)] for own in several.values()) for n in range(width)]
    counts = np.full((len(answers), 2 + 2 * ORDERS), np.nan)
    counts[list(several)] = count_bleu(tuple(str(answers[row]) for row in several), streams)
    return counts


def count_bleu(
    answers: Texts,
    streams: Sequence[Texts],
    tokenize: Tokenizer = "13a",
    lowercase: bool = False,
) -> Array:
    """Count what BLEU is made of, a row an answer; sums of rows give corpus BLEU.

    streams: all first references, all second ones, …. Columns: words of the answer, words of the
    reference whose length is nearest, of each order the shared runs of words, of each order the
    runs of the answer. sacrebleu counts one text at a time; here all texts are counted at once.
    """
    n_rows, n_streams = len(answers), 1 + len(streams)
    texts = [text for stream in (answers, *streams) for text in stream]
    cut = [bleu_words(text, tokenize, lowercase) for text in texts]
    sizes = np.array([len(words) for words in cut], dtype=np.int64)
    lengths = sizes.reshape(n_streams, n_rows)
    numbers: dict[str, int] = defaultdict(itertools.count().__next__)
    codes = np.array([numbers[word] for words in cut for word in words], dtype=np.int64)
    text = np.repeat(np.arange(len(texts)), sizes)

    shared, in_answer = [], []
    # A run of words is the run before its last word and that word; before the first word, all
    # that two runs have to share is the row.
    run = text % max(n_rows, 1)
    for order in range(1, ORDERS + 1):
        n_starts = len(codes[order - 1 :])
        pairs = run[:n_starts] * len(numbers) + codes[order - 1 :]
        run, distinct = pd.factorize(pairs)
        # A run that goes on into the next text is none.
        is_whole = text[:n_starts] == text[order - 1 :]
        row = np.zeros(len(distinct), dtype=np.int64)
        row[run] = text[:n_starts] % max(n_rows, 1)
        stream = text[:n_starts] // max(n_rows, 1)
        places = stream[is_whole] * len(distinct) + run[is_whole]
        counts = np.bincount(places, minlength=n_streams * len(distinct))
        counts = counts.reshape(n_streams, len(distinct))
        # Of several references that counts which has the run most often.
        both = np.minimum(counts[0], counts[1:].max(axis=0))
        shared.append(np.bincount(row, both, minlength=n_rows))
        in_answer.append(np.maximum(lengths[0] - order + 1, 0))
    columns = [lengths[0], nearest_lengths(lengths), *shared, *in_answer]
    return np.column_stack(columns).astype(float)


def nearest_lengths(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return of each row the reference's length that is nearest to the answer's, or the shorter.

    lengths: (1 + references, rows), the answers' first.
    """
    references = np.sort(lengths[1:], axis=0)
    nearest = np.abs(references - lengths[0]).argmin(axis=0)
    return references[nearest, np.arange(lengths.shape[1])]


def bleu_words(text: str, tokenize: Tokenizer, lowercase: bool) -> list[str]:
    """Cut a text as sacrebleu does, without characters that nobody sees."""
    text = without_invisible(text)
    if tokenize in ("13a", "intl"):
        # These know no words of scripts without blanks: each character is one, as in zh.
        text = part_unspaced(text)
    if lowercase:
        text = text.lower()
    if tokenize != "13a":
        return bleu_scorer(tokenize).tokenizer(text).split()
    # The rules of 13a look at neighbouring characters, and at a hyphen before a new line: what
    # stands between two blanks gives the same words by itself, and is remembered.
    pieces = text.rstrip().replace("-\n", "").split()
    return list(itertools.chain.from_iterable(map(cut_piece, pieces)))


@lru_cache(maxsize=2**18)
def cut_piece(piece: str) -> list[str]:
    """Cut a text without blanks by the rules of 13a."""
    return bleu_scorer("13a").tokenizer(piece).split()


@cache
def bleu_scorer(
    tokenize: str = "13a", lowercase: bool = False, effective_order: bool = True
) -> Any:
    """Return sacrebleu's scorer."""
    from sacrebleu.metrics.bleu import BLEU

    return BLEU(lowercase=lowercase, tokenize=tokenize, effective_order=effective_order)


@cache
def chrf_scorer(words: int = 0, chars: int = 6, beta: float = 2.0, lowercase: bool = False) -> Any:
    """Return sacrebleu's scorer."""
    from sacrebleu.metrics.chrf import CHRF

    # Its annotation takes whole numbers alone; its formula takes any.
    return CHRF(chars, words, beta, lowercase)  # type: ignore[arg-type]


def bleu_values(counts: Array, effective_order: bool = False) -> Array:
    """Return (…,) BLEU of (…, 10) counts, with sacrebleu's smoothing "exp".

    effective_order: leave out orders for which the answer is too short.
    """
    answer_length, reference_length = counts[..., 0], counts[..., 1]
    shared, in_answer = counts[..., 2 : 2 + ORDERS], counts[..., 2 + ORDERS :]
    # The j-th order without a match counts as 1 / 2^j matches.
    smoothed = np.where(shared > 0, shared, 0.5 ** np.cumsum(shared <= 0, axis=-1))
    has_order = in_answer > 0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        logs = np.where(has_order, np.log(smoothed / in_answer), 0.0)
        n_orders = has_order.sum(axis=-1) if effective_order else ORDERS
        precision = np.exp(logs.sum(axis=-1) / n_orders)
        brevity = np.exp(np.minimum(0.0, 1 - reference_length / answer_length))
    is_zero = ~(shared > 0).any(axis=-1)
    if not effective_order:
        is_zero |= ~has_order.all(axis=-1)
    return np.where(is_zero, 0.0, 100 * brevity * precision)


CORPUS = {
    "corpus_rouge1_f": CorpusMetric(count_corpus_rouge("rouge1"), rouge_values),
    "corpus_rouge2_f": CorpusMetric(count_corpus_rouge("rouge2"), rouge_values),
    "corpus_rougeL_f": CorpusMetric(count_corpus_rouge("rougeL"), rouge_values),
    "corpus_bleu": CorpusMetric(count_corpus_bleu, bleu_values),
}
