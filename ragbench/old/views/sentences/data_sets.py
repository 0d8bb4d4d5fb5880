"""What is said of a data set: what is odd in it, what that does to numbers, and what its parts are called."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ragbench.old.core.language import Translator
from ragbench.old.core.parts import Content, Styled, Text
from ragbench.old.tiers.data.dataset import Oddity, OddityRow
from ragbench.old.tiers.data.persons import NEEDED
from ragbench.old.views.basics.marks import rows_of
from ragbench.old.views.basics.material import Material
from ragbench.old.views.basics.text import shown

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
        return doubts({self.kind: self.found, "labelled": self.of}, self._)

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


def doubts(counts: Mapping[str, int], _: Translator) -> list[str]:
    """A sentence for each kind that `ragbench.old.data.doubts_of` counted; none where it counted nothing."""
    labelled, labels = _.integer(counts.get("labelled", 0)), _.integer(counts.get("labels", 0))
    said = {
        "question_is_passage": _.plural(
            "{n} of {labelled} labelled questions is word for word its own relevant passage: to find that one "
            "shows nothing of how real questions fare.",
            "{n} of {labelled} labelled questions are word for word their own relevant passages: to find those "
            "shows nothing of how real questions fare.",
            counts.get("question_is_passage", 0),
            labelled=labelled,
        ),
        "question_in_passage": _.plural(
            "{n} of {labelled} labelled questions stands word for word in its relevant passage: search by words finds "
            "that one for nothing.",
            "{n} of {labelled} labelled questions stand word for word in their relevant passages: search by words "
            "finds those for nothing.",
            counts.get("question_in_passage", 0),
            labelled=labelled,
        ),
        "passage_copied": _.plural(
            "{n} of {labelled} labelled questions has a relevant passage whose text the base holds more than once: "
            "a copy that is not marked counts as a miss, one that is marked counts twice.",
            "{n} of {labelled} labelled questions have a relevant passage whose text the base holds more than "
            "once: a copy that is not marked counts as a miss, one that is marked counts twice.",
            counts.get("passage_copied", 0),
            labelled=labelled,
        ),
        "labels_nowhere": _.plural(
            "{n} of {labels} labels names a passage or a page that the base does not have: it can never be found.",
            "{n} of {labels} labels name passages or pages that the base does not have: they can never be found.",
            counts.get("labels_nowhere", 0),
            labels=labels,
        ),
    }
    return [text for kind, text in said.items() if counts.get(kind)]


def dimension_name(material: Material, dimension: str) -> str:
    """What questions are sliced by, for people."""
    _ = material.text
    names = {"kind": _("Kind of question"), "language": _("Language"), "source": _("Source")}
    return names.get(dimension, dimension)


def slice_name(material: Material, part: tuple[str, str | None]) -> str:
    """The name of a slice: as the data has it, the kinds of the sample data in words."""
    _ = material.text
    dimension, value = part
    if value is None:
        return shown(_("not given"))
    kinds = {"well_formed": _("well-formed"), "colloquial": _("colloquial"), "misspelt": _("misspelt")}
    return shown(kinds.get(value, value) if dimension == "kind" else value, 60)


def examination(material: Material) -> list[Content]:
    """What changes numbers, each with what it does; in a word what does not."""
    _, known = material.text, material.facts
    every = [examined for examined in looked(material) if examined.found]
    said = list[Content]()
    for oddity in every:
        if oddity.kind in HARMLESS:
            continue
        first, *more = told(oddity, data_language(material), _)
        said.append([Text(Styled(first, "strong")), *(Text(line, "rb-more") for line in more)])
    texts = [
        _.plural("{n} question", "{n} questions", int(known.get("n_questions") or 0)),
        _.plural("{n} passage", "{n} passages", int(known.get("n_chunks") or 0)),
    ]
    if not said:
        nothing = _("Nothing was found in {texts} that makes numbers better or worse.", texts=_.enumeration(texts))
        said.append([Text(Styled(nothing, "strong"))])
    quiet = dict.fromkeys(heading(harmless.kind, _) for harmless in every if harmless.kind in HARMLESS)
    if quiet:
        said.append([Text(_("Also found: {what}.", what="; ".join(quiet)), "rb-more")])
    return said


def examination_method(material: Material) -> list[str]:
    """What was done, in sentences."""
    _ = material.text
    return [
        _(
            "Texts are compared by their words: case, signs and blanks do not tell two apart. Nearly the same are two "
            "whose character n-grams are at most 0.03 apart (cosine distance); of questions their numbers must agree."
        ),
        _(
            "A language is told for texts of five words and more (py3langid), in {told} texts of a table at most, "
            "another one than the data set's only where the model is 90% sure. Telephones are those that phonenumbers "
            "holds valid; names are those that Slovnet finds in Russian texts, in {n} texts of a table at most.",
            told=_.integer(int(material.facts.get("told", 0))),
            n=_.integer(int(material.facts.get("sampled", 0))),
        ),
    ]


def looked(material: Material) -> list[Oddity]:
    """All that was looked for, in its order, without the texts."""
    import pandas as pd

    known = {
        (consequence["kind"], consequence["table"]): consequence
        for consequence in material.facts.get("consequences", ())
    }
    made = []
    for row in rows_of(OddityRow, material.kept("oddities")):
        kind, table = row["kind"], row["table"]
        numbers = {
            name: float(value)
            for name, value in known.get((kind, table), {}).items()
            if name not in ("kind", "table") and value is not None
        }
        of = row["of"] if pd.notna(row["of"]) else None
        made.append(Oddity(kind, table, row["found"], of, (), numbers))
    return made


def data_language(material: Material) -> str:
    """The code of the data set's language."""
    return str(material.facts.get("data_language"))


def told(oddity: Oddity, language_code: str, _: Translator) -> list[str]:
    """How many texts were found, then what that does. language_code: the code of the data set's."""
    named = language(language_code, _)
    return Saying(oddity.kind, oddity.table, oddity.found, oddity.of or 0, oddity.numbers, named, _).sentences()


def absent(every: Sequence[Oddity], _: Translator) -> list[str]:
    """What was looked for and not found, and what was not looked for, in a sentence each."""
    there = {oddity.kind for oddity in every if oddity.found}
    kinds = dict.fromkeys(oddity.kind for oddity in every if oddity.of is not None and oddity.kind not in there)
    names = [heading(kind, _) for kind in kinds]
    said = [_("Looked for and not found: {what}.", what="; ".join(names))] if names else []
    unlooked = [oddity for oddity in every if oddity.kind == "name" and oddity.of is None]
    if any(oddity.numbers.get("russian") for oddity in unlooked):
        said.append(_("Names of people were not looked for: this needs {command}.", command=NEEDED))
    elif unlooked:
        said.append(_("Names of people were looked for only in texts with Russian letters."))
    return said
