"""``lmms-eval-finance preset [NAME]``."""

from __future__ import annotations

import argparse

from lmms_eval_finance.models.presets import generation_kwargs, presets


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("name", nargs="?", help="a model of CFMME's table 8; without one all are listed")


def run(args: argparse.Namespace) -> int:
    """Print one preset ready for --gen_kwargs, or all with their names."""
    if args.name is not None:
        print(generation_kwargs(args.name))
        return 0
    width = max(map(len, presets()))
    for name in presets():
        print(f"{name:{width}}  {generation_kwargs(name)}")
    return 0
