"""The review by a person: which items need one, and what was decided.

An item is listed where the rule judge and the language judges contradict each other, where
the two readings of a choice differ, where neither could tell, where the judges are tied or
failed, and where the task itself asks for it (`details["review"]`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from lmms_eval_finance.judging.items import CORRECT, INCORRECT, JUDGEABLE, majority
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.metrics.signature import Signature
from lmms_eval_finance.runs.journal import Item, append_line, item_of, read_lines, write_lines
from lmms_eval_finance.runs.judge import load_verdicts
from lmms_eval_finance.runs.read import Run
from lmms_eval_finance.settings import SettingError

REVIEW, DECISIONS = "review", "decisions"
SKIP = "skip"
_SHOWN = ("question", "context", "options", "unit", "explanation", "answer", "rule", "gold_masked")


def why_review(record: Record, votes: Sequence[Mapping[str, Any]]) -> str:
    """Why a person should look at the item; empty where nobody needs to.

    Args:
        record: as it stands in the run.
        votes: of language judges, empty where there are none.
    """
    details = record.details
    asked = details.get("review")
    if isinstance(asked, str) and asked:
        return asked
    rule = details.get("rule")
    if not isinstance(rule, dict) or record.outcome not in JUDGEABLE:
        return ""
    ruled = {CORRECT: True, INCORRECT: False}.get(str(rule.get("verdict")))
    if not votes:
        return "" if ruled is not None else "the rule could not tell"
    readings = [
        vote["choice"] for vote in votes if vote.get("choice") is not None and vote.get("verdict") is not None
    ]
    if readings and any(reading != (rule.get("choice") or "") for reading in readings):
        return f"the rule reads {rule.get('choice') or 'no option'}, language judges {_listed(readings)}"
    agreed = majority(votes)
    if agreed is None:
        if any(vote.get("choice") is not None for vote in votes) and ruled is not None:
            return ""
        return "the judges are tied or failed"
    if ruled is not None and ruled is not agreed:
        return f"the rule says {_name(ruled)}, the judges {_name(agreed)}"
    return ""


def review_rows(run: Run, skipped: list[str] | None = None) -> Iterator[dict[str, Any]]:
    """Everything that a person needs to see of each listed item, in the order of the run."""
    verdicts = load_verdicts(run)
    for task, record in run.records(skipped):
        verdict = verdicts.get((task, record.id))
        votes = verdict.votes if verdict is not None else record.details.get("votes")
        votes = votes if isinstance(votes, Sequence) and not isinstance(votes, str) else []
        why = why_review(record, [vote for vote in votes if isinstance(vote, dict)])
        if why:
            yield review_row(task, record, why, votes)


def review_row(task: str, record: Record, why: str, votes: Sequence[Any]) -> dict[str, Any]:
    """Everything that a person needs to see of one item, for the review page."""
    shown = {name: record.details[name] for name in _SHOWN if name in record.details}
    images = record.details.get("images")
    return {
        "task": task,
        "id": record.id,
        "why": why,
        **shown,
        "data": dict(Signature.parse(record.signature).fields).get("data", ""),
        "images": images if isinstance(images, list) else [record.id],
        "gold": record.gold,
        "prediction": record.prediction,
        "response": record.response,
        "outcome": record.outcome.value,
        "reason": record.reason,
        "votes": list(votes),
    }


def write_review(run: Run, skipped: list[str] | None = None) -> int:
    """Write the run's review file and return the number of items in it."""
    rows = list(review_rows(run, skipped))
    write_lines(run.companion(REVIEW), rows)
    return len(rows)


def load_review(run: Run) -> list[dict[str, Any]]:
    """The rows of the run's review file."""
    return list(read_lines(run.companion(REVIEW)))


def load_decisions(
    run: Run, allowed: Sequence[str] = (CORRECT, INCORRECT), kind: str = DECISIONS
) -> dict[Item, str]:
    """What a person decided, the last decision on each item; "skip" withdraws it.

    Args:
        run: the run.
        allowed: the decisions there can be.
        kind: names the companion file they stand in.

    Raises:
        SettingError: the file is damaged or holds another decision.
    """
    path = run.companion(kind)
    decisions: dict[Item, str] = {}
    for row in read_lines(path):
        decision = row.get("decision")
        if decision == SKIP:
            decisions.pop(item_of(row), None)
        elif decision in allowed:
            decisions[item_of(row)] = str(decision)
        else:
            known = ", ".join([*allowed, SKIP])
            raise SettingError(
                f"{path}: {decision!r} on {row['id']} of {row['task']} is no decision (use {known})"
            )
    return decisions


def add_decision(run: Run, item: Item, decision: str, kind: str = DECISIONS) -> None:
    """Append one decision; it is on disk when this returns.

    Raises:
        OSError: it cannot be written.
    """
    now = datetime.now(timezone.utc).isoformat(timespec="seconds")
    append_line(run.companion(kind), {"task": item[0], "id": item[1], "decision": decision, "at": now})


def _name(verdict: bool) -> str:
    return CORRECT if verdict else INCORRECT


def _listed(readings: Sequence[object]) -> str:
    return ", ".join(str(reading or "no option") for reading in readings)
