"""How far the three released judges of Multimodal Finance Eval agree, and the rule judge with each.

All answers of the five single-turn tasks (votes on conversations are not aligned with their
answers). Intervals: 95%, bootstrap over source documents, since answers on one document, and
the same question answered by several models, are not independent.

    python benchmarks/agreement.py [FOLDER] [--model NAME]...

FOLDER as for rule_judge.py, whose reading of the files this uses.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from rule_judge import FILES, FOLDER, items

from lmms_eval_finance.judging.agreement import all_agreements, table


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    parser.add_argument("--model", action="append", default=[], help="only models whose name holds this")
    args = parser.parse_args()
    documents = {}
    for task, name in FILES.items():
        rows = json.loads(
            (args.folder / f"dataset_json/Q&A_finance.dataset_{name}.json").read_text(encoding="utf-8")
        )
        documents.update(
            {(task, number): row.get("Filename") or row["Document"] for number, row in enumerate(rows)}
        )
    everything = list(items(args.folder, args.model))
    groups = {"all five tasks": everything} | {
        task: [item for item in everything if item.task == task] for task in FILES
    }
    for title, group in groups.items():
        models = len({item.model for item in group})
        right = sum(vote for item in group for vote in item.votes.values()) / sum(
            len(item.votes) for item in group
        )
        clusters = [documents[item.task, item.row] for item in group]
        print(
            f"\n{title}: {len(group):,} answers of {models} models on {len(set(clusters))} documents, {right:.1%} of votes right\n"
        )
        print(
            table(all_agreements([item.votes for item in group], [item.decided for item in group], clusters))
        )


if __name__ == "__main__":
    main()
