"""Dates, times, quarters and years, so that they are kept apart from amounts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

from ..normalise import lower_in_place

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan janvier janv",
            "february feb février fevrier févr fév",
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
_YEAR = r"(?:19|20)\d\d"
_ISO = re.compile(rf"({_YEAR})([-/.])(\d{{1,2}})\2(\d{{1,2}})(?:[t ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?z?)?(?!\d)")
_NUMERIC = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d\d)(?![\d/]|[.,-]\d|[ ]?%)")
_YEARS = re.compile(
    rf"(?:0?[1-9]|1[0-2])/{_YEAR}(?![\d/]|[.,]\d)|{_YEAR}[ ]?[-–/][ ]?(?:{_YEAR}|\d\d)(?![\d/]|[.,-]\d|[ ]?%)|{_YEAR}'?s(?![a-z])|{_YEAR}[eafp](?![a-z\d])"
)
_CHINESE = re.compile(
    r"(\d{2}|\d{4})[ ]?年(?:[ ]?(\d{1,2})[ ]?月(?:份|[ ]?(\d{1,2})[ ]?[日号號])?)?(?!期)|(\d{1,2})[ ]?月[ ]?(\d{1,2})[ ]?[日号號]"
)
_TIME = re.compile(
    r"(?:[01]?\d|2[0-4])(?::[0-5]\d(?::[0-5]\d)?| ?h ?[0-5]\d| ?h(?:eures?)?(?![a-z]))(?![\d:])(?: ?[ap]\.?m\b\.?)?"
    r"|(?:0?[1-9]|1[0-2]) ?[ap]\.?m\b"
)
_DAY_MONTH = re.compile(
    rf"(\d{{1,2}})(?:st|nd|rd|th|er)?(?: of| de)?[ -]([a-zéûô]{{3,9}})\b\.?(?:[ ,-]+({_YEAR})\b)?"
)
_MONTH_DAY = re.compile(
    rf"([a-zéûô]{{3,9}})\.?[ ]+(\d{{1,2}})(?:st|nd|rd|th)?(?:(?:,[ ]?|[ ])({_YEAR})\b)?(?![\d%]|[.,]\d|[ ][%$€£])"
)
_MONTH_YEAR = re.compile(rf"([a-zéûô]{{3,9}})\.?[ -]?(?:of |de )?({_YEAR}|'\d\d)(?![\d%]|[.,]\d)")
_PERIOD = re.compile(rf"[1-4](?:[qh](?:[ -]?{_YEAR}|[ -]?'?\d\d)?|[ts][ -]?{_YEAR})(?![a-z\d])")
_PERIOD_BEFORE = re.compile(r"(?:^|[^a-z\d])((?:[qhts]|fy|fy ))$")
_PERIOD_AFTER = re.compile(rf"[ -]?(?:{_YEAR}|'?\d\d)(?![\d.,%])")
_LAST_WORD = re.compile(r"([a-zéûô]{3,9})\.?[ -]?(?:of |de )?'?$")
_NOT_MONTHS_ALONE = frozenset(("may", "mar"))


@dataclass(frozen=True)
class DateSpan:
    """A date-like stretch of a text.

    Attributes:
        start: where it begins.
        end: where it ends.
        day: the calendar day that it names, day before month in `12/11/2021`; None for times, quarters, months.
        month_first: the other reading of such a date, where it is one.
    """

    start: int
    end: int
    day: date | None = None
    month_first: date | None = None


def _day(year: int, month: int, day: int) -> date | None:
    if year < 100:
        year += 2000 if year < 70 else 1900
    try:
        return date(year, month, day)
    except ValueError:
        return None


def date_at(lower: str, start: int, end: int) -> DateSpan | None:
    """The date, time, quarter or span of years to which the digits at `start` belong, if any.

    Args:
        lower: the text in lower case, with plain blanks.
        start, end: where a run of digits (with separators) stands in it.
    """
    following = lower[end : end + 1]
    body = lower[start:end]
    if "," in body or (end - start > 4 and "." not in body):
        return None
    if (following and following in "-/–") or "." in body:
        span = _numeric(lower, start)
        if span:
            return span
    if (
        following == ":"
        or following in "h ap"
        or (following == " " and lower[end + 1 : end + 2] in ("h", "a", "p"))
    ):
        time = _TIME.match(lower, start)
        if time and time.end() > end:
            return DateSpan(start, time.end())
    if following in "年月 ":
        span = _chinese(lower, start)
        if span:
            return span
    if following in " dehnrst-" or following == ",":
        span = _with_month_after(lower, start)
        if span:
            return span
    if following in "qhtseafp'":
        period = _PERIOD.match(lower, start) or _YEARS.match(lower, start)
        if period:
            return DateSpan(start, period.end())
    before = lower[start - 1 : start]
    if not before or (before not in " -'." and not before.isalpha()):
        return None
    return _with_word_before(lower, start, end)


def _numeric(lower: str, start: int) -> DateSpan | None:
    match = _ISO.match(lower, start)
    if match:
        day = _day(int(match[1]), int(match[3]), int(match[4]))
        if day:
            return DateSpan(start, match.end(), day)
    match = _NUMERIC.match(lower, start)
    if match:
        first, second, year = int(match[1]), int(match[3]), int(match[4])
        day = _day(year, second, first)
        other = _day(year, first, second) if match[2] != "." else None
        if day or other:
            return DateSpan(start, match.end(), day or other, other)
    match = _YEARS.match(lower, start)
    return DateSpan(start, match.end()) if match else None


def _chinese(lower: str, start: int) -> DateSpan | None:
    match = _CHINESE.match(lower, start)
    if not match or not (match[4] or match[2] or len(match[1]) == 4 or match[1][0] == "0"):
        return None
    if match[1] and len(match[1]) == 4 and not "1900" <= match[1] <= "2100":
        return None
    return DateSpan(
        start, match.end(), _day(int(match[1]), int(match[2]), int(match[3])) if match[3] else None
    )


def _with_month_after(lower: str, start: int) -> DateSpan | None:
    match = _DAY_MONTH.match(lower, start)
    if not match or match[2] not in _MONTHS or not 1 <= int(match[1]) <= 31:
        return None
    if match[3]:
        day = _day(int(match[3]), _MONTHS[match[2]], int(match[1]))
        return DateSpan(start, match.end(), day) if day else None
    return None if match[2] in _NOT_MONTHS_ALONE else DateSpan(start, match.end())


def _with_word_before(lower: str, start: int, end: int) -> DateSpan | None:
    """`June 11, 2014`, `janvier 2016`, `Q3 2021`, `FY21`: the digits come second."""
    left = lower[max(0, start - 14) : start]
    period = _PERIOD_BEFORE.search(left)
    if period:
        if end - start > 1 and not re.fullmatch(_YEAR + r"|\d\d", lower[start:end]):
            return None
        rest = _PERIOD_AFTER.match(lower, end)
        return DateSpan(start - len(period[1]), rest.end() if rest else end)
    word = _LAST_WORD.search(left)
    if not word or word[1] not in _MONTHS:
        return None
    begin = start - len(left) + word.start()
    match = _MONTH_DAY.match(lower, begin)
    if match and 1 <= int(match[2]) <= 31:
        if match[3]:
            day = _day(int(match[3]), _MONTHS[word[1]], int(match[2]))
            if day:
                return DateSpan(begin, match.end(), day)
        elif word[1] not in _NOT_MONTHS_ALONE:
            return DateSpan(begin, match.end())
    match = _MONTH_YEAR.match(lower, begin)
    return DateSpan(begin, match.end()) if match else None


_DIGITS = re.compile(r"\d+(?:[.,]\d+)*")


def find_dates(text: str) -> list[DateSpan]:
    """Every date, time, quarter and span of years in a text, in order, without overlaps.

    Numeric dates are read day first, except where that is no day of the calendar and
    month first is.

    >>> [(span.day and span.day.isoformat()) for span in find_dates("15.12.2008, June 11, 2014, Q3 2021")]
    ['2008-12-15', '2014-06-11', None]
    """
    lower = lower_in_place(text)
    spans: list[DateSpan] = []
    for digits in _DIGITS.finditer(lower):
        if spans and digits.start() < spans[-1].end:
            continue
        span = date_at(lower, digits.start(), digits.end())
        if span and (not spans or span.start >= spans[-1].end):
            spans.append(span)
    return spans
