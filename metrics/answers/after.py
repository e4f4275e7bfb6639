"""What the words after a mention say about it: right, wrong, a question, or nothing."""

from __future__ import annotations

import re

from lmms_eval_finance.metrics.answers.lexicon import words
from lmms_eval_finance.metrics.answers.strength import Cue, Strength

__all__ = ["ends_clause", "line_verdict", "read_after", "stands_last"]

_WRONG = (
    r"incorrect|wrong|false|inaccurate|untrue|invalid|excluded|eliminated|rejected|ruled out|unsupported|irrelevant"
    r"|impossible|distractors?|tempting|inconsistent|implausible|unlikely|out\b(?! of)|never|off\b|contradicted"
    r"|misleading|flawed|worse|weaker|inferior|faux\b|fausses?\b|incorrecte?s?|inexacte?s?|erronee?s?|a (?:ecarter|exclure|eliminer|rejeter)"
    r"|ecartee?s?|exclue?s?|eliminee?s?"
)
_RIGHT = (
    r"correcte?s?\b|right\b|true\b|accurate|valid\b|best\b|appropriate|suitable|supported|justes?\b|vraie?s?\b|exacte?s?\b"
    r"|bonnes?\b|valides?\b|meilleure?\b|consistent|confirmed|it\b(?=[.!]|\Z)|ones?\b|what i|(?:only|most \w+|seule) (?:options?|statements?|alternatives?)\b"
)
_CHOSEN = r"(?:\w+ ){0,3}?(?:answers?|picks?|choices?|reponses?|choix)\b"
_ADVERB = (
    r"(?:the|a|an|also|both|all|clearly|indeed|therefore|thus|definitely|most|more|only|likely|probably|simply|actually|my"
    r"|our|your|then|in fact|factually|certainly|obviously|each|equally|final|to be|very|strongly|hence|too|as well|la|le"
    r"|les|l'|une?|donc|bien|aussi|egalement|clairement|toutes?|tous|deux|plus|seule?s?)"
)
_IS = (
    r"(?:is|are|was|were|'s|'re|seems?|looks?|appears?|remains?|(?:must|has to|have to|should|would|will) be|proves?"
    r"|being|as|est|sont|serait|semblent?|parait|reste|demeure)"
)
_NOT = (
    r"isn't|aren't|wasn't|weren't|don't|doesn't|can't|cannot|couldn't|n'|ne |fails?\b|contradicts?\b"
    r"|(?:do|does|did|can|could|would) not\b|(?:can|should|must|may|could) (?:(?:also|be|both|thus|therefore) )*"
    r"(?:ruled|eliminated|excluded|discarded|rejected|dropped)"
)
_PREDICATE = re.compile(
    rf"(?P<wrong>(?:{_NOT}|non plus\b)|{_IS} (?:{_ADVERB} ?)*(?:not\b|n't|pas\b|{_WRONG}))"
    rf"|(?P<once>(?:seemed|looked|appeared|was (?:my|the) (?:first|initial))\b)"
    rf"|(?P<chosen>{_IS} (?!not\b)(?:{_ADVERB} ?)*{_CHOSEN}|it is(?=[.!]|\Z))"
    rf"|(?P<right>{_IS} (?:{_ADVERB} ?)*(?:{_RIGHT})|holds?\b|fits?\b|wins?\b|checks out|applies\b|works\b|stands\b|tien(?:t|nent)\b|convien(?:t|nent)\b|l'(?:est|sont)\b)"
)
_PREDICATE_HEADS = words(
    "is are was were seem seems look looks appear appears remain remains must has have should would will"
    " prove proves being as est sont serait semble semblent parait reste demeure isn't aren't wasn't"
    " weren't don't doesn't can't cannot couldn't n' ne fail fails contradict contradicts do does did can"
    " could may seemed looked appeared it hold holds fit fits win wins checks applies works stands tient tiennent convient conviennent"
    " l'est l'sont non 's 're"
)
_SUFFIX = re.compile(
    r"[)\]\"'.,*\x03]{0,3} ?(?:\([^()\n]{0,80}\) ?)?"
    r"(?:(?:options?|choices?|answers?|statements?|ones?|both|seule?s?|alone|only|toutes les deux) )?(n'|'s|'re|[a-z']+)?"
)
_VERDICT = re.compile(
    rf"[)\]\"'.*]{{0,3}} ?[-:=(→,|]{{0,3}} ?[\"']?(?:(?:this|it|the statement|c') ?(?:is|est) |statement is )?"
    rf"(?:(?P<wrong>(?:not |pas )?(?:{_WRONG})|(?:not|pas) (?:correct|true|right|vraie?|juste)|no\b(?! \w)|non\b|✗|×|错|不正确|不对|否|0(?=\s*(?:[,;}}\]\n|]|\Z)))"
    r"|(?P<right>correcte?\b|right\b|true\b|yes\b|oui\b|vraie?\b|juste\b|exacte?\b|✓|√|正确|对(?![应于比])|1(?=\s*(?:[,;}\]\n|]|\Z))))"
    r"(?![\"']? ?(?::|误?的|answers?|options?|choices?|statements?|reponses?))"
)
_VERDICT_HEADS = frozenset("-:=(→,✓✗×√.)|")
_CHINESE = re.compile(
    r"(?:选?项|的?说法|的?表述|的?描述|的?陈述|两项|三项|四项|的?内容)*(?:都|均|是|为|的|也|才|应|就|显然|明显|属于|则|皆|全)*"
    r"(?:(?P<wrong>不(?!但|仅)|错|有误|排除|并非|并不|误|没有|未|无关)"
    r"|(?P<right>正确|对(?![应于比照冲手方外称])|准确|合适|恰当|最合|最恰|最佳|最好|最符|符合|成立|答案|正解|可选|唯一))"
)
_CHINESE_PAUSE = re.compile(
    r"[)\"' ]*, ?(?:(?P<wrong>不(?:符合|正确|对|成立)|错误?)|符合|正确|对|成立)(?=[,。;!\n]|\Z)"
)
_REPLY = re.compile(r"[\"')]?\s{0,2}(?:(?P<right>yes|oui|correct|是的|对)|no|non|不)(?![a-z])")
_CONDITION = re.compile(
    r"[^.!?;\n]{0,24}?\b(?:if|only (?:for|if|when|in)|unless|when|si|seulement|uniquement)\b"
)
_AT_FIRST = re.compile(
    r"[^.!?;\n]{0,30}?\b(?:at first|initially|originally|a premiere vue|au premier abord|au depart)\b"
)
_ALSO = re.compile(r"[^.!?;\n]{0,24}?\b(?:also|as well|too|aussi|egalement)\b|.{0,8}也")


