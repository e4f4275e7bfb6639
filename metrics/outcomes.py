"""Outcomes: why an item has the score it has.

Every scored item carries exactly one outcome. The model's own doing scores 0
(or a partial score); what is ours (a judge that failed, a gold that cannot be
used) or nobody's (a request that failed, whose error message stands in place of a
reply) leaves both numerator and denominator and is counted apart.
"""

from __future__ import annotations

from enum import Enum

from lmms_eval_finance.metrics.replies import (
    cut_before_answer,
    declines,
    infrastructure_error,
    is_cut,
    is_refusal,
    says_something,
)


class Outcome(str, Enum):
    """What became of one item; the value is what stands in sample files.

    Attributes:
        scored: whether the item counts in numerator and denominator.

    >>> Outcome.EMPTY.scored, Outcome.JUDGE_FAILED.scored
    (True, False)
    """

    scored: bool

    CORRECT = "correct"
    PARTIAL = "partial"
    WRONG = "wrong"
    UNREADABLE = "unreadable"
    EMPTY = "empty"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    UNDECIDED = "undecided"
    TIMED_OUT = "timed_out"
    JUDGE_FAILED = "judge_failed"
    GOLD_UNUSABLE = "gold_unusable"
    REQUEST_FAILED = "request_failed"

    def __init__(self, value: str) -> None:
        self.scored = value not in ("judge_failed", "gold_unusable", "request_failed")


def without_answer(text: str) -> Outcome | None:
    """The outcome of a reply that says nothing at all, whoever reads it: empty, refused or cut off; else None.

    Tasks call this before a judge, so it must be sure: a reply that also states an answer is
    None (`metrics.replies` says what counts as refused and as cut off). An error message
    that some layer wrote in place of a reply (`replies.infrastructure_error`) is
    REQUEST_FAILED: the model never spoke.

    >>> without_answer("I'm sorry, but I can't read this chart."), without_answer("I cannot be exact, but about 5%.")
    (<Outcome.REFUSED: 'refused'>, None)
    >>> without_answer("Error code: 503 - {'error': 'overloaded'}")
    <Outcome.REQUEST_FAILED: 'request_failed'>
    >>> without_answer("<think>First, the revenue"), without_answer("<think></think> ")
    (<Outcome.TRUNCATED: 'truncated'>, <Outcome.EMPTY: 'empty'>)
    """
    if not isinstance(text, str):
        return Outcome.EMPTY
    if infrastructure_error(text):
        return Outcome.REQUEST_FAILED
    if cut_before_answer(text):
        return Outcome.TRUNCATED
    if not says_something(text):
        return Outcome.EMPTY
    return Outcome.REFUSED if is_refusal(text) else None


def of_unreadable(text: str) -> Outcome:
    """The outcome of a reply that no reader got an answer from.

    Weaker signs than in `without_answer` are enough here: any clause that declines, any
    sign of having been cut off.

    >>> of_unreadable(" "), of_unreadable("It depends.")
    (<Outcome.EMPTY: 'empty'>, <Outcome.UNREADABLE: 'unreadable'>)
    >>> of_unreadable("The image shows two bars. I cannot tell which is meant.")
    <Outcome.REFUSED: 'refused'>
    """
    if outcome := without_answer(text):
        return outcome
    if is_cut(text):
        return Outcome.TRUNCATED
    return Outcome.REFUSED if declines(text) else Outcome.UNREADABLE
