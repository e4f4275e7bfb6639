"""Multimodal Finance Eval: table 2, figures 2 and 3, and how errors spread in dialogues; in per cent."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from lmms_eval_finance.metrics.intervals import Interval
from lmms_eval_finance.report import published
from lmms_eval_finance.report.models import (
    Figure,
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
    values,
    with_tasks,
)
from lmms_eval_finance.report.published import MFE_COLUMNS
from lmms_eval_finance.report.summary import TaskSummary
from lmms_eval_finance.report.table import Cell, Marked, Table
from lmms_eval_finance.runs import dialogues
from lmms_eval_finance.runs.figures import SCORE, N, Totals, joint

COUNTS = {
    "text": 501,
    "table": 368,
    "table_yn_tf": 120,
    "chart": 128,
    "special_case": 22,
    "conversation_gold": 65,
    "conversation": 65,
}
FIRST_TABLES = 120
SIZES = ("small_text", "medium_text", "large_text", "very_large_text", "document", "table")
JUDGES = ("Llama-3.3-70B", "Qwen3-32B", "gemma-3-27b")

TABLE = "the published column is on the first 120 of the 368 table items"
DIALOGUE = "20 of the 65 published answers are scored against another question (dialogues torn apart)"
AVERAGE = "the mean of seven columns, the reworded yes/no items the seventh"
MISSING = "the seventh column is missing and counted as 0"
NOT_PRINTED = "not printed: from the authors' released answers and votes"
PANEL = "judged by the majority of three language models"


def tables(models: Models) -> list[Table]:
    """All tables that the runs allow; the pages at 144 dpi are a set of their own."""
    found: list[Table] = []
    for prefix, suffix in {"": "", "144dpi_": " (144 dpi)"}.items():
        tasks = {_task(prefix, split) for split in COUNTS}
        if with_tasks(models, tasks - {"mfe_text"} if prefix else tasks):
            found += [table2(models, prefix, suffix), figure2(models, prefix, suffix)]
            found += _dialogue_tables(models, prefix, suffix)
    if tasks_of(models, "mfe_text"):
        title = "Multimodal Finance Eval, figure 3: text items by context size"
        found.append(breakdown(models, "mfe_text", "context_size", title, order=SIZES))
    for task in tasks_of(models, "mfe_"):
        for label in ("type", "domain"):
            title = f"Multimodal Finance Eval: {task} by {label}"
            found.append(breakdown(models, task, label, title, plots=()))
    return [table for table in found if len(table.columns) > 1 and table.rows]


def marks(summaries: Sequence[TaskSummary]) -> list[str]:
    """What keeps a run from being compared with the published rows."""
    found = run_marks(summaries, {f"mfe_{split}": count for split, count in COUNTS.items()})
    fields = [fields_of(summary) for summary in summaries]
    judges = {summary.task: one.get("judge", "") for summary, one in zip(summaries, fields, strict=True)}
    by_rules = [task for task, judge in judges.items() if judge.startswith("rules")]
    if by_rules:
        where = "" if len(by_rules) == len(judges) else f": {', '.join(by_rules)}"
        found.append(f"judged by rules, not by language models{where}")
    others = [judge.lower() for task, judge in judges.items() if task not in by_rules]
    if not all(name.lower() in judge for judge in others for name in JUDGES):
        found.append("judged by other models than the paper's three")
    if any(one.get("dpi") == "144" for one in fields):
        found.append("pages at 144 dpi, the published figures are at 72 dpi")
    if any(one.get("prefill") == "cue" for one in fields):
        found.append("the cue `Answer:` stands at the end of the question, not in the assistant's turn")
    if any("-as-text" in one.get("history", "") for one in fields):
        found.append("earlier turns were given as text, not as turns")
    return found


def _task(prefix: str, split: str) -> str:
    return "mfe_text" if split == "text" else f"mfe_{prefix}{split}"


def table2(models: Models, prefix: str = "", suffix: str = "") -> Table:
    """Table 2: the six columns, the reworded items, and three averages.

    The published rows stand once as printed and once corrected: all 368 tables, dialogues realigned.
    """
    task_of = {split: _task(prefix, split) for split in COUNTS}
    rows: list[list[Cell]] = []
    for model, passes in with_tasks(models, task_of.values()).items():
        summaries = [passes[0][task] for task in task_of.values() if task in passes[0]]
        columns = [
            cell(passes, of_task(task_of[split], "accuracy")) for split in (*MFE_COLUMNS, "table_yn_tf")
        ]
        averages = [cell(passes, _average(task_of, kind)) for kind in ("as printed", "macro", "items")]
        rows.append([own_row(model, passes, marks(summaries)), *columns, *averages])
    kinds = ["run"] * len(rows)
    noted = {"table": [TABLE], "conversation": [DIALOGUE]}
    for entry in published.load("mfe")["models"]:
        printed, unprinted = entry["table2"], entry["not_printed"]
        shown: list[Cell] = [
            Marked(printed[name], marks=noted[name]) if name in noted else printed[name]
            for name in MFE_COLUMNS
        ]
        seventh = unprinted["table_yn_tf"]
        reworded = None if seventh is None else Marked(seventh, marks=[NOT_PRINTED])
        average = Marked(printed["average"], marks=[AVERAGE, *([MISSING] if seventh is None else [])])
        rows.append([published_row(entry["name"], [PANEL]), *shown, reworded, average, None, None])
        right = {
            **printed,
            "table": unprinted["table_all"],
            "conversation": unprinted["conversation_realigned"],
        }
        macro = sum(right[name] for name in MFE_COLUMNS) / len(MFE_COLUMNS)
        items = sum(right[name] * COUNTS[name] for name in MFE_COLUMNS) / sum(
            COUNTS[name] for name in MFE_COLUMNS
        )
        corrected = [
            Marked(right[name], marks=[NOT_PRINTED]) if name in noted else right[name] for name in MFE_COLUMNS
        ]
        rows.append(
            [Marked(f"{entry['name']} (corrected)", marks=[PANEL]), *corrected, reworded, None, macro, items]
        )
        kinds += ["published", "published"]
    names = [*(name.replace("_", " ") for name in MFE_COLUMNS), "reworded"]
    head = ["model", *names, "average as printed", "macro mean", "item-weighted mean"]
    return Table(f"Multimodal Finance Eval, table 2{suffix}", head, rows, digits=1, kinds=kinds)


def _average(task_of: Mapping[str, str], kind: str) -> Figure:
    """One of the three averages of a round, with its interval; None where a task is missing."""

    def figure(one: Round) -> Interval | None:
        splits = [*MFE_COLUMNS, *(["table_yn_tf"] if kind == "as printed" else [])]
        if any(task_of[split] not in one or not one[task_of[split]].scored for split in splits):
            return None
        records = {split: one[task_of[split]].records for split in splits}
        if kind == "as printed":
            records["table"] = [
                record
                for record in records["table"]
                if record.id.isdigit() and int(record.id) <= FIRST_TABLES
            ]
        return joint(records).interval(lambda sums: _mean_of(sums, splits, kind))

    return figure


def _mean_of(sums: Totals, splits: Sequence[str], kind: str) -> float | None:
    pairs = [(sums.get((split, SCORE), 0.0), sums.get((split, N), 0.0)) for split in splits]
    if not all(n for _, n in pairs):
        return None
    if kind == "items":
        return sum(score for score, _ in pairs) / sum(n for _, n in pairs)
    return sum(score / n for score, n in pairs) / len(pairs)


def figure2(models: Models, prefix: str = "", suffix: str = "") -> Table:
    """Figure 2: accuracy on image items by task and question type."""
    tasks = [_task(prefix, split) for split in ("table", "chart", "special_case")]
    own = with_tasks(models, tasks)
    columns = [(task, value) for task in tasks for value in values(own, task, "question_type")]
    rows: list[list[Cell]] = [
        [
            own_row(model, passes),
            *(cell(passes, of_slice(task, "question_type", value)) for task, value in columns),
        ]
        for model, passes in own.items()
    ]
    names = [f"{task.removeprefix('mfe_')}: {value}".replace("_", " ") for task, value in columns]
    return Table(
        f"Multimodal Finance Eval, figure 2: image items by question type{suffix}",
        ["model", *names],
        rows,
        digits=1,
        kinds=["run"] * len(rows),
        plots=("bars",),
    )


def propagation(one: Round, prefix: str = "") -> dialogues.Propagation | None:
    """How errors spread in a round's dialogues; None without them."""
    own, gold = (one.get(_task(prefix, split)) for split in ("conversation", "conversation_gold"))
    return None if own is None else dialogues.Propagation(own.records, gold.records if gold else ())


