"""Computes with the evals of google-adk: reads JSON from standard input, writes JSON.

    adk_eval.py rouge|conversations|accepts|reads|result|junit
"""

import json
import logging
import sys
import unicodedata
import warnings

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)

import pydantic
from google.adk.errors.not_found_error import NotFoundError
from google.adk.evaluation import _efficiency_evaluators as efficiency
from google.adk.evaluation.eval_case import Invocation
from google.adk.evaluation.eval_config import EvalConfig, get_eval_metrics_from_config
from google.adk.evaluation.eval_metrics import EvalMetricResult
from google.adk.evaluation.eval_result import EvalSetResult
from google.adk.evaluation.eval_set import EvalSet
from google.adk.evaluation.final_response_match_v1 import RougeEvaluator, _calculate_rouge_1_scores
from google.adk.evaluation.local_eval_sets_manager import (
    convert_eval_set_to_pydantic_schema,
    load_eval_set_from_file,
)
from google.adk.evaluation.trajectory_evaluator import TrajectoryEvaluator

EVALUATORS = {
    "tool_trajectory_avg_score": lambda metric: TrajectoryEvaluator(eval_metric=metric),
    "response_match_score": RougeEvaluator,
    "tool_call_count_v1": efficiency._ToolCallCountV1Evaluator,
    "inference_call_count_v1": efficiency._InferenceCallCountV1Evaluator,
    "token_usage_v1": efficiency._TokenUsageV1Evaluator,
    "invocation_duration_v1": efficiency._InvocationDurationV1Evaluator,
}


def rouge(pairs):
    """The scores of pairs of texts; null for a text with characters that this Python lacks."""
    scores = []
    for candidate, reference in pairs:
        known = all(unicodedata.category(char) != "Cn" for char in candidate + reference)
        scores.append(list(_calculate_rouge_1_scores(candidate, reference)) if known else None)
    return scores


def metrics_of(config):
    return get_eval_metrics_from_config(EvalConfig.model_validate_json(json.dumps(config)))


def shown(metric, score, status, tokens, durations):
    details = {"token_usage_details": tokens, "duration_details": durations}
    result = EvalMetricResult(score=score, eval_status=status, details=details, **metric.model_dump())
    return json.loads(result.model_dump_json())


def conversations(tasks):
    """The scores of all metrics of a config, for pairs of conversations."""
    results = []
    for task in tasks:
        actual = [Invocation.model_validate(turn) for turn in task["actual"]]
        expected = [Invocation.model_validate(turn) for turn in task["expected"]]
        rows = []
        for metric in metrics_of(task["config"]):
            found = EVALUATORS[metric.metric_name](metric).evaluate_invocations(actual, expected)
            rows.append({
                "overall": shown(metric, found.overall_score, found.overall_eval_status,
                                 found.overall_token_usage_details, found.overall_duration_details),
                "turns": [shown(metric, turn.score, turn.eval_status, turn.token_usage_details,
                                turn.duration_details) for turn in found.per_invocation_results],
            })
        results.append(rows)
    return results


def accepts(files):
    """Whether evalsets and configs are read."""
    verdicts = []
    for kind, value in files:
        try:
            {"evalset": EvalSet, "config": EvalConfig}[kind].model_validate_json(json.dumps(value))
            verdicts.append(True)
        except (pydantic.ValidationError, NotFoundError):
            verdicts.append(False)
    return verdicts


def read(path):
    """An evalset of any schema. The oldest one is what `AgentEvaluator` reads: a list of turns."""
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    if isinstance(data, list) and "query" in data[0]:
        return convert_eval_set_to_pydantic_schema("set", [{"name": path, "data": data}])
    return load_eval_set_from_file(path, "set")


def reads(paths):
    """The turns of evalsets, without ids and times."""
    return [
        [[json.loads(turn.model_dump_json(exclude={"invocation_id", "creation_timestamp"}))
          for turn in case.conversation or []]
         for case in read(path).eval_cases]
        for path in paths
    ]


def result(text):
    """A result as google-adk writes it again."""
    return EvalSetResult.model_validate_json(text).model_dump_json(indent=2)


def junit(task):
    """The faults of a report by a schema."""
    from lxml import etree
    schema = etree.XMLSchema(etree.parse(task["schema"]))
    schema.validate(etree.fromstring(task["report"].encode()))
    return [str(fault) for fault in schema.error_log]


if __name__ == "__main__":
    command = {f.__name__: f for f in (rouge, conversations, accepts, reads, result, junit)}[sys.argv[1]]
    print(json.dumps(command(json.load(sys.stdin))))
