"""Text as people meant it: reasoning, markup and typographic width taken away.

Everything that reads model output (letters, numbers, verdicts, short answers) starts
here, so that bold type, full-width digits or a thinking block never decide a score.
All functions are total (any text gives a text) and run in linear time.
"""

from __future__ import annotations

import re
from html import unescape

__all__ = [
    "boxed_contents",
    "lower_in_place",
    "narrow",
    "normalise_text",
    "strip_markup",
    "strip_reasoning",
]

_REASONING_TAG = re.compile(
    r"<(/?)(?:think|thinking|thought|thoughts|reasoning|reflection|scratchpad)>"
    r"|\[(/?)THINK\]|◁(/?)think▷|<\|(begin|end)_of_thought\|>",
    re.IGNORECASE,
)


def strip_reasoning(text: str) -> str:
    """The text without the model's thinking blocks.

    A closed block is cut out. A block that is opened and never closed takes the rest of
    the text with it (the model ran out of tokens while thinking); a closing tag without
    an opening one (chat templates that prefill the opening) takes what precedes it.

    >>> strip_reasoning("<think>A or B?</think>Answer: B")
    'Answer: B'
    >>> strip_reasoning("first A, then ... </think> Answer: B")
    ' Answer: B'
    >>> strip_reasoning("Answer: B <think>hm")
    'Answer: B '
    """
    if "<" not in text and "[" not in text and "◁" not in text:
        return text
    kept: list[str] = []
    position, thinking = 0, False
    for tag in _REASONING_TAG.finditer(text):
        closing = any(group == "/" for group in tag.groups()[:3]) or (tag[4] or "").lower() == "end"
        if closing and not thinking:
            kept.clear()
        elif not closing and not thinking:
            kept.append(text[position : tag.start()])
        thinking = not closing
        position = tag.end()
    if not thinking:
        kept.append(text[position:])
    return "".join(kept)


def _width_table() -> dict[int, str]:
    table = {code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)}
    table.update(dict.fromkeys(map(ord, "\u00a0\u2007\u2008\u2009\u200a\u202f\u205f\u3000\u2002\u2003"), " "))
    table.update(dict.fromkeys(map(ord, "\u2000\u2001\u2004\u2005\u2006\t\x0b\x0c\ufeff"), " "))
    table.update({ord("￥"): "¥", ord("￡"): "£", ord("￠"): "¢", ord("﹪"): "%", ord("﹣"): "-"})
    table.update({ord("’"): "'", ord("‘"): "'", ord("“"): '"', ord("”"): '"'})
    table.update({ord("\u2028"): "\n", ord("\u2029"): "\n", ord("\x85"): "\n", ord("\r"): "\n"})
    return table


_WIDTH = _width_table()
_INVISIBLE = "\u200b\u200c\u200d\u2060\u00ad\u200e\u200f\u202a\u202b\u202c\u2066\u2067\u2069"
_READING: dict[int, str | None] = {**_WIDTH, **dict.fromkeys(map(ord, _INVISIBLE))}
# A search is many times cheaper than a translation that changes nothing.
_WIDE = re.compile(f"[{re.escape(''.join(map(chr, _WIDTH)))}]")
_ODD = re.compile(f"[{re.escape(''.join(map(chr, _READING)))}]")


def narrow(text: str) -> str:
    """Full-width letters, digits and signs in their ASCII form, every blank a plain space.

    One character in, one character out: positions stay valid.

    >>> narrow("－３．２％（约）")
    '-3.2%(约)'
    """
    return text.translate(_WIDTH) if _WIDE.search(text) else text


def lower_in_place(text: str) -> str:
    """Lower case, one character in, one character out: positions stay valid.

    >>> lower_in_place("İ Ab"), "İ Ab".lower() == "İ Ab"
    ('İ ab', False)
    """
    lower = text.lower()
    if len(lower) == len(text):
        return lower
    return "".join(c if len(c.lower()) > 1 else c.lower() for c in text)


