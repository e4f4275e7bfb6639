"""Replies that hold no answer: refusals, replies cut off at the token limit, error messages of the machinery."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from lmms_eval_finance.metrics.json_reading import find_json
from lmms_eval_finance.metrics.normalise import normalise_text, strip_reasoning

__all__ = ["cut_before_answer", "declines", "infrastructure_error", "is_cut", "is_refusal", "says_something"]

# Signs that can be a whole answer.
_ANSWER_SIGNS = "√×✓✗✔✘∅%"


def says_something(text: str) -> bool:
    """Whether a reply, its reasoning cut out, holds more than blanks and punctuation.

    >>> says_something("<think>hm</think> ..."), says_something("√")
    (False, True)
    """
    return any(character.isalnum() or character in _ANSWER_SIGNS for character in strip_reasoning(text))


# ---- refusals ----------------------------------------------------------------------

_LONGEST_REFUSAL = 2_000
_CLAUSE_END = re.compile(
    r"[.!?;:](?=\s|\Z)|[。！？；：\n]|[,，](?=\s?[\u4e00-\u9fff])|,?\s+(?:but|so|however|therefore|although|though|yet|mais|donc|cependant|toutefois)\b,?"
    r"|[,，]?(?:但是?|所以|因此|不过|然而)",
    re.IGNORECASE,
)
_REFUSES = re.compile(
    r"""
    \bI(?:\ am|'m|\ was|'d\ be)?\ (?:(?:really|still|currently|also|just|simply|afraid\ (?:that\ )?I)\ )*
        (?:cannot|can't|can\ ?not|could\ not|couldn't|unable|not\ (?:able|allowed|permitted|comfortable|sure|certain|capable)
        |must\ decline|have\ to\ decline|decline|refuse|won't|will\ not|do\ not\ (?:know|have)|don't\ (?:know|have)|have\ no\ (?:way|idea|access))\b
    |^(?:unable|not\ able)\ to\ (?:answer|help|assist|determine|process|view|read|see|comply|provide)\b
    |\b(?:je|j')\ ?(?:ne\ |n')?\ ?(?:peux|puis|sais|dispose|ai|vois|parviens|suis)\ (?:malheureusement\ )?pas\b
    |\bje\ (?:refuse|ne\ sais|ne\ saurais|suis\ (?:dans\ l'(?:incapacité|impossibilité)|incapable))\b
    |\bil\ m'est\ impossible\b|^impossible\ (?:de\ (?:répondre|vous|dire)|pour\ moi)
    |^(?:很?抱歉|对不起|很遗憾)?[,，\ ]*(?:作为[^,，。]{1,16}[,，]\ ?)?(?:我们?|本人|目前|暂时|现在|还|确实)*
        (?:无法|不能|没办法|没法|难以|不便|不会|拒绝)(?:直接|准确|为您|帮您|对此|再)?
        (?:回答|提供|确定|判断|识别|查看|看到|看清|作答|帮助|协助|处理|完成|给出|读取|访问|分析|满足|得出|解答|辨认)
    |^(?:很?抱歉|对不起|很遗憾)?[,，\ ]*我(?:不知道|不清楚|不确定|不会|看不到|看不清|没有(?:办法|能力|足够|看到))
    """,
    re.IGNORECASE | re.VERBOSE,
)
_FILLS = re.compile(
    r"""
    (?:I(?:'m|\ am)?\ )?(?:very\ |so\ |really\ )?sorry\b|(?:I\ |my\ )?apolog|unfortunately\b|regrettably\b|as\ an?\ (?:AI|language|artificial)\b
    |please\b|(?:could|can|would)\ you\b|if\ you\b|let\ me\ know|feel\ free|thank|I(?:'d|\ would|'m|\ am)?\ (?:be\ )?(?:happy|glad)\b|I\ can\ only\b
    |(?:because|since|due\ to|without|as)\b
    |(?:the|this|your)\ (?:image|picture|chart|table|file|document|photo|figure|text)s?\ (?:is|are|was|were|seems?|appears?)\ (?:too|not|un|ill|miss|blur|cut)
    |(?:there\ is\ )?no\ (?:image|picture|chart|table|file|document)\b
    |(?:je\ suis\ )?(?:vraiment\ )?désolée?\b|je\ regrette\b|malheureusement\b|veuillez\b|merci\ de\b|pourriez\b|pouvez\b|si\ vous\b|n'hésitez
    |en\ tant\ qu|car\b|parce\ qu|(?:l'image|le\ (?:tableau|graphique|document))\ (?:est\ (?:trop\ )?(?:floue?|illisible)|n'est\ pas)
    |很?抱歉|对不起|很?遗憾|请|如果您?|作为|因为|由于|(?:图片|图像|表格|文件)(?:内容)?(?:不|模糊|过于|太|没有)|您可以|建议您
    """,
    re.IGNORECASE | re.VERBOSE,
)
_FILTERED = re.compile(
    r"content[ _](?:management[ _])?(?:policy|filter)|safety system|prompt was flagged", re.IGNORECASE
)


def _clauses(text: str) -> Iterator[str]:
    plain = normalise_text(strip_reasoning(text)).strip(" \"'*")
    if len(plain) > _LONGEST_REFUSAL:
        return
    start = 0
    while start <= len(plain):
        end = _CLAUSE_END.search(plain, start)
        if clause := plain[start : end.start() if end else len(plain)].strip(" ,，\"'()-*"):
            yield clause
        if end is None:
            return
        start = end.end()


def is_refusal(text: str) -> bool:
    """Whether a reply declines and does nothing else, in English, French or Chinese.

    Every clause must decline, apologise, give the reason, or ask for something. So a
    reply that also states an answer is no refusal, and neither is a statement about the
    material ('the table does not say'), which can be an answer.

    >>> is_refusal("Désolé, je ne peux pas répondre."), is_refusal("I cannot be exact, but it is about 5%.")
    (True, False)
    """
    if _FILTERED.search(text[:500]) and len(text) < 600:
        return True
    refuses = False
    for clause in _clauses(text):
        if _REFUSES.search(clause):
            refuses = True
        elif not _FILLS.match(clause):
            return False
    return refuses


def declines(text: str) -> bool:
    """Whether any clause of a reply declines, whatever else it says.

    >>> declines("The image shows two bars. I cannot tell which is meant.")
    True
    """
    return any(_REFUSES.search(clause) for clause in _clauses(text))


# ---- cut off -----------------------------------------------------------------------

_LONG = 300
_MID_SENTENCE = re.compile(r"[\w,，、;；:：(（=+\-*/&<]\Z")
_LONGEST_LOOP, _ROUNDS = 200, 4


def cut_before_answer(text: str) -> bool:
    """Whether a reply broke off before it said anything: while thinking, or before the first value of its JSON.

    >>> cut_before_answer("<think>First, the revenue"), cut_before_answer('{"answer": "B')
    (True, True)
    >>> cut_before_answer('{"answer": "B", "explanation": "the')
    False
    """
    if _still_thinking(text) and not says_something(text):
        return True
    answer = strip_reasoning(text).strip().removeprefix("```json").removeprefix("```").strip()
    if not answer.startswith(("{", "[")):
        return False
    found = next(find_json(answer), None)
    if found is None:
        return _OPENS_JSON.match(answer) is not None
    return not found.closed and not _holds_anything(found.value)


_OPENS_JSON = re.compile(r"[{\[]\s*(?:[{\[\"'].*)?\Z", re.DOTALL)


def _holds_anything(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_holds_anything(part) for part in value.values())
    return any(_holds_anything(part) for part in value) if isinstance(value, list) else True


def is_cut(text: str) -> bool:
    """Whether a reply shows any sign of having been cut off at the token limit.

    The signs: an open reasoning block, JSON or code fence, and in a long text an end in
    the middle of a sentence or a loop that repeats itself to the end.

    >>> is_cut('{"q1": "A", "q2": "12'), is_cut("The answer is B")
    (True, False)
    """
    if _still_thinking(text):
        return True
    answer = strip_reasoning(text).rstrip()
    if answer.count("```") % 2:
        return True
    if any(not found.closed and found.end >= len(answer) for found in find_json(answer)):
        return True
    if len(answer) < _LONG:
        return False
    return bool(_MID_SENTENCE.search(answer)) or _loops(answer)


def _still_thinking(text: str) -> bool:
    """Whether a reasoning block is open at the end, so that whatever followed would belong to it."""
    return not strip_reasoning(text + "\nend").endswith("end")


def _loops(text: str) -> bool:
    tail = text[-_LONGEST_LOOP * _ROUNDS :]
    return any(
        tail.endswith(tail[-size:] * _ROUNDS)
        for size in range(4, min(_LONGEST_LOOP, len(tail) // _ROUNDS) + 1)
    )


# ---- errors of the machinery -------------------------------------------------------

_HOST_MARK = re.compile(r"LMMS_EVAL_(?:REQUEST_FAILED|BUDGET_EXCEEDED)")
_EXCEPTION = re.compile(
    r"(?:[a-z]\w{0,30}\.){0,6}[A-Z]\w{1,50}(?:Error|Exception|Timeout|Exhausted)\b|Traceback \(most recent call last\)"
)
_TAGS = re.compile(r"(?:<[^<>]{1,80}> ?){1,8}")
_LABELS = re.compile(
    r"(?:[\"'{(\[ ]{0,4}(?:error code|error|api error|message|exception|request failed|failed(?! to)|failure|http(?:/\d(?:\.\d)?)?"
    r"|status(?: code)?)\b[\"'\]]?(?: ?[:=-])? ?){1,4}[\"'{ ]{0,3}",
    re.IGNORECASE,
)
_STATUS = re.compile(
    r"(?:408|429|5\d\d)\W{1,3}(?:bad gateway|service (?:temporarily )?unavailable|gateway time|internal (?:server )?error"
    r"|too many requests|request time|server(?: is)? (?:error|overloaded|unavailable|busy)|client closed|overloaded"
    r"|connection (?:timed|error|refused|reset|closed)|web server|(?:unknown )?error\b)",
    re.IGNORECASE,
)
_CODE = re.compile(r"error code: ?\d{3}", re.IGNORECASE)
_PHRASES = (
    "bad gateway", "gateway time", "service unavailable", "service temporarily unavailable", "internal server error",
    "too many requests", "rate limit reached", "rate limit exceeded", "rate limit error", "ratelimit", "request timed out",
    "the request timed out", "request timeout", "request was aborted", "read timed out", "operation timed out",
    "connection error", "connection refused", "connection reset", "connection aborted", "connection closed",
    "connection timed out", "connection to host", "connection to api", "timed out after", "timed out while", "timed out waiting", "timeout error",
    "max retries exceeded", "upstream connect", "upstream request", "the server is currently", "the server is overloaded", "server is overloaded",
    "the server had an error", "the model is overloaded", "the model is currently overloaded", "the engine is currently",
    "overloaded_error", "insufficient_quota", "quota exceeded", "you exceeded your current quota", "incorrect api key",
    "invalid api key", "cuda out of memory", "cuda error", "out of memory.", "httpsconnectionpool", "httpconnectionpool",
    "cannot connect to host", "name or service not known", "this model's maximum context length", "failed to connect",
    "failed to generate", "failed to fetch", "failed to establish", "network error:", "server error:", "api error:",
    "api error.", "request error:", "inference error:", "generation error:",
)  # fmt: skip
_WHOLE = frozenset(
    ["timeout", "timed out", "api error", "api timeout", "request failed", "generation failed", "network error",
     "server error", "out of memory"]
)  # fmt: skip
_LONGEST_ERROR, _OPENING = 4_000, 300


def infrastructure_error(text: str) -> str | None:
    """The beginning of an error message that some layer wrote in place of a reply; None if it is none.

    What counts: the host's own marks (`[LMMS_EVAL_REQUEST_FAILED ...`), exceptions by
    name, HTTP status errors, time-outs, refused connections, rate and quota limits, device
    memory. The message must open the text, so that an answer that mentions an error is an
    answer. Such an item says nothing about the model.

    >>> infrastructure_error("[LMMS_EVAL_REQUEST_FAILED after 5 retries] Request timed out.")
    'LMMS_EVAL_REQUEST_FAILED after 5 retries] Request timed out.'
    >>> infrastructure_error("Error: the margin fell, so B is wrong") is None
    True
    """
    if not isinstance(text, str) or len(text) > _LONGEST_ERROR:
        return None
    opening = " ".join(text[:_OPENING].split()).strip("\"'[]({ })")
    if tags := _TAGS.match(opening):
        opening = opening[tags.end() :]
    labels = _LABELS.match(opening)
    message = opening[labels.end() :] if labels else opening
    found = (
        _HOST_MARK.match(opening)
        or _EXCEPTION.match(opening)
        or _CODE.match(opening)
        or _EXCEPTION.match(message)
        or _STATUS.match(message)
        or message.lower().startswith(_PHRASES)
        or opening.lower().startswith(_PHRASES)
        or opening.lower().strip(" .:!") in _WHOLE
        or (message.lower().strip(" .:!\"'}") in _WHOLE and labels)
    )
    return opening[:100] if found else None
