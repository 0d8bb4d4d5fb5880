"""The peer's half of bench_llm.py, run by the peer's own Python: one judged metric, one call a sample.

python ragas_judging.py URL FILE_OF_SAMPLES IN_FLIGHT → "ready"; once a line comes in, one line of JSON {"began",
"ended", "cpu_seconds", "scored"}.
"""

from __future__ import annotations

import gc
import json
import os
import sys
import time
import warnings
from pathlib import Path

os.environ["RAGAS_DO_NOT_TRACK"] = "true"  # its telemetry blocks the loop where the network is closed
warnings.filterwarnings("ignore")

from langchain_openai import ChatOpenAI  # noqa: E402
from ragas import EvaluationDataset, SingleTurnSample, evaluate  # noqa: E402
from ragas.llms import LangchainLLMWrapper  # noqa: E402
from ragas.metrics import AspectCritic  # noqa: E402
from ragas.run_config import RunConfig  # noqa: E402


def main(url: str, file: str, in_flight: int) -> None:
    model = LangchainLLMWrapper(ChatOpenAI(base_url=url, api_key="none", model="tester", temperature=0))
    critic = AspectCritic(name="carried", definition="Is the response carried by the retrieved contexts?")
    with Path(file).open(encoding="utf-8") as lines:
        rows = [
            SingleTurnSample(user_input=row["question"], response=row["response"], retrieved_contexts=row["contexts"])
            for row in map(json.loads, lines)
        ]
    config = RunConfig(max_workers=in_flight)

    def once(chosen: list[SingleTurnSample]) -> int:
        found = evaluate(EvaluationDataset(chosen), [critic], llm=model, run_config=config, show_progress=False)
        return sum(score["carried"] == 1 for score in found.scores)

    once(rows[: 4 * in_flight])
    gc.collect()
    print("ready", flush=True)
    sys.stdin.readline()
    began, cpu = time.time(), time.process_time()
    scored = once(rows)
    cpu = time.process_time() - cpu
    print(json.dumps({"began": began, "ended": time.time(), "cpu_seconds": cpu, "scored": scored}))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
