"""``lmms-eval-finance judge RUN``: put a finished run's open answers to language judges."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from tqdm import tqdm

from lmms_eval_finance.judging.agreement import table
from lmms_eval_finance.judging.config import configured, load_judges
from lmms_eval_finance.judging.items import JudgeRequired, require_judged, resolve
from lmms_eval_finance.judging.panel import Panel, Share
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.runs.judge import VERDICTS, cases_of, judge_run, panel_agreement
from lmms_eval_finance.runs.read import open_run
from lmms_eval_finance.runs.review import write_review
from lmms_eval_finance.settings import SettingError

EXAMPLES = ("famma", "mfe", "cfmme")


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("path", metavar="RUN", type=Path, nargs="?", help="the run's results file or folder")
    parser.add_argument("--judges", type=Path, help="judges.toml; default: LMMS_EVAL_FINANCE_JUDGES")
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would be sent and what it costs, send nothing"
    )
    parser.add_argument("--skip-broken", action="store_true", help="leave out lines that cannot be read")
    parser.add_argument("--example", choices=EXAMPLES, help="print a judges.toml to start from, and stop")


def run(args: argparse.Namespace) -> int:
    """Judge the run; 1 where a required judge failed, 130 where it was broken off."""
    if args.example:
        print(
            resources.files("lmms_eval_finance.judging")
            .joinpath(f"example_{args.example}.toml")
            .read_text("utf-8")
        )
        return 0
    if args.path is None:
        raise SettingError("name a run: the folder given to --output_path, or a ..._results.json in it")
    config = load_judges(args.judges) if args.judges else configured()
    if config is None:
        raise SettingError("name the judges: --judges judges.toml, or LMMS_EVAL_FINANCE_JUDGES=judges.toml")
    found = open_run(args.path)
    skipped: list[str] | None = [] if args.skip_broken else None
    panel = Panel(config)
    try:
        cases = cases_of(found, panel, skipped)
        for line in skipped or []:
            print(f"left out: {line}", file=sys.stderr)
        _print_plan(panel.plan([case.item for case in cases]), len(cases))
        if args.dry_run:
            return 0
        with tqdm(total=len(cases), desc="judging", unit="item") as bar:
            votes = judge_run(found, cases, panel, bar.update)
    except KeyboardInterrupt:
        print(
            f"broken off: what was judged is kept in {config.cache}; the same command goes on from there",
            file=sys.stderr,
        )
        return 130
    finally:
        panel.close()
    agreements = panel_agreement(cases, votes)
    if agreements:
        print(table(agreements))
    listed = write_review(found, skipped)
    print(f"{found.companion(VERDICTS)}: {len(cases):,} items; {listed:,} for a person to review")
    print(panel.closing_line(), file=sys.stderr)
    outcomes = [resolve(None, [vote.to_json() for vote in given])[0] for given in votes]
    try:
        require_judged(outcomes.count(Outcome.JUDGE_FAILED), len(cases))
    except JudgeRequired as error:
        print(f"lmms-eval-finance judge: {error}", file=sys.stderr)
        return 1
    return 0


def _print_plan(shares: Sequence[Share], items: int) -> None:
    print(f"{items:,} items for {len(shares)} {'judge' if len(shares) == 1 else 'judges'}:")
    for share in shares:
        cost = "no price given" if share.cost is None else f"at most {share.cost:,.4f} at the prices given"
        print(
            f"  {share.judge}: {share.calls:,} calls ({share.cached:,} in the cache), about "
            f"{share.prompt_tokens:,} prompt and at most {share.completion_tokens:,} reply tokens, {cost}"
        )
    costs = [share.cost for share in shares if share.cost is not None]
    if len(costs) > 1 and len(costs) == len(shares):
        print(f"  together: {sum(share.calls for share in shares):,} calls, at most {sum(costs):,.4f}")
