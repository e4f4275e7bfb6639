"""Judging a finished run: every judged record is put to the panel, the votes go into one file beside it.

Replies are in the panel's cache as soon as they arrive, so the work can be broken off at any
point: the next call asks only for what is missing. The file is written as a whole at the end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lmms_eval_finance.judging.agreement import Agreement, all_agreements
from lmms_eval_finance.judging.items import CORRECT, INCORRECT, JudgeItem, Vote
from lmms_eval_finance.judging.panel import Panel, judge_items
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.runs.journal import Item, item_of, read_lines, write_lines
from lmms_eval_finance.runs.read import Run
from lmms_eval_finance.settings import SettingError

VERDICTS = "verdicts"


@dataclass(frozen=True)
class Verdict:
    """The votes on one item and the signature of the judges that gave them."""

    votes: Sequence[Mapping[str, Any]]
    judges: str


@dataclass(frozen=True)
class Case:
    """A record that is to be judged."""

    task: str
    record: Record
    item: JudgeItem


def cases_of(run: Run, panel: Panel, skipped: list[str] | None = None) -> list[Case]:
    """The run's records that a judge is to see.

    Raises:
        SettingError: the run holds none, a line cannot be read, or a record asks for an unknown prompt.
    """
    cases = []
    for task, record in run.records(skipped):
        item = JudgeItem.from_record(record)
        if item is None:
            continue
        if not panel.knows(item.preset):
            raise SettingError(
                f"{run.samples[task]}: item {record.id}: no judge's prompt is called {item.preset!r}"
            )
        cases.append(Case(task, record, item))
    if not cases:
        raise SettingError(f"{run.folder}: no item of this run is for a judge (no open answers of our tasks)")
    return cases


def judge_run(
    run: Run, cases: Sequence[Case], panel: Panel, on_done: Callable[[], object]
) -> list[list[Vote]]:
    """Put all cases to the panel and write the run's verdicts file.

    Args:
        run: where the file goes.
        cases: from `cases_of`.
        panel: the judges.
        on_done: called after each case, for progress.

    Returns:
        The votes on each case, in order.
    """
    votes = judge_items([case.item for case in cases], panel, lambda *_: on_done())
    write_lines(
        run.companion(VERDICTS),
        (
            {
                "task": case.task,
                "id": case.record.id,
                "judges": panel.signature(case.item.preset),
                "votes": [vote.to_json() for vote in given],
            }
            for case, given in zip(cases, votes, strict=True)
        ),
    )
    return votes


def load_verdicts(run: Run) -> dict[Item, Verdict]:
    """The votes in the run's verdicts file, by item; empty where there is none.

    Raises:
        SettingError: the file is damaged.
    """
    path = run.companion(VERDICTS)
    verdicts = {}
    for row in read_lines(path):
        votes = row.get("votes")
        if not isinstance(votes, list) or not all(isinstance(vote, dict) for vote in votes):
            raise SettingError(
                f"{path}: the votes on {row['id']} of {row['task']} are damaged: judge the run again"
            )
        verdicts[item_of(row)] = Verdict(votes, str(row.get("judges", "")))
    return verdicts


def panel_agreement(cases: Sequence[Case], votes: Sequence[Sequence[Vote]]) -> list[Agreement]:
    """How far judges and rule agree on the cases, with intervals over contexts."""
    rule = [_rule_verdict(case.record) for case in cases]
    clusters = [(case.task, case.record.cluster or case.record.id) for case in cases]
    return all_agreements([{vote.judge: vote.verdict for vote in given} for given in votes], rule, clusters)


def _rule_verdict(record: Record) -> bool | None:
    rule = record.details.get("rule")
    verdict = rule.get("verdict") if isinstance(rule, dict) else None
    return {CORRECT: True, INCORRECT: False}.get(str(verdict))
