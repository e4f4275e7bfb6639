r"""What a judge said: a strict reading of its reply as right, wrong or no verdict.

`'Correct' in reply` reads "Incorrect" as right and an API error as wrong. Here a reply
counts only where it states a verdict, in this order of trust:

1. a JSON (or Python dict) field such as ``"correct": true`` or ``"verdict": "incorrect"``;
2. a labelled verdict (``Verdict: no``, ``判定:正确``), the last one if several stand there;
3. a word on its own, or one that opens a line (``Incorrect. The sign ...``), the last one;
4. prose: clause by clause, with negation, concession and hypothesis told apart. The last
   clause about the answer decides.

English, French and Chinese are read alike, whatever the question's language was.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from lmms_eval_finance.metrics.normalise import boxed_contents, normalise_text, strip_reasoning

__all__ = ["parse_verdict"]

# A verdict stands at the start or at the end of a reply; a runaway reply is read there only.
_HEAD, _TAIL = 4_000, 12_000

_RIGHT_EN = "correct|right|accurate|acceptable|accepted|equivalent|pass|passed"
_WRONG_EN = "incorrect|wrong|inaccurate|unacceptable|rejected|erroneous|mistaken|false|fail|failed|mismatch"
_RIGHT_FR = "correcte?s?|exacte?s?|justes?|bon|bonne"
_WRONG_FR = "incorrecte?s?|inexacte?s?|faux|fausses?|erronée?s?|erronees?|mauvaise?"
_RIGHT_ZH = "完全正确|正确|正確|准确|准確|无误|一致|相符|吻合|等价|通过|对的|对"
_WRONG_ZH = "错误|錯誤|有误|不符|不通过|错的|错"
_YES, _NO = "yes|oui|true|vrai|是的|是", "no|non|false|faux|否|不是"

# In a verdict's place (own line, behind a label) these words are enough.
_NOT = r"(?:not|isn't|pas|non|不|不是|没有|并非)\s*"
_WORD = (
    rf"(?P<neg>{_NOT})?(?:(?P<right>{_RIGHT_EN}|{_RIGHT_FR}|{_RIGHT_ZH}|{_YES})"
    rf"|(?P<wrong>{_WRONG_EN}|{_WRONG_FR}|{_WRONG_ZH}|{_NO}))(?![a-zà-ÿ率性值度])"
)
_OPENING = r"(?:[a-c]|overall|finally|so|thus|hence|therefore|donc|综上所述|综上|因此|所以)"
_PLACED = re.compile(rf"\W*(?:{_OPENING}\W+)?{_WORD}(?=\W|$)(?P<rest>.*)", re.DOTALL)

_LABEL = re.compile(
    r"\W*(?:(?:my|the|so|thus|hence|therefore|final|overall|mon|ma|le|la|最终|最后|总体|综合)\s*,?\s*){0,4}"
    r"(?P<label>verdict|judge?ment|decision|evaluation|assessment|conclusion|result|rating|score|grade|label|final"
    r"|answer|output|response|jugement|décision|évaluation|résultat|réponse|note"
    r"|判断|判定|判決|判决|结论|結論|评价|评判|评估|结果|評分|评分|得分|裁决|答案)"
    r"(?:\s+(?:final|finale))?\s*(?:\([^()\n]{0,60}\))?\s*"
    r"(?:(?:is|est|was|为|是)\b\s*:?|[:=\-–—→>]|$)[\s:=\-–—→>\"'([【]*(?P<value>.*)",
    re.DOTALL,
)
_ANSWER_LABELS = frozenset({"answer", "output", "response", "réponse", "答案"})
_SCORE = re.compile(r"(\d+(?:\.\d+)?)(?:\s*/\s*(\d+(?:\.\d+)?))?(?![\d.%]*\w)")

# "Correct: no", "Wrong? No", "Is the answer correct? Yes".
_ASKED = re.compile(
    rf"(?:^|\b|(?<=[一-鿿]))(?P<what>{_RIGHT_EN}|{_RIGHT_FR}|{_WRONG_EN}|{_WRONG_FR}|match(?:es)?|equal|{_RIGHT_ZH}|{_WRONG_ZH})"
    rf"[^.?!:=\n]{{0,40}}[?:=]\W{{0,4}}(?P<reply>{_YES}|{_NO}|[01])(?![\w/]|\.\d)"
)
_BOTH = re.compile(
    rf"\b(?:{_RIGHT_EN}|{_RIGHT_FR}|yes|oui|true|vrai)[\"'\])]*\s*(?:/|\||\bor\b|\bou\b)\s*[\"'\[(]*"
    rf"(?:not |in)?(?:{_WRONG_EN}|{_WRONG_FR}|{_RIGHT_EN}|no|non|false)\b"
    rf"|(?:正确|对)\s*(?:/|或|还是)\s*(?:错误|不正确|错)"
)
# A message of the service instead of a reply; a judge's own words are not that short with such terms in them.
_SHORT_FAULT = 300
_FAULT = re.compile(
    r"\b(?:timed? ?out|rate limit|too many requests|internal server error|service unavailable|bad gateway|api key|status code"
    r"|connection (?:error|reset|refused)|quota exceeded|http error)\b|超时|请求失败|服务不可用|délai dépassé"
)
_SIGNS = str.maketrans(dict.fromkeys("✅✔☑👍", " correct ") | dict.fromkeys("❌✗✘✖👎", " incorrect "))
_TAGS = re.compile(r"</?[a-z_]{1,20}>")
_LATEX_TEXT = re.compile(r"\\(?:text|textbf|mathrm|mathbf)\s*\{([^{}]{0,80})\}")


def parse_verdict(text: str) -> bool | None:
    """Whether a judge's reply says right (True), wrong (False) or gives no verdict (None).

    Only full marks are right: "partially correct" is False. None stands for an empty,
    broken, truncated or evasive reply and for an API error; it is a judge that failed,
    not a wrong answer.

    >>> [parse_verdict(reply) for reply in ("**Correct**", "The answer is not correct.", "Error 429")]
    [True, False, None]
    >>> parse_verdict("It may look correct, but the sign is wrong.\\nVerdict: incorrect")
    False
    >>> parse_verdict('{"match": "false"}'), parse_verdict("答案与参考答案一致。")
    (False, True)
    """
    text = strip_reasoning(text)
    if len(text) > _HEAD + _TAIL:
        text = text[:_HEAD] + "\n" + text[-_TAIL:]
    has_fields, verdict = _from_fields(text)
    if has_fields:
        return verdict
    boxes = boxed_contents(text)
    if boxes and (verdict := _placed(_plain(boxes[-1]))) is not None:
        return verdict
    plain = _BOTH.sub("", _plain(text))
    if plain.strip(" .()") in ("0", "1", "0.0", "1.0"):
        return plain.strip(" ()")[0] == "1"
    lines = [line for line in map(str.strip, plain.split("\n")) if line]
    # A labelled verdict line is no error message, whatever stands above it.
    if (verdict := _from_labels(lines)) is not None:
        return verdict
    if len(plain) < _SHORT_FAULT and _FAULT.search(plain):
        return None
    for reader in (_from_placed_words, _from_prose):
        verdict = reader(lines)
        if verdict is not None:
            return verdict
    return None


def _plain(text: str) -> str:
    text = normalise_text(_LATEX_TEXT.sub(r" \1 ", text).translate(_SIGNS)).lower()
    return _TAGS.sub("\n", text) if "<" in text else text


# -- 1. fields ------------------------------------------------------------------------

_FIELD = re.compile(
    r"""(?:["']([^"'{}\n]{1,40})["']|(?<=[{,\s])([a-zA-Z_]{2,30}))\s*:\s*
    (?:"((?:[^"\\]|\\.){0,2000})"|'((?:[^'\\]|\\.){0,2000})'|(true|false|null|none|-?\d+(?:\.\d+)?)\b)""",
    re.VERBOSE | re.IGNORECASE,
)
_VERDICT_KEYS = re.compile(
    r"(?:final)?(?:verdict|judge?ment|decision|evaluation|assessment|conclusion|result|label|grade|rating|score)"
    r"|(?:is|the|answer|response)*(?:correct|right|accurate|equivalent|match|acceptable)|correctness|matches|equal|pass|passed|accepted"
    r"|jugement|évaluation|décision|résultat|correcte|exacte?|判断|判定|结论|结果|(?:是否)?(?:正确|一致)|评分|得分"
)
_WRONG_KEYS = re.compile(r"(?:is|answer)?(?:incorrect|wrong)|inexacte?|错误")


