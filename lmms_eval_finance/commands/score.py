"""``lmms-eval-finance score MEASURE --gold FILE --pred FILE``: a measure on its own, outside any host.

Both files are JSONL with one object a line; docs/score.md describes the columns.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from lmms_eval_finance.data.sources import read_jsonl
from lmms_eval_finance.metrics.intervals import Interval, interval, mean_interval
from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.signature import Signature
from lmms_eval_finance.settings import SettingError

if TYPE_CHECKING:
    from lmms_eval_finance.metrics.detection import Box


class Pair(NamedTuple):
    """One item: the gold row and the predicted row of an id, and how to name each in a message."""

    id: str
    gold: Mapping[str, Any]
    pred: Mapping[str, Any]
    gold_place: str
    pred_place: str


@dataclass(frozen=True)
class Scored:
    """What a measure makes of all items; the first of `scores` is the one that `spread` belongs to."""

    signature: Signature
    scores: Mapping[str, float | int | None]
    spread: Interval | None
    items: Sequence[Mapping[str, Any]]

    def to_json(self) -> dict[str, Any]:
        """Plain JSON types, as written to files."""
        low, high = (self.spread.low, self.spread.high) if self.spread else (None, None)
        return {
            "signature": str(self.signature),
            "scores": dict(self.scores),
            "interval": {"of": next(iter(self.scores)), "confidence": 0.95, "low": low, "high": high},
            "items": list(self.items),
        }

    def to_text(self) -> str:
        """A table of the scores, for people."""
        width = max(map(len, self.scores)) + 2
        lines = [f"{name:{width}}{_figure(value)}" for name, value in self.scores.items()]
        if self.spread and self.spread.low is not None and self.spread.high is not None:
            lines[0] += f"  (95%: {self.spread.low:.4f} to {self.spread.high:.4f})"
        return "\n".join([*lines, f"{'signature':{width}}{self.signature}"])


def _figure(value: float | int | None) -> str:
    if value is None:
        return "nothing scored"
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the measures and their arguments."""
    measures = parser.add_subparsers(dest="measure", metavar="MEASURE", required=True)
    for name, measure in MEASURES.items():
        sub = measures.add_parser(name, help=measure.summary, description=measure.summary.capitalize() + ".")
        sub.add_argument("--gold", type=Path, required=True, metavar="FILE", help="JSONL with the gold")
        sub.add_argument(
            "--pred", type=Path, required=True, metavar="FILE", help="JSONL with the predictions"
        )
        sub.add_argument("--json", action="store_true", help="print JSON, items included, and no table")
        sub.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the JSON to a file")
        measure.configure(sub)


def run(args: argparse.Namespace) -> int:
    """Score, print, and write the file asked for."""
    measure = MEASURES[args.measure]
    scored = measure.score(_pairs(args.gold, args.pred, measure.column), args)
    text = json.dumps(scored.to_json(), indent=1, allow_nan=False)
    if args.output:
        try:
            args.output.write_text(text + "\n", encoding="utf-8")
        except OSError as error:
            raise SettingError(f"{args.output}: cannot be written ({error.strerror})") from error
    print(text if args.json else scored.to_text())
    return 0


# --- the two files


def _pairs(gold: Path, pred: Path, column: str) -> list[Pair]:
    golds, preds = _by_id(gold, column), _by_id(pred, "prediction")
    for have, lack, file in ((golds, preds, pred), (preds, golds, gold)):
        missing = [id for id in have if id not in lack]
        if missing:
            named = ", ".join(map(repr, missing[:3])) + (", ..." if len(missing) > 3 else "")
            raise SettingError(
                f"{file}: no row for {len(missing)} of {len(have)} ids of the other file ({named}); "
                "both files need one row for every id"
            )
    return [Pair(id, golds[id][1], preds[id][1], golds[id][0], preds[id][0]) for id in golds]


