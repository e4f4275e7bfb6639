"""Dates, times, quarters and years, so that they are kept apart from amounts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan janvier janv",
            "february feb février fevrier févr",
            "march mar mars",
            "april apr avril avr",
            "may mai",
            "june jun juin",
            "july jul juillet juil",
            "august aug août aout",
            "september sep sept septembre",
            "october oct octobre",
            "november nov novembre",
            "december dec décembre decembre déc",
        ),
        start=1,
    )
    for name in names.split()
}
_MONTH = "(?:" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_YEAR = r"(?:19|20)\d\d"
_NO_DIGIT = r"(?![\d.,]*\d)"


@dataclass(frozen=True)
class DateSpan:
    """A date-like stretch of a text; `day` where it names one calendar day."""

    start: int
    end: int
    day: date | None = None


def _day(year: int, month: int, day: int) -> date | None:
    if year < 100:
        year += 2000 if year < 70 else 1900
    try:
        return date(year, month, day)
    except ValueError:
        return None


_ISO = re.compile(
    rf"(?<![\d.])({_YEAR})([-/.])(\d{{1,2}})\2(\d{{1,2}})(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?Z?)?(?!\d)"
)
_NUMERIC = re.compile(r"(?<![\d.,/])(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?![\d/]|[.,-]\d|%)")
_DAY_MONTH = re.compile(
    rf"(?<![\d.,])(\d{{1,2}})(?:st|nd|rd|th|er)?(?: of| de)? ({_MONTH})(?:,? ({_YEAR})\b)?", re.IGNORECASE
)
_MONTH_DAY = re.compile(
    rf"\b({_MONTH}) (\d{{1,2}})(?:st|nd|rd|th)?(?:, ?| )({_YEAR})\b|\b({_MONTH}) (\d{{1,2}})(?:st|nd|rd|th)?\b{_NO_DIGIT}(?! ?[%$€£])",
    re.IGNORECASE,
)
_MONTH_YEAR = re.compile(rf"\b{_MONTH}[ -]?(?:of )?(?:{_YEAR}|'?\d\d)\b{_NO_DIGIT}", re.IGNORECASE)
_CHINESE = re.compile(
    r"(\d{2,4}) ?年(?: ?(\d{1,2}) ?月(?: ?(\d{1,2}) ?[日号])?)?(?!期|限)|(\d{1,2}) ?月 ?(\d{1,2}) ?[日号]"
)
_TIME = re.compile(
    r"(?<![\d.,:])(?:[01]?\d|2[0-4])(?::[0-5]\d(?::[0-5]\d)?| ?h ?[0-5]\d| ?heures?)(?!\d)(?: ?[ap]\.?m\b\.?)?",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"(?<![\d.,:])(?:0?[1-9]|1[0-2]) ?[ap]\.?m\b", re.IGNORECASE)
_PERIOD = re.compile(
    rf"(?<![A-Za-z\d])(?:[QTSH][1-4][- ]?(?:{_YEAR}|'?\d\d)?|[1-4][QHTS](?:[- ]?{_YEAR}|[- ]?'?\d\d)?|FY ?'?(?:{_YEAR}|\d\d)"
    rf"|{_YEAR}[EAFP]|{_YEAR}[-–/](?:{_YEAR}|\d\d)|{_YEAR}0?s)(?![A-Za-z\d.,]*\d|[A-Za-z])"
)

_Patterns = tuple[tuple[re.Pattern[str], str], ...]


def find_dates(text: str) -> list[DateSpan]:
    """Every date, time, quarter and span of years in a text, in order, without overlaps.

    Numeric dates are read day first, except where that is no day of the calendar and
    month first is.

    >>> [(span.day and span.day.isoformat()) for span in find_dates("15.12.2008, June 11, 2014, Q3 2021")]
    ['2008-12-15', '2014-06-11', None]
    """
    spans = sorted(_candidates(text), key=lambda span: (span.start, -span.end))
    kept: list[DateSpan] = []
    for span in spans:
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return kept


def _candidates(text: str) -> Iterator[DateSpan]:
    if "-" in text or "/" in text or "." in text:
        for match in _ISO.finditer(text):
            day = _day(int(match[1]), int(match[3]), int(match[4]))
            if day:
                yield DateSpan(match.start(), match.end(), day)
        for match in _NUMERIC.finditer(text):
            first, second, year = int(match[1]), int(match[3]), int(match[4])
            day = _day(year, second, first) or _day(year, first, second)
            if day:
                yield DateSpan(match.start(), match.end(), day)
    for match in _DAY_MONTH.finditer(text):
        month = _MONTHS[match[2].lower().rstrip(".")]
        if match[3]:
            day = _day(int(match[3]), month, int(match[1]))
            if day:
                yield DateSpan(match.start(), match.end(), day)
        elif 1 <= int(match[1]) <= 31:
            yield DateSpan(match.start(), match.end())
    for match in _MONTH_DAY.finditer(text):
        if match[3]:
            day = _day(int(match[3]), _MONTHS[match[1].lower().rstrip(".")], int(match[2]))
            if day:
                yield DateSpan(match.start(), match.end(), day)
        elif match[4].lower() not in ("may", "mar", "mars", "march", "mai") and 1 <= int(match[5]) <= 31:
            yield DateSpan(match.start(), match.end())
    for match in _MONTH_YEAR.finditer(text):
        yield DateSpan(match.start(), match.end())
    if "年" in text or "月" in text:
        for match in _CHINESE.finditer(text):
            day = _day(int(match[1]), int(match[2]), int(match[3])) if match[3] else None
            if match[4] or match[2] or len(match[1]) == 4 or match[1].startswith("0"):
                yield DateSpan(match.start(), match.end(), day)
    if ":" in text or "h" in text or "H" in text:
        for match in _TIME.finditer(text):
            yield DateSpan(match.start(), match.end())
    for pattern in (_CLOCK, _PERIOD):
        for match in pattern.finditer(text):
            yield DateSpan(match.start(), match.end())
