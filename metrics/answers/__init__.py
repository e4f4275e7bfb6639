"""Reading a model's answers to closed questions, and the golds they are compared with."""

from lmms_eval_finance.metrics.answers.golds import parse_gold_letters
from lmms_eval_finance.metrics.answers.json_answers import (
    JsonAnswers,
    extract_json_answers,
    read_json_answers,
)
from lmms_eval_finance.metrics.answers.letters import extract_letters
from lmms_eval_finance.metrics.answers.options import Options

__all__ = [
    "JsonAnswers",
    "Options",
    "extract_json_answers",
    "extract_letters",
    "parse_gold_letters",
    "read_json_answers",
]
