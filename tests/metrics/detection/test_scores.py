from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmms_eval_finance.metrics.detection import (
    THRESHOLDS,
    Box,
    MatchCounts,
    canonical_label,
    count_matches,
    scores_from_counts,
    seal_map,
)
from lmms_eval_finance.metrics.detection.scores import intersection_over_union

NAN, INF = math.nan, math.inf
Images = list[list[Box]]

RIGHT = Box((0, 0, 100, 100), "company")
WRONG = Box((500, 500, 600, 600), "company")


# --- a naive scorer, straight from the definition, in exact fractions


def exact_iou(a: Box, b: Box) -> Fraction:
    (ax, ay, bx, by), (cx, cy, dx, dy) = ([Fraction(edge) for edge in box.xyxy] for box in (a, b))
    shared = max(min(bx, dx) - max(ax, cx), Fraction(0)) * max(min(by, dy) - max(ay, cy), Fraction(0))
    return shared / ((bx - ax) * (by - ay) + (dx - cx) * (dy - cy) - shared)


def largest_matching(gold: list[Box], pred: list[Box], threshold: Fraction) -> int:
    few, many = sorted((gold, pred), key=len)
    return max(
        (
            sum(exact_iou(a, b) >= threshold for a, b in zip(few, chosen, strict=True))
            for chosen in permutations(many, len(few))
        ),
        default=0,
    )


def naive(gold: Images, pred: Images) -> tuple[dict[str, Fraction], list[Fraction]]:
    """AP per class, and F1 per threshold."""
    classes = sorted({box.label or "" for boxes in gold for box in boxes})
    everything = sum(map(len, pred))
    stray = sum(1 for boxes in pred for box in boxes if (box.label or "") not in classes)
    tens = [Fraction(step, 20) for step in range(10, 20)]
    ap: dict[str, list[Fraction]] = {name: [] for name in classes}
    f1 = []
    for threshold in tens:
        found = 0
        for name in classes:
            g = [[box for box in boxes if box.label == name] for boxes in gold]
            p = [[box for box in boxes if box.label == name] for boxes in pred]
            hits = sum(
                largest_matching(a, [box for box in b if box.valid], threshold)
                for a, b in zip(g, p, strict=True)
            )
            found += hits
            claimed = sum(map(len, p)) + stray
            recall = Fraction(hits, sum(map(len, g)))
            reached = sum(Fraction(point, 100) <= recall for point in range(101))
            ap[name].append(Fraction(hits, claimed) * Fraction(reached, 101) if claimed else Fraction(0))
        f1.append(Fraction(2 * found, sum(map(len, gold)) + everything))
    return {name: sum(values, Fraction(0)) / 10 for name, values in ap.items()}, f1


EDGE = st.integers(0, 12)
LABEL = st.sampled_from(["company", "personal"])


@st.composite
def box(draw: st.DrawFn, valid: bool = True, labels: st.SearchStrategy[str | None] = LABEL) -> Box:
    x, y = draw(EDGE), draw(EDGE)
    low = 1 if valid else -3
    return Box((x, y, x + draw(st.integers(low, 8)), y + draw(st.integers(low, 8))), draw(labels))


IMAGES = st.integers(1, 4).flatmap(
    lambda n: st.tuples(
        st.lists(st.lists(box(), max_size=4), min_size=n, max_size=n),
        st.lists(
            st.lists(box(valid=False, labels=LABEL | st.sampled_from([None, "qr code"])), max_size=4),
            min_size=n,
            max_size=n,
        ),
    )
)


@settings(max_examples=200)
@given(IMAGES)
def test_agrees_with_the_definition(images: tuple[Images, Images]) -> None:
    gold, pred = images
    scores = seal_map(gold, pred)
    if not any(gold):
        assert scores.map == scores.f1 == (0.0 if any(pred) else 1.0)
        return
    ap, f1 = naive(gold, pred)
    assert scores.ap == pytest.approx({name: float(value) for name, value in ap.items()}, abs=1e-12)
    assert scores.map == pytest.approx(float(sum(ap.values(), Fraction(0)) / len(ap)), abs=1e-12)
    assert scores.f1_50 == pytest.approx(float(f1[0]), abs=1e-12)
    assert scores.f1 == pytest.approx(float(sum(f1, Fraction(0)) / 10), abs=1e-12)


