"""Digits with separators, read as people of a language write them."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache

from babel import Locale, UnknownLocaleError

MAX_DIGITS = 60
"""Longer digit strings are no amounts (hashes, account numbers) and are not read."""

_GROUP_MARKS = re.compile(r"[ '_]")
_GROUPS = {mark: re.compile(rf"\d{{1,3}}(?:{re.escape(mark)}\d{{3}})+") for mark in ".,"}
_INDIAN = re.compile(r"\d{1,2}(?:,\d{2})+,\d{3}")


@lru_cache(maxsize=64)
def decimal_mark(language: str) -> str:
    """`.` or `,` as the language's decimal mark (CLDR); `.` for an unknown language.

    >>> decimal_mark("fr"), decimal_mark("zh"), decimal_mark("de")
    (',', '.', ',')
    """
    try:
        symbols = Locale(language).number_symbols
    except (UnknownLocaleError, ValueError):
        return "."
    symbols = symbols.get("latn", symbols)
    return "," if symbols["decimal"] == "," else "."


def decimal(digits: str) -> Fraction:
    """A plain decimal (`12.50`, `.5`) as an exact fraction."""
    whole, _, part = digits.partition(".")
    return Fraction(int(whole + part or "0"), 10 ** len(part))


def read_digits(literal: str, language: str) -> tuple[Fraction, ...]:
    """The readings of a digit string with separators, the most likely first.

    Two readings are given only where the language leaves both open (`1.234` in French:
    decimal in software, thousands in print). Empty when the string is no single number.

    >>> [[float(v) for v in read_digits(text, "en")] for text in ("1,234.5", "12,34,567", "1,234", "0,5", "1,2,3")]
    [[1234.5], [1234567.0], [1234.0], [0.5], []]
    >>> [[float(v) for v in read_digits(text, "fr")] for text in ("1 234,5", "1.234,5", "1,234", "1.234", "2.5")]
    [[1234.5], [1234.5], [1.234, 1234.0], [1.234, 1234.0], [2.5]]
    """
    digits = _GROUP_MARKS.sub("", literal)
    if len(digits) > MAX_DIGITS:
        return ()
    grouped = len(digits) < len(literal)
    dots, commas = digits.count("."), digits.count(",")
    if not dots and not commas:
        return (Fraction(int(digits)),)
    if dots and commas:
        last = "." if digits.rfind(".") > digits.rfind(",") else ","
        other = "," if last == "." else "."
        whole, _, part = digits.rpartition(last)
        if last in whole or not (
            _GROUPS[other].fullmatch(whole) or (other == "," and _INDIAN.fullmatch(whole))
        ):
            return ()
        return (decimal(f"{whole.replace(other, '')}.{part}"),)
    mark = "." if dots else ","
    if dots + commas > 1:
        if grouped or not (_GROUPS[mark].fullmatch(digits) or (mark == "," and _INDIAN.fullmatch(digits))):
            return ()
        return (Fraction(int(digits.replace(mark, ""))),)
    as_decimal = decimal(digits.replace(",", "."))
    if grouped or digits[0] in "0.," or not _GROUPS[mark].fullmatch(digits):
        return (as_decimal,)
    as_thousands = Fraction(int(digits.replace(mark, "")))
    if decimal_mark(language) == ".":
        return (as_decimal,) if mark == "." else (as_thousands,)
    return (as_decimal, as_thousands)