def read_after(low: str, end: int) -> Cue:
    """The cue behind a mention that ends at `end`.

    >>> read_after("c is not right", 1).strength, read_after("c, it is", 1).strength
    (<Strength.REJECTED: -1>, <Strength.CHOSEN: 3>)
    """
    rest = low[end : end + 4].lstrip(" )]\"'*")
    if not rest or rest[0] == "\n":
        return Cue()
    head = rest[0]
    if head == "?":
        reply = _REPLY.match(low, low.index("?", end) + 1)
        return Cue(
            Strength.TENTATIVE if not reply else Strength.SUPPORTED if reply["right"] else Strength.REJECTED
        )
    if head == "," and (match := _CHINESE_PAUSE.match(low, end)):
        return Cue(Strength.REJECTED if match["wrong"] else Strength.SUPPORTED)
    if "\u3400" <= head <= "\u9fff":
        match = _CHINESE.match(low, low.index(head, end))
        if match:
            return _judged(low, end, match)
    if (head in _VERDICT_HEADS or low[end] in _VERDICT_HEADS) and (match := _VERDICT.match(low, end)):
        return Cue(Strength.REJECTED if match["wrong"] else Strength.SUPPORTED)
    suffix = _SUFFIX.match(low, end)
    if suffix and suffix[1] in _PREDICATE_HEADS and (match := _PREDICATE.match(low, suffix.start(1))):
        return _judged(low, end, match)
    return Cue(Strength.TENTATIVE) if _AT_FIRST.match(low, end) else Cue()


def _judged(low: str, end: int, match: re.Match[str]) -> Cue:
    kind = match.lastgroup
    if kind == "wrong":
        return Cue(Strength.REJECTED)
    if kind == "once" or _AT_FIRST.match(low, match.end()):
        return Cue(Strength.TENTATIVE)
    if _CONDITION.match(low, match.end()):
        return Cue(Strength.TENTATIVE)
    strength = Strength.CHOSEN if kind == "chosen" else Strength.SUPPORTED
    return Cue(strength, adds=bool(_ALSO.match(low, end)))


# ---- a whole line ------------------------------------------------------------------

_ANY_VERDICT = re.compile(
    rf"(?P<wrong>\b(?:not|isn't|aren't|pas)\s(?:\w+\s)?(?:correcte?s?|right|true|accurate|valid|vraie?s?|justes?|exacte?s?)\b"
    rf"|\b(?:{_WRONG})|✗|×|错|不正确|不对|不符合)"
    r"|(?P<right>\b(?:correcte?s?|right|true|accurate|vraie?s?|justes?|exacte?s?)\b|✓|√|正确|对(?![应于比])|符合)"
)


def line_verdict(low: str, start: int, end: int, limit: int) -> Strength:
    """'C. Debt ratio: since ... this is correct', '✓ C': the one verdict of a line that the mention opens.

    Nothing is read from `limit` on, where the next mention stands.

    >>> line_verdict("c: it falls, so this is wrong", 0, 1, 29)
    <Strength.REJECTED: -1>
    """
    prefix = low[low.rfind("\n", 0, start) + 1 : start].rstrip(" *-(")
    if prefix.endswith(("✓", "✗")):
        return Strength.SUPPORTED if prefix[-1] == "✓" else Strength.REJECTED
    if low[end : end + 1] not in tuple(".:) ]-"):
        return Strength.PASSING
    line_end = low.find("\n", end)
    line = low[end : min(line_end if line_end >= 0 else len(low), limit, end + 400)]
    verdicts = {match.lastgroup for match in _ANY_VERDICT.finditer(line)}
    if len(verdicts) != 1:
        return Strength.PASSING
    return Strength.SUPPORTED if verdicts == {"right"} else Strength.REJECTED


# ---- where the sentence ends -------------------------------------------------------

_NOTHING_LEFT = re.compile(r"[\s)\]}\"'.,;:!*_。\x03|✓]*\Z")
_CLAUSE_ENDS = re.compile(
    r"[)\]}\"'*]*(?: ?[.,;:!。、\n\x03(✓]| ?-| ?→| ?\Z| (?:because|since|as|for|car|parce|puisque|given|based|due|not|et non"
    r"|rather|instead|plutot)\b|因为|由于)"
)


def stands_last(low: str, end: int) -> bool:
    """Whether nothing but stops follows in the whole reply."""
    return bool(_NOTHING_LEFT.match(low, end))


def ends_clause(low: str, end: int) -> bool:
    """Whether the clause is over, or only gives reasons from here on."""
    return bool(_CLAUSE_ENDS.match(low, end))
