"""Coverage-guided fuzzing of the box parser and the detection scores (needs `pip install atheris`).

    python benchmarks/fuzz/fuzz_boxes.py [-max_total_time=300] [CORPUS_FOLDER]

Arguments go to libFuzzer; by default no input may take 5 s or 1 GB. A finding is an exception,
a limit, or a broken promise: a score outside [0, 1], or one that a shuffle changes.
"""

from __future__ import annotations

import random
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["lmms_eval_finance.metrics"]):
    from lmms_eval_finance.metrics.detection import CONVENTIONS, Box, parse_boxes, seal_map

GOLD = [Box((10, 20, 110, 220), "company"), Box((300, 40, 380, 120), "personal")]
SEEDS = [
    '[{"bbox_2d": [10, 20, 110, 220], "label": "company"}]',
    "<ref>公司章</ref><box>(10,20),(110,220)</box>",
    "<|box_start|>(10,20),(110,220)<|box_end|>",
    '{"company": [[10,20,110,220]], "personal": {"x": 1, "y": 2, "width": 3, "height": 4}}',
    "<think>no</think>```json\n[[10,20,110,220],[300,40",
    "The seal is at (10, 20) to (110, 220). Final answer: x1=10, y1=20, x2=110, y2=220",
    "| company | 10 | 20 | 110 | 220 |",
]


def one_input(data: bytes) -> None:
    convention = CONVENTIONS[data[0] % len(CONVENTIONS) if data else 0]
    text = data[1:].decode("utf-8", "replace")
    boxes = parse_boxes(text, image_size=(640, 480), model_image_size=(1000, 700), convention=convention)
    scores = seal_map([GOLD, []], [boxes, boxes[::2]])
    assert 0 <= (scores.map or 0) <= 1, scores
    assert -1e-9 <= (scores.coco_map or 0) <= 1 + 1e-9, scores
    shuffled = random.Random(0).sample(boxes, len(boxes))
    assert seal_map([GOLD[::-1], []], [shuffled, boxes[::2][::-1]]) == scores


def main() -> None:
    limits = ["-timeout=5", "-rss_limit_mb=1024", "-max_len=20000"]
    seeds = Path(tempfile.mkdtemp())
    for number, seed in enumerate(SEEDS):
        (seeds / str(number)).write_bytes(b"\0" + seed.encode())
    atheris.Setup([sys.argv[0], *limits, *sys.argv[1:], str(seeds)], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
