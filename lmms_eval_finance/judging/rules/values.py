"""Golds that are numbers: one value with its alternatives, a range, or several values.

The numbers themselves are read by `lmms_eval_finance.metrics.numbers`. Here an answer is
right if it states the gold's value, rounded at most; wrong if it states another one; and
open where both could be meant: near misses, a bound that only one side has, half a range.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from functools import cached_property

from lmms_eval_finance.judging.rules.findings import Finding
from lmms_eval_finance.judging.rules.lexicon import SPELLED, SYNONYMS, word_set
from lmms_eval_finance.judging.rules.polarity import is_abstention, is_none, polarity, states_absence
from lmms_eval_finance.judging.rules.words import content_words, fold, missing_words, words
from lmms_eval_finance.metrics.numbers import (
    Number,
    Role,
    find_numbers,
    parse_gold_values,
    parse_number,
    parse_unit,
)
from lmms_eval_finance.metrics.numbers.cleaning import clean

__all__ = ["compare_values"]

# A relative difference up to here is rounding, where the last place written allows it (0.83 for 0.8292, not
# 1 for 0.8292), and open otherwise: rounding on the way, or a misread digit. Whole numbers below 10,000
# (years, counts) are not rounded on the way.
_NEAR = Fraction(1, 200)

_MAX_NUMBERS = 60
# What may stand beside a figure without being part of the answer.
_DRESSING = word_set(
    "maximum minimum max min environ about approximately around circa ttc ht par per l an share times units unit "
    "price value montant valeur answer reponse actif net total prix forfaitaire jusqu up most least superieur superieure "
    "return rate taux yield irr npv eps apr ear pe e r x contracts contract shares years days months part parts action actions "
    "less more fewer greater below above under over inferieur inferieure moins plus low high gain loss net "
    "minimale maximale hauteur maxi mini now today would should approx barrel gallon"
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
    r"\b(?:plus d[e ]|superieure?s?|more than|over|above|greater|exceeds?)\b|[>≥]\W*$|超过|大于|高于"
)
_SOFT_MINIMUM = re.compile(r"\b(?:au moins|at least)\b|至少|不低于")
_SOFT_AFTER = re.compile(r"\W*(?:ou plus|or more|or longer|or later|以上)")
_MAXIMUM = re.compile(
    r"\b(?:moins d[e ]|inferieure?s?|less than|below|under|fewer)\b|[<≤]\W*$|低于|小于|不足"
)
_MAXIMUM_AFTER = re.compile(r"\W*(?:ou moins|or less|or fewer|以下)")
_SPELLED_WORD = re.compile(
    rf"\b(?:{'|'.join(sorted(SPELLED, key=len, reverse=True))})\b(?![-'’])", re.IGNORECASE
)
_PERIOD = re.compile(
    r"\b(?:par|per|l|each|chaque|a|/)\s*(an|year|mois|month|jour|day|trimestre|quarter|semaine|week)\b"
)
_ONE_OF = re.compile(r"^\W*(?:one|une?|a single|un seul)\W*$|\bthere is (?:only )?one\b", re.IGNORECASE)


class _Match(IntEnum):
    """How a stated number relates to a gold's: the lower, the nearer."""

    SAME = 0
    ROUNDED = 1
    NEAR = 2
    OTHER = 3

    @property
    def fits(self) -> bool:
        return self <= _Match.ROUNDED


Figure = Sequence[Number]
"""One value of a gold with its alternatives."""


def compare_values(
    gold: str, answer: str, question: str, *, language: str, unit: str | None
) -> Finding | None:
    """Compare an answer with a gold that is numbers; None where words carry the gold.

    >>> compare_values("0.05", "5,00 %", "Quels sont les frais d'entrée ?", language="fr", unit=None).verdict
    True
    >>> compare_values("Price = $984.10", "The price is $948.10", "", language="en", unit=None).verdict
    False
    >>> compare_values("CACEIS Bank", "CACEIS", "", language="fr", unit=None) is None
    True
    """
    gold, answer = _digits(clean(gold)), _digits(clean(answer))
    values: Sequence[Figure] = parse_gold_values(gold, language)
    if not values or any(_attached(gold, number) for figure in values for number in figure):
        return None
    core = _core(gold, values)
    if _words_beside(gold, values, question) and not (
        len(core) == 1 and not _has_other_years(gold, values, language) and _QUANTITY.search(fold(question))
    ):
        return None
    numbers = [number for number in find_numbers(answer, language) if not _attached(answer, number)]
    if max(len(values), len(numbers)) > _MAX_NUMBERS:
        return Finding(None, "too many figures")
    if not numbers:
        return _wordless(values, answer)
    comparison = _Comparison(gold, answer, question, language, unit, numbers)
    if len(numbers) <= len(core):
        values = core
    return comparison.with_one(values[0]) if len(values) == 1 else comparison.with_several(values)


