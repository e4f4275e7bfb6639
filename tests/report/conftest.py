"""Models as the tables take them."""

from __future__ import annotations

import pytest

from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.report.models import rounds
from lmms_eval_finance.report.summary import TaskSummary
from lmms_eval_finance.report.table import Marked


def models(tasks, name="m"):
    """{task: [records of a run, records of another run ...]} -> models with one model."""
    runs = [(name, TaskSummary.of(task, records)) for task, passes in tasks.items() for records in passes]
    return rounds(runs)


def scored(identity, score, labels=None, **more):
    """A record; `score` None is an item that a judge failed on."""
    if score is None:
        outcome = Outcome.JUDGE_FAILED
    else:
        outcome = {1.0: Outcome.CORRECT, 0.0: Outcome.WRONG}.get(float(score), Outcome.PARTIAL)
    return Record(str(identity), outcome, None if score is None else float(score), labels or {}, **more)


def value(cell):
    return cell.value if isinstance(cell, Marked) else cell


@pytest.fixture
def make():
    """Builders: `make.models`, `make.scored`, `make.value`."""
    parts = {"models": models, "scored": scored, "value": value}
    return type("Make", (), {name: staticmethod(function) for name, function in parts.items()})
