"""Where an answer announces its final statement."""

from __future__ import annotations

import re

# A word to look for, and the announcement that begins with it.
_CUES = (
    ("answer", re.compile(r"answers?[\"'*]*(?: ?[:：=→]| (?:to [^.:\n]{1,80} )?(?:is|are|would be|should be|comes to|equals)\b ?:?)")),
    ("final", re.compile(r"final (?:answer|result|value)[\"'*]*(?: is| =| of)? ?[:：]?")),
    ("value", re.compile(r"value[\"'] ?:")),
    ("result", re.compile(r"result[\"'*]* ?[:：]")),
    ("réponse", re.compile(r"réponse(?: finale| correcte| exacte)?[\"'*]*(?: ?[:：=]| (?:est|serait)(?: donc)?\b ?:?)")),
    ("résultat", re.compile(r"résultat(?: final)?[\"'*]* ?(?:[:：]|est\b)")),
    ("答案", re.compile(r"答案[\"'*]*(?:应该|应|就)?(?:是|为|[:：=])?[:：]?")),
    ("结果", re.compile(r"结果[\"'*]*(?:应该|应|就)?(?:是|为|[:：=])[:：]?")),
    ("####", re.compile(r"####")),
)  # fmt: skip
CORRECTION = re.compile(
    r"\b(?:wait|actually|correction|scratch that|let me (?:re\w+|correct)|no,|oops|on second thought|attendez|en fait|pardon"
    r"|erratum)\b|等等|不对|更正|其实"
)
_REMARKS = (
    "note|nb|n\\.b|this compares|by comparison|for comparison|in comparison|for reference|in contrast|this assumes|assum|as in"
    "|disclaimer|source|rounded|confidence|let me know|i hope|feel free|please|if you|see |n'hésitez|si vous|remarque|à noter"
    "|pour rappel|à titre de comparaison|pour comparaison|certitude|confiance|如需|如果您|希望|请|置信|注|备注|相比|其中|作为对比"
)
REMARK = re.compile(rf"[ *>(-]*(?:{_REMARKS})")
"""How a sentence begins that no longer answers."""
_NUMERAL = re.compile(r"[\d零〇一二三四五六七八九十]")


def last_cue(lower: str) -> int | None:
    """Where the text after the last announcement begins, if a numeral follows it and no correction does.

    >>> last_cue("answer: 3. wait, it is 4"), last_cue("answer: 3, so answer: 4")
    (None, 21)
    """
    numeral = _NUMERAL.search(lower[::-1])
    stop = len(lower) - numeral.start() if numeral else 0
    last = -1
    for word, announcement in _CUES:
        position = lower.rfind(word, 0, stop)
        while position > last:
            match = announcement.match(lower, position, stop)
            if match and match.end() < stop:
                last = max(last, match.end())
                break
            position = lower.rfind(word, 0, position)
    if last < 0 or CORRECTION.search(lower, last, stop):
        return None
    return last