def _digits(text: str) -> str:
    """Small numbers spelled in words as digits."""
    if _ONE_OF.search(text):
        return "1"
    text = re.sub(r"(?<=\d)\s(?:and a half|et demie?)\b", ".5", text)
    return _SPELLED_WORD.sub(lambda match: SPELLED[match[0].lower()], text)


def _attached(text: str, number: Number) -> bool:
    """Whether a number is part of a code or name: J+2, 2019/2088, A0X754."""
    before, after = text[max(0, number.start - 1) : number.start], text[number.end : number.end + 2]
    if before.isascii() and (before.isalpha() or before in tuple("/_@#")) and not number.currencies:
        return True
    return not number.unit.dimension and re.match(r"[/_@]\w|[a-z]*@", after) is not None


def _core(gold: str, values: Sequence[Figure]) -> Sequence[Figure]:
    """The figures that do not stand in brackets; all, if all do."""
    outer = [
        figure
        for figure in values
        if gold.count("(", 0, figure[0].start) <= gold.count(")", 0, figure[0].start)
    ]
    return outer or values


def _has_other_years(gold: str, values: Sequence[Figure], language: str) -> bool:
    """Whether years stand beside values that are none: "2012 à 2021, soit 10 années"."""
    years = any(number.role is Role.YEAR for number in find_numbers(gold, language))
    return years and all(figure[0].role is not Role.YEAR for figure in values)


def _words_beside(gold: str, values: Sequence[Figure], question: str) -> list[str]:
    """Content words of the gold that are neither in the question nor mere dressing of a figure."""
    rest = list(gold)
    for figure in values:
        for number in figure:
            rest[number.start : number.end] = " " * (number.end - number.start)
    text = "".join(rest)
    if "=" in text:
        text = re.sub(r"[^=\n;]{0,60}=", " ", text)
    tokens = content_words(words(re.sub(r"\([^()]{0,200}\)", " ", fold(text))))
    tokens = [token for token in tokens if token not in _DRESSING and not token[0].isdigit()]
    if "=" in gold:  # E(r_X) = 20%
        tokens = [token for token in tokens if len(token) > 1]
    return missing_words(tokens, content_words(words(fold(question))))


def _wordless(values: Sequence[Figure], answer: str) -> Finding:
    """An answer without any number."""
    if all(figure[0].value == 0 for figure in values):
        absent = is_none(answer) or states_absence(answer)
        return Finding(True, "none for zero") if absent else Finding(None, "no number in the answer")
    declined = is_abstention(answer) or is_none(answer) or polarity(answer) is not None
    if declined or len(content_words(words(fold(answer)))) <= 8:
        return Finding(False, "no number in the answer")
    return Finding(None, "no number in the answer")


