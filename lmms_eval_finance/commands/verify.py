"""``lmms-eval-finance verify RUN``: check a run's files against its manifest."""

from __future__ import annotations

import argparse
from pathlib import Path

from lmms_eval_finance.runs import manifest
from lmms_eval_finance.runs.read import open_run


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("path", metavar="RUN", type=Path, help="the run's results file or folder")


def run(args: argparse.Namespace) -> int:
    """Print what differs; 1 if anything does."""
    problems = manifest.verify(open_run(args.path))
    for problem in problems:
        print(problem)
    print(f"{len(problems)} problems" if problems else "all files are as the manifest says")
    return 1 if problems else 0
