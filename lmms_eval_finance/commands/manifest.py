"""``lmms-eval-finance manifest RUN``: write down what a run is made of and how to repeat it."""

from __future__ import annotations

import argparse
from pathlib import Path

from lmms_eval_finance.runs import manifest
from lmms_eval_finance.runs.read import open_run


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("path", metavar="RUN", type=Path, help="the run's results file or folder")
    parser.add_argument("--print", action="store_true", help="print the manifest instead of writing it")


def run(args: argparse.Namespace) -> int:
    """Write or print the manifest."""
    found = open_run(args.path)
    print(manifest.to_text(manifest.of_run(found)) if args.print else manifest.write(found))
    return 0
