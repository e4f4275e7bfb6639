"""The rule judge against the released votes of Multimodal Finance Eval.

On the items of the five single-turn tasks where the three language judges agree, this prints
how often a decided rule verdict is theirs, and which share is decided, by model, by task and
question type, and by the rule that decided. The released gold is taken as it is, damage included.

    python benchmarks/rule_judge.py [FOLDER] [--model NAME]... [--disagreements] [--undecided]

FOLDER holds `dataset_json/` and `released_predictions/` of the benchmark's repository
(default: ../shared/data/multimodal_finance_eval beside the checkout).
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from lmms_eval_finance.judging.rules import Judgement, judge

FOLDER = Path(__file__).resolve().parents[2] / "shared/data/multimodal_finance_eval"
FILES = {
    "NER": "NER",
    "tables": "tables",
    "tables_yn_tf": "tables_yn_tf_paraphrase",
    "charts": "charts",
    "special_cases": "special_cases",
}
TYPES = {"open": "open", "oui / non": "yes_no", "vrai / faux": "true_false"}


class Item(NamedTuple):
    """One answer with what three judges and the rules say of it."""

    model: str
    task: str
    row: int
    question: str
    question_type: str
    gold: Any
    prediction: str
    votes: dict[str, bool]
    judgement: Judgement

    @property
    def agreed(self) -> bool | None:
        """The verdict of the three judges; None where they differ."""
        votes = set(self.votes.values())
        return votes.pop() if len(votes) == 1 else None

    @property
    def decided(self) -> bool | None:
        return {"correct": True, "incorrect": False}.get(self.judgement.verdict)


def items(folder: Path, models: list[str]) -> Iterator[Item]:
    data = {
        task: json.loads(
            (folder / f"dataset_json/Q&A_finance.dataset_{name}.json").read_text(encoding="utf-8")
        )
        for task, name in FILES.items()
    }
    for path in sorted((folder / "released_predictions").glob("*.jsonl")):
        model = path.stem.partition("__")[2]
        if models and not any(name.lower() in model.lower() for name in models):
            continue
        for line in path.open(encoding="utf-8"):
            answer = json.loads(line)
            if answer["task"] not in data:
                continue
            row = data[answer["task"]][answer["row"]]
            question_type = TYPES[row.get("Question_type", "open").strip().lower()]
            judgement = judge(
                row["Question"],
                row["Answer"],
                answer["prediction"],
                language="fr",
                question_type=question_type,
            )
            yield Item(
                model, answer["task"], answer["row"], row["Question"], question_type, row["Answer"],
                answer["prediction"], answer["votes"], judgement,
            )  # fmt: skip


def table(title: str, groups: dict[str, list[Item]]) -> None:
    print(f"\n| {title} | items | decided | agreement | differ |\n|---|--:|--:|--:|--:|")
    for name, group in groups.items():
        decided = [item for item in group if item.decided is not None]
        right = sum(item.decided == item.agreed for item in decided)
        share = f"{len(decided) / len(group):.3f}"
        agreement = f"{right / len(decided):.4f}" if decided else ""
        print(f"| {name} | {len(group):,} | {share} | {agreement} | {len(decided) - right} |")


def grouped(selected: list[Item], *keys: str) -> dict[str, list[Item]]:
    groups: defaultdict[str, list[Item]] = defaultdict(list)
    for item in selected:
        groups[" / ".join(str(getattr(item, key)) for key in keys)].append(item)
    return dict(groups) | {"all": selected}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    parser.add_argument("--model", action="append", default=[], help="only models whose name holds this")
    parser.add_argument(
        "--disagreements", action="store_true", help="list decided verdicts that the judges do not share"
    )
    parser.add_argument("--undecided", action="store_true", help="list undecided items")
    args = parser.parse_args()
    start = time.process_time()
    everything = list(items(args.folder, args.model))
    took = time.process_time() - start
    selected = [item for item in everything if item.agreed is not None]
    print(
        f"{len(everything)} answers judged in {took:.2f} s of CPU time ({len(everything) / took:.0f} a second); "
        f"three judges agree on {len(selected)}"
    )
    table("model", grouped(selected, "model"))
    table("task / question type", grouped(selected, "task", "question_type"))
    reasons = Counter((item.judgement.verdict, item.judgement.reason, item.agreed) for item in selected)
    print("\n| verdict | reason | judges: right | judges: wrong |\n|---|---|---:|---:|")
    for verdict, reason in sorted({key[:2] for key in reasons}):
        print(
            f"| {verdict} | {reason} | {reasons[verdict, reason, True]} | {reasons[verdict, reason, False]} |"
        )
    for item in selected:
        if (args.disagreements and item.decided is not None and item.decided != item.agreed) or (
            args.undecided and item.decided is None
        ):
            print(
                f"{item.task} {item.row} {item.model} | {item.question.strip()[:110]!r} | gold {str(item.gold).strip()[:180]!r}"
                f" | answer {item.prediction.strip()[:180]!r} | rules {item.judgement.verdict} ({item.judgement.reason}), judges {item.agreed}"
            )


if __name__ == "__main__":
    main()
