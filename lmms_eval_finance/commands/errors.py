"""``lmms-eval-finance errors RUN`` and ``errors compare BASE REMEDY...``: why answers are wrong."""

from __future__ import annotations

import argparse
import functools
import threading
from pathlib import Path

from lmms_eval_finance.judging.config import configured, load_judges
from lmms_eval_finance.judging.panel import Panel
from lmms_eval_finance.report import errors as tables
from lmms_eval_finance.report.table import Table
from lmms_eval_finance.runs import errors
from lmms_eval_finance.runs.read import Run, open_run
from lmms_eval_finance.runs.rescore import rescored
from lmms_eval_finance.runs.review import SKIP, add_decision, load_decisions, review_row
from lmms_eval_finance.runs.review_server import ReviewServer
from lmms_eval_finance.settings import SettingError


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "runs",
        metavar="RUN",
        nargs="+",
        help="the run to analyse; or `compare BASE REMEDY...`: how many errors of BASE's analysis each remedy corrects",
    )
    parser.add_argument("--sample", type=int, default=100, help="how many errors to draw (default: 100)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default: 0)")
    parser.add_argument(
        "--taxonomy", choices=errors.TAXONOMIES, default="famma", help="kinds of errors (default: famma)"
    )
    parser.add_argument(
        "--strata",
        choices=("paper", "proportional"),
        default="paper",
        help="paper: 76 English, 14 Chinese, 10 French and 30 easy, 30 medium, 40 hard of 100 (default); "
        "proportional: as among the errors",
    )
    parser.add_argument(
        "--judges", type=Path, help="judges.toml; default: LMMS_EVAL_FINANCE_JUDGES; none: rules alone"
    )
    parser.add_argument(
        "--confirm", action="store_true", help="serve the analysed errors for a person to confirm"
    )
    parser.add_argument("--csv", action="store_true", help="write CSV instead of Markdown")


def run(args: argparse.Namespace) -> int:
    """Analyse, confirm or compare, and print the tables."""
    if args.runs[0] == "compare":
        return _compare(args)
    if len(args.runs) > 1:
        raise SettingError("name one run to analyse, or `compare BASE REMEDY...`")
    if args.sample < 1:
        raise SettingError(f"--sample {args.sample}: draw at least one error")
    found = open_run(Path(args.runs[0]))
    if args.confirm:
        _confirm(found, args.taxonomy)
    else:
        _analyse(found, args)
    items = errors.load(found, args.taxonomy)
    shown = [tables.causes(items)]
    if any(item.kind for item in items):
        shown += [
            tables.shares(items, args.taxonomy),
            tables.top_kinds(items, "language", "Top kinds by language (table 3)"),
            tables.top_kinds(items, "difficulty", "Top kinds by difficulty (table 4)"),
        ]
    _print(shown, args.csv)
    return 0


def _analyse(found: Run, args: argparse.Namespace) -> None:
    strata = errors.PAPER_STRATA if args.strata == "paper" else None
    drawn = errors.draw(rescored(found), args.sample, args.seed, strata)
    if not drawn:
        raise SettingError(f"{found.folder}: no item was answered wrongly")
    config = load_judges(args.judges) if args.judges else configured()
    panel = None if config is None else Panel(config)
    try:
        items = errors.analyse(drawn, args.taxonomy, panel)
    finally:
        if panel is not None:
            print(panel.closing_line())
            panel.close()
    errors.save(found, items)
    print(f"{found.companion(errors.ERRORS)}: {len(items)} errors\n")


def _confirm(found: Run, taxonomy: str) -> None:
    items = errors.load(found, taxonomy)
    if not items:
        raise SettingError(f"{found.folder}: no analysis yet; run `lmms-eval-finance errors` on it first")
    records = {(task, record.id): record for task, record in rescored(found)}
    rows = [
        review_row(
            item.task,
            records[item.task, item.id],
            f"{item.kind or 'no kind yet'} (rules: {item.rule})",
            item.votes,
        )
        for item in items
        if (item.task, item.id) in records
    ]
    kinds = list(errors.TAXONOMIES[taxonomy])
    decided = load_decisions(found, kinds, kind=errors.ERROR_DECISIONS)
    decide = functools.partial(add_decision, found, kind=errors.ERROR_DECISIONS)
    with ReviewServer(rows, decided, decide, choices=(*kinds, SKIP)) as server:
        print(f"open {server.url}\n(keys 1 to {len(kinds) + 1}; Ctrl-C ends)", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print()


def _compare(args: argparse.Namespace) -> int:
    if len(args.runs) < 3:
        raise SettingError("`errors compare` takes a base run and at least one remedied run")
    base = open_run(Path(args.runs[1]))
    items = errors.load(base, args.taxonomy)
    if not items:
        raise SettingError(
            f"{args.runs[1]}: no analysis yet; run `lmms-eval-finance errors {args.runs[1]}` first"
        )
    corrected = {}
    for path in args.runs[2:]:
        remedy = open_run(Path(path))
        name = ", ".join(remedy.samples) if len(remedy.samples) == 1 else path
        corrected[name if name not in corrected else path] = errors.corrected(items, rescored(remedy))
    _print([tables.remedies(items, corrected, args.taxonomy)], args.csv)
    return 0


def _print(shown: list[Table], as_csv: bool) -> None:
    print(
        "\n\n".join(
            f"# {table.title}\n{table.to_csv()}" if as_csv else table.to_markdown() for table in shown
        )
    )
