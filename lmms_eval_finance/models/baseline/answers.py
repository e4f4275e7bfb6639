"""From a question and its evidence to an answer."""

from __future__ import annotations

import math
import re

from rapidfuzz import fuzz

from lmms_eval_finance.metrics.numbers import find_numbers
from lmms_eval_finance.models.baseline import spans
from lmms_eval_finance.models.baseline.evidence import Evidence, Match
from lmms_eval_finance.models.baseline.request import Question
from lmms_eval_finance.models.baseline.series import apart, beyond, count, extreme, worked_out
from lmms_eval_finance.models.baseline.sorts import AMOUNT, NUMBER, PERCENT, Sort, sort_of, turn_of
from lmms_eval_finance.models.baseline.spans import Span
from lmms_eval_finance.models.baseline.words import fold, language_of, stem, stems, words

BEST = 40
"""Pieces that are looked at closely."""
LONGEST_ANSWER = 300
"""Characters."""

_YES = {"fr": "Oui", "en": "Yes", "zh": "是"}
_NO = {"fr": "Non", "en": "No", "zh": "否"}
_TRUE = {"fr": "Vrai", "en": "True", "zh": "正确"}
_FALSE = {"fr": "Faux", "en": "False", "zh": "错误"}
_UNKNOWN = {"fr": "Non précisé", "en": "Not stated", "zh": "未说明"}


def answer(question: Question, evidence: Evidence) -> str:
    """The answer: a letter or letters for options, else a short text in the question's language."""
    if question.options:
        return ", ".join(choose(question, evidence))
    language = language_of(question.text)
    if question.numeric:
        result = worked_out(question.text, evidence.series)
        if result is not None:
            return f"{result:.6g}"
        found = _best_span(question.text, evidence, NUMBER, language)
        return _plain_number(found) if found else "0"
    turn = turn_of(question.text)
    if turn in ("yes_no", "true_false"):
        yes, no = (_YES, _NO) if turn == "yes_no" else (_TRUE, _FALSE)
        return (yes if holds(question.text, evidence, language) else no)[language]
    if turn == "either":
        return _side(question.text, evidence) or _best_text(question.text, evidence) or _UNKNOWN[language]
    sort = sort_of(question.text)
    result = apart(question.text, evidence.series)
    if result is not None:
        return f"{result:.6g}"
    found = _from_series(question.text, evidence, sort)
    if not found and sort is not None:
        found = _best_span(question.text, evidence, sort, language)
    return found or _best_text(question.text, evidence) or _UNKNOWN[language]


_NAMED = re.compile(
    r"\b(?:quel(?:le)?s?|which|what) (?!est\b|a\b|ont\b|sont\b|is\b|was\b|are\b|were\b|the\b)(\w+)"
)


def _from_series(question: str, evidence: Evidence, sort: Sort | None) -> str:
    """An extreme, or how many there are; empty where the question asks for neither."""
    if sort is not None and sort.name == "count":
        counted = count(question, evidence.grids)
        return "" if counted is None else str(counted)
    found = extreme(question, evidence.series)
    if found is None:
        return ""
    label, number = found
    asks_figure = sort is not None and sort.name in ("percent", "amount", "number")
    named = _NAMED.search(fold(question))
    if named is not None and sort is not None and not sort.asked.search(named[1]):
        asks_figure = False  # `quelle part a les frais les plus élevés` asks for the part
    return number.text if asks_figure else label


def _plain_number(text: str) -> str:
    numbers = find_numbers(text)
    return f"{float(numbers[0].written):g}" if numbers else text


# -- open questions ----------------------------------------------------------------------------------


def _best_span(question: str, evidence: Evidence, sort: Sort, language: str) -> str:
    """The stretch of that sort which the question's words are nearest to; empty if there is none."""
    if sort.find is None:
        return ""
    asked = fold(question)
    best, best_score = "", 0.0
    for match in evidence.matches(question, sort.hints):
        score_of_piece = match.score + (0.1 if sort.certain else 0.0)
        if score_of_piece <= best_score:
            break
        for span in sort.find(match.piece.text, language):
            if not span.text or fold(span.text) in asked:
                continue
            score = score_of_piece * span.fit * _nearness(match, span)
            if score > best_score + 1e-9:
                best, best_score = span.text, score
    return best


def _nearness(match: Match, span: Span) -> float:
    """1 where the question's words stand right before the stretch, less the farther they are."""
    if not match.inside:
        return 1.0
    before = stems(match.piece.text[: span.start])
    after = stems(match.piece.text[span.end :])
    distances: list[float] = [
        len(before) - place for place, word in enumerate(before) if word in match.inside
    ]
    distances += [1.5 * (place + 1) for place, word in enumerate(after) if word in match.inside]
    return 0.7 + 0.3 * math.exp(-(min(distances, default=12) - 1) / 6)


