"""Open answers: which comparison a gold calls for."""

from __future__ import annotations

import re

from lmms_eval_finance.judging.rules.codes import compare_codes
from lmms_eval_finance.judging.rules.dates import find_dates, same_date
from lmms_eval_finance.judging.rules.facts import compare_facts, split_facts
from lmms_eval_finance.judging.rules.findings import Finding
from lmms_eval_finance.judging.rules.formulas import compare_formulas
from lmms_eval_finance.judging.rules.phrases import compare_phrases
from lmms_eval_finance.judging.rules.polarity import is_abstention, is_none, polarity, states_absence
from lmms_eval_finance.judging.rules.values import compare_values
from lmms_eval_finance.judging.rules.words import content_words, fold, words
from lmms_eval_finance.metrics.numbers import find_numbers

__all__ = ["compare_open"]

_POLAR_GOLD = re.compile(
    r"\W*(?:yes|no|oui|non|true|false|vrai|faux|是|否|对|错|正确|错误|possible|not possible)\W*",
    re.IGNORECASE,
)


def compare_open(gold: str, answer: str, question: str, *, language: str, unit: str | None) -> Finding:
    """Compare an answer with an open gold by the first rule that the gold calls for."""
    found = _compare(gold, answer, question, language=language, unit=unit)
    if found.verdict and found.reason != "same text" and is_abstention(answer) and not states_absence(gold):
        return Finding(None, "the gold is there, but the answer declines")
    return found


def _compare(gold: str, answer: str, question: str, *, language: str, unit: str | None) -> Finding:
    if _same_text(gold, answer):
        return Finding(True, "same text")
    if is_none(gold):
        return _none(gold, answer, language)
    if _POLAR_GOLD.fullmatch(gold):
        return _polar(gold, answer)
    if (found := compare_codes(gold, answer, question)) is not None:
        return found
    if (found := compare_formulas(gold, answer)) is not None:
        return found
    if (found := _date(gold, answer, language)) is not None:
        return found
    if (found := compare_values(gold, answer, question, language=language, unit=unit)) is not None:
        return found
    if is_abstention(answer) and not states_absence(gold):
        return Finding(False, "no answer given")
    if (found := _negated(gold, answer)) is not None:
        return found
    if polarity(answer) is not None and len(content_words(words(fold(answer)))) <= 1:
        return Finding(None, "a bare yes or no")
    facts = split_facts(gold)
    if len(facts) > 1:
        return compare_facts(
            facts,
            answer,
            question,
            lambda fact, item: _fact(fact, item, question, language=language, unit=unit),
            closed=";" in gold or "；" in gold,
        )
    return compare_phrases(gold, answer, question)


def _same_text(gold: str, answer: str) -> bool:
    return " ".join(gold.split()).strip(" .").casefold() == " ".join(answer.split()).strip(" .").casefold()


def _fact(fact: str, item: str, question: str, *, language: str, unit: str | None) -> Finding:
    found = compare_values(fact, item, question, language=language, unit=unit)
    return found if found is not None else compare_phrases(fact, item, question)


def _none(gold: str, answer: str, language: str) -> Finding:
    """The gold says that there is none."""
    if is_none(answer) or polarity(answer) is False:
        return Finding(True, "both say none")
    numbers = find_numbers(answer, language)
    if numbers:
        zero = all(number.value == 0 for number in numbers)
        return Finding(zero, "zero for none" if zero else "a figure where the gold says none")
    if polarity(answer):
        return Finding(False, "yes where the gold says none")
    if states_absence(answer) and not (is_abstention(answer) and gold.strip() != "-"):
        return Finding(True, "both say none")
    return Finding(None, "the gold says none")


def _polar(gold: str, answer: str) -> Finding:
    wanted, given = polarity(gold), polarity(answer)
    if given is None:
        return Finding(None, "neither yes nor no")
    return Finding(wanted == given, "yes and no compared")


def _date(gold: str, answer: str, language: str) -> Finding | None:
    """A gold that is one date and nothing else."""
    dates = find_dates(gold, language)
    if len(dates) != 1:
        return None
    wanted = dates[0]
    rest = content_words(words(fold(gold[: wanted.start] + " " + gold[wanted.end :])))
    if rest:
        return None
    given = find_dates(answer, language)
    if not given:
        years = {number.value for number in find_numbers(answer, language) if 1900 <= number.value <= 2100}
        if years == {wanted.year}:
            return Finding(None, "only the year")
        if years or len(content_words(words(fold(answer)))) <= 8:
            return Finding(False, "another date" if years else "no date in the answer")
        return Finding(None, "no date in the answer")
    verdicts = [same_date(wanted, date, language) for date in given]
    if all(verdict is False for verdict in verdicts):
        return Finding(False, "another date")
    if all(verdict is True for verdict in verdicts):
        return Finding(True, "the same date")
    return Finding(None, "a date that can be read in two ways" if len(given) == 1 else "several dates")


def _negated(gold: str, answer: str) -> Finding | None:
    """A gold sentence that says no, answered by a plain yes or no."""
    given = polarity(answer)
    if given is None or not states_absence(gold):
        return None
    bare = len(content_words(words(fold(answer)))) <= 1
    if given is False:
        return Finding(True, "no, as the gold says at length") if bare or states_absence(answer) else None
    return Finding(False, "yes where the gold says no") if bare or not states_absence(answer) else None
