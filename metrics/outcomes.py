"""Outcomes: why an item has the score it has.

Every scored item carries exactly one outcome. The model's own doing scores 0
(or a partial score); what is ours (a judge that failed, a gold that cannot be
used) leaves both numerator and denominator and is counted apart.
"""

from __future__ import annotations

from enum import Enum


class Outcome(str, Enum):
    """What became of one item; the value is what stands in sample files."""

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

    @property
    def scored(self) -> bool:
        """Whether the item counts in numerator and denominator.

        >>> Outcome.EMPTY.scored, Outcome.JUDGE_FAILED.scored
        (True, False)
        """
        return self not in (Outcome.JUDGE_FAILED, Outcome.GOLD_UNUSABLE)


def without_answer(text: str) -> Outcome | None:
    """The outcome of a reply that says nothing at all, whoever reads it: empty, refused or cut off; else None.

    Tasks call this before a judge, so it must be sure: a reply that also states an answer is None.
    """
    return Outcome.EMPTY if not text.strip() else None


def of_unreadable(text: str) -> Outcome:
    """The outcome of a reply that no reader got an answer from.

    >>> of_unreadable(" "), of_unreadable("It depends.")
    (<Outcome.EMPTY: 'empty'>, <Outcome.UNREADABLE: 'unreadable'>)
    """
    return without_answer(text) or Outcome.UNREADABLE
