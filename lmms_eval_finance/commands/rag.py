"""``lmms-eval-finance rag index FOLDER | rag search FOLDER QUESTION``."""

from __future__ import annotations

import argparse
from pathlib import Path

from lmms_eval_finance.rag import index as indices


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the actions."""
    actions = parser.add_subparsers(dest="action", required=True)
    index = actions.add_parser(
        "index", help="index a folder of PDF, text and Markdown files, or bring its index up to date"
    )
    index.add_argument("folder", type=Path)
    default = indices.Options()
    index.add_argument(
        "--size", type=int, default=default.size, help="most tokens of a passage (default: %(default)s)"
    )
    index.add_argument(
        "--budget",
        type=int,
        default=default.budget,
        help="most tokens of all passages in a prompt (default: %(default)s)",
    )
    index.add_argument(
        "--method", choices=("bm25", "dense"), default=default.method, help="default: %(default)s"
    )
    index.add_argument(
        "--model", default="", help="folder of a sentence-transformers model, for --method dense"
    )
    search = actions.add_parser("search", help="show the passages that a question would get")
    search.add_argument("folder", type=Path)
    search.add_argument("question")


def run(args: argparse.Namespace) -> int:
    """Run the action."""
    return _index(args) if args.action == "index" else _search(args)


def _index(args: argparse.Namespace) -> int:
    model = str(Path(args.model).expanduser().resolve()) if args.model else ""
    options = indices.Options(args.size, args.budget, args.method, model)
    report = indices.build(args.folder, options, lambda name: print(f"reading {name}", flush=True))
    for name, reason in report.skipped.items():
        print(f"skipped {name}: {reason}")
    books = len(report.read) + len(report.kept)
    state = "index written" if report.changed else "index up to date"
    print(
        f"{state}: {report.passages} passages of {books} books ({len(report.read)} read, {len(report.kept)} "
        f"unchanged, {len(report.skipped)} skipped), hash {report.hash}"
    )
    print(f"to use it: LMMS_EVAL_FINANCE_RAG={args.folder}")
    return 0


def _search(args: argparse.Namespace) -> int:
    found = indices.open_index(args.folder).search([args.question])
    for number, passage in enumerate(found, start=1):
        print(f"[{number}] {passage.place}\n{passage.text}\n")
    if not found:
        print("no passage has a term of the question")
    return 0
