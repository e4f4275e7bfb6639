"""Reply text made ready for reading letters: width, markup and LaTeX evened out, stated answers marked."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from lmms_eval_finance.metrics.normalise import strip_markup, strip_reasoning

__all__ = ["STATED", "STATED_END", "lowered", "prepare"]

STATED, STATED_END = "\x02", "\x03"
"""Marks around what the model framed as its answer: a box, an answer tag, the answer field of JSON."""

# A reply beyond this length (its reasoning not counted) is read at both ends only.
_LONGEST, _HEAD, _TAIL = 20_000, 4_000, 15_000


_PLAIN_FOR = {
    character: plain
    for characters, plain in (
        ("’‘´′", "'"),
        ("“”„″«»「」『』《》", '"'),
        ("【〔〖", "["),
        ("】〕〗", "]"),
        ("−‐‑‒–—―", "-"),
        ("✔☑✅🗹", "✓"),
        ("✘❌✖☒❎", "✗"),
        ("⇒➔➜➡⟶⟹▶►", "→"),
        ("•‣◦▪●○■□➤◆", "*"),
        ("\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029", "\n"),
        ("\t\xa0", " "),
        ("\0" + STATED + STATED_END, ""),
    )
    for character in characters
} | {  # letters in discs, in squares, as flags
    chr(first + index): chr(ord("A") + index) for first in (0x1F150, 0x1F170, 0x1F1E6) for index in range(26)
}
_ODD_ASCII = [(character, plain) for character, plain in _PLAIN_FOR.items() if character.isascii()]
# Everything but the characters that stay as they are; few ranges, since each costs time at every character.
_UNUSUAL = re.compile("[^\n -~\xc0-\u024f\u4e00-\u9fff、。]")
_COMBINING = re.compile("[\u0300-\u036f]")
_COMBINED = re.compile("[A-Za-z][\u0300-\u036f]+")


@lru_cache(maxsize=2048)
def _usual(characters: str) -> str:
    plain = _PLAIN_FOR.get(characters)
    if plain is not None:
        return plain
    if unicodedata.category(characters[0]) == "Cf" or "\ufe00" <= characters <= "\ufe0f":
        return ""
    plain = unicodedata.normalize("NFKC", characters)
    return (
        "".join(_PLAIN_FOR.get(character, character) for character in plain) if len(plain) < 8 else characters
    )


_PLAIN = re.compile(r"[ !\"%-),-;=?-Z^a-z|}\n'+]*")  # no markup of any kind
# Traditional characters of the words that announce, affirm or deny an answer, and their simplified forms.
_TRADITIONAL = dict(
    zip(
        "選為應確錯誤項對說無時終該結論擇屬於價題還沒會並認覺當議斷與兩個這",
        "选为应确错误项对说无时终该结论择属于价题还没会并认觉当议断与两个这",
        strict=True,
    )
)
_ANY_TRADITIONAL = re.compile("[" + "".join(_TRADITIONAL) + "]")
_ADDRESS = re.compile(r"https?://\S{1,500}|(?<![A-Za-z])[A-Za-z]:\\\w\S{0,300}")
# 'A: C' answers a question; it lists nothing.
_ANSWER_SIGN = re.compile(r"(?:\A|\n|(?<=[?.] ))A: ?(?=\(?[A-Za-z]\)?\.?\s*(?:\n|\Z))")
_STRUCK = re.compile(r"~~[^~\n]{1,300}~~|<(s|del|strike)>[^<>]{0,300}</\1>", re.IGNORECASE)
_ANSWER_TAG = re.compile(
    r"<(/)?(?:final_?answer|answer|final|choice|option)>|<\|(?:begin|(end))_of_box\|>", re.I
)
_CLOSED_ANSWER = re.compile(r"<answer>[^<>]{1,300}</answer>", re.IGNORECASE)
_CHECKBOX = re.compile(r"^([\s*-]{0,6})\[( {1,3}|[xX])\] {1,3}(?=\S)", re.MULTILINE)
_LATEX_WORD = re.compile(r"\\(?:text|math|operatorname)[a-z]{0,8}\s{0,3}\{([^{}]{0,300})\}")
_LATEX_LAYOUT = re.compile(r"\\(?:q?quad|left|right|displaystyle)(?![a-z])|\\[,;:! ()\[\]\\]")
_LATEX_ESCAPE = re.compile(r"\\(?=[%$&#_{}])")
_BOX = re.compile(r"\${0,2}\s{0,3}\\(?:f?boxed|fbox)\s{0,3}\{{1,4}([^{}]{0,300})\}{0,4}\s{0,3}\${0,2}")
_DOLLARS = re.compile(r"\${1,2} ?(\(?[A-Za-z]\)?(?:(?: ?[,;&] ?| )?\(?[A-Za-z]\)?){0,8}) ?\${1,2}(?![\w.])")
_JSON_ANSWER = re.compile(
    r"""(?<![A-Za-z_])
    (?:(?:final|correct|selected|chosen|predicted|your|my|best)?[_ ]?(?:answers?|option|choice|selection|letters?)
    |(?:selected|chosen|correct|final)(?:[_ ](?:options|choices))?|prediction|答案|选项|选择|r[ée]ponses?|choix)
    ["']?\s{0,9}:\s{0,9}
    ("[^"\n]{0,300}"|'[^'\n]{0,300}'|\[[^\[\]]{0,300}\]|[A-Za-z]\w{0,12}(?=\s*[,}\n]))""",
    re.VERBOSE | re.IGNORECASE,
)
_MARKUP = re.compile(r"[*_#<>&~\[]")
_BLANKS = re.compile(r" {2,}")
_FRAMED = rf"\n{STATED}\1{STATED_END}\n"


