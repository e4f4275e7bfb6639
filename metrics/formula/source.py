"""From what a model wrote to the LaTeX of one formula: fences, delimiters and typing habits, never meaning."""

from __future__ import annotations

import re
import unicodedata

from lmms_eval_finance.metrics.normalise import strip_reasoning

# A pair of a backslash and what it escapes is one token, so that `\\[2pt]` holds no `\[` and `\%` no bare `%`.
_MARK = re.compile(r"\\.|\$\$?", re.DOTALL)
_CLOSES = {"$$": "$$", "$": "$", r"\[": r"\]", r"\(": r"\)"}
_DISPLAY = ("$$", r"\[")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_INVISIBLE = re.compile(r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]")
_AROUND = " .,;:。，；："

# Full-width forms print what their ASCII twin prints; those that LaTeX would take for a command are escaped.
_ESCAPED = {**{char: "\\" + char for char in "%$&#_{}"}, "\\": "∖", "^": "ˆ", "~": "∼"}
_WIDE = {code: _ESCAPED.get(chr(code - 0xFEE0), chr(code - 0xFEE0)) for code in range(0xFF01, 0xFF5F)}
_WIDE |= {0x3000: " ", 0xFFE5: "¥", 0xFFE0: "¢", 0xFFE1: "£"}

_ACCENTS = {"'": "\u0301", "`": "\u0300", "^": "\u0302", '"': "\u0308", "~": "\u0303", "c": "\u0327"}
_TYPED = re.compile(
    r"\\([\'`^\"~])\s?(?:\{([A-Za-z])\}|([A-Za-z]))"  # \'e, \'{e}
    r"|\\(c)(?:\{([A-Za-z])\}|\s([A-Za-z])(?![A-Za-z]))"  # \c{c}, \c c
    r"|\\.|%",
    re.DOTALL,
)


def clean(text: str) -> str:
    r"""The LaTeX of the formula that `text` holds, ready for either engine.

    Thinking blocks and code fences go; of a text with display delimiters their content stays (several
    become lines); inline delimiters go. A bare percent sign is a percent sign, not a
    comment. Full-width forms and accents become what they print. Runs in time
    proportional to the length of the text.

    >>> clean("```latex\n$$E=mc^2$$\n```")
    'E=mc^2'
    >>> clean(r"The price is \[P=\frac{D}{k}\] as shown.")
    'P=\\frac{D}{k}'
    >>> clean("毛利率＝（收入－成本）×100%")
    '毛利率=(收入-成本)×100\\%'
    """
    text = text.encode("utf-8", "replace").decode("utf-8")  # lone surrogates become question marks
    text = _INVISIBLE.sub("", _CONTROL.sub(" ", unicodedata.normalize("NFC", text)))
    text = _undelimited(_unfenced(strip_reasoning(text))).translate(_WIDE)
    return _TYPED.sub(_typed, text).strip()


def _unfenced(text: str) -> str:
    """The content of the first code fence, or the text."""
    _, fence, rest = text.partition("```")
    if not fence:
        return text
    inside = rest.partition("```")[0]
    return re.sub(r"\A(?:latex|tex|math|markdown|md|text|katex)\b", "", inside, flags=re.IGNORECASE)


def _undelimited(text: str) -> str:
    """The content of the math delimiters, where the text has any."""
    marks = [mark for mark in _MARK.finditer(text) if mark.group() in (*_CLOSES, *_CLOSES.values())]
    last = {mark.group(): index for index, mark in enumerate(marks)}
    displays = []
    at = 0
    while at < len(marks):
        close = _CLOSES.get(marks[at].group(), "")
        if last.get(close, -1) <= at:
            at += 1
            continue
        end = next(i for i in range(at + 1, len(marks)) if marks[i].group() == close)
        if marks[at].group() in _DISPLAY:
            displays.append(text[marks[at].end() : marks[end].start()].strip())
        at = end + 1
    if displays:
        return r" \\ ".join(filter(None, displays))
    # What is left of delimiters prints nothing, except a lone dollar sign.
    lone = sum(mark.group() == "$" for mark in marks) % 2 == 1
    drop = [mark for mark in marks if not (lone and mark.group() == "$")]
    if (
        len(drop) == 2
        and not text[: drop[0].start()].strip(_AROUND)
        and not text[drop[1].end() :].strip(_AROUND)
    ):
        return text[drop[0].end() : drop[1].start()]
    kept, start = [], 0
    for mark in drop:
        kept.append(text[start : mark.start()])
        start = mark.end()
    return " ".join([*kept, text[start:]])


def _typed(match: re.Match[str]) -> str:
    if match.group() == "%":
        return r"\%"
    accent = match.group(1) or match.group(4)
    if not accent:
        return match.group()
    letter = next(filter(None, match.group(2, 3, 5, 6)))
    return unicodedata.normalize("NFC", letter + _ACCENTS[accent])