@settings(max_examples=100)
@given(IMAGES, st.randoms(use_true_random=False))
def test_no_order_matters(images: tuple[Images, Images], generator: random.Random) -> None:
    gold, pred = images
    pairs = list(zip(gold, pred, strict=True))
    generator.shuffle(pairs)
    shuffled = [
        ([*generator.sample(a, len(a))], [*generator.sample(b, len(b))]) for a, b in pairs
    ]  # fmt: skip
    assert seal_map([a for a, _ in shuffled], [b for _, b in shuffled]) == seal_map(gold, pred)


@settings(max_examples=60)
@given(st.lists(st.lists(box(valid=False), max_size=4), min_size=1, max_size=4))
def test_the_gold_itself_is_perfect(gold: Images) -> None:
    scores = seal_map(gold, gold)
    assert (scores.map, scores.map50, scores.map75, scores.f1, scores.f1_50) == (1, 1, 1, 1, 1)
    assert scores.coco_map == pytest.approx(1)
    assert scores.counts.invalid == 0


@given(IMAGES)
def test_counts_survive_records_and_add_up(images: tuple[Images, Images]) -> None:
    counts = [count_matches(*image) for image in zip(*images, strict=True)]
    back = [MatchCounts.from_parts(part.to_parts()) for part in counts]
    assert back == counts
    whole, summed = seal_map(*images), scores_from_counts(back)
    assert (summed.map, summed.ap, summed.f1, summed.stray) == (whole.map, whole.ap, whole.f1, whole.stray)


# --- listed edge cases


def test_one_right_and_one_wrong_box_in_either_order() -> None:
    for pred in ([RIGHT, WRONG], [WRONG, RIGHT]):
        scores = seal_map([[RIGHT]], [pred])
        assert scores.map == 0.5
        assert scores.f1_50 == pytest.approx(2 / 3)
        assert scores.coco_map in (0.5, 1.0)
        assert scores.coco_map == seal_map([[RIGHT]], [pred[::-1]]).coco_map


@pytest.mark.parametrize(
    "edges",
    [(100, 100, 0, 0), (0, 0, 0, 100), (5, 5, 5, 5), (NAN, 0, 1, 1), (0, 0, INF, 1), (NAN,) * 4, (0, 0, 1e200, 1e200)],
)  # fmt: skip
def test_an_invalid_box_is_a_false_positive_and_counted(edges: tuple[float, float, float, float]) -> None:
    alone = seal_map([[RIGHT]], [[Box(edges, "company")]])
    assert (alone.map, alone.f1, alone.coco_map, alone.counts.invalid) == (0, 0, 0, 1)
    beside = seal_map([[RIGHT]], [[RIGHT, Box(edges, "company")]])
    assert (beside.map, beside.counts.invalid) == (0.5, 1)
    assert beside.f1_50 == pytest.approx(2 / 3)
    elsewhere = seal_map([[RIGHT], []], [[RIGHT], [Box(edges, "company")]])
    assert elsewhere.map == 0.5


def test_a_gold_box_without_area_leaves_with_the_prediction_that_repeats_it() -> None:
    flat = Box((5, 5, 5, 50), "company")
    assert seal_map([[RIGHT, flat]], [[RIGHT]]).map == 1
    assert seal_map([[RIGHT, flat]], [[RIGHT, flat]]).map == 1
    assert seal_map([[RIGHT, flat]], [[RIGHT, flat, flat]]).map == 0.5
    only = seal_map([[flat]], [[]])
    assert (only.map, only.coco_map, only.counts.unusable_gold) == (1, 1, 1)
    assert seal_map([[flat]], [[RIGHT]]).map == 0
    unnumbered = Box((NAN, 0, 1, 1), "company")
    assert seal_map([[unnumbered]], [[unnumbered]]).map == 1


def test_a_class_without_gold_is_no_free_claim() -> None:
    personal = Box((0, 0, 100, 100), "personal")
    scores = seal_map([[RIGHT]], [[RIGHT, personal]])
    assert scores.ap == {"company": 0.5}
    assert (scores.map, scores.stray) == (0.5, 1)
    assert scores.coco_map == 1  # as COCO has it


