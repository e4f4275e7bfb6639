"""``lmms-eval-finance export upstream DEST``: benchmarks as task folders of a host."""

from __future__ import annotations

import argparse
from pathlib import Path

from lmms_eval_finance.data.schemas import BENCHMARKS
from lmms_eval_finance.export import upstream
from lmms_eval_finance.export.hosts import HOSTS
from lmms_eval_finance.settings import SettingError


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    actions = parser.add_subparsers(dest="action", required=True)
    action = actions.add_parser("upstream", help="task folders that need the host alone")
    action.add_argument(
        "destination", type=Path, metavar="DEST", help="a checkout of the host, or an empty folder"
    )
    action.add_argument("--host", choices=HOSTS, default="lmms-eval", help="default: lmms-eval")
    action.add_argument(
        "--benchmark", choices=BENCHMARKS, action="append", help="only this one (may be given several times)"
    )
    action.add_argument(
        "--with-data", action="store_true", help="write the rows in use beside tasks that no hub has data for"
    )


def run(args: argparse.Namespace) -> int:
    """Write the folders and say what each needs."""
    host = HOSTS[args.host]
    there = [name for name in BENCHMARKS if upstream.tasks_for(name, host).texts]
    chosen = list(dict.fromkeys(args.benchmark or there))
    if not set(chosen) <= set(there):
        without = ", ".join(name for name in chosen if name not in there)
        raise SettingError(f"{host.name} has no task of {without}")
    root = upstream.place(args.destination, host)
    for name in chosen:
        upstream.check(name, host, root, with_data=args.with_data)
    try:
        for name in chosen:
            print(upstream.export(name, host, root, with_data=args.with_data))
    except OSError as error:
        raise SettingError(f"{root}: cannot be written ({error})") from error
    return 0
