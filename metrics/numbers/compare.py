"""Whether a prediction states the gold number."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Literal, NamedTuple

from .cleaning import clean
from .dates import find_dates
from .gold import values_of
from .language import language_code
from .number import Number
from .question import Asked, asked_for
from .roles import Role
from .statement import Answer
from .units import MONEY

_STEP = re.compile(r"(\d{1,2})[ ]?/[ ]?\d{1,2}")

ToleranceType = Literal["abs", "rel"]


def parse_number(text: str, unit: str | None = None, language: str | None = None) -> Number | None:
    """The number that a text states in the end, or None where it states none (or a range, or two).

    Args:
        text: model output or any other text.
        unit: the item's unit (`USD million`, `%`, `亿元`). With it, `value` is in that unit: a
            bare number is taken to be in it, others are converted. Without it, `value` is in
            base units (per cent as a fraction of one).
        language: `en`, `fr`, `zh` (a tag or the English name will do); decides separators.

    >>> float(parse_number("Net income was $5,100 thousand in 2023.", unit="USD million").value)
    5.1
    >>> float(parse_number("soit environ 1 234,56 €", language="fr").value)
    1234.56
    >>> parse_number("between 5 and 50") is None
    True
    """
    asked = asked_for(unit, None, language)
    number = Answer(clean(text), language).stated(asked.unit, asked.year)
    if number is None or number.in_range:
        return None
    if not unit or number.unit.contradicts(asked.unit):
        return number
    return replace(number, value=next(_amounts(number, number.written, asked)) / asked.unit.factor)


class Comparison(NamedTuple):
    """Whether a prediction is the gold number, and the one number it states in the end, if it states one."""

    matches: bool
    stated: Number | None = None


def numbers_match(
    gold: str,
    prediction: str,
    *,
    unit: str | None = None,
    tolerance: float | str | Decimal | Fraction = 0.0,
    tolerance_type: ToleranceType = "abs",
    language: str | None = None,
    context: str | None = None,
) -> bool:
    """Whether the number that a prediction states in the end is the gold number.

    Args:
        gold: the gold answer; a bare number is in the item's unit where one is given.
        prediction: model output.
        unit: the item's unit. A bare prediction is in it, too. Without it, a gold written with
            a per cent sign accepts the percentage and the fraction.
        tolerance: the largest accepted difference, the edge included. Absolute tolerance is on
            the scale in which the gold is written (0.5 for `25%` is half a point).
        tolerance_type: `abs`, or `rel` (of the gold's absolute value).
        language: `en`, `fr`, `zh`; decides separators and the long scale.
        context: the question, used where sign or unit needs it.

    Raises:
        ValueError: the tolerance is negative or no number, or its type is unknown.

    >>> numbers_match("1.25%", "It is about 125 basis points.")
    True
    >>> numbers_match("5.1", "5.1 billion dollars", unit="USD million")
    False
    >>> numbers_match("0.3", "0.4", tolerance=0.1)
    True
    """
    return compare_numbers(
        gold,
        prediction,
        unit=unit,
        tolerance=tolerance,
        tolerance_type=tolerance_type,
        language=language,
        context=context,
    ).matches


def compare_numbers(
    gold: str,
    prediction: str,
    *,
    unit: str | None = None,
    tolerance: float | str | Decimal | Fraction = 0.0,
    tolerance_type: ToleranceType = "abs",
    language: str | None = None,
    context: str | None = None,
) -> Comparison:
    """`numbers_match` with the number that was compared, for callers that record it too.

    >>> compare_numbers("5.1", "It rose to 5.2.", tolerance=0.1).stated.text
    '5.2'
    """
    allowed = _tolerance(tolerance, tolerance_type)
    gold, cleaned = clean(str(gold)), clean(str(prediction))
    asked, answer = asked_for(unit, context, language), Answer(cleaned, language)
    days = _only_dates(gold)
    if days:
        matches = _names_days(cleaned, days, language_code(language))
        return Comparison(matches, answer.stated(asked.unit, asked.year))
    values = values_of(gold, language)
    if len(values) != 1:
        matches = bool(values) and _in_order(values, answer.numbers(), asked, allowed, tolerance_type)
        return Comparison(matches, answer.stated(asked.unit, asked.year))
    asked = asked.with_gold(values[0][0])
    stated = answer.stated(asked.unit, asked.year)
    if stated is None:
        return Comparison(_same_alternatives(values[0], values_of(cleaned, language)))
    ends = answer.range_around(stated) if stated.in_range else [stated]
    matches = all(any(_equal(g, end, asked, allowed, tolerance_type) for g in values[0]) for end in ends)
    return Comparison(matches, stated)


def _same_alternatives(gold: Sequence[Number], given: Sequence[Sequence[Number]]) -> bool:
    """Whether a prediction names the gold's alternatives (`$4,000, or $2,730`) and nothing else."""
    return len(gold) > 1 and len(given) == 1 and {n.value for n in gold} == {n.value for n in given[0]}


@lru_cache(maxsize=64)
def _tolerance(tolerance: float | str | Decimal | Fraction, kind: str) -> Fraction:
    if kind not in ("abs", "rel"):
        raise ValueError(f"tolerance_type is {kind!r}; it must be 'abs' or 'rel'")
    try:
        # through text, so that 0.1 is one tenth
        allowed = tolerance if isinstance(tolerance, Fraction) else Fraction(str(tolerance))
    except (ValueError, ZeroDivisionError, OverflowError):
        allowed = Fraction(-1)
    if allowed < 0:
        raise ValueError(f"tolerance is {tolerance!r}; it must be a finite number that is not negative")
    return allowed


def _only_dates(gold: str) -> list[date]:
    """The calendar days that a gold names; none where it names any other number."""
    if len(gold) < len("1/1/24"):
        return []
    days: list[date] = []
    rest, position = "", 0
    for span in find_dates(gold):
        if span.day is None:
            return []
        days.append(span.day)
        rest += gold[position : span.start]
        position = span.end
    return [] if any(char.isdecimal() for char in rest + gold[position:]) else days


def _names_days(text: str, days: Sequence[date], language: str) -> bool:
    """Whether the last days that a text names are these; English leaves open whether the month comes first."""
    given = [span for span in find_dates(text) if span.day][-len(days) :]
    return len(given) == len(days) and all(
        day == span.day or (language == "en" and day == span.month_first)
        for day, span in zip(days, given, strict=True)
    )


def _in_order(
    values: Sequence[Sequence[Number]], numbers: Sequence[Number], asked: Asked, allowed: Fraction, kind: str
) -> bool:
    """Whether all values of a gold with several occur in its order."""
    remaining = iter(number for number in numbers if number.role < Role.LABEL or len(numbers) == len(values))
    return all(
        any(
            _equal(g, number, asked.with_gold(g), allowed, kind) for number in remaining for g in alternatives
        )
        for alternatives in values
    )


def _equal(gold: Number, stated: Number, asked: Asked, allowed: Fraction, kind: str) -> bool:
    if (
        stated.unit.contradicts(asked.unit)
        or stated.unit.contradicts(gold.unit)
        or gold.bound != stated.bound
    ):
        return False
    if (asked.fall or gold.direction < 0) and stated.direction > 0:
        return False
    scale_written = asked.unit.factor if gold.unit.bare else gold.unit.factor
    either_sign = _sign_is_open(gold, stated, asked)
    for target in _amounts(gold, gold.written, asked):
        room = allowed * (abs(target) if kind == "rel" else scale_written) if allowed else allowed
        for amount in _stated_amounts(gold, stated, asked):
            if _within(amount, target, room) or (either_sign and _within(-amount, target, room)):
                return True
    return False


def _within(amount: Fraction, target: Fraction, room: Fraction) -> bool:
    return amount == target or (room > 0 and abs(amount - target) <= room)


def _sign_is_open(gold: Number, stated: Number, asked: Asked) -> bool:
    """Whether the sign is said by words on one side, so that only the magnitude can be compared."""
    if asked.fall or gold.direction < 0:
        return True
    return stated.direction < 0 and not asked.signed


def _stated_amounts(gold: Number, stated: Number, asked: Asked) -> Iterator[Fraction]:
    """What a stated number can mean beside this gold, in base units, the likeliest first."""
    for written in stated.readings:
        if stated.direction < 0 < written and asked.signed:
            written = -written
        yield from _amounts(stated, written, asked)
        if not asked.unit.dimension and gold.unit.bare and stated.unit.size != 1 and not stated.percent:
            yield written * stated.unit.scale  # "5 years" for 5
        if asked.given:
            continue
        if gold.percent and stated.unit.bare:
            yield written  # 0.25 for 25%
        elif stated.percent and gold.unit.bare and (abs(gold.written) > 1 or asked.percent):
            yield written  # 25% for 25
    step = _STEP.fullmatch(stated.text) if asked.rating else None
    if step:
        yield Fraction(step[1])


def _amounts(number: Number, written: Fraction, asked: Asked) -> Iterator[Fraction]:
    """What a number, in one of its readings, can mean in base units, by its own unit and what is asked for."""
    unit, wanted = number.unit, asked.unit
    if unit.bare:
        yield written * wanted.factor
        if asked.scale != 1 and wanted.scale == 1:
            yield written * wanted.factor * asked.scale
        return
    if not unit.dimension:
        yield written * unit.scale * wanted.size
        return
    yield number.value if written is number.written else written * unit.factor
    if unit.scale == 1 and unit.dimension == MONEY:
        # "$5.1" where millions are asked for; "5.1 dollars" says that it is not in millions
        if unit.symbolic and wanted.scale != 1:
            yield written * wanted.factor
        elif asked.scale != 1:
            yield written * asked.scale
