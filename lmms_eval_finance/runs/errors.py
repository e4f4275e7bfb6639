"""Error analysis: a stratified sample of wrong answers, each with the kind of its mistake.

Kinds come from a taxonomy of one of the papers, by a language judge or a panel, and are
confirmed by a person. Rules say offline what rules can tell (`rule_cause`); that is kept
beside the kind and never passes for one.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from typing import Any

from lmms_eval_finance.judging.items import JudgeItem, as_text
from lmms_eval_finance.judging.panel import Panel, judge_items
from lmms_eval_finance.metrics import numbers
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.runs.journal import Item, item_of, read_lines, write_lines
from lmms_eval_finance.runs.read import Run
from lmms_eval_finance.runs.review import load_decisions
from lmms_eval_finance.settings import SettingError

ERRORS, ERROR_DECISIONS = "errors", "error_decisions"

TAXONOMIES: Mapping[str, Mapping[str, str]] = {
    # FAMMA (arXiv 2410.04526), section 5.
    "famma": {
        "data misinterpretation": "an input value, a chart or a table was read wrongly",
        "incomplete context understanding": "part of the question, of its context or of an option was missed",
        "numerical inaccuracy": "the method is right, the calculation is not",
        "domain knowledge gaps": "a concept, formula or practice of finance is wrong or missing",
        "ambiguous answer generation": "the answer is vague, incomplete, or does not follow from the working",
    },
    # CFMME (arXiv 2605.29462).
    "cfmme": {
        "hallucination": "the answer rests on something that stands neither in the question nor in the picture",
        "perception barriers": "the picture was read wrongly or not at all",
        "insufficient finance terminology": "a term of finance was not known or taken for another",
        "irrational reasoning": "what was read is right, the conclusion from it is not",
    },
}

PAPER_STRATA: Mapping[str, Mapping[str, int]] = {
    "language": {"english": 76, "chinese": 14, "french": 10},
    "difficulty": {"easy": 30, "medium": 30, "hard": 40},
}
"""The marginals of FAMMA's sample of 100."""


@dataclass(frozen=True)
class ErrorItem:
    """One wrong answer of the sample.

    Attributes:
        task, id: the item.
        labels: of its record.
        rule: what the rules can tell of the mistake; "unclear" where they cannot.
        kind: its kind in the taxonomy; empty where no judge said one.
        votes: of the judges, the letters of kinds replaced by their names.
        confirmed: whether a person decided the kind.
    """

    task: str
    id: str
    labels: Mapping[str, str]
    rule: str
    kind: str = ""
    votes: Sequence[Mapping[str, Any]] = ()
    confirmed: bool = False

    def to_json(self) -> dict[str, Any]:
        """Plain JSON, as it stands in the errors file."""
        return {
            "task": self.task,
            "id": self.id,
            "labels": dict(self.labels),
            "rule": self.rule,
            "kind": self.kind,
            "votes": [dict(vote) for vote in self.votes],
        }


def is_error(record: Record) -> bool:
    """Whether an item was answered wrongly: scored, and not fully right."""
    return record.outcome.scored and (record.score or 0.0) < 1.0


def draw(
    records: Iterable[tuple[str, Record]],
    size: int,
    seed: int,
    strata: Mapping[str, Mapping[str, int]] | None = None,
) -> list[tuple[str, Record]]:
    """A sample of the wrong answers, the same for the same records whatever their order.

    Args:
        records: task and record of a run's items.
        size: how many to draw; all errors where there are fewer.
        seed: of the draw.
        strata: label -> value -> weight, e.g. `PAPER_STRATA`. Cells are products of the weights;
            what a cell lacks is drawn from the others. Without it every label combination of
            language and difficulty has the share that it has among the errors.

    >>> wrong = [("t", Record(str(n), Outcome.WRONG, 0.0)) for n in range(9)]
    >>> len(draw(wrong, 4, 0)), draw(wrong, 4, 0) == draw(wrong[::-1], 4, 0)
    (4, True)
    """
    pool = sorted(
        ((task, record) for task, record in records if is_error(record)), key=lambda it: (it[0], it[1].id)
    )
    names = tuple(strata) if strata else ("language", "difficulty")
    cells: dict[tuple[str, ...], list[tuple[str, Record]]] = {}
    for task, record in pool:
        cells.setdefault(tuple(record.labels.get(name, "") for name in names), []).append((task, record))
    if strata:
        weights = {cell: Fraction(1) for cell in product(*strata.values())}
        for cell in weights:
            for name, value in zip(names, cell, strict=True):
                weights[cell] *= Fraction(strata[name][value], sum(strata[name].values()))
    else:
        weights = {cell: Fraction(len(members), len(pool)) for cell, members in cells.items()}
    wanted = _apportioned(weights, size, {cell: len(members) for cell, members in cells.items()})
    generator = random.Random(seed)
    drawn: list[tuple[str, Record]] = []
    for cell in sorted(cells):
        drawn += generator.sample(cells[cell], wanted.get(cell, 0))
    rest = [item for item in pool if item not in drawn]
    drawn += generator.sample(rest, max(0, min(size, len(pool)) - len(drawn)))
    return sorted(drawn, key=lambda item: (item[0], item[1].id))


