"""Re-scoring and reporting at full size, on synthetic runs in the host's layout.

    python benchmarks/reports.py [--items 11099] [--report-items 12000] [--folder KEEP]

Writes the sample file of a FinMME run (reasoned replies of 300 to 1,500 characters), scores it
again, and writes a report over it; prints wall time, peak memory and, as the peer, how long
plain `json.loads` over the same lines takes.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from lmms_eval_finance.tasks.finmme.utils import VARIANTS, as_metrics, record

TYPES = ("single_choice", "multiple_choice", "numerical")
LEVELS = ("comprehensive understanding", "fine-grained perception", "analysis and reasoning")
STEPS = (
    "The bar of 2021 reaches 45.3, that of 2022 about 51.",
    "From the legend, the dark line is the gross margin (right axis).",
    "It fell from 12.5% in Q1 to 11.8% in Q3, so option B cannot hold.",
    "Comparing the segments, retail contributes the largest share.",
    "The note says that figures are in millions, so 1,250 means 1.25 billion.",
)
DATE = "20260101_000000"


def row(number: int, draw: random.Random) -> dict[str, Any]:
    """A row in FinMME's schema, without its image; several questions share a caption."""
    kind = TYPES[number % 3]
    gold = {"single_choice": draw.choice("ABCD"), "numerical": f"{draw.random() * 100:.2f}"}.get(
        kind, ",".join(sorted(draw.sample("ABCDE", 2)))
    )
    options = "\n".join(f"{letter}: option {letter} of question {number}" for letter in "ABCDE")
    return {
        "id": number,
        "question_text": f"What does figure {number % 4458} show about the margin?",
        "question_type": kind,
        "options": None if kind == "numerical" else options,
        "answer": gold,
        "unit": "%" if kind == "numerical" else None,
        "tolerance": 0.1 if kind == "numerical" else None,
        "verified_caption": f"Caption of figure {number % 4458}. " * 4,
        "related_sentences": "A sentence of the report that mentions the figure. " * 3,
        "knowledge_domain": f"domain {number % 18}",
        "asset_class": f"asset {number % 6}",
        "data_class": f"chart {number % 10}",
        "cognitive_level": LEVELS[number % 3],
    }


def reply(gold: str, draw: random.Random) -> str:
    """A reasoned reply that is right in about half of all cases, and now and then no reply at all."""
    kind = draw.random()
    if kind < 0.02:
        return draw.choice(["", "I'm sorry, but I can't read this chart."])
    reasoning = " ".join(draw.choice(STEPS) for _ in range(draw.randint(5, 25)))
    return f"{reasoning}\nAnswer: {gold if kind < 0.5 else draw.choice(['A', 'B, C', '12.5', '3'])}"


def write_run(folder: Path, model: str, items: int, seed: int) -> Path:
    """Write a run of `items` items and return its sample file."""
    draw = random.Random(seed)
    rows = random.Random(0)
    target = folder / model
    target.mkdir(parents=True)
    signature = "task:finmme|version:1|data:finmme/train@0123456789ab|prompt:finmme@01234567|image:last/as-is|errata:no"
    path = target / f"{DATE}_samples_finmme_finscore.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for number in range(items):
            doc = row(number, rows)
            text = VARIANTS["default"].doc_to_text(doc)
            response = reply(doc["answer"], draw)
            figures = as_metrics(record(doc, response, signature))
            line = {
                "doc_id": number,
                "target": doc["answer"],
                "filtered_resps": response,
                **figures,
                "input": text,
            }
            file.write(json.dumps(line, ensure_ascii=False) + "\n")
    results = {"results": {}, "model_name": model, "config": {"model": "synthetic"}, "date": DATE}
    (target / f"{DATE}_results.json").write_text(json.dumps(results), encoding="utf-8")
    return path


def measured(*arguments: str) -> tuple[float, float]:
    """Wall time in seconds and peak memory in MiB of the command, imports included."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "lmms_eval_finance.cli", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def rescoring(path: Path) -> None:
    """Score one run again in this process, after the imports."""
    from lmms_eval_finance.report.summary import TaskSummary
    from lmms_eval_finance.runs.read import open_run
    from lmms_eval_finance.runs.rescore import scored_again, without_collections

    start = time.perf_counter()
    lines = path.read_bytes().splitlines()
    for line in lines:
        json.loads(line)
    reading = time.perf_counter() - start
    with without_collections():  # as the command does
        start = time.perf_counter()
        found = list(scored_again(open_run(path)))
        scored = time.perf_counter() - start
        summary = TaskSummary.of("finmme_finscore", [one for again in found for one in again.records])
        total = time.perf_counter() - start
    print(f"json.loads over {len(lines):,} lines ({path.stat().st_size / 2**20:.0f} MiB): {reading:.2f} s")
    print(
        f"scored again: {scored:.2f} s; with {len(summary.figures)} figures and their intervals: {total:.2f} s"
    )
    print(f"ratio to json.loads: {total / reading:.1f}")


def main() -> None:
    """Run all measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=11_099)
    parser.add_argument("--report-items", type=int, default=12_000)
    parser.add_argument("--folder", type=Path, help="keep the runs and the report here")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.folder or Path(scratch)
        path = write_run(folder / "out", "model-a", args.items, seed=1)
        rescoring(path)
        seconds, peak = measured("rescore", str(path))
        print(f"the command rescore, imports included: {seconds:.1f} s, {peak:.0f} MiB")
        path = write_run(folder / "large", "model-a", args.report_items, seed=1)
        seconds, peak = measured("report", str(path), "-o", str(folder / "report"))
        size = (folder / "report" / "index.html").stat().st_size / 2**20
        print(
            f"report over {args.report_items:,} items: {seconds:.1f} s, {peak:.0f} MiB; the page: {size:.1f} MiB"
        )


if __name__ == "__main__":
    main()
