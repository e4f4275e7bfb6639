"""COCO's average precision for boxes without confidences, made independent of list order.

For comparison with published figures. The engine is faster-coco-eval, which agrees with
pycocotools to the last digit. All boxes get the same confidence, and COCO then ranks by
list order; so images and boxes are put into one canonical order first. Two things that
COCO would let pass are closed: an invalid box enters as a small box outside the image,
which counts as a false positive (COCO ignores a negative area). Kept as they are in COCO:
the cut at 100 boxes per image and class, and that boxes of a class without gold are free.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lmms_eval_finance.metrics.detection.boxes import Box

_NOWHERE = (-1e6, -1e6, -1e6 + 1, -1e6 + 1)

Rows = tuple[tuple[str, tuple[float, float, float, float]], ...]


def coco_average_precision(
    images: Sequence[tuple[Sequence[Box], Sequence[Box]]],
) -> tuple[dict[str, float], dict[str, float]]:
    """AP per class, as the mean over the IoU thresholds and at IoU .5.

    Args:
        images: gold and predicted boxes of each image, labels canonical, gold boxes valid;
            at least one gold box in all.

    Returns:
        Two mappings from class to AP in [0, 1], over the classes with gold boxes.

    >>> box = Box((0, 0, 10, 10), "company")
    >>> coco_average_precision([([box], [box]), ([box], [])])
    ({'company': 0.504...}, {'company': 0.504...})
    """
    from faster_coco_eval import COCO, COCOeval_faster

    ordered = sorted((_rows(gold), _rows(pred)) for gold, pred in images)
    classes = sorted({label for gold, _ in ordered for label, _ in gold})
    category = {label: i for i, label in enumerate(classes, start=1)}
    truth: list[dict[str, Any]] = []
    claims: list[tuple[float, ...]] = []
    for image, (gold, pred) in enumerate(ordered, start=1):
        for label, (left, top, right, bottom) in gold:
            width, height = right - left, bottom - top
            truth.append(
                {
                    "id": len(truth) + 1,
                    "image_id": image,
                    "category_id": category[label],
                    "bbox": [left, top, width, height],
                    "area": min(width * height, 1e9),  # COCO drops gold boxes above 1e10
                    "iscrowd": 0,
                }
            )
        for label, (left, top, right, bottom) in pred:
            if label in category:
                claims.append((image, left, top, right - left, bottom - top, 1.0, category[label]))
    if not claims:
        return dict.fromkeys(classes, 0.0), dict.fromkeys(classes, 0.0)
    annotations = COCO(
        {
            "images": [{"id": image} for image in range(1, len(ordered) + 1)],
            "categories": [{"id": category[label], "name": label} for label in classes],
            "annotations": truth,
        }
    )
    evaluation = COCOeval_faster(annotations, annotations.loadRes(np.array(claims)), "bbox")
    evaluation.evaluate()
    evaluation.accumulate()
    # precision: (thresholds, recall points, classes, area ranges, detection limits)
    precision = evaluation.eval["precision"][:, :, :, 0, -1]
    return _means(classes, precision), _means(classes, precision[:1])


def _rows(boxes: Sequence[Box]) -> Rows:
    return tuple(sorted((box.label or "", box.xyxy if box.valid else _NOWHERE) for box in boxes))


def _means(classes: Sequence[str], precision: Any) -> dict[str, float]:
    return {label: float(precision[:, :, i].mean()) for i, label in enumerate(classes)}
