"""Seal detection: boxes out of model output, and order-free detection scores."""

from lmms_eval_finance.metrics.detection.boxes import Box
from lmms_eval_finance.metrics.detection.conventions import CONVENTIONS, guess_convention
from lmms_eval_finance.metrics.detection.labels import canonical_label
from lmms_eval_finance.metrics.detection.parsing import parse_boxes
from lmms_eval_finance.metrics.detection.scores import (
    THRESHOLDS,
    MatchCounts,
    SealScores,
    count_matches,
    scores_from_counts,
    seal_map,
)

__all__ = [
    "CONVENTIONS",
    "THRESHOLDS",
    "Box",
    "MatchCounts",
    "SealScores",
    "canonical_label",
    "count_matches",
    "guess_convention",
    "parse_boxes",
    "scores_from_counts",
    "seal_map",
]