def _best_text(question: str, evidence: Evidence) -> str:
    """The piece that says most beyond the question's own words among those that fit it."""
    asked = set(stems(question))
    weights = evidence.weights(question)
    total = sum(weights.values()) or 1.0
    best, best_score = "", 0.0
    for match in evidence.matches(question)[:BEST]:
        own = set(stems(match.piece.text))
        if not own - asked:
            continue
        score = match.score
        if match.piece.cell:
            # What is asked for stands beside a heading, not in it.
            score -= len(own & asked) / len(own) * sum(weights[word] for word in match.inside) / total
        if score > best_score + 1e-9:
            best, best_score = match.piece.text, score
    return _trimmed(best, asked)


def _trimmed(text: str, asked: set[str]) -> str:
    """A text without the label before its colon, where the question names it."""
    label, colon, rest = text.partition(":")
    if colon and rest.strip() and set(stems(label)) and set(stems(label)) <= asked:
        text = rest
    return text.strip()[:LONGEST_ANSWER]


# -- one side of two ---------------------------------------------------------------------------------

_SIDES = re.compile(
    r",? \b(?:ou|or)\b (?:bien |de manière |plutôt |d'un |d'une |un |une |en |à |le |la |les |de |d')?|还是",
    re.IGNORECASE,
)


def _side(question: str, evidence: Evidence) -> str:
    """The side of `X or Y?` that the evidence speaks of; empty if it speaks of neither."""
    sides = [side for side in _SIDES.split(question.strip(" ?？")) if side.strip()]
    if len(sides) < 2:
        return ""
    candidates = [_tail(sides[0]), *sides[1:]]
    matches = evidence.matches(question)[:8]
    scores = []
    for side in candidates:
        own = set(stems(side)) - {word for other in candidates if other is not side for word in stems(other)}
        scores.append(
            sum(match.score for match in matches if own & (match.covered | set(stems(match.piece.text))))
        )
    if not any(scores):
        return ""
    return candidates[scores.index(max(scores))].strip(" ,.;:")


def _tail(text: str) -> str:
    """The last words of the part before `or`: as many as make a noun phrase at most."""
    parts = re.split(r"\b(?:est|sont|is|are|de manière|relève|en|un|une|à|d')\b", text)
    tail = parts[-1].strip()
    return tail if tail else " ".join(text.split()[-3:])


# -- yes and no --------------------------------------------------------------------------------------

_MORE = re.compile(
    r"superieur|plus de|au moins|depass|excede|more than|greater|above|at least|exceed|higher|高于|超过|大于|至少"
)
_LESS = re.compile(r"inferieur|moins de|au plus|less than|below|at most|lower|under|低于|小于|不超过|至多")
_ONLY = re.compile(
    r"uniquement|seulement|exclusivement|toujours|systematiquement|only|always|exclusively|仅|只|总是"
)
_ALL = re.compile(r"\b(?:tous|toutes|all|every)\b|全部|所有")
_DENIED = re.compile(
    r"\b(?:exempt|exonere|sans|aucune?|gratuit|nuls?|nulles?|jamais|pas|without|free of|never|no)\b|无|没有|未|不"
)
_CODE = re.compile(r"\b(?=\w*\d)[A-Z]\w{1,15}\b|\b[A-Z]{2,6}\b")


def holds(question: str, evidence: Evidence, language: str) -> bool:
    """Whether the evidence bears a statement out.

    What is not there at all is taken as untrue, what is there as true unless a figure,
    a limit or a word of absence speaks against it.
    """
    matches = evidence.matches(question)
    if not matches:
        return True
    asked = fold(question)
    denied = _DENIED.search(asked) is not None
    near = [match for match in matches if match.score >= 0.8 * matches[0].score][:8]
    numbers = find_numbers(question, language=language)
    if numbers:
        target = float(numbers[0].value)
        stated_as = PERCENT if numbers[0].percent else AMOUNT
        figure = _best_span(question, evidence, stated_as, language)
        found = [float(number.value) for number in find_numbers(figure, language=language)]
        limit = _MORE.search(asked) or _LESS.search(asked)
        if limit is not None and found:
            return found[0] > target if _MORE.search(asked) else found[0] < target
        stated = [
            float(number.value)
            for match in matches
            if match.score >= 0.4 * matches[0].score
            for number in find_numbers(match.piece.text, language=language)
        ]
        return any(math.isclose(value, target, rel_tol=1e-6) for value in stated)
    for words_of_scope, otherwise in ((_ONLY, False), (_ALL, True)):
        scope = words_of_scope.search(asked)
        if scope is not None:
            said = any(stem(scope[0]) in map(stem, words(match.piece.text)) for match in near)
            return said or otherwise
    if _missing(question, evidence) > 0.5:
        return denied
    # A word of absence counts in a cell, and in the sentence that fits best.
    absent = [match for number, match in enumerate(near) if match.piece.cell or number == 0]
    if any(spans.says_none(match.piece.text) for match in absent):
        return denied
    return not denied