def _from_fields(text: str) -> tuple[bool, bool | None]:
    """Whether the reply is one of JSON-like fields, and the verdict they give."""
    if "{" not in text:
        return False, None
    found: dict[str, bool] = {}
    for match in _FIELD.finditer(text):
        name, double, single, bare = match[1] or match[2], match[3], match[4], match[5]
        key = re.sub(r"[\W_]", "", name).lower()
        wrong_key = _WRONG_KEYS.fullmatch(key) is not None
        if not wrong_key and _VERDICT_KEYS.fullmatch(key) is None:
            continue
        value = double if double is not None else single if single is not None else bare
        verdict = _field_value(value)
        if verdict is not None:
            found[key] = verdict != wrong_key
    if found:
        return True, found.popitem()[1] if len(set(found.values())) == 1 else None
    opening = text.lstrip(" \n`").removeprefix("json").lstrip()
    return opening.startswith(("{", "[{")), None


def _field_value(value: str) -> bool | None:
    value = _plain(value)
    if re.fullmatch(r"-?\d+(?:\.\d+)?", value):
        return {0.0: False, 1.0: True}.get(float(value))
    placed = _placed(value)
    return placed if placed is not None else _from_prose([value])


# -- 2. labels ------------------------------------------------------------------------


def _sentences(lines: list[str]) -> list[str]:
    return [part for line in lines for part in re.split(r"(?<=[.!。!])\s*(?=[^\W\d])", line)]