def test_a_box_without_a_label_counts_against_every_class() -> None:
    other = Box((200, 0, 300, 100), "personal")
    scores = seal_map([[RIGHT, other]], [[RIGHT, other, Box((0, 0, 100, 100))]])
    assert scores.ap == {"company": 0.5, "personal": 0.5}
    assert scores.stray == 1


def test_without_any_labels_boxes_are_one_class() -> None:
    assert seal_map([[Box((0, 0, 9, 9))]], [[Box((0, 0, 9, 9))]]).map == 1


def test_beyond_a_hundred_boxes_nothing_is_cut() -> None:
    many = [Box((1000 + i, 0, 1001 + i, 1), "company") for i in range(200)]
    assert seal_map([[RIGHT]], [[*many, RIGHT]]).map == pytest.approx(1 / 201)


@pytest.mark.parametrize(
    ("gold", "pred", "value"),
    [
        ([], [], None),
        ([[]], [[]], 1.0),
        ([[]], [[RIGHT]], 0.0),
        ([[RIGHT]], [[]], 0.0),
        ([[], [RIGHT]], [[], [RIGHT]], 1.0),
        ([[], [RIGHT]], [[WRONG], [RIGHT]], 0.5),
    ],
)
def test_nothing_has_a_defined_score(gold: Images, pred: Images, value: float | None) -> None:
    scores = seal_map(gold, pred)
    assert scores.map == scores.map50 == scores.map75 == value
    for figure in (scores.f1, scores.f1_50, scores.precision_50, scores.recall_50, scores.coco_map):
        assert figure is None if value is None else 0 <= (figure or 0) <= 1
    if value in (0.0, 1.0):
        assert scores.f1 == scores.f1_50 == scores.coco_map == value


def test_the_largest_matching_is_found_where_greed_is_not_enough() -> None:
    gold = [Box((0, 0, 10, 10), "company"), Box((0, 0, 10, 16), "company")]
    # the first prediction fits both gold boxes and the first one better; the second fits only the first
    pred = [Box((0, 0, 10, 11), "company"), Box((0, 0, 10, 6), "company")]
    assert seal_map(gold=[gold], pred=[pred]).map50 == 1


def test_a_threshold_is_reached_exactly() -> None:
    for step, threshold in enumerate(THRESHOLDS, start=10):
        part = Box((0, 0, 20, step), "company")
        counts = count_matches([Box((0, 0, 20, 20), "company")], [part])
        assert counts.matched["company"] == tuple(int(t <= threshold) for t in THRESHOLDS)


def test_labels_are_mapped() -> None:
    assert seal_map([[RIGHT]], [[Box(RIGHT.xyxy, "公司印章")]]).map == 1
    assert seal_map([[RIGHT]], [[Box(RIGHT.xyxy, "personal")]]).map == 0


def test_lists_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="1 images with gold boxes but 2"):
        seal_map([[]], [[], []])


@given(st.lists(box(), min_size=1, max_size=4), st.lists(box(), min_size=1, max_size=4))
def test_iou_is_exact_symmetric_and_one_on_itself(first: list[Box], second: list[Box]) -> None:
    a, b = (np.array([item.xyxy for item in boxes], dtype=float) for boxes in (first, second))
    table = intersection_over_union(a, b)
    assert table == pytest.approx(np.array([[float(exact_iou(x, y)) for y in second] for x in first]))
    assert (table == intersection_over_union(b, a).T).all()
    assert (np.diag(intersection_over_union(a, a)) == 1).all()


def test_large_lists_are_matched_in_pieces() -> None:
    grid = [Box((x * 10, y * 10, x * 10 + 9, y * 10 + 9), "company") for x in range(50) for y in range(50)]
    assert seal_map([grid], [grid[::-1]]).map == 1


# --- COCO


