"""To be written."""

import argparse


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the verb's options."""


def run(args: argparse.Namespace) -> int:
    """Run the verb."""
    return 0