def _from_labels(lines: list[str]) -> bool | None:
    verdict: bool | None = None
    pending = False  # "Verdict:" with the word on a line of its own below
    for line in _sentences(lines):
        if pending and re.fullmatch(r"[\W_]+", line):
            continue
        if pending and (below := _placed(line)) is not None:
            verdict = below
        pending = False
        for asked in _ASKED.finditer(line):
            asked_right = re.fullmatch(f"{_WRONG_EN}|{_WRONG_FR}|{_WRONG_ZH}", asked["what"]) is None
            if _negated(line[max(0, asked.start() - 80) : asked.start()]):
                asked_right = not asked_right
            verdict = (re.fullmatch(f"{_YES}|1", asked["reply"]) is not None) == asked_right
        label = _LABEL.match(line)
        if label is None or label["label"] in _ANSWER_LABELS:
            continue
        value = label["value"]
        pending = not value.strip(" :*-_")
        if (graded := _graded(label["label"], value)) is not None or (graded := _placed(value)) is not None:
            verdict = graded
    return verdict


def _graded(label: str, value: str) -> bool | None:
    """A numeric or letter grade: 1, 0, n/n, 0/n; C or I behind "grade"."""
    if label == "grade" and (letter := re.match(r"([ci])\b(?![-+])", value)):
        return letter[1] == "c"
    number = _SCORE.match(value)
    if number is None:
        return None
    score, full = float(number[1]), float(number[2] or 1)
    if score == 0 and full > 0:
        return False
    return True if score == full else None


# -- 3. words in a verdict's place ----------------------------------------------------


