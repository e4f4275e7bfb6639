"""What the offline baseline scores on real data, beside random answers and the commonest answer.

    python benchmarks/baseline.py DATA [--run FOLDER] [--tasks NAME,NAME]

DATA is a data folder with mfe/ and famma/ (``lmms-eval-finance data import``). The host runs
``--model finance_baseline`` on it, or the output folder of an earlier such run is read. Every
answer is judged by rules alone, with 95% intervals (bootstrap over pages and contexts):

- random: an option, yes or no, or the gold of another open item of the task, mean of 20 draws;
- commonest: the most frequent gold of the item's question type, counted on the very items it is
  scored on, which flatters it.

The baseline's rules were written with the answers of the documents of odd number in view (of
Multimodal Finance Eval; none of FAMMA). The column `unseen` is its score on the other documents.
"""

from __future__ import annotations

import argparse
import functools
import os
import random
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from lmms_eval_finance.data import sources
from lmms_eval_finance.judging import rules
from lmms_eval_finance.metrics.intervals import mean_interval
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.runs.read import open_run
from lmms_eval_finance.tasks.finmme.utils import parse_options

TASKS = (
    "mfe_text",
    "mfe_table",
    "mfe_table_yn_tf",
    "mfe_chart",
    "mfe_special_case",
    "mfe_conversation_gold",
    "mfe_conversation",
    "famma_txt",
)
DRAWS = 20
PAIRS = {"yes_no": ("Oui", "Non"), "true_false": ("Vrai", "Faux")}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="data folder with mfe/ and famma/")
    parser.add_argument("--run", type=Path, help="output folder of a run of finance_baseline on it")
    parser.add_argument("--tasks", default=",".join(TASKS), help="default: %(default)s")
    arguments = parser.parse_args()
    os.environ["LMMS_EVAL_FINANCE_DATA"] = str(arguments.data.resolve())
    os.environ["HF_HUB_OFFLINE"] = "1"
    with tempfile.TemporaryDirectory() as scratch:
        output = arguments.run or run_host(arguments.tasks, Path(scratch))
        records: dict[str, list[Record]] = defaultdict(list)
        for task, record in open_run(output).records():
            records[task].append(record)
    print("| task | items | finance_baseline | unseen | random | commonest |")
    print("|---|---:|---:|---:|---:|---:|")
    for task in arguments.tasks.split(","):
        found = records[task]
        unseen = [record for record in found if is_unseen(task, record.id)]
        columns = [
            shown(found, lambda record: record.score or 0.0),
            shown(unseen, lambda record: record.score or 0.0),
            shown(found, Guesses(found)),
            shown(found, Commonest(found)),
        ]
        print(f"| {task} | {len(found)} | {' | '.join(columns)} |")


def run_host(tasks: str, output: Path) -> Path:
    """Run the baseline as a user would; the folder with its results."""
    command = [sys.executable, "-m", "lmms_eval", "--model", "finance_baseline", "--tasks", tasks]
    subprocess.run([*command, "--output_path", str(output), "--log_samples"], check=True, stdout=sys.stderr)
    return output


def shown(records: Sequence[Record], score: Callable[[Record], float]) -> str:
    """The mean score in per cent with its interval."""
    found = mean_interval([score(record) for record in records], [record.cluster for record in records])
    if found is None or found.low is None or found.high is None:
        return "" if found is None else f"{100 * found.estimate:.1f}"
    return f"{100 * found.estimate:.1f} ({100 * found.low:.1f} to {100 * found.high:.1f})"


def is_unseen(task: str, identity: str) -> bool:
    """Whether the item's document has an even number; every item of FAMMA is."""
    return not task.startswith("mfe_") or identity in _even(task.removeprefix("mfe_").removesuffix("_gold"))


@functools.lru_cache
def _even(split: str) -> frozenset[str]:
    rows = sources.locate("mfe", split).load().select_columns(["id", "document_id"])
    return frozenset(str(row["id"]) for row in rows if int(float(row["document_id"])) % 2 == 0)


def kind(record: Record) -> str:
    """The question type as the rules name it."""
    return str(record.details["question_type"])


def judged(record: Record, answer: str) -> float:
    """1.0 where the rules say that the answer is right."""
    details = record.details
    verdict = rules.judge(
        str(details["question"]),
        record.gold,
        answer,
        language=str(details["language"]),
        question_type=kind(record),
        options=[str(option) for option in details.get("options") or ()] or None,  # type: ignore[union-attr]
    ).verdict
    return float(verdict == "correct")


def letters(record: Record) -> list[str]:
    """The letters of an item's options."""
    options = record.details.get("options")
    if isinstance(options, list) and options:
        return [chr(ord("A") + place) for place in range(len(options))]
    return list(parse_options(str(record.details["question"]))) or ["A", "B", "C", "D"]


class Guesses:
    """The mean score of random answers to an item."""

    def __init__(self, records: Sequence[Record]) -> None:
        self.golds = [str(record.gold) for record in records if kind(record) == "open"]

    def __call__(self, record: Record) -> float:
        drawn = random.Random(record.id)
        if kind(record) in PAIRS:
            pool = list(PAIRS[kind(record)])
        else:
            pool = letters(record) if kind(record) == "choice" else list(self.golds)
            if kind(record) == "open" and len(pool) > 1:
                pool.remove(str(record.gold))
        tally = Counter(drawn.choice(pool) for _ in range(DRAWS))
        return sum(count * judged(record, answer) for answer, count in tally.items()) / DRAWS


class Commonest:
    """The score of the most frequent gold of an item's question type."""

    def __init__(self, records: Sequence[Record]) -> None:
        golds: dict[str, Counter[str]] = defaultdict(Counter)
        for record in records:
            golds[kind(record)][str(record.gold).strip(" .").lower()] += 1
        self.answers = {name: counts.most_common(1)[0][0] for name, counts in golds.items()}

    def __call__(self, record: Record) -> float:
        return judged(record, self.answers[kind(record)])


if __name__ == "__main__":
    main()
