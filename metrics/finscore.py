"""FinScore and the figures beside it (FinMME, arXiv 2505.24714, section 4.3).

Every function takes records and is independent of their order. Records that are
not scored (`Outcome.scored`) are left out. A figure is None where nothing is left
to compute it from.

Of a record the functions read `score` (1.0 when exactly right, else 0.0), the
label `question_type`, the label `knowledge_domain`, and these `parts`:

- `correct`, `incorrect`: selections that are, and are not, among the gold's letters;
- `options`, `gold_letters`: how many options and gold letters the question has;
- `released_correct`: 1.0 when the reading of the authors' scorer (`released_reading`) is right;
- `released_multiple`: 1.0 when the authors' scorer counts the item for its hallucination rate.

Paper and released scorer disagree; both are here under their own names, and the
published figures follow the released one in magnitude:

======================  ==============================  ==================================
name                    S of a multiple choice          P_H
======================  ==============================  ==================================
`finscore`              max(0, c/n - i/s), n options    mean of i/s over all questions
`finscore_gold_n`       the same with n gold letters    the same
`finscore_released`     1 when exactly right            wrong share of multi-letter golds
======================  ==============================  ==================================
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from lmms_eval_finance.metrics.records import Record

QUESTION_TYPES = ("single_choice", "multiple_choice", "numerical")
COGNITIVE_LEVELS = ("comprehensive_understanding", "fine_grained_perception", "analysis_and_reasoning")

_ANSWER_LINE = re.compile(r"answer\s*:\s*(\S+)", re.IGNORECASE)
_RELEASED_NOISE = re.compile(r"\*\*|:|\$\\boxed\{|\}\$|\\\$|\$|\{|\\boxed")
_RELEASED_LETTERS = frozenset("ABCDEFGHIJKLMN")


def selection_score(record: Record, n: Literal["options", "gold_letters"] = "options") -> float:
    """Equation 1: max(0, c/n - i/s) for a multiple choice, the plain score for the other types.

    c and i are the correct and incorrect selections, s their sum, n the number of
    options (the paper's words) or of gold letters (a perfect answer then gives 1).
    Nothing selected gives 0.

    Returns:
        A number in [0, 1].

    >>> from lmms_eval_finance.metrics.outcomes import Outcome
    >>> record = Record("1", Outcome.WRONG, 0.0, {"question_type": "multiple_choice"},
    ...     parts={"correct": 2, "incorrect": 1, "options": 4, "gold_letters": 2})
    >>> round(selection_score(record), 3), round(selection_score(record, "gold_letters"), 3)
    (0.167, 0.667)
    """
    if record.labels.get("question_type") != "multiple_choice":
        return record.score or 0.0
    parts = record.parts
    selected = parts["correct"] + parts["incorrect"]
    if not selected or not parts[n]:
        return 0.0
    return max(0.0, parts["correct"] / parts[n] - parts["incorrect"] / selected)


def wrong_share(record: Record) -> float:
    """The i/s of equation 3: the wrong share of what was selected, in [0, 1].

    A single choice or a number is one selection, wrong (1) or right (0). An empty or
    unreadable answer selects nothing and gives 0: it cannot hallucinate a choice.
    """
    selected = record.parts["correct"] + record.parts["incorrect"]
    return record.parts["incorrect"] / selected if selected else 0.0


def domain_score(
    records: Iterable[Record], score: Callable[[Record], float] = selection_score
) -> float | None:
    """Equation 2: the mean over knowledge domains of the mean score in each, in [0, 1].

    Records without the label `knowledge_domain` form a domain of their own.
    """
    domains: dict[str, list[float]] = {}
    for record in _scored(records):
        domains.setdefault(record.labels.get("knowledge_domain", ""), []).append(score(record))
    return _mean([_mean(values) for values in domains.values()])


def hallucination_rate(records: Iterable[Record]) -> float | None:
    """Equation 3: the mean over questions of `wrong_share`, in [0, 1]."""
    return _mean([wrong_share(record) for record in _scored(records)])


def finscore(records: Sequence[Record], n: Literal["options", "gold_letters"] = "options") -> float | None:
    """Equation 4: F * (1 - P_H), in [0, 1], with equations 1 to 3 taken literally.

    With `n` the number of options, as the paper has it, a perfect answer to a multiple
    choice scores gold letters / options, so only single choices and numbers reach 1.
    """
    rate = hallucination_rate(records)
    score = domain_score(records, lambda record: selection_score(record, n))
    return None if rate is None or score is None else score * (1 - rate)


def released_domain_score(records: Iterable[Record], *, released_parser: bool = False) -> float | None:
    """F of the authors' scorer: mean over domains of exact matches; items without a domain drop out."""
    labelled = [record for record in records if record.labels.get("knowledge_domain")]
    return domain_score(labelled, lambda record: _released_correct(record, released_parser))


def released_hallucination_rate(records: Iterable[Record], *, released_parser: bool = False) -> float:
    """P_H of the authors' scorer: wrong share of multiple choices whose gold has several characters.

    0 where there is no such question, as there.
    """
    wrong = [
        1.0 - _released_correct(record, released_parser)
        for record in _scored(records)
        if record.parts["released_multiple"]
    ]
    return _mean(wrong) or 0.0


def finscore_released(records: Sequence[Record], *, released_parser: bool = False) -> float | None:
    """FinScore by the formula of the authors' scorer, in [0, 1].

    Args:
        records: the records.
        released_parser: also read the answers as that scorer does (`released_reading`).
    """
    score = released_domain_score(records, released_parser=released_parser)
    if score is None:
        return None
    return score * (1 - released_hallucination_rate(records, released_parser=released_parser))


def accuracy(records: Iterable[Record]) -> float | None:
    """The mean score, in [0, 1]."""
    return _mean([record.score for record in _scored(records) if record.score is not None])


def accuracy_by(records: Iterable[Record], label: str) -> dict[str, float]:
    """The mean score per value of a label, for the values that occur.

    >>> from lmms_eval_finance.metrics.outcomes import Outcome
    >>> records = [Record("1", Outcome.CORRECT, 1.0, {"asset_class": "bond"}),
    ...            Record("2", Outcome.WRONG, 0.0, {"asset_class": "bond"})]
    >>> accuracy_by(records, "asset_class")
    {'bond': 0.5}
    """
    groups: dict[str, list[float]] = {}
    for record in _scored(records):
        if label in record.labels and record.score is not None:
            groups.setdefault(record.labels[label], []).append(record.score)
    return {value: math.fsum(scores) / len(scores) for value, scores in sorted(groups.items())}


def average_types(records: Sequence[Record]) -> float | None:
    """The mean of the accuracies of the three question types; None unless all three occur."""
    return _mean_of_all(accuracy_by(records, "question_type"), QUESTION_TYPES)


def average(records: Sequence[Record]) -> float | None:
    """Table 3's 'Avg.': the mean of the accuracies of three cognitive levels and three types.

    None unless all six occur. 15 of the 17 printed rows agree with it to 0.01.
    """
    columns = {**accuracy_by(records, "cognitive_level"), **accuracy_by(records, "question_type")}
    return _mean_of_all(columns, COGNITIVE_LEVELS + QUESTION_TYPES)


def released_reading(response: str, question_type: str) -> frozenset[str] | float | None:
    """What the authors' scorer reads from a response, faults included.

    It takes the first unbroken run of characters after 'Answer:'. Of a choice it keeps
    every letter A to N in that run, whichever word it stands in; of a number every
    digit, dot and minus.

    >>> sorted(released_reading("Answer: A, C", "multiple_choice"))
    ['A']
    >>> released_reading("Answer: 1.2e3", "numerical")
    1.23
    """
    found = _ANSWER_LINE.search(response)
    run = _RELEASED_NOISE.sub("", found[1]) if found else ""
    return _released_value(run, question_type)


def released_match(response: str, gold: str, question_type: str, tolerance: float) -> bool:
    """Whether the authors' scorer counts a response as right.

    The gold is read by the same rules; `tolerance` is absolute.
    """
    prediction = released_reading(response, question_type)
    target = _released_value(gold, question_type)
    if isinstance(prediction, float) and isinstance(target, float):
        return abs(prediction - target) <= tolerance
    return question_type != "numerical" and prediction == target


def _released_value(text: str, question_type: str) -> frozenset[str] | float | None:
    if question_type != "numerical":
        return frozenset(text.upper()) & _RELEASED_LETTERS
    try:
        return float("".join(char for char in text if char.isdigit() or char in ".-"))
    except ValueError:
        return None


def _released_correct(record: Record, released_parser: bool) -> float:
    return record.parts["released_correct"] if released_parser else record.score or 0.0


def _scored(records: Iterable[Record]) -> list[Record]:
    return [record for record in records if record.outcome.scored]


def _mean(values: Sequence[float | None]) -> float | None:
    """The exactly rounded mean, so that the order of items cannot change the last digit."""
    present = [value for value in values if value is not None]
    return math.fsum(present) / len(present) if present else None


def _mean_of_all(columns: Mapping[str, float], names: Sequence[str]) -> float | None:
    return _mean([columns[name] for name in names]) if all(name in columns for name in names) else None