def _placed(text: str) -> bool | None:
    """The verdict word that text opens with, closed off by punctuation or the end."""
    match = _PLACED.match(text.strip())
    if match is None or (re.match(r" ?[\w%/('\"]", match["rest"]) and not _goes_on(match["rest"])):
        return None
    if match["rest"].lstrip().startswith("?"):
        return None
    verdict = (match["right"] is not None) != (match["neg"] is not None)
    other = _PLACED.fullmatch(match["rest"].strip())
    if other is not None and not other["rest"].strip(" .!。"):
        again = (other["right"] is not None) != (other["neg"] is not None)
        return verdict if again == verdict else None
    return verdict


def _goes_on(rest: str) -> bool:
    """Whether what follows the word explains it or repeats it, and so leaves it a verdict."""
    return (
        re.match(
            rf" ?(?:\(|because\b|since\b|as\b|car\b|because|因为|。|(?:{_RIGHT_EN}|{_WRONG_EN})\b)", rest
        )
        is not None
    )


def _from_placed_words(lines: list[str]) -> bool | None:
    verdict: bool | None = None
    for line in lines[:-1] + _sentences(lines[-1:]):
        label = _LABEL.match(line)
        value = label["value"] if label is not None and label["label"] in _ANSWER_LABELS else line
        if (found := _placed(value)) is not None:
            verdict = found
    return verdict


# -- 4. prose -------------------------------------------------------------------------

_CLAUSE = re.compile(
    r"(?:[;!?。;!?\n,、]|[,.:](?!\d)|\s[-–—]\s|[()\[\]]"
    r"|\b(?:but|however|yet|so|therefore|thus|hence|because|since|nevertheless|mais|cependant|toutefois|pourtant|donc|ainsi"
    r"|car|puisque)\b|但是|但|然而|不过|因此|所以|故而|因为|由于)"
)
_IGNORED = re.compile(
    r"\b(?:could|might|may|if|unless|should(?! be \w+ed)|whether|cannot determine|unclear|unable|unsure|possibly|perhaps|maybe|peut-être|determine|reply with"
    r"|answer with|respond with|answer(?:ed)? either|at first|serait|pourrait|si|déterminer|à première vue|although"
    r"|though|while|even|despite|bien que|quoique|même si)\b"
    r"|\bwould(?! (?:be \w+ed|mark|judge|rate|say|call|consider|grade|deem|conclude|classify))"
    r"|如果|若是|假如|是否|可能|虽然|尽管|看起来|看似|乍看|无法|無法"
)
_OF_ANSWER = re.compile(
    r"\b(?:answer\w*|response|prediction|output|reply|model|student|it|this|verdict|réponse|elle|prédiction|modèle|c'est)\b"
    r"|答案|回答|预测|结果|判|结论"
)
_AFTER = (
    r"(?=\W*$|\W*\s(?:because|as|since|for|with|in|due|to|and|given|at|by|on|under|according|overall|when|here|too"
    r"|also|enough|per|within|even|mais|et|car|selon|avec|pour|dans|à|par|au)\b)"
)
_ANSWER_NOUN = r"(?:answer|response|result|réponse|résultat)"
_IS = r"(?:is|was|est|c'est)"
_GIVES = r"(?:gives?|gave|provides?|provided?|chose|chooses?|selected|selects?|reach(?:es|ed)?|donne|donné)"
_CLAIM = re.compile(
    rf"\b(?P<right>(?:{_RIGHT_EN}|{_RIGHT_FR}){_AFTER}"
    rf"|(?:answer\w*|respond\w*)(?: the question)? correctly|correctly (?:answer|respond)\w*|répond\w* correctement"
    rf"|match(?:es|ed)?|agrees?|consistent|identical|equivalent|équivalente?s?|conformes?|correspond(?:s|ent)?|equals?|same as)\b"
    rf"|\b(?P<wrong>(?:{_WRONG_EN}|{_WRONG_FR}){_AFTER}|(?:answer\w*|respond\w*) (?:incorrectly|wrongly)"
    rf"|inconsistent|differs?|differed|diffère|has the (?:wrong|incorrect)|different|différente?s?|contradicts?|contredit|disagrees?|mismatch(?:es)?)\b"
    rf"|\b(?:{_IS}(?P<not> not| pas)?|(?P<gives>{_GIVES})) (?:(?:the|a|an|la|le|une?) )?"
    rf"(?:(?P<right_noun>correct|right|bonne|bon)|(?P<wrong_noun>incorrect|wrong|mauvaise?)) "
    rf"(?:{_ANSWER_NOUN}|(?(gives)(?:choice|option|value)|(?!)))\b"
    rf"|^\W*(?:(?P<right_bare>bonne|correct|right)|(?P<wrong_bare>mauvaise|incorrect|wrong)) {_ANSWER_NOUN}\W*$"
    r"|^\W*(?:the|an?) (?P<wrong_trait>wrong|incorrect) \w+\W*$"
    rf"|(?P<right_zh>(?:正确|正確)(?![率性值])|准确|无误|一致|相符|吻合|等价|相同|(?<=答)对|(?<=不)对|对的)|(?P<wrong_zh>错误|錯誤|有误|不符|错的|不同|(?<=答)错)"
)
_RIGHT_GROUPS = tuple(name for name in _CLAIM.groupindex if name.startswith("right"))
_GOLD_ZH = re.compile(r"(?:正确|标准|参考)的?(?:答案|选项|值|结果|数值)(?=是|为|应|:|=)")
_PARTIAL = re.compile(
    r"\b(?:partial(?:ly)?|partly|mostly|almost|nearly|somewhat|partiellement|presque)\b|部分|基本|大致|不完全"
)
_NEGATION = re.compile(
    r"(?:not|never|neither|nor|no|nothing|cannot|hardly|fails?|failed|far|without|ne|pas|jamais|aucune?|non|ni|\w*n't|n'\w+)"
)
_NEGATION_ZH = re.compile(r"(?:不|没|未|非|无)[一-鿿]{0,3}$")
_TOKEN = re.compile(r"[\w']+")
_STOPPERS = frozenset({"and", "which", "that", "who", "et", "qui", "que"})