@dataclass(frozen=True)
class _Comparison:
    """An answer's numbers against the values of a gold."""

    gold: str
    answer: str
    question: str
    language: str
    unit: str | None
    numbers: Sequence[Number]

    @cached_property
    def percent(self) -> bool:
        """Whether a percentage is asked for."""
        if self.unit and parse_unit(self.unit).dimension == "percent":
            return True
        return _PERCENT_ASKED.search(fold(self.question)) is not None

    @cached_property
    def asked(self) -> set[Fraction]:
        """The amounts that the question names, without their signs."""
        return {abs(number.written) for number in find_numbers(self.question, self.language)}

    def match(self, figure: Figure, number: Number) -> _Match:
        return min(_match(gold, number, self.percent) for gold in figure)

    def foreign(self, figures: Sequence[Figure], numbers: Sequence[Number]) -> list[Number]:
        """Numbers that neither gold nor question has."""
        return [
            number
            for number in numbers
            if abs(number.written) not in self.asked
            and not any(self.match(figure, number).fits for figure in figures)
        ]

    def with_one(self, figure: Figure) -> Finding:
        stated = parse_number(self.answer, language=self.language)
        if stated is None:
            if any(self.match(figure, number) < _Match.OTHER for number in self.numbers):
                return Finding(None, "several figures in the answer")
            return Finding(False, "other figures than the gold's")
        match = self.match(figure, stated)
        if match.fits:
            return self._details(figure, stated) or Finding(
                True, "the gold's value" if match is _Match.SAME else "the gold's value, rounded"
            )
        if any(self.match(figure, number).fits for number in self.numbers):
            alone = len({abs(number.written) for number in self.numbers} - self.asked) == 1
            if alone and len(self.answer) < 200:
                return Finding(True, "the gold's value beside figures of the question")
            return Finding(None, "the gold's value among others")
        if match is _Match.NEAR:
            return Finding(None, "near the gold's value")
        if stated.unit.bare and any(
            gold.unit.bare and gold.written * 100 == stated.written for gold in figure
        ):
            return Finding(None, "percentage or fraction")
        return Finding(False, "another value")

    def _details(self, figure: Figure, stated: Number) -> Finding | None:
        """What stands beside the right value and makes it wrong or open: period, further figures, bound."""
        if _other_period(self.gold, self.answer):
            return Finding(False, "the gold's value for another period")
        asides = [
            [number]
            for number in find_numbers(self.gold, self.language)
            if not any(number.start == own.start for own in figure)
        ]
        lost = [
            aside for aside in asides if not any(self.match(aside, number).fits for number in self.numbers)
        ]
        if lost and self.foreign([figure, *asides], self.numbers):
            return Finding(False, "other figures beside the gold's value")
        return _compare_bounds(_bounds(self.gold, figure[0]), _bounds(self.answer, stated), self.question)

    def with_several(self, values: Sequence[Figure]) -> Finding:
        """Several values: in the gold's order, by their names, or in any order of a plain list."""
        given = [number for number in self.numbers if number.role is not Role.LABEL] or self.numbers
        unmatched = [
            figure for figure in values if not any(self.match(figure, number).fits for number in given)
        ]
        foreign = self.foreign(values, given)
        if unmatched:
            if len(foreign) < len(unmatched):
                return Finding(None, "some of the gold's values are missing")
            if any(self.match(figure, number) is _Match.NEAR for figure in unmatched for number in foreign):
                return Finding(None, "near the gold's values")
            return Finding(False, "other figures than the gold's")
        plain = len(given) == len(self.numbers) and _is_plain_list(self.gold)
        if foreign:
            if plain and len(foreign) + len(values) == len(given):
                return Finding(False, "further values beside the gold's")
            return Finding(None, "further figures")
        if self._in_order(values, given):
            return Finding(True, "the gold's values")
        if (named := self._by_name(values, given)) is not None:
            return named
        ranges = any(number.in_range for figure in values for number in figure)
        if plain and len(given) == len(values) and not ranges and _is_plain_list(self.answer):
            return Finding(True, "the gold's values in another order")
        return Finding(None, "the gold's values in another order")

    def _in_order(self, values: Sequence[Figure], given: Sequence[Number]) -> bool:
        left = iter(given)
        return all(any(self.match(figure, number).fits for number in left) for figure in values)

    def _by_name(self, values: Sequence[Figure], given: Sequence[Number]) -> Finding | None:
        """Values that carry names on both sides ("X: 20%"), whatever their order; None without names."""
        wanted = _names(self.gold, [figure[0] for figure in values])
        stated = _names(self.answer, given)
        if "" in wanted or len(set(wanted)) < len(wanted) or not set(wanted) <= set(stated):
            return None
        pairs = dict(zip(stated, given, strict=True))
        same = all(self.match(figure, pairs[name]).fits for name, figure in zip(wanted, values, strict=True))
        return Finding(same, "the gold's values by their names")


def _match(gold: Number, stated: Number, percent: bool) -> _Match:
    if gold.unit.contradicts(stated.unit):
        return _Match.OTHER
    return min(
        _distance(gold, stated, target, amount)
        for reading in stated.readings
        for target, amount in _meanings(gold, stated, reading, percent)
    )


