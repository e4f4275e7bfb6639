"""Currencies in the wording of the Unicode CLDR, as they stand beside numbers."""

from __future__ import annotations

from collections import defaultdict
from functools import lru_cache

from babel import Locale
from babel.core import get_global
from babel.numbers import get_currency_name, get_currency_symbol

from .vocabulary import words

# Signs that several countries share; CLDR lists one meaning per language.
_SHARED = {
    "$": "USD CAD AUD HKD SGD NZD TWD MXN ARS CLP COP BRL",
    "US$": "USD", "U.S.$": "USD", "US $": "USD", "$US": "USD", "HK$": "HKD", "A$": "AUD", "AU$": "AUD",
    "C$": "CAD", "CA$": "CAD", "S$": "SGD", "NT$": "TWD", "NZ$": "NZD", "R$": "BRL", "MX$": "MXN",
    "¥": "CNY JPY", "CN¥": "CNY", "JP¥": "JPY", "RMB¥": "CNY", "£": "GBP EGP", "€": "EUR", "₹": "INR",
    "₩": "KRW", "₽": "RUB", "₺": "TRY", "₫": "VND", "₱": "PHP", "₦": "NGN", "₴": "UAH", "₪": "ILS", "฿": "THB",
    "Rs": "INR PKR LKR", "Rs.": "INR PKR LKR", "RMB": "CNY", "CNH": "CNY", "人民币": "CNY", "美元": "USD",
    "港元": "HKD", "港币": "HKD", "F CFA": "XOF XAF", "CHF": "CHF", "Fr.": "CHF", "RM": "MYR", "Rp": "IDR", "kr": "SEK NOK DKK ISK", "zł": "PLN", "Kč": "CZK",
}  # fmt: skip
_WORDS = {
    "元": "CNY", "圆": "CNY", "元人民币": "CNY", "人民币": "CNY", "人民币元": "CNY", "块": "CNY", "块钱": "CNY",
    "元钱": "CNY", "美元": "USD", "美金": "USD", "欧元": "EUR", "日元": "JPY", "日圆": "JPY", "英镑": "GBP", "港元": "HKD",
    "港币": "HKD", "韩元": "KRW", "新台币": "TWD", "台币": "TWD", "瑞士法郎": "CHF", "瑞郎": "CHF", "澳元": "AUD",
    "加元": "CAD", "新加坡元": "SGD", "新元": "SGD", "卢比": "INR PKR LKR", "卢布": "RUB", "renminbi": "CNY",
    "us dollars": "USD", "us dollar": "USD", "u.s. dollars": "USD", "u.s. dollar": "USD", "bucks": "USD",
    "american dollars": "USD", "dollars américains": "USD", "dollar américain": "USD", "dollars us": "USD",
    "sterling": "GBP", "pounds sterling": "GBP", "livres sterling": "GBP",
}  # fmt: skip
# A hundredth of the unit.
_CENTS = {
    "cents": "USD CAD AUD HKD SGD NZD EUR", "cent": "USD CAD AUD HKD SGD NZD EUR", "¢": "USD CAD AUD", "pence": "GBP",
    "centimes": "EUR CHF", "centime": "EUR CHF", "美分": "USD", "分钱": "CNY",
}  # fmt: skip
# Codes that are safe in lower case; others (ALL, TOP, TRY, PEN) are words as well.
_LOWER = "usd eur gbp cny rmb jpy hkd chf cad aud inr sgd krw twd sek nok dkk nzd brl mxn zar"
# Parts of currency names that mean other things beside a number, and codes that are English words.
_NOT_NAMES = words(
    "or gold nouveau nouveaux real réal all won sol sols soles som soms sum sums reals réals mark cfp cfa"
)
_NOT_CODES = frozenset(("ALL", "TOP"))


def _current_codes() -> list[str]:
    territories = get_global("territory_currencies")
    return sorted(
        {code for uses in territories.values() for code, _, end, tender in uses if end is None and tender}
    )


@lru_cache(maxsize=1)
def signs() -> dict[str, frozenset[str]]:
    """Sign or code (case kept) -> the currencies it can mean; may stand before or after a number."""
    table = {sign: frozenset(codes.split()) for sign, codes in _SHARED.items()}
    for code in _current_codes():
        table.setdefault(code, frozenset({code}))
        for language in ("en", "fr", "zh"):
            symbol = (
                get_currency_symbol(code, locale=Locale(language))
                .replace("\u202f", " ")
                .replace("\u00a0", " ")
            )
            table.setdefault(symbol, frozenset({code}))
    for code in _LOWER.split():
        table.setdefault(code, table[code.upper()])
    return table


@lru_cache(maxsize=1)
def names() -> dict[str, frozenset[str]]:
    """Currency name in lower case, in three languages -> the currencies it can mean; stands after a number."""
    table: defaultdict[str, set[str]] = defaultdict(set)
    for code in _current_codes():
        for language in ("en", "fr", "zh"):
            for count in (1, 2):
                name = get_currency_name(code, count=count, locale=Locale(language)).lower()
                table[name].add(code)
                # "dollars" for "US dollars", "francs" for "francs suisses"
                short = name.split()[0] if language == "fr" else name.split()[-1]
                if language != "zh" and short not in _NOT_NAMES:
                    table[short].add(code)
    fixed = {word: frozenset(codes.split()) for word, codes in _WORDS.items()}
    return {word: frozenset(codes) for word, codes in table.items()} | fixed


def cents() -> dict[str, frozenset[str]]:
    """Names of the hundredth part of a currency unit, in lower case."""
    return {word: frozenset(codes.split()) for word, codes in _CENTS.items()}