def _by_id(path: Path, column: str) -> dict[str, tuple[str, Mapping[str, Any]]]:
    """id -> (file and row as text, row); every row has an id of its own and the column."""
    rows: dict[str, tuple[str, Mapping[str, Any]]] = {}
    try:
        for number, row in enumerate(read_jsonl(path), start=1):
            place = f"{path}, row {number}"
            id = row.get("id")
            if not isinstance(id, str | int) or isinstance(id, bool):
                raise SettingError(f"{place}: needs an 'id', a text or a whole number")
            place += f" (id {str(id)!r})"
            if str(id) in rows:
                raise SettingError(f"{place}: the id stands in the file twice")
            if column not in row:
                raise SettingError(f"{place}: has no {column!r}; its keys are {', '.join(row)}")
            rows[str(id)] = place, row
    except SettingError:
        raise
    except OSError as error:
        raise SettingError(f"{path}: cannot be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise SettingError(f"{path}, after row {len(rows)}: not usable JSON ({error})") from error
    if not rows:
        raise SettingError(f"{path}: has no rows")
    return rows


def _text(value: Any, place: str, column: str) -> str:
    """A text column; null is an empty text."""
    if value is None or isinstance(value, str):
        return value or ""
    raise SettingError(f"{place}: {column!r} must be a text, not {type(value).__name__}")


def _size(row: Mapping[str, Any], place: str, column: str) -> tuple[int, int]:
    size = row.get(column)
    if not (
        isinstance(size, list)
        and len(size) == 2
        and all(_is_number(side) and 0 < side < 1e9 for side in size)
    ):
        raise SettingError(f"{place}: needs {column!r} as [width, height] in pixels")
    return size[0], size[1]


def _is_number(value: Any) -> bool:
    if isinstance(value, int):
        return not isinstance(value, bool) and abs(value) < 10**300  # beyond, no float holds it
    return isinstance(value, float)


# --- tables


def _table_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--variant", choices=("default", "pubtabnet"), default="default")
    parser.add_argument("--jobs", type=_jobs, default=1, metavar="N", help="processes; -1: one for each core")


def _jobs(text: str) -> int:
    if text == "-1" or (text.isdecimal() and int(text)):
        return int(text)
    raise argparse.ArgumentTypeError(f"{text!r} is neither a number of processes nor -1")


def _score_tables(pairs: Sequence[Pair], args: argparse.Namespace) -> Scored:
    from lmms_eval_finance.metrics.table import VERSIONS, teds_batch

    texts = [
        (_text(pair.gold["html"], pair.gold_place, "html"), _text(pair.pred["prediction"], pair.pred_place, "prediction"))
        for pair in pairs
    ]  # fmt: skip
    full = teds_batch(texts, variant=args.variant, n_jobs=args.jobs)
    structure = teds_batch(texts, variant=args.variant, n_jobs=args.jobs, structure_only=True)
    kept = [i for i, value in enumerate(full) if value is not Outcome.GOLD_UNUSABLE]
    teds = {i: _points(full[i]) for i in kept}
    outcomes = Counter(value.value for value in full if isinstance(value, Outcome))
    return Scored(
        Signature.of(metric="teds", version=VERSIONS[args.variant], variant=args.variant),
        {
            "TEDS": _mean(list(teds.values())),
            "S-TEDS": _mean([_points(structure[i]) for i in kept]),
            "tables": len(kept),
            **outcomes,
        },
        mean_interval(list(teds.values()), [pairs[i].id for i in kept]),
        [
            {
                "id": pair.id,
                "teds": teds.get(i),
                "s_teds": _points(structure[i]) if i in teds else None,
                "outcome": outcome.value if isinstance(outcome := full[i], Outcome) else None,
            }
            for i, pair in enumerate(pairs)
        ],
    )


def _points(value: float | Outcome) -> float:
    """An item without a value for the model's doing scores 0."""
    return 0.0 if isinstance(value, Outcome) else value


def _mean(values: Sequence[float]) -> float | None:
    return fsum(values) / len(values) if values else None


# --- boxes


def _box_options(parser: argparse.ArgumentParser) -> None:
    from lmms_eval_finance.metrics.detection import CONVENTIONS

    parser.add_argument(
        "--convention",
        choices=CONVENTIONS,
        required=True,
        help="what the predicted numbers mean: pixels of the image, pixels of the image as the model resized "
        "it, 0 to 1000, 0 to 1, or a guess from the numbers of each answer",
    )


def _score_boxes(pairs: Sequence[Pair], args: argparse.Namespace) -> Scored:
    from lmms_eval_finance.metrics.detection import THRESHOLDS, count_matches, scores_from_counts, seal_map

    golds = [_gold_boxes(pair) for pair in pairs]
    preds = [_predicted_boxes(pair, args.convention) for pair in pairs]
    scores = seal_map(golds, preds)
    counts = [count_matches(gold, pred) for gold, pred in zip(golds, preds, strict=True)]
    at_half = THRESHOLDS.index(0.5)
    return Scored(
        Signature.of(metric="seal_map", version="1", convention=args.convention),
        {
            "mAP": scores.map,
            "mAP@.5": scores.map50,
            "mAP@.75": scores.map75,
            **{f"AP {name}": value for name, value in scores.ap.items()},
            "F1@.5": scores.f1_50,
            "F1@[.5:.95]": scores.f1,
            "precision@.5": scores.precision_50,
            "recall@.5": scores.recall_50,
            "COCO mAP": scores.coco_map,
            "COCO mAP@.5": scores.coco_map50,
            "images": len(pairs),
            "gold boxes": sum(scores.counts.gold.values()),
            "predicted boxes": sum(scores.counts.predicted.values()),
            "invalid boxes": scores.counts.invalid,
            "stray boxes": scores.stray,
            "unusable gold boxes": scores.counts.unusable_gold,
        },
        interval(counts, lambda drawn: scores_from_counts(drawn).map, [pair.id for pair in pairs]),
        [
            {
                "id": pair.id,
                "gold": sum(part.gold.values()),
                "predicted": sum(part.predicted.values()),
                "matched@.5": sum(hits[at_half] for hits in part.matched.values()),
                "invalid": part.invalid,
            }
            for pair, part in zip(pairs, counts, strict=True)
        ],
    )


def _gold_boxes(pair: Pair) -> list[Box]:
    boxes = pair.gold["boxes"]
    boxes = boxes if isinstance(boxes, list) else [None]
    for box in boxes:
        edges = box.get("bbox") if isinstance(box, dict) else None
        label = box.get("label") if isinstance(box, dict) else None
        if not (isinstance(edges, list) and len(edges) == 4 and all(map(_is_number, edges))) or not (
            label is None or isinstance(label, str)
        ):
            raise SettingError(
                f"{pair.gold_place}: 'boxes' must be a list of "
                '{"bbox": [left, top, right, bottom], "label": "company"}'
            )
    return [_box(*box["bbox"], label=box.get("label")) for box in boxes]


def _box(left: float, top: float, right: float, bottom: float, *, label: str | None) -> Box:
    from lmms_eval_finance.metrics.detection import Box

    return Box((float(left), float(top), float(right), float(bottom)), label)


def _predicted_boxes(pair: Pair, convention: str) -> list[Box]:
    from lmms_eval_finance.metrics.detection import parse_boxes

    prediction = pair.pred["prediction"]
    text = prediction if isinstance(prediction, str) else json.dumps(prediction, ensure_ascii=False)
    return parse_boxes(
        text,
        # pixels of the image need no size
        image_size=(1, 1) if convention == "absolute" else _size(pair.gold, pair.gold_place, "image_size"),
        model_image_size=_size(pair.pred, pair.pred_place, "model_image_size")
        if convention == "model_absolute" or "model_image_size" in pair.pred
        else None,
        convention=convention,
    )


# --- texts


def _text_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--as-is", action="store_true", help="compare without evening out width and blanks")
    parser.add_argument(
        "--simplify", action="store_true", help="traditional Chinese as simplified (needs the extra: chinese)"
    )


def _score_texts(pairs: Sequence[Pair], args: argparse.Namespace) -> Scored:
    from lmms_eval_finance.metrics.text import ned_scores, ned_similarity

    golds = [_text(pair.gold["text"], pair.gold_place, "text") for pair in pairs]
    preds = [_text(pair.pred["prediction"], pair.pred_place, "prediction") for pair in pairs]
    how = {"normalise": not args.as_is, "simplify": args.simplify}
    try:
        scores = ned_scores(golds, preds, **how)
    except ImportError as error:
        raise SettingError(str(error)) from error
    values = [ned_similarity(gold, pred, **how) for gold, pred in zip(golds, preds, strict=True)]
    return Scored(
        Signature.of(
            metric="1-ned",
            version="1",
            text="as is" if args.as_is else "evened",
            simplified="yes" if args.simplify else "no",
        ),
        {
            "1-NED": scores.macro,
            "1-NED, corpus": scores.corpus,
            "exact": scores.exact,
            "texts": scores.count,
        },
        mean_interval(values, [pair.id for pair in pairs]),
        [{"id": pair.id, "1_ned": value} for pair, value in zip(pairs, values, strict=True)],
    )


# --- fields


def _field_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--variant", choices=("default", "donut"), default="default")


def _score_fields(pairs: Sequence[Pair], args: argparse.Namespace) -> Scored:
    from lmms_eval_finance.metrics.fields import FieldCounts, count_fields, field_f1
    from lmms_eval_finance.metrics.json_reading import read_json_object

    golds, preds, keys = [], [], []
    for pair in pairs:
        gold, pred, asked = pair.gold["fields"], pair.pred["prediction"], pair.gold.get("keys")
        if not isinstance(gold, dict):
            raise SettingError(f"{pair.gold_place}: 'fields' must be an object, not {type(gold).__name__}")
        if not (pred is None or isinstance(pred, str | dict)):
            raise SettingError(f"{pair.pred_place}: 'prediction' must be a text or an object")
        if asked is not None and not (isinstance(asked, list) and all(isinstance(key, str) for key in asked)):
            raise SettingError(f"{pair.gold_place}: 'keys' must be a list of texts")
        golds.append(gold)
        preds.append(read_json_object(pred) if isinstance(pred, str) else pred)
        keys.append(asked)
    scores = field_f1(golds, preds, args.variant, keys=keys)
    counts = [
        count_fields(*document, variant=args.variant) for document in zip(golds, preds, keys, strict=True)
    ]
    return Scored(
        Signature.of(metric="field_f1", version="1", variant=args.variant),
        {
            "F1": scores.f1,
            "precision": scores.precision,
            "recall": scores.recall,
            "documents": scores.documents,
            "gold fields": scores.counts.gold,
            "predicted fields": scores.counts.predicted,
            "matched fields": scores.counts.matched,
            "unreadable": sum(pred is None for pred in preds),
            "over the limit": scores.counts.over_limit,
        },
        interval(counts, lambda drawn: sum(drawn, FieldCounts()).f1, [pair.id for pair in pairs]),
        [
            {
                "id": pair.id,
                "f1": part.f1,
                "gold": part.gold,
                "predicted": part.predicted,
                "matched": part.matched,
                "unreadable": pred is None,
            }
            for pair, part, pred in zip(pairs, counts, preds, strict=True)
        ],
    )


# --- formulas


def _formula_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--variant", choices=("default", "reference"), default="default")
    parser.add_argument(
        "--engine",
        choices=("mathjax", "tex"),
        default="mathjax",
        help="tex: pdflatex, variant reference only",
    )
    parser.add_argument(
        "--html", type=Path, metavar="FILE", help="write a page that shows the formulas, glyph by glyph"
    )


def _score_formulas(pairs: Sequence[Pair], args: argparse.Namespace) -> Scored:
    from lmms_eval_finance.metrics.formula import EngineError, compare_batch, signature

    texts = [
        (_text(pair.gold["latex"], pair.gold_place, "latex"), _text(pair.pred["prediction"], pair.pred_place, "prediction"))
        for pair in pairs
    ]  # fmt: skip
    if args.engine == "tex" and args.variant != "reference":
        raise SettingError("--engine tex needs --variant reference: it does not see scripts")
    if args.engine == "tex" and args.html:
        raise SettingError("--html draws what the engine mathjax reads: leave out --engine tex")
    try:
        comparisons = compare_batch(texts, variant=args.variant, engine=args.engine)
        stamp = signature(args.variant, args.engine)
        if args.html:
            from lmms_eval_finance.report.formula_page import render

            page = render(comparisons, stamp, ids=[pair.id for pair in pairs])
            args.html.write_text(page, encoding="utf-8")
    except EngineError as error:
        raise SettingError(str(error)) from error
    except OSError as error:
        raise SettingError(f"{args.html}: cannot be written ({error.strerror})") from error
    scores = [comparison.score for comparison in comparisons]
    kept = [(pair.id, score) for pair, score in zip(pairs, scores, strict=True) if score.f1 is not None]
    values = [score.f1 or 0.0 for _, score in kept]
    return Scored(
        stamp,
        {
            "CDM F1": _mean(values),
            "ExpRate@CDM": _mean([float(score.exact) for _, score in kept]),
            "precision": _mean([score.precision or 0.0 for _, score in kept]),
            "recall": _mean([score.recall or 0.0 for _, score in kept]),
            "formulas": len(kept),
            **Counter(score.outcome.value for score in scores),
        },
        mean_interval(values, [id for id, _ in kept]),
        [
            {
                "id": pair.id,
                "f1": score.f1,
                "precision": score.precision,
                "recall": score.recall,
                "exact": score.exact,
                "outcome": score.outcome.value,
            }
            for pair, score in zip(pairs, scores, strict=True)
        ],
    )


class Measure(NamedTuple):
    """A measure of the command line; `column` is where a gold row holds its gold."""

    summary: str
    column: str
    configure: Callable[[argparse.ArgumentParser], None]
    score: Callable[[Sequence[Pair], argparse.Namespace], Scored]


MEASURES = {
    "table": Measure("tables as HTML, by TEDS and S-TEDS", "html", _table_options, _score_tables),
    "boxes": Measure("detected boxes, by order-free mAP and F1", "boxes", _box_options, _score_boxes),
    "text": Measure("recognised text, by 1-NED", "text", _text_options, _score_texts),
    "fields": Measure("extracted fields, by F1", "fields", _field_options, _score_fields),
    "formula": Measure("formulas as LaTeX, by CDM", "latex", _formula_options, _score_formulas),
}
