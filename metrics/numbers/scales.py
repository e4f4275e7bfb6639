"""Scale words and abbreviations: thousand, milliard, 亿."""

from __future__ import annotations

from fractions import Fraction

_COMMON = {
    10**3: "k thousand thousands thou millier milliers mille",
    10**5: "lakh lakhs lac lacs",
    10**6: "m mn mln mm mio mil mill million millions million(s)",
    10**7: "crore crores cr",
    10**9: "b bn bln bil milliard milliards md mds mrd mrds",
    10**12: "tn trn tln trillion trillions",
}
_ENGLISH = {10**2: "hundred hundreds", 10**9: "billion billions billion(s)"}
# The long scale; English habits are common in French text too, so both are kept as readings.
_FRENCH = {10**12: "billion billions billion(s)", 10**18: "trillion trillions"}

_CHINESE_DIGITS = {"十": 1, "百": 2, "千": 3, "万": 4, "萬": 4, "亿": 8, "億": 8, "兆": 12}
_CHINESE = "十 百 千 万 萬 亿 億 兆 百千 十万 十萬 百万 百萬 千万 千萬 十亿 十億 百亿 百億 千亿 千億 万亿 萬億 十万亿 百万亿"


def scales(language: str) -> dict[str, Fraction]:
    """Scale word in lower case -> its factor, for `en`, `fr` or `zh`.

    >>> scales("fr")["milliards"] == 10**9, scales("zh")["万亿"] == 10**12
    (True, True)
    """
    table: dict[str, Fraction] = {}
    for factors in (_COMMON, _FRENCH if language == "fr" else _ENGLISH):
        for factor, words in factors.items():
            table.update(dict.fromkeys(words.split(), Fraction(factor)))
    for word in _CHINESE.split():
        table[word] = Fraction(10 ** sum(_CHINESE_DIGITS[char] for char in word))
    table["hundred million"] = Fraction(10**8)
    table["hundred thousand"] = Fraction(10**5)
    return table


LONG_SCALE_WORDS = frozenset(["billion", "billions", "billion(s)", "trillion", "trillions"])
"""Words whose value differs between English and French by a power of a thousand."""
