"""Everything that can fail inside a notebook or before it, each in its world, with the sentence that is said of it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from ragbench.old.metrics import catalogue
from tests.old.report.failure_worlds import (
    World,
    broken_server,
    embedder,
    files,
    full_disk,
    half_embedded,
    judge,
    nobody,
    nothing,
    signed_by_itself,
)


@dataclass(frozen=True)
class Case:
    """What fails in a world, and what is said of it: {url} is the world's address, {project} the folder.

    does: the code of a cell, or the words of a command that is refused.
    """

    said: str
    does: str
    settings: str = ""
    world: World = nothing
    variables: dict[str, str] = field(default_factory=dict)


JUDGE = '[judges.one]\nbase_url = "{url}"\nmodel = "m"\nattempts = 2\n'
JUDGED = 'from tests.old.judge import judged_project\njudged_project.NAME = "own"\njudged_project.measured("one", "mean", 8)\n'
FAR = (
    '[embedders.far]\nkind = "openai"\nmodel = "m"\nbase_url = "{url}"\nattempts = 1\n[systems.far]\nembedder = "far"\n'
)
HALF = (
    '[databases.half]\nurl_variable = "OWN_URL"\n'
    '[databases.half.chunks]\nin_schema = "half"\n'
    '[databases.half.questions]\nin_schema = "half"\n'
    '[embedders.theirs]\nkind = "database"\ndatabase = "half"\n'
    '[systems.theirs]\nembedder = "theirs"\n'
)
MINE = '[systems.mine]\ncallable = "mine:search"\n'
WHO = "judge 'one' (m at {url})"


_OF_THE_DRIVER = re.compile(r"(?<=went away during the run \()connection [^;]*(?=\); run)")


def without_the_drivers_words(said: str) -> str:
    """What its driver says of a database that is going away hangs on the moment: closed, refused, not yet started."""
    return _OF_THE_DRIVER.sub("…", said)


def in_a_row(last: str) -> str:
    return (
        f"{WHO} failed 8 calls in a row, each after all its attempts; the last: {last}. Replies so far are in the "
        "journal: run again to go on"
    )


def spent(on_what: str) -> str:
    return (
        f"the budget admits no further call ({on_what}, replies out of the journal included); all replies are in the "
        "journal: raise [budget] in ragbench.toml and run again to go on"
    )


def of_mine(error: str) -> str:
    return f"systems.mine: mine:search failed for all 3 questions: {error}"


def tier1(system: str, more: str = "") -> str:
    """A cell whose call nobody foresees, so that it fails where it stands and not before."""
    return (
        "from ragbench.old.tiers import tier1_retrieval\n"
        f'tier1_retrieval(systems="{system}", repeats=1, timed_questions=0, ef_searches=[], '
        f"resamples=100{more})\n"
    )


CASES: dict[str, Case] = {
    "a wrong key": Case(
        f"{WHO} refuses all calls: HTTP 401: planned 401; look at the key in the variable OUR_KEY",
        JUDGED,
        JUDGE + 'key_variable = "OUR_KEY"\n',
        judge("401"),
        {"OUR_KEY": "a-key-of-ours"},
    ),
    "an account without money": Case(
        f"{WHO} refuses all calls: HTTP 402: planned 402; the account has no money left: add some, then run again",
        JUDGED,
        JUDGE,
        judge("402"),
    ),
    "a key without the right": Case(
        f"{WHO} refuses all calls: HTTP 403: planned 403; ask the provider for the right to this model, or name "
        f"another `model`",
        JUDGED,
        JUDGE,
        judge("403"),
    ),
    "no such model": Case(
        f"{WHO} refuses all calls: HTTP 404: planned 404; look at `model` and `base_url`", JUDGED, JUDGE, judge("404")
    ),
    "a key that is not set": Case(
        "judge 'one' needs its key in the variable NO_KEY_OF_OURS, which is not set: export NO_KEY_OF_OURS=…",
        JUDGED,
        JUDGE + 'key_variable = "NO_KEY_OF_OURS"\n',
        judge(),
    ),
    "replies that nobody can use": Case(
        f"{WHO} was asked no further: none of its first 20 replies could be used; the last: two replies were not of "
        "the shape; the second: the reply is not one JSON object: Expecting value: line 1 column 1 (char 0); set "
        'replies = "text" in its table of ragbench.toml, so that the shape is asked for in words alone, or name '
        "another model. They are in the journal, and are asked anew by the next run",
        JUDGED,
        JUDGE,
        judge(answer=lambda body: "It is polite."),
    ),
    "429 for ever": Case(in_a_row("HTTP 429: planned 429"), JUDGED, JUDGE, judge("429")),
    "asked to wait for long": Case(
        f"{WHO} asks to wait 4000 s (HTTP 429: slow down); run again then, or raise patience_seconds. Replies so far "
        "are in the journal",
        JUDGED,
        JUDGE,
        judge("429_wait", retry_after="4000"),
    ),
    "calls spent": Case(spent("calls: 3 of 3"), JUDGED, JUDGE + "[budget]\ncalls = 3\n", judge()),
    "money spent": Case(
        spent("money: 0 of 0.001"), JUDGED, JUDGE + "input_price = 1000.0\n[budget]\nmoney = 0.001\n", judge()
    ),
    "a refused connection": Case(
        in_a_row("Cannot connect to host 127.0.0.1:9 (Connection refused); look whether it runs, and at base_url"),
        JUDGED,
        JUDGE,
        nobody,
    ),
    "a certificate of its own": Case(
        f"{WHO} refuses all calls: the certificate of 127.0.0.1 is not trusted: it is signed by itself; name its "
        f"file in "
        "the variable SSL_CERT_FILE if it is your own",
        JUDGED,
        JUDGE,
        signed_by_itself,
    ),
    "a redirect": Case(
        f"{WHO} refuses all calls: HTTP 307: a redirect, which is not followed; set base_url to the final address",
        JUDGED,
        JUDGE,
        judge("redirect"),
    ),
    "HTML for ever": Case(
        f"{WHO} refuses all calls: the response is not JSON, it begins with <html><body>score: 5</body></html>; look "
        "at `base_url`",
        JUDGED,
        JUDGE,
        judge("html"),
    ),
    "a model that hangs": Case(
        in_a_row("no whole response within 0.2 s (timeout_seconds)"),
        JUDGED,
        JUDGE + "timeout_seconds = 0.2\n",
        judge("hang"),
    ),
    "an unknown judge": Case(
        "there is no judge 'two'; judges are lexical, one (tables [judges.NAME])",
        JUDGED.replace('"one"', '"two"'),
        JUDGE,
        judge(),
    ),
    "a dead endpoint of vectors": Case(
        "the embedder far (m at {url}) gave no vectors: Cannot connect to host 127.0.0.1:9 (Connection "
        "refused); look whether it runs, and at base_url; tried 1 times (attempts = 1, patience_seconds = 300). "
        "Run again to go on",
        tier1("far"),
        FAR,
        nobody,
    ),
    "a key that the endpoint of vectors refuses": Case(
        "the embedder far (m at {url}) gave no vectors: HTTP 401: bad key; no key was sent: name the variable "
        "that holds it as `key_variable`, or its own header in `headers`",
        tier1("far"),
        FAR,
        embedder(*[(401, {}, '{"error": {"message": "bad key"}}')] * 9),
    ),
    "vectors of another width": Case(
        "the embedder far (m at {url}) gave a vector of another dimension for 2 of 5 texts; the first is 'Text of c1.'",
        tier1("far"),
        FAR,
        embedder(
            change=lambda reply: {
                **reply,
                "data": [{**one, "embedding": one["embedding"][: 12 - one["index"] % 2]} for one in reply["data"]],
            }
        ),
    ),
    "vectors with NaN": Case(
        "the embedder far (m at {url}) gave NaN or infinity for 5 of 5 texts; the first is 'Text of a1.'",
        tier1("far"),
        FAR,
        embedder(
            change=lambda reply: {**reply, "data": [{**one, "embedding": [float("nan")] * 12} for one in reply["data"]]}
        ),
    ),
    "a table with rows without a vector": Case(
        "databases.half: 1 of 2 rows of chunk have no vector in embedding; embed them, or set "
        'without_embedding = "leave_out", or "embed"',
        tier1("theirs", ', dataset="db:half", unit="url"'),
        HALF,
        half_embedded,
    ),
    "a function that always raises": Case(
        of_mine("RuntimeError: the index is down"),
        tier1("mine"),
        MINE,
        files(mine__py="def search(question, k):\n    raise RuntimeError('the index is down')\n"),
    ),
    "a function whose tasks raise together": Case(
        of_mine("RuntimeError: shard 3 is down"),
        tier1("mine"),
        MINE,
        files(
            mine__py=(
                "import asyncio\nasync def one():\n    raise RuntimeError('shard 3 is down')\n"
                "async def search(question, k):\n    async with asyncio.TaskGroup() as group:\n"
                "        group.create_task(one())\n        group.create_task(one())\n"
            )
        ),
    ),
    "a function that returns nonsense": Case(
        of_mine(
            "a list is expected (or {id: score}), each item a chunk id, a passage's text, an (id, score) pair, "
            "or an object "
            "with id or text, and at will url, title and score; got a whole number"
        ),
        tier1("mine"),
        MINE,
        files(mine__py="def search(question, k):\n    return 42\n"),
    ),
    "a module that is not there": Case(
        "systems.mine.callable = 'mine:search': mine cannot be imported: No module named 'mine'; put it beside "
        "ragbench.toml, "
        "or install it",
        tier1("mine"),
        MINE,
    ),
    "a module that raises": Case(
        "systems.mine.callable = 'mine:search': mine cannot be imported: No module named 'no_such_package'; put "
        "it beside "
        "ragbench.toml, or install it",
        tier1("mine"),
        MINE,
        files(mine__py="import no_such_package\n"),
    ),
    "a function that is not there": Case(
        "systems.mine.callable = 'mine:search': there is no search; there are serch",
        tier1("mine"),
        MINE,
        files(mine__py="def serch(question, k): ...\n"),
    ),
    "no file of results": Case(
        "systems.gone.results = 'gone.jsonl': there is no such file",
        tier1("gone"),
        '[systems.gone]\nresults = "gone.jsonl"\n',
    ),
    "results of other questions": Case(
        "systems.gone: none of the 3 questions is in gone.jsonl; it has 1, such as 'z'; asked were 'q1', 'q2', 'q3'",
        tier1("gone"),
        '[systems.gone]\nresults = "gone.jsonl"\n',
        files(gone__jsonl='{"id": "z", "retrieved": []}\n'),
    ),
    "no labels": Case(
        "no question of small:en names a relevant chunk: there is nothing to measure",
        tier1("ngrams"),
        "",
        files(**{"data/small/questions__en__jsonl": '{"id": "q1", "text": "What?"}\n'}),
    ),
    "an answers table without answers": Case(
        "faithfulness needs response, which no sample has; they have user_input, contexts",
        'from ragbench.old import tiers\ntiers.rag_metrics(answers="a.jsonl", notebook="own", metrics="faithfulness, '
        'rouge1_f")\n',
        "",
        files(a__jsonl='{"id": "q", "question": "What?", "contexts": ["c"]}\n'),
    ),
    "an empty answers table": Case(
        "a.jsonl: an empty file; a header line and at least one row are expected",
        'from ragbench.old import tiers\ntiers.rag_metrics(answers="a.jsonl", notebook="own")\n',
        "",
        files(a__jsonl=""),
    ),
    "a function that hangs": Case(
        of_mine("no answer within 0.3 s; look what it waits for, or raise systems.mine.timeout_seconds"),
        tier1("mine"),
        MINE + "timeout_seconds = 0.3\n",
        files(mine__py="import time\ndef search(question, k):\n    time.sleep(600)\n"),
    ),
    "a coroutine that hangs": Case(
        of_mine("no answer within 0.3 s; look what it waits for, or raise systems.mine.timeout_seconds"),
        tier1("mine"),
        MINE + "timeout_seconds = 0.3\n",
        files(mine__py="import asyncio\nasync def search(question, k):\n    await asyncio.sleep(600)\n"),
    ),
    "a database that never answered": Case(
        "the PostgreSQL server named by RAGBENCH_DATABASE_URL does not answer (connection failed: connection to "
        'server at "127.0.0.1", port 9 failed: Connection refused): postgresql://u:••••@127.0.0.1:9/x; start it, or '
        "name another one, then run the same command again: what was computed is kept",
        tier1("ngrams"),
        variables={"RAGBENCH_DATABASE_URL": "postgresql://u:pw@127.0.0.1:9/x"},
    ),
    "a database that is gone for good in the midst": Case(
        "while loading the chunks of small: the database server went away during the run (…); run the same command "
        "again: what was computed is kept",
        tier1("mine,ngrams"),
        MINE,
        broken_server,
        {"RAGBENCH_DATABASE__FOLDER": "{url}"},
    ),
    "a full disk": Case(
        "No space left on device: make room there, then run again",
        "open('disk/x', 'w').write('x' * 100_000)",
        "",
        full_disk,
    ),
    "a full disk under our own writer": Case(
        "disk/m/scores.parquet: No space left on device: make room there, then run again",
        "from pathlib import Path\nfrom tests.old.views.measurements import "
        "measurement\nmeasurement(questions=3).save(Path('disk/m'))",
        "",
        full_disk,
    ),
    "a file that is not there": Case("nowhere.csv: No such file or directory", "open('nowhere.csv')"),
    "a killed kernel": Case(
        "the notebook's process ended before its work was done: it was killed, as a system does that is short of "
        "memory; "
        "measure fewer questions or systems at a time, or give it more memory, then run again",
        "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    ),
    "a crashed kernel": Case(
        "the notebook's process ended before its work was done: a signal ended it (Segmentation fault); run again",
        "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
    ),
    "more memory than there is": Case(
        "there is not enough memory: measure fewer questions or systems at a time, or give it more, then run again",
        "bytearray(1 << 60)",
    ),
    "an array larger than the memory": Case(
        "there is not enough memory (Unable to allocate 1.00 EiB for an array with shape (144115188075855872,) "
        "and data type "
        "float64): measure fewer questions or systems at a time, or give it more, then run again",
        "import numpy; numpy.zeros(1 << 57)",
    ),
    "a parameter out of bounds": Case(
        "k = 0: a whole number from 1 to 1000 is expected (documents of each ranking that are looked at)",
        tier1("ngrams", ", k=0"),
    ),
    "a metric that there is not": Case(
        f"there is no metric 'ndgc'; did you mean ndcg? `ragbench metrics` lists all {len(catalogue())}",
        tier1("ngrams", ', metrics="ndgc"'),
    ),
    "several errors at once": Case(
        "ValueError: the first",
        "raise ExceptionGroup('two of them', [ExceptionGroup('inner', [ValueError('the first')]), KeyError('b')])",
    ),
    "several errors of ours at once": Case(
        "a.jsonl holds no answers",
        "import asyncio\nfrom ragbench.old.tiers.scoring.table_sources import of_samples\n"
        "async def one():\n    of_samples([], 'a.jsonl')\n"
        "async with asyncio.TaskGroup() as group:\n    group.create_task(one())\n    group.create_task(one())\n",
    ),
    "an error in handling an error": Case(
        "RuntimeError: the judge is away",
        "try:\n    {}['x']\nexcept KeyError:\n    raise RuntimeError('the judge is away')",
    ),
    "an exit": Case("the notebook ended itself before its last cell: no more", "import sys; sys.exit('no more')"),
    "an error of the notebook's own": Case("KeyError: 'x'", "{}['x']"),
    "an exit as if all were well": Case("the notebook ended itself before its last cell", "import sys; sys.exit()"),
    "a package that is not there": Case(
        "No module named 'no_such_package': install it beside ragbench, or put it beside ragbench.toml, then run again",
        "import no_such_package",
    ),
}


REFUSED: dict[str, Case] = {
    "a data set that is not there": Case(
        "there is no data set 'nowhere' in data/; there are small. "
        "`ragbench load questions FILE --name NAME` brings one",
        "tier1_retrieval -d nowhere",
    ),
    "a data set without questions": Case(
        "questions.en.jsonl: holds no lines; at least one is expected",
        "tier1_retrieval",
        world=files(**{"data/small/questions__en__jsonl": ""}),
    ),
    "a data set with half a line": Case(
        "questions.en.jsonl, line 1: not JSON: Expecting value at line 1, column 8",
        "tier1_retrieval",
        world=files(**{"data/small/questions__en__jsonl": '{"id": '}),
    ),
    "an unknown system": Case(
        "there is no system 'god' in ragbench.toml; did you mean 'good'?; there are good, poor, ngrams",
        "tier1_retrieval -s god",
    ),
    "an unknown parameter": Case("there is no parameter 'kk'; did you mean k?", "tier1_retrieval -p kk=5"),
    "a parameter of another kind": Case(
        "k = 'ten': it is a whole number (by default 10), written as a literal", "tier1_retrieval -p k=ten"
    ),
    "a parameter out of bounds": Case(
        "k = 0: a whole number from 1 to 1000 is expected (documents of each ranking that are looked at)",
        "tier1_retrieval -p k=0",
    ),
    "an unknown key in the settings": Case(
        "ragbench.toml: there is no key 'budget.call'; did you mean calls? Legal here: calls, money, tokens",
        "tier1_retrieval",
        "[budget]\ncall = 3\n",
    ),
    "a notebook that is not there": Case("there is no notebook 'tier9'; notebooks/ has dataset, overview, ", "tier9"),
}
