"""What is said of each oddity of a data set: how many texts have it, and what that does to the numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ragbench.core.language import Translator
from ragbench.views.sentences import doubts

HARMLESS = ("mail", "telephone", "name", "long", "short")
"""They change no number by themselves."""


def heading(kind: str, _: Translator) -> str:
    """What a kind of oddity is called."""
    return {
        "question_is_passage": _("Questions that are their passage"),
        "question_in_passage": _("Questions that stand in their passage"),
        "leaked": _("What search by words finds of them"),
        "passage_copied": _("Relevant passages with a copy"),
        "labels_nowhere": _("Labels without a text"),
        "answer_in_question": _("Answers that stand in their question"),
        "alike": _("Texts that are nearly the same"),
        "form": _("Questions of one form"),
        "other_language": _("Texts in another language"),
        "short": _("Questions of one or two words"),
        "long": _("Long passages"),
        "mail": _("E-mail addresses"),
        "telephone": _("Telephone numbers"),
        "name": _("Names of people"),
        "greeting": _("Greetings and thanks in the log"),
        "noise": _("Noise in the log"),
    }[kind]


def table(name: str, _: Translator) -> str:
    """What a table is called."""
    return {
        "questions": _("Questions"),
        "references": _("Reference answers"),
        "passages": _("Passages"),
        "dialogues": _("Dialogues"),
        "log": _("Logged questions"),
        "logged_answers": _("Logged answers"),
    }[name]


def language(code: str, _: Translator) -> str:
    """A language's name in the reader's."""
    from babel import Locale

    return str(Locale.parse(_.language).languages.get(code, code))


@dataclass(frozen=True)
class Saying:
    """What is said of one oddity: `found` of `of` texts of a table, and the numbers that were measured of it.

    language: the data set's, as its reader calls it.
    """

    kind: str
    table: str
    found: int
    of: int
    numbers: Mapping[str, float]
    language: str
    _: Translator

    def sentences(self) -> list[str]:
        """How many of which texts, then what that does."""
        return _SAID[self.kind](self)

    def integer(self, name: str) -> str:
        """A count that was measured."""
        return self._.integer(int(self.numbers.get(name, 0)))

    def share(self, name: str) -> str:
        """A rate that was measured; a dash where it was not."""
        return self._.number(self.numbers.get(name), 3)

    def doubt(self) -> list[str]:
        """What `ragbench load` warns of, in its words."""
        return doubts.sentences({self.kind: self.found, "labelled": self.of}, self._)

    def count(self, what: str) -> str:
        """`Passages: 4 of 105 (4%) with an e-mail address.`"""
        _, share = self._, self.found / self.of
        digits = next((more for more in range(3) if round(share, more + 2)), 3)  # what was found is never 0%
        return _(
            "{texts}: {n} of {of} ({share}) {what}.",
            texts=table(self.table, _),
            n=_.integer(self.found),
            of=_.integer(self.of),
            share=_.percent(share, digits),
            what=what,
        )


def _leaked(saying: Saying) -> list[str]:
    _ = saying._
    known = {name: saying.integer(name) for name in ("leaked", "leaked_first", "others", "others_first")}
    by_words = _(
        "By words alone (BM25, unstemmed) {leaked_first} of {leaked} questions that their passages give away find a "
        "relevant passage first.",
        **known,
    )
    others = _("There are no others to read a hit rate on.")
    if saying.numbers.get("others"):
        others = _("Of the others {others_first} of {others} do: the hit rate on those is the one to read.", **known)
    return [f"{by_words} {others}"]


def _copied(saying: Saying) -> list[str]:
    _ = saying._
    text = _(
        "Where a search cannot tell copies apart, and one of them comes first by chance, its mean hit rate at 1 is "
        "{hit} at most ({n} questions).",
        hit=saying.share("hit"),
        n=saying.integer("n"),
    )
    return [*saying.doubt(), text]


def _nowhere(saying: Saying) -> list[str]:
    _ = saying._
    counted = _.plural(
        "{n} of {of} labelled questions has a label that names a passage or a page that the base does not have.",
        "{n} of {of} labelled questions have labels that name passages or pages that the base does not have.",
        saying.found,
        of=_.integer(saying.of),
    )
    lost = _.plural(
        "{n} of them has no other label: every system misses it.",
        "{n} of them have no other label: every system misses them.",
        int(saying.numbers.get("lost", 0)),
    )
    recall = _("No mean recall can be above {recall}.", recall=saying.share("recall"))
    return [counted, f"{lost} {recall}" if saying.numbers.get("lost") else recall]


def _answered(saying: Saying) -> list[str]:
    _ = saying._
    counted = _.plural(
        "{n} of {of} reference answers stands word for word in its question.",
        "{n} of {of} reference answers stand word for word in their questions.",
        saying.found,
        of=_.integer(saying.of),
    )
    text = _(
        "An answer that repeats such a question holds its reference: word overlap and string metrics praise it. "
        "Questions that offer a choice are among them."
    )
    return [counted, text]


def _alike(saying: Saying) -> list[str]:
    _ = saying._
    counted = saying.count(_("nearly the same as an earlier one"))
    if saying.table == "passages":
        return [
            counted,
            _("One that is relevant and not marked counts as a miss; they take each other's places in a ranking."),
        ]
    text = _(
        "They count more than once, and intervals that take them for independent are too narrow: {different} questions "
        "are different.",
        different=saying.integer("different"),
    )
    if not saying.numbers.get("contradicting"):
        return [counted, text]
    apart = _(
        "{n} of the questions that are alike share no label: a search that gives one list to one question has a hit "
        "rate at 1 of {hit} at most.",
        n=saying.integer("contradicting"),
        hit=saying.share("hit"),
    )
    return [counted, f"{text} {apart}"]


def _form(saying: Saying) -> list[str]:
    _ = saying._
    counted = _.plural(
        "{n} form is shared by {found} of {of} questions, the commonest by {largest}.",
        "{n} forms are shared by {found} of {of} questions, the commonest by {largest}.",
        int(saying.numbers.get("forms", 0)),
        found=_.integer(saying.found),
        of=_.integer(saying.of),
        largest=saying.integer("largest"),
    )
    text = _(
        "A search that handles a form well gains on all of its questions at once: the numbers are less sure than their "
        "intervals say."
    )
    return [counted, text]


def _other_language(saying: Saying) -> list[str]:
    _ = saying._
    text = _("Where question and passage are of two languages, search by words finds nothing: look at them apart.")
    return [saying.count(_("not in the language of the data set ({language})", language=saying.language)), text]


def _short(saying: Saying) -> list[str]:
    _ = saying._
    text = _("They are searched for as keywords: read their numbers apart from those of whole questions.")
    return [saying.count(_("of one or two words")), text]


def _long(saying: Saying) -> list[str]:
    _ = saying._
    text = _("A model that reads 512 tokens does not see their ends: what stands there is not found.")
    return [saying.count(_("of more than 350 words")), text]


def _nothing_asked(saying: Saying) -> list[str]:
    _ = saying._
    what = _("greet or thank and ask nothing") if saying.kind == "greeting" else _("without a word to search by")
    text = _.plural(
        "{n} of them has a page and is measured: for it no search of real users' questions can be right.",
        "{n} of them have a page and are measured: for those no search of real users' questions can be right.",
        int(saying.numbers.get("with_page", 0)),
    )
    return [saying.count(what), *([text] if saying.numbers.get("with_page") else [])]


_SAID: Mapping[str, Callable[[Saying], list[str]]] = {
    "question_is_passage": Saying.doubt,
    "question_in_passage": Saying.doubt,
    "leaked": _leaked,
    "passage_copied": _copied,
    "labels_nowhere": _nowhere,
    "answer_in_question": _answered,
    "alike": _alike,
    "form": _form,
    "other_language": _other_language,
    "short": _short,
    "long": _long,
    "mail": lambda saying: [saying.count(saying._("with an e-mail address"))],
    "telephone": lambda saying: [saying.count(saying._("with a telephone number"))],
    "name": lambda saying: [saying.count(saying._("with a person's name, of two words or with initials"))],
    "greeting": _nothing_asked,
    "noise": _nothing_asked,
}