def _meanings(
    gold: Number, stated: Number, reading: Fraction, percent: bool
) -> list[tuple[Fraction, Fraction]]:
    """Pairs of gold and stated amount that the writing allows, in base units."""
    if stated.direction < 0 < reading and gold.written < 0:  # "a loss of $5" for -$5
        reading = -reading
    pairs = [(gold.value, reading * stated.unit.factor)]
    if share := re.match(r"\s*(\d{1,2})\s*/\s*\d{1,2}$", stated.text):  # "6/7" for "6", as on a scale
        pairs.append((gold.written, Fraction(share[1])))
    bare_gold, bare_answer = gold.unit.bare, stated.unit.bare
    # A unit on one side only: the written figures may be meant alike. A fraction is no percentage, though.
    if bare_answer != bare_gold and (bare_answer or not stated.percent or abs(gold.written) >= 2):
        pairs.append((gold.written, reading))
    if bare_gold and bare_answer and percent and abs(gold.written) <= 1:
        pairs.append((gold.written * 100, reading))
    return pairs


def _distance(gold: Number, stated: Number, target: Fraction, amount: Fraction) -> _Match:
    gap = abs(target - amount)
    if not gap:
        return _Match.SAME
    if gap > _NEAR * abs(target):
        return _Match.OTHER
    if gap <= max(_half_step(gold, target), _half_step(stated, amount)):
        return _Match.ROUNDED
    whole = gold.written.denominator == stated.written.denominator == 1
    return _Match.OTHER if whole and abs(gold.written) < 10_000 else _Match.NEAR


def _half_step(number: Number, amount: Fraction) -> Fraction:
    """Half a unit of the last place written, where two figures or more are written; else 0."""
    match = re.search(r"\d[\d\s.,']*", number.text)
    digits = match[0].rstrip(" .,'") if match else ""
    if not number.written or len(re.sub(r"\D", "", digits).lstrip("0")) < 2:
        return Fraction(0)
    tail = re.search(r"[.,](\d+)$", digits)
    decimals = len(tail[1]) if tail and number.written.denominator != 1 else 0
    return Fraction(abs(amount) / abs(number.written) / (2 * 10**decimals))


def _bounds(text: str, number: Number) -> set[str]:
    """The bounds that the words beside a number set: ">", "<", and "soft" for "at least" and "or more"."""
    before = fold(text[max(0, number.start - 30) : number.start])
    after = fold(text[number.end : number.end + 15])
    found = {"<"} if _MAXIMUM.search(before) or _MAXIMUM_AFTER.match(after) else set()
    if _MINIMUM.search(before):
        found.add(">")
    if _SOFT_MINIMUM.search(before) or _SOFT_AFTER.match(after):
        found |= {">", "soft"}
    return found


def _compare_bounds(gold: set[str], answer: set[str], question: str) -> Finding | None:
    """What a lower or upper bound on one side only changes."""
    if (">" in gold and "<" in answer) or ("<" in gold and ">" in answer):
        return Finding(False, "the opposite bound")
    question = fold(question)
    asked = _MINIMUM.search(question) or _MAXIMUM.search(question)
    if asked or ("soft" in gold | answer and "minim" in question):
        return None
    return Finding(None, "a bound on one side only") if (gold ^ answer) & {"<", ">"} else None


def _other_period(gold: str, answer: str) -> bool:
    """Whether both name a period (per year, par mois) and it is not the same."""
    wanted, given = (
        {SYNONYMS.get(word, word) for word in _PERIOD.findall(fold(text))} for text in (gold, answer)
    )
    return bool(wanted) and bool(given) and not wanted & given


def _names(text: str, numbers: Sequence[Number]) -> list[str]:
    """The last word or letter before each number, back to the number before it."""
    names, position = [], 0
    for number in numbers:
        tokens = words(fold(text[position : number.start]))
        spelled = [token.removeprefix("§") for token in tokens if token[0].isalpha() or token[0] == "§"]
        names.append(spelled[-1] if spelled else "")
        position = number.end
    return names


def _is_plain_list(text: str) -> bool:
    return re.search(r"[=:(]", text) is None
