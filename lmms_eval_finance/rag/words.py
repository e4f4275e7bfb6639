"""Words of English, French and Chinese text as search terms, and how many tokens a text is."""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import Any

from lmms_eval_finance import settings

_HAN = "\u3400-\u9fff\uf900-\ufaff"
_TERM = re.compile(rf"(?P<han>[{_HAN}]+)|(?P<amount>\d+(?:[.,]\d+)+)|(?P<word>[^\W_{_HAN}]+)")
_HAN_SIGN = re.compile(rf"[{_HAN}\u3000-\u303f\uff00-\uffef]")
_LONGEST_WORD = 40


def terms(text: str) -> list[str]:
    """The search terms of a text, in order.

    Words are stemmed in the language of the text, accents and case folded, articles and the
    like left out (French elisions too). Chinese is read in pairs of characters, which needs no
    dictionary. Amounts such as 1,250.50 say what an exercise reckons with, not what it is
    about: they are left out.

    >>> terms("Les obligations à taux d’intérêt élevés sont actualisées")
    ['oblig', 'taux', 'interet', 'elev', 'actualise']
    >>> terms("The bond's yields: 5.25%"), terms("净现值NPV")
    (['bond', 'yield'], ['净现', '现值', 'npv'])
    """
    found: list[str] = []
    words: list[str] = []
    places: list[int] = []
    for match in _TERM.finditer(folded(text)):
        if run := match["han"]:
            found += [run[at : at + 2] for at in range(len(run) - 1)] or [run]
        elif (word := match["word"]) and len(word) <= _LONGEST_WORD:
            words.append(word)
            places.append(len(found))
            found.append(word)
    stopwords = _stopwords()
    language = max(stopwords, key=lambda name: sum(word in stopwords[name] for word in words))
    stems = _stemmer(language).stemWords(words)
    every = frozenset().union(*stopwords.values())
    for place, word, stem in zip(places, words, stems, strict=True):
        meaningless = word in every or (len(word) == 1 and not word.isdigit())
        found[place] = "" if meaningless else stem
    return [term for term in found if term]


def folded(text: str) -> str:
    """The text without case and accents, full-width and other compatibility forms made plain.

    >>> folded("Échéance ＮＰＶ")
    'echeance npv'
    """
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(sign for sign in plain if not unicodedata.combining(sign))


@functools.lru_cache(maxsize=1)
def _stopwords() -> dict[str, frozenset[str]]:
    from bm25s import stopwords

    lists = {"english": stopwords.STOPWORDS_EN_PLUS, "french": stopwords.STOPWORDS_FRENCH}
    return {language: frozenset(map(folded, words)) for language, words in lists.items()}


def _stemmer(language: str) -> Any:
    """A stemmer for one call: they may not be shared between threads."""
    import Stemmer

    return Stemmer.Stemmer(language)


def check_extra() -> None:
    """Make sure that the libraries of the extra are there.

    Raises:
        SettingError: they are not; the message names the extra.
    """
    try:
        import bm25s  # noqa: F401
        import Stemmer  # noqa: F401
    except ImportError as error:
        raise settings.SettingError(
            f'retrieval needs {error.name}: pip install "lmms-eval-finance[rag]"'
        ) from error


def token_count(text: str) -> int:
    """About how many tokens a language model makes of a text: one for a Chinese character, one for four others.

    >>> token_count("net present value"), token_count("净现值")
    (5, 3)
    """
    han = len(_HAN_SIGN.findall(text))
    return han + -(-(len(text) - han) // 4)
