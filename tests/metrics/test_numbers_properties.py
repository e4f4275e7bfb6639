"""Properties of the number readers that hold for every text and every number."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest
from babel.numbers import (
    format_compact_decimal,
    format_currency,
    format_decimal,
    format_percent,
    format_scientific,
)
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from lmms_eval_finance.metrics.normalise import narrow
from lmms_eval_finance.metrics.numbers import (
    find_dates,
    find_numbers,
    numbers_match,
    parse_gold_values,
    parse_number,
)
from lmms_eval_finance.metrics.numbers.hanzi import read_hanzi
from lmms_eval_finance.metrics.numbers.mentions import Reader
from lmms_eval_finance.metrics.numbers.roles import Role
from lmms_eval_finance.metrics.numbers.spelled import find_spelled

LANGUAGES = st.sampled_from(["en", "fr", "zh"])
NUMERIC_TEXT = st.text(
    st.sampled_from(
        list("0123456789.,-−–+()%$€¥/^{}\\ \n*_:=~x×eE万亿年月日百分之点零一十MkmdBbnand约为'\"|#<>﹪½²")
    ),
    max_size=80,
)
AMOUNTS = st.decimals(min_value=Decimal("-99999999999"), max_value=Decimal("99999999999"), places=2)
COUNTS = st.integers(min_value=0, max_value=10**15)


@settings(max_examples=300)
@given(st.one_of(st.text(max_size=200), NUMERIC_TEXT), st.sampled_from(["en", "fr", "zh", "de", None, "xx"]))
@example("10^-0", "en")
@example("0^-1", "en")
@example("1e999", "en")
@example("9" * 5000, "en")
@example("1/0", "en")
@example("百分之", "zh")
@example("百分之½", "zh")
@example("½分之一", "zh")
@example("İ1", "en")
@example("\ud800 5", "en")
def test_never_raises_and_keeps_positions(text: str, language: str | None) -> None:
    for number in find_numbers(text, language):
        assert number.text == text[number.start : number.end]
        assert number.value == number.written * number.unit.factor
    find_dates(text)
    parse_number(text, None, language)
    parse_number(text, "USD million", language)
    parse_gold_values(text, language)
    numbers_match(text, text, language=language)
    numbers_match("5%", text, unit=text, context=text, language=language)


def _wrapped(number: str) -> list[str]:
    return [
        f"**{number}**",
        f"*{number}*",
        f"`{number}`",
        f"# {number}",
        f"> {number}",
        f"<b>{number}</b>",
        f"\\boxed{{{number}}}",
        f"\n\n  {number}  \n",
        f"Answer: {number}",
        f"ANSWER: {number}",
        f"**answer**: {number}",
        f"The answer is {number}.",
        f"THE FINAL ANSWER IS {number}.",
        f"<think>7 or 8</think>{number}",
        f"Answer： {number}",
        "".join(chr(ord(c) + 0xFEE0) if "0" <= c <= "9" or c in ".-%" else c for c in number),
    ]


@settings(max_examples=60)
@given(AMOUNTS, st.sampled_from(["", "%"]))
def test_wrapping_changes_nothing(amount: Decimal, sign: str) -> None:
    number = f"{amount}{sign}"
    wrong = f"{amount + 1}{sign}"
    for text in _wrapped(number):
        assert numbers_match(number, text), text
        assert not numbers_match(wrong, text), text


@settings(max_examples=60)
@given(AMOUNTS, LANGUAGES)
def test_round_trip_through_the_notations_of_a_language(amount: Decimal, language: str) -> None:
    gold = str(amount)
    locale = {"en": "en_US", "fr": "fr_FR", "zh": "zh_CN"}[language]
    for text in (
        format_decimal(amount, "#,##0.##", locale=locale),
        format_currency(amount, "USD", locale=locale),
        format_currency(amount, "EUR", locale=locale),
        format_currency(amount, "CNY", "#,##0.00 ¤¤¤", locale=locale, currency_digits=False),
        format_currency(amount, "CHF", "¤¤ #,##0.00", locale=locale, currency_digits=False),
    ):
        assert numbers_match(gold, text, language=language), text
    percent = format_percent(amount / 100, "#,##0.##%", locale=locale)
    assert numbers_match(f"{amount}%", percent, language=language), percent


@settings(max_examples=60)
@given(st.integers(min_value=-999_999, max_value=999_999), st.integers(min_value=0, max_value=13), LANGUAGES)
def test_round_trip_through_compact_and_scientific_notation(digits: int, zeros: int, language: str) -> None:
    amount = digits * 10**zeros
    for kind in ("short", "long"):
        text = format_compact_decimal(amount, format_type=kind, locale=language, fraction_digits=14)
        assume("兆" not in text)
        assert numbers_match(str(amount), text, language=language), text
    text = format_scientific(amount, "0.######E0", locale=language)
    assert numbers_match(str(amount), text, language=language), text


def _hanzi(number: int) -> str:
    """A plain writer of Chinese numerals, as the oracle."""
    digits = "零一二三四五六七八九"
    if number == 0:
        return "零"

    def four(part: int, leading: bool) -> str:
        text, zero = "", leading
        for place, mark in ((1000, "千"), (100, "百"), (10, "十"), (1, "")):
            digit = part // place % 10
            if digit:
                text += ("零" if zero and text + ("x" if leading else "") else "") + digits[digit] + mark
                zero = False
            else:
                zero = True
        return text

    result = ""
    for place, mark in ((10**12, "万亿"), (10**8, "亿"), (10**4, "万"), (1, "")):
        part = number // place % 10**4
        if part:
            result += four(part, bool(result) and part < 1000) + mark
    return result


@given(st.integers(min_value=0, max_value=10**12 - 1))
@example(10**8 + 500)
@example(11_0001)
def test_chinese_numerals_round_trip(number: int) -> None:
    assert read_hanzi(_hanzi(number)) == number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("十", 10), ("十五", 15), ("二十", 20), ("一百零五", 105), ("一百一", 110), ("一千零一", 1001), ("两万五", 25000),
        ("三千二百五十", 3250), ("一亿零五百万", 105_000_000), ("二〇二三", 2023), ("万", 10_000), ("三点一四", Fraction(157, 50)),
        ("三点二亿", 320_000_000), ("壹佰贰拾叁", 123), ("五百万", 5_000_000), ("一万亿", 10**12), ("点", None), ("一二十", None),
    ],
)  # fmt: skip
def test_chinese_numerals(text: str, value: int | Fraction | None) -> None:
    assert read_hanzi(text) == value


DISTRACTORS = {
    "en": (
        "In {year}, the margin was {it}%.",
        "The margin was {it}% in {year}, up from {other}%.",
        "According to Table {small}, the margin is {it}% (previous year: {other}%).",
        "The margin rose from {other}% to {it}%.",
        "It is {it}%, compared with {other}% for the S&P 500.",
        "Using a rate of {other}% over {small} years, we get {it}%.",
        "1. Revenue grew by {other}%.\n2. So the margin is {it}%.",
        "First I read {other}%. Wait, that is the {small}-year average: it is {it}%.",
        "Answer: {it}%\n\nExplanation: last year it was {other}%.",
        "<think>maybe {other}%</think>\\boxed{{{it}\\%}}",
        "{other}% + {gap}% = {it}%",
    ),
    "fr": (
        "En {year}, la marge était de {it} %.",
        "La marge s'élève à {it} % en {year}, contre {other} % l'année précédente.",
        "La marge est passée de {other} % à {it} %.",
        "D'après le tableau {small}, la marge est de {it} %.",
        "Réponse : {it} %, et non {other} %.",
        "Au 31/12/{year}, elle atteint {it} % sur {small} ans.",
    ),
    "zh": (
        "{year}年利润率为{it}%。",
        "利润率由{other}%增至{it}%。",
        "根据表{small}，利润率为{it}%，相比{other}%有所提高。",
        "是{it}%，而不是{other}%。",
        "答案：{it}%。其中上一年为{other}%。",
        "{year}年第{small}季度为{it}%",
    ),
}


@settings(max_examples=150)
@given(
    st.decimals(min_value=1, max_value=99, places=2),
    st.decimals(min_value=1, max_value=99, places=1),
    st.integers(min_value=1990, max_value=2030),
    st.integers(min_value=2, max_value=9),
    st.data(),
)
def test_distractors_do_not_decide(
    it: Decimal, gap: Decimal, year: int, small: int, data: st.DataObject
) -> None:
    language = data.draw(st.sampled_from(sorted(DISTRACTORS)))
    template = data.draw(st.sampled_from(DISTRACTORS[language]))
    other = it - gap
    values = {"it": it, "other": other, "gap": gap}
    if language == "fr":
        values = {name: str(value).replace(".", ",") for name, value in values.items()}
    text = template.format(year=year, small=small, **values)
    assert numbers_match(f"{it}%", text, language=language), text
    assert numbers_match(str(it), text, unit="%", language=language), text
    assert not numbers_match(f"{other}%", text, language=language), text


_ONES = [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
]  # fmt: skip
_TENS = ["", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def _english(number: int) -> str:
    if number < 20:
        return _ONES[number]
    if number < 100:
        return _TENS[number // 10] + (f"-{_ONES[number % 10]}" if number % 10 else "")
    for place, name in ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if number >= place:
            rest = number % place
            joint = " and " if 0 < rest < 100 else " "
            return f"{_english(number // place)} {name}" + (joint + _english(rest) if rest else "")
    raise AssertionError


@given(st.integers(min_value=0, max_value=10**11))
def test_english_words_round_trip(number: int) -> None:
    assume(number != 1)
    assert [value for value, _, _ in find_spelled(_english(number))] == [number]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("vingt et un", 21), ("soixante-dix", 70), ("soixante et onze", 71), ("quatre-vingts", 80), ("quatre-vingt-dix-neuf", 99),
        ("cent vingt", 120), ("deux cent mille", 200_000), ("mille neuf cent quatre-vingt-quatre", 1984), ("trois millions", 3_000_000),
        ("two thirds", Fraction(2, 3)), ("la moitié", Fraction(1, 2)), ("one", 1),
    ],
)  # fmt: skip
def test_words(text: str, value: int | Fraction) -> None:
    assert [found for found, _, _ in find_spelled(text)] == [value]


@given(
    COUNTS,
    st.sampled_from(["thousand", "million", "billion", "k", "m", "bn", "%", "bps", "元", "万元", "亿元"]),
)
def test_gold_matches_itself_and_not_its_neighbours(count: int, unit: str) -> None:
    gold = f"{count} {unit}"
    assert numbers_match(gold, gold)
    assert not numbers_match(gold, f"{count + 1} {unit}")
    assert not numbers_match(gold, f"-{count + 1} {unit}")
    assert count == 0 or not numbers_match(gold, f"{count * 1000} {unit}")


@given(
    st.decimals(min_value=-1000, max_value=1000, places=3),
    st.decimals(min_value=0, max_value=10, places=3),
    st.sampled_from([-1, 1]),
)
def test_tolerance_edge_is_included_and_what_lies_beyond_is_not(
    gold: Decimal, tolerance: Decimal, side: int
) -> None:
    edge = gold + side * tolerance
    beyond = edge + side * Decimal("0.001")
    assert numbers_match(str(gold), str(edge), tolerance=float(tolerance))
    assert not numbers_match(str(gold), str(beyond), tolerance=float(tolerance))
    relative = tolerance / 10
    edge = gold + side * abs(gold) * relative
    assert numbers_match(str(gold), f"{edge:f}", tolerance=float(relative), tolerance_type="rel")


@pytest.mark.parametrize("tolerance", [-0.1, float("nan"), float("inf"), "x"])
def test_a_tolerance_that_is_none_is_refused(tolerance: float) -> None:
    with pytest.raises(ValueError, match="tolerance"):
        numbers_match("1", "1", tolerance=tolerance)


def test_an_unknown_tolerance_type_is_refused() -> None:
    with pytest.raises(ValueError, match="'abs' or 'rel'"):
        numbers_match("1", "1", tolerance_type="percent")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", ["0$", "5 €", "3 M€", "12%", "2% points", "2 %-point", "5¥", "7 HK$", "3亿元", "1.5 Md€"]
)
def test_a_mention_ends_within_the_text(text: str) -> None:
    (number,) = find_numbers(text)
    assert (number.start, number.end) == (0, len(text))
    assert number.text == text


@given(st.text(alphabet="0123456789.,%$€¥£ -()kKMBd亿万元points", max_size=30))
def test_mentions_lie_within_the_text_in_order(text: str) -> None:
    """A sign between two numbers (`0£0`) may belong to both, so spans can share it."""
    spans = [(number.start, number.end) for number in find_numbers(text)]
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert spans == sorted(spans)


HEADS = st.one_of(
    st.just(""),
    NUMERIC_TEXT.map(lambda head: head + "\n"),
    st.lists(
        st.sampled_from(
            "Not between from than table fund June June, Q3 FY janvier loss about 5 3. -2 because:"
            " using year million € - answer: 不 第 图 百分之".split()
        ),
        max_size=6,
    ).map(lambda words: " ".join(words) + "\n"),
)
ANNOUNCED = st.sampled_from(
    ["", "Answer: ", "answer:", "Final answer: ", "Réponse : ", "réponse:", "答案: ", "答案:"]
)


@settings(max_examples=500)
@given(
    HEADS,
    ANNOUNCED,
    st.from_regex(r"[0-9]{1,15}(\.[0-9]{1,15})?", fullmatch=True) | st.integers(1880, 2110).map(str),
    LANGUAGES,
)
def test_a_last_line_with_little_but_a_numeral_is_read_as_any_other(
    head: str, announced: str, numeral: str, language: str
) -> None:
    text = f"{head}{announced}{numeral}"
    reader = Reader(text, narrow(text), language)
    read = reader.numbers(len(head))
    assert len(read) == 1
    assert read == reader._search(len(head), None)


def test_a_numeral_among_other_words_is_not_read_alone() -> None:
    for text, value in (("Answer: 5 million", 5_000_000), ("Answer: 5%", Fraction(1, 20)), ("Table 5", None)):
        read = [number.value for number in Reader(text, text, "en").numbers() if number.role is Role.VALUE]
        assert read == ([] if value is None else [value])
