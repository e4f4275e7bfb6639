"""Every number that a text names, with what stands beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import IntEnum
from fractions import Fraction

from ..normalise import narrow
from . import hanzi, signs
from .dates import DateSpan, find_dates
from .lexicon import Lexicon, lexicon
from .separators import read_digits
from .units import BARE, PERCENT, Unit

MAX_NUMBERS = 1000
"""At most so many numbers of a text are looked at (the last ones); bounds the time on garbage."""


class Role(IntEnum):
    """What a number does in its text; the lower, the likelier it is what a question asks for."""

    VALUE = 0
    ASIDE = 1
    """What the answer is compared with, based on or not equal to."""
    YEAR = 2
    LABEL = 3
    """List numbering, table 3, article 8, S&P 500, 10-year, 2nd."""


@dataclass(frozen=True, slots=True)
class Number:
    """One number named by a text.

    Attributes:
        value: in base units: scale words multiplied out, per cent as a fraction of one, cents
            in currency units. From `parse_number` with an item's unit: in that unit.
        text: the stretch of text that names it, sign and unit included.
        start, end: where that stretch lies in the text.
        written: the number as written beside its unit (25 of `25%`), sign included.
        unit: what stands beside it.
        readings: every reading of `written` that the notation leaves open, `written` first.
        role: what the number does in its text.
        direction: -1 or 1 where words say that something fell or rose by this number.
        bound: `<` or `>` where it is given as a limit (`less than`, `au moins`).
        in_range: whether it is one end of a range.
        bracketed: whether it is negative only by standing in brackets, which also can be plain ones.
    """

    value: Fraction
    text: str
    start: int
    end: int
    written: Fraction
    unit: Unit = BARE
    readings: tuple[Fraction, ...] = ()
    role: Role = Role.VALUE
    direction: int = 0
    bound: str = ""
    in_range: bool = False
    bracketed: bool = False

    @property
    def percent(self) -> bool:
        """Whether it is written in per cent, per mille or basis points."""
        return self.unit.dimension == PERCENT

    @property
    def currencies(self) -> frozenset[str]:
        """The ISO 4217 codes that the written currency can mean."""
        return self.unit.currencies

    def __float__(self) -> float:
        return float(self.value)


_LITERAL = re.compile(
    r"(?:\d{1,3}(?:[ '_]\d{3})+(?![\d])|\d+)(?:[.,]\d+)*|(?<![\d.])\.\d+"
    rf"|[{hanzi.NUMERAL_CHARS}]+"
)
_EXPONENT = re.compile(
    r"[eE]([+-]?\d{1,3})(?![\w.])"
    r"|[ ]?[xX×*·⋅][ ]?10[ ]?(?:\^|\*\*)[ ]?(?:\{[ ]?([+−–-]?\d{1,3})[ ]?\}|\(?([+−–-]?\d{1,3})\)?)"
    r"|[ ]?[xX×*·⋅][ ]?10([⁻⁺]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3})"
)
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺", "0123456789-+")
_OVER = re.compile(r"[ ]?[/⁄][ ]?(\d{1,12}(?:[.,]\d+)?)(?![\d/⁄])")
_MIXED = re.compile(r"[ ](\d{1,4})[/⁄](\d{1,4})(?![\d/⁄])")
_VULGAR = {
    "½": (1, 2), "⅓": (1, 3), "⅔": (2, 3), "¼": (1, 4), "¾": (3, 4), "⅕": (1, 5), "⅖": (2, 5), "⅗": (3, 5), "⅘": (4, 5),
    "⅙": (1, 6), "⅚": (5, 6), "⅛": (1, 8), "⅜": (3, 8), "⅝": (5, 8), "⅞": (7, 8),
}  # fmt: skip
_BETWEEN_UNITS = re.compile(r"[ ]?(?:of |de |d'|d’|des )?|-")
_ORDINAL = re.compile(r"(?:st|nd|rd|th|ère|er|re|e|è|ème|eme|ième)(?![a-zà-ÿ])")

_LABEL_WORDS = frozenset(
    ["table", "figure", "fig", "exhibit", "chart", "note", "notes", "page", "pages", "p", "pp", "step", "section", "sections", "article", "articles", "question", "case", "part", "option", "item", "chapter", "eq", "equation", "line", "row", "column", "tier", "appendix", "tableau", "graphique", "figure", "étape", "annexe", "version", "no", "n°", "stoxx", "cac", "sbf", "msci", "nasdaq", "ftse", "russell", "dax", "nikkei", "topix", "csi", "s&p", "ibex", "stage", "phase", "scenario", "problem", "exercise", "ifrs", "ias", "rule", "form", "day", "week", "game", "grade", "sheet", "image", "graph", "panel", "slide", "fy"]
)
_LABEL_ZH = ("第", "图", "表", "沪深", "中证", "上证", "步骤", "附注", "注", "题", "例")
_LABEL_AFTER_ZH = ("季度", "月", "号", "日", "位小数", "年期", "个季度")
_ASIDE = (
    "up from", "down from", "compared to", "compared with", "against", "versus", "vs", "vs.", "rather than", "instead of",
    "not", "than", "from", "contre", "par rapport à", "au lieu de", "plutôt que", "pas", "et non", "based on", "using",
    "given", "with", "assuming", "assumes", "assume", "excluding", "after", "for", "over", "sur", "pendant", "out of",
    "avec", "rounded to", "arrondi à", "within", "not a", "not the", "isn't", "wasn't", "at", "selon", "hors", "assuming a",
    "assumes a", "using a", "with a", "for a", "over a", "using the", "based on a", "n'est pas", "of the", "in", "among",
)  # fmt: skip
_ASIDE_ZH = ("高于", "低于", "而不是", "不是", "相比", "而非", "基于", "假设", "按", "较", "比", "从", "由")
_LESS = (
    "less than", "below", "under", "at most", "up to", "no more than", "not more than", "fewer than", "maximum of", "<", "≤",
    "moins de", "au plus", "jusqu'à", "inférieur à", "inférieure à", "maximum", "不超过", "小于", "低于", "少于", "至多", "不到",
)  # fmt: skip
_MORE = (
    "more than", "greater than", "above", "over", "at least", "no less than", "not less than", "exceeds", "exceeding",
    "minimum of", ">", "≥", "plus de", "au moins", "supérieur à", "supérieure à", "minimum", "超过", "大于", "高于", "多于", "至少", "不少于",
)  # fmt: skip
_HEDGES = re.compile(
    r"(?:about|around|roughly|approximately|approx\.?|circa|environ|~|≈|約|约|大约|大約|近|a|the|some|only)\s*$"
)
_RANGE = re.compile(r"\s*(?:-|–|—|−|~|～|to|à|a|至|到|through)\s*")
_RANGE_AND = re.compile(r"\s*(?:and|et|和|与)\s*")
_RANGE_OPENS = re.compile(r"(?:between|entre|介于|在)\s*[$€£¥]?\s*[+-]?$")
_MOTION = re.compile(
    r"(?:rose|rise[ns]?|increase[ds]?|grew|grown|fell|fallen|falls?|decrease[ds]?|decline[ds]?|dropp?(?:ed|s)?|went|goes|moved|"
    r"climbed|jumped|improved|changed|expanded|narrowed|widened|pass[eé]e?r?|augment\w+|baiss\w+|progress\w+|recul\w+|diminu\w+|"
    r"增长?|增加|上升|下降|减少|提高|降低|升|降|跌|涨)"
)


def lower_in_place(text: str) -> str:
    """Lower case, one character for one character."""
    lower = text.lower()
    return lower if len(lower) == len(text) else "".join(c if len(c.lower()) > 1 else c.lower() for c in text)


def language_code(language: str | None) -> str:
    """The two-letter code of a language given by code, tag or English name; `en` when not given.

    >>> [language_code(name) for name in ("French", "zh-CN", "chinese", None, "de")]
    ['fr', 'zh', 'zh', 'en', 'de']
    """
    if not language:
        return "en"
    name = language.strip().lower()
    return {"english": "en", "french": "fr", "français": "fr", "chinese": "zh", "中文": "zh"}.get(
        name, name[:2]
    )


def find_numbers(text: str, language: str | None = None) -> list[Number]:
    """Every number in a text, in order; what a model's markup or LaTeX hides is not looked for.

    Dates, times and quarters are left out, except their years, which have the role `YEAR`.
    Only the last 1,000 numbers are looked at.

    >>> [(n.text, float(n)) for n in find_numbers("In Q3 2021 sales rose 12% to $5.1 million, from (0.3) billion")]
    [('2021', 2021.0), ('12%', 0.12), ('$5.1 million', 5100000.0), ('(0.3) billion', -300000000.0)]
    """
    return _Finder(text, language_code(language)).numbers()


class _Finder:
    def __init__(self, text: str, language: str) -> None:
        self.original = text
        self.text = narrow(text)
        self.lower = lower_in_place(self.text)
        self.language = language
        self.words: Lexicon = lexicon(language if language in ("fr", "zh") else "en")

    def numbers(self) -> list[Number]:
        literals = list(_LITERAL.finditer(self.text))
        if not literals:
            return []
        if len(literals) > MAX_NUMBERS:
            literals = literals[-MAX_NUMBERS:]
        dates = find_dates(self.text)
        found: list[Number] = []
        done = 0
        upcoming = 0
        for literal in literals:
            start = literal.start()
            while upcoming < len(dates) and dates[upcoming].end <= start:
                upcoming += 1
            if start < done:
                continue
            if upcoming < len(dates) and dates[upcoming].start <= start:
                number = self._year_of(literal, dates[upcoming])
                if number:
                    found.append(number)
                continue
            for number in self._read(literal):
                found.append(number)
                done = max(done, number.end)
        return self._with_ranges(found)

    def _year_of(self, literal: re.Match[str], span: DateSpan) -> Number | None:
        digits = literal[0]
        if len(digits) != 4 or not digits.isdigit() or not "1900" <= digits <= "2100":
            return None
        value = Fraction(int(digits))
        return Number(value, digits, literal.start(), literal.end(), value, readings=(value,), role=Role.YEAR)

    def _read(self, literal: re.Match[str]) -> Iterator[Number]:
        text, start, end = self.text, literal.start(), literal.end()
        body = literal[0]
        if body[0] in hanzi.NUMERAL_CHARS:
            number = self._read_hanzi(body, start)
            if number:
                yield number
            return
        before = text[start - 1] if start else " "
        prefix = BARE
        if (before.isalpha() and before < "\u2e80") or before in "_^#":
            prefix, _ = self.words.before(text, start)
            if prefix is BARE:
                return
        readings = read_digits(body, self.language)
        if not readings:
            if "." not in body:
                yield from self._split(body, start)
            return
        readings, end = self._powers(readings, end)
        yield self._complete(readings, start, end, body)

    def _split(self, body: str, start: int) -> Iterator[Number]:
        """`26,16,6` is three numbers."""
        for part in re.finditer(r"\d+", body):
            yield self._complete(
                (Fraction(int(part[0][:60])),), start + part.start(), start + part.end(), part[0]
            )

    def _powers(self, readings: tuple[Fraction, ...], end: int) -> tuple[tuple[Fraction, ...], int]:
        """Exponent, fraction bar or vulgar fraction after the digits."""
        text = self.text
        if end >= len(text):
            return readings, end
        following = text[end]
        if following in "eExX×*·⋅ ":
            power = _EXPONENT.match(text, end)
            if power:
                digits = (power[1] or power[2] or power[3] or power[4]).translate(_SUPERSCRIPTS)
                exponent = int(digits.replace("−", "-").replace("–", "-"))
                return tuple(value * Fraction(10) ** exponent for value in readings), power.end()
        if following in " /⁄" and readings[0].denominator == 1:
            mixed = _MIXED.match(text, end) if readings[0] < 10000 else None
            if mixed and int(mixed[2]) and int(mixed[1]) < int(mixed[2]):
                return (readings[0] + Fraction(int(mixed[1]), int(mixed[2])),), mixed.end()
        if following in " /⁄":
            over = _OVER.match(text, end)
            if over:
                denominator = read_digits(over[1], self.language)
                if denominator and denominator[0]:
                    return (readings[0] / denominator[0],), over.end()
        if following in _VULGAR and readings[0].denominator == 1:
            return (readings[0] + Fraction(*_VULGAR[following]),), end + 1
        return readings, end

    def _read_hanzi(self, body: str, start: int) -> Number | None:
        text, end = self.text, start + len(body)
        before = text[start - 1] if start else " "
        if before.isdigit() or before == "第":
            return None
        if text.startswith("分之", end):
            return self._parts(body, start, end + 2)
        while body and body[-1] in "点點":
            body, end = body[:-1], end - 1
        value = hanzi.read_hanzi(body)
        if value is None:
            return None
        unit, _ = self.words.after(text, self.lower, end)
        alone = not (before > "\u2e80" and before.isalpha()) and (end >= len(text) or not text[end].isalpha())
        named = unit is not BARE or text.startswith(
            ("倍", "个", "家", "股", "次", "种", "项", "名", "人"), end
        )
        if len(body) == 1 and not (named or alone):
            return None
        if body[0] in "百千万亿点" and not (named or alone):
            return None
        number = self._complete((value,), start, end, body)
        if text.startswith("年", end) and len(body) == 4 and 1900 <= value <= 2100:
            return replace(number, role=Role.YEAR)
        if text.startswith(_LABEL_AFTER_ZH, end):
            return replace(number, role=Role.LABEL)
        return number

    def _parts(self, whole: str, start: int, position: int) -> Number | None:
        """`百分之二十`, `三分之一`: the whole comes first."""
        denominator = hanzi.read_hanzi("一" + whole if whole in ("百", "千", "万") else whole)
        part = _LITERAL.match(self.text, position)
        if not part or not denominator:
            return None
        body = part[0].rstrip("点點")
        value = (
            hanzi.read_hanzi(body)
            if body[:1] in hanzi.NUMERAL_CHARS
            else (read_digits(body, "zh") or (None,))[0]
        )
        if value is None:
            return None
        negative, at = signs.minus_before(self.text, self.lower, start)
        value = -value if negative else value
        start = at if negative else start
        end = position + len(body)
        unit = Unit(size=1 / denominator, dimension=PERCENT) if whole in ("百", "千", "万") else BARE
        written = value if unit is not BARE else value / denominator
        return self._number((written,), unit, start, end)

    def _complete(self, readings: tuple[Fraction, ...], start: int, end: int, body: str) -> Number:
        text, lower = self.text, self.lower
        prefix, start = self._prefix(start)
        negative, at = signs.minus_before(text, lower, start)
        if negative:
            start = at
            if prefix is BARE:
                prefix, start = self._prefix(start)
        elif start and text[start - 1] == "+":
            start -= 1
        bracketed = False
        opened = start and text[start - 1] == "("
        closing = end
        if opened:
            while closing < len(text) and text[closing] == " ":
                closing += 1
            if closing < len(text) and text[closing] == ")":
                bracketed, end = True, closing + 1
                start -= 1
                if prefix is BARE:
                    prefix, start = self._prefix(start)
        unit, end, long_scale = self._suffix(end)
        if opened and not bracketed and end < len(text) and text[end] == ")" and not text[at - 1 : at] == ")":
            bracketed, end, start = True, end + 1, start - 1
        unit = prefix.joined(unit) if prefix is not BARE else unit
        if long_scale:
            readings = (*readings, *(value / 1000 for value in readings))
        if negative or bracketed:
            readings = tuple(-value for value in readings)
        return self._number(readings, unit, start, end, body, bracketed and not negative)

    def _prefix(self, start: int) -> tuple[Unit, int]:
        position = start
        while position and self.text[position - 1] == " ":
            position -= 1
        unit, begin = self.words.before(self.text, position)
        return (unit, begin) if unit is not BARE else (BARE, start)

    def _suffix(self, end: int) -> tuple[Unit, int, bool]:
        """Scale and unit after the digits, where they end, and whether the scale is a long-scale word."""
        text, lower = self.text, self.lower
        unit, long_scale = BARE, False
        for _ in range(4):
            gap = _BETWEEN_UNITS.match(text, end)
            position = gap.end() if gap else end
            found, stop = self.words.after(text, lower, position)
            if found is BARE and position > end + 1:
                position = end + 1 if text[end] == " " else end
                found, stop = self.words.after(text, lower, position)
            if found is BARE or (unit.dimension and found.dimension) or (unit.dimension == PERCENT):
                break
            if unit.scale != 1 and found.scale != 1:
                break
            if self.language == "fr" and found.name.startswith(("billion", "trillion")):
                long_scale = True
            unit, end = unit.joined(found), stop
        return unit, end, long_scale

    def _number(
        self,
        readings: tuple[Fraction, ...],
        unit: Unit,
        start: int,
        end: int,
        body: str = "",
        bracketed: bool = False,
    ) -> Number:
        left = self.lower[max(0, start - 40) : start]
        cut = max(left.rfind("\n"), left.rfind("。"), left.rfind("; "), left.rfind("；"))
        left = left[cut + 1 :]
        right = self.lower[end : end + 24]
        role, bound = self._role(left, right, unit, start, end, body, readings[0])
        return Number(
            value=readings[0] * unit.factor,
            text=self.original[start:end],
            start=start,
            end=end,
            written=readings[0],
            unit=unit,
            readings=readings,
            role=role,
            direction=signs.direction(left, right),
            bound=bound,
            bracketed=bracketed,
        )

    def _role(
        self, left: str, right: str, unit: Unit, start: int, end: int, body: str, value: Fraction
    ) -> tuple[Role, str]:
        left = left.rstrip()
        if unit.bare:
            if (
                right[:1].isalpha()
                and right[0] < "\u2e80"
                and not (right[0] == "x" and not right[1:2].isalnum())
            ):
                return Role.LABEL, ""
            if (
                (right[:1] == "-"
                and right[1:2].isalpha())
                or right.startswith(_LABEL_AFTER_ZH)
                or _ORDINAL.match(right)
            ):
                return Role.LABEL, ""
            if left.endswith(_LABEL_ZH):
                return Role.LABEL, ""
            if len(body) == 4 and "1900" <= body <= "2100" and body.isdigit():
                return (Role.VALUE if left.endswith(("=", "≈")) else Role.YEAR), ""
            word = left.rstrip("°.#:( ").rpartition(" ")[2].lstrip("(")
            if word in _LABEL_WORDS and value.denominator == 1 and not left.endswith(":"):
                return Role.LABEL, ""
        hedge = _HEDGES.search(left)
        plain = left[: hedge.start()].rstrip() if hedge else left
        bound = ">" if self._ends(plain, _MORE) else "<" if self._ends(plain, _LESS) else ""
        if not bound and (self._ends(plain, _ASIDE) or plain.endswith(_ASIDE_ZH)):
            return Role.ASIDE, ""
        return Role.VALUE, bound

    @staticmethod
    def _ends(left: str, phrases: tuple[str, ...]) -> bool:
        if not left.endswith(phrases):
            return False
        return any(
            (left.endswith(phrase) and not left[: -len(phrase)][-1:].isalpha()) or phrase[-1] > "\u2e80"
            for phrase in phrases
            if left.endswith(phrase)
        )

    def _with_ranges(self, found: list[Number]) -> list[Number]:
        for index in range(len(found) - 1):
            first, second = found[index], found[index + 1]
            if second.start - first.end > 9:
                continue
            between = self.lower[first.end : second.start]
            is_range = _RANGE.fullmatch(between) or (
                _RANGE_AND.fullmatch(between)
                and _RANGE_OPENS.search(self.lower[max(0, first.start - 16) : first.start])
            )
            if not is_range or Role.LABEL in (first.role, second.role):
                continue
            left = self.lower[max(0, first.start - 40) : first.start]
            if re.search(r"(?:from|de|从|由)\s*$", left) and _MOTION.search(left):
                found[index] = replace(first, role=Role.ASIDE)
                continue
            if first.role is Role.YEAR or second.role is Role.YEAR:
                continue
            if first.unit.bare and not second.unit.bare:
                first = replace(first, unit=second.unit, value=first.written * second.unit.factor)
            found[index] = replace(first, in_range=True, role=Role.VALUE)
            found[index + 1] = replace(second, in_range=True, role=Role.VALUE)
        return found
