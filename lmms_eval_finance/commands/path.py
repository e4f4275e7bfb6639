"""``lmms-eval-finance path``: the folder for the host's ``--include_path``."""

from __future__ import annotations

import argparse
from pathlib import Path

from lmms_eval_finance.plugin import TASKS


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument(
        "--lm-eval", action="store_true", help="the folder for lm-eval's --include_path instead"
    )


def run(args: argparse.Namespace) -> int:
    """Print the folder."""
    print(Path(__file__).parents[1] / "lm_eval" if args.lm_eval else TASKS)
    return 0
