"""The words and signs beside numbers, matched at a place in a text."""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from functools import lru_cache

from . import currency
from .scales import scales
from .units import BARE, MONEY, PERCENT, Unit

_PERCENTS = {
    Fraction(
        1, 100
    ): r"%|\%|percent|per cent|per-cent|percents|pct|pct.|percentage points|percentage point|percentage|"
    "percent points|%-points|pp|pps|ppt|ppts|p.p.|pp.|pour cent|pour-cent|pourcent|pourcents|p. cent|p.cent|p.c.|"
    "points de pourcentage|point de pourcentage|points de %|个百分点|個百分點|百分点|百分點|pts de pourcentage|pt de %",
    Fraction(
        1, 10000
    ): "bp|bps|bp.|bps.|b.p.|basis points|basis point|basis pts|basis-points|bips|points de base|"
    "point de base|pdb|pb|个基点|個基點|基点|基點|个bp|‱",
    Fraction(1, 1000): "‰|permille|per mille|per mil|permil|pour mille|p. mille|千分点",
    Fraction(1, 10): "成",
}
# Units of one dimension convert into each other.
_MEASURES = {
    "months": {
        1: "month months mois 个月 个月份 mo mos",
        3: "quarter quarters trimestre trimestres 个季度",
        12: "year years yr yrs yr. yrs. an ans année années 年 年期",
    },
    "days": {1: "day days jour jours 天 日", 7: "week weeks semaine semaines 周 星期 个星期"},
    "watts": {1: "w 瓦", 10**3: "kw 千瓦", 10**6: "mw 兆瓦", 10**9: "gw 吉瓦"},
    "watt-hours": {1: "wh", 10**3: "kwh 千瓦时 度", 10**6: "mwh", 10**9: "gwh", 10**12: "twh"},
    "grams": {
        1: "g gram grams gramme grammes 克",
        10**3: "kg 千克 公斤",
        10**6: "t tonne tonnes ton tons mt 吨 噸",
    },
}
# A character after 成 with which it forms another word.
_AFTER_CHENG = frozenset("本长長交为為立分功果员員绩績年就品熟色都")


class Lexicon:
    """Longest match of a known word at a position; words in lower case, signs with their case."""

    def __init__(self, lowered: dict[str, Unit], cased: dict[str, Unit]) -> None:
        self._lowered = self._by_first(lowered)
        self._cased = self._by_first(cased)
        self._cased_by_last = self._by_first({sign[::-1]: unit for sign, unit in cased.items()})

    @staticmethod
    def _by_first(table: dict[str, Unit]) -> dict[str, list[tuple[str, Unit]]]:
        grouped: defaultdict[str, list[tuple[str, Unit]]] = defaultdict(list)
        for word in sorted(table, key=len, reverse=True):
            grouped[word[0]].append((word, table[word]))
        return dict(grouped)

    def after(self, text: str, lower: str, position: int) -> tuple[Unit, int]:
        """The word at `position` and where it ends; `BARE` and `position` when there is none."""
        best, best_end = BARE, position
        if position >= len(text):
            return best, best_end
        for source, table in ((text, self._cased), (lower, self._lowered)):
            for word, unit in table.get(source[position], ()):
                end = position + len(word)
                if end <= best_end:
                    break
                if source.startswith(word, position) and self._ends_word(text, lower, end, word):
                    best, best_end = unit, end
                    break
        return best, best_end

    def _ends_word(self, text: str, lower: str, end: int, word: str) -> bool:
        if end >= len(text):
            return True
        following = text[end]
        if word == "成":
            return following not in _AFTER_CHENG
        if not (following.isalnum() or following == "_") or not word[-1].isalnum() or word[-1] > "\u2e80":
            return True
        if following > "\u2e80":
            return True
        # M$, k€, MUSD, EURm: two words without a blank
        if following.isdigit():
            return False
        return any(
            source.startswith(other, end) and not text[end + len(other) : end + len(other) + 1].isalnum()
            for source, table in ((text, self._cased), (lower, self._lowered))
            for other, unit in table.get(source[end], ())
            if unit.dimension == MONEY or (len(word) == 3 and unit.scale > 1 and len(other) < 4)
        )

    def before(self, text: str, end: int) -> tuple[Unit, int]:
        """The currency sign or code that ends at `end` and where it starts; `BARE` and `end` when none does."""
        if end <= 0:
            return BARE, end
        for word, unit in self._cased_by_last.get(text[end - 1], ()):
            start = end - len(word)
            if start >= 0 and text.startswith(word[::-1], start):
                before = text[start - 1] if start else " "
                if not (word[-1].isalpha() and before.isalpha() and before < "\u2e80"):
                    return unit, start
        return BARE, end


@lru_cache(maxsize=8)
def lexicon(language: str) -> Lexicon:
    """The lexicon for text in `en`, `fr` or `zh`; it knows the words of all three."""
    lowered: dict[str, Unit] = {}
    for word, codes in currency.words().items():
        lowered[word] = Unit(dimension=MONEY, currencies=codes)
    for word, codes in currency.cents().items():
        if word != "cent" or language == "en":
            lowered[word] = Unit(size=Fraction(1, 100), dimension=MONEY, currencies=codes)
    for dimension, sizes in _MEASURES.items():
        for size, words in sizes.items():
            lowered.update(dict.fromkeys(words.split(), Unit(size=Fraction(size), dimension=dimension)))
    for word, factor in scales(language).items():
        lowered[word] = Unit(scale=factor, name=word)
    for size, words in _PERCENTS.items():
        lowered.update(dict.fromkeys(words.split("|"), Unit(size=size, dimension=PERCENT)))
    cased = {
        sign: Unit(dimension=MONEY, currencies=codes, symbolic=True)
        for sign, codes in currency.signs().items()
    }
    cased["T"] = Unit(scale=Fraction(10**12))
    return Lexicon(lowered, cased)
