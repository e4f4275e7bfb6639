"""Models and their runs, as the tables take them, and what makes a run incomparable with published rows."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Literal

from lmms_eval_finance.metrics.intervals import Interval
from lmms_eval_finance.metrics.signature import Signature
from lmms_eval_finance.report.summary import TaskSummary
from lmms_eval_finance.report.table import Cell, Marked, Table
from lmms_eval_finance.runs.figures import SCORE, N

Round = Mapping[str, TaskSummary]
"""One pass over some tasks: task -> its summary."""
Models = Mapping[str, Sequence[Round]]
"""Model -> its rounds; several rounds are repeated runs of one model."""
Spread = Literal["deviation", "error"]
Figure = Callable[[Round], "Interval | None"]


def rounds(summaries: Iterable[tuple[str, TaskSummary]]) -> dict[str, list[dict[str, TaskSummary]]]:
    """Models with their rounds: a task joins the first round of its model that lacks it.

    So tasks spread over several runs make one round, and the same tasks run again make another.
    """
    found: dict[str, list[dict[str, TaskSummary]]] = {}
    for model, summary in summaries:
        passes = found.setdefault(model, [])
        for one in passes:
            if summary.task not in one:
                one[summary.task] = summary
                break
        else:
            passes.append({summary.task: summary})
    return found


def distinct(names: Sequence[str]) -> list[str]:
    """Names of runs, those that occur several times numbered.

    >>> distinct(["a", "b", "a"])
    ['a (run 1)', 'b', 'a (run 2)']
    """
    found = []
    for place, name in enumerate(names):
        number = names[:place].count(name) + 1
        found.append(f"{name} (run {number})" if names.count(name) > 1 else name)
    return found


def cell(model: Sequence[Round], figure: Figure, spread: Spread = "deviation") -> Cell:
    """A figure in per cent: with its interval for one round, mean and spread for several, None for none.

    Args:
        model: the rounds.
        figure: of one round, a share.
        spread: the standard deviation of the sample (n - 1), or the standard error of the mean.
    """
    found = [interval for one in model if (interval := figure(one)) is not None]
    if not found:
        return None
    if len(found) == 1:
        (one,) = found
        if one.low is None or one.high is None:
            return 100 * one.estimate
        return Marked(100 * one.estimate, low=100 * one.low, high=100 * one.high)
    values = [100 * interval.estimate for interval in found]
    deviation = statistics.stdev(values)
    return Marked(
        statistics.fmean(values),
        spread=deviation if spread == "deviation" else deviation / len(values) ** 0.5,
    )


def own_row(model: str, passes: Sequence[Round], marks: Sequence[str] = ()) -> Cell:
    """The first cell of a model's row: its name, the number of rounds, and marks."""
    name = model if len(passes) == 1 else f"{model} ({len(passes)} runs)"
    return Marked(name, marks=marks) if marks else name


def published_row(model: str, marks: Sequence[str] = ()) -> Cell:
    """The first cell of a published row."""
    return Marked(f"{model} (published)", marks=marks)


def of_task(task: str, name: str) -> Figure:
    """A figure of a task by the name that it has in the task's metric table."""
    return lambda one: one[task].figures.get(name) if task in one else None


def of_slice(task: str, label: str, value: str) -> Figure:
    """The mean score of a task's items that have this value of a label."""
    return lambda one: one[task].sums.ratio((SCORE, label, value), (N, label, value)) if task in one else None


def with_tasks(models: Models, tasks: Iterable[str]) -> dict[str, list[Round]]:
    """The models that have any of the tasks, and their rounds that do."""
    wanted = set(tasks)
    found = {model: [one for one in passes if wanted & one.keys()] for model, passes in models.items()}
    return {model: passes for model, passes in found.items() if passes}


def fields_of(summary: TaskSummary) -> dict[str, str]:
    """The fields of a task's signatures; different values are joined by " + ".

    Where judges voted, the rules that settled the other items are not named beside them.
    """
    found: dict[str, dict[str, None]] = {}
    for signature in summary.signatures:
        for name, value in Signature.parse(signature).fields:
            found.setdefault(name, {})[value] = None
    judges = found.get("judge", {})
    if any(not judge.startswith("rules-") for judge in judges):
        found["judge"] = {judge: None for judge in judges if not judge.startswith("rules-")}
    return {name: " + ".join(values) for name, values in found.items()}


# -- marks -------------------------------------------------------------------------------------------


def run_marks(summaries: Sequence[TaskSummary], items: Mapping[str, int]) -> list[str]:
    """What keeps a run from being compared with any published row.

    Args:
        summaries: the tasks behind the row.
        items: task -> number of items that the published figure is on; tasks without one are not checked.
    """
    marks: dict[str, None] = {}
    other = [
        f"{summary.task} {summary.scored:,} of {items[summary.task]:,}"
        for summary in summaries
        if summary.task in items and summary.scored != items[summary.task]
    ]
    if other:
        marks[f"not the published figures' items: {', '.join(other)}"] = None
    for summary in summaries:
        fields = fields_of(summary)
        if fields.get("errata", "no") != "no":
            marks[
                f"on corrected golds (errata {fields['errata']}), the published figures are on released ones"
            ] = None
        if fields.get("prompt") == "unknown":
            marks["predictions of another tool: how the questions were asked is unknown"] = None
        if fields.get("undecided"):
            marks[
                f"{summary.left_out:,} items of {summary.task} that the rules could not decide are left out"
            ] = None
    return list(marks)


def values(models: Models, task: str, label: str) -> list[str]:
    """The values of a label that occur in a task's scored items, in alphabetical order."""
    keys = (
        key
        for passes in models.values()
        for one in passes
        if task in one
        for key in one[task].sums.totals
        if isinstance(key, tuple) and len(key) == 3 and key[:2] == (N, label)
    )
    return sorted({str(key[2]) for key in keys})


def breakdown(
    models: Models,
    task: str,
    label: str,
    title: str,
    *,
    plots: Sequence[str] = ("bars",),
    order: Sequence[str] = (),
) -> Table:
    """A task's mean score per value of a label; one column per value that occurs, none where the label is absent.

    Values stand in the given order, others after them.
    """
    own = with_tasks(models, [task])
    present = values(own, task, label)
    present = [
        *(value for value in order if value in present),
        *(value for value in present if value not in order),
    ]
    shown = present
    if len(present) > MOST_VALUES:
        frequent = sorted(present, key=lambda value: -_count(own, task, label, value))[:MOST_VALUES]
        shown = [value for value in present if value in frequent]
    rows: list[list[Cell]] = [
        [own_row(model, passes), *(cell(passes, of_slice(task, label, value)) for value in shown)]
        for model, passes in own.items()
    ]
    more = len(present) - len(shown)
    note = f"The {MOST_VALUES} most frequent of {len(present):,} values." if more else ""
    head = ["model", *(_heading(value) for value in shown)]
    return Table(title, head, rows, kinds=["run"] * len(rows), plots=plots, note=note)


def _heading(value: str) -> str:
    text = value.replace("_", " ")
    return text if len(text) <= 80 else f"{text[:79]}…"


MOST_VALUES = 40
"""So many values of a label have a column."""


def _count(models: Models, task: str, label: str, value: str) -> float:
    return sum(
        one[task].sums.totals.get((N, label, value), 0.0)
        for passes in models.values()
        for one in passes
        if task in one
    )


def tasks_of(models: Models, start: str) -> list[str]:
    """The tasks whose names begin so, in alphabetical order."""
    found = {task for passes in models.values() for one in passes for task in one}
    return sorted(task for task in found if task.startswith(start))
