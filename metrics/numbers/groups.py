"""Numbers that belong together: one number in two parts, and the two ends of a range."""

from __future__ import annotations

import re
from dataclasses import replace

from .number import Number
from .roles import Role

_RANGE = re.compile(r"[ ]?(?:-|–|—|−|~|～|to|à|a|至|到|through|up to|jusqu'à)[ ]?(?:about |environ |约)?")
_RANGE_AND = re.compile(r"[ ]?(?:and|et|和|与|至|到)[ ]?")
_LONGEST_JOINT = 12
_BETWEEN = re.compile(r"(?:between|entre|介于|在)[ ]?(?:about |environ |约)?[$€£¥]?$")
_SCALE_OF = re.compile(r"(?:scale|échelle|allant|ranging|indicateur|范围)[ ]?(?:of|from|de|du)?[ ]?$")
_FROM = re.compile(r"(?:from|de|从|由)[ ]?[$€£¥]?$")
_MOTION = re.compile(
    r"rose|rise|increas|grew|grow|fell|fall|decreas|declin|drop|went|goes|moved|climb|jump|improv|chang|expand|narrow|widen|"
    r"pass[eé]|augment|baiss|progress|recul|diminu|增|升|降|减|跌|涨|提高"
)
_WINDOW = 60


def join_compounds(text: str, numbers: list[Number]) -> list[Number]:
    """`3亿2000万`, `2 millions 500 mille`: one number in two parts.

    Args:
        text: the text as given.
        numbers: its numbers in order, at least one.
    """
    joined = [numbers[0]]
    for number in numbers[1:]:
        before = joined[-1]
        if (
            before.unit.scale > number.unit.scale > 1
            and not before.unit.dimension
            and text[before.end : number.start] in ("", " ")
            and abs(number.value) < before.unit.scale
        ):
            value = before.value + (number.value if before.value >= 0 else -number.value)
            written = value / number.unit.factor
            joined[-1] = replace(
                before,
                value=value,
                text=text[before.start : number.end],
                end=number.end,
                written=written,
                readings=(written,),
                unit=number.unit,
            )
        else:
            joined.append(number)
    return joined


def mark_ranges(lower: str, numbers: list[Number]) -> list[Number]:
    """Ends of ranges marked as such; the start of a movement (`rose from 38 to 40`) set aside.

    Args:
        lower: the text in lower case.
        numbers: its numbers in order.
    """
    marked = list(numbers)
    for index in range(len(numbers) - 1):
        first, second = marked[index], numbers[index + 1]
        if second.start - first.end > _LONGEST_JOINT or max(first.role, second.role) >= Role.LABEL:
            continue
        left = lower[max(0, first.start - _WINDOW) : first.start]
        if not _RANGE.fullmatch(lower, first.end, second.start) and not (
            _RANGE_AND.fullmatch(lower, first.end, second.start) and _BETWEEN.search(left)
        ):
            continue
        if (first.percent and not second.percent) or first.unit.contradicts(second.unit):
            continue  # grew by 5% to 105
        if _FROM.search(left) and _MOTION.search(left):
            marked[index] = replace(first, role=Role.ASIDE)
        elif _SCALE_OF.search(left):
            marked[index], marked[index + 1] = (
                replace(first, role=Role.ASIDE),
                replace(second, role=Role.ASIDE),
            )
        elif first.role is second.role is Role.YEAR:
            marked[index], marked[index + 1] = replace(first, in_range=True), replace(second, in_range=True)
        elif Role.YEAR not in (first.role, second.role):
            if first.unit.bare and not second.unit.bare:
                first = replace(first, unit=second.unit, value=first.written * second.unit.factor)
            marked[index] = replace(first, in_range=True, role=Role.VALUE)
            marked[index + 1] = replace(second, in_range=True, role=Role.VALUE)
    return marked
