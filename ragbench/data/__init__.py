"""One strict reader: answers, data sets, documents, judgements and runs, ratings and scores.

It knows the names in vocabulary.toml and what the user says; everything else is refused in one
sentence, with the columns that were seen and the option to type.

>>> answers = read_answers("results.csv", columns={"answer": "bot"})  # doctest: +SKIP
>>> answers.samples[0].question  # doctest: +SKIP
'When does it open?'
"""

from ragbench.data.answers import Answers, read_answers
from ragbench.data.datasets import (
    describe_file,
    from_objects,
    read_dataset,
    write_dataset,
)
from ragbench.data.documents import read_documents
from ragbench.data.files import Table, read_table
from ragbench.data.trec import read_qrels, read_run

__all__ = [
    "Answers",
    "Table",
    "describe_file",
    "from_objects",
    "read_answers",
    "read_dataset",
    "read_documents",
    "read_qrels",
    "read_run",
    "read_table",
    "write_dataset",
]