def _apportioned(
    weights: Mapping[tuple[str, ...], Fraction], size: int, available: Mapping[tuple[str, ...], int]
) -> dict[tuple[str, ...], int]:
    """Seats by largest remainder, at most what is available; the rest is for the caller to fill."""
    quotas = {cell: weight * size for cell, weight in weights.items()}
    seats = {cell: int(quota) for cell, quota in quotas.items()}
    by_remainder = sorted(quotas, key=lambda cell: (seats[cell] - quotas[cell], cell))
    for cell in by_remainder[: max(0, size - sum(seats.values()))]:
        seats[cell] += 1
    return {cell: min(count, available.get(cell, 0)) for cell, count in seats.items()}


def rule_cause(record: Record) -> str:
    """What the rules can tell of a mistake: no answer, wrong option, near-miss, scale or unit slip, sign slip.

    >>> details = {"question_type": "open", "language": "en"}
    >>> rule_cause(Record("1", Outcome.WRONG, 0.0, gold="$5.1 million", prediction="$5.1 billion", details=details))
    'scale or unit slip'
    >>> rule_cause(Record("1", Outcome.WRONG, 0.0, gold="4.17%", prediction="4.2%", details=details))
    'near-miss'
    """
    if record.outcome in (
        Outcome.EMPTY,
        Outcome.REFUSED,
        Outcome.TRUNCATED,
        Outcome.UNREADABLE,
        Outcome.TIMED_OUT,
    ):
        return "no answer"
    if record.details.get("question_type") in ("choice", "single_choice", "multiple_choice"):
        return "wrong option"
    language = record.details.get("language")
    language = language if isinstance(language, str) else None
    gold = numbers.parse_number(as_text(record.gold), language=language)
    given = numbers.parse_number(as_text(record.prediction), language=language)
    if gold is None or given is None or not gold.value or not given.value:
        return "unclear"
    ratio = Fraction(given.value) / Fraction(gold.value)
    if ratio < 0 and abs(abs(ratio) - 1) <= Fraction(1, 1000):
        return "sign slip"
    for power in (1, 2, 3, 4, 6, 8, 9):
        for factor in (Fraction(10) ** power, Fraction(1, 10**power)):
            if abs(ratio / factor - 1) <= Fraction(1, 1000):
                return "scale or unit slip"
    return "near-miss" if abs(ratio - 1) <= Fraction(5, 100) else "unclear"


def analyse(sample: Sequence[tuple[str, Record]], taxonomy: str, panel: Panel | None) -> list[ErrorItem]:
    """The items of a sample with what the rules tell and, with a panel, the kind that most judges name.

    Raises:
        SettingError: there is no such taxonomy.
    """
    kinds = _kinds(taxonomy)
    items = [ErrorItem(task, record.id, record.labels, rule_cause(record)) for task, record in sample]
    if panel is None:
        return items
    letters = dict(zip("ABCDEFGH", kinds, strict=False))
    options = tuple(f"{letter}. {kind}: {TAXONOMIES[taxonomy][kind]}" for letter, kind in letters.items())
    votes = judge_items([_question(record, options) for _, record in sample], panel)
    found = []
    for item, cast in zip(items, votes, strict=True):
        named = [{"judge": vote.judge, "kind": letters.get(vote.choice or "", "")} for vote in cast]
        kind, backing = Counter(vote["kind"] for vote in named).most_common(1)[0]
        agreed = kind if kind and 2 * backing > len(named) else ""
        found.append(replace(item, kind=agreed, votes=named))
    return found


def _question(record: Record, options: tuple[str, ...]) -> JudgeItem:
    details = record.details
    return JudgeItem(
        id=record.id,
        preset="error_choice",
        question=as_text(details.get("question")),
        gold=as_text(record.gold),
        answer=as_text(record.prediction if record.prediction is not None else record.response),
        context=as_text(details.get("context")),
        explanation=as_text(details.get("explanation")),
        options=options,
        question_type="choice",
    )


def _kinds(taxonomy: str) -> list[str]:
    if taxonomy not in TAXONOMIES:
        raise SettingError(f"no taxonomy {taxonomy!r}; there are {', '.join(TAXONOMIES)}")
    return list(TAXONOMIES[taxonomy])


def save(run: Run, items: Sequence[ErrorItem]) -> None:
    """Write the analysis beside the run, replacing an earlier one."""
    write_lines(run.companion(ERRORS), (item.to_json() for item in items))


def load(run: Run, taxonomy: str | None = None) -> list[ErrorItem]:
    """The analysis of a run with a person's decisions on kinds applied; empty where there is none."""
    allowed = [kind for name, kinds in TAXONOMIES.items() if taxonomy in (None, name) for kind in kinds]
    decided: dict[Item, str] = load_decisions(run, allowed, kind=ERROR_DECISIONS)
    found = []
    for row in read_lines(run.companion(ERRORS)):
        item = ErrorItem(
            row["task"],
            row["id"],
            row.get("labels", {}),
            row.get("rule", ""),
            row.get("kind", ""),
            row.get("votes", []),
        )
        kind = decided.get(item_of(row))
        found.append(replace(item, kind=kind, confirmed=True) if kind else item)
    return found


def corrected(errors: Sequence[ErrorItem], remedy: Iterable[tuple[str, Record]]) -> list[ErrorItem]:
    """The errors that a remedied run answers rightly: items match by id, since remedies are other tasks."""
    right = {record.id for _, record in remedy if record.score == 1.0}
    return [item for item in errors if item.id in right]
