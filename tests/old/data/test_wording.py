"""Texts by their words alone."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragbench.old.core.segmentation import plain


@given(st.text(st.characters(max_codepoint=127), max_size=40))
def test_a_text_of_ascii_has_the_words_that_it_has_beside_another_letter(text: str) -> None:
    """Two ways lead to the words; a text that is not of ASCII alone goes the other."""
    assert plain(text) == plain(f"{text} ж").removesuffix("ж").strip()


def test_forms_case_and_signs_do_not_tell_texts_apart() -> None:
    assert plain("  It's\tsnake_case, 3.5!\x1f") == "it s snake case 3 5"
    assert plain("Ёлка — \ufb01ne") == "елка fine"
