"""The pieces of the number reader, each for itself."""

from __future__ import annotations

from datetime import date
from fractions import Fraction

import pytest

from lmms_eval_finance.metrics.numbers import (
    Role,
    find_dates,
    find_numbers,
    parse_gold_values,
    parse_number,
    parse_unit,
)
from lmms_eval_finance.metrics.numbers.cues import last_cue
from lmms_eval_finance.metrics.numbers.language import language_code
from lmms_eval_finance.metrics.numbers.latex import plain_math
from lmms_eval_finance.metrics.numbers.lexicon import lexicon
from lmms_eval_finance.metrics.numbers.notation import read_numeral
from lmms_eval_finance.metrics.numbers.question import asked_for
from lmms_eval_finance.metrics.numbers.separators import decimal_mark, read_digits
from lmms_eval_finance.metrics.numbers.signs import direction, minus_before
from lmms_eval_finance.metrics.numbers.units import BARE


@pytest.mark.parametrize(
    ("literal", "language", "readings"),
    [
        ("1234", "en", ["1234"]),
        ("1,234", "en", ["1234"]),
        ("1,234", "zh", ["1234"]),
        ("1,234", "fr", ["1.234", "1234"]),
        ("1.234", "fr", ["1.234", "1234"]),
        ("1.234", "en", ["1.234"]),
        ("1.234", "de", ["1.234", "1234"]),
        ("0.234", "fr", ["0.234"]),
        ("0,234", "en", ["0.234"]),
        ("1,23", "en", ["1.23"]),
        ("1,2345", "en", ["1.2345"]),
        ("12345,678", "en", ["12345.678"]),
        ("1,234,567", "fr", ["1234567"]),
        ("1.234.567", "en", ["1234567"]),
        ("1,234.56", "fr", ["1234.56"]),
        ("1.234,56", "en", ["1234.56"]),
        ("12,34,567.8", "en", ["1234567.8"]),
        ("1 234 567,8", "en", ["1234567.8"]),
        ("1'234.5", "fr", ["1234.5"]),
        (".5", "en", ["0.5"]),
        ("1,2,3", "en", []),
        ("1.2.3", "en", []),
        ("1,234.5.6", "en", []),
        ("1.23,456,7", "en", []),
        ("9" * 61, "en", []),
    ],
)  # fmt: skip
def test_separators(literal: str, language: str, readings: list[str]) -> None:
    assert list(read_digits(literal, language)) == [Fraction(reading) for reading in readings]


def test_decimal_mark_of_an_unknown_language() -> None:
    assert decimal_mark("xx") == decimal_mark("") == "."


@pytest.mark.parametrize(
    ("text", "value", "rest"),
    [
        ("12", "12", ""),
        ("1.2e3 m", "1200", " m"),
        ("1.2e3m", "1.2", "e3m"),
        ("1.2E-03", "0.0012", ""),
        ("1.2×10^3", "1200", ""),
        ("1.2 x 10^{-3}", "0.0012", ""),
        ("1.2 * 10**3", "1200", ""),
        ("1.2·10⁻³", "0.0012", ""),
        ("2 x 4", "2", " x 4"),
        ("2^10", "1024", ""),
        ("10^-2", "0.01", ""),
        ("3²", "9", ""),
        ("1/4", "0.25", ""),
        ("1 / 4 of", "0.25", " of"),
        ("2 1/2", "2.5", ""),
        ("2½", "2.5", ""),
        ("5/6/7", "5", "/6/7"),
        ("5/0", "5", "/0"),
        ("0.125 / 12.5%", "0.125", " / 12.5%"),
        ("2.5:1", "2.5", ""),
        ("3 to 1", "3", ""),
        ("3 to 10", "3", " to 10"),
        ("12:30", "12", ":30"),
    ],
)
def test_powers_and_fractions(text: str, value: str, rest: str) -> None:
    digits = text.split(" ")[0]
    for stop in "eE×*·^/²½:":
        digits = digits.split(stop)[0]
    numeral = read_numeral(text, digits, len(digits), "en")
    assert numeral is not None
    assert numeral.readings[0] == Fraction(value)
    assert text[numeral.end :] == rest


@pytest.mark.parametrize("text", ["10^99999", "0^-1", "9999^99"])
def test_powers_that_are_no_amounts(text: str) -> None:
    digits = text.partition("^")[0]
    numeral = read_numeral(text, digits, len(digits), "en")
    assert numeral is None or numeral.end == len(digits)


