"""``lmms-eval-finance compare A B``: whether one run is better than another, and on which items."""

from __future__ import annotations

import argparse
from pathlib import Path

from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.report import comparison as shown
from lmms_eval_finance.report.collect import NamedRun, named_runs
from lmms_eval_finance.report.models import distinct
from lmms_eval_finance.report.table import Table
from lmms_eval_finance.runs.compare import Comparison, compare
from lmms_eval_finance.runs.journal import write_text
from lmms_eval_finance.runs.rescore import rescored
from lmms_eval_finance.settings import SettingError


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "first",
        metavar="A",
        help="a run: its results file or folder, which may hold a run for each task; NAME=RUN gives it a name",
    )
    parser.add_argument("second", metavar="B", help="the run that is compared with it")
    parser.add_argument("--task", action="append", help="only this task; may be given several times")
    parser.add_argument(
        "--anyway", action="store_true", help="compare runs whose signatures differ, marked on every line"
    )
    parser.add_argument("--flips", metavar="FILE", type=Path, help="write the items that changed as CSV")
    parser.add_argument("--csv", action="store_true", help="write CSV instead of Markdown")


def run(args: argparse.Namespace) -> int:
    """Print the comparison of every task that both runs have."""
    first, second = _one(args.first), _one(args.second)
    names = distinct([first[0].model, second[0].model])
    pair = names[0], names[1]
    found = _comparisons(first, second, args.task)
    refused = {one.task: marks for one in found if (marks := shown.differing(one.differing))}
    if refused and not args.anyway:
        listed = "\n  ".join(f"{task}: {marks[0]}" for task, marks in refused.items())
        raise SettingError(
            f"the signatures differ:\n  {listed}\n--anyway compares nevertheless and marks every line; "
            "`rescore -o` with the same errata may make the runs comparable"
        )
    tables = [table for one in found for table in shown.tables(one, pair)]
    print("\n\n".join(_text(table, args.csv) for table in tables))
    if args.flips is not None:
        changed = [shown.flips(one, pair) for one in found]
        rows = [row for table in changed for row in table.rows]
        write_text(args.flips, Table("", changed[0].columns, rows).to_csv())
        print(f"\n{len(rows):,} items changed: {args.flips}")
    return 0


def _one(argument: str) -> list[NamedRun]:
    """The runs that make up one: a single run, or runs of one model each with tasks of its own."""
    runs = named_runs([argument])
    tasks = [task for named in runs for task in named.run.samples]
    if len({named.model for named in runs}) > 1 or len(set(tasks)) < len(tasks):
        listed = "\n  ".join(str(named.run.results) for named in runs)
        raise SettingError(f"{argument}: holds {len(runs)} runs; name one of\n  {listed}")
    return runs


def _comparisons(first: list[NamedRun], second: list[NamedRun], tasks: list[str] | None) -> list[Comparison]:
    theirs = {task for named in second for task in named.run.samples}
    shared = sorted(task for named in first for task in named.run.samples if task in theirs)
    wanted = [task for task in shared if tasks is None or task in tasks]
    if tasks is not None and len(wanted) < len(set(tasks)):
        missing = sorted(set(tasks) - set(wanted))
        raise SettingError(
            f"no task {', '.join(missing)} in both runs; they share {', '.join(shared) or 'none'}"
        )
    first_records, second_records = _records(first), _records(second)
    found = [compare(task, first_records.get(task, []), second_records.get(task, [])) for task in wanted]
    found = [one for one in found if one.pairs]
    if not found:
        raise SettingError(f"the runs share no scored item ({', '.join(shared) or 'no task in common'})")
    return found


def _records(runs: list[NamedRun]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for named in runs:
        for task, record in rescored(named.run):
            found.setdefault(task, []).append(record)
    return found


def _text(table: Table, as_csv: bool) -> str:
    return f"# {table.title}\n{table.to_csv()}" if as_csv else table.to_markdown()