def _missing(question: str, evidence: Evidence) -> float:
    """The share of the question's weight that stands nowhere in the evidence."""
    weights = evidence.weights(question)
    total = sum(weights.values())
    return sum(weight for word, weight in weights.items() if not evidence.has(word)) / total if total else 0.0


# -- options -----------------------------------------------------------------------------------------

_CANNOT_TELL = re.compile(
    r"impossible|on ne sait pas|non precise|pas precise|cannot|none of|not (?:given|stated)|无法|以上都不"
)


def choose(question: Question, evidence: Evidence) -> list[str]:
    """The letters of the options that the evidence speaks for, at least one."""
    language = language_of(question.text)
    verdicts = _verdicts(question)
    if verdicts is not None:
        return [verdicts[holds(question.text, evidence, language)]]
    if _STATEMENTS.search(fold(question.text)):
        wrong = _WRONG.search(fold(question.text)) is not None
        true = [
            letter for letter, text in question.options.items() if holds(text, evidence, language) != wrong
        ]
        if question.multiple and true:
            return true
    support = {
        letter: _support(question.text, text, evidence, language) for letter, text in question.options.items()
    }
    for letter in _pointed_at(question, evidence, language):
        support[letter] += 2.0
    ranked = sorted(support, key=lambda letter: (-support[letter], letter))
    best = support[ranked[0]]
    if not question.multiple:
        return [ranked[0]]
    return sorted(letter for letter in ranked if support[letter] >= 0.85 * best) if best > 0 else [ranked[0]]


_STATEMENTS = re.compile(
    r"statements?\b|which of the following (?:is|are) (?:true|correct|false|incorrect)|说法|描述|affirmations?"
)
_WRONG = re.compile(r"\b(?:false|incorrect|not true|not correct|fausse?s?|incorrecte?s?)\b|不正确|错误|有误")
_PAIRS = (
    (("oui", "vrai", "yes", "true", "是", "对", "正确", "√"), True),
    (("non", "faux", "no", "false", "否", "错", "错误", "不正确", "×", "x"), False),
)


def _verdicts(question: Question) -> dict[bool, str] | None:
    """The letters for true and false where the two options say just that."""
    found = {
        value: letter
        for letter, text in question.options.items()
        for forms, value in _PAIRS
        if fold(text).strip(" .。") in forms
    }
    return found if len(found) == len(question.options) == 2 else None


def _pointed_at(question: Question, evidence: Evidence, language: str) -> list[str]:
    """The options that name what is worked out from figures: an extreme, what lies beyond a limit, a result."""
    found = extreme(question.text, evidence.series)
    labels = [] if found is None else [found[0]]
    asked = fold(question.text)
    limits = [float(number.written) for number in find_numbers(question.text, language=language)]
    if found is None and limits and (_MORE.search(asked) or _LESS.search(asked)):
        labels = beyond(question.text, evidence.series, limits[0], _MORE.search(asked) is not None)
    named = [
        letter
        for letter, text in question.options.items()
        if any(fold(text) == fold(label) for label in labels)
    ]
    result = None if named else worked_out(question.text, evidence.series)
    if result is None:
        return named
    return [
        letter
        for letter, text in question.options.items()
        if any(
            abs(float(number.written) - result) <= 0.005 * abs(result)
            for number in find_numbers(text, language=language)
        )
    ]


def _support(question: str, option: str, evidence: Evidence, language: str) -> float:
    """How well an option goes with what the question leads to."""
    if _CANNOT_TELL.search(fold(option)):
        return 0.05
    numbers = find_numbers(option, language=language)
    own = set(stems(option)) - set(stems(question))
    best = 0.0
    for match in evidence.matches(question)[:BEST]:
        text = match.piece.text
        if numbers:
            stated = [float(number.value) for number in find_numbers(text, language=language)]
            sought = float(numbers[0].value)
            share = 1.0 if any(math.isclose(value, sought, rel_tol=1e-6) for value in stated) else 0.0
        elif own:
            share = len(own & set(stems(text))) / len(own)
        else:
            share = fuzz.partial_ratio(fold(option), fold(text)) / 200
        best = max(best, match.score * share)
    return best
