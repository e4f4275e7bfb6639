"""Chinese numerals."""

from __future__ import annotations

from fractions import Fraction

DIGITS = {char: digit for digit, chars in enumerate(
    ("零〇○", "一壹", "二两贰兩貳", "三叁參", "四肆", "五伍", "六陆陸", "七柒", "八捌", "九玖")
) for char in chars}  # fmt: skip
_SMALL = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_LARGE = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8, "兆": 10**12}
POINTS = "点點"

NUMERAL_CHARS = "".join([*DIGITS, *_SMALL, *_LARGE, POINTS])
"""Every character of which Chinese numerals are made."""


def read_hanzi(text: str) -> Fraction | None:
    """The value of a Chinese numeral, or None where the characters form none.

    >>> [int(read_hanzi(t)) for t in ("三千二百五十", "一亿零五百万", "二〇二三", "十五", "两万五", "一百一")]
    [3250, 105000000, 2023, 15, 25000, 110]
    >>> float(read_hanzi("三点二五亿"))
    325000000.0
    """
    if not text or len(text) > 60:
        return None
    scale = 1
    for mark in POINTS:
        if mark in text:
            whole, _, part = text.partition(mark)
            while part and part[-1] in _LARGE:
                scale *= _LARGE[part[-1]]
                part = part[:-1]
            head = _integer(whole) if whole else 0
            if head is None or not part or any(char not in DIGITS for char in part):
                return None
            digits = "".join(str(DIGITS[char]) for char in part)
            return (head + Fraction(int(digits), 10 ** len(digits))) * scale
    value = _integer(text)
    return None if value is None else Fraction(value)


def _integer(text: str) -> int | None:
    if all(char in DIGITS for char in text):
        return int("".join(str(DIGITS[char]) for char in text)) if len(text) < 40 else None
    total = section = 0
    digit: int | None = None
    unit = last = 1
    for char in text:
        if char in DIGITS:
            if digit not in (None, 0):
                return None
            digit = DIGITS[char]
            if digit == 0:
                last = 10
        elif char in _SMALL:
            unit = _SMALL[char]
            if digit is None and unit != 10 and section == 0 and total == 0:
                digit = 1
            section += (1 if digit is None else digit) * unit
            digit, last = None, unit
        elif char in _LARGE:
            section += digit or 0
            digit = None
            unit = _LARGE[char]
            if section == 0 and total:
                total *= unit
            elif 0 < total < unit:
                total = (total + section) * unit
            else:
                total += (section or 1) * unit
            section, last = 0, unit
        else:
            return None
    if digit:
        # 两万五 is 25,000 and 一百一 is 110: the next lower place is left unsaid
        section += digit * (last // 10 if last > 10 else 1)
    return total + section