_FENCE = re.compile(r"^[ ]*(?:```|~~~)[\w+-]*[ ]*$", re.MULTILINE)
_HEADING = re.compile(r"^[ ]{0,3}(?:#{1,6}[ ]+|>[ ]?)+", re.MULTILINE)
_LINK = re.compile(r"!?\[([^\[\]\n]{1,300})\]\([^()\s]{1,500}\)")
_BREAK = re.compile(r"<(?:br|/p|/div|/li|/tr|/h[1-6])[ ]?/?>", re.IGNORECASE)
_TAG = re.compile(
    r"</?(?:b|i|u|s|em|strong|span|p|div|sup|sub|mark|code|small|big|font|center|h[1-6]|answer|final|ans|output)"
    r"(?: [^<>]{0,100})?>",
    re.IGNORECASE,
)
_CHAT_TOKEN = re.compile(r"<\|[^|<>\n]{1,40}\|>|</?s>")
_STAR = re.compile(r"(?<![\w*\\])\*(?=[^\s*])([^*\n]*)(?<=\S)\*(?![\w*])")
_UNDERSCORE = re.compile(r"(?<![\w\\])_(?=[^\s_])([^_\n]*)(?<=\S)_(?!\w)")
_DOUBLE = re.compile(r"(?<!\d)\*{2,3}|\*{2,3}(?!\d)|~~|(?<!\w)_{2,3}(?=\w)|(?<=[\w.%])_{2,3}(?!\w)|`+")
_BLANKS = re.compile(r"[ ]{2,}")


def strip_markup(text: str) -> str:
    r"""Markdown, inline HTML and chat tokens taken away, the words they wrap kept, lines kept.

    >>> strip_markup("## Result\n**Answer:** *42* <b>%</b> `x`")
    'Result\nAnswer: 42 % x'
    >>> strip_markup("3 * 4 * 5")
    '3 * 4 * 5'
    """
    if "&" in text:
        text = unescape(text).translate(_WIDTH)
    if "`" in text or "~~~" in text:
        text = _FENCE.sub("", text)
    if "#" in text or ">" in text:
        text = _HEADING.sub("", text)
    if "](" in text:
        text = _LINK.sub(r"\1", text)
    if "<" in text:
        text = _TAG.sub("", _BREAK.sub("\n", _CHAT_TOKEN.sub(" ", text)))
    if "*" in text or "_" in text or "~~" in text or "`" in text:
        text = _UNDERSCORE.sub(r"\1", _STAR.sub(r"\1", _DOUBLE.sub("", text)))
    return text


def normalise_text(text: str) -> str:
    r"""One reading form: width, blanks, invisible characters and markup evened out.

    Lines are kept (they carry meaning in lists of answers); case, accents and
    punctuation are kept too.

    >>> normalise_text("**Réponse :**\u00a0１\u202f234,５　％")
    'Réponse : 1 234,5 %'
    """
    if _ODD.search(text):
        text = text.replace("\r\n", "\n").translate(_READING)
    if _MARKED.search(text):
        text = strip_markup(text)
    if "  " in text:
        text = _BLANKS.sub(" ", text)
    return text.strip()


_MARKED = re.compile(r"[*_~`#<>&\[\]]")


def boxed_contents(text: str) -> list[str]:
    r"""What stands in each \boxed{...} (or \fbox{...}) of a LaTeX text, in order.

    Braces may nest; a box that is cut off reaches to the end of the text.

    >>> boxed_contents(r"so \boxed{\frac{1}{2}} and \boxed{3")
    ['\\frac{1}{2}', '3']
    """
    contents: list[str] = []
    position = 0
    for opening in _BOXED.finditer(text):
        if opening.start() < position:
            continue
        depth, position = 1, len(text)
        for brace in _BRACE.finditer(text, opening.end()):
            depth += 1 if brace[0] == "{" else -1
            if depth == 0:
                position = brace.start()
                break
        contents.append(text[opening.end() : position])
    return contents


_BOXED = re.compile(r"\\f?boxed\s*\{|\\fbox\s*\{")
_BRACE = re.compile(r"(?<!\\)[{}]")
