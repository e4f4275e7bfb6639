"""The words and signs that stand beside numbers, matched at a place in a text."""

from __future__ import annotations

import re
from collections import defaultdict
from fractions import Fraction
from functools import lru_cache

from . import currency
from .scales import scale_words
from .units import BARE, MONEY, PERCENT, Unit

_PERCENTS = {
    Fraction(1, 100): r"%|\%|percent|per cent|per-cent|percents|pct|percentage points|percentage point|percentage|percentages|百分比|"
    "percent points|pp|pps|ppt|ppts|p.p.|pour cent|pour-cent|pourcent|pourcents|p. cent|p.cent|"
    "points de pourcentage|point de pourcentage|points de %|pts de pourcentage|pt de pourcentage|个百分点|個百分點|百分点|百分點",
    Fraction(1, 10000): "bp|bps|b.p.|b.p.s.|basis points|basis point|basis pts|basis-points|bips|points de base|"
    "point de base|pdb|pb|个基点|個基點|基点|基點|个bp|‱",
    Fraction(1, 1000): "‰|permille|per mille|per mil|permil|pour mille|个千分点|千分点",
    Fraction(1, 10): "成",
}  # fmt: skip
# Units of one dimension convert into each other.
_MEASURES: dict[str, dict[int, str]] = {
    "months": {
        1: "month months mois mo mos 个月 个月份",
        3: "quarter quarters trimestre trimestres 个季度",
        12: "year years yr yrs y an ans année années 年",
    },
    "days": {1: "day days jour jours 天 日", 7: "week weeks wk wks semaine semaines 周 个星期 星期"},
    "watts": {1: "w", 10**3: "kw 千瓦", 10**6: "mw 兆瓦", 10**9: "gw 吉瓦"},
    "watt-hours": {
        1: "wh",
        10**3: "kwh 千瓦时",
        10**6: "mwh 兆瓦时",
        10**9: "gwh 吉瓦时",
        10**12: "twh 太瓦时",
    },
    "grams": {
        1: "g gram grams gramme grammes 克",
        10**3: "kg 千克 公斤",
        10**6: "t tonne tonnes ton tons 吨 噸",
    },
}
# A character after 成 (a tenth) with which it forms another word.
_AFTER_TENTH = frozenset("本长長交为為立分功果员員绩績年就品熟色都")

_WORD = re.compile(r"[a-zà-öø-ÿœ]+")
_CODE = re.compile(r"[A-Za-z]{2,4}$")
_IDEOGRAPHS = "\u2e80"
_LONGEST_CHINESE = 7
_LONGEST_SIGN = 4


