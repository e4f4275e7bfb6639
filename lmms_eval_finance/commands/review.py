"""``lmms-eval-finance review RUN``: decide by hand what rule and judges could not agree on."""

from __future__ import annotations

import argparse
import functools
import threading
from pathlib import Path

from lmms_eval_finance.runs.read import open_run
from lmms_eval_finance.runs.review import (
    DECISIONS,
    REVIEW,
    add_decision,
    load_decisions,
    load_review,
    write_review,
)
from lmms_eval_finance.runs.review_server import ReviewServer
from lmms_eval_finance.settings import SettingError


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("path", metavar="RUN", type=Path, help="the run's results file or folder")
    parser.add_argument("--port", type=int, default=0, help="of the page on 127.0.0.1; default: any free one")
    parser.add_argument("--list", action="store_true", help="write the review file and stop, without a page")
    parser.add_argument("--skip-broken", action="store_true", help="leave out lines that cannot be read")


def run(args: argparse.Namespace) -> int:
    """Write the review file, then serve its items until interrupted."""
    found = open_run(args.path)
    listed = write_review(found, [] if args.skip_broken else None)
    print(f"{found.companion(REVIEW)}: {listed:,} items to review")
    if args.list or not listed:
        return 0
    decided = load_decisions(found)
    try:
        server = ReviewServer(
            load_review(found), decided, functools.partial(add_decision, found), port=args.port
        )
    except (OSError, OverflowError) as error:
        raise SettingError(
            f"--port {args.port} cannot be used ({error}): choose another or leave it out"
        ) from error
    with server:
        print(
            f"open {server.url}\n(keys 1, 2, 3; Ctrl-C ends; decisions go to {found.companion(DECISIONS)})",
            flush=True,
        )
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print()
    return 0
