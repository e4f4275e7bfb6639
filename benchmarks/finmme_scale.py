"""FinMME at its full size, beside a bare task of the host on the same rows.

    python benchmarks/finmme_scale.py [--rows 11099] [--images 4458]

Builds rows over images in a scratch folder, runs the host with ``--model dummy`` once
per task, and prints wall time and peak memory of both with their ratios; then the rate
of reading, scoring and aggregating in one process.
"""

from __future__ import annotations

import argparse
import io
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import datasets
import numpy as np
from PIL import Image

BARE_YAML = """task: bare_exact_match
dataset_path: parquet
dataset_kwargs:
  data_files:
    train: {files}
test_split: train
output_type: generate_until
doc_to_visual: !function utils.doc_to_visual
doc_to_text: !function utils.doc_to_text
doc_to_target: answer
generation_kwargs:
  max_new_tokens: 16
  until: []
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
"""
BARE_UTILS = """def doc_to_visual(doc):
    return [doc["image"].convert("RGB")]


def doc_to_text(doc):
    return doc["question_text"]
"""
TYPES = ("single_choice", "multiple_choice", "numerical")
LEVELS = ("comprehensive understanding", "fine-grained perception", "analysis and reasoning")


def rows(count: int, images: int) -> datasets.Dataset:
    """Rows in FinMME's schema; several questions share an image, as there."""
    draw = random.Random(0)
    noise = np.random.default_rng(0)
    pictures = []
    for _ in range(images):
        buffer = io.BytesIO()
        Image.fromarray(noise.integers(0, 256, (24, 32, 3), dtype=np.uint8)).resize((640, 480)).save(
            buffer, "JPEG"
        )
        pictures.append({"bytes": buffer.getvalue(), "path": None})
    made = []
    for number in range(count):
        kind = TYPES[number % 3]
        gold = {"single_choice": draw.choice("ABCD"), "numerical": f"{draw.random() * 100:.2f}"}.get(
            kind, ",".join(sorted(draw.sample("ABCDE", 2)))
        )
        made.append(
            {
                "id": number,
                "image": pictures[number % images],
                "question_text": f"Question {number} about the figure?",
                "question_type": kind,
                "options": None
                if kind == "numerical"
                else "\n".join(f"{letter}: option {letter} of {number}" for letter in "ABCDE"),
                "answer": gold,
                "unit": "%" if kind == "numerical" else None,
                "tolerance": 0.1 if kind == "numerical" else None,
                "verified_caption": f"Caption of figure {number % images}. " * 4,
                "related_sentences": "A sentence of the report that mentions the figure. " * 3,
                "knowledge_domain": f"domain {number % 18}",
                "cognitive_level": LEVELS[number % len(LEVELS)],
            }
        )
    features = datasets.Features(
        {
            "id": datasets.Value("int64"),
            "image": datasets.Image(),
            "tolerance": datasets.Value("float64"),
            **{
                name: datasets.Value("string") for name in made[0] if name not in ("id", "image", "tolerance")
            },
        }
    )
    return datasets.Dataset.from_list(made, features=features)


def run_host(folder: Path, task: str, environment: dict[str, str], *extra: str) -> tuple[float, float]:
    """Wall time in seconds and peak memory in MiB of one run of the host."""
    code = (
        "import resource, subprocess, sys, time\n"
        "start = time.perf_counter()\n"
        "done = subprocess.run(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)\n"
        "wall = time.perf_counter() - start\n"
        "peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024\n"
        "assert f'|{sys.argv[-1]}' in done.stdout.replace(' ', ''), done.stdout[-3000:]\n"
        "print(wall, peak)"
    )
    host = Path(sys.executable).parent / "lmms-eval"
    command = [
        host,
        "--model",
        "dummy",
        "--model_args",
        "response=Answer: A",
        "--output_path",
        "out",
        "--log_samples",
    ]
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, command), *extra, "--tasks", task],
        cwd=folder,
        env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hf"), **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    wall, peak = map(float, done.stdout.split())
    return wall, peak


def scoring_rate(table: datasets.Dataset) -> float:
    """Rows read, scored and aggregated to every composite metric a second of processor time, in this process."""
    from lmms_eval_finance.tasks.finmme import utils

    docs = list(table.remove_columns("image"))
    utils.VARIANTS["default"].signature()  # hashes the rows, once a run, when the host loads them
    start = time.process_time()
    figures = [
        utils.process_results__default(doc, [f"The figure shows it.\nAnswer: {doc['answer']}"])
        for doc in docs
    ]
    for name in ("accuracy", *utils.COMPOSITES):
        aggregate = utils.accuracy if name == "accuracy" else getattr(utils, f"agg_{name}")
        aggregate([figure[name] for figure in figures])
    return len(docs) / (time.process_time() - start)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=11099)
    parser.add_argument("--images", type=int, default=4458)
    parser.add_argument("--repeat", type=int, default=2, help="runs of each; the best counts")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "data/finmme").mkdir(parents=True)
        (folder / "bare").mkdir()
        table = rows(args.rows, args.images)
        file = folder / "data/finmme/train.parquet"
        table.to_parquet(str(file))
        (folder / "bare/bare.yaml").write_text(BARE_YAML.format(files=file))
        (folder / "bare/utils.py").write_text(BARE_UTILS)
        data = {"LMMS_EVAL_FINANCE_DATA": str(folder / "data")}
        ours, bare = [], []
        for _ in range(args.repeat):
            bare.append(run_host(folder, "bare_exact_match", {}, "--include_path", str(folder / "bare")))
            ours.append(run_host(folder, "finmme_finscore", data))
        (our_wall, our_peak), (bare_wall, bare_peak) = (
            (min(wall for wall, _ in runs), min(peak for _, peak in runs)) for runs in (ours, bare)
        )
        print(f"{args.rows} rows over {args.images} images, best of {args.repeat}")
        print(f"finmme_finscore   {our_wall:6.1f} s  {our_peak:7.0f} MiB")
        print(f"bare exact_match  {bare_wall:6.1f} s  {bare_peak:7.0f} MiB")
        print(f"ratio             {our_wall / bare_wall:6.2f}    {our_peak / bare_peak:7.2f}")
        os.environ |= data
        print(f"read, score and aggregate: {scoring_rate(table):,.0f} rows a second on one core")


if __name__ == "__main__":
    main()
