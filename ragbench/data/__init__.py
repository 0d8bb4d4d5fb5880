"""One strict reader: answers, data sets, documents, judgements and runs, ratings and scores.

It knows the names in vocabulary.toml and what the user says; everything else is refused in one
sentence, with the columns that were seen and the option to type.

>>> answers = read_answers("results.csv", columns={"answer": "bot"})  # doctest: +SKIP
>>> answers.samples[0].question  # doctest: +SKIP
'When does it open?'
"""

from ragbench.data.answers import Answers, iter_answers, read_answers
from ragbench.data.columns import parse_columns
from ragbench.data.datasets import from_objects, limit_dataset, read_dataset, write_dataset
from ragbench.data.describing import Description, describe_file
from ragbench.data.documents import read_documents
from ragbench.data.files import LeftOut, Table, read_table
from ragbench.data.trec import Judged, read_qrels, read_run
from ragbench.data.values import read_numbers

__all__ = [
    "Answers",
    "Description",
    "Judged",
    "LeftOut",
    "Table",
    "describe_file",
    "from_objects",
    "iter_answers",
    "limit_dataset",
    "parse_columns",
    "read_answers",
    "read_dataset",
    "read_documents",
    "read_numbers",
    "read_qrels",
    "read_run",
    "read_table",
    "write_dataset",
]
