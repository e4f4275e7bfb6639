"""The command ``lmms-eval-finance``: each verb is one module of `lmms_eval_finance.commands`."""

from __future__ import annotations

import argparse
import importlib
import io
import sys
from collections.abc import Sequence

from lmms_eval_finance import __version__
from lmms_eval_finance.settings import SettingError

# verb -> one line for the overview; the verb's module is commands/<verb>.py and is imported only when used.
VERBS = {
    "doctor": "check hosts, extras, tasks, data sources and judges, with a fix for each problem",
    "path": "print the folder to give to the host's --include_path",
    "data": "check, import or fetch a benchmark's data",
    "judge": "put a finished run's open answers to language judges, resumable, nothing paid twice",
    "review": "decide by hand, on a local page, what rule and judges could not agree on",
    "report": "write a page to look at, with the papers' tables, plots and every item, from saved runs",
    "compare": "say whether one run is better than another, overall and in every slice",
    "manifest": "write down what a run is made of and how to repeat it",
    "verify": "check a run's files against its manifest",
    "tables": "print the papers' tables from saved runs, as Markdown or CSV",
    "errors": "sample wrong answers and say what kind of mistake each is",
    "rescore": "score a finished run again with later verdicts and review decisions, without a model",
    "published": "print the papers' tables, with an audit of their arithmetic",
    "score": "score tables, boxes, texts or fields in two JSONL files, outside any host",
    "preset": "print a model's sampling parameters for --gen_kwargs, as CFMME's authors ran it",
    "rag": "index reference books for tasks with retrieval, and search them",
    "export": "write benchmarks as task folders that a host can take over",
    "prompts": "export prompt templates to a folder, or check such a folder",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code (2 for wrong usage or settings)."""
    argv = list(sys.argv[1:] if argv is None else argv)
    parser = argparse.ArgumentParser(prog="lmms-eval-finance", description=__doc__)
    parser.add_argument("--version", action="version", version=__version__)
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    chosen = next((word for word in argv if not word.startswith("-")), None)
    for verb, summary in VERBS.items():
        sub = verbs.add_parser(verb, help=summary, description=summary[0].upper() + summary[1:] + ".")
        if verb == chosen:
            command = importlib.import_module(f"lmms_eval_finance.commands.{verb}")
            command.configure(sub)
            sub.set_defaults(command=command)
    args = parser.parse_args(argv)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # what models and data hold need not be signs of the terminal's encoding
        sys.stdout.reconfigure(errors="replace")
    try:
        return int(args.command.run(args))
    except SettingError as error:
        print(f"lmms-eval-finance {args.verb}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        return 0


if __name__ == "__main__":
    sys.exit(main())
