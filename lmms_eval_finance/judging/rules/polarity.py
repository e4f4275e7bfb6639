"""Yes and no, true and false, "none" and "not stated", in English, French and Chinese."""

from __future__ import annotations

import re

from lmms_eval_finance.judging.rules.findings import Finding
from lmms_eval_finance.judging.rules.lexicon import word_set
from lmms_eval_finance.judging.rules.words import content_words, fold, missing_words, words

__all__ = ["compare_polarity", "is_abstention", "is_none", "polarity", "states_absence"]

_YES = r"yes|yeah|oui|true|vrai|correct|exact|possible|是的|是|对的|对|正确|真"
_NO = r"no|non|false|faux|incorrect|not possible|impossible|不是|不对|否|错误|错|不正确|假|不"
_POLAR = re.compile(rf"(?P<yes>(?:{_YES})(?![a-z]))|(?P<no>(?:{_NO})(?![a-z]))")
_PREDICATE = re.compile(
    r"\b(?:is|are|est|sont|seems|semble)(?: therefore| donc)? (?P<no>(?:not|pas|n est pas) (?:true|correct|possible|vrai|exact)|false|faux|incorrect|impossible)$"
    r"|\b(?:is|are|est|sont)(?: therefore| donc)? (?P<yes>true|correct|possible|vrai|vraie|exact)$"
    r"|(?:说法|判断|命题|结论|表述|观点|答案)(?:是)?(?:(?P<no_zh>不正确|错误|不对|错)|(?P<yes_zh>正确|对))的?$"
)
_LEAD = re.compile(
    r"\W*(?:(?:the |la |le )?(?:final )?(?:answer|reponse|verdict|答案)\s*(?:is|est|为|是)?\W*)?"
)
_WHOLE_NONE = re.compile(
    r"\W*(?:neant|aucune?s?|none|nil|nothing|rien|n ?/ ?a|sans objet|non applicable|not applicable|null?e?s?|无|没有|"
    r"pas d[e ]\s*[\w ]{0,40}|no [a-z ]{1,40}|aucune?s? [\w ]{0,60})?\W*"
)
_ABSTENTION = re.compile(
    r"(?:n est|ne sont|not|non|pas|isn t|aren t) (?:pas )?(?:explicitement |explicitly |clairement |clearly )?"
    r"(?:mentionnee?s?|precisee?s?|indiquee?s?|fournie?s?|disponibles?|specifiee?s?|visibles?|mentioned|provided|"
    r"specified|stated|available|shown|given|visible)"
    r"|(?:does|do|did|ne|can|could) ?(?:not|pas)? (?:mention|specify|provide|state|indicate|contain|include|fournit|"
    r"mentionne|precise|indique|contient)\w* (?:not|pas|a|any|the|d)\b"
    r"|aucune? (?:information|mention|donnee|date|indication)"
    r"|\b(?:cannot|can t|can not|could not|unable to|impossible de|ne peux pas|ne peut pas) (?:be )?(?:determine|tell|answer|see|find|"
    r"identif|read|repondre|determiner|lire|voir|trouver)\w*|\bi (?:don t|do not) (?:know|see|have)\b|\b(?:sorry|desole)\b"
    r"|\b(?:non|not) (?:applicable|communiquee?|renseignee?|determinee?|determined|disclosed)\b"
    r"|无法|未提供|没有提供|未提及|没有提到|抱歉"
)


def polarity(text: str) -> bool | None:
    """Whether an answer opens or ends with yes (True) or no (False); None where it says neither.

    >>> [polarity(text) for text in ("Oui, en 2019.", "**Faux**", "The answer is no.", "不是", "PLUVALCA")]
    [True, False, False, False, None]
    """
    folded = fold(text).strip()
    lead = _LEAD.match(folded)
    found = _POLAR.match(folded, lead.end() if lead else 0)
    if found is None:
        tail = re.split(r"[.!?。:：\n]\s*", folded.rstrip(" .!?。"))[-1].strip()
        lead = _LEAD.match(tail)
        found = _POLAR.fullmatch(tail, lead.end() if lead else 0)
    if found is None:
        found = _PREDICATE.search(tail)
    if found is None:
        return None
    groups = found.groupdict()
    return bool(groups.get("yes") or groups.get("yes_zh"))


def is_none(text: str) -> bool:
    """Whether a whole answer says that there is none: a dash, "Néant", "Aucun frais", "No fee".

    >>> [is_none(text) for text in ("-", "Néant.", "Aucune commission", "no performance fee", "Aucun doute : 5 %")]
    [True, True, True, True, False]
    """
    return _WHOLE_NONE.fullmatch(fold(text).strip()) is not None


def is_abstention(text: str) -> bool:
    """Whether an answer declines: not mentioned, not visible, cannot tell.

    >>> [is_abstention(text) for text in ("Non mentionné dans le contexte", "The context does not mention a date", "5 %")]
    [True, True, False]
    """
    return _ABSTENTION.search(fold(text)) is not None


def states_absence(text: str) -> bool:
    """Whether a text says in any form that something does not exist or does not apply.

    >>> states_absence("Nous ne facturons pas de coût de sortie"), states_absence("5,00 %")
    (True, False)
    """
    tokens = set(words(fold(text)))
    return is_none(text) or bool(
        tokens
        & {
            "aucun",
            "aucune",
            "aucuns",
            "aucunes",
            "no",
            "non",
            "neant",
            "none",
            "sans",
            "without",
            "never",
            "jamais",
        }
        or ({"ne", "n"} & tokens and {"pas", "aucun", "aucune", "jamais", "plus"} & tokens)
        or ({"not"} & tokens)
        or set("无没不未否") & tokens
    )


def compare_polarity(gold: str, answer: str, question: str = "") -> Finding:
    """Compare an answer to a yes/no or true/false question with its gold.

    A short answer that is neither is wrong, unless it takes up words of the question
    ("EUR" where the question is whether the fund is in euros).

    >>> compare_polarity("Non", "Néant").verdict, compare_polarity("Vrai", "yes").verdict
    (True, True)
    """
    wanted, given = polarity(gold), polarity(answer)
    if given is None and (letter := _LETTER.fullmatch(answer.strip())):
        given = letter[1].upper() in "VTYO"
    if wanted is None:
        return Finding(None, "the gold is neither yes nor no")
    if given is None and is_none(answer):
        given = False
    if given is not None:
        return Finding(given == wanted, "yes and no compared")
    if is_abstention(answer):
        return Finding(False, "no answer given")
    tokens = words(fold(answer))
    echo = len(missing_words(content_words(tokens), words(fold(question)))) < len(content_words(tokens))
    if (
        len(content_words(tokens)) <= 4
        and not echo
        and not set(tokens) & _ADVERBS
        and not any(token in ("0", "0%") for token in tokens)
    ):
        return Finding(False, "neither yes nor no")
    return Finding(None, "neither yes nor no")


_LETTER = re.compile(r"\W*([VFTYONvftyon])\W*")  # an initial alone: V/F, T/F, Y/N, O/N
_ADVERBS = word_set(
    "applicable applicables possible probable probablement oui non likely unlikely partly partially partiellement parfois "
    "sometimes depends depend peut may might toujours always jamais never"
)
