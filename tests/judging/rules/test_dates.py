"""Dates in answers: every writing of a date is the date, and nothing else is."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmms_eval_finance.judging.rules.dates import find_dates, same_date

MONTHS_FR = "janvier février mars avril mai juin juillet août septembre octobre novembre décembre".split()
MONTHS_EN = "January February March April May June July August September October November December".split()
DAYS = st.dates(date(1950, 1, 1), date(2069, 12, 31))


def writings(day: date, language: str) -> list[str]:
    months = MONTHS_EN if language == "en" else MONTHS_FR
    spelled = months[day.month - 1]
    common = [f"{day:%Y-%m-%d}", f"{day:%Y/%m/%d}", f"{day.year}年{day.month}月{day.day}日"]
    if language == "en":
        return [
            *common,
            f"{spelled} {day.day}, {day.year}",
            f"{day.day} {spelled} {day.year}",
            f"{day:%m/%d/%Y}",
        ]
    return [
        *common,
        f"{day.day} {spelled} {day.year}",
        f"{day:%d/%m/%Y}",
        f"{day:%d.%m.%Y}",
        f"{day:%d-%m-%Y}",
    ]


@given(DAYS, st.sampled_from(["fr", "en", "zh"]))
def test_all_writings_of_a_day_are_that_day(day: date, language: str) -> None:
    for text in writings(day, language):
        found = find_dates(f"le {text}.", language)
        assert [item.reading for item in found] == [(day.year, day.month, day.day)], text


@given(DAYS, st.integers(1, 400), st.sampled_from(["fr", "zh"]))
def test_different_days_are_never_the_same(day: date, distance: int, language: str) -> None:
    other = day + timedelta(days=distance)
    for gold in writings(day, language):
        for answer in writings(other, language):
            assert (
                same_date(find_dates(gold, language)[0], find_dates(answer, language)[0], language) is False
            )


@given(DAYS, st.sampled_from(["fr", "en"]))
def test_a_day_equals_itself_in_every_writing(day: date, language: str) -> None:
    for gold in writings(day, language):
        for answer in writings(day, language):
            assert same_date(find_dates(gold, language)[0], find_dates(answer, language)[0], language) is True


@pytest.mark.parametrize(
    ("gold", "answer", "language", "expected"),
    [
        ("2021-12-11T00:00:00", "12/11/2021", "fr", True),  # a spreadsheet may have swapped them
        ("2021-12-11T00:00:00", "11/12/2021", "fr", True),
        ("2021-12-11T00:00:00", "11 décembre 2021", "fr", True),
        ("2021-12-11T00:00:00", "12 novembre 2021", "fr", None),
        ("2021-12-13T00:00:00", "13 novembre 2021", "fr", False),
        ("12/11/2021", "11 décembre 2021", "fr", False),
        ("12/11/2021", "12 November 2021", "en", False),
        ("November 12, 2021", "12/11/2021", "en", None),
        ("9 octobre 2009", "octobre 2009", "fr", None),
        ("octobre 2009", "9 octobre 2009", "fr", True),
        ("1er décembre 2006", "01/12/2006", "fr", True),
        ("31/03/19", "31 mars 2019", "fr", True),
        ("2023年12月31日", "二零二三年十二月三十一日", "zh", True),
        ("2023年10月", "二〇二三年十月", "zh", True),
    ],
)
def test_readings(gold: str, answer: str, language: str, expected: bool | None) -> None:
    assert same_date(find_dates(gold, language)[0], find_dates(answer, language)[0], language) is expected


@pytest.mark.parametrize(
    "text", ["5,00 %", "12/13", "31/02/2021", "10.12", "2019/2088", "99/99/9999", "1 234,56", ""]
)
def test_other_figures_are_no_dates(text: str) -> None:
    assert find_dates(text, "fr") == []
