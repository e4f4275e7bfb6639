"""``lmms-eval-finance tables RUN...``: the papers' tables from saved runs, beside the published rows."""

from __future__ import annotations

import argparse

from lmms_eval_finance.report.collect import named_runs, summaries
from lmms_eval_finance.report.models import rounds
from lmms_eval_finance.report.paper import paper_tables
from lmms_eval_finance.settings import SettingError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "runs",
        metavar="RUN",
        nargs="+",
        help="output folders, results or sample files of lmms-eval; NAME=RUN gives a model a name, and runs of one "
        "name count as repeats",
    )
    parser.add_argument("--csv", action="store_true", help="write CSV instead of Markdown")


def run(args: argparse.Namespace) -> int:
    """Print the tables."""
    found = paper_tables(rounds(summaries(named_runs(args.runs))))
    tables = [table for of_benchmark in found.values() for table in of_benchmark]
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