@pytest.mark.parametrize(
    ("text", "language", "factor", "dimension"),
    [
        ("million", "en", 10**6, ""),
        ("millions", "fr", 10**6, ""),
        ("billion", "en", 10**9, ""),
        ("billion", "fr", 10**12, ""),
        ("milliards", "fr", 10**9, ""),
        ("Md€", "fr", 10**9, ""),
        ("M€", "fr", 10**6, ""),
        ("k€", "fr", 10**3, ""),
        ("KUSD", "en", 10**3, "money"),
        ("MEUR", "fr", 10**6, "money"),
        ("EURm", "en", 10**6, "money"),
        ("T", "en", 10**12, ""),
        ("万亿元", "zh", 10**12, ""),
        ("百分点", "zh", Fraction(1, 100), "percent"),
        ("百万", "zh", 10**6, ""),
        ("%", "en", Fraction(1, 100), "percent"),
        ("bps", "en", Fraction(1, 10**4), "percent"),
        ("basis points", "en", Fraction(1, 10**4), "percent"),
        ("points de base", "fr", Fraction(1, 10**4), "percent"),
        ("pour cent", "fr", Fraction(1, 100), "percent"),
        ("‰", "en", Fraction(1, 1000), "percent"),
        ("cents", "en", Fraction(1, 100), "money"),
        ("dollars", "en", 1, "money"),
        ("HK$", "en", 1, "money"),
        ("years", "en", 12, "months"),
        ("mois", "fr", 1, "months"),
    ],
)
def test_lexicon(text: str, language: str, factor: Fraction, dimension: str) -> None:
    unit, end = lexicon(language).after(text, text.lower(), 0)
    assert (unit.factor, unit.dimension) == (factor, dimension)
    assert end > 0


@pytest.mark.parametrize(
    "text", ["mango", "biscuit", "banana", "or", "all", "time", "成本", "%"[:0], "cent euros"]
)
def test_lexicon_leaves_other_words_alone(text: str) -> None:
    assert lexicon("fr").after(text, text, 0)[0] is BARE


def test_currencies_that_share_a_sign_and_those_that_do_not() -> None:
    dollars = parse_unit("$").currencies
    assert {"USD", "HKD", "CAD"} <= dollars
    assert parse_unit("US$").currencies == {"USD"}
    assert parse_unit("¥").currencies == {"CNY", "JPY"}
    assert (
        parse_unit("元").currencies
        == parse_unit("RMB").currencies
        == parse_unit("yuan").currencies
        == {"CNY"}
    )
    assert parse_unit("francs suisses", "fr").currencies == {"CHF"}


@pytest.mark.parametrize(
    ("unit", "factor", "dimension"),
    [
        ("%", Fraction(1, 100), "percent"),
        ("percent", Fraction(1, 100), "percent"),
        ("百分比", Fraction(1, 100), "percent"),
        ("bps", Fraction(1, 10**4), "percent"),
        ("USD", 1, "money"),
        ("USD million", 10**6, "money"),
        ("million USD", 10**6, "money"),
        ("USD (millions)", 10**6, "money"),
        ("US$ mn", 10**6, "money"),
        ("€m", 10**6, "money"),
        ("M€", 10**6, "money"),
        ("millions d'euros", 10**6, "money"),
        ("RMB bn", 10**9, "money"),
        ("亿元", 10**8, "money"),
        ("百万美元", 10**6, "money"),
        ("元/股", 1, "money"),
        ("USD per barrel", 1, "money"),
        ("万吨", 10**4 * 10**6, "grams"),
        ("thousands", 10**3, ""),
        ("x", 1, ""),
        ("shares", 1, ""),
        ("", 1, ""),
        (None, 1, ""),
        ("z" * 10_000, 1, ""),
    ],
)
def test_units_of_items(unit: str | None, factor: Fraction, dimension: str) -> None:
    parsed = parse_unit(unit)
    assert (parsed.factor, parsed.dimension) == (factor, dimension)


@pytest.mark.parametrize(
    ("before", "negative"),
    [
        ("-", True), ("- ", True), ("−", True), ("is - ", True), ("is -", True), ("= -", True), (": - ", True), ("5 - ", False),
        ("5-", False), ("Q3-", False), ("Answer - ", False), ("a – ", False), ("minus ", True), ("2 minus ", False),
        ("moins ", True), ("au moins ", False), ("moins de ", False), ("负", True), ("2020年-", False), ("为-", True), ("", False),
        ("x\n- ", True),
    ],
)  # fmt: skip
def test_minus_signs(before: str, negative: bool) -> None:
    assert minus_before(before + "3", before + "3", len(before))[0] is negative


