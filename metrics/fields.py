"""Field F1: how many fields of a document were extracted, names and values right.

F1 over the fields of all documents together (micro), as in Hwang et al. 2019 and Kim et
al. 2022 (Donut). The variant ``default`` keeps what Donut's evaluator loses:

- a field is a leaf of the JSON object under its path of keys; keys are compared without
  width, case, blanks, ``_``, ``-`` and a closing colon;
- values are compared as numbers (``1,234.50`` = 1234.5), calendar dates (``2024年1月5日`` =
  ``5 Jan 2024``) or texts without width and surplus blanks; a currency sign or unit is
  part of the value; digits with a leading zero are identifiers, hence text;
- an array is a set of rows: rows are paired one to one so that most fields agree, and a
  value in the wrong row is wrong. One value and an array of that one value are the same;
- ``null``, an empty text, array or object all say *empty*, which is a value: right where
  the gold says it too. 0 and false are values.

The variant ``donut`` is the evaluator of Donut 1.0.9 with its faults: it forgets rows,
drops 0, false, empty values, null and arrays within arrays, joins nested keys with dots,
and compares by spelling. Only its division by zero on two empty documents is replaced (1).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, TypeAlias

import numpy as np
from scipy.optimize import linear_sum_assignment

from lmms_eval_finance.metrics.numbers import find_dates
from lmms_eval_finance.metrics.numbers.separators import read_digits
from lmms_eval_finance.metrics.text import evened

Variant = Literal["default", "donut"]

# Deeper values count as one field; more pairs of rows than this are not compared.
MAX_DEPTH = 64
MAX_PAIRS = 1_000_000
# What solving one pairing costs at least, in pairs: rows within rows need many of them.
_PAIRING = 50


@dataclass(frozen=True)
class FieldCounts:
    """Fields of one document or of several; counts of documents add up.

    Attributes:
        matched: predicted fields that are right.
        gold: fields of the gold.
        predicted: fields of the prediction.
        over_limit: documents that were too large to be compared; nothing of them matches.
    """

    matched: int = 0
    gold: int = 0
    predicted: int = 0
    over_limit: int = 0

    def __add__(self, other: FieldCounts) -> FieldCounts:
        return FieldCounts(
            self.matched + other.matched,
            self.gold + other.gold,
            self.predicted + other.predicted,
            self.over_limit + other.over_limit,
        )

    @property
    def precision(self) -> float:
        """Share of predicted fields that are right; 1 where there are no fields at all."""
        return self.matched / self.predicted if self.predicted else float(not self.gold)

    @property
    def recall(self) -> float:
        """Share of gold fields that were found; 1 where there are none."""
        return self.matched / self.gold if self.gold else 1.0

    @property
    def f1(self) -> float:
        """Harmonic mean of both; 1 where there are no fields at all.

        >>> FieldCounts(matched=1, gold=2, predicted=2).f1, FieldCounts().f1
        (0.5, 1.0)
        """
        fields = self.gold + self.predicted
        return 2 * self.matched / fields if fields else 1.0


@dataclass(frozen=True)
class FieldScores:
    """Micro scores of a set of documents, in [0, 1]; None where there are no documents."""

    f1: float | None
    precision: float | None
    recall: float | None
    counts: FieldCounts
    documents: int


def field_f1(
    golds: Sequence[Any],
    preds: Sequence[Any],
    variant: Variant = "default",
    *,
    keys: Sequence[Sequence[str] | None] | None = None,
) -> FieldScores:
    """Field F1, precision and recall over all documents together.

    Args:
        golds: the parsed gold JSON of each document.
        preds: the parsed predicted JSON of each document; None where none could be read.
        variant: ``default`` or ``donut``.
        keys: for each document the keys that were asked for (constrained extraction):
            other top-level keys are left out on both sides. None: open extraction, where
            every key counts.

    Raises:
        ValueError: lengths differ, or an unknown variant.

    >>> gold = {"date": "2024-01-05", "items": [{"name": "tea", "price": "3.50"}, {"name": "cake", "price": "4"}]}
    >>> pred = {"date": "5 Jan 2024", "items": [{"name": "cake", "price": 4.0}, {"name": "tea", "price": "4"}]}
    >>> scores = field_f1([gold], [pred])
    >>> scores.f1, scores.counts.matched, scores.counts.gold
    (0.8, 4, 5)
    """
    keys = [None] * len(golds) if keys is None else keys
    if not len(golds) == len(preds) == len(keys):
        raise ValueError(f"{len(golds)} gold documents, {len(preds)} predictions, {len(keys)} lists of keys")
    documents = zip(golds, preds, keys, strict=True)
    counts = sum((count_fields(*document, variant=variant) for document in documents), FieldCounts())
    if not golds:
        return FieldScores(None, None, None, counts, 0)
    return FieldScores(counts.f1, counts.precision, counts.recall, counts, len(golds))


def count_fields(
    gold: Any, pred: Any, keys: Sequence[str] | None = None, *, variant: Variant = "default"
) -> FieldCounts:
    """Count the fields of one document; arguments as in `field_f1`."""
    if variant not in ("default", "donut"):
        raise ValueError(f"unknown variant {variant!r}: use default or donut")
    pred = {} if pred is None else pred
    if keys is not None:
        asked = {_folded(key) for key in keys}
        gold, pred = _restricted(gold, asked), _restricted(pred, asked)
    if variant == "donut":
        expected, got = Counter(_donut_fields(gold)), Counter(_donut_fields(pred))
        return FieldCounts((expected & got).total(), expected.total(), got.total())
    expected_tree, got_tree = _document(gold), _document(pred)
    sizes = (_size(expected_tree), _size(got_tree))
    try:
        return FieldCounts(_Matcher().matched(expected_tree, got_tree), *sizes)
    except _OverLimitError:
        return FieldCounts(0, *sizes, over_limit=1)


def _restricted(document: Any, asked: set[str]) -> Any:
    if not isinstance(document, Mapping):
        return document
    return {key: value for key, value in document.items() if _folded(key) in asked}


# --- the normal form: leaves are tuples, rows lists, objects dicts

Leaf: TypeAlias = "tuple[object, ...]"
Tree: TypeAlias = "Leaf | list[Tree] | dict[str, Tree]"
_EMPTY: Leaf = ("empty",)


def _document(value: Any) -> Tree:
    """A whole document; an empty one has no fields at all."""
    tree = _normal(value, 0)
    return {} if tree == _EMPTY else tree


def _normal(value: Any, depth: int) -> Tree:
    if depth == MAX_DEPTH and isinstance(value, list | Mapping):
        return ("too deep",)
    if isinstance(value, Mapping):
        members: dict[str, Tree] = {}
        for key, member in value.items():
            name, tree = _folded(str(key)), _normal(member, depth + 1)
            if name in members:  # two spellings of one key: two rows under it
                tree = [*_as_rows(members[name]), *_as_rows(tree)]
            members[name] = tree
        return members or _EMPTY
    if isinstance(value, list):
        return [_normal(item, depth + 1) for item in value] or _EMPTY
    return normal_value(value)


def _as_rows(tree: Tree) -> list[Tree]:
    return tree if isinstance(tree, list) else [tree]


_NOT_IN_KEYS = re.compile(r"[\s_-]+|[:：]+\s*$")


def _folded(key: str) -> str:
    return _NOT_IN_KEYS.sub("", evened(key).casefold())


_SIGNS = "$€£¥₩₹฿₫₽₺"
_AMOUNT = re.compile(
    rf"(?P<open>\()?(?P<minus>[-−–+]?)\s?(?P<before>[{_SIGNS}]|[A-Z]{{3}}|[A-Z]{{2}}\$)?\s?(?P<sign>[-−–+]?)"
    r"(?P<digits>(?!0\d)\d{1,3}(?:[ '_.,]\d{3})*(?:[.,]\d+)?|(?!0\d)\d+(?:[.,]\d+)?|\.\d+)"
    rf"\s?(?P<after>%|‰|[{_SIGNS}]|[A-Za-z]{{1,4}}|[\u4e00-\u9fff]{{1,3}})?(?P<close>\))?",
    re.ASCII,
)
_CLOCK = re.compile(r"[T ](\d\d?):(\d\d)(?::(\d\d))?$", re.ASCII)


def normal_value(value: Any) -> Leaf:
    """What a value is compared as: its kind and its normal form.

    >>> normal_value("1,234.50") == normal_value(1234.5), normal_value("¥5") == normal_value("5")
    (True, False)
    >>> normal_value("2024年1月5日") == normal_value("2024/1/5"), normal_value("0012") == normal_value("12")
    (True, False)
    """
    if value is None:
        return _EMPTY
    if isinstance(value, bool):
        return ("truth", value)
    if isinstance(value, int | float):
        return ("number", Fraction(repr(value)), "", "") if math.isfinite(value) else ("text", str(value))
    text = evened(str(value))
    if not text:
        return _EMPTY
    if text.casefold() in ("true", "false"):
        return ("truth", text.casefold() == "true")
    if len(text) > 60:
        return ("text", text)
    return _date(text) or _amount(text) or ("text", text)


def _date(text: str) -> Leaf | None:
    clock = _CLOCK.search(text)
    day_text = text[: clock.start()] if clock else text
    spans = find_dates(day_text)
    if len(spans) != 1 or spans[0].day is None or (spans[0].start, spans[0].end) != (0, len(day_text)):
        return None
    time = tuple(int(part or 0) for part in clock.groups()) if clock else ()
    return ("date", spans[0].day.isoformat(), *time)


def _amount(text: str) -> Leaf | None:
    match = _AMOUNT.fullmatch(text)
    if match is None:
        return None
    readings = read_digits(match["digits"], "en")
    signs = match["minus"] + match["sign"]
    brackets = (match["open"] or "") + (match["close"] or "")
    if (
        not readings
        or len(signs) > 1
        or (brackets and (brackets != "()" or signs or "." not in match["digits"]))
    ):
        return None
    negative = signs in ("-", "−", "–") or brackets == "()"
    return ("number", -readings[0] if negative else readings[0], match["before"] or "", match["after"] or "")


def _size(tree: Tree) -> int:
    if isinstance(tree, dict):
        return sum(map(_size, tree.values()))
    return sum(map(_size, tree)) if isinstance(tree, list) else 1


# --- matching


class _OverLimitError(Exception):
    """More pairs of rows than can be compared."""


class _Matcher:
    """Counts the fields on which two documents agree under the best pairing of rows."""

    def __init__(self) -> None:
        self.pairs = 0

    def matched(self, gold: Tree, pred: Tree) -> int:
        if isinstance(gold, list) or isinstance(pred, list):
            return self.rows_matched(_as_rows(gold), _as_rows(pred))
        if isinstance(gold, dict) and isinstance(pred, dict):
            return sum(self.matched(value, pred[key]) for key, value in gold.items() if key in pred)
        return int(gold == pred)

    def rows_matched(self, gold: list[Tree], pred: list[Tree]) -> int:
        if all(isinstance(row, tuple) for row in (*gold, *pred)):
            return (Counter(gold) & Counter(pred)).total()
        self.pairs += len(gold) * len(pred) + _PAIRING
        if self.pairs > MAX_PAIRS:
            raise _OverLimitError
        agreement = np.zeros((len(gold), len(pred)), np.int64)
        places: dict[tuple[object, ...], list[int]] = {}
        for column, row in enumerate(pred):
            for entry in set(_entries(row)):
                places.setdefault(entry, []).append(column)
        for line, row in enumerate(gold):
            for entry in set(_entries(row)):
                agreement[line, places.get(entry, [])] += 1
        # exact for rows of plain fields; where rows hold rows, only which pairs are worth a look
        nested_gold, nested_pred = list(map(_holds_rows, gold)), list(map(_holds_rows, pred))
        for line, column in zip(*np.nonzero(agreement), strict=True):
            if nested_gold[line] or nested_pred[column]:
                agreement[line, column] = self.matched(gold[line], pred[column])
        chosen = linear_sum_assignment(agreement, maximize=True)
        return int(agreement[chosen].sum())


def _entries(tree: Tree, path: tuple[str, ...] = ()) -> Iterator[tuple[object, ...]]:
    """Each leaf with its path of keys; rows leave no trace in it."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from _entries(value, (*path, key))
    elif isinstance(tree, list):
        for row in tree:
            yield from _entries(row, path)
    else:
        yield (path, tree)


def _holds_rows(tree: Tree) -> bool:
    return isinstance(tree, list) or (isinstance(tree, dict) and any(map(_holds_rows, tree.values())))


# --- Donut


def _donut_fields(document: Any) -> Iterator[tuple[str, str]]:
    """The (dotted key, text) pairs that Donut's evaluator compares."""
    stack: list[tuple[str, Any]] = [("", document)]
    while stack:
        key, value = stack.pop()
        if not value:
            continue
        if isinstance(value, Mapping):
            stack.extend((f"{key}.{name}" if key else str(name), member) for name, member in value.items())
        elif not isinstance(value, list):
            yield key, str(value).strip()
        elif all(isinstance(item, Mapping) for item in value):
            stack.extend((key, item) for item in value)
        else:
            texts = (str(item).strip() for item in value if type(item) in (str, int, float))
            yield from ((key, text) for text in texts if text)
