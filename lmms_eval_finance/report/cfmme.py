"""CFMME's tables 3 to 6 and 9 to 11, in per cent, the runs above the published rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from lmms_eval_finance.data.schemas.cfmme import COUNTS
from lmms_eval_finance.metrics.intervals import Interval
from lmms_eval_finance.report import cfmme_studies, published
from lmms_eval_finance.report.models import (
    Figure,
    Models,
    Round,
    breakdown,
    cell,
    fields_of,
    of_task,
    own_row,
    published_row,
    run_marks,
    tasks_of,
    with_tasks,
)
from lmms_eval_finance.report.published import CFMME_TITLES
from lmms_eval_finance.report.summary import TaskSummary
from lmms_eval_finance.report.table import Cell, Table
from lmms_eval_finance.runs.figures import SCORE, N, Totals, field_f1, joint, seal_map, weighted_f1
from lmms_eval_finance.settings import SettingError

DATA = "the authors' data are not public: whether a run asks the same questions cannot be checked"
ORDER = "COCO's mAP, which depends on the order of boxes; ours does not, and is lower (coco_map in `rescore`)"
TOOLS = "by the authors' tools; tables and formulas are read more strictly here (variants in `rescore`)"

_KNOWLEDGE = ("cfmme_subject", "cfmme_certification")
_PERCEPTION = (
    "cfmme_seal_recognition",
    "cfmme_table_recognition",
    "cfmme_formula_recognition",
    "cfmme_seal_detection",
    "cfmme_information_extraction",
)


_TURNS = {"0": "cfmme_qa", **{turn: f"cfmme_qa_rot{turn}" for turn in ("90", "180", "270")}}


def tables(models: Models) -> list[Table]:
    """All tables that the runs allow."""
    columns: Mapping[str, Sequence[tuple[str, str, Figure]]] = {
        "table3": (
            ("average", "average", _qa_average),
            ("knowledge accuracy", "knowledge_accuracy", _knowledge_accuracy),
            ("knowledge weighted F1", "knowledge_weighted_f1", _knowledge_f1),
            ("application accuracy", "application_accuracy", of_task("cfmme_qa", "accuracy")),
        ),
        "table4": (
            ("average", "average", _perception_average),
            ("1-NED", "seal_1_ned", of_task("cfmme_seal_recognition", "1_ned")),
            ("TEDS", "teds", of_task("cfmme_table_recognition", "teds")),
            ("S-TEDS", "s_teds", of_task("cfmme_table_recognition", "s_teds")),
            ("CDM", "cdm", of_task("cfmme_formula_recognition", "cdm")),
            ("ExpRate@CDM", "exprate_cdm", of_task("cfmme_formula_recognition", "exprate_cdm")),
            ("mAP", "map", of_task("cfmme_seal_detection", "map")),
            ("F1", "ie_f1", of_task("cfmme_information_extraction", "f1")),
        ),
        "table5": (
            ("table as image", "table_image", _on_tables),
            ("table as HTML", "table_html", of_task("cfmme_qa_table_html", "accuracy")),
        ),
        "table6": tuple((f"{turn}°", turn, of_task(task, "accuracy")) for turn, task in _TURNS.items()),
        "table9": tuple(
            (f"{split} {shown}", f"{split}_{column}", of_task(f"cfmme_{split}", figure))
            for split in ("subject", "certification")
            for shown, column, figure in (
                ("accuracy", "accuracy", "accuracy"),
                ("weighted F1", "weighted_f1", "weighted_f1"),
            )
        ),
        "table10": tuple(
            (source, source, of_task("cfmme_information_extraction", f"f1_{name}"))
            for source, name in (
                ("HUST-CELL", "hust_cell"),
                ("Baidu-FEST", "baidu_fest"),
                ("CMB2017", "cmb2017"),
            )
        ),
        "table11": tuple(
            (name, name, of_task("cfmme_seal_detection", f"ap_{name}")) for name in ("company", "personal")
        ),
    }
    tasks: Mapping[str, Sequence[str]] = {
        "table3": (*_KNOWLEDGE, "cfmme_qa"),
        "table4": _PERCEPTION,
        "table5": ("cfmme_qa_table_html",),
        "table6": tuple(_TURNS.values())[1:],
        "table9": _KNOWLEDGE,
        "table10": ("cfmme_information_extraction",),
        "table11": ("cfmme_seal_detection",),
    }
    found = [
        _table(models, table, tasks[table], columns[table])
        for table in tasks
        if with_tasks(models, tasks[table])
    ]
    found += _studies(models)
    for task in tasks_of(models, "cfmme_"):
        for label in ("subset", "image_type"):
            shown = label.replace("_", " ")
            found.append(breakdown(models, task, label, f"CFMME: {task} by {shown}", plots=()))
    return [table for table in found if len(table.columns) > 1 and table.rows]


def _studies(models: Models) -> list[Table]:
    """Tables 5 and 6; where a task and its variant do not compare, the reason instead."""
    try:
        found = cfmme_studies.studies(_records(models))
        return [replace(table, title=f"{table.title}, change item by item") for table in found]
    except SettingError as error:
        return [Table("CFMME, tables 5 and 6", ["", "why there is none"], [["", str(error)]])]


def _records(models: Models) -> dict[str, dict[str, Any]]:
    """Task -> model -> the records of its first round, for the studies of the picture."""
    found: dict[str, dict[str, Any]] = {}
    for model, passes in models.items():
        for task, summary in passes[0].items():
            found.setdefault(task, {})[model] = summary.records
    return found


def marks(summaries: Sequence[TaskSummary]) -> list[str]:
    """What keeps a run from being compared with the published rows."""
    counts = {f"cfmme_{split}": count for split, count in COUNTS.items()}
    found = run_marks(summaries, counts)
    for summary in summaries:
        if summary.task == "cfmme_qa" and "rules" in fields_of(summary).get("judge", ""):
            found.append("short open answers judged by rules, the published ones by a language model")
    return found


def _table(
    models: Models, table: str, tasks: Sequence[str], columns: Sequence[tuple[str, str, Figure]]
) -> Table:
    rows: list[list[Cell]] = []
    for model, passes in with_tasks(models, tasks).items():
        noted = marks([passes[0][task] for task in tasks if task in passes[0]])
        rows.append([own_row(model, passes, noted), *(cell(passes, figure) for _, _, figure in columns)])
    kinds = ["run"] * len(rows)
    noted_columns = {
        **dict.fromkeys(("map", "company", "personal"), (ORDER,)),
        **dict.fromkeys(("teds", "s_teds", "cdm", "exprate_cdm"), (TOOLS,)),
    }
    for entry in published.load("cfmme")["models"]:
        if table in entry:
            printed = f"table {table[5:]}"
            cells = [
                published.cell(
                    "cfmme",
                    printed,
                    entry["name"],
                    name,
                    entry[table].get(name),
                    noted_columns.get(name, ()),
                )
                for _, name, _ in columns
            ]
            rows.append([published_row(entry["name"], [DATA]), *cells])
            kinds.append("published")
    note = "After ±: the standard deviation of three runs (published) or of the runs named. In brackets: 95% intervals."
    head = ["model", *(shown for shown, _, _ in columns)]
    plots = ("lines",) if table == "table6" else ()
    return Table(CFMME_TITLES[table], head, rows, note=note, kinds=kinds, plots=plots)


def _on_tables(one: Round) -> Interval | None:
    """Accuracy with the table as an image, over the questions that were also asked with its HTML."""
    if "cfmme_qa" not in one or "cfmme_qa_table_html" not in one:
        return None
    asked = {record.id for record in one["cfmme_qa_table_html"].records if record.score is not None}
    records = [record for record in one["cfmme_qa"].records if record.id in asked]
    return joint({"qa": records}).ratio(("qa", SCORE), ("qa", N))


# -- figures over tasks ------------------------------------------------------------------------------


def _over(tasks: Sequence[str], figure: Callable[[Totals], float | None]) -> Figure:
    """A figure over the records of several tasks; None unless all of them are there and scored."""

    def of_round(one: Round) -> Interval | None:
        if any(task not in one or not one[task].scored for task in tasks):
            return None
        return joint({task: one[task].records for task in tasks}).interval(figure)

    return of_round


def _of(task: str, sums: Totals) -> dict[Any, float]:
    """One task's sums out of those over several."""
    return {key[1]: number for key, number in sums.items() if isinstance(key, tuple) and key[0] == task}


