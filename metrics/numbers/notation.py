"""Numerals as they are written: digits with separators, powers of ten, fractions."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import NamedTuple

from .separators import MAX_DIGITS, read_digits

VULGAR = {
    "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅖": (2, 5), "⅗": (3, 5), "⅘": (4, 5),
    "⅙": (1, 6), "⅚": (5, 6), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8), "⅞": (7, 8),
}  # fmt: skip

DIGITS = r"(?:\d{1,3}(?:[ '_]\d{3})+(?!\d)|\d+)(?:[.,]\d+)*|(?<![\d.])\.\d+"
"""A run of digits with what can separate them."""

_POWER_OF_TEN = re.compile(
    r"e([+-]?\d{1,4})(?![\w.])"
    r"|[ ]?[x×*·⋅][ ]?10[ ]?(?:\^|\*\*)[ ]?(?:\{[ ]?([+−–-]?\d{1,3})[ ]?\}|\([ ]?([+−–-]?\d{1,3})[ ]?\)|([+−–-]?\d{1,3}))(?!\d)"
    r"|[ ]?[x×*·⋅][ ]?10([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})",
    re.IGNORECASE,
)
_POWER = re.compile(r"(?:\^|\*\*)(?:\{([−–-]?\d{1,2})\}|([−–-]?\d{1,2}))(?![\d.])|([⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,2})")
_TO_ASCII = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺−–", "0123456789-+--")
_OVER = re.compile(r"[ ]?[/⁄][ ]?(\d{1,15}(?:[.,]\d{1,15})*)(?![\d/⁄]|[.,]\d|[ ]?%)")
_TO_ONE = re.compile(r"[ ]?:[ ]?1(?![\d:]|[.,]\d)|[ ]to[ ]1(?![\d%]|[.,]\d)")
_MIXED = re.compile(r"[ -]?(\d{1,4})[/⁄](\d{1,4})(?![\d/⁄])")
# Characters with which a numeral can go on.
_CONTINUES = frozenset("eExX×*·⋅ ^/⁄:-⁰¹²³⁴⁵⁶⁷⁸⁹⁻") | frozenset(VULGAR)

MAX_EXPONENT = 99
"""Larger powers of ten are no amounts and are not read."""


class Numeral(NamedTuple):
    """A numeral without sign and unit: its readings, the likeliest first, and where it ends."""

    readings: tuple[Fraction, ...]
    end: int


def read_numeral(text: str, digits: str, end: int, language: str) -> Numeral | None:
    """The numeral that begins with the run `digits`, which ends at `end`; None where it is none.

    >>> read_numeral("1.2×10^3 m", "1.2", 3, "en")
    Numeral(readings=(Fraction(1200, 1),), end=8)
    >>> read_numeral("2 1/2", "2", 1, "en")
    Numeral(readings=(Fraction(5, 2),), end=5)
    """
    readings = read_digits(digits, language)
    if not readings:
        return None
    following = text[end : end + 1]
    if not following or following not in _CONTINUES:
        return Numeral(readings, end)
    ten = _POWER_OF_TEN.match(text, end)
    if ten:
        exponent = int((ten[1] or ten[2] or ten[3] or ten[4] or ten[5]).translate(_TO_ASCII))
        if abs(exponent) > MAX_EXPONENT:
            return None
        return Numeral(tuple(value * Fraction(10) ** exponent for value in readings), ten.end())
    first = readings[0]
    whole = first.denominator == 1
    if following in VULGAR:
        return Numeral((first + Fraction(*VULGAR[following]),), end + 1) if whole else Numeral(readings, end)
    power = _POWER.match(text, end)
    if power:
        exponent = int((power[1] or power[2] or power[3]).translate(_TO_ASCII))
        if abs(exponent) * len(digits) > MAX_DIGITS or (not first and exponent < 0):
            return None
        return Numeral((first**exponent,), power.end())
    if whole and first < 10_000:
        mixed = _MIXED.match(text, end) if following in " -" else None
        if mixed and 0 < int(mixed[1]) < int(mixed[2]):
            return Numeral((first + Fraction(int(mixed[1]), int(mixed[2])),), mixed.end())
    ratio = _TO_ONE.match(text, end) if first > 1 else None
    if ratio:
        return Numeral(readings, ratio.end())
    over = _OVER.match(text, end)
    if over:
        below = read_digits(over[1], language)
        if below and below[0]:
            return Numeral((first / below[0],), over.end())
    return Numeral(readings, end)
