"""From paths on the command line to models with their rounds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.report.summary import TaskSummary
from lmms_eval_finance.runs.read import Run, open_runs
from lmms_eval_finance.runs.rescore import rescored
from lmms_eval_finance.settings import SettingError

_NAMED = re.compile(r"(?P<name>[^=/\\]+)=(?P<path>.+)")


@dataclass(frozen=True)
class NamedRun:
    """A run under the name of its model: the host's, or the one that the user gives it."""

    model: str
    run: Run


def named_runs(arguments: Sequence[str]) -> list[NamedRun]:
    """The runs of ``RUN`` and ``NAME=RUN`` arguments; a folder with several runs stands for all of them.

    Raises:
        SettingError: a path holds no run, or one run is named twice.
    """
    found: list[NamedRun] = []
    for argument in arguments:
        named = _NAMED.fullmatch(argument) if not Path(argument).exists() else None
        for run in open_runs(Path(named["path"] if named else argument)):
            if any((run.folder, run.date) == (other.run.folder, other.run.date) for other in found):
                raise SettingError(f"{run.folder}, {run.date}: this run is named twice")
            found.append(NamedRun(named["name"] if named else run.model, run))
    return found


def summaries(
    runs: Sequence[NamedRun], skipped: list[str] | None = None, *, without_undecided: bool = False
) -> Iterator[tuple[str, TaskSummary]]:
    """Model and summary of every task of every run that holds records, verdicts and decisions applied."""
    for named in runs:
        tasks: dict[str, list[Record]] = {}
        for task, record in rescored(named.run, skipped):
            tasks.setdefault(task, []).append(record)
        for task, records in tasks.items():
            yield named.model, TaskSummary.of(task, records, without_undecided=without_undecided)
