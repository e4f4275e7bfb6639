"""The options of an item: their letters, their texts, and what they mean to a reader."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from string import ascii_uppercase
from typing import TypeAlias

from lmms_eval_finance.metrics.answers.lexicon import ALL_OF_THEM, NONE_OF_THEM, words
from lmms_eval_finance.metrics.answers.text import lowered, prepare

__all__ = ["AFTER_A", "OptionSet", "Options", "flattened", "option_set", "truth_value"]

Options: TypeAlias = Mapping[str, str] | Sequence[str]

_LABEL = re.compile(
    r"\s*[(\[]?([A-Za-z])(?:[)\]][.:]?|[.:、)])(?=\s|[^\W\d_a-z]|\d|$)\s*|\s*\(([A-Za-z])\)\s*"
)
_PLAIN = re.compile(r"[A-Za-z0-9 .,;%'()?-]{0,1000}")  # nothing in it to prepare
_ARTICLE = re.compile(r"(?:the|an?|les?|la|une?) (?=([a-z']+))|l'(?=\w)")
# Before one of these words an A is a letter; before any other word it is the article.
AFTER_A = words(
    "is isn't are aren't was wasn't were and or but because since as for given with due per based from in"
    " on at if when while where which that not so then rather instead over seems looks appears would could"
    " should must will cannot can't doesn't does fits matches has wins only both also alone too here"
    " please plus nor through to thru remains holds together along alongside et ou ni car parce puisque"
    " est sont n'est mais avec selon pour dans qui que comme seulement uniquement semble ainsi plutot"
)
_LETTERS = frozenset(ascii_uppercase)
_EDGES = " .,;:!?。'\"()[]{}"

_TRUE = words(
    "true correct right yes accurate valid agree vrai vraie oui juste exact exacte correcte 正确 对 是 真 √ ✓"
    " 是的 对的"
)
_FALSE = words(
    "false incorrect wrong no inaccurate invalid disagree untrue faux fausse non inexact inexacte"
    " incorrecte 错误 错 否 假 不正确 不对 不是 × x ✗ 错的"
) | {"not correct", "not true", "not right"}


@dataclass(frozen=True)
class OptionSet:
    """One item's options, digested once; what few replies ask for is worked out when one does.

    Attributes:
        keys: letter -> the key it stands for, in the item's order.
        texts: letter -> flattened option text ('' where there is none).
        labels: all letters.
        longest: the length of the longest text.
        capitals, smalls: find what looks like an option's letter; a small one with the character before it.
    """

    keys: Mapping[str, str]
    texts: Mapping[str, str]
    labels: frozenset[str]
    longest: int
    capitals: re.Pattern[str]
    smalls: re.Pattern[str]

    @cached_property
    def truth(self) -> Mapping[bool, str]:
        """True and False -> letter, where one option means just the one and one the other."""
        truths = {letter: truth_value(text) for letter, text in self.texts.items()}
        truth = {value: letter for letter, value in truths.items() if value is not None}
        return truth if len(truth) == sum(value is not None for value in truths.values()) == 2 else {}

    @cached_property
    def all_of_them(self) -> str:
        """The letter of an 'all of the above' option, or ''."""
        return next((letter for letter, text in self.texts.items() if _says(ALL_OF_THEM, text)), "")

    @cached_property
    def none_of_them(self) -> str:
        """The letter of a 'none of the above' option, or ''."""
        return next((letter for letter, text in self.texts.items() if _says(NONE_OF_THEM, text)), "")

    @cached_property
    def amounts(self) -> Mapping[str, str]:
        """Plain amount -> letter, where every option is an amount ('$1,250.00')."""
        amounts: dict[str, str] = {}
        for letter, text in self.texts.items():
            amount = amount_of(text)
            if not amount:
                return {}
            amounts[amount] = letter
        return amounts if len(amounts) == len(self.texts) else {}

    @cached_property
    def series(self) -> tuple[re.Pattern[str], Mapping[str, str]] | None:
        """The word that all texts share before a number ('statement') in a pattern, and number -> letter."""
        return _series(self.texts)


def flattened(low: str) -> str:
    """Lowered text on one line, without quotes: the form in which option texts are compared."""
    return low.replace("\n", " ").replace('"', " ").replace("_", " ")


def truth_value(text: str) -> bool | None:
    """What a flattened word means in a true/false question; None if neither.

    >>> truth_value("vrai"), truth_value("不正确"), truth_value("perhaps")
    (True, False, None)
    """
    return True if text in _TRUE else False if text in _FALSE else None


def option_set(options: Options | None) -> OptionSet:
    """Digest options given as a mapping (letter -> text) or as a list of texts.

    A text may carry its own letter (`A. 5%`). Without options the letters A to Z count.
    """
    if isinstance(options, Mapping):
        # As texts, for 1, 1.0 and True would be the same to the cache.
        return _digest(tuple((str(key), str(text)) for key, text in options.items()))
    texts = [str(text) for text in options or ()]
    own = [(match[1] or match[2]).upper() for text in texts if (match := _LABEL.match(text))]
    keys = own if len(own) == len(texts) and len(set(own)) == len(own) else ascii_uppercase
    return _digest(tuple(zip(keys, texts, strict=False)))


@lru_cache(maxsize=64)
def _digest(items: tuple[tuple[str, str], ...]) -> OptionSet:
    keys: dict[str, str] = {}
    texts: dict[str, str] = {}
    for index, (key, text) in enumerate(items or tuple((letter, "") for letter in ascii_uppercase)):
        letter = key if key in _LETTERS else key.strip(" .():").upper()
        if letter not in _LETTERS or letter in keys:
            letter = chr(0xE000 + index)  # no letter: only its text can be named
        label = _LABEL.match(text)
        if label and (label[1] or label[2]).upper() == letter:
            text = text[label.end() :]
        keys[letter] = key
        low = text.lower() if _PLAIN.fullmatch(text) else flattened(lowered(prepare(text)))
        flat = " ".join(low.strip(_EDGES).split())
        article = _ARTICLE.match(flat)
        texts[letter] = flat[article.end() :] if article and article[1] not in AFTER_A else flat
    letters = "".join(letter for letter in keys if letter in ascii_uppercase) or "A"
    longest = max(map(len, texts.values()), default=0)
    return OptionSet(keys, texts, frozenset(keys), longest, *_letter_patterns(letters))


_THAT_IS_ALL = re.compile(
    r"(?: (?:are|is|sont|est|n'est|ne sont))?(?: (?:correcte?s?|true|right|vraie?s?|justes?))?"
)


def _says(quantity: re.Pattern[str], text: str) -> bool:
    """Whether an option's text is a quantity alone ('none of the above', 'all are correct')."""
    match = quantity.match(text)
    return match is not None and _THAT_IS_ALL.fullmatch(text, match.end()) is not None


