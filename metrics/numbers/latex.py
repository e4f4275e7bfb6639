r"""LaTeX around numbers turned into plain text: `\frac{1}{2}`, `1{,}234`, `\times 10^{6}`, `$42\%$`."""

from __future__ import annotations

import re

_WRAPPER = re.compile(
    r"\\(?:text|textbf|textit|textrm|textsf|emph|mathrm|mathbf|mathit|mathsf|mathbb|bm|boldsymbol|operatorname|mbox|hbox"
    r"|underline|overline|boxed|fbox|color\{\w+\}|displaystyle|textstyle)\*?[ ]?\{([^{}]*)\}"
)
_FRACTION = re.compile(r"\\[dtc]?frac[ ]?\{([^{}]*)\}[ ]?\{([^{}]*)\}|\\[dtc]?frac[ ]?(\d)[ ]?(\d)")
_SIMPLE = re.compile(r"[-+−–]?[\d.,]+%?")
_SYMBOLS = {
    "times": "×", "cdot": "·", "approx": "≈", "simeq": "≈", "sim": "≈", "cong": "≅", "equiv": "=", "pm": "±", "le": "≤",
    "leq": "≤", "ge": "≥", "geq": "≥", "lt": "<", "gt": ">", "rightarrow": "→", "to": "→", "Rightarrow": "⇒",
    "implies": "⇒", "euro": "€", "pounds": "£", "yen": "¥", "texteuro": "€", "textdollar": "$", "div": "÷", "infty": "∞",
    "therefore": "∴", "quad": " ", "qquad": " ", "left": "", "right": "", "big": "", "Big": "", "bigl": "", "bigr": "",
    "displaystyle": "", "textstyle": "", "percent": "%", "cdots": "…", "ldots": "…", "dots": "…", "space": " ",
}  # fmt: skip
_COMMAND = re.compile(r"\\([A-Za-z]+)|\\([,;:! %$#&_{}()\[\]\\])")
_ESCAPES = {
    ",": " ",
    ";": " ",
    ":": " ",
    "!": "",
    " ": " ",
    "(": " ",
    ")": " ",
    "[": " ",
    "]": " ",
    "\\": "\n",
}
_DOLLARS = re.compile(r"(?<!\\)\$\$?(?=[^\s$])((?:[^$\n\\]|\\.){1,400}?)(?<=[^\s$])(?<!\\)\$\$?(?!\d)")
_TIE = re.compile(r"(?<=\d)~(?=\d{3}(?!\d))")
_GROUP_BRACE = re.compile(r"\{([,.])\}")


def plain_math(text: str) -> str:
    r"""The text with LaTeX commands around numbers resolved; other braces stay.

    >>> plain_math(r"$x = 1{,}234 \times 10^{6}$, \frac{1}{2}, \text{about} 6\frac{2}{3} \%")
    'x = 1,234 × 10^{6}, 1/2, about 6 2/3 %'
    >>> plain_math("from $5 to $6")
    'from $5 to $6'
    """
    if text.count("$") > 1:
        text = _DOLLARS.sub(_undollar, text)
    if "\\" in text:
        text = _GROUP_BRACE.sub(r"\1", text)
        for _ in range(3):
            text, unwrapped = _WRAPPER.subn(r"\1", text)
            text, resolved = _FRACTION.subn(_slash, text)
            if not unwrapped + resolved:
                break
        text = _COMMAND.sub(_symbol, text)
    elif "{" in text:
        text = _GROUP_BRACE.sub(r"\1", text)
    return _TIE.sub(" ", text) if "~" in text else text


def _slash(match: re.Match[str]) -> str:
    above, below = (match[1] or match[3] or "").strip(), (match[2] or match[4] or "").strip()
    if not _SIMPLE.fullmatch(above):
        above = f"({above})"
    if not _SIMPLE.fullmatch(below):
        below = f"({below})"
    before = match.string[match.start() - 1 : match.start()]
    return f"{' ' if before.isdigit() else ''}{above}/{below}"


def _symbol(match: re.Match[str]) -> str:
    if match[1]:
        return _SYMBOLS.get(match[1], match[0])
    return _ESCAPES.get(match[2], match[2])


def _undollar(match: re.Match[str]) -> str:
    """`$42$` is mathematics; `$5 and $` would not be."""
    inside = match[1]
    return inside if not inside[-1].isalpha() or "=" in inside or "\\" in inside else match[0]
