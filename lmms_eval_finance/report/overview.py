"""What stands at the top of a report: runs and their main figures, outcomes, signatures, every figure."""

from __future__ import annotations

from collections.abc import Iterator

from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.signature import Signature
from lmms_eval_finance.report.models import (
    Models,
    Round,
    cell,
    fields_of,
    of_task,
    own_row,
    tasks_of,
    with_tasks,
)
from lmms_eval_finance.report.summary import TaskSummary
from lmms_eval_finance.report.table import Cell, Table
from lmms_eval_finance.runs.figures import primary


def overview(models: Models) -> list[Table]:
    """The main figure and the outcomes of every task and model."""
    return [main_figures(models), outcomes(models)]


def main_figures(models: Models) -> Table:
    """The mean score of every task, in per cent, a row for each task and model."""
    rows: list[list[Cell]] = []
    for task in tasks_of(models, ""):
        for model, passes in with_tasks(models, [task]).items():
            first = passes[0][task]
            rows.append(
                [
                    own_row(model, passes, _differing(task, models)),
                    task,
                    cell(passes, of_task(task, primary(task))),
                    primary(task).replace("_", " "),
                    f"{first.scored:,} of {len(first.records) + first.left_out:,}",
                ]
            )
    note = "Figures in per cent. In brackets: 95% intervals by the bootstrap over contexts or pictures; after ±: the standard deviation over repeated runs."
    return Table("Main figures", ["model", "task", "%", "figure", "items scored"], rows, note=note)


def outcomes(models: Models) -> Table:
    """The share of each outcome, in per cent of all items, a row for each task and model."""
    rows: list[list[Cell]] = []
    found: list[TaskSummary] = []
    for task in tasks_of(models, ""):
        for model, passes in with_tasks(models, [task]).items():
            found.append(passes[0][task])
            rows.append([f"{task}, {model}" if len(models) > 1 else task])
    used = [outcome for outcome in Outcome if any(summary.outcomes.get(outcome) for summary in found)]
    for row, summary in zip(rows, found, strict=True):
        total = sum(summary.outcomes.values())
        row += [100 * summary.outcomes.get(outcome, 0) / total for outcome in used]
    names = [outcome.value.replace("_", " ") for outcome in used]
    note = "In per cent of all items. judge failed and gold unusable are not scored: they are in no mean."
    return Table("Outcomes", ["task", *names], rows, digits=1, note=note, plots=["stacked"])


def all_figures(models: Models) -> Iterator[Table]:
    """For each task, every figure of its metric table with its interval, a column for each model; as shares."""
    for task in tasks_of(models, ""):
        own = with_tasks(models, [task])
        names = dict.fromkeys(name for passes in own.values() for name in passes[0][task].figures)
        rows: list[list[Cell]] = [
            [name, *(cell(passes, of_task(task, name)) for passes in own.values())] for name in names
        ]
        yield Table(f"{task}: all figures", ["figure", *own], rows, key=f"figures {task}")


def signatures(models: Models) -> Table:
    """The signature of every task and model, field by field."""
    summaries: list[tuple[str, str, Round]] = [
        (task, model, one)
        for task in tasks_of(models, "")
        for model, passes in models.items()
        for one in passes
        if task in one
    ]
    fields = [(task, model, fields_of(one[task])) for task, model, one in summaries]
    names = dict.fromkeys(name for _, _, found in fields for name in found if name != "task")
    rows: list[list[Cell]] = [
        [model, task, *(found.get(name, "") for name in names)] for task, model, found in fields
    ]
    note = "Two scores compare where all fields agree."
    return Table(
        "Signatures", ["model", "task", *names], list(map(list, dict.fromkeys(map(tuple, rows)))), note=note
    )


def _differing(task: str, models: Models) -> list[str]:
    """A mark where the signatures of a task differ between models or runs."""
    texts = [set(one[task].signatures) for passes in models.values() for one in passes if task in one]
    if all(one == texts[0] for one in texts):
        return []
    fields: dict[str, None] = {}
    for one in texts[1:]:
        for mine, theirs in zip(sorted(texts[0]), sorted(one), strict=False):
            fields |= dict.fromkeys(Signature.parse(mine).differences(Signature.parse(theirs)))
    return [f"the runs of {task} do not compare: {', '.join(fields) or 'signatures'} differ"]
