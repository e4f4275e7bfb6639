"""The values that a gold answer asks for."""

from __future__ import annotations

import re
from dataclasses import replace

from .cleaning import clean
from .mentions import Reader
from .number import Number, same_amount
from .roles import Role

_ALTERNATIVE = re.compile(
    r"[ ,;(]*(?:[≈≅(]|(?:or|ou|i\.e\.|that is|soit)[ ,]|或|即)[ ,(]*(?:about |environ |约)?[ ]*"
)
_EQUALS = re.compile(r"[^\n,;]{0,60}=[ ]*")
_OUT_OF = re.compile(r"[ ]?(?:sur|out of|/)[ ]?")


def parse_gold_values(text: str, language: str | None = None) -> tuple[tuple[Number, ...], ...]:
    """The values of a gold answer, each with its alternatives (any one of them is right).

    Numbers that stand aside (`6 sur 7`: the 7) are left out, and years and labels
    (`catégorie 6`) too, except where there is nothing else. Positions refer to the
    cleaned text.

    >>> [[n.text for n in alternatives] for alternatives in parse_gold_values(".0685, or 6.85%")]
    [['6.85%', '.0685']]
    >>> [[n.text for n in alternatives] for alternatives in parse_gold_values("E(rX) = 20%; E(rY) = 10%")]
    [['20%'], ['10%']]
    >>> parse_gold_values("Tax Lot B")
    ()
    """
    return values_of(clean(text), language)


def values_of(text: str, language: str | None) -> tuple[tuple[Number, ...], ...]:
    """`parse_gold_values` of a text that is clean already."""
    reader = Reader(text, text, language)
    numbers = [number for number in reader.numbers() if number.role is not Role.REFERENCE]
    if all(number.role is Role.LABEL for number in numbers):
        numbers = reader.spelled() or numbers
    best = min((number.role for number in numbers), default=Role.VALUE)
    values: list[tuple[Number, ...]] = []
    previous: Number | None = None
    for number in numbers:
        if (
            values
            and previous is not None
            and number.role is Role.ASIDE
            and _OUT_OF.fullmatch(reader.lower, previous.end, number.start)
        ):
            if number.value:
                share = previous.value / number.value
                values[-1] = (*values[-1], replace(previous, value=share, written=share, readings=(share,)))
            continue
        if number.role is not best:
            continue
        if previous is not None and (
            _ALTERNATIVE.fullmatch(reader.lower, previous.end, number.start)
            or (_EQUALS.fullmatch(reader.lower, previous.end, number.start) and same_amount(previous, number))
        ):
            values[-1] = (number, *values[-1])
        else:
            values.append((number,))
        previous = number
    return tuple(values)
