r"""What an answer states in the end: JSON field, box, "Answer:" line, or the text itself."""

from __future__ import annotations

import re

from lmms_eval_finance.metrics.normalise import boxed_contents, normalise_text, strip_reasoning

__all__ = ["MAX_LENGTH", "final_statement", "tidy_gold"]

# A short answer stands at the head or at the end of a long text; the rest is not read.
_HEAD, _TAIL = 600, 1_400
MAX_LENGTH = _HEAD + _TAIL

_FIELD = re.compile(
    r'"(?:final_?)?(?:answer|réponse|reponse|答案)"\s*:\s*(?:"((?:[^"\\]|\\.){0,4000})"|([^,}\n]{1,200}))',
    re.IGNORECASE,
)
_CUE = re.compile(
    r"(?:^|\n|(?<=[.!?。]) ?)[\s>*#-]*(?:(?:the |so |thus |therefore |hence ),? ?)*(?:final |correct |short |my )?(?:answer|conclusion)"
    r"(?: is|:| =|：)+[\s:]*(?P<en>[^\n]{1,2000})"
    r"|(?:^|\n)[\s>*#-]*(?:la |ma )?réponse(?: finale| correcte)?(?: est|\s*:)+\s*(?P<fr>[^\n]{1,2000})"
    r"|(?:最终|正确)?答案(?:是|为|[:：])+\s*(?P<zh>[^\n]{1,2000})",
    re.IGNORECASE,
)
_LEAD = re.compile(
    r"^\W*(?:(?:the |a )?(?:answer|réponse|reponse|答案)\s*[:：]\s*|[A]\s*:\s+)", re.IGNORECASE
)


def final_statement(answer: str) -> str:
    r"""The part of a model's output that holds its answer, without reasoning and markup.

    >>> final_statement("<think>5?</think>**Answer:** CACEIS Bank")
    'CACEIS Bank'
    >>> final_statement('{"answer": "Stock A", "explanation": "its alpha"}')
    'Stock A'
    """
    answer = strip_reasoning(answer)
    if len(answer) > MAX_LENGTH:
        answer = answer[:_HEAD] + "\n" + answer[-_TAIL:]
    if "{" in answer and (field := _FIELD.search(answer)) is not None:
        answer = field[1] if field[1] is not None else field[2]
        return normalise_text(answer.replace("\\n", "\n").replace('\\"', '"'))
    if "boxed" in answer and (boxes := [box for box in boxed_contents(answer) if box.strip()]):
        return normalise_text(re.sub(r"\\text\s*\{([^{}]*)\}", r"\1", boxes[-1]))
    answer = _LEAD.sub("", normalise_text(answer))
    cues = list(_CUE.finditer(answer))
    if cues:
        stated = next(part for part in cues[-1].groups() if part)
        return stated.strip()
    return answer


def tidy_gold(gold: object) -> str:
    """A released gold as text: spreadsheet numbers without a float's tail, blanks and an "A :" cut off.

    >>> tidy_gold(2013.0), tidy_gold(0.0241), tidy_gold(" 5,00 %\\n"), tidy_gold("A : le fonds")
    ('2013', '0.0241', '5,00 %', 'le fonds')
    """
    if gold is None or gold != gold:  # NaN, an empty cell
        return ""
    if isinstance(gold, float):
        gold = format(gold, ".12g")
    text = re.sub(r"^A ?: (?=\S)", "", normalise_text(str(gold)[:MAX_LENGTH]))
    return text.upper() if re.fullmatch(r"\W*[a-z]\W*", text) else text
