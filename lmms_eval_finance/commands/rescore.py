"""``lmms-eval-finance rescore RUN``: scores from saved outputs, later verdicts and decisions applied.

``rescore --benchmark mfe --released FOLDER`` computes the published figures from the authors'
released answers and votes instead.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from lmms_eval_finance import settings
from lmms_eval_finance.judging.items import JudgeRequired, require_judged
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.runs.read import open_run
from lmms_eval_finance.runs.rescore import rescored, summaries


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("path", metavar="RUN", type=Path, nargs="?", help="the run's results file or folder")
    parser.add_argument("--skip-broken", action="store_true", help="leave out lines that cannot be read")
    released = parser.add_argument_group("published figures, instead of RUN")
    released.add_argument("--benchmark", choices=["mfe"], help="the benchmark whose authors released answers")
    released.add_argument("--released", metavar="FOLDER", type=Path, help="their answers and votes")
    released.add_argument(
        "--data",
        metavar="FOLDER",
        type=Path,
        help="the imported data or a checkout of the release (default: LMMS_EVAL_FINANCE_DATA if that is a folder)",
    )
    released.add_argument(
        "--markdown", metavar="FILE", type=Path, help="write the tables into this page, not to the screen"
    )


def run(args: argparse.Namespace) -> int:
    """Print each task's mean, n and outcomes; 1 where a required judge failed."""
    if args.benchmark or args.released:
        return _released(args)
    if args.path is None:
        raise settings.SettingError("name a RUN, or `--benchmark mfe --released FOLDER`")
    found = open_run(args.path)
    skipped: list[str] | None = [] if args.skip_broken else None
    tasks = summaries(rescored(found, skipped))
    for summary in tasks:
        mean = "nothing scored" if summary.mean is None else f"{summary.mean:.4f}"
        print(f"{summary.task}: {mean} (n = {summary.n:,} of {summary.total:,})")
        for outcome, count in sorted(summary.outcomes.items(), key=lambda entry: -entry[1]):
            print(f"  {outcome.value:13} {count:6,}  {count / summary.total:6.1%}")
    if skipped:
        print(f"{len(skipped):,} lines left out, the first: {skipped[0]}", file=sys.stderr)
    failed = sum(summary.outcomes.get(Outcome.JUDGE_FAILED, 0) for summary in tasks)
    try:
        require_judged(failed, sum(summary.total for summary in tasks))
    except JudgeRequired as error:
        print(f"lmms-eval-finance rescore: {error}", file=sys.stderr)
        return 1
    return 0


def _released(args: argparse.Namespace) -> int:
    """Print the figures from released answers, or write them into a page."""
    from lmms_eval_finance.runs.released_mfe import released_tables
    from lmms_eval_finance.runs.released_mfe_page import render_markdown, write_page

    if args.path is not None or not (args.benchmark and args.released):
        raise settings.SettingError(
            "published figures take `--benchmark mfe --released FOLDER`, both, and no RUN"
        )
    setting = settings.value("DATA")
    data = args.data or (Path(setting).expanduser() if setting else None)
    if args.data is None and data is not None and not (data / "mfe").is_dir():
        data = None
    tables = released_tables(args.released, data)
    if args.markdown is None:
        print(render_markdown(tables))
        return 0
    write_page(args.markdown, render_markdown(tables))
    for note in tables.notes:
        print(note, file=sys.stderr)
    print(f"{len(tables.models)} models: {args.markdown}")
    return 0
