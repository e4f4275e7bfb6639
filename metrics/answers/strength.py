"""How firmly a reply commits itself to an option it mentions."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

__all__ = ["Cue", "Strength"]


class Strength(IntEnum):
    """From ruled out to framed as the answer."""

    REJECTED = -1
    PASSING = 0
    TENTATIVE = 1  # 'might be C', 'at first I chose C', 'is it C?'
    SUPPORTED = 2  # 'C is correct', 'the chart points to C', C at the head of the reply
    CHOSEN = 3  # 'the answer is C', 'I pick C', 'so C', a last sentence that is just C
    FRAMED = 4  # boxed, tagged, or the answer field of a JSON object


class Cue(NamedTuple):
    """What was read around one mention.

    Attributes:
        strength: how the mention counts.
        adds: it joins what was said before it ('also').
        concludes: it is announced as the outcome ('therefore', 'final answer').
        explicit: a word like 'answer' leads up to it, with 'is' or a colon.
        soft: the lead is a bare 'so' or 'I think', which needs the sentence to end with the mention.
    """

    strength: Strength = Strength.PASSING
    adds: bool = False
    concludes: bool = False
    explicit: bool = False
    soft: bool = False
