"""What a page says of a data set that was looked over: what was found, what it does, what was not looked for."""

from __future__ import annotations

from collections.abc import Sequence

from ragbench.core.language import Translator
from ragbench.core.parts import Content, Styled, Text
from ragbench.tiers.data.examination import Oddity
from ragbench.tiers.data.persons import NEEDED
from ragbench.views.basics.entries import rows_of
from ragbench.views.basics.material import Material
from ragbench.views.sentences import oddities


def sentences(material: Material) -> list[Content]:
    """What changes numbers, each with what it does; in a word what does not."""
    _, known = material.text, material.facts
    every = [examined for examined in looked(material) if examined.found]
    said = list[Content]()
    for oddity in every:
        if oddity.kind in oddities.HARMLESS:
            continue
        first, *more = told(oddity, language(material), _)
        said.append([Text(Styled(first, "strong")), *(Text(line, "rb-more") for line in more)])
    texts = [
        _.plural("{n} question", "{n} questions", int(known.get("n_questions") or 0)),
        _.plural("{n} passage", "{n} passages", int(known.get("n_chunks") or 0)),
    ]
    if not said:
        nothing = _("Nothing was found in {texts} that makes numbers better or worse.", texts=_.enumeration(texts))
        said.append([Text(Styled(nothing, "strong"))])
    quiet = dict.fromkeys(
        oddities.heading(harmless.kind, _) for harmless in every if harmless.kind in oddities.HARMLESS
    )
    if quiet:
        said.append([Text(_("Also found: {what}.", what="; ".join(quiet)), "rb-more")])
    return said


def method(material: Material) -> list[str]:
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
    for row in rows_of(material.kept("oddities")):
        kind, table = str(row["kind"]), str(row["table"])
        numbers = {
            name: float(value)
            for name, value in known.get((kind, table), {}).items()
            if name not in ("kind", "table") and value is not None
        }
        of = int(row["of"]) if pd.notna(row["of"]) else None
        made.append(Oddity(kind, table, int(row["found"]), of, (), numbers))
    return made


def language(material: Material) -> str:
    """The code of the data set's language."""
    return str(material.facts.get("data_language"))


def told(oddity: Oddity, language: str, _: Translator) -> list[str]:
    """How many texts were found, then what that does. language: the code of the data set's."""
    named = oddities.language(language, _)
    return oddities.Saying(
        oddity.kind, oddity.table, oddity.found, oddity.of or 0, oddity.numbers, named, _
    ).sentences()


def absent(every: Sequence[Oddity], _: Translator) -> list[str]:
    """What was looked for and not found, and what was not looked for, in a sentence each."""
    there = {oddity.kind for oddity in every if oddity.found}
    kinds = dict.fromkeys(oddity.kind for oddity in every if oddity.of is not None and oddity.kind not in there)
    names = [oddities.heading(kind, _) for kind in kinds]
    said = [_("Looked for and not found: {what}.", what="; ".join(names))] if names else []
    unlooked = [oddity for oddity in every if oddity.kind == "name" and oddity.of is None]
    if any(oddity.numbers.get("russian") for oddity in unlooked):
        said.append(_("Names of people were not looked for: this needs {command}.", command=NEEDED))
    elif unlooked:
        said.append(_("Names of people were looked for only in texts with Russian letters."))
    return said
