"""1-NED: how near a recognised text is to the gold text.

1 - edit distance / length of the longer text, after evening out typographic width and
white space (Levenshtein 1966; the measure of the ICDAR scene text challenges and of
CFMME's seal recognition). Dividing by the longer text keeps the value in [0, 1]; by the
gold's length it would turn negative on long answers.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import fsum

from rapidfuzz.distance import Levenshtein

_INVISIBLE = re.compile("[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")
# Han, kana, Hangul and their punctuation, without combining marks: a blank beside one of them says nothing.
_WIDE = "\u1100-\u11ff\u2e80-\u3029\u3030-\u3098\u309b-\u30ff\u3100-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_BLANK_BESIDE_WIDE = re.compile(rf"(?<=[{_WIDE}]) | (?=[{_WIDE}])")


def evened(text: str) -> str:
    """The text in Unicode's NFKC form, without invisible characters, white space evened out.

    Runs of white space (line breaks included) become one blank; blanks at the ends and
    beside Chinese, Japanese or Korean characters go. Case and punctuation stay.

    >>> evened(" 北京 某某\\n公司  ＡＢＣ（１２）  Ltd ")
    '北京某某公司ABC(12) Ltd'
    """
    if not text.isascii():
        text = _endless_marks().sub(r"\1", _INVISIBLE.sub("", text))
        text = unicodedata.normalize("NFKC", text)
    text = " ".join(text.split())
    # without the blank, a mark may join the character before it
    return unicodedata.normalize("NFC", _BLANK_BESIDE_WIDE.sub("", text))


@lru_cache(maxsize=1)
def _endless_marks() -> re.Pattern[str]:
    """More than 30 combining marks in a row (UAX #15, stream-safe text), on which NFKC takes quadratic time."""
    marks = "".join(chr(code) for code in range(0x300, 0x1F000) if unicodedata.combining(chr(code)))
    return re.compile(f"([{marks}]{{30}})[{marks}]+")


def ned_similarity(gold: str, pred: str, *, normalise: bool = True, simplify: bool = False) -> float:
    """1-NED of one text, in [0, 1]; two empty texts are equal (1).

    Args:
        gold: the gold text.
        pred: the recognised text.
        normalise: compare both as `evened`; False compares the strings as they are.
        simplify: turn traditional Chinese characters into simplified ones on both sides.

    Raises:
        ImportError: `simplify` without the extra ``chinese``.

    >>> ned_similarity("財務專用章", "财务专用章", simplify=True), ned_similarity("財務專用章", "财务专用章")
    (1.0, 0.4)
    >>> ned_similarity("ＡＢＣ", "AB C", normalise=False), ned_similarity("", "")
    (0.0, 1.0)
    """
    distance, length = _distance(gold, pred, normalise, simplify)
    return 1.0 - distance / length if length else 1.0


@dataclass(frozen=True)
class NedScores:
    """1-NED of a set of texts, in [0, 1]; None where there are no texts.

    Attributes:
        macro: mean over the texts, as published figures have it.
        corpus: 1 - all edits / all longer lengths, so that long texts weigh more.
        exact: share of texts that are equal to the gold.
        count: number of texts.
    """

    macro: float | None
    corpus: float | None
    exact: float | None
    count: int


def ned_scores(
    golds: Sequence[str], preds: Sequence[str], *, normalise: bool = True, simplify: bool = False
) -> NedScores:
    """Macro and corpus 1-NED of a set of texts; arguments as in `ned_similarity`.

    Raises:
        ValueError: the two differ in length.

    >>> ned_scores(["ab", "abcdef"], ["ab", "abcxyz"])
    NedScores(macro=0.75, corpus=0.625, exact=0.5, count=2)
    """
    if len(golds) != len(preds):
        raise ValueError(f"{len(golds)} gold texts but {len(preds)} predictions")
    if not golds:
        return NedScores(None, None, None, 0)
    pairs = [_distance(gold, pred, normalise, simplify) for gold, pred in zip(golds, preds, strict=True)]
    edits, lengths = (sum(column) for column in zip(*pairs, strict=True))
    return NedScores(
        macro=fsum(1.0 - distance / length if length else 1.0 for distance, length in pairs) / len(pairs),
        corpus=1.0 - edits / lengths if lengths else 1.0,
        exact=sum(distance == 0 for distance, _ in pairs) / len(pairs),
        count=len(pairs),
    )


def _distance(gold: str, pred: str, normalise: bool, simplify: bool) -> tuple[int, int]:
    if normalise:
        gold, pred = evened(gold), evened(pred)
    if simplify:
        convert = _simplifier()
        gold, pred = convert(gold), convert(pred)
    return Levenshtein.distance(gold, pred), max(len(gold), len(pred))


@lru_cache(maxsize=1)
def _simplifier() -> Callable[[str], str]:
    try:
        from opencc import OpenCC
    except ImportError as error:
        raise ImportError(
            "simplify=True needs OpenCC: pip install 'lmms-eval-finance[chinese]'", name="opencc"
        ) from error
    converter = OpenCC("t2s")

    def convert(text: str) -> str:
        # OpenCC takes UTF-8, which has no lone surrogates
        return str(converter.convert(text.encode("utf-8", "replace").decode()))

    return convert
