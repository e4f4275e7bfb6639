"""FinMME's tables from records, in the paper's layout: figures in per cent, FinScore too."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from lmms_eval_finance.metrics import finscore
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.report.table import Table

Runs = Mapping[str, Sequence[Record]]


def table3(models: Runs) -> Table:
    """Table 3: accuracy by cognitive level and question type, their average, the FinScores.

    Columns whose labels the data lack stay empty. `Avg.` needs all six; `types` is the mean
    of the three question types.
    """
    columns = finscore.COGNITIVE_LEVELS + finscore.QUESTION_TYPES
    rows = []
    for model, records in models.items():
        by = {
            **finscore.accuracy_by(records, "cognitive_level"),
            **finscore.accuracy_by(records, "question_type"),
        }
        figures = [
            *(by.get(name) for name in columns),
            finscore.average(records),
            finscore.average_types(records),
            finscore.finscore(records),
            finscore.finscore(records, "gold_letters"),
            finscore.finscore_released(records),
        ]
        rows.append([model, *map(_per_cent, figures)])
    names = [name.replace("_", " ") for name in columns]
    return Table(
        "FinMME, table 3",
        ["model", *names, "Avg.", "types", "FinScore", "FinScore (gold n)", "FinScore (released)"],
        rows,
    )


def breakdown(models: Runs, label: str, title: str) -> Table:
    """Accuracy per value of a label; one column per value that occurs."""
    found = {model: finscore.accuracy_by(records, label) for model, records in models.items()}
    values = sorted({value for columns in found.values() for value in columns})
    rows = [[model, *(_per_cent(columns.get(value)) for value in values)] for model, columns in found.items()]
    return Table(title, ["model", *values], rows)


def table4(models: Runs) -> Table:
    """Table 4: accuracy by knowledge domain."""
    return breakdown(models, "knowledge_domain", "FinMME, table 4: knowledge domains")


def table5(models: Mapping[str, Sequence[Sequence[Record]]]) -> Table:
    """Table 5: mean and standard deviation over several runs of a model, by question type.

    The standard deviation is that of the sample (n - 1); a single run has none.
    """
    rows = []
    for model, runs in models.items():
        columns = [finscore.accuracy_by(records, "question_type") for records in runs]
        cells = []
        for name in finscore.QUESTION_TYPES:
            cells.append(_mean_and_deviation([column[name] for column in columns if name in column]))
        averages = [average for records in runs if (average := finscore.average_types(records)) is not None]
        rows.append([model, str(len(runs)), *cells, _mean_and_deviation(averages)])
    names = [name.replace("_", " ") for name in finscore.QUESTION_TYPES]
    return Table("FinMME, table 5: repeated runs", ["model", "runs", *names, "types"], rows)


def tables(models: Runs) -> list[Table]:
    """Tables 3 and 4 and the breakdowns by the labels that the data have."""
    labels = {
        "asset_class": "FinMME: asset classes",
        "data_class": "FinMME: chart classes",
        "data_subclass": "FinMME: chart subclasses",
        "main_domain": "FinMME: main domains",
    }
    found = [table3(models), table4(models)]
    found += [breakdown(models, label, title) for label, title in labels.items()]
    return [table for table in found if len(table.columns) > 1]


def _per_cent(figure: float | None) -> float | None:
    return None if figure is None else 100 * figure


def _mean_and_deviation(figures: Sequence[float]) -> str:
    if not figures:
        return ""
    mean = f"{100 * statistics.fmean(figures):.2f}"
    return f"{mean} ± {100 * statistics.stdev(figures):.2f}" if len(figures) > 1 else mean
