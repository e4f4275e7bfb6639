"""Numbers spelled out in English and French."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice

from . import hanzi

_SMALL = {
    word: value
    for value, words in enumerate(
        (
            "zero zéro nil", "one un une", "two deux", "three trois", "four quatre", "five cinq", "six", "seven sept",
            "eight huit", "nine neuf", "ten dix", "eleven onze", "twelve douze", "thirteen treize", "fourteen quatorze",
            "fifteen quinze", "sixteen seize", "seventeen", "eighteen", "nineteen", "twenty vingt vingts",
        )
    )
    for word in words.split()
}  # fmt: skip
_TENS = {
    "thirty": 30, "trente": 30, "forty": 40, "quarante": 40, "fifty": 50, "cinquante": 50, "sixty": 60, "soixante": 60,
    "seventy": 70, "septante": 70, "eighty": 80, "octante": 80, "huitante": 80, "ninety": 90, "nonante": 90,
}  # fmt: skip
_MULTIPLIERS = {
    "thousand": 10**3, "mille": 10**3, "million": 10**6, "millions": 10**6, "milliard": 10**9, "milliards": 10**9,
    "billion": 10**9, "billions": 10**9, "trillion": 10**12,
}  # fmt: skip
_HUNDREDS = frozenset(("hundred", "cent", "cents"))
_SHARES = {
    phrase: share
    for share, phrases in {
        (1, 2): "half|one half|one-half|a half|la moitié|un demi",
        (1, 3): "one third|one-third|a third|un tiers",
        (2, 3): "two thirds|two-thirds|deux tiers",
        (1, 4): "one quarter|one-quarter|a quarter|one fourth|un quart",
        (3, 4): "three quarters|three-quarters|three fourths|trois quarts",
        (1, 5): "one fifth|one-fifth|a fifth|un cinquième",
    }.items()
    for phrase in phrases.split("|")
}
_CHINESE = frozenset(hanzi.NUMERAL_CHARS)
_FEW_WORDS = 3
_LONGEST_SHORT_TEXT = 60
_MOST = 200
_ARTICLES = frozenset(("one", "un", "une"))

# Where nothing is charged or left, the number is zero.
_CHARGES = r"(?:fees?|charges?|costs?|commissions?|tax(?:es)?|frais|coûts?|droits?|taxes?|prélèvements?)"
_NOTHING = re.compile(
    rf"\bno (?:(?:entry|exit|management|performance) )?{_CHARGES}\b|\bnot charged? (?:any )?{_CHARGES}\b|\bnil\b|\bnéant\b"
    rf"|\bpas (?:de |d'aucun )?{_CHARGES}\b|\baucune?s? {_CHARGES}\b|^(?:aucune?|无|没有)[.。]?$|无费用|没有费用|不收取"
)

_ANY = "|".join(sorted((*_SMALL, *_TENS, *_MULTIPLIERS, *_HUNDREDS), key=len, reverse=True))
_SHARE = "|".join(sorted(_SHARES, key=len, reverse=True))
_NUMERAL = re.compile(
    rf"(?<![\w-])(?:(?P<share>{_SHARE})(?:(?: of)?(?: an?)?[ -](?P<whole>{'|'.join(_MULTIPLIERS)}))?"
    rf"|(?:{_ANY})(?:(?:[ -]|,? and |[ -]et[ -])(?:{_ANY})(?!\w))*)(?![\w-])"
)


def find_spelled(lower: str) -> Iterator[tuple[Fraction, int, int]]:
    """Value, start and end of each number spelled out in a lower-case text.

    `one`, `un` and `une` alone count only at the start of a text of three words at most: they are
    articles and pronouns too.

    >>> [(int(value), start) for value, start, _ in find_spelled("twenty-one of one hundred and five")]
    [(21, 0), (105, 14)]
    >>> [int(value) for value, _, _ in find_spelled("quatre-vingt-dix-sept mille deux cents")]
    [97200]
    """
    short = len(lower) < _LONGEST_SHORT_TEXT and len(lower.split()) <= _FEW_WORDS
    for match in islice(_NUMERAL.finditer(lower), _MOST):
        phrase = match[0]
        if match["share"]:
            share = Fraction(*_SHARES[match["share"]])
            yield share * _MULTIPLIERS.get(match["whole"] or "", 1), match.start(), match.end()
            continue
        if phrase in _ARTICLES and not (short and not lower[: match.start()].strip()):
            continue
        value = _value(re.findall(r"[^\W\d_]+", phrase))
        if value is not None:
            yield Fraction(value), match.start(), match.end()


def ends_spelled(lower: str, position: int) -> bool:
    """Whether a spelled number ends before a position: `three (3)`."""
    last = lower[max(0, position - 16) : position].rstrip().rpartition(" ")[2]
    word = last.rpartition("-")[2]
    return word in _SMALL or word in _TENS or word in _MULTIPLIERS or last[-1:] in _CHINESE


def find_nothing(lower: str) -> tuple[int, int] | None:
    """Where a lower-case text says that nothing is charged or left (`no fees`, `aucun frais`, `nil`), if it does.

    >>> find_nothing("there are no exit fees"), find_nothing("none of these")
    ((10, 22), None)
    """
    match = _NOTHING.search(lower)
    return match.span() if match else None


def _value(words: list[str]) -> int | None:
    total = current = 0
    for word in words:
        if word in ("and", "et"):
            continue
        if word in _HUNDREDS:
            current = (current or 1) * 100
        elif word in _MULTIPLIERS:
            factor = _MULTIPLIERS[word]
            if total and factor > 1000 and total < factor:
                total, current = (total + current) * factor, 0
            else:
                total, current = total + (current or 1) * factor, 0
        elif word in ("vingt", "vingts") and current % 100 == 4:
            current += 76
        else:
            current += _SMALL[word] if word in _SMALL else _TENS[word]
        if current > 10**15 or total > 10**30:
            return None
    return total + current
