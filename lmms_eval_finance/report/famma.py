"""FAMMA's tables 2 to 5 and figures 5 and 6, in per cent, the runs above the published rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from lmms_eval_finance.report import errors as error_tables
from lmms_eval_finance.report import published
from lmms_eval_finance.report.models import (
    Models,
    Round,
    breakdown,
    cell,
    fields_of,
    of_slice,
    of_task,
    own_row,
    published_row,
    run_marks,
    tasks_of,
    with_tasks,
)
from lmms_eval_finance.report.published import DIFFICULTIES, LANGUAGES
from lmms_eval_finance.report.summary import TaskSummary
from lmms_eval_finance.report.table import Cell, Table
from lmms_eval_finance.runs.errors import ErrorItem

RELEASE = "on an earlier release of 1,758 questions, open answers judged by a language model"
LABELS = {
    "subfield": "FAMMA, figure 5: subfields",
    "question_type": "FAMMA: question types",
    "image_type": "FAMMA: kinds of pictures",
    "arithmetic": "FAMMA: arithmetic or not",
}


def tables(models: Models, errors: Mapping[str, Sequence[ErrorItem]]) -> list[Table]:
    """All tables that the runs allow.

    Args:
        models: the runs.
        errors: model -> the analysis of its errors, where there is one.
    """
    found = []
    for task in tasks_of(models, "famma"):
        suffix = "" if task == "famma" else f" ({task})"
        found.append(table2(models, task, suffix))
        found += [breakdown(models, task, label, f"{title}{suffix}") for label, title in LABELS.items()]
    found += _of_errors(models, errors)
    return [table for table in found if len(table.columns) > 1 and table.rows]


def marks(summary: TaskSummary) -> list[str]:
    """What keeps a run from being compared with the published rows."""
    found = run_marks([summary], {"famma_validation": 120, "famma_test": 1638})
    if summary.task not in ("famma_validation", "famma_test"):
        found.append(f"{summary.task} asks today's release, the published figures are on an earlier one")
    if "rules" in fields_of(summary).get("judge", ""):
        found.append("open answers judged by rules alone")
    return found


def table2(models: Models, task: str = "famma", suffix: str = "") -> Table:
    """Table 2: accuracy overall and by difficulty, for all languages and each; standard errors over repeated runs."""
    rows: list[list[Cell]] = []
    for model, passes in with_tasks(models, [task]).items():
        noted = marks(passes[0][task])
        first = of_task(task, "accuracy"), *(of_slice(task, "difficulty", name) for name in DIFFICULTIES)
        rows.append([own_row(model, passes, noted), "all", *(cell(passes, one, "error") for one in first)])
        for language in LANGUAGES:
            pairs = [
                of_slice(task, "language", language),
                *(of_slice(task, "language_difficulty", f"{language}_{name}") for name in DIFFICULTIES),
            ]
            cells = [cell(passes, one, "error") for one in pairs]
            if any(one is not None for one in cells):
                rows.append([own_row(model, passes, noted), language, *cells])
    kinds = ["run"] * len(rows)
    for entry in published.load("famma")["models"]:
        name = f"{entry['name']} {entry.get('size', '')}".rstrip()
        for language, figures in entry["table2"].items():
            place = entry["name"] if language == "all" else f"{entry['name']}, {language}"
            spreads = figures.get("standard_error", {})
            shown = [
                published.cell("famma", "table 2", place, column, [figures[column], spreads.get(column)])
                for column in ("overall", *DIFFICULTIES)
            ]
            rows.append([published_row(name, [RELEASE]), language, *shown])
            kinds.append("published")
    columns = ["model", "language", "overall", *DIFFICULTIES]
    note = "After ±: the standard error over repeated runs. In brackets: 95% intervals by the bootstrap over contexts."
    return Table(f"FAMMA, table 2{suffix}", columns, rows, kinds=kinds, note=note)


def _of_errors(models: Models, errors: Mapping[str, Sequence[ErrorItem]]) -> Iterator[Table]:
    data = published.load("famma")
    for label, number in (("language", 3), ("difficulty", 4)):
        title = f"FAMMA, table {number}: top kinds of errors by {label}"
        theirs = published.top_kinds(data, f"table{number}", label)
        rows: list[list[Cell]] = []
        for model, items in errors.items():
            if any(item.kind for item in items):
                own = error_tables.top_kinds(items, label, title)
                rows += [[model, value, kind, share] for value, kind, _, share in own.rows]
        kinds = ["run"] * len(rows) + ["published"] * len(theirs.rows)
        rows += [[published_row("GPT-4o", [RELEASE]), *row] for row in theirs.rows]
        if tasks_of(models, "famma"):
            yield Table(title, ["model", label, "kind", "%"], rows, kinds=kinds)
    if tasks_of(models, "famma"):
        yield _remedies(models, errors, data)


_KINDS = {
    "DKG": "domain knowledge gaps",
    "AAG": "ambiguous answer generation",
    "NI": "numerical inaccuracy",
    "VDM": "data misinterpretation",
    "ICU": "incomplete context understanding",
}
_REMEDIES = {"rag": "famma_rag", "dynamic_cot": "famma_dynamic_cot"}


def _remedies(models: Models, errors: Mapping[str, Sequence[ErrorItem]], data: published.Figures) -> Table:
    """Table 5: how many of a model's analysed errors its run with a remedy answers rightly, by kind."""
    rows: list[list[Cell]] = []
    for model, items in errors.items():
        for remedy, task in _REMEDIES.items():
            rows += _corrected(model, models.get(model, ()), items, remedy, task)
    kinds = ["run"] * len(rows)
    (theirs,) = (entry["table5"] for entry in data["models"] if "table5" in entry)
    for remedy, counts in theirs.items():
        total = published.cell("famma", "table 5", remedy, "total", counts["total"])
        rows.append(
            [published_row("GPT-4o", [RELEASE]), remedy, "100", total, *(counts[kind] for kind in _KINDS)]
        )
        kinds.append("published")
    columns = ["model", "remedy", "errors", "corrected", *_KINDS.values()]
    return Table("FAMMA, table 5: errors that remedies correct", columns, rows, digits=0, kinds=kinds)


def _corrected(
    model: str, passes: Sequence[Round], items: Sequence[ErrorItem], remedy: str, task: str
) -> Iterator[list[Cell]]:
    for one in passes:
        for name in (task, f"{task}_txt"):
            if name in one and items:
                right = {record.id for record in one[name].records if record.score == 1.0}
                mended = [item for item in items if item.id in right]
                counts = [float(sum(item.kind == kind for item in mended)) for kind in _KINDS.values()]
                yield [model, remedy, str(len(items)), float(len(mended)), *counts]
