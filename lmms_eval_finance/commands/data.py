"""``lmms-eval-finance data check | stats | import | fetch BENCHMARK``."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType

from lmms_eval_finance import settings
from lmms_eval_finance.data import check as checks
from lmms_eval_finance.data.schemas import BENCHMARKS, benchmark
from lmms_eval_finance.data.sources import DataError, locate


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions."""
    actions = parser.add_subparsers(dest="action", required=True)
    check = actions.add_parser(
        "check", help="validate the rows that the settings lead to; exit 1 on faults of schema"
    )
    check.add_argument("benchmark", choices=BENCHMARKS)
    check.add_argument("--split", action="append", help="only this split (may be given several times)")
    check.add_argument(
        "--all", action="store_true", help="list every fault of content, not just the first 20"
    )
    stats = actions.add_parser("stats", help="the data set's tables: counts by label, mean lengths")
    stats.add_argument("benchmark", choices=BENCHMARKS)
    bring = actions.add_parser("import", help="turn a release on disk into the local data folder")
    bring.add_argument("benchmark", choices=BENCHMARKS)
    bring.add_argument("source", type=Path, help="folder or file in the layout of the release")
    fetch = actions.add_parser("fetch", help="download a benchmark's data from their public source")
    fetch.add_argument("benchmark", choices=BENCHMARKS)
    for action in (bring, fetch):
        action.add_argument(
            "-o",
            "--output",
            type=Path,
            help="the data folder to write to (default: LMMS_EVAL_FINANCE_DATA if that is a folder, else ./finance-data)",
        )


def run(args: argparse.Namespace) -> int:
    """Run the action; 1 when something cannot be used."""
    return {"check": _check, "stats": _stats, "import": _import, "fetch": _fetch}[args.action](args)


def _check(args: argparse.Namespace) -> int:
    about = benchmark(args.benchmark)
    unknown = [split for split in args.split or [] if split not in about.splits]
    if unknown:
        raise settings.SettingError(
            f"{about.title} has no split {unknown[0]!r}; it has {', '.join(about.splits)}"
        )
    bad = False
    for report in checks.check(args.benchmark, args.split):
        if report.source is None:
            bad = True
            print(f"{report.split}: cannot be used\n  {report.problem}")
            continue
        where = report.source.revision[:12] or report.source.location
        print(
            f"{report.split}: {report.source.count} rows, {report.source.kind} {where}, rows {report.source.rows_hash}"
        )
        if report.content:
            print(f"  faults of content (scored as released): {len(report.content)}")
            for fault in report.content if args.all else report.content[:20]:
                print(f"    {fault}")
    return 1 if bad else 0


def _stats(args: argparse.Namespace) -> int:
    from lmms_eval_finance.report.stats import stats

    print("\n\n".join(table.to_markdown() for table in stats(args.benchmark)))
    return 0


def _folder(args: argparse.Namespace) -> Path:
    if args.output is not None:
        return Path(args.output)
    setting = settings.value("DATA")
    if setting and setting != "sample" and not setting.startswith("hub"):
        return Path(setting).expanduser()
    return Path("finance-data")


def _importer(name: str) -> ModuleType | None:
    module = f"lmms_eval_finance.data.importers.{name}"
    return importlib.import_module(module) if importlib.util.find_spec(module) else None


def _import(args: argparse.Namespace) -> int:
    folder = _folder(args)
    importer = _importer(args.benchmark)
    if importer is None:
        print(
            f"{benchmark(args.benchmark).title} has no release to import: {benchmark(args.benchmark).how_to_get}"
        )
        return 1
    print(importer.import_release(args.source, folder / args.benchmark))
    print(f"to use it: LMMS_EVAL_FINANCE_DATA={folder}")
    return 0


def _fetch(args: argparse.Namespace) -> int:
    about = benchmark(args.benchmark)
    if about.hub is not None:
        missing = 0
        for number, split in enumerate(about.splits):
            try:
                source = locate(args.benchmark, split)
            except DataError as error:
                if missing == number:  # nothing could be had so far: the hub is out of reach
                    raise
                missing += 1
                print(f"{split}: {error}", file=sys.stderr)
                continue
            print(f"{split}: {source.count} rows at revision {source.revision}")
        return int(missing > 0)
    importer = _importer(args.benchmark)
    if importer is None or not hasattr(importer, "fetch_release"):
        print(f"{about.title} cannot be downloaded: {about.how_to_get}", file=sys.stderr)
        return 1
    folder = _folder(args)
    print(importer.fetch_release(folder / args.benchmark))
    print(f"to use it: LMMS_EVAL_FINANCE_DATA={folder}")
    return 0
