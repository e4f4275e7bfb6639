"""Grouping FAMMA's rows into contexts, beside `Dataset.map` that returns the images.

``python benchmarks/famma.py [--contexts 100]``: seconds of both in the same run and their ratio.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import time
from collections.abc import Callable
from typing import Any

import datasets
import numpy as np
from PIL import Image

from lmms_eval_finance.data.schemas.famma import IMAGES
from lmms_eval_finance.tasks.famma.rows import contexts, questions_of


def picture(number: int) -> dict[str, Any]:
    noise = np.random.default_rng(number).integers(0, 255, (16, 16, 3), dtype=np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(noise).resize((512, 512), Image.Resampling.NEAREST).save(buffer, "PNG")
    return {"bytes": buffer.getvalue(), "path": None}


def rows(count: int) -> datasets.Dataset:
    """Contexts of two questions that carry the same two images each."""
    found = []
    for main in range(count):
        shared = {"image_1": picture(2 * main), "image_2": picture(2 * main + 1)}
        found += [
            {
                "question_id": f"english_{main}_{sub}_r",
                "context": "See <image_1>.",
                "question": "How much in <image_2>?",
                "options": [],
                "answers": "5",
                "question_type": "open question",
                "language": "english",
                "main_question_id": main,
                "sub_question_id": sub,
                **{name: shared.get(name) for name in IMAGES},
            }
            for sub in (1, 2)
        ]
    texts = {
        name: datasets.Value("int64" if name.endswith("_id") and name != "question_id" else "string")
        for name in found[0]
        if name not in IMAGES
    }
    features = {
        **texts,
        "options": datasets.Sequence(datasets.Value("string")),
        **dict.fromkeys(IMAGES, datasets.Image()),
    }
    return datasets.Dataset.from_list(found, features=datasets.Features(features))


def mapped(table: datasets.Dataset) -> datasets.Dataset:
    """The obvious way: pairs of rows in a batch become one that holds their images."""

    def joined(batch: dict[str, list[Any]]) -> dict[str, list[Any]]:
        return {
            "id": batch["question_id"][:1],
            "questions": [json.dumps(batch["question"])],
            "images": [[batch[name][0] for name in IMAGES if batch[name][0] is not None]],
        }

    return table.map(joined, batched=True, batch_size=2, remove_columns=table.column_names)


def seconds(work: Callable[[datasets.Dataset], datasets.Dataset], table: datasets.Dataset) -> float:
    started = time.perf_counter()
    grouped = work(table)
    taken = time.perf_counter() - started
    assert len(grouped) == len(table) // 2
    assert len(grouped[0]["images"]) == 2
    return taken


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--contexts", type=int, default=100)
    count = parser.parse_args().contexts
    os.environ["LMMS_EVAL_FINANCE_DATA"] = "sample"
    datasets.disable_progress_bars()
    datasets.disable_caching()
    table = rows(count)
    assert len(questions_of(contexts(table)[0])) == 2
    ours, theirs = seconds(contexts, table), seconds(mapped, table)
    print(
        f"{count} contexts, {4 * count} images of 512 px: grouped {ours:.2f} s, `map` with images {theirs:.2f} s, "
        f"ratio {theirs / ours:.1f}"
    )


if __name__ == "__main__":
    main()
