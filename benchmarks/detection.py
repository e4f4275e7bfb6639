"""Detection scores and box reading: time against pycocotools in the same run, and what list order does.

    python benchmarks/detection.py [--images 756] [--repeats 5]

Synthetic pages with one to three seals, predictions near them, misses and false alarms. Each
time is the best of the repeats. `pycocotools` is the reference COCO engine; it is given the
same boxes in list order, as harnesses do.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import random
import time
from collections.abc import Callable

from lmms_eval_finance.metrics.detection import Box, count_matches, parse_boxes, scores_from_counts, seal_map

Images = list[list[Box]]
CATEGORY = {"company": 1, "personal": 2}


def pages(count: int, generator: random.Random) -> tuple[Images, Images]:
    def seal() -> Box:
        x, y, side = generator.randint(0, 800), generator.randint(0, 1100), generator.randint(60, 220)
        return Box((x, y, x + side, y + side), generator.choice(list(CATEGORY)))

    def shaken(box: Box) -> Box:
        left, top, right, bottom = (edge + generator.gauss(0, 9) for edge in box.xyxy)
        return Box((left, top, right, bottom), box.label)

    gold = [[seal() for _ in range(generator.randint(1, 3))] for _ in range(count)]
    pred = [
        [shaken(box) for box in boxes if generator.random() < 0.75]
        + [seal() for _ in range(generator.random() < 0.4)]
        for boxes in gold
    ]
    return gold, pred


def pycocotools_map(gold: Images, pred: Images) -> float:
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    def rows(images: Images) -> list[dict[str, object]]:
        flat = [(image, box) for image, boxes in enumerate(images, start=1) for box in boxes]
        return [
            {
                "id": i,
                "image_id": image,
                "category_id": CATEGORY[box.label or ""],
                "iscrowd": 0,
                "score": 1.0,
                "bbox": [*box.xyxy[:2], box.xyxy[2] - box.xyxy[0], box.xyxy[3] - box.xyxy[1]],
                "area": (box.xyxy[2] - box.xyxy[0]) * (box.xyxy[3] - box.xyxy[1]),
            }
            for i, (image, box) in enumerate(flat, start=1)
        ]

    with contextlib.redirect_stdout(io.StringIO()):
        truth = COCO()
        truth.dataset = {
            "images": [{"id": i + 1} for i in range(len(gold))],
            "categories": [{"id": i, "name": name} for name, i in CATEGORY.items()],
            "annotations": rows(gold),
        }
        truth.createIndex()
        evaluation = COCOeval(truth, truth.loadRes(rows(pred)), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return float(evaluation.stats[0])


def best(repeats: int, function: Callable[[], object]) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--images", type=int, default=756)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    gold, pred = pages(args.images, random.Random(0))
    counts = [count_matches(*image) for image in zip(gold, pred, strict=True)]
    answers = [
        json.dumps([{"bbox_2d": [round(edge) for edge in box.xyxy], "label": box.label} for box in boxes])
        for boxes in pred
    ]

    reference = best(args.repeats, lambda: pycocotools_map(gold, pred))
    whole = best(args.repeats, lambda: seal_map(gold, pred))
    print(f"{args.images} images, {sum(map(len, gold))} gold and {sum(map(len, pred))} predicted boxes")
    print(f"pycocotools, COCO values alone         {reference * 1000:8.1f} ms")
    print(
        f"seal_map, order-free and COCO values   {whole * 1000:8.1f} ms   {reference / whole:.1f} times as fast"
    )
    alone = best(args.repeats, lambda: [count_matches(*image) for image in zip(gold, pred, strict=True)])
    print(
        f"count_matches, order-free counts alone {alone * 1000:8.1f} ms   {reference / alone:.1f} times as fast"
    )
    print(
        f"scores_from_counts, one resample       {best(args.repeats, lambda: scores_from_counts(counts)) * 1000:8.1f} ms"
    )
    reading = best(
        args.repeats,
        lambda: [parse_boxes(text, image_size=(1000, 1400), convention="absolute") for text in answers],
    )
    print(f"parse_boxes, all answers               {reading * 1000:8.1f} ms")

    seen, ours = [], set()
    for seed in range(20):
        order = random.Random(seed)
        pairs = list(zip(gold, pred, strict=True))
        order.shuffle(pairs)
        shuffled = [order.sample(boxes, len(boxes)) for _, boxes in pairs]
        seen.append(pycocotools_map([boxes for boxes, _ in pairs], shuffled))
        scores = seal_map([boxes for boxes, _ in pairs], shuffled)
        ours.add((scores.map, scores.coco_map))
    print(f"mAP over 20 shuffles: pycocotools {min(seen):.4f} to {max(seen):.4f}")
    print("  ours (order-free, COCO in canonical order): " + ", ".join(f"{a:.4f}, {b:.4f}" for a, b in ours))


if __name__ == "__main__":
    main()
