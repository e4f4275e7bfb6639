"""Detection scores for boxes without confidences: the same from any order of boxes and images.

COCO's average precision ranks detections by confidence. The boxes of a language model
have none, and with equal confidences COCO's engines fall back on list order: the same
answers give another score after a shuffle. Here all detections of a class are one tie
group, as for a ranking whose confidences are all equal: each IoU threshold has a single
operating point, and

    AP = precision x (share of the 101 recall points 0, .01, ..., 1 that the recall reaches),

true positives being a maximum one-to-one matching per image and class. The mean runs
over the ten thresholds .5, .55, ..., .95 and over the classes that have gold boxes.

What a claim costs, also where COCO lets it pass:

- an invalid box (reversed, empty, not finite, incomplete) is a false positive of its class;
- a stray box (no label, or a class without gold) is a false positive of every class;
- a gold box without area cannot be found by anybody: it leaves the gold, together with
  a prediction that repeats it, and is counted;
- no gold and no prediction is right (1), no gold and some prediction wrong (0), and
  without images there is no score (None).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import fsum

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from lmms_eval_finance.metrics.detection.boxes import Box
from lmms_eval_finance.metrics.detection.coco import coco_average_precision
from lmms_eval_finance.metrics.detection.labels import canonical_label

# Quotients, not running sums: an IoU of exactly 11/20 reaches .55.
THRESHOLDS = tuple(step / 20 for step in range(10, 20))
_CELLS_AT_ONCE = 1_000_000


@dataclass(frozen=True)
class MatchCounts:
    """What the score of one or more images is computed from; counts of images add up.

    Attributes:
        images: number of images.
        gold: usable gold boxes per class.
        predicted: predicted boxes per class, invalid ones included; "" stands for no label.
        matched: true positives per class, one count for each of `THRESHOLDS`.
        invalid: predicted boxes that are no box.
        unusable_gold: gold boxes that are no box, left out of `gold`.
    """

    images: int = 0
    gold: Mapping[str, int] = field(default_factory=dict)
    predicted: Mapping[str, int] = field(default_factory=dict)
    matched: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    invalid: int = 0
    unusable_gold: int = 0

    def to_parts(self) -> dict[str, float]:
        """The counts as flat numbers, for `Record.parts`.

        >>> counts = count_matches([Box((0, 0, 10, 10), "company")], [Box((0, 0, 10, 9), "company")])
        >>> MatchCounts.from_parts(counts.to_parts()) == counts
        True
        """
        parts: dict[str, float] = {
            "images": self.images,
            "invalid": self.invalid,
            "unusable_gold": self.unusable_gold,
        }
        parts.update({f"gold:{name}": count for name, count in self.gold.items()})
        parts.update({f"predicted:{name}": count for name, count in self.predicted.items()})
        for name, counts in self.matched.items():
            parts.update({f"matched{i}:{name}": count for i, count in enumerate(counts)})
        return parts

    @classmethod
    def from_parts(cls, parts: Mapping[str, float]) -> MatchCounts:
        """Read `to_parts` back; other entries are ignored."""
        gold: dict[str, int] = {}
        predicted: dict[str, int] = {}
        matched: dict[str, list[int]] = {}
        for key, value in parts.items():
            kind, colon, name = key.partition(":")
            if not colon:
                continue
            if kind == "gold":
                gold[name] = int(value)
            elif kind == "predicted":
                predicted[name] = int(value)
            elif kind.startswith("matched"):
                matched.setdefault(name, [0] * len(THRESHOLDS))[int(kind[len("matched") :])] = int(value)
        return cls(
            images=int(parts.get("images", 0)),
            gold=gold,
            predicted=predicted,
            matched={name: tuple(counts) for name, counts in matched.items()},
            invalid=int(parts.get("invalid", 0)),
            unusable_gold=int(parts.get("unusable_gold", 0)),
        )


@dataclass(frozen=True)
class SealScores:
    """Detection scores; each lies in [0, 1] and is 1 for a perfect answer. None without images.

    Attributes:
        map: order-free mAP, the mean of `ap`.
        map50: the same at IoU .5 alone.
        map75: the same at IoU .75 alone.
        ap: order-free AP per class with gold, the mean over `THRESHOLDS`.
        f1_50: F1 over the boxes of all classes at IoU .5.
        precision_50: the precision in it; 1 where nothing is predicted and nothing is gold.
        recall_50: the recall in it; 1 where nothing is gold.
        f1: mean F1 over `THRESHOLDS`.
        coco_map: COCO's mAP in canonical order (see `coco_average_precision`).
        coco_map50: the same at IoU .5 alone.
        coco_ap: COCO's AP per class with gold.
        counts: what they are computed from.
        stray: predicted boxes without a label or of a class without gold.
    """

    map: float | None
    map50: float | None
    map75: float | None
    ap: Mapping[str, float]
    f1_50: float | None
    precision_50: float | None
    recall_50: float | None
    f1: float | None
    counts: MatchCounts
    stray: int
    coco_map: float | None = None
    coco_map50: float | None = None
    coco_ap: Mapping[str, float] = field(default_factory=dict)


def seal_map(gold: Sequence[Sequence[Box]], pred: Sequence[Sequence[Box]]) -> SealScores:
    """Score the predicted boxes of a set of images.

    Args:
        gold: the gold boxes of each image, in pixels.
        pred: the predicted boxes of each image in the same order, in pixels of the same
            image (`parse_boxes`). Labels are mapped by `canonical_label` on both sides.

    Raises:
        ValueError: the two differ in length.

    >>> gold = [[Box((0, 0, 100, 100), "company"), Box((200, 0, 300, 100), "personal")]]
    >>> pred = [[Box((0, 0, 100, 100), "公司章"), Box((0, 0, 100, 90), "公司章")]]
    >>> scores = seal_map(gold, pred)
    >>> scores.map, dict(scores.ap), scores.f1_50
    (0.25, {'company': 0.5, 'personal': 0.0}, 0.5)
    """
    if len(gold) != len(pred):
        raise ValueError(f"{len(gold)} images with gold boxes but {len(pred)} with predicted ones")
    images = [_prepared(*image) for image in zip(gold, pred, strict=True)]
    scores = scores_from_counts(_count(image) for image in images)
    if scores.map is None or not scores.ap:
        return replace(scores, coco_map=scores.map, coco_map50=scores.map50)
    ap, ap50 = coco_average_precision([(image.gold, image.predicted) for image in images])
    return replace(
        scores,
        coco_map=fsum(ap.values()) / len(ap),
        coco_map50=fsum(ap50.values()) / len(ap50),
        coco_ap=ap,
    )


def count_matches(gold: Iterable[Box], pred: Iterable[Box]) -> MatchCounts:
    """Count the boxes and matches of one image."""
    return _count(_prepared(gold, pred))


def scores_from_counts(counts: Iterable[MatchCounts]) -> SealScores:
    """The order-free scores of a set of images from their counts, without COCO's values.

    Cheap enough for resampling: images are matched once, then only added.
    """
    total = _summed(counts)
    classes = sorted(name for name, count in total.gold.items() if count)
    stray = sum(count for name, count in total.predicted.items() if not total.gold.get(name))
    gold = sum(total.gold.values())
    predicted = sum(total.predicted.values())
    hits = [sum(counts[i] for counts in total.matched.values()) for i in range(len(THRESHOLDS))]
    if not total.images:
        return SealScores(None, None, None, {}, None, None, None, None, total, stray)
    if not classes:
        value = 0.0 if predicted else 1.0
        return SealScores(value, value, value, {}, value, value, 1.0, value, total, stray)

    def average_precision(name: str, i: int) -> float:
        claimed = total.predicted.get(name, 0) + stray
        matched = total.matched[name][i]
        if not matched:
            return 0.0
        reached = 100 * matched // total.gold[name] + 1
        return matched / claimed * reached / 101

    curves = {name: [average_precision(name, i) for i in range(len(THRESHOLDS))] for name in classes}
    ap = {name: fsum(curve) / len(curve) for name, curve in curves.items()}
    at = THRESHOLDS.index
    return SealScores(
        map=fsum(ap.values()) / len(ap),
        map50=fsum(curve[at(0.5)] for curve in curves.values()) / len(curves),
        map75=fsum(curve[at(0.75)] for curve in curves.values()) / len(curves),
        ap=ap,
        f1_50=2 * hits[0] / (gold + predicted),
        precision_50=hits[0] / predicted if predicted else 0.0,
        recall_50=hits[0] / gold,
        f1=fsum(2 * hit / (gold + predicted) for hit in hits) / len(hits),
        counts=total,
        stray=stray,
    )


def _summed(counts: Iterable[MatchCounts]) -> MatchCounts:
    images = invalid = unusable = 0
    gold: Counter[str] = Counter()
    predicted: Counter[str] = Counter()
    matched: dict[str, list[int]] = {}
    for part in counts:
        images += part.images
        invalid += part.invalid
        unusable += part.unusable_gold
        gold.update(part.gold)
        predicted.update(part.predicted)
        for name, hits in part.matched.items():
            so_far = matched.setdefault(name, [0] * len(THRESHOLDS))
            for i, hit in enumerate(hits):
                so_far[i] += hit
    return MatchCounts(
        images, gold, predicted, {name: tuple(matched[name]) for name in matched}, invalid, unusable
    )


@dataclass(frozen=True)
class _Image:
    """The boxes of one image under their canonical labels, gold ones all usable."""

    gold: list[Box]
    predicted: list[Box]
    unusable_gold: int


def _prepared(gold: Iterable[Box], pred: Iterable[Box]) -> _Image:
    gold, pred = [_canonical(box) for box in gold], [_canonical(box) for box in pred]
    usable = [box for box in gold if box.valid]
    unusable = len(gold) - len(usable)
    if unusable:
        # compared as text, since NaN does not equal itself
        repeated = Counter(repr(box) for box in gold if not box.valid)
        kept = []
        for box in pred:
            if repeated[repr(box)]:
                repeated[repr(box)] -= 1
            else:
                kept.append(box)
        pred = kept
    return _Image(usable, pred, unusable)


def _canonical(box: Box) -> Box:
    left, top, right, bottom = box.xyxy
    return Box((float(left), float(top), float(right), float(bottom)), canonical_label(box.label) or "")


def _count(image: _Image) -> MatchCounts:
    gold = Counter(box.label or "" for box in image.gold)
    predicted = Counter(box.label or "" for box in image.predicted)
    valid = [box for box in image.predicted if box.valid]
    matched = {name: [0] * len(THRESHOLDS) for name in gold}
    rows, columns, overlaps = _candidates(image.gold, valid)
    if len(rows):
        ambiguous = np.bincount(rows).max() > 1 or np.bincount(columns).max() > 1
        for i, threshold in enumerate(THRESHOLDS):
            chosen = overlaps >= threshold
            hits = _matching(rows[chosen], columns[chosen]) if ambiguous else rows[chosen]
            for row in hits.tolist():
                matched[image.gold[row].label or ""][i] += 1
    return MatchCounts(
        images=1,
        gold=dict(gold),
        predicted=dict(predicted),
        matched={name: tuple(hits) for name, hits in matched.items()},
        invalid=len(image.predicted) - len(valid),
        unusable_gold=image.unusable_gold,
    )


Integers = npt.NDArray[np.intp]
Floats = npt.NDArray[np.float64]


def _candidates(gold: list[Box], pred: list[Box]) -> tuple[Integers, Integers, Floats]:
    """Row, column and IoU of all pairs of one class that overlap enough for the lowest threshold."""
    if not gold or not pred:
        return np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0)
    ids = {box.label: i for i, box in enumerate(pred)}
    pred_boxes, pred_ids = np.array([box.xyxy for box in pred]), np.array([ids[box.label] for box in pred])
    gold_boxes = np.array([box.xyxy for box in gold])
    gold_ids = np.array([ids.get(box.label, -1) for box in gold])
    step = max(1, _CELLS_AT_ONCE // len(pred))
    rows, columns, overlaps = [], [], []
    for start in range(0, len(gold), step):
        overlap = intersection_over_union(gold_boxes[start : start + step], pred_boxes)
        same = gold_ids[start : start + step, None] == pred_ids[None, :]
        row, column = np.nonzero(same & (overlap >= THRESHOLDS[0]))
        rows.append(row + start)
        columns.append(column)
        overlaps.append(overlap[row, column])
    return np.concatenate(rows), np.concatenate(columns), np.concatenate(overlaps)


def intersection_over_union(first: Floats, second: Floats) -> Floats:
    """IoU of every pair of two lists of valid boxes, shapes (n, 4) and (m, 4), as (n, m)."""
    low = np.maximum(first[:, None, :2], second[None, :, :2])
    high = np.minimum(first[:, None, 2:], second[None, :, 2:])
    sides = np.clip(high - low, 0.0, None)
    shared = sides[..., 0] * sides[..., 1]
    first_area = (first[:, 2] - first[:, 0]) * (first[:, 3] - first[:, 1])
    second_area = (second[:, 2] - second[:, 0]) * (second[:, 3] - second[:, 1])
    with np.errstate(over="ignore"):
        union = first_area[:, None] + second_area[None, :] - shared
    overlap: Floats = shared / union
    return overlap


def _matching(rows: Integers, columns: Integers) -> Integers:
    """The rows that a maximum one-to-one matching of these edges covers (Hopcroft and Karp 1973)."""
    if not len(rows):
        return rows
    graph = csr_array((np.ones(len(rows), np.int8), (rows, columns)))
    partner = maximum_bipartite_matching(graph, perm_type="column")
    covered: Integers = np.nonzero(partner >= 0)[0]
    return covered