def _mean_score(tasks: Sequence[str], sums: Totals) -> float | None:
    n = sum(sums.get((task, N), 0.0) for task in tasks)
    return sum(sums.get((task, SCORE), 0.0) for task in tasks) / n if n else None


def _pooled_f1(sums: Totals) -> float | None:
    pooled: dict[Any, float] = {}
    for task in _KNOWLEDGE:
        for key, number in _of(task, sums).items():
            pooled[key] = pooled.get(key, 0.0) + number
    return weighted_f1(pooled)


def _mean(figures: Sequence[float | None]) -> float | None:
    found = [figure for figure in figures if figure is not None]
    return sum(found) / len(found) if len(found) == len(figures) else None


def _perception(sums: Totals) -> float | None:
    scores = [_mean_score([task], sums) for task in _PERCEPTION[:3]]
    detection, extraction = (_of(task, sums) for task in _PERCEPTION[3:])
    return _mean([*scores, seal_map(detection), field_f1(extraction)])


_knowledge_accuracy = _over(_KNOWLEDGE, lambda sums: _mean_score(_KNOWLEDGE, sums))
_knowledge_f1 = _over(_KNOWLEDGE, _pooled_f1)
_qa_average = _over(
    (*_KNOWLEDGE, "cfmme_qa"),
    lambda sums: _mean([_mean_score(_KNOWLEDGE, sums), _mean_score(["cfmme_qa"], sums)]),
)
_perception_average = _over(_PERCEPTION, _perception)