def test_bullets_are_no_minus_signs() -> None:
    assert minus_before("- 3\n- 4", "- 3\n- 4", 2, bullets=True)[0] is False
    assert minus_before("-3\n-4", "-3\n-4", 1, bullets=True)[0] is True


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("a loss of", "", -1), ("fell by", "", -1), ("une baisse de", "", -1), ("", " decrease", -1), ("同比下降", "", -1),
        ("a negative npv of", "", -1), ("rose by", "", 1), ("", " higher", 1), ("增长", "", 1), ("is", "", 0), ("", " of sales", 0),
        ("losses in the market at", "", 0),
    ],
)  # fmt: skip
def test_directions(before: str, after: str, expected: int) -> None:
    assert direction(before.split(), after) == expected


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("12/11/2021", [date(2021, 11, 12)]),
        ("15.12.2008", [date(2008, 12, 15)]),
        ("12-11-2021", [date(2021, 11, 12)]),
        ("31/12/22", [date(2022, 12, 31)]),
        ("12/31/2022", [date(2022, 12, 31)]),
        ("2021-12-11T00:00:00", [date(2021, 12, 11)]),
        ("2021/12/11", [date(2021, 12, 11)]),
        ("11 juin 2014", [date(2014, 6, 11)]),
        ("1er janvier 2023", [date(2023, 1, 1)]),
        ("le 06 novembre 2014.", [date(2014, 11, 6)]),
        ("June 11th, 2014", [date(2014, 6, 11)]),
        ("11 June 2014", [date(2014, 6, 11)]),
        ("2014年6月11日", [date(2014, 6, 11)]),
        ("31/02/2022", []),
        ("Q3 2021", []),
        ("1.25.30", []),
        ("3.14.15", []),
        ("12/11", []),
    ],
)
def test_days(text: str, days: list[date]) -> None:
    assert [span.day for span in find_dates(text) if span.day] == days


@pytest.mark.parametrize(
    "text",
    ["Q3 2021", "3Q21", "T1 2020", "H1", "FY2021", "FY21", "2021E", "2020-2021", "2020/21", "1990s", "June 2014", "juin 2014",
     "12:30", "17h00", "14 h 30", "9 am", "5:30 p.m.", "12/2010", "2023年", "2023年6月", "6月30日", "June 30"],
)  # fmt: skip
def test_periods_and_times_are_no_amounts(text: str) -> None:
    (span,) = find_dates(text)
    assert (span.start, span.end) == (0, len(text))
    assert all(number.role is Role.YEAR for number in find_numbers(text))


@pytest.mark.parametrize(
    "text", ["3.5", "1/2", "2.5%", "12", "may 5", "2021.5", "1,990", "30 days", "10.5 - 11.5"]
)
def test_amounts_are_no_dates(text: str) -> None:
    assert not [span for span in find_dates(text) if span.day]
    assert find_numbers(text)


@pytest.mark.parametrize(
    ("text", "roles"),
    [
        ("1. 25%", ["REFERENCE", "VALUE"]),
        ("Table 3", ["REFERENCE"]),
        ("see Figure 2.1", ["REFERENCE"]),
        ("the S&P 500", ["REFERENCE"]),
        ("rounded to 2 decimals", ["REFERENCE"]),
        ("article 8", ["LABEL"]),
        ("10-year", ["VALUE"]),
        ("10-step", ["LABEL"]),
        ("2nd", ["LABEL"]),
        ("in 2021", ["YEAR"]),
        ("2021 shares", ["YEAR"]),
        ("$2021", ["VALUE"]),
        ("up from 38", ["ASIDE"]),
        ("40, using a rate of 5%", ["VALUE", "ASIDE"]),
        ("40 because costs are 80", ["VALUE", "ASIDE"]),
        ("5 of the 8 funds", ["VALUE", "ASIDE"]),
        ("CO2", []),
        ("x_1 = 5", ["VALUE"]),
        ("COVID-19", []),
        ("LU0505784883", []),
    ],
)
def test_roles(text: str, roles: list[str]) -> None:
    assert [number.role.name for number in find_numbers(text)] == roles


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        (r"\frac{1}{2}", "1/2"),
        (r"6\frac{2}{3}", "6 2/3"),
        (r"\frac{a+b}{2}", "(a+b)/2"),
        (r"\frac12", "1/2"),
        (r"1{,}234", "1,234"),
        (r"5\%", "5%"),
        (r"\$5", "$5"),
        (r"\text{about } 5", "about  5"),
        (r"$42$", "42"),
        (r"$$x = 42$$", "x = 42"),
        ("$5 and $6", "$5 and $6"),
        ("from $5/share to $6", "from $5/share to $6"),
        (r"2 \times 10^{3}", "2 × 10^{3}"),
        (r"\(42\)", " 42 "),
        (r"$450 = \$34$", "450 = $34"),
        ("1~234", "1 234"),
    ],
)
def test_latex(text: str, plain: str) -> None:
    assert plain_math(text) == plain


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("answer: 5", "5"),
        ("the answer is 5", "5"),
        ("answer: 5. final answer: 6", "6"),
        ("the answer to the question is: 5", "5"),
        ("réponse : 5", "5"),
        ("la réponse est 5", "5"),
        ("答案是5", "5"),
        ("{'answer': 5}", "5}"),
        ('"value": 5', "5"),
        ("#### 5", "5"),
        ("answer: none given", None),
        ("answer: 5. wait, 6", None),
        ("5", None),
    ],
)
def test_cues(text: str, rest: str | None) -> None:
    cue = last_cue(text)
    assert (None if cue is None else text[cue:].strip()) == rest