def _dialogue_tables(models: Models, prefix: str, suffix: str) -> Iterator[Table]:
    own = with_tasks(models, [_task(prefix, "conversation")])
    found = [propagation(one, prefix) for passes in own.values() for one in passes]
    turns = sorted({turn for one in found if one is not None for turn in one.turns})
    by_turn: list[list[Cell]] = []
    spread: list[list[Cell]] = []
    for model, passes in own.items():
        for kind in (dialogues.OWN, dialogues.GOLD):
            cells = [_shown(passes, prefix, partial(_at_turn, kind, turn)) for turn in turns]
            if any(one is not None for one in cells):
                by_turn.append([own_row(model, passes), kind, *cells])
            places = ("all", dialogues.BEFORE, dialogues.AFTER)
            shown = [_shown(passes, prefix, partial(_at_place, kind, place)) for place in places]
            gap = _shown(passes, prefix, dialogues.Propagation.gap) if kind == dialogues.OWN else None
            if any(one is not None for one in shown):
                spread.append([own_row(model, passes), kind, *shown, gap])
    note = "Intervals by the bootstrap over dialogues."
    yield Table(
        f"Multimodal Finance Eval: dialogues by turn{suffix}",
        ["model", "earlier turns hold", *(f"turn {turn}" for turn in turns)],
        by_turn,
        digits=1,
        note=note,
        kinds=["run"] * len(by_turn),
        plots=("lines",),
    )
    yield Table(
        f"Multimodal Finance Eval: error propagation{suffix}",
        ["model", "earlier turns hold", "all turns", dialogues.BEFORE, dialogues.AFTER, "gold minus own"],
        spread,
        digits=1,
        note=f"{note} A turn comes after a first error when the model answered an earlier turn of the dialogue wrongly "
        "in its own context; the row with gold answers is on the same turns.",
        kinds=["run"] * len(spread),
    )


def _at_turn(kind: str, turn: int, found: dialogues.Propagation) -> Interval | None:
    return found.at_turn(kind, turn)


def _at_place(kind: str, place: str, found: dialogues.Propagation) -> Interval | None:
    return found.accuracy(kind, place)


def _shown(
    passes: Sequence[Round], prefix: str, figure: Callable[[dialogues.Propagation], Interval | None]
) -> Cell:
    def of_round(one: Round) -> Interval | None:
        found = propagation(one, prefix)
        return None if found is None else figure(found)

    return cell(passes, of_round)
