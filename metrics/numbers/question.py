"""What a question and its unit ask for: unit, scale, sign, year."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache

from ..normalise import lower_in_place, narrow
from .language import language_code
from .lexicon import lexicon
from .number import Number
from .roles import Role
from .units import BARE, ONE, PERCENT, Unit

_MAX_UNIT = 100
_MAX_CONTEXT = 4000
_PER = re.compile(r"/|per\b|par\b|每")
_YEAR_UNITS = frozenset(("year", "calendar year", "année", "annee", "年", "年份", "fiscal year", "exercice"))
_YEAR_ASKED = re.compile(
    r"\b(?:which|what|in what) (?:fiscal |calendar )?year\b|quelle (?:est l')?année|哪一?年|何年|\byear of\b"
)
_NO_UNIT = frozenset(
    ("", "-", "/", "none", "n/a", "na", "null", "nan", "no unit", "unitless", "sans unité", "无", "无单位")
)
_IN_SCALE = re.compile(
    r"\b(?:in|en|how many|combien de|expressed in|stated in)\s+(?:us |u\.s\. )?(?:usd |eur |\$ ?|€ ?|rmb |cny |dollars? )?(?:of )?"
    r"(thousands?|millions?|billions?|trillions?|milliers|milliards|k€|m€|md€|mn|bn)\b"
    r"|(?:单位|以|多少)[:：为]?\s*(百万|千万|亿|万亿|万|千)"
)
_IN_PERCENT = re.compile(
    r"\b(?:in|as a|en|as) (?:%|percent|per cent|percentage|pourcentage|pour cent)|\(%\)|\(in %\)|百分之(?:几|多少)|百分比|"
    r"\b(?:what|which) percentage\b|quel pourcentage"
)
_FALLING = (
    r"fall|fell|fallen|falling|decline[ds]?|declining|decrease[ds]?|decreasing|drop(?:ped|s)?|lose|lost|losses|loss|shrink|shrank|shrunk"
    r"|contract(?:ed|ion)|reduced?|reduction|deficit|drawdown|down|write-?(?:down|off)"
    r"|baiss\w*|diminu\w*|recul\w*|chut\w*|pertes?|perd\w*|repli|déficit"
)
_FALL = re.compile(rf"\b(?:{_FALLING})\b|下降|下跌|减少|亏损|下滑|降低|(?<!涨)跌幅|降幅|跌了|回撤|赤字")
_HOW_MUCH = re.compile(
    rf"\bhow (?:much|far|many|big|large)\b[^?.]{{0,80}}\b(?:{_FALLING})\b|\bde combien\b[^?.]{{0,80}}\b(?:{_FALLING})\b"
    rf"|\b(?:size|amount|magnitude|extent|montant|ampleur|importance) (?:of|de|du|des) (?:[\w'-]+ ){{0,3}}(?:{_FALLING})\b"
    r"|(?:下降|下跌|减少|亏损|下滑|降低|跌)了?(?:多少|几|百分之)|(?<!涨)跌幅|降幅|亏损额|亏损金额"
)
# What has a sign of its own: a fall is then a negative answer.
_SIGNED = re.compile(
    r"income|profit|gain|earnings|ebit|eps\b|growth|grow|chang|return|perform|flow|balance|npv|net present value|cash flow|surplus|variation|évolution"
    r"|résultat|bénéfice|croissance|rendement|solde|收益|利润|盈亏|损益|增长|增速|同比|环比|变动|变化|回报|涨跌|业绩"
)


_RATING = re.compile(
    r"\b(?:niveau|risque|risk|level|rating|score|note|échelle|scale|indicateur|indicator|s?rri|sri|catégorie|category|class)\b|等级|评级|评分"
)


@dataclass(frozen=True)
class Asked:
    """What is asked for.

    Attributes:
        unit: the item's unit, or the gold's where none is given.
        given: whether the unit is the item's own.
        scale: a scale that the question names (`in millions`); 1 where it names none.
        percent: whether the question asks for a percentage.
        year: whether a calendar year is asked for.
        fall: whether the magnitude of a fall or loss is asked for, so that its sign is open.
        signed: whether a quantity with a sign of its own is asked for (an income, a change).
        rating: whether a step of a scale is asked for (`4/7` is then 4).
    """

    unit: Unit = BARE
    given: bool = False
    scale: Fraction = ONE
    percent: bool = False
    year: bool = False
    fall: bool = False
    signed: bool = False
    rating: bool = False

    def with_gold(self, gold: Number) -> Asked:
        """The same, with what the gold answer tells where the item names no unit."""
        asked = self
        if gold.role is Role.YEAR and not self.unit.dimension and not self.given:
            asked = replace(asked, year=True)
        if not self.given and gold.unit.dimension:
            asked = replace(asked, unit=replace(gold.unit, scale=ONE))
        return asked


@lru_cache(maxsize=256)
def parse_unit(unit: str | None, language: str | None = None) -> Unit:
    """The unit that a data set names for an item.

    >>> parse_unit("USD million").factor, parse_unit("亿元").factor, parse_unit("%").factor
    (Fraction(1000000, 1), Fraction(100000000, 1), Fraction(1, 100))
    """
    if not unit or not unit.strip():
        return BARE
    text = narrow(unit[:_MAX_UNIT]).strip()
    lower = lower_in_place(text)
    words = lexicon(language_code(language))
    result, position = BARE, 0
    while position < len(text):
        found, end = words.after(text, lower, position)
        if found is not BARE:
            compatible = not (result.dimension and found.dimension) and not (
                result.scale != 1 and found.scale != 1
            )
            result = result.joined(found) if compatible else result
        elif _PER.match(lower, position) and result is not BARE:
            break
        position = max(end, position + 1)
    return result


def asked_for(unit: str | None, context: str | None, language: str | None) -> Asked:
    """What an item's unit and its question ask for."""
    name = narrow(unit or "").strip().lower()
    if name in _NO_UNIT:
        unit = None
    known = parse_unit(unit, language)
    is_year = name in _YEAR_UNITS
    own, given = BARE if is_year else known, unit is not None
    if not context:
        return Asked(unit=own, given=given, year=is_year)
    question = lower_in_place(narrow(context[-_MAX_CONTEXT:]))
    scale = _IN_SCALE.search(question)
    fall = bool(_HOW_MUCH.search(question) or (_FALL.search(question) and not _SIGNED.search(question)))
    factor = ONE
    if scale and known.scale == 1:
        word = scale[1] or scale[2]
        factor = lexicon(language_code(language)).after(word, word, 0)[0].scale
    return Asked(
        unit=own,
        given=given,
        scale=factor,
        percent=known.dimension == PERCENT or bool(_IN_PERCENT.search(question)),
        year=is_year or (not given and bool(_YEAR_ASKED.search(question))),
        fall=fall,
        signed=not fall and bool(_SIGNED.search(question)),
        rating=bool(_RATING.search(question)),
    )
