"""What a service returns to questions without passages is the base: none of it is strange."""

from __future__ import annotations

from pathlib import Path

from ragbench.old import data
from ragbench.old.core.types import Chunk, Hit
from ragbench.old.systems.passages import ItemReader, Passages
from ragbench.old.tiers.basics.withholding import Known

SEEN = [{"id": "1", "text": "It opens at 8:00."}, {"text": "Parking is behind the hall."}]


def test_what_is_returned_is_the_base_where_there_is_none() -> None:
    reader = ItemReader(Passages(()))
    assert [hit.chunk.text for hit in reader.hits(SEEN, 5)] == [one["text"] for one in SEEN]
    assert reader.facts() == {"passages_seen": 2}
    with_base = ItemReader(Passages((Chunk("9", "Loans last fourteen days."),)))
    with_base.hits(SEEN, 5)
    assert with_base.facts()["unknown_ids"] == 2
    found = {"mine": [[Hit(Chunk("1", "It opens at 8:00."))]]}
    assert Known(()).told(found, 5) == {}
    assert Known((Chunk("9", "x"),)).told(found, 5) == {"unidentified": {"mine": [1, 1]}}


def test_questions_without_passages_are_a_data_set(tmp_path: Path) -> None:
    path = tmp_path / "q.jsonl"
    path.write_text('{"question": "When?", "ground_truth_answer": "8:00"}\n')
    found = data.foreign_sets.questions(path)
    assert any("as far as it is seen" in note for note in found.notes)
    tables = {table: getattr(found, table) for table in found.tables}
    data.write("q", tmp_path, title="q", licence="CC0", source="a test", language="en", **tables)
    loaded = data.load("q", tmp_path)
    assert (len(loaded.chunks), len(loaded.questions)) == (0, 1)
