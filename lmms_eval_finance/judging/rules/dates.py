"""Dates in answers: French and Chinese order, ISO, spelled months, and what a spreadsheet did to them.

A date written in digits is day first in French; in English it is month first, and where
both orders are possible the other one counts as doubtful, not as wrong. A gold such as
``2021-12-11T00:00:00`` went through a spreadsheet, which swaps day and month whenever it
can: an all-digit answer that fits either order is the same date as the gold.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Date", "find_dates", "same_date"]

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "janvier january janv jan",
            "fevrier february fevr fev feb",
            "mars march mar",
            "avril april avr apr",
            "mai may",
            "juin june jun",
            "juillet july juil jul",
            "aout august aug",
            "septembre september sept sep",
            "octobre october oct",
            "novembre november nov",
            "decembre december dec",
        ),
        start=1,
    )
    for name in names.split()
}
_MONTH = r"(?P<{}>janv(?:ier)?|january?|jan|f[eé]v(?:r(?:ier)?)?|feb(?:ruary)?|mars|mar(?:ch)?|avr(?:il)?|apr(?:il)?|mai|may|juin|june?|juil(?:let)?|july?|ao[uû]t|aug(?:ust)?|sept?(?:embre|ember)?|oct(?:obre|ober)?|nov(?:embre|ember)?|d[eé]c(?:embre|ember)?)\b\.?"
_DATE = re.compile(
    r"(?<![\d.,/-])(?:"
    r"(?P<y1>(?:19|20)\d\d)(?P<s1>[-/.])(?P<m1>\d\d?)(?P=s1)(?P<d1>\d\d?)(?P<time>[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?)?"
    r"|(?P<a2>\d\d?)\s?(?P<s2>[-/.])\s?(?P<b2>\d\d?)\s?(?P=s2)\s?(?P<y2>(?:19|20)?\d\d)"
    r"|(?P<y3>(?:19|20)\d\d)\s?年\s?(?P<m3>\d\d?)\s?月(?:\s?(?P<d3>\d\d?)\s?[日号])?"
    r"|(?P<d4>\d\d?)(?:\s?(?:er|st|nd|rd|th))?\s*(?:of |de |-)?\s*" + _MONTH.format("m4") + r"[\s,-]*(?:de |of )?(?P<y4>(?:19|20)\d\d)"
    r"|(?P<m5>\d\d?)/(?P<y5>(?:19|20)\d\d)"
    r")(?![\d%]|[.,/-]\d)"
    r"|\b" + _MONTH.format("m6") + r"[\s,-]*(?:(?P<d6>\d\d?)(?:st|nd|rd|th)?\s*,?\s+)?(?P<y6>(?:19|20)\d\d)(?![\d%]|[.,]\d)",
    re.IGNORECASE,
)  # fmt: skip
_FOLD = str.maketrans("éèêëûùü", "eeeeuuu")


class Date(NamedTuple):
    """A date found in text; month and day are 0 where the text does not give them.

    `swapped` is the other reading of day and month, where the text leaves one open;
    `spelled` says that the month stands in letters; `spreadsheet` that a time of day
    betrays a spreadsheet export.
    """

    year: int
    month: int
    day: int
    start: int
    end: int
    swapped: tuple[int, int, int] | None = None
    spelled: bool = False
    spreadsheet: bool = False

    @property
    def reading(self) -> tuple[int, int, int]:
        """Year, month, day."""
        return self.year, self.month, self.day


def find_dates(text: str, language: str) -> list[Date]:
    """All dates of a text in order; impossible ones (month 13) are left out.

    >>> [date.reading for date in find_dates("du 12/11/2021 au 1er mars 2022", "fr")]
    [(2021, 11, 12), (2022, 3, 1)]
    >>> find_dates("12/11/2021", "en")[0].reading, find_dates("2021年11月12日", "zh")[0].reading
    ((2021, 12, 11), (2021, 11, 12))
    """
    if language == "zh":
        text = _HANZI.sub(_hanzi_digits, text)
    return [date for match in _DATE.finditer(text) if (date := _read(match, language)) is not None]


_HANZI = re.compile(r"[〇零○一二三四五六七八九十]{1,4}(?=\s?[年月日号])")
_HANZI_DIGITS = str.maketrans("〇零○一二三四五六七八九", "000123456789")


def _hanzi_digits(match: re.Match[str]) -> str:
    text = match[0]
    if "十" in text:
        tens, _, ones = text.partition("十")
        text = (tens or "一") + (ones or "〇")
    return text.translate(_HANZI_DIGITS)


def _read(match: re.Match[str], language: str) -> Date | None:
    start, end = match.span()
    if match["y1"]:
        year, month, day = int(match["y1"]), int(match["m1"]), int(match["d1"])
        if not _possible(month, day):
            return None
        spreadsheet = match["time"] is not None
        swapped = (year, day, month) if spreadsheet and _possible(day, month) else None
        return Date(year, month, day, start, end, swapped=swapped, spreadsheet=spreadsheet)
    if match["y2"]:
        first, second = int(match["a2"]), int(match["b2"])
        year = int(match["y2"])
        if year < 100:
            year += 2000 if year < 70 else 1900
        orders = [(year, second, first), (year, first, second)]  # day first, month first
        if language == "en":
            orders.reverse()
        orders = [order for order in orders if _possible(*order[1:])]
        if not orders:
            return None
        other = orders[1] if len(orders) > 1 and orders[1] != orders[0] else None
        return Date(*orders[0], start, end, swapped=other)
    if match["y3"]:
        month, day = int(match["m3"]), int(match["d3"] or 0)
        return Date(int(match["y3"]), month, day, start, end) if _possible(month, day or 1) else None
    if match["y4"]:
        month, day = _MONTHS[match["m4"].lower().translate(_FOLD)], int(match["d4"])
        return Date(int(match["y4"]), month, day, start, end, spelled=True) if _possible(month, day) else None
    if match["y5"]:
        month = int(match["m5"])
        return Date(int(match["y5"]), month, 0, start, end) if _possible(month, 1) else None
    month, day = _MONTHS[match["m6"].lower().translate(_FOLD)], int(match["d6"] or 0)
    return (
        Date(int(match["y6"]), month, day, start, end, spelled=True) if _possible(month, day or 1) else None
    )


def _possible(month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= (29 if month == 2 else 30 if month in (4, 6, 9, 11) else 31)


def same_date(gold: Date, answer: Date, language: str) -> bool | None:
    """Whether the answer is the gold's date; None where the writing leaves it open.

    An answer that gives more than the gold (a day where the gold has a year) is right if
    it agrees; one that gives less is open.

    >>> iso, spelled = find_dates("2014-06-11T00:00:00", "fr")[0], find_dates("06 novembre 2014", "fr")[0]
    >>> same_date(iso, find_dates("06/11/2014", "fr")[0], "fr"), same_date(iso, spelled, "fr")
    (True, None)
    """
    if _agrees(gold.reading, answer.reading):
        return True if _as_precise(gold, answer) else None
    if gold.spreadsheet and gold.swapped is not None and _agrees(gold.swapped, answer.reading):
        return None if answer.spelled else True
    if language == "en" and answer.swapped is not None and _agrees(gold.reading, answer.swapped):
        return None
    return False


def _agrees(gold: tuple[int, int, int], answer: tuple[int, int, int]) -> bool:
    return all(left == right or not left or not right for left, right in zip(gold, answer, strict=True))


def _as_precise(gold: Date, answer: Date) -> bool:
    return bool(answer.month or not gold.month) and bool(answer.day or not gold.day)
