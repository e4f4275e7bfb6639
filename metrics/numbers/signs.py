"""Minus signs, brackets and words that turn a number negative."""

from __future__ import annotations

MINUS = frozenset("-−–—‐‑‒﹣")
_OPENS_VALUE = frozenset(":=≈~<>≤≥,;([{|/×*→⇒≅\"'")
_COPULAS = frozenset(
    ["is", "was", "are", "were", "be", "been", "of", "by", "to", "at", "equals", "equal", "approximately", "about", "est", "était", "sont", "de", "à", "environ", "vaut", "atteint", "négatif", "negative", "answer", "réponse", "result", "or", "ou", "and", "et"]
)
_NEGATIVE_WORDS = ("minus", "negative", "moins", "négatif", "négative", "负", "負", "负的", "为负")
_NOT_NEGATIVE = ("au moins", "du moins", "le moins")

_DOWN = (
    "loss", "losses", "lost", "decline", "declined", "declines", "decrease", "decreased", "decreases", "drop", "dropped",
    "drops", "fell", "fall", "falls", "fallen", "down", "lower", "reduction", "reduced", "shrank", "shrunk", "contracted",
    "contraction", "slid", "sank", "plunged", "tumbled", "slipped", "deficit", "shortfall", "outflow", "outflows",
    "perte", "pertes", "perdu", "baisse", "baissé", "recul", "reculé", "diminution", "diminué", "chute", "chuté",
    "déficit", "contracté", "repli", "replié", "cédé", "perd", "recule", "diminue",
)  # fmt: skip
_DOWN_ZH = (
    "下降",
    "下跌",
    "亏损",
    "虧損",
    "减少",
    "減少",
    "跌",
    "下滑",
    "降低",
    "缩减",
    "回落",
    "降幅",
    "跌幅",
    "净流出",
    "赤字",
    "减亏",
)
_UP = (
    "gain", "gained", "rise", "rose", "risen", "increase", "increased", "increases", "grew", "growth", "grown", "up",
    "higher", "climbed", "jumped", "surged", "profit", "hausse", "augmenté", "augmentation", "progressé", "progression",
    "gagné", "bénéfice", "croissance", "accru",
)  # fmt: skip
_UP_ZH = ("上升", "上涨", "增长", "增加", "盈利", "涨", "提高", "增幅", "涨幅")
_DOWN_SET, _UP_SET = frozenset(_DOWN), frozenset(_UP)
# Words between a direction word and its number.
_FILLER = frozenset(
    ["of", "by", "a", "an", "the", "about", "approximately", "around", "roughly", "nearly", "almost", "some", "over", "just", "de", "d'", "environ", "près", "quelque", "à", "was", "is", "an", "to", "reached", "totaling", "totalling", "amounting", "net"]
)


def minus_before(text: str, lower: str, start: int) -> tuple[bool, int]:
    """Whether a minus stands before position `start` (blanks between allowed), and where it stands.

    A dash between numbers, inside a word or as a separator between words is no minus.
    """
    position = start
    while position and text[position - 1] == " ":
        position -= 1
    if not position:
        return False, start
    if text[position - 1] not in MINUS:
        left = lower[max(0, position - 10) : position]
        if left.endswith(_NEGATIVE_WORDS) and not left.endswith(_NOT_NEGATIVE):
            word = max((word for word in _NEGATIVE_WORDS if left.endswith(word)), key=len)
            at = position - len(word)
            if word[-1] > "\u2e80" or not (at and text[at - 1].isalpha()):
                return True, at
        return False, start
    dash = position - 1
    tight = position == start
    if dash == 0 or text[dash - 1] == "\n":
        return True, dash
    before = text[dash - 1]
    if before in _OPENS_VALUE or before in "$€£¥":
        return True, dash
    if before != " ":
        return (before > "\u2e80" and before not in "年月日、"), dash
    anchor = dash - 1
    while anchor and text[anchor - 1] == " ":
        anchor -= 1
    if not anchor:
        return True, dash
    before = text[anchor - 1]
    if before in _OPENS_VALUE or before == "\n":
        return True, dash
    if before.isdigit() or before in "%)€$£¥":
        return False, dash
    if tight:
        return True, dash
    word_start = anchor
    while word_start and lower[word_start - 1].isalpha():
        word_start -= 1
    return lower[word_start:anchor] in _COPULAS or before > "\u2e80", dash


def direction(left: str, right: str) -> int:
    """-1 or 1 where words beside a number say that something fell or rose, else 0.

    >>> direction("a net loss of ", " million"), direction("rose by ", ""), direction("", " decrease"), direction("is ", "")
    (-1, 1, -1, 0)
    """
    words = left.split()
    for word in reversed(words[-5:]):
        word = word.strip("(),:;'’$€£¥~≈")
        if word in _DOWN_SET:
            return -1
        if word in _UP_SET:
            return 1
        if word and word not in _FILLER:
            break
    if (left and left[-1] > "\u2e80") or (left.rstrip() and left.rstrip()[-1] > "\u2e80"):
        tail = left[-8:]
        down = max((tail.rfind(word) for word in _DOWN_ZH), default=-1)
        up = max((tail.rfind(word) for word in _UP_ZH), default=-1)
        if down != up:
            return -1 if down > up else 1
    first = right.split(None, 3)[:3]
    for word in first:
        word = word.strip(".,;:!()")
        if word in _DOWN_SET:
            return -1
        if word in _UP_SET:
            return 1
        if word not in ("de", "d'", "of", "in", "a"):
            break
    return 0
