"""``lmms-eval-finance studies RUN...``."""

from __future__ import annotations

import argparse
from pathlib import Path

from lmms_eval_finance.runs.read import open_run
from lmms_eval_finance.runs.studies import studies


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="a run's results file or folder")


def run(args: argparse.Namespace) -> int:
    """Print the tables as Markdown."""
    print(studies(open_run(path) for path in args.runs), end="")
    return 0
