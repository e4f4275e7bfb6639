"""Choices: the option an answer picks, by letter or by text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lmms_eval_finance.judging.rules.findings import Finding

__all__ = ["compare_choice"]


def compare_choice(gold: str, prediction: str, options: Sequence[str] | None, *, question: str, language: str) -> Finding:
    """Compare the option an answer picks with the gold letter or text."""
    return Finding(None, "todo")
