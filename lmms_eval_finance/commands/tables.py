"""``lmms-eval-finance tables RUN...``: the papers' tables from saved runs."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.report import cfmme, finmme
from lmms_eval_finance.report.table import Table
from lmms_eval_finance.runs.read import open_run
from lmms_eval_finance.runs.rescore import rescored
from lmms_eval_finance.settings import SettingError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "runs",
        metavar="RUN",
        type=Path,
        nargs="+",
        help="output folders, results or sample files of lmms-eval",
    )
    parser.add_argument("--csv", action="store_true", help="write CSV instead of Markdown")


def run(args: argparse.Namespace) -> int:
    """Print the tables; runs of one model (folders of one name) count as repeats of it."""
    by_task: dict[str, dict[str, list[Sequence[Record]]]] = {}
    for path in args.runs:
        found = open_run(path)
        records: dict[str, list[Record]] = {}
        for task, record in rescored(found):
            records.setdefault(task, []).append(record)
        for task, of_task in records.items():
            by_task.setdefault(task, {}).setdefault(found.folder.name, []).append(of_task)
    tables = [
        table
        for task, models in by_task.items()
        if task.startswith("finmme")
        for table in _finmme(task, models)
    ]
    tables += cfmme.studies(
        {task: {model: runs[0] for model, runs in models.items()} for task, models in by_task.items()}
    )
    if not tables:
        raise SettingError(
            "no task in these runs has tables of its own; `lmms-eval-finance rescore` shows the figures"
        )
    print(
        "\n\n".join(
            f"# {table.title}\n{table.to_csv()}" if args.csv else table.to_markdown() for table in tables
        )
    )
    return 0


def _finmme(task: str, models: dict[str, list[Sequence[Record]]]) -> list[Table]:
    """The tables on the first run of each model, and table 5 where a model has several."""
    named = {f"{model} ({task})": runs[0] for model, runs in models.items()}
    tables = finmme.tables(named)
    repeated = {model: runs for model, runs in models.items() if len(runs) > 1}
    return [*tables, finmme.table5(repeated)] if repeated else tables