@lru_cache(maxsize=256)
def _letter_patterns(letters: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Patterns that find capitals (runs of option letters too), and small option letters after a separator.

    Both begin with a plain class of characters, which the regular expression engine searches fast.
    Small `a`, `i` and `y`, which are words, count only before a stop.
    """
    edge = r"(?![A-Za-z0-9\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u024F_]|'[A-Za-z\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u024F])"
    run = rf"(?:(?<=[{letters}])[{letters}]{{1,{len(letters) - 1}}})?" if len(letters) > 1 else ""
    capitals = re.compile(rf"[A-Z](?<![A-Za-z0-9\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u024F_].){run}{edge}")
    words = "".join(set(letters.lower()) & set("aiy"))
    others = "".join(sorted(set(letters.lower()) - set("aiy"))) or words
    listed = rf" (?:and|et|or|ou|&) [{letters.lower()}](?![a-z])"
    stop = rf"(?=\s*(?:[)\]}}.:,;!?\"'\n\x03]|\Z)|{listed})"
    word = rf"|[{words}]{stop}" if words else ""
    return capitals, re.compile(
        rf"[^A-Za-z0-9\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u024F_'](?:[{others}]{word}){edge}"
    )


def _series(texts: Mapping[str, str]) -> tuple[re.Pattern[str], Mapping[str, str]] | None:
    """Options that differ in a number alone can be named in the plural: 'statements 1 and 3'."""
    heads = {text.rpartition(" ")[0] for text in texts.values()}
    if len(heads) != 1:
        return None
    tails = {text.rpartition(" ")[2]: letter for letter, text in texts.items()}
    if len(tails) != len(texts) or not all(re.fullmatch(r"\d{1,2}|[ivx]{1,4}", tail) for tail in tails):
        return None
    head = heads.pop()
    if not re.fullmatch(r"[^\W\d_]+", head):
        return None
    number = "|".join(sorted(map(re.escape, tails), key=len, reverse=True))
    gap = r"(?: ?[,;&+/、] ?| )(?:(?:and|et|or|ou|&|和|及|与) )?"
    return re.compile(rf"(?<![a-z]){head}s? ((?:{number})(?:{gap}(?:{number})(?![\w.%]))+)"), tails


def amount_of(text: str) -> str | None:
    """A plain amount without grouping, currency, percent sign and trailing zeros; None for other text.

    >>> amount_of("$1,250.50"), amount_of("-12.0 %"), amount_of("12 funds")
    ('1250.5', '-12', None)
    """
    match = _AMOUNT.fullmatch(text)
    if not match:
        return None
    fraction = (match[3] or match[4] or "").rstrip("0")
    return (
        (match[1] or "")
        + (match[2].replace(",", "").lstrip("0") or "0")
        + ("." + fraction if fraction else "")
    )


_AMOUNT = re.compile(
    r" ?[+]?(-)? ?(?:us)?[$€£¥]? ?(\d{1,3}(?:,\d{3}){1,8}|\d{0,30})(?:\.(\d{1,30})|,(\d{1,2}))? ?(?:%|[$€£¥]|元)?\.? ?"
)
