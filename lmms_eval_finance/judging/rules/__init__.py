"""The rule judge: whether an answer is the gold, decided offline, or left undecided.

Rules decide what can be seen from the writing: numbers, dates, yes and no, options, codes,
names, lists of facts, formulas, exact and near-exact text. A paraphrase is left undecided:
a guess would cost more trust than a gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lmms_eval_finance.judging.rules.answer import MAX_LENGTH, final_statement, tidy_gold
from lmms_eval_finance.judging.rules.choices import compare_choice
from lmms_eval_finance.judging.rules.findings import Finding
from lmms_eval_finance.judging.rules.open_answers import compare_open
from lmms_eval_finance.judging.rules.polarity import compare_polarity

__all__ = ["Judgement", "judge"]

VERSION = "1"
"""Goes into signatures: a change of verdicts raises it."""

Verdict = Literal["correct", "incorrect", "undecided"]
QUESTION_TYPES = ("open", "yes_no", "true_false", "choice")
LANGUAGES = ("en", "fr", "zh")


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict with its reason.

    Attributes:
        verdict: "correct", "incorrect" or "undecided".
        reason: what decided, in a few words ("the gold's value, rounded").
    """

    verdict: Verdict
    reason: str


def judge(
    question: str,
    gold: object,
    prediction: str,
    *,
    language: str,
    question_type: str,
    options: Sequence[str] | None = None,
    unit: str | None = None,
) -> Judgement:
    """Judge one answer against its gold by rules alone.

    Args:
        question: the question; words and figures in it count for nothing in the answer. May be empty.
        gold: the gold answer as released: text, or the number a spreadsheet made of it.
        prediction: the model's output as generated.
        language: "en", "fr" or "zh": the order of day and month, decimal signs.
        question_type: "open", "yes_no", "true_false" or "choice".
        options: the options of a choice, in order, with or without their letters.
        unit: the unit that the item asks for ("%", "USD million"), where the data names one.

    Raises:
        ValueError: language or question type is not one of those above.

    >>> judge("", ".0685, or 6.85%", "About 6.85 percent.", language="en", question_type="open")
    Judgement(verdict='correct', reason="the gold's value")
    >>> judge("Y a-t-il des frais de sortie ?", "Non", "Oui, 1 %", language="fr", question_type="yes_no").verdict
    'incorrect'
    >>> judge("", "Capitalisation", "Les revenus sont réinvestis", language="fr", question_type="open").verdict
    'undecided'
    """
    if language not in LANGUAGES:
        raise ValueError(f"language is {language!r}; it must be one of {', '.join(LANGUAGES)}")
    if question_type not in QUESTION_TYPES:
        raise ValueError(f"question_type is {question_type!r}; it must be one of {', '.join(QUESTION_TYPES)}")
    wanted, answer, question = tidy_gold(gold), final_statement(prediction), question[-MAX_LENGTH:]
    if not wanted:
        return Judgement("undecided", "the gold is empty")
    if not answer:
        return Judgement("incorrect", "the answer is empty")
    if question_type == "choice":
        found = compare_choice(wanted, prediction, options, question)
    elif question_type in ("yes_no", "true_false"):
        found = compare_polarity(wanted, answer, question)
    else:
        found = compare_open(wanted, answer, question, language=language, unit=unit)
    return _judgement(found)


def _judgement(found: Finding) -> Judgement:
    if found.verdict is None:
        return Judgement("undecided", found.reason)
    return Judgement("correct" if found.verdict else "incorrect", found.reason)