@pytest.mark.parametrize(
    ("question", "attribute"),
    [
        ("By how much did revenue fall?", "fall"),
        ("net loss of the year", "fall"),
        ("De combien le chiffre d'affaires a-t-il baissé ?", "fall"),
        ("营业收入降幅是多少", "fall"),
        ("What was the net income?", "signed"),
        ("net income (loss) of the year", "signed"),
        ("同比增速", "signed"),
        ("In which year was the peak?", "year"),
        ("En quelle année ?", "year"),
        ("What percentage of sales?", "percent"),
        ("Quel est le niveau de risque ?", "rating"),
    ],
)
def test_questions(question: str, attribute: str) -> None:
    asked = asked_for(None, question, None)
    assert getattr(asked, attribute) is True
    assert not (asked.fall and asked.signed)


@pytest.mark.parametrize(
    ("question", "scale"),
    [
        ("Revenue in millions of USD?", 10**6),
        ("(in thousands)", 10**3),
        ("Combien de millions d'euros ?", 10**6),
        ("单位:亿元", 10**8),
        ("Revenue in 2021?", 1),
    ],
)
def test_scales_that_a_question_names(question: str, scale: int) -> None:
    assert asked_for(None, question, "fr" if "euros" in question else None).scale == scale


def test_golds_with_alternatives_and_several_values() -> None:
    def texts(gold: str, language: str | None = None) -> list[list[str]]:
        return [[number.text for number in value] for value in parse_gold_values(gold, language)]

    assert texts(".0685, or 6.85%") == [["6.85%", ".0685"]]
    assert texts("16,640.50, or about 16,641 units") == [["16,641", "16,640.50"]]
    assert texts("2.7966 ≅ 2.80") == [["2.80", "2.7966"]]
    assert texts("Use, –$5,258") == [["–$5,258"]]
    assert texts("Price = $984.10") == [["$984.10"]]
    assert texts("6 sur 7", "fr") == [["6", "6"]]
    assert texts("XA = .7804\n XB = .2196") == [[".7804"], [".2196"]]
    assert texts("26, 16, 6, 0, 0, and 0") == [["26"], ["16"], ["6"], ["0"], ["0"], ["0"]]
    assert texts("catégorie 6", "fr") == [["6"]]
    assert texts("2018") == [["2018"]]
    assert texts("two") == [["two"]]
    assert texts("Tax Lot B") == texts("S&P 500") == texts("LU0505784883") == texts("") == []


def test_parsed_numbers_are_in_the_unit_of_the_item() -> None:
    number = parse_number("$5.1 million", unit="USD thousand")
    assert number is not None
    assert number.value == 5100
    assert number.text == "$5.1 million"
    assert number.currencies >= {"USD"}
    percent = parse_number("125 bps", unit="%")
    assert percent is not None
    assert percent.value == Fraction(5, 4)
    assert percent.percent
    fraction = parse_number("25%")
    assert fraction is not None
    assert fraction.value == Fraction(1, 4)
    assert float(fraction) == 0.25


@pytest.mark.parametrize("text", ["", "none here", "between 5 and 50", "11 or 12", "see Table 3", "<think>5"])
def test_texts_that_state_no_number(text: str) -> None:
    assert parse_number(text) is None


def test_numbers_are_hashable_and_cannot_be_changed() -> None:
    number = parse_number("5")
    assert number is not None
    assert len({number, number}) == 1
    with pytest.raises(AttributeError):
        number.value = Fraction(6)  # type: ignore[misc]


def test_only_so_many_numbers_are_read() -> None:
    assert len(find_numbers("7 , " * 2000)) == 400


def test_language_names() -> None:
    assert [language_code(name) for name in ("English", "FR", "zh_Hans", " chinese ", "")] == [
        "en",
        "fr",
        "zh",
        "zh",
        "en",
    ]
