"""Scale words and abbreviations: thousand, milliard, 亿."""

from __future__ import annotations

from fractions import Fraction

from .units import Unit

_COMMON = {
    10**3: "k thousand thousands thou millier milliers mille",
    10**5: "lakh lakhs lac lacs",
    10**6: "m mn mln mm mio mil mill million millions million(s)",
    10**7: "crore crores cr",
    10**9: "b bln bil milliard milliards md mds mrd mrds",
    10**12: "tn trn tln",
}
# French words of the same form are worth a thousand or a million times more.
_ENGLISH = {
    10**2: "hundred hundreds",
    10**9: "billion billions billion(s) bn",
    10**12: "trillion trillions trillion(s)",
}
_CHINESE = {"十": 1, "百": 2, "千": 3, "万": 4, "萬": 4, "亿": 8, "億": 8, "兆": 12}
_CHINESE_COMPOUNDS = (
    "百千 十万 十萬 百万 百萬 千万 千萬 十亿 十億 百亿 百億 千亿 千億 万亿 萬億 十万亿 百万亿"
)


def scale_words(language: str) -> dict[str, Unit]:
    """Scale word in lower case -> the unit of its factor, for text in `en`, `fr` or `zh`.

    >>> words = scale_words("fr")
    >>> words["milliards"].scale == 10**9, words["万亿"].scale == words["billion"].scale == 10**12
    (True, True)
    """
    table: dict[str, Unit] = {}
    for factor, words in _COMMON.items():
        table.update(dict.fromkeys(words.split(), Unit(scale=Fraction(factor))))
    for factor, words in _ENGLISH.items():
        unit = Unit(scale=Fraction(factor))
        if language == "fr" and factor > 100:
            unit = Unit(scale=Fraction(factor * 1000), long_scale=True)
        table.update(dict.fromkeys(words.split(), unit))
    for word in (*_CHINESE, *_CHINESE_COMPOUNDS.split()):
        table[word] = Unit(scale=Fraction(10 ** sum(_CHINESE[char] for char in word)))
    for word, factor in (
        ("hundred thousand", 10**5),
        ("hundred million", 10**8),
        ("thousand million", 10**9),
    ):
        table[word] = Unit(scale=Fraction(factor))
    return table
