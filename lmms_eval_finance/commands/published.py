"""``lmms-eval-finance published``: the papers' tables as data, with an audit of their arithmetic."""

from __future__ import annotations

import argparse
import json

from lmms_eval_finance.data.schemas import BENCHMARKS
from lmms_eval_finance.report import published
from lmms_eval_finance.report.table import Table
from lmms_eval_finance.settings import SettingError


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("benchmarks", metavar="BENCHMARK", nargs="*", help=", ".join(BENCHMARKS))
    parser.add_argument("--audit", action="store_true", help="only the figures that fail a check")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--csv", action="store_true", help="write CSV instead of Markdown")
    form.add_argument("--json", action="store_true", help="write the data as they are packaged")


def run(args: argparse.Namespace) -> int:
    """Print the tables and the audit."""
    unknown = [name for name in args.benchmarks if name not in BENCHMARKS]
    if unknown:
        raise SettingError(f"no benchmark {unknown[0]!r}; there are {', '.join(BENCHMARKS)}")
    names = args.benchmarks or list(BENCHMARKS)
    if args.json:
        print(json.dumps({name: published.load(name) for name in names}, ensure_ascii=False, indent=1))
        return 0
    shown: list[Table] = []
    for name in names:
        shown += [] if args.audit else published.tables(name)
        shown.append(published.audit_table(name))
    print(
        "\n\n".join(
            f"# {table.title}\n{table.to_csv()}" if args.csv else table.to_markdown() for table in shown
        )
    )
    return 0
