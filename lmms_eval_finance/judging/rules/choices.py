"""Choices: the options an answer picks, by letter or by text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lmms_eval_finance.judging.rules.findings import Finding
from lmms_eval_finance.judging.rules.polarity import is_abstention
from lmms_eval_finance.metrics.answers import extract_letters, parse_gold_letters

__all__ = ["compare_choice"]

_LETTERS = re.compile(r"\W*(?:option |réponse |answer )?[A-Za-z](?:(?:\W|and|et|和)*[A-Z])*\W*")
_OPTION_LINE = re.compile(r"(?:^|\n)\s*\(?([A-H])\s?[.):、．]\s*(\S[^\n]{0,500})")


def compare_choice(gold: str, prediction: str, options: Sequence[str] | None, question: str) -> Finding:
    """Compare the options an answer picks with the gold's letters or text.

    >>> options = ["A. Fixed", "B. Floating"]
    >>> compare_choice("b.", "The rate is floating.", options, "").verdict, compare_choice("Fixed", "(B)", options, "").verdict
    (True, False)
    >>> compare_choice("C", "C. 39 725 $", None, "Combien ?\\nA. 29 500 $\\nB. 38 375 $\\nC. 39 725 $").verdict
    True
    """
    known: dict[str, str] | None = None
    if options:
        known = {
            chr(ord("A") + index): re.sub(r"^\s*\(?[A-Za-z]\s?[.):、．]\s+", "", str(option))
            for index, option in enumerate(options[:26])
        }
    elif lines := _OPTION_LINE.findall(question):
        known = dict(lines)
    wanted = _gold_letters(gold, known)
    if wanted is None:
        return Finding(None, "the gold is none of the options")
    picked = extract_letters(prediction, known or [], multiple=len(wanted) > 1)
    if picked is None:
        return (
            Finding(False, "no option chosen")
            if is_abstention(prediction)
            else Finding(None, "no option to be read")
        )
    return Finding(picked == wanted, "options compared")


def _gold_letters(gold: str, known: dict[str, str] | None) -> frozenset[str] | None:
    """The letters of a gold; without options any capital letters that it consists of."""
    if known:
        return parse_gold_letters(gold, known)
    if _LETTERS.fullmatch(gold):
        letters = re.findall(
            r"(?<![A-Za-z])[A-Za-z](?![a-z])|[A-Z]", re.sub(r"(?i)option|réponse|answer|and|et", " ", gold)
        )
        return frozenset(letter.upper() for letter in letters) or None
    labelled = re.match(r"\W*([A-Za-z])\s?[.):、．]\s*\S", gold)
    return frozenset(labelled[1].upper()) if labelled else None
