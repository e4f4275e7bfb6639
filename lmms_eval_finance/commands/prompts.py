"""``lmms-eval-finance prompts list | export FOLDER | check FOLDER``."""

from __future__ import annotations

import argparse
from pathlib import Path

from lmms_eval_finance import prompts


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions."""
    actions = parser.add_subparsers(dest="action", required=True)
    actions.add_parser("list", help="name, hash and placeholders of every template in use")
    export = actions.add_parser("export", help="copy the packaged templates into a folder, to edit there")
    export.add_argument("folder", type=Path)
    check = actions.add_parser("check", help="say which files of a folder cannot stand in for a template")
    check.add_argument("folder", type=Path)


def run(args: argparse.Namespace) -> int:
    """Run the action; 1 when a checked folder has problems."""
    if args.action == "list":
        for name in prompts.names():
            template = prompts.load(name)
            print(f"{name}  {template.hash}  {' '.join(sorted(template.placeholders))}")
        return 0
    if args.action == "export":
        written = prompts.export(args.folder)
        print(f"{len(written)} templates written to {args.folder}")
        kept = len(prompts.names()) - len(written)
        if kept:
            print(f"{kept} were there already and are left as they are")
        print(f"to use them: LMMS_EVAL_FINANCE_PROMPTS={args.folder}")
        return 0
    problems = prompts.check(args.folder)
    for problem in problems:
        print(problem)
    if not problems:
        print(f"{args.folder}: every template can be used")
    return 1 if problems else 0
