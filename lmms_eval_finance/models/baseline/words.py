"""Words of texts in three languages as comparable stems."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from lmms_eval_finance.models.baseline.vocabulary import CONCEPTS, STOP_WORDS

_LIGATURES = str.maketrans({"œ": "oe", "æ": "ae", "ß": "ss", "’": "'", "‘": "'", "–": "-", "−": "-"})
_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[a-z]+(?:\d+[a-z]*)*|[一-鿿]")
# Alone, but for the first word of a sentence: `A bond`, `A quelle date`.
_LETTER = re.compile(
    r"(?<![\w'’.&/-])([A-Z])(?![\w'’&/-])(?!(?<=^.)[ ][a-zà-ÿ])(?!(?<=[.:?!][ ].)[ ][a-zà-ÿ])"
)
_HANZI = re.compile(r"[一-鿿]")
_SUFFIX = re.compile(
    r"(?:issements?|ements?|ations?|itions?|utions?|trices?|teurs?|euses?|eurs?|ences?|ances?|ables?|ibles?"
    r"|ives?|ifs?|ales?|aux|ites?|ities|ity|ing|ings|ions?|ees?|es|er|ed|s|e|x)$"
)
_SHORTEST_STEM = 4


@lru_cache(maxsize=65536)
def fold(text: str) -> str:
    """Lower case, without accents and width.

    >>> fold("Société Générale：Œuvre")
    'societe generale:oeuvre'
    """
    decomposed = unicodedata.normalize("NFKD", text.lower().translate(_LIGATURES))
    return "".join(character for character in decomposed if not unicodedata.combining(character))


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """One spelling for the forms of a word, and for words of one meaning in fund documents.

    >>> stem("souscriptions") == stem("souscription"), stem("gerant") == stem("gestionnaire")
    (True, True)
    """
    known = CONCEPTS.get(word)
    if known:
        return known
    cut = _SUFFIX.sub("", word)
    short = cut if len(cut) >= _SHORTEST_STEM else word.rstrip("sx") or word
    return CONCEPTS.get(short, short)


def words(text: str) -> list[str]:
    """All words of a text, folded, in order; a Chinese character is a word of its own.

    A capital that stands alone is a name (of a class of shares), not an article.

    >>> words("Part C : 1,50 % d'actif")
    ['part', 'cletter', '1,50', 'd', 'actif']
    """
    return _TOKEN.findall(fold(_LETTER.sub(r" \1letter ", text)))


def stems(text: str) -> list[str]:
    """The stems of the words that carry meaning, in order; pairs of neighbours for Chinese.

    >>> stems("Quels sont les frais de sortie ?")
    ['frai', 'sortie']
    """
    found: list[str] = []
    tokens = words(text)
    for place, token in enumerate(tokens):
        if _HANZI.match(token):
            following = tokens[place + 1] if place + 1 < len(tokens) else ""
            if _HANZI.match(following) and token + following not in STOP_WORDS:
                found.append(token + following)
        elif token not in STOP_WORDS:
            # `non acquise` is the opposite of `acquise`, not the same with a small word before it.
            opposite = place > 0 and tokens[place - 1] in ("non", "not")
            found.append(f"non{stem(token)}" if opposite else stem(token))
    return found


_FRENCH = re.compile(
    r"\b(?:le|la|les|des|du|est|sont|quel|quelle|quels|quelles|une|dans|pour|avec|combien|ce|cette|il|elle|fonds"
    r"|oui|vrai|faux|aux|sur|y|a-t-il|qui|que|par|ou|et|en|d|l|qu|c|s|n)\b"
)
_ENGLISH = re.compile(
    r"\b(?:the|of|is|are|what|which|how|many|much|in|for|with|and|this|that|these|was|were|does|do|did|to|on"
    r"|by|from|if|it|its|an|be|has|have|had|would|should|will)\b"
)


def language_of(text: str) -> str:
    """``zh``, ``fr`` or ``en``, by characters and small words.

    >>> [language_of(text) for text in ("总股本是多少？", "Quels sont les frais ?", "What is the fee?")]
    ['zh', 'fr', 'en']
    """
    if len(_HANZI.findall(text)) >= 2:
        return "zh"
    folded = fold(text)
    return "fr" if len(_FRENCH.findall(folded)) > len(_ENGLISH.findall(folded)) else "en"
