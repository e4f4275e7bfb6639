"""The text that a model says it has read, out of whatever it wrote around it.

For recognition tasks whose answer is the text itself. Only what is plainly a wrapper goes:
thinking blocks, code fences, an object with one text, markup, an announcement that ends in a
colon, quotation marks around the whole. Prose stays, and costs.
"""

from __future__ import annotations

import re

from lmms_eval_finance.metrics.json_reading import fenced_blocks, find_json
from lmms_eval_finance.metrics.normalise import boxed_contents, strip_markup, strip_reasoning

_OPENING = re.compile(r"<(answer|ocr|text)>", re.IGNORECASE)
_TEXT_KEYS = frozenset(
    (
        "text",
        "content",
        "seal_text",
        "answer",
        "result",
        "文字",
        "内容",
        "文本",
        "文字内容",
        "印章文字",
        "印章内容",
    )
)
_SEAL = r"(?:印章|图章|圖章|公章|私章|章|图片|图中|图像|图)"
_ANNOUNCED = re.compile(
    rf"(?:(?:这个|该|此|这枚|圖中|{_SEAL}|中|里|上)*的?(?:识别|印刷)?(?:文字|文本|内容|文字内容|结果|识别结果|答案|字样)"
    r"(?:识别)?(?:结果)?(?:如下|是|为)?[:：]"
    r"|(?:the |its )?(?:final |recogni[sz]ed |extracted |ocr |seal |stamp )*"
    r"(?:text|answer|result|output|transcription|content|seal|stamp)s?"
    r"(?: (?:of|on|in) the (?:seal|stamp|picture|image))?(?: (?:is|reads?|says?|are|as follows))*[:：])\s*",
    re.IGNORECASE,
)
_QUOTES = ("“”", "「」", "『』", "‘’", '""', "''", "``")
_LONGEST_LEAD = 60


def transcribed(response: str) -> str:
    r"""The text that a response gives as what it read; the response itself where it wraps nothing.

    >>> transcribed("<think>red, round</think>印章文字：“北京某某公司\n财务专用章”")
    '北京某某公司\n财务专用章'
    >>> transcribed('```json\n{"text": "某某公司"}\n```'), transcribed("Answer: **某某公司**")
    ('某某公司', '某某公司')
    >>> transcribed("编号：123")
    '编号：123'
    """
    text = strip_reasoning(response).strip()
    tagged = [_tagged(text, opening) for opening in list(_OPENING.finditer(text))[-1:]]
    boxed = [content for content in boxed_contents(text) if content.strip()]
    fenced = [block for block in fenced_blocks(text) if block.strip()]
    inner = next((found[-1] for found in (tagged, boxed, fenced) if found), text)
    inner = _unwrapped_json(inner)
    return _unquoted(_unannounced(strip_markup(inner).strip()))


def _tagged(text: str, opening: re.Match[str]) -> str:
    """What stands between a tag and its closing twin, or the end."""
    return text[opening.end() :].partition(f"</{opening[1]}>")[0]


def _unwrapped_json(text: str) -> str:
    """The text of an object, or the texts of a list, where the whole is nothing else."""
    if not text.lstrip().startswith(("{", "[")):
        return text
    found = next(find_json(text), None)
    if found is None or text[found.end :].strip():
        return text
    value = found.value
    if isinstance(value, dict):
        named = [member for key, member in value.items() if len(value) == 1 or key.lower() in _TEXT_KEYS]
        value = named[0] if len(named) == 1 else None
    if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
        return "\n".join(value)
    return value if isinstance(value, str) else text


def _unannounced(text: str) -> str:
    """Without a first line, or the head of one, that only announces the text."""
    found = _ANNOUNCED.match(text[:_LONGEST_LEAD])
    rest = text[found.end() :] if found else ""
    return rest.strip() or text


def _unquoted(text: str) -> str:
    """Without quotation marks around the whole."""
    inner = text[1:-1]
    return inner.strip() if text[:1] + text[-1:] in _QUOTES and inner and text[-1] not in inner else text
