"""``lmms-eval-finance report RUN... -o FOLDER``: a page to look at, and every table as Markdown and CSV."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from lmms_eval_finance.report import items as browser
from lmms_eval_finance.report import overview
from lmms_eval_finance.report.collect import named_runs, summaries
from lmms_eval_finance.report.models import distinct, rounds
from lmms_eval_finance.report.page import Report, write
from lmms_eval_finance.report.paper import paper_tables
from lmms_eval_finance.runs import errors, manifest
from lmms_eval_finance.runs.rescore import without_collections
from lmms_eval_finance.settings import SettingError

_MEGABYTE = 2**20


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "runs",
        metavar="RUN",
        nargs="+",
        help="output folders, results or sample files of lmms-eval; NAME=RUN gives a model a name, and runs of one "
        "name count as repeats",
    )
    parser.add_argument(
        "-o", "--output", metavar="FOLDER", type=Path, required=True, help="where the report goes"
    )
    parser.add_argument("--title", default="Financial documents: report", help="the page's heading")
    parser.add_argument(
        "--images",
        metavar="MB",
        type=float,
        default=24,
        help="megabytes of pictures in the page, those of wrong answers first (default: 24; 0: none)",
    )
    parser.add_argument(
        "--without-undecided",
        action="store_true",
        help="leave out items that the rule judge could not decide",
    )
    parser.add_argument("--skip-broken", action="store_true", help="leave out lines that cannot be read")


def run(args: argparse.Namespace) -> int:
    """Write the report and say where it is."""
    with without_collections():
        return _report(args)


def _report(args: argparse.Namespace) -> int:
    if not 0 <= args.images <= 2000:
        raise SettingError(f"--images {args.images}: give megabytes, from 0 to 2000")
    runs = named_runs(args.runs)
    skipped: list[str] | None = [] if args.skip_broken else None
    models = rounds(summaries(runs, skipped, without_undecided=args.without_undecided))
    if not models:
        raise SettingError("these runs hold no task of this package")
    analyses = {named.model: found for named in runs if (found := errors.load(named.run, "famma"))}
    names = distinct([named.model for named in runs])
    report = Report(
        title=args.title,
        about="; ".join(f"{name} ({named.run.date})" for name, named in zip(names, runs, strict=True)),
        overview=overview.overview(models),
        benchmarks=paper_tables(models, analyses),
        details=[*overview.all_figures(models), overview.signatures(models)],
        items=browser.collect(
            runs, image_budget=int(args.images * _MEGABYTE), skipped=[] if args.skip_broken else None
        ),
        manifests={
            name: manifest.to_text(manifest.of_run(named.run))
            for name, named in zip(names, runs, strict=True)
        },
    )
    page = write(report, args.output)
    if skipped:
        print(f"{len(skipped):,} lines left out, the first: {skipped[0]}", file=sys.stderr)
    print(
        f"{page}: {len(report.items):,} items, {len(report.tables())} tables; report.md and tables/*.csv beside it"
    )
    return 0
