"""Golds that are numbers: one value with its alternatives, a range, or several values.

The numbers themselves are read by `lmms_eval_finance.metrics.numbers`. Here an answer is
right if it states the gold's value, rounded at most; wrong if it states another one; and
open where both could be meant: near misses, a bound that only one side has, half a range.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from lmms_eval_finance.judging.rules.findings import Finding
from lmms_eval_finance.judging.rules.polarity import is_abstention, is_none, polarity, states_absence
from lmms_eval_finance.judging.rules.words import content_words, fold, missing_words, words
from lmms_eval_finance.metrics.numbers import Number, Role, find_numbers, parse_gold_values, parse_number, parse_unit
from lmms_eval_finance.metrics.numbers.statement import clean

__all__ = ["compare_values"]

# A relative difference up to here can be rounding on the way, or a misread digit: open. Whole numbers
# below 10,000 (years, counts) are not rounded on the way.
_NEAR = Fraction(1, 100)
# Rounding is accepted from two figures on: 0.83 for 0.8292, not 1 for 0.8292.
_ROUNDED = Fraction(1, 200)

_FRAME = frozenset(
    "maximum minimum max min environ about approximately around circa ttc ht par per l an share times units unit "
    "price value montant valeur answer reponse actif net total prix forfaitaire jusqu up most least superieur superieure "
    "return rate taux yield irr npv eps apr ear pe e r x contracts contract shares years days months part parts action actions "
    "minimale maximale hauteur maxi mini now today would should approx barrel gallon".split()  # noqa: SIM905
)
_QUANTITY = re.compile(
    r"\b(?:combien|quel(?:le)?s? (?:est |sont |a ete |etait |etaient |ont ete )?(?:le |la |les |l )?(?:\w+ ){0,3}?(?:pourcentage|taux|montant|niveau|part|"
    r"proportion|limite|valeur|frais|seuil|nombre|duree|periode|fourchette|commission|performance|rendement|cout|couts)|"
    r"how (?:much|many|long|far|large|big)|what (?:is|was|are|were|would be|will be) (?:the )?(?:\w+ ){0,4}?(?:rate|value|price|amount|"
    r"percentage|return|yield|ratio|number|level|npv|irr|duration|cost))\b|多少|几"
)
_PERCENT_ASKED = re.compile(
    r"%|pourcentage|taux|frais|commission|proportion|performance|rendement|decote|percent|rate|yield|return|irr|apr|ear"
    r"|率|比例|百分|占比|增速|涨幅|跌幅"
)
_MINIMUM = re.compile(
    r"\b(?:ou plus|or more|or longer|or later|au moins|plus d[e ]|superieure?s?|at least|more than|over|above|greater|exceeds?|>)|至少|以上|超过|大于"
)
_SOFT_MINIMUM = re.compile(r"\b(?:ou plus|or more|or longer|au moins|at least)\b|至少|以上")
_MAXIMUM = re.compile(r"\b(?:moins d[e ]|inferieure?s?|less than|below|under|fewer|<)|以下|低于|小于|不足")
_SPELLED = {
    word: str(value)
    for value, names in {
        0: "zero zéro", 2: "two deux", 3: "three trois", 4: "four quatre", 5: "five cinq", 6: "six", 7: "seven sept",
        8: "eight huit", 9: "nine neuf", 10: "ten dix", 11: "eleven onze", 12: "twelve douze", 15: "fifteen quinze",
        20: "twenty vingt", 30: "thirty trente", 50: "fifty cinquante", 99: "ninety-nine",
    }.items()
    for word in names.split()
}  # fmt: skip
_SPELLED_WORD = re.compile(rf"\b(?:{'|'.join(sorted(_SPELLED, key=len, reverse=True))})\b(?![-'’])", re.IGNORECASE)
_ONE_OF = re.compile(r"^\W*(?:one|une?|a single|un seul)\W*$|\bthere is (?:only )?one\b", re.IGNORECASE)


def compare_values(gold: str, answer: str, question: str, *, language: str, unit: str | None) -> Finding | None:
    """Compare an answer with a gold that is numbers; None where words carry the gold.

    >>> compare_values("0.05", "5,00 %", "Quels sont les frais d'entrée ?", language="fr", unit=None).verdict
    True
    >>> compare_values("Price = $984.10", "The price is $948.10", "", language="en", unit=None).verdict
    False
    >>> compare_values("CACEIS Bank", "CACEIS", "", language="fr", unit=None) is None
    True
    """
    gold, answer = _digits(clean(gold)), _digits(clean(answer))
    values = parse_gold_values(gold, language)
    if not values or any(_attached(gold, number) for figure in values for number in figure):
        return None
    core = _core(gold, values)
    years = any(number.role is Role.YEAR for number in find_numbers(gold, language))
    beside_years = years and all(figure[0].role is not Role.YEAR for figure in values)
    asks_quantity = len(core) == 1 and not beside_years and _QUANTITY.search(fold(question)) is not None
    if _words_beside(gold, values, question) and not asks_quantity:
        return None
    numbers = [number for number in find_numbers(answer, language) if not _attached(answer, number)]
    if not numbers:
        return _wordless(values, answer)
    if len(numbers) <= len(core):
        values = core
    if len(values) == 1:
        return _single(gold, values[0], answer, numbers, question, language, unit)
    return _several(gold, values, answer, numbers, question, language, unit)


def _digits(text: str) -> str:
    """Small numbers spelled in words as digits."""
    if _ONE_OF.search(text):
        return "1"
    return _SPELLED_WORD.sub(lambda match: _SPELLED[match[0].lower()], text)


def _attached(text: str, number: Number) -> bool:
    """Whether a number is part of a code or name: J+2, 2019/2088, A0X754, 50-50."""
    before, after = text[max(0, number.start - 1) : number.start], text[number.end : number.end + 2]
    if before.isascii() and (before.isalpha() or before in tuple("/_@#")) and not number.currencies:
        return True
    return bool(re.match(r"[/_@][\w]|[a-z]*@", after)) and not number.unit.dimension


def _core(gold: str, values: Sequence[Sequence[Number]]) -> list[Sequence[Number]]:
    """The figures without those in brackets and without the whole in "3 sur 7"."""
    outer = [
        figure
        for figure in values
        if gold.count("(", 0, figure[0].start) <= gold.count(")", 0, figure[0].start)
        and not re.search(r"\b(?:sur|out of|of)\s*$", gold[: figure[0].start])
    ]
    return outer or list(values)


def _words_beside(gold: str, values: Sequence[Sequence[Number]], question: str) -> list[str]:
    """Content words of the gold that are neither in the question nor mere dressing of a figure."""
    rest = gold
    for figure in values:
        for number in figure:
            rest = rest[: number.start] + " " * (number.end - number.start) + rest[number.end :]
    if "=" in rest:
        rest = re.sub(r"[^=\n;]{0,60}=", " ", rest)
    rest = re.sub(r"\([^()]{0,200}\)|§.", " ", fold(rest))
    tokens = [token for token in content_words(words(rest)) if token not in _FRAME and not token[0].isdigit()]
    tokens = [token for token in tokens if len(token) > 1 or token > "一"]
    return missing_words(tokens, content_words(words(fold(question))))


def _wordless(values: Sequence[Sequence[Number]], answer: str) -> Finding:
    """An answer without any number."""
    if all(figure[0].value == 0 for figure in values):
        if is_none(answer) or states_absence(answer):
            return Finding(True, "none for zero")
        return Finding(None, "no number in the answer")
    if is_abstention(answer) or is_none(answer) or polarity(answer) is not None:
        return Finding(False, "no number in the answer")
    if len(content_words(words(fold(answer)))) <= 8:
        return Finding(False, "no number in the answer")
    return Finding(None, "no number in the answer")


def _single(
    gold: str,
    figure: Sequence[Number],
    answer: str,
    numbers: Sequence[Number],
    question: str,
    language: str,
    unit: str | None,
) -> Finding:
    percent = _percent_asked(question, unit)
    stated = parse_number(answer, language=language)
    if stated is None:
        if len(numbers) > 1 and any(_relation(figure, number, percent) != "other" for number in numbers):
            return Finding(None, "several figures in the answer")
        return Finding(False, "other figures than the gold's")
    relation = _relation(figure, stated, percent)
    if relation in ("same", "rounded"):
        if (bound := _bound(gold, answer, question)) is not None:
            return bound
        return Finding(True, "the gold's value" if relation == "same" else "the gold's value, rounded")
    if any(_relation(figure, number, percent) in ("same", "rounded") for number in numbers if number is not stated):
        others = {_key(number) for number in numbers} - {_key(number) for number in find_numbers(question, language)}
        if len(others) == 1 and len(answer) < 200:
            return Finding(True, "the gold's value beside figures of the question")
        return Finding(None, "the gold's value among others")
    if relation == "near":
        return Finding(None, "near the gold's value")
    if relation == "open":
        return Finding(None, "unit or sign left open")
    return Finding(False, "another value")


def _key(number: Number) -> Fraction:
    return abs(number.written)


def _percent_asked(question: str, unit: str | None) -> bool:
    return bool(unit and parse_unit(unit).dimension == "percent") or _PERCENT_ASKED.search(fold(question)) is not None


def _relation(figure: Sequence[Number], stated: Number, percent: bool) -> str:
    order = ("same", "rounded", "near", "open", "other")
    return min((_pair(gold, stated, percent) for gold in figure), key=order.index)


def _pair(gold: Number, stated: Number, percent: bool) -> str:
    if gold.unit.contradicts(stated.unit):
        return "other"
    best = "other"
    for reading in stated.readings:
        for target, amount in _meanings(gold, stated, reading, percent):
            found = _distance(gold, stated, target, amount)
            if found == "same":
                return found
            if best == "other" or found == "rounded":
                best = found
    return best


def _meanings(gold: Number, stated: Number, reading: Fraction, percent: bool) -> list[tuple[Fraction, Fraction]]:
    """Pairs of gold and stated amount that the writing allows, in base units."""
    factor = stated.unit.factor
    sign = -1 if stated.direction < 0 < reading and gold.written < 0 else 1
    reading *= sign
    pairs = [(gold.value, reading * factor)]
    if gold.unit.bare != stated.unit.bare or gold.percent != stated.percent:
        if stated.unit.bare or (gold.unit.bare and not stated.percent):
            pairs.append((gold.written, reading))
        elif stated.percent and gold.unit.bare and abs(gold.written) >= 2:
            pairs.append((gold.written, reading))
    if gold.unit.bare and stated.unit.bare and percent and abs(gold.written) <= 1:
        pairs.append((gold.written * 100, reading))
    return pairs


def _distance(gold: Number, stated: Number, target: Fraction, amount: Fraction) -> str:
    if target == amount:
        return "same"
    gap = abs(target - amount)
    if not target:
        return "other"
    if gap <= _ROUNDED * abs(target) and gap <= max(_half_step(gold, target), _half_step(stated, amount)):
        return "rounded"
    counts = gold.written.denominator == stated.written.denominator == 1 and abs(gold.written) < 10_000
    return "near" if gap <= _NEAR * abs(target) and not counts else "other"


def _half_step(number: Number, amount: Fraction) -> Fraction:
    """Half a unit of the last place written, where two figures or more are written."""
    written = abs(number.written)
    if not written:
        return Fraction(0)
    match = re.search(r"\d[\d\s.,']*", number.text)
    digits = match[0].rstrip(" .,") if match else ""
    if len(re.sub(r"\D", "", digits).lstrip("0")) < 2:
        return Fraction(0)
    decimals = 0
    while written.denominator != 1 and (written * 10**decimals).denominator != 1 and decimals < 30:
        decimals += 1
    tail = re.search(r"[.,](\d+)$", digits)
    if tail and decimals:
        decimals = max(decimals, len(tail[1]))
    return abs(amount) / written / (2 * 10**decimals)


def _bound(gold: str, answer: str, question: str) -> Finding | None:
    """What a lower or upper bound on one side only changes."""
    gold, answer, question = fold(gold), fold(answer), fold(question)
    at_least, at_most = _MINIMUM.search(gold), _MAXIMUM.search(gold)
    over, under = _MINIMUM.search(answer), _MAXIMUM.search(answer)
    if (at_least and under and not over) or (at_most and over and not under):
        return Finding(False, "the opposite bound")
    soft = _SOFT_MINIMUM.search(gold) or _SOFT_MINIMUM.search(answer)
    if _MINIMUM.search(question) or _MAXIMUM.search(question) or (soft and "minim" in question):
        return None
    if bool(at_least) != bool(over) or bool(at_most) != bool(under):
        return Finding(None, "a bound on one side only")
    return None


def _several(
    gold: str,
    values: Sequence[Sequence[Number]],
    answer: str,
    numbers: Sequence[Number],
    question: str,
    language: str,
    unit: str | None,
) -> Finding:
    """Several values: in the gold's order, or in any order where nothing but values stands there."""
    percent = _percent_asked(question, unit)
    given = [number for number in numbers if number.role is not Role.LABEL] or list(numbers)
    asked = {_key(number) for number in find_numbers(question, language)}

    def fits(figure: Sequence[Number], number: Number) -> bool:
        return _relation(figure, number, percent) in ("same", "rounded")

    unmatched = [figure for figure in values if not any(fits(figure, number) for number in given)]
    foreign = [
        number for number in given if not any(fits(figure, number) for figure in values) and _key(number) not in asked
    ]
    if unmatched:
        if foreign and len(foreign) >= len(unmatched):
            near = any(_relation(figure, number, percent) == "near" for figure in unmatched for number in foreign)
            return Finding(None, "near the gold's values") if near else Finding(False, "other figures than the gold's")
        return Finding(None, "some of the gold's values are missing")
    position, ordered = 0, True
    for figure in values:
        ahead = next((index for index in range(position, len(given)) if fits(figure, given[index])), None)
        if ahead is None:
            ordered = False
            break
        position = ahead + 1
    plain = all(number.role is not Role.LABEL for number in numbers) and _is_plain_list(gold)
    if foreign:
        return Finding(False, "further values beside the gold's") if plain and len(foreign) + len(values) == len(given) else Finding(None, "further figures")
    if ordered:
        return Finding(True, "the gold's values")
    if plain and len(given) == len(values) and not any(number.in_range for figure in values for number in figure):
        return Finding(True, "the gold's values in another order") if _is_plain_list(answer) else Finding(None, "another order")
    return Finding(False, "the gold's values in another order") if len(given) == len(values) == 2 else Finding(None, "another order")


def _is_plain_list(text: str) -> bool:
    return re.search(r"[=:(]", text) is None
