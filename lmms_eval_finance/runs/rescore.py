"""Scores from saved outputs: records as the run left them, changed only by later verdicts and decisions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lmms_eval_finance.judging.items import JUDGEABLE, resolve
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.metrics.signature import Signature
from lmms_eval_finance.runs.judge import Verdict, load_verdicts
from lmms_eval_finance.runs.read import Run
from lmms_eval_finance.runs.review import load_decisions


def rescored(run: Run, skipped: list[str] | None = None) -> Iterator[tuple[str, Record]]:
    """Task and record of every item, with the run's verdicts file and decisions applied.

    Raises:
        SettingError: a line of one of the files cannot be read.
    """
    verdicts = load_verdicts(run)
    decisions = load_decisions(run)
    for task, record in run.records(skipped):
        yield task, rescored_record(record, verdicts.get((task, record.id)), decisions.get((task, record.id)))


def rescored_record(record: Record, verdict: Verdict | None, decision: str | None) -> Record:
    """The record under these votes and this decision; the same object where there are neither.

    Records that no judge may change (`JUDGEABLE`) change by a person's decision alone.
    """
    judged = verdict is not None and record.outcome in JUDGEABLE
    if not judged and decision is None:
        return record
    details: dict[str, Any] = dict(record.details)
    signature = record.signature
    if verdict is not None and judged:
        details["votes"] = list(verdict.votes)
        if verdict.judges:
            signature = str(Signature.parse(signature).with_fields(judge=verdict.judges))
    outcome, score, reason = resolve(_object(details.get("rule")), _objects(details.get("votes")), decision)
    return replace(record, outcome=outcome, score=score, reason=reason, signature=signature, details=details)


@dataclass(frozen=True)
class Summary:
    """One task's figures: the mean over the n scored records, all outcomes counted, and what changed.

    `mean` is None where nothing is scored.
    """

    task: str
    mean: float | None
    n: int
    outcomes: Mapping[Outcome, int]

    @property
    def total(self) -> int:
        """All records, scored or not."""
        return sum(self.outcomes.values())


def summaries(records: Iterable[tuple[str, Record]]) -> list[Summary]:
    """The figures of each task, in order of appearance.

    >>> records = [("t", Record("1", Outcome.CORRECT, 1.0)), ("t", Record("2", Outcome.JUDGE_FAILED, None))]
    >>> [summary] = summaries(records)
    >>> summary.mean, summary.n, summary.total
    (1.0, 1, 2)
    """
    sums: dict[str, float] = {}
    counts: dict[str, Counter[Outcome]] = {}
    for task, record in records:
        sums[task] = sums.get(task, 0.0) + (record.score or 0.0)
        counts.setdefault(task, Counter())[record.outcome] += 1
    found = []
    for task, outcomes in counts.items():
        n = sum(count for outcome, count in outcomes.items() if outcome.scored)
        found.append(Summary(task, sums[task] / n if n else None, n, outcomes))
    return found


def _object(value: Any) -> Mapping[str, Any] | None:
    return value if isinstance(value, dict) else None


def _objects(value: Any) -> Sequence[Mapping[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
