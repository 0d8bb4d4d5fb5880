"""ragbench's metrics in the shape in which LangSmith, MLflow and Langfuse ask for their evaluators.

from ragbench.old import evaluators
langsmith.evaluate(app, data="desk", evaluators=[evaluators.langsmith("faithfulness", judge="my-judge")])

An answer that could not be measured has no value (None) and the reason in its comment: never 0.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from ragbench.old import score
from ragbench.old.core.metric import Metric
from ragbench.old.core.types import Judge
from ragbench.old.data.samples import READ, samples_of
from ragbench.old.data.vocabulary import field_of
from ragbench.old.tiers.scoring import own_metrics
from ragbench.old.tiers.scoring.measure import applicable

__all__ = ["langfuse", "langsmith", "mlflow"]

INSTALL = "pip install {package}"
ANSWERS = ("response", "answer", "output", "expected_response", "expected_output", "text", "content")
"""What an answer, or a reference, is called where it is one of several outputs."""
TEXTS = ("text", "page_content", "content")
"""What the text of a passage is called."""

Options = Any
"""Of `ragbench.score`: embedder, language, aggregate, quorum, …"""


class Passing(Protocol):
    """An evaluator of Langfuse."""

    def __call__(self, *, input: Any, output: Any, expected_output: Any = None, **more: Any) -> Any: ...  # noqa: A002 - its name


def langsmith(
    metric: Metric | str, judge: Judge | str | Sequence[Judge | str] | None = None, **options: Options
) -> Callable[..., dict[str, Any]]:
    """An evaluator for `langsmith.evaluate`: of inputs, outputs, reference_outputs; {"key", "score", "comment"}.

    metric: that scores single answers, by its name or itself. judge, options: of `ragbench.score`. Fields go by the
    names that `ragbench.score` knows: a question in inputs, an answer and contexts in outputs, an answer in
    reference_outputs; a text alone is the question, the answer, the reference.
    Raises ValueError for a metric that there is not, and for one of another grain.
    """
    label, measure = _measuring(metric, judge, options)

    def evaluator(inputs: Any, outputs: Any, reference_outputs: Any = None) -> dict[str, Any]:
        value, comment = measure(inputs, outputs, reference_outputs)
        return {"key": label, "score": value, "comment": comment}

    evaluator.__name__ = label
    return evaluator


def mlflow(metric: Metric | str, judge: Judge | str | Sequence[Judge | str] | None = None, **options: Options) -> Any:
    """A scorer for `mlflow.genai.evaluate`, which gives a Feedback; of what could not be measured its error is the
    reason.

    metric, judge, options, and errors: as for `langsmith`; outputs, and expected_response in expectations.
    Raises ImportError where mlflow is not installed.
    """
    label, measure = _measuring(metric, judge, options)
    try:
        from mlflow.entities import Feedback
        from mlflow.genai.scorers import scorer
    except ImportError as error:
        raise ImportError(f"evaluators.mlflow needs mlflow ({error}): {INSTALL.format(package='mlflow')}") from None

    def evaluator(inputs: Any = None, outputs: Any = None, expectations: Any = None) -> Any:
        value, comment = measure(inputs, outputs, expectations)
        return Feedback(name=label, value=value, rationale=comment, error=comment if value is None else None)

    return scorer(evaluator, name=label)


def langfuse(
    metric: Metric | str, judge: Judge | str | Sequence[Judge | str] | None = None, **options: Options
) -> Passing:
    """An evaluator for Langfuse's `run_experiment`: called with input, output, expected_output; gives an Evaluation.

    metric, judge, options, and errors: as for `langsmith`. Raises ImportError where langfuse is not installed.
    """
    label, measure = _measuring(metric, judge, options)
    try:
        from langfuse import Evaluation
    except ImportError as error:
        package = INSTALL.format(package="langfuse")
        raise ImportError(f"evaluators.langfuse needs langfuse ({error}): {package}") from None

    def evaluator(*, input: Any, output: Any, expected_output: Any = None, **_: Any) -> Any:  # noqa: A002 - its name
        value, comment = measure(input, output, expected_output)
        return Evaluation(name=label, value=value, comment=comment)

    evaluator.__name__ = label
    return evaluator


def _measuring(
    metric: Metric | str, judge: Any, options: Mapping[str, Any]
) -> tuple[str, Callable[[Any, Any, Any], tuple[float | None, str]]]:
    """The metric's label, and what measures one answer: its value, None where there is none, and the comment."""
    declared = own_metrics.value_of(metric)
    if declared.grain != "sample":
        raise ValueError(f"{declared.label} works on the grain {declared.grain!r}, not on single answers")

    def measure(inputs: Any, outputs: Any, reference: Any) -> tuple[float | None, str]:
        try:
            [sample] = samples_of(_row(inputs, outputs, reference))
            applicable([sample], [declared])
        except ValueError as error:
            return None, f"not measured: {error}"
        scores = score([sample], [declared], judge, **options)
        made = scores.rows[0].score
        reason = made.reason if made.value == made.value else f"not measured ({made.status}): {made.reason}"
        comment = " ".join(filter(None, (reason, scores.caveat("en"))))
        return (made.value if made.value == made.value else None), comment

    return declared.label, measure


def _row(inputs: Any, outputs: Any, reference: Any) -> dict[str, Any]:
    """A row of a table of answers out of what an evaluator is called with; see `langsmith`."""
    row = {**_named(inputs, "user_input", ("input",)), **_named(outputs, "response", ANSWERS)}
    wanted = _named(reference, "reference", ANSWERS)
    if "contexts" in wanted and "reference_contexts" not in wanted:
        wanted["reference_contexts"] = wanted["contexts"]
    row |= {name: value for name, value in wanted.items() if name.startswith("reference") or name == "rubric"}
    for field in ("contexts", "reference_contexts"):
        if isinstance(passages := row.get(field), list | tuple):
            row[field] = [_passage(passage) for passage in passages]
    return row


def _named(given: Any, own: str, names: Sequence[str]) -> dict[str, Any]:
    """The fields of a mapping under the names of a sample's; anything else is the field `own`."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        return {own: given if isinstance(given, str) else _text(given)}
    fields = {field: value for name, value in given.items() if (field := field_of(name)) in READ}
    for name in names:
        if own not in fields and name in given:
            fields[own] = given[name]
    return fields


def _passage(given: Any) -> Any:
    """The text of a passage with its id where it has one, whatever its shape."""
    held = given if isinstance(given, Mapping) else {"id": getattr(given, "id", None)}
    return _text(given) if held.get("id") is None else {"id": held["id"], "text": _text(given)}


def _text(passage: Any) -> Any:
    """The text of a passage or a message, whatever its shape."""
    if isinstance(passage, Mapping):
        return next((passage[name] for name in TEXTS if name in passage), passage)
    return next((getattr(passage, name) for name in TEXTS if hasattr(passage, name)), passage)
