"""Words as they are compared, in every alphabet: for metrics, BM25 and the lexical judge."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from typing import Any, Literal

# What nobody sees and what parts no word: the stress mark of Russian dictionaries, the soft
# hyphen, zero-width space and joiners, the word joiner, the byte order mark.
INVISIBLE = re.compile("[\u0301\u00ad\u200b\u200c\u200d\u2060\ufeff]")
# Thai, Lao, Burmese, Khmer, kana and Chinese put no blank between words: there every character,
# with its marks, counts as a word.
UNSPACED = (
    "\u0e00-\u0e4e\u0e80-\u0ece\u0edc-\u0edf\u1000-\u103f\u1050-\u108f\u1780-\u17d3\u3005-\u3007"
    "\u3031-\u3035\u3041-\u30ff\u31f0-\u31ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U000323af"
)
HAS_UNSPACED = re.compile(f"[{UNSPACED}]")
UNSPACED_WORD = re.compile(f"([{UNSPACED}][\u0300-\u036f\u0e31-\u0e4e\u3099\u309a]*)")

NUMBER = r"\d+(?:[.,:]\d+)*"
# Plain texts, which are most, are cut in a third of the time.
PLAIN_WORD = re.compile(r"[a-zа-я]+(?:['’ʼ-][a-zа-я]+)*|[0-9]+(?:[.,:][0-9]+)*")
NOT_PLAIN = re.compile(r"[^\x00-\x7fа-я‐-⁞«»№\xa0\u202f]")
WORD = re.compile(rf"{NUMBER}|[^\W\d_]+(?:['’ʼ-][^\W\d_]+)*|[^\W_]+")
ASCII_RUN = re.compile(r"[a-z0-9]+")
LATIN = re.compile("[a-z]")
CYRILLIC = re.compile("[а-яё]")

# Words of grammar, folded: they say nothing of what a text is about.
GRAMMAR = """
    a an the of to in on at for from by with and or but as if is are was were be been being am it
    its this that these those there here i you he she we they me him her us them my your his our
    their do does did have has had will would can could may might should shall must so than then
    too very just also which who whom whose what when where why how about into over under out up
    down not no
    и в во на с со к ко по о об обо от до из у за над под при для без через между а но или либо да
    не ни же ли бы то это этот эта эти этого этой этих тот та те того той тех так там тут здесь как
    что чтобы кто где когда куда откуда почему какой какая какие который которая которое которые я
    ты он она оно мы вы они меня мне мной тебя тебе его ему им ее ей нас нам вас вам их мой моя мое
    мои твой ваш наш свой себя был была было были быть есть будет будут уже еще только очень также
    тоже если
"""
FUNCTION_WORDS = frozenset(GRAMMAR.split())


def without_invisible(text: str, form: Literal["NFC", "NFKC"] = "NFC") -> str:
    """Return the text, composed, without characters that nobody sees and that part no word."""
    if text.isascii():
        return text
    # Composed first: the accent of an é is part of its letter, and no stress mark.
    return INVISIBLE.sub("", unicodedata.normalize(form, text))


def plain(text: str) -> str:
    """Return the text as it is compared: NFKC, without case and invisible characters."""
    if text.isascii():
        return text.lower()
    # The Turkish İ becomes an i with a dot above it, which people write as i.
    return without_invisible(text, "NFKC").casefold().replace("i\u0307", "i")


def fold(text: str) -> str:
    """Return the plain text with ё as е."""
    return plain(text).replace("ё", "е")


def squeeze(text: str) -> str:
    """Return the text with every run of white space as one blank, and none at its ends."""
    return " ".join(text.split())


def part_unspaced(text: str) -> str:
    """Put blanks around the characters of scripts that have none between words."""
    if text.isascii() or not HAS_UNSPACED.search(text):
        return text
    return UNSPACED_WORD.sub(r" \1 ", text)


def words(text: str) -> list[str]:
    """Return folded words and numbers in order; a number keeps its signs (12.5, 9:30)."""
    folded = fold(text)
    if folded.isascii() or not NOT_PLAIN.search(folded):
        return PLAIN_WORD.findall(folded)
    return WORD.findall(part_unspaced(folded))


def stem(word: str) -> str:
    """Return the Snowball stem of a folded word; of a number, a point for the decimal comma."""
    return word.replace(",", ".") if word[0].isdigit() else stem_word(word)


def stems(text: str) -> list[str]:
    """Return the stems of all words, in order."""
    return [stem(word) for word in words(text)]


@lru_cache(maxsize=200_000)
def stem_word(word: str) -> str:
    """Return the stem, Russian of a word with Cyrillic letters, English of others."""
    return load_stemmer("russian" if CYRILLIC.search(word) else "english").stemWord(word)


@cache
def load_stemmer(language: str) -> Any:
    """Load Snowball's stemmer of a language."""
    import snowballstemmer

    return snowballstemmer.stemmer(language)


def runs(text: str) -> list[str]:
    """Return runs of letters and digits, plain: the words that ROUGE counts."""
    compared = plain(text)
    if compared.isascii():
        return ASCII_RUN.findall(compared)
    return load_runs().findall(part_unspaced(compared))


@cache
def load_runs() -> Any:
    """Compile the pattern of a run; `\\w` of regex, unlike that of re, has vowel signs as well."""
    import regex

    return regex.compile(r"[^\W_]+")


def mixed_words(text: str) -> list[str]:
    """Return the words that mix Latin with Cyrillic letters, such as «Mосква» with a Latin M.

    They look like others and are equal to none: worth a note where nothing was found.
    """
    return [word for word in words(text) if LATIN.search(word) and CYRILLIC.search(word)]