def random_images(seed: int, count: int) -> tuple[Images, Images]:
    generator = random.Random(seed)

    def some() -> Box:
        x, y = generator.randint(0, 800), generator.randint(0, 800)
        return Box((x, y, x + generator.randint(40, 200), y + generator.randint(40, 200)), generator.choice(["company", "personal"]))  # fmt: skip

    gold = [[some() for _ in range(generator.randint(0, 3))] for _ in range(count)]
    pred = []
    for boxes in gold:
        near = [
            Box(tuple(edge + generator.randint(-12, 12) for edge in item.xyxy), item.label)  # type: ignore[arg-type]
            for item in boxes
            if generator.random() < 0.8
        ]
        pred.append(near + [some() for _ in range(generator.randint(0, 1))])
    return gold, pred


def test_coco_values_are_those_of_pycocotools() -> None:
    coco = pytest.importorskip(
        "pycocotools.coco", reason="pycocotools, the reference engine, is not installed"
    )
    cocoeval = pytest.importorskip("pycocotools.cocoeval")
    gold, pred = random_images(1, 60)
    # the reference sees the images and boxes in the same canonical order
    pairs = sorted(
        (sorted((b.label or "", b.xyxy) for b in g), sorted((b.label or "", b.xyxy) for b in p))
        for g, p in zip(gold, pred, strict=True)
    )
    category = {"company": 1, "personal": 2}

    def annotations(side: int) -> list[dict[str, object]]:
        rows = [(image, item) for image, pair in enumerate(pairs) for item in pair[side]]
        return [
            {"id": i, "image_id": image + 1, "category_id": category[label], "iscrowd": 0, "score": 1.0,
             "bbox": [x1, y1, x2 - x1, y2 - y1], "area": (x2 - x1) * (y2 - y1)}
            for i, (image, (label, (x1, y1, x2, y2))) in enumerate(rows, start=1)
        ]  # fmt: skip

    truth = coco.COCO()
    truth.dataset = {
        "images": [{"id": image + 1} for image in range(len(pairs))],
        "categories": [{"id": i, "name": name} for name, i in category.items()],
        "annotations": annotations(0),
    }
    truth.createIndex()
    evaluation = cocoeval.COCOeval(truth, truth.loadRes(annotations(1)), "bbox")
    evaluation.evaluate()
    evaluation.accumulate()
    evaluation.summarize()
    scores = seal_map(gold, pred)
    assert scores.coco_map == pytest.approx(evaluation.stats[0], abs=1e-9)
    assert scores.coco_map50 == pytest.approx(evaluation.stats[1], abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_one_operating_point_is_never_above_the_interpolated_curve(seed: int) -> None:
    scores = seal_map(*random_images(seed, 80))
    assert scores.map is not None
    assert scores.coco_map is not None
    assert scores.map <= scores.coco_map + 1e-9


@pytest.mark.parametrize(
    ("label", "canonical"),
    [
        ("company", "company"),
        ("Company Seal", "company"),
        ("company_seal", "company"),
        ("companySeal", "companyseal"),
        ("COMPANY 2", "company"),
        ("corporate stamp", "company"),
        ("公司", "company"),
        ("公司章", "company"),
        ("公司印章", "company"),
        ("企业公章", "company"),
        ("單位", "company"),
        ("财务专用章", "company"),
        ("合同专用章", "company"),
        ("ｃｏｍｐａｎｙ", "company"),
        ("entreprise", "company"),
        ("Cachet de l'entreprise", "company"),
        ("sceau de la société", "company"),
        ("personal", "personal"),
        ("personal seal", "personal"),
        ("Personal name seal", "personal"),
        ("个人章", "personal"),
        ("個人印章", "personal"),
        ("私章", "personal"),
        ("法人章", "personal"),
        ("法定代表人章", "personal"),
        ("cachet personnel", "personal"),
        ("tampon individuel", "personal"),
        ("seal", "seal"),
        ("QR code", "qr code"),
        ("company and personal", "company and personal"),
        ("", None),
        ("  ", None),
        (None, None),
    ],
)
def test_label_list(label: str | None, canonical: str | None) -> None:
    assert canonical_label(label) == canonical


@given(st.text(max_size=300))
def test_any_label_has_a_class_of_its_own_or_none(label: str) -> None:
    canonical = canonical_label(label)
    assert canonical is None or canonical.strip() == canonical != ""
    assert canonical_label(f" {label}") == canonical
