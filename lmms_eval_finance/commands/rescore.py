"""``lmms-eval-finance rescore``: scores from saved outputs, without a model.

``rescore RUN...`` scores finished runs again, with later verdicts and review decisions and with
other settings (LMMS_EVAL_FINANCE_ERRATA, _COORDINATES). ``rescore --task TASK --predictions FILE``
scores the predictions of another tool. ``rescore --benchmark mfe --released FOLDER`` computes the
published figures from the authors' released answers and votes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from lmms_eval_finance import settings
from lmms_eval_finance.data.schemas import BENCHMARKS
from lmms_eval_finance.judging.items import JudgeRequired, require_judged
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.report.summary import TaskSummary, summary_text
from lmms_eval_finance.runs.predictions import read_predictions, score_predictions
from lmms_eval_finance.runs.read import Run, Sample, open_runs
from lmms_eval_finance.runs.rescore import scored_again, without_collections
from lmms_eval_finance.runs.save import SavedRun
from lmms_eval_finance.tasks import registry


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "runs", metavar="RUN", type=Path, nargs="*", help="results files, or folders with runs"
    )
    parser.add_argument("--skip-broken", action="store_true", help="leave out lines that cannot be read")
    parser.add_argument(
        "--without-undecided",
        action="store_true",
        help="leave out items that the rule judge could not decide",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FOLDER",
        type=Path,
        help="write the records as runs that report and compare read",
    )
    other = parser.add_argument_group("predictions of another tool, instead of RUN")
    other.add_argument("--task", help="the task that they answer")
    other.add_argument(
        "--predictions", metavar="FILE", type=Path, help='JSONL of {"id", "prediction"}, a line for each item'
    )
    other.add_argument("--partial", action="store_true", help="score what has a prediction, not all items")
    other.add_argument("--model", metavar="NAME", help="what to call the model (default: the file's name)")
    released = parser.add_argument_group("published figures, instead of RUN")
    released.add_argument(
        "--benchmark", choices=BENCHMARKS, help="whose predictions, or whose released answers"
    )
    released.add_argument("--released", metavar="FOLDER", type=Path, help="the authors' answers and votes")
    released.add_argument(
        "--data",
        metavar="FOLDER",
        type=Path,
        help="the imported data or a checkout of the release (default: LMMS_EVAL_FINANCE_DATA if that is a folder)",
    )
    released.add_argument(
        "--markdown", metavar="FILE", type=Path, help="write the tables into this page, not to the screen"
    )


def run(args: argparse.Namespace) -> int:
    """Print each task's figures, outcomes and changes; 1 where a required judge failed."""
    chosen = [bool(args.runs), args.predictions is not None, args.released is not None]
    if sum(chosen) != 1:
        raise settings.SettingError(
            "name one of: RUN..., `--task TASK --predictions FILE`, or `--benchmark mfe --released FOLDER`"
        )
    if args.released is not None:
        return _released(args)
    if args.predictions is not None:
        return _predictions(args)
    failed = total = 0
    for found in (found for path in args.runs for found in open_runs(path)):
        with without_collections():
            tasks = _again(found, args)
        failed += sum(record.outcome is Outcome.JUDGE_FAILED for task in tasks for record in task.records)
        total += sum(len(task.records) for task in tasks)
    try:
        require_judged(failed, total)
    except JudgeRequired as error:
        print(f"lmms-eval-finance rescore: {error}", file=sys.stderr)
        return 1
    return 0


@dataclass
class _Collected:
    """A task's records and how they differ from what the run had."""

    records: list[Record] = field(default_factory=list)
    before: list[Record] = field(default_factory=list)

    def add(self, before: Iterable[Record], records: Iterable[Record]) -> None:
        self.records += records
        self.before += before


def _again(found: Run, args: argparse.Namespace) -> list[TaskSummary]:
    skipped: list[str] | None = [] if args.skip_broken else None
    collected: dict[str, _Collected] = {}
    saving = SavedRun(args.output, found.model, found.date) if args.output else nullcontext()
    with saving as saved:
        for again in scored_again(found, skipped):
            collected.setdefault(again.task, _Collected()).add(again.sample.records, again.records)
            if saved is not None:
                saved.add(again.task, again.sample, again.records)
        tasks = [
            TaskSummary.of(task, one.records, one.before, without_undecided=args.without_undecided)
            for task, one in collected.items()
        ]
        if not tasks:
            raise settings.SettingError(f"{found.folder}: no task of this run is of this package")
        if saved is not None:
            place = saved.finish(
                {
                    task.task: {name: figure.estimate for name, figure in task.figures.items()}
                    for task in tasks
                },
                found.about,
            )
    print(f"# {found.model}, {found.date}\n")
    print(summary_text(tasks))
    if skipped:
        print(f"{len(skipped):,} lines left out, the first: {skipped[0]}", file=sys.stderr)
    if args.output:
        print(f"written: {place}")
    return tasks


def _predictions(args: argparse.Namespace) -> int:
    task = _task(args.task, args.benchmark)
    samples = score_predictions(task, read_predictions(args.predictions), partial=args.partial)
    records = [record for sample in samples for record in sample.records]
    summary = TaskSummary.of(task.name, records, without_undecided=args.without_undecided)
    model = args.model or args.predictions.stem
    if args.output:
        _save(args.output, model, task.name, samples, summary)
    print(f"# {model}\n")
    print(summary_text([summary]))
    return 0


def _task(name: str | None, benchmark: str | None) -> registry.Task:
    named = [name for about in ([benchmark] if benchmark else BENCHMARKS) for name in registry.names(about)]
    found = registry.find(name) if name in named and name else None
    if found is None:
        wrong = f"no task {name!r}" if name else "--predictions needs --task"
        raise settings.SettingError(f"{wrong}; there are {', '.join(named)}")
    return found


def _save(folder: Path, model: str, task: str, samples: Sequence[Sample], summary: TaskSummary) -> None:
    with SavedRun(folder, model, datetime.now().strftime("%Y%m%d_%H%M%S")) as saved:
        for sample in samples:
            saved.add(task, sample, sample.records)
        place = saved.finish({task: {name: one.estimate for name, one in summary.figures.items()}}, {})
    print(f"written: {place}")


def _released(args: argparse.Namespace) -> int:
    """Print the figures from released answers, or write them into a page."""
    from lmms_eval_finance.runs.released_mfe import released_tables
    from lmms_eval_finance.runs.released_mfe_page import render_markdown, write_page

    if args.benchmark != "mfe":
        raise settings.SettingError(
            "released answers are read of one benchmark: `--benchmark mfe --released FOLDER`"
        )
    setting = settings.value("DATA")
    data = args.data or (Path(setting).expanduser() if setting else None)
    if args.data is None and data is not None and not (data / "mfe").is_dir():
        data = None
    tables = released_tables(args.released, data)
    if args.markdown is None:
        print(render_markdown(tables))
        return 0
    write_page(args.markdown, render_markdown(tables))
    for note in tables.notes:
        print(note, file=sys.stderr)
    print(f"{len(tables.models)} models: {args.markdown}")
    return 0
