"""``lmms-eval-finance rescore RUN``: scores from saved outputs, later verdicts and decisions applied."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from lmms_eval_finance.runs.read import open_run
from lmms_eval_finance.runs.rescore import rescored, summaries


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("path", metavar="RUN", type=Path, help="the run's results file or folder")
    parser.add_argument("--skip-broken", action="store_true", help="leave out lines that cannot be read")


def run(args: argparse.Namespace) -> int:
    """Print each task's mean, n and outcomes."""
    found = open_run(args.path)
    skipped: list[str] | None = [] if args.skip_broken else None
    for summary in summaries(rescored(found, skipped)):
        mean = "nothing scored" if summary.mean is None else f"{summary.mean:.4f}"
        print(f"{summary.task}: {mean} (n = {summary.n:,} of {summary.total:,})")
        for outcome, count in sorted(summary.outcomes.items(), key=lambda entry: -entry[1]):
            print(f"  {outcome.value:13} {count:6,}  {count / summary.total:6.1%}")
    if skipped:
        print(f"{len(skipped):,} lines left out, the first: {skipped[0]}", file=sys.stderr)
    return 0
