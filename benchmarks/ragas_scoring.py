"""The peer's half of ragas_metrics.py, run by the peer's own Python: its metrics on scripted verdicts.

python ragas_scoring.py < cases.json → {"version", "values"}. The scripts answer through a model that stands in for a
real one: it reads the input that ragas puts at the end of each prompt, and returns the JSON that ragas parses.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import sys
import warnings
from importlib.metadata import version

os.environ["RAGAS_DO_NOT_TRACK"] = "true"  # its telemetry blocks the loop where the network is closed
warnings.filterwarnings("ignore")

import numpy as np  # noqa: E402
from langchain_core.outputs import Generation, LLMResult  # noqa: E402
from ragas import SingleTurnSample  # noqa: E402
from ragas import metrics as peer  # noqa: E402
from ragas.embeddings.base import BaseRagasEmbeddings  # noqa: E402
from ragas.llms.base import BaseRagasLLM  # noqa: E402
from ragas.metrics._answer_correctness import AnswerCorrectness, AnswerSimilarity  # noqa: E402
from ragas.metrics._aspect_critic import AspectCriticOutput  # noqa: E402
from ragas.metrics._domain_specific_rubrics import RubricsScore  # noqa: E402
from ragas.metrics._nv_metrics import AnswerAccuracy, ContextRelevance, ResponseGroundedness  # noqa: E402
from ragas.metrics._simple_criteria import SimpleCriteriaOutput, SimpleCriteriaScore  # noqa: E402
from ragas.run_config import RunConfig  # noqa: E402

_INPUT = re.compile(r"Now perform the same with the following input\ninput: (.*)\nOutput: $", re.DOTALL)


class Scripted(BaseRagasLLM):
    """Answers a prompt by `reply(input)`; several completions of one prompt are its list, one each."""

    def __init__(self, reply):
        super().__init__(run_config=RunConfig())
        self.reply = reply

    def generate_text(self, prompt, n=1, temperature=0.01, stop=None, callbacks=None):
        text = prompt.to_string()
        found = _INPUT.search(text)
        said = self.reply(json.loads(found[1]) if found else text)
        each = said if isinstance(said, list) else [said] * n
        return LLMResult(generations=[[Generation(text=x if isinstance(x, str) else json.dumps(x)) for x in each]])

    async def agenerate_text(self, prompt, n=1, temperature=0.01, stop=None, callbacks=None):
        return self.generate_text(prompt, n, temperature, stop, callbacks)

    def is_finished(self, response):
        return True


class Vectors(BaseRagasEmbeddings):
    """Embeds a text as the script says, in single precision."""

    def __init__(self, known):
        self.set_run_config(RunConfig())
        self.cache = None
        self.known = {text: np.asarray(vector, dtype=np.float32) for text, vector in known.items()}

    def embed_query(self, text):
        return self.known[text]

    def embed_documents(self, texts):
        return [self.known[text] for text in texts]

    async def aembed_query(self, text):
        return self.known[text]

    async def aembed_documents(self, texts):
        return [self.known[text] for text in texts]


def texts(prefix, number):
    return [f"{prefix} {place}." for place in range(1, number + 1)]


def verdicts(flags):
    return {"statements": [{"statement": "s", "reason": "scripted", "verdict": flag} for flag in flags]}


def faithfulness(script):
    def reply(given):
        return (
            verdicts(script["verdicts"])
            if "statements" in given
            else {"statements": texts("Claim", script["statements"])}
        )

    return peer.Faithfulness(llm=Scripted(reply)), {}


def context_recall(script):
    def reply(given):
        flags = script["verdicts"]
        return {"classifications": [{"statement": "s", "reason": "scripted", "attributed": flag} for flag in flags]}

    return peer.LLMContextRecall(llm=Scripted(reply)), {}


def context_precision(script):
    flags = dict(zip(texts("Context", len(script["useful"])), script["useful"], strict=True))
    kinds = {
        "reference": peer.LLMContextPrecisionWithReference,
        "response": peer.LLMContextPrecisionWithoutReference,
    }
    made = kinds[script["strategy"]](
        llm=Scripted(lambda given: {"reason": "scripted", "verdict": flags[given["context"]]})
    )
    return made, {"retrieved_contexts": list(flags)}


def context_entity_recall(script):
    def reply(given):
        return {"entities": script["reference" if given["text"] == "Reference." else "contexts"]}

    return peer.ContextEntityRecall(llm=Scripted(reply)), {}


def noise_sensitivity(script):
    said, true = texts("Said", len(script["correct"])), texts("True", len(script["relevant"][0]))
    contexts = texts("Context", len(script["by_context"]))

    def reply(given):
        if "statements" not in given:
            return {"statements": said if given["answer"] == "Response." else true}
        if given["context"] == "Reference.":
            return verdicts(script["correct"])
        kind = "by_context" if given["statements"] == said else "relevant"
        return verdicts(script[kind][contexts.index(given["context"])])

    return peer.NoiseSensitivity(mode=script["mode"], llm=Scripted(reply)), {"retrieved_contexts": contexts}


def response_relevancy(script):
    questions = texts("Question", len(script["generated"]))
    questions[: script["blank"]] = [""] * script["blank"]
    said = [{"question": q, "noncommittal": flag} for q, flag in zip(questions, script["noncommittal"], strict=True)]
    known = {"Q?": script["asked"], **dict(zip(reversed(questions), reversed(script["generated"]), strict=True))}
    return peer.ResponseRelevancy(llm=Scripted(lambda given: list(said)), embeddings=Vectors(known)), {}


def semantic_similarity(script):
    sides = {side: "" if script["blank"] in (side, "both") else f"{side}." for side in ("response", "reference")}
    known = {text or " ": script[side] for side, text in sides.items()}
    return peer.SemanticSimilarity(embeddings=Vectors(known), threshold=script["threshold"]), sides


def factual_correctness(script):
    def reply(given):
        if "statements" in given:
            return verdicts(script["response" if given["context"] == "Reference." else "reference"])
        side = "response" if given["response"] == "Response." else "reference"
        return {"claims": texts(side.title(), len(script[side]))}

    made = peer.FactualCorrectness(mode=script["mode"], beta=script["beta"], llm=Scripted(reply))
    return made, {}


def answer_correctness(script):
    def reply(given):
        if "ground_truth" not in given:
            side = "response" if given["answer"] == "Response." else "reference"
            return {"statements": texts(side.title(), len(script[side]))}
        said, true = script["response"], script["reference"]

        def listed(flags, wanted):
            return [{"statement": "s", "reason": "scripted"} for flag in flags if flag == wanted]

        return {"TP": listed(said, 1), "FP": listed(said, 0), "FN": listed(true, 0)}

    vectors = Vectors(dict(zip(("Response.", "Reference."), script["vectors"], strict=True)))
    made = AnswerCorrectness(llm=Scripted(reply), embeddings=vectors, weights=list(script["weights"]))
    made.answer_similarity = AnswerSimilarity(embeddings=vectors)
    return made, {}


def response_groundedness(script):
    fields = {"retrieved_contexts": script["contexts"], "response": script["response"]}
    return ResponseGroundedness(llm=raters(script, "### Instruction")), fields


def raters(script, first, factor=1):
    """Two templates, of which the first begins so; a rater that gives nothing says so, however often it is asked."""

    def reply(text):
        rating = script["ratings"][0 if text.startswith(first) else 1]
        return "nothing" if rating is None else str(factor * rating)

    return Scripted(reply)


def answer_accuracy(script):
    return AnswerAccuracy(llm=raters(script, "Instruction: ", 2)), {"response": script["response"]}


def context_relevance(script):
    fields = {"retrieved_contexts": script["contexts"], "user_input": script["asked"]}
    return ContextRelevance(llm=raters(script, "### Instructions")), fields


class Voted:
    """The vote over several replies. Of the metrics themselves, version 0.4.3 asks once, whatever the strictness."""

    def __init__(self, made, replies):
        self.made, self.replies = made, replies

    async def single_turn_ascore(self, sample):
        return self.made._compute_score(self.replies)


def aspect_critique(script):
    said = [AspectCriticOutput(reason="scripted", verdict=verdict) for verdict in script["verdicts"]]
    return Voted(peer.AspectCritic(name="aspect", definition="?", strictness=len(said)), said), {}


def simple_criteria(script):
    said = [SimpleCriteriaOutput(reason="scripted", score=rating) for rating in script["ratings"]]
    return Voted(SimpleCriteriaScore(name="criterion", definition="?", strictness=len(said)), said), {}


def rubrics_score(script):
    rubrics = {f"score{level}_description": f"criteria {level}" for level in range(1, 6)}
    reply = {"feedback": "scripted", "score": script["level"]}
    return RubricsScore(rubrics=rubrics, llm=Scripted(lambda given: reply)), {}


async def value(name, script):
    made, fields = globals()[name](script)
    whole = {
        "user_input": "Q?",
        "response": "Response.",
        "reference": "Reference.",
        "retrieved_contexts": ["Context 1."],
    }
    return float(await made.single_turn_ascore(SingleTurnSample(**{**whole, **fields})))


async def main():
    asked = json.load(sys.stdin)
    found = [await value(name, script) for name, script in asked]
    kept = [each if each == each else None for each in found]
    print(json.dumps({"version": version("ragas"), "values": kept}))


if __name__ == "__main__":
    asyncio.run(main())
