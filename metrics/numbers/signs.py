"""Minus signs, brackets and words that turn a number negative."""

from __future__ import annotations

from .vocabulary import words

MINUS = frozenset("-−–—‐‑‒﹣")
_IDEOGRAPHS = "\u2e80"
_OPENS_VALUE = frozenset(":=≈~<>≤≥,;([{|/×*→⇒≅\"'+")
_BEFORE_SIGN = words(
    "is was are were be been of by to at equals equal approximately about or and est était sont de à "
    "environ vaut atteint ou et négatif negative"
)
_NEGATIVE_WORDS = ("minus", "negative", "moins", "négatif", "négative", "负", "負", "负的")
_NOT_NEGATIVE = ("au moins", "du moins", "le moins", "plus ou moins", "plus or minus")

_NEGATIVE = frozenset(("negative", "négatif", "négative"))
_NEGATIVE_AFTER = (" (negative", " negative", ", negative", " (négati", " négati", "(负")

_DOWN = words(
    "loss losses lost decline declined declines declining decrease decreased decreases decreasing drop "
    "dropped drops fell fall falls fallen falling down lower reduction reduced shrank shrunk contracted "
    "contraction slid sank plunged tumbled slipped deficit shortfall outflow outflows perte pertes perdu "
    "baisse baissé recul reculé diminution diminué chute chuté déficit contracté repli replié cédé perd "
    "recule diminue"
)
_UP = words(
    "gain gained gains rise rose risen rises increase increased increases grew growth grown up higher "
    "climbed jumped surged profit profits hausse augmenté augmentation augmente progressé progression "
    "gagné bénéfice croissance accru"
)
_DOWN_CHINESE = ("下降", "下跌", "亏损", "虧損", "减少", "減少", "下滑", "降低", "缩减", "回落", "降幅", "跌幅", "净流出", "跌", "亏")  # fmt: skip
_UP_CHINESE = ("上升", "上涨", "增长", "增加", "盈利", "提高", "增幅", "涨幅", "涨", "升")
# Words between a direction word and its number.
_FILLER = words(
    "of by a an the some over per share de d' à was is were to reached totaling totalling amounting net about"
)
_AFTER = words("de d' of in a the")


def minus_before(text: str, lower: str, start: int, bullets: bool = False) -> tuple[bool, int]:
    """Whether a minus stands before position `start` (blanks between allowed), and where it stands.

    A dash between numbers, inside a word, as a separator between words or as a bullet
    (where the text has several, `bullets`) is no minus.
    """
    position = start
    while position and text[position - 1] == " ":
        position -= 1
    if not position:
        return False, start
    if text[position - 1] not in MINUS:
        return _negative_word(lower, position, start)
    dash = position - 1
    tight = position == start
    if dash == 0 or text[dash - 1] == "\n":
        return tight or not bullets, dash
    before = text[dash - 1]
    if before in _OPENS_VALUE or before in "$€£¥":
        return True, dash
    if before != " ":
        return before >= _IDEOGRAPHS and before not in "年月日、", dash
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
    return lower[word_start:anchor] in _BEFORE_SIGN or before >= _IDEOGRAPHS, dash


def _negative_word(lower: str, position: int, start: int) -> tuple[bool, int]:
    left = lower[max(0, position - 13) : position]
    if not left.endswith(_NEGATIVE_WORDS) or left.endswith(_NOT_NEGATIVE):
        return False, start
    word = max((word for word in _NEGATIVE_WORDS if left.endswith(word)), key=len)
    at = position - len(word)
    before = lower[at - 1 : at]
    if word[-1] >= _IDEOGRAPHS or not (before.isalnum() or before in MINUS):
        # "2 minus 3" subtracts
        anchor = lower[:at].rstrip()[-1:] if word in ("minus", "moins") else ""
        return not (anchor.isdigit() or anchor == "%"), at
    return False, start


def direction(before: list[str], right: str) -> int:
    """-1 or 1 where the words beside a number say that something fell or rose, else 0.

    Args:
        before: the last words before the number.
        right: some text after it.

    >>> direction("a net loss of".split(), ""), direction(["rose", "by"], ""), direction([], " decrease"), direction(["is"], "")
    (-1, 1, -1, 0)
    """
    for word in reversed(before[-5:]):
        word = word.strip("(),:;'’")
        if word in _DOWN:
            return -1
        if word in _UP:
            return 1
        if word and word not in _FILLER:
            break
    if _NEGATIVE.intersection(before[-5:]) or right.startswith(_NEGATIVE_AFTER):
        return -1
    if before and before[-1][-1] >= _IDEOGRAPHS:
        tail = before[-1][-8:]
        down = max(tail.rfind(word) for word in _DOWN_CHINESE)
        up = max(tail.rfind(word) for word in _UP_CHINESE)
        if down != up:
            return -1 if down > up else 1
    for word in right.split(None, 3)[:3]:
        word = word.strip(".,;:!()")
        if word in _DOWN:
            return -1
        if word in _UP:
            return 1
        if word not in _AFTER:
            break
    return 0
