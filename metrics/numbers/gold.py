"""The values that a gold answer asks for."""

from __future__ import annotations

import re

from .mentions import Number, Role, find_numbers
from .statement import clean, same_amount

_ALTERNATIVE = re.compile(
    r"[\s,;(]*(?:[≈≅(]|\b(?:or|ou|i\.e\.|that is|soit)\b|或|即)[\s,(]*(?:about|environ|约)?\s*"
)
_EQUALS = re.compile(r"[^\n,;]{0,60}=\s*")


def parse_gold_values(text: str, language: str | None = None) -> tuple[tuple[Number, ...], ...]:
    """The values of a gold answer, each with its alternatives (any one of them is right).

    >>> [[n.text for n in alternatives] for alternatives in parse_gold_values(".0685, or 6.85%")]
    [['6.85%', '.0685']]
    >>> [[n.text for n in alternatives] for alternatives in parse_gold_values("E(rX) = 20%; E(rY) = 10%")]
    [['20%'], ['10%']]
    >>> parse_gold_values("Tax Lot B")
    ()
    """
    text = clean(text)
    numbers = find_numbers(text, language)
    chosen = [number for number in numbers if number.role <= Role.ASIDE] or numbers
    values: list[tuple[Number, ...]] = []
    for number in chosen:
        if values:
            previous = values[-1][0]
            between = text[previous.end : number.start]
            if _ALTERNATIVE.fullmatch(between) or (
                _EQUALS.fullmatch(between) and same_amount(previous, number)
            ):
                values[-1] = (number, *values[-1])
                continue
        values.append((number,))
    return tuple(values)
