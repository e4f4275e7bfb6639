"""What the words before a mention say about it.

English and French are read word by word, backwards from the mention: filler is passed
over until a word decides. Every word has one role, looked up in a dictionary, so that
the cost of a mention does not grow with the vocabulary. Chinese, which has no blanks,
is read by the characters that end at the mention.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from lmms_eval_finance.metrics.answers.lexicon import words
from lmms_eval_finance.metrics.answers.strength import Cue, Strength

__all__ = ["Before", "is_filler", "read_before"]


class Before(NamedTuple):
    """What stands before a mention.

    Attributes:
        cue: how the words treat the mention.
        opens: nothing but filler stands between the mention and the beginning of its sentence.
        first: that sentence is the reply's first.
        turns: a word like 'but' leads to the mention, away from what stands before it.
    """

    cue: Cue
    opens: bool = False
    first: bool = False
    turns: bool = False


def _roles(**groups: str) -> dict[str, str]:
    return {word: role for role, words in groups.items() for word in words.split()}


_ROLE = _roles(
    opener="( [ { \" ' < * _ > | ] # ✓ ✗ ~",
    colon=": = → - \x02",
    filler="'s will would should must shall has have had to a an of on for with as which my our your we he she they you"
    " i i'd i'll i'm i've would've un une du de des elle je j' qu' que s' y en mon ma notre votre et toward towards at by"
    " from into like seem look appear these following suivante suivant who what whichever each single here again still"
    " can could've does do did done up in out u' t' m'",
    particle="the l' la le les both just simply clearly definitely likely probably most certainly indeed then bien tres"
    " plus overall now well good ok okay exactly precisely apparently presumably naturally obviously surely truly sure"
    " realite effet reality fact",
    be="is are was were be been being it's that's est sont etait serait doit doivent etre sera soit seems looks appears",
    it="it this that c' ce ceci cela ca he il",
    only="only seul seule seuls seules seulement uniquement alone",
    wrong="incorrect wrong false inaccurate incorrecte incorrectes fausse fausses faux inexacte inexactes",
    also="also aussi egalement additionally furthermore",
    noun="option options choice choices letter letters alternative statement statements proposition propositions"
    " affirmation affirmations lettre lettres item items",
    right="correct right true best accurate valid appropriate suitable proper bonne bon bonnes correcte correctes"
    " apply applies vraies juste justes exacte exactes vraie vraies vrai meilleure meilleur appropriee adequate one ones",
    answer="answer answers answered ans anwser reply response solution solutions result conclusion verdict selection"
    " reponse reponses rep resultat key output",
    choose="choose chose chosen choosing pick picked picking picks select selected selecting selects opt opted opting"
    " go goes going went settle settled vote prefer favor favour conclude concluded mark marked tick circle submit"
    " meant choisis choisir choisit choisirais choix selectionne selectionner retiens retenir retient opte opterais"
    " coche cocher cochez vote penche voulais conclus propose",
    opine="say guess believe think reckon bet mean lean leaning deduce infer dirais pense crois deduis repond reponds",
    point="points point pointing leads lead leading corresponds correspond corresponding matches match matching"
    " matched gives give yields yield suggests suggest indicates indicate supports support means implies equals"
    " leaves leaving remains remaining closest nearest confirm confirms confirming namely indique donne montre"
    " confirme designe reste correspondant mene conduit",
    conclude="so therefore thus hence consequently ergo accordingly finally ultimately donc ainsi alors finalement",
    final="final finale definitive updated new",
    no="n' ne not isn't aren't wasn't weren't don't doesn't didn't won't wouldn't can't cannot couldn't shouldn't never"
    " neither nor without except excluding exclude excluded excludes eliminate eliminated eliminates eliminating"
    " reject rejected rejecting discard discarded dismiss dismissed unlike than versus vs over avoid pas ni sauf"
    " ecarte ecarter elimine elimines eliminer exclu exclure exclus exclut rejette rejeter jamais hormis excepte"
    " ignore ignoring unless against contre sans",
    maybe="thought considered consider considering tempted tempting maybe perhaps possibly might may could initially"
    " originally suspected suspect assume assumed assuming between entre if whether pensais croyais hesite hesitais"
    " hesitated hesitating si either",
    correct="actually wait sorry oops correction rather instead hmm pardon rectification plutot fait corrected revised",
    contrast="but mais however yet",
)
# Two words that mean other than the second one alone.
_PAIR = {
    ("instead", "of"): "no", ("rule", "out"): "no", ("ruled", "out"): "no", ("rules", "out"): "no",
    ("ruling", "out"): "no", ("plutot", "que"): "no", ("plutot", "qu'"): "no", ("opposed", "to"): "no",
    ("contrary", "to"): "no", ("lieu", "de"): "no", ("contrairement", "a"): "no", ("all", "but"): "no",
    ("everything", "but"): "no", ("no", ","): "correct", ("non", ","): "correct", ("no", ":"): "correct",
    ("non", ":"): "correct", ("so", "is"): "likewise", ("as", "is"): "likewise", ("so", "are"): "likewise",
    ("as", "are"): "likewise", ("ans", "."): "answer", ("rep", "."): "answer", ("first", "thought"): "maybe",
    ("second", "thought"): "correct", ("on", "reflection"): "correct", ("de", "ma"): "filler",
}  # fmt: skip
_PASSED_OVER = words("opener colon line filler particle be it also only noun right final")
_OPEN = words("opener noun particle colon line also")
_UNQUALIFIED = frozenset(["contrast", "correct", "likewise"])
_COMMA_AFTER = frozenset(["conclude", "correct", "contrast", "also"])
_NO_IN_CLAUSE = words(
    "not isn't aren't wasn't don't doesn't didn't won't wouldn't can't cannot couldn't shouldn't never"
    " pas jamais unsure"
)
_MAYBE_IN_CLAUSE = words(
    "if whether unless while although though bien meme thought considered tempted tempting maybe perhaps"
    " almost nearly previous initial original old earlier might may could initially originally first suspected assumed assuming si pensais croyais abord"
    " initialement depart someone some students pourrait aurait peut distractor trap piege wrongly"
    " mistakenly"
)
# After these a negation speaks of something else: 'the one that does not belong is C'.
_RELATIVE = frozenset(["that", "which", "who", "qui", "what"])
_TOKEN = re.compile(r"[ldcjnsmtqu]'|[a-z]+(?:'(?:t|s|d|m|ll|re|ve))?|\n+|[^\sa-z]")
_VERDICT_SIGNS = frozenset(":=-(")
_STOPS = frozenset(".!?;。\x03")
_WINDOW = 64


def is_filler(text: str) -> bool:
    """Whether lowered text says nothing but 'the answer is', over again, with no turn like 'but'."""
    return all(
        _ROLE.get(token, "contrast") not in ("contrast", "correct")
        or token in _STOPS
        or token == ","
        or token[0] == "\n"
        for token in _TOKEN.findall(text)
    )


def read_before(low: str, start: int) -> Before:
    """What stands in front of a mention that starts at `start` of the lowered reply.

    >>> read_before("i don't think that the answer is c", 33).cue.strength
    <Strength.REJECTED: -1>
    """
    if start == 0:
        return Before(_NONE, True, True)
    window = low[max(0, start - _WINDOW) : start]
    last = window.rstrip(" ([])\"'{*:=-\x02→")[-1:]
    if last >= "\u3400" and last <= "\u9fff":
        return _chinese(window)
    tokens = _TOKEN.findall(window)
    seen: set[str] = set()
    index = len(tokens) - 1
    role = ""
    while index >= 0:
        role = _role(tokens, index)
        if role not in _PASSED_OVER:
            break
        if (role == "noun" and "colon" in seen) or (role == "right" and not seen.isdisjoint(("colon", "be"))):
            seen.add("named")
        elif tokens[index] in ("it's", "that's"):
            seen.add("it")
        elif not (role == "it" and "be" not in seen) and not (role == "colon" and "line" in seen):
            seen.add(role)
        index -= 1
    opens = (index < 0 or role == "stop" or "colon" in seen) and seen <= _OPEN
    cue = _decision(role, seen)
    if role != "likewise" and "also" in seen:
        cue = cue._replace(adds=True)
    announced = "named" in seen and "colon" in seen and not role  # 'not all are right: C'
    if cue.strength >= Strength.TENTATIVE and not announced and role not in _UNQUALIFIED:
        cue = _qualified(tokens, index, cue)
    return Before(cue, opens, index < 0 and start <= _WINDOW, role == "contrast")


def _role(tokens: list[str], index: int) -> str:
    token = tokens[index]
    before = tokens[index - 1] if index else ""
    if pair := _PAIR.get((before, token)):
        verdict = pair == "correct" and index > 1 and tokens[index - 2] in _VERDICT_SIGNS
        return "stop" if verdict else pair  # 'B: no, C: yes' corrects nothing
    if token[0] == "\n":
        return (
            "line"
            if before in (":", "is", "est") or _ROLE.get(before) in ("answer", "final", "choose")
            else "stop"
        )
    if token == ",":
        return (
            "particle"
            if (index and _role(tokens, index - 1) in _COMMA_AFTER)
            or before in ("sure", "ok", "okay", "well")
            else ""
        )
    if token in _STOPS:
        return "stop"
    if token == "non":
        return "no"
    return _ROLE.get(token, "")


_NONE = Cue()
_REJECTED = Cue(Strength.REJECTED)
_TENTATIVE = Cue(Strength.TENTATIVE)
_SUPPORTED = Cue(Strength.SUPPORTED)
_CHOSEN = Cue(Strength.CHOSEN)
_SAID_TO_BE = Cue(Strength.SUPPORTED, soft=True)
_CHOSEN_SOFTLY = Cue(Strength.CHOSEN, soft=True)
_ANSWER = Cue(Strength.CHOSEN, explicit=True)
_FINAL_ANSWER = Cue(Strength.CHOSEN, explicit=True, concludes=True)
_DECIDED = {
    "no": _REJECTED,
    "maybe": _TENTATIVE,
    "point": _SUPPORTED,
    "likewise": Cue(Strength.SUPPORTED, adds=True),
    "correct": Cue(Strength.CHOSEN, concludes=True),
}


def _decision(role: str, seen: set[str]) -> Cue:
    """The cue that the deciding word gives, or else the words passed over on the way to it."""
    if role in _DECIDED:
        return _DECIDED[role]
    linked = "colon" in seen or "be" in seen or "line" in seen
    if role == "choose" or (role == "answer" and linked):
        return _FINAL_ANSWER if "final" in seen else _ANSWER
    if role == "answer":
        return _SUPPORTED
    if "named" in seen:
        return _FINAL_ANSWER if "final" in seen or role == "conclude" else _ANSWER
    if "it" in seen:
        return _DECIDED["correct"] if role == "conclude" else _CHOSEN
    if role == "conclude" or ("final" in seen and "colon" in seen):
        return Cue(Strength.CHOSEN, concludes=True, soft=True)
    if role == "opine":
        return _CHOSEN_SOFTLY
    if role == "wrong" and linked:
        return _TENTATIVE
    if "only" in seen:
        return _SUPPORTED
    return _SAID_TO_BE if "be" in seen and role == "" else _NONE


def _qualified(tokens: list[str], index: int, cue: Cue) -> Cue:
    """Look on to the sentence's beginning: 'I don't think the answer is C', 'at first I chose C'."""
    strength, concludes, adds = cue.strength, cue.concludes, cue.adds
    same_clause = True
    for place in range(index, -1, -1):
        token = tokens[place]
        role = _ROLE.get(token)
        if token in _STOPS or token == ":" or token[0] == "\n":
            break
        if token == "," or role == "contrast":
            same_clause = False
        elif role in ("conclude", "final"):
            concludes = True
        elif role == "also":
            adds = True
        elif (
            same_clause and token in _NO_IN_CLAUSE and _RELATIVE.isdisjoint(tokens[max(0, place - 3) : place])
        ):
            return cue._replace(strength=Strength.REJECTED)
        elif (same_clause and _hedges(token, role, tokens)) or (token in ("if", "si") and not concludes):
            strength = Strength.TENTATIVE
    if strength is cue.strength and concludes == cue.concludes and adds == cue.adds:
        return cue
    return cue._replace(strength=strength, concludes=concludes, adds=adds)


def _hedges(token: str, role: str | None, tokens: list[str]) -> bool:
    """'perhaps the answer is', 'the incorrect answers are', 'I was going to say'."""
    return token in _MAYBE_IN_CLAUSE or role == "wrong" or (token == "was" and "going" in tokens)


# ---- Chinese -----------------------------------------------------------------------

_ZH_STOP = re.compile(r"[。;!?\n\x03]")
_ZH_NO = re.compile(
    r"(?:不(?:应该?|能|要|会|可能|可以|该|太可能)?(?:选择?|是|包括|为|属于)|并?非|而不是|排除(?:了|选项|掉)?|剔除|否定|去掉|错选|误选"
    r"|除了?|没有?)(?:选项|的是|了|的)?\Z"
)
_ZH_MAYBE = re.compile(
    r"(?:一?开始|起初|最初|原本|本来|原?以为|可能|或许|也许|如果|假如|若|看似|似乎|容易|误以为|是否|考虑|有人|犹豫)"
    r"[^,。;!?\n]{0,12}\Z|不(?:认为|觉得)|(?:错误|不正确|不对)的"
)
_ZH_CHOSEN = re.compile(
    r"(?:(?P<explicit>答案|选择?|应选|正确的?(?:选项|选择|说法|表述|的|项)?|符合(?:题意|条件|要求)?的|最合适的?|最佳的?)"
    r"|(?P<soft>故|因此|所以|综上|因而|最终|最后|结论|即|得出?|(?<!不)属于|认为|觉得|只有|更正|改为)"
    r"|应为|应是|应该是|也?就是|而是|(?:是|(?<!因)为))"
    r"(?:选项|答案|应该?|就|便|也|只能|可能|应当|选择?|的|项|有|还|更|最终|我)*(?:是|为|在于)?(?:选项|以下)?\Z"
)
_ZH_FINAL = re.compile(r"因此|所以|综上|故|最终|最后|更正|改为|应该?是|应为|而是|因而|得出")


def _chinese(window: str) -> Before:
    sentence = _ZH_STOP.split(window[-48:])[-1].rstrip(" ([])\"'{*:=-\x02→")
    colon = window.rstrip(" ([\"'{*").endswith((":", "=", "→"))
    clause = sentence.rsplit(",", 1)[-1].lstrip("、 []")
    if clause == "选项":
        opens = sentence == clause
        return Before(_ANSWER if colon else _NONE, opens, opens and len(window) < 12)
    return Before(_chinese_cue(sentence, clause, colon), False, False)


def _chinese_cue(sentence: str, clause: str, colon: bool) -> Cue:
    ending = clause[-14:]
    if _ZH_NO.search(ending):
        return _REJECTED
    concludes = bool(_ZH_FINAL.search(sentence))
    if _ZH_MAYBE.search(clause) and not concludes:
        return _TENTATIVE
    match = _ZH_CHOSEN.search(ending)
    if not match:
        return _NONE
    return Cue(
        Strength.CHOSEN,
        adds="也" in clause or "还" in clause,
        concludes=concludes,
        explicit=bool(match["explicit"]) or colon,
        soft=bool(match["soft"]) and not match[0].endswith(("选", "是", "为")) and not colon,
    )