class Lexicon:
    """Longest match of a known word at a position; words in any case, currency codes as written."""

    def __init__(self, words: dict[str, Unit], signs: dict[str, Unit]) -> None:
        self._signs = signs
        self._sign_starts = frozenset(sign[0] for sign in (*signs, *words))
        self._words = words
        self._phrases: dict[str, list[str]] = defaultdict(list)
        for phrase in sorted(words, key=len, reverse=True):
            first = _WORD.match(phrase)
            if first and first[0] != phrase:
                self._phrases[first[0]].append(phrase)

    def after(self, text: str, lower: str, position: int) -> tuple[Unit, int]:
        """The word at `position` and where it ends; `BARE` and `position` when there is none."""
        if position >= len(text):
            return BARE, position
        first = lower[position]
        if first >= _IDEOGRAPHS:
            return self._chinese(lower, position)
        word = _WORD.match(lower, position)
        if word is None:
            return self._sign(text, lower, position)
        for phrase in self._phrases.get(word[0], ()):
            end = position + len(phrase)
            if lower.startswith(phrase, position) and not (phrase[-1].isalpha() and _letter(lower, end)):
                return self._words[phrase], end
        with_sign = self._signs.get(text[position : word.end() + 1])
        if with_sign is not None:  # HK$
            return with_sign, word.end() + 1
        return self._latin(text[position : word.end()], word[0]), word.end()

    def _latin(self, written: str, word: str) -> Unit:
        unit = self._signs.get(written) or self._words.get(word)
        if unit is not None:
            return unit
        # MEUR, mUSD, EURm, USDbn
        for cut in (1, 2):
            scale, code = self._words.get(word[:cut]), self._signs.get(written[cut:].upper())
            if scale and code and scale.scale > 1 and len(word) - cut == 3:
                return scale.joined(code)
        scale, code = self._words.get(word[3:]), self._signs.get(written[:3].upper())
        if scale and code and scale.scale > 1 and len(word) < 6:
            return scale.joined(code)
        return BARE

    def _chinese(self, lower: str, position: int) -> tuple[Unit, int]:
        for length in range(_LONGEST_CHINESE, 0, -1):
            end = position + length
            unit = self._words.get(lower[position:end])
            if unit is not None and end <= len(lower):
                if lower[position] == "成" and lower[end : end + 1] in _AFTER_TENTH:
                    break
                return unit, end
        return BARE, position

    def _sign(self, text: str, lower: str, position: int) -> tuple[Unit, int]:
        first = text[position]
        if first == "%":
            end = position + 1
            if lower.startswith(("-point", " point"), end):
                end += 6 + lower.startswith("s", end + 6)
            return self._words["%"], end
        if first not in self._sign_starts:
            return BARE, position
        for length in range(_LONGEST_SIGN, 0, -1):
            written = text[position : position + length]
            unit = self._signs.get(written) or self._words.get(written.lower())
            if unit is not None and not (written[-1].isalpha() and _letter(lower, position + length)):
                return unit, position + len(written)
        return BARE, position

    def before(self, text: str, end: int) -> tuple[Unit, int]:
        """The currency sign or code that ends at `end` and where it starts; `BARE` and `end` when none does."""
        if end <= 0:
            return BARE, end
        last = text[end - 1]
        if last.isalpha() and last < _IDEOGRAPHS:
            code = _CODE.search(text, max(0, end - 5), end)
            if code is None or (
                code.start() and text[code.start() - 1].isalpha() and text[code.start() - 1] < "\u0250"
            ):
                return BARE, end
            unit = self._signs.get(code[0]) or (
                self._latin(code[0], code[0].lower()) if len(code[0]) == 4 else None
            )
            if unit is None or unit.dimension != MONEY:
                return BARE, end
            return unit, code.start()
        for length in range(min(_LONGEST_SIGN, end), 0, -1):
            unit = self._signs.get(text[end - length : end])
            if unit is not None:
                return unit, end - length
        return BARE, end


def _letter(lower: str, position: int) -> bool:
    return position < len(lower) and lower[position] < _IDEOGRAPHS and lower[position].isalpha()


def lexicon(language: str) -> Lexicon:
    """The lexicon for text in a language; it knows the words of English, French and Chinese."""
    return _french() if language == "fr" else _common()


@lru_cache(maxsize=1)
def _common() -> Lexicon:
    return _build("en")


@lru_cache(maxsize=1)
def _french() -> Lexicon:
    return _build("fr")


def _build(language: str) -> Lexicon:
    words: dict[str, Unit] = {}
    for word, codes in currency.names().items():
        words[word] = Unit(dimension=MONEY, currencies=codes)
    for word, codes in currency.cents().items():
        if word != "cent" or language != "fr":
            words[word] = Unit(size=Fraction(1, 100), dimension=MONEY, currencies=codes)
    for dimension, sizes in _MEASURES.items():
        for size, names in sizes.items():
            words.update(dict.fromkeys(names.split(), Unit(size=Fraction(size), dimension=dimension)))
    words.update(scale_words(language))
    for share, names in _PERCENTS.items():
        words.update(dict.fromkeys(names.split("|"), Unit(size=share, dimension=PERCENT)))
    signs = {
        sign: Unit(dimension=MONEY, currencies=codes, symbolic=True)
        for sign, codes in currency.signs().items()
    }
    signs["T"] = Unit(scale=Fraction(10**12))
    return Lexicon(words, signs)