def prepare(text: str) -> str:
    r"""The reply as plain text without its reasoning; stated answers stand between marks.

    >>> prepare("<think>B?</think>**Réponse\u00a0:** Ｃ")
    'Réponse : C'
    >>> prepare(r"So $\boxed{\text{C}}$.")
    'So\n\x02C\x03\n.'
    """
    if len(text) > _LONGEST or "A:" in text or ":/" in text or not _PLAIN.fullmatch(text):
        text = _without_reasoning(text.replace("\r\n", "\n"))
        if len(text) > _LONGEST:
            text = f"{text[:_HEAD]}\n\n{text[-_TAIL:]}"
        if text.isascii():
            for odd, plain in _ODD_ASCII:
                text = text.replace(odd, plain)
        else:
            text = _UNUSUAL.sub(lambda found: _usual(found[0]), text)
            if _COMBINING.search(text):
                text = _COMBINED.sub(lambda found: unicodedata.normalize("NFC", found[0]), text)
            text = _ANY_TRADITIONAL.sub(lambda found: _TRADITIONAL[found[0]], text)
        text = _without_markup(text)
    if "  " in text:
        text = _BLANKS.sub(" ", text)
    text = text.replace(" \n", "\n").replace("\n ", "\n").strip(" \n")
    return _ANSWER_SIGN.sub("\nAnswer: ", text).strip() if "A:" in text else text


def _without_reasoning(text: str) -> str:
    """The text after its thinking blocks; an answer tag counts even where thinking was never closed."""
    answer = strip_reasoning(text)
    if not answer.strip() and (tags := _CLOSED_ANSWER.findall(text)):
        return str(tags[-1])
    return answer


def _without_markup(text: str) -> str:
    if "~~" in text or "<" in text:
        text = _STRUCK.sub("", text)
    if ":/" in text or ":\\" in text:
        text = _ADDRESS.sub("", text)
    if "[" in text:
        text = _CHECKBOX.sub(lambda box: box[1] + ("✗ " if box[2].isspace() else "✓ "), text)
    if "\\" in text:
        text = _LATEX_WORD.sub(r"\1", _LATEX_WORD.sub(r"\1", text))
        text = _LATEX_LAYOUT.sub(" ", text)
        text = _BOX.sub(_FRAMED, text)
        text = _LATEX_ESCAPE.sub("", text)
    if "$" in text:
        text = _DOLLARS.sub(r"\1", text)
    if "<" in text:
        text = _ANSWER_TAG.sub(lambda tag: STATED_END + "\n" if tag[1] or tag[2] else "\n" + STATED, text)
    if "**" in text or "`" in text:  # the common case, at the speed of plain strings
        text = text.replace("**", "").replace("`", "")
    if _MARKUP.search(text):
        text = strip_markup(text)
    if "{" in text:
        text = _JSON_ANSWER.sub(rf"\n{STATED}\1{STATED_END}\n", text)
    return text


_ACCENTED = re.compile("[\xc0-\u024f]")
_UNACCENTED = {
    chr(code): base
    for code in range(0xC0, 0x250)
    if (base := unicodedata.normalize("NFD", chr(code))[0]).isascii()
}


def lowered(text: str) -> str:
    """Lower case without accents, every character at its place.

    >>> lowered("Ｌa Réponse")
    'ｌa reponse'
    """
    lower = text.lower()
    if lower.isascii():
        return lower
    if len(lower) != len(text):
        lower = "".join(character.lower()[0] for character in text)
    return _ACCENTED.sub(lambda found: _UNACCENTED.get(found[0], found[0]), lower)