class _Clause(NamedTuple):
    verdict: bool
    of_answer: bool


def _from_prose(lines: list[str]) -> bool | None:
    clauses = [
        found for line in lines for part in _CLAUSE.split(line) if (found := _clause(part)) is not None
    ]
    bare = [_placed(part) for part in _CLAUSE.split(lines[-1].rstrip(" .!。"))] if clauses else [None]
    if bare[-1] is not None:
        return None if (not bare[-1]) in bare else bare[-1]
    about = [clause for clause in clauses if clause.of_answer]
    if about:
        return about[-1].verdict
    verdicts = {clause.verdict for clause in clauses}
    return verdicts.pop() if len(verdicts) == 1 else None


def _clause(text: str) -> _Clause | None:
    text = _GOLD_ZH.sub("", text)
    if _IGNORED.search(text):
        return None
    claims = list(_CLAIM.finditer(text))
    if not claims:
        return None
    claim = claims[-1]  # the one that the clause ends on
    right = any(claim[name] for name in _RIGHT_GROUPS)
    negated = claim["not"] is not None or _negated(text[max(0, claim.start() - 80) : claim.start()])
    verdict = right != negated and _PARTIAL.search(text) is None
    return _Clause(verdict, _OF_ANSWER.search(text) is not None)


def _negated(before: str) -> bool:
    """Whether the words in front of a claim turn it round."""
    if _NEGATION_ZH.search(before):
        return True
    for token in reversed(_TOKEN.findall(before)[-6:]):
        if token in _STOPPERS:
            return False
        if _NEGATION.fullmatch(token):
            return True
    return False
