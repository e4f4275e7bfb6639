"""Schemas of the benchmarks' rows, and the faults that a set of rows can have.

A fault of schema (missing column, wrong type) keeps a task from running. A fault
of content (null or damaged gold, odd option) is listed and the row scored as
released.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

Kind = Literal[
    "text", "integer", "number", "texts", "options", "choices", "boxes", "object", "image", "images"
]
Row = Mapping[str, Any]

BENCHMARKS = ("famma", "finmme", "mfe", "cfmme")

MAX_FAULTS = 20
"""So many faults of schema are collected before validation stops."""


@dataclass(frozen=True)
class Fault:
    """One fault of one value: where it is and what is wrong with it.

    >>> str(Fault("train.jsonl", 3, "id", "is missing"))
    'train.jsonl, row 3, column id: is missing'
    """

    source: str
    row: int | None
    column: str
    problem: str

    def __str__(self) -> str:
        place = self.source if self.row is None else f"{self.source}, row {self.row}"
        return f"{place}, column {self.column}: {self.problem}"


@dataclass(frozen=True)
class Column:
    """One column of a benchmark's rows.

    Attributes:
        name: the column's name.
        kind: what its values are. `integer` and `number` also take text that spells one, since
            spreadsheets and hubs differ on this; `options` is a list of texts or the text of one;
            `choices` is a list of texts or of numbers of images; `boxes` is a list of {bbox, label}.
            The last two and `object` may come as JSON text, as in parquet files.
        required: whether the column has to be there at all.
        nullable: whether a row may leave it empty.
    """

    name: str
    kind: Kind
    required: bool = True
    nullable: bool = True

    @property
    def is_media(self) -> bool:
        """Whether the values are images (paths in JSONL, bytes in parquet)."""
        return self.kind in ("image", "images")

    @property
    def is_nested(self) -> bool:
        """Whether the values are lists or objects."""
        return self.kind in ("texts", "options", "choices", "boxes", "object")

    def problem(self, value: Any) -> str:
        """What is wrong with a value; empty if nothing is.

        >>> Column("id", "integer", nullable=False).problem("x")
        "is 'x', not a whole number"
        >>> Column("unit", "text").problem(None)
        ''
        """
        if value is None or (isinstance(value, float) and value != value):
            return "" if self.nullable else "is empty"
        if self.kind in _SHAPES:
            expected, fits = _SHAPES[self.kind]
            held = _from_json(value) if self.kind in _AS_JSON else value
            return "" if fits(held) else f"is {_short(value)}, not {expected}"
        return ""


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _from_json(value: Any) -> Any:
    """What a JSON text spells; other values, and text that is no JSON, as they are."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


def _is_number(value: Any, convert: Callable[[Any], Any]) -> bool:
    if isinstance(value, bool):
        return False
    try:
        convert(value)
    except (TypeError, ValueError):
        return False
    return True


def _is_texts(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value)


def _is_places(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(type(item) is int and item >= 0 for item in value)


def _is_boxes(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(
        isinstance(item, Mapping)
        and isinstance(item.get("label"), str)
        and isinstance(item.get("bbox"), (list, tuple))
        and len(item["bbox"]) == 4
        and all(isinstance(edge, (int, float)) and not isinstance(edge, bool) for edge in item["bbox"])
        for item in value
    )


_AS_JSON = frozenset({"choices", "boxes", "object"})
_SHAPES: Mapping[str, tuple[str, Callable[[Any], bool]]] = MappingProxyType(
    {
        "text": ("text", lambda value: isinstance(value, str)),
        "integer": ("a whole number", lambda value: _is_number(value, lambda v: int(str(v)))),
        "number": ("a number", lambda value: _is_number(value, float)),
        "texts": ("a list of texts", _is_texts),
        "options": ("a list of texts, or one text", lambda value: isinstance(value, str) or _is_texts(value)),
        "choices": (
            "a list of texts or of image numbers",
            lambda value: _is_texts(value) or _is_places(value),
        ),
        "boxes": ("a list of {bbox: [x1, y1, x2, y2], label}", _is_boxes),
        "object": ("a JSON object", lambda value: isinstance(value, Mapping)),
        "image": ("an image", lambda value: isinstance(value, (str, Mapping))),
        "images": (
            "a list of images",
            lambda value: (
                isinstance(value, (list, tuple)) and all(isinstance(v, (str, Mapping)) for v in value)
            ),
        ),
    }
)


def _no_content_faults(row: Row) -> Iterator[tuple[str, str]]:
    return iter(())


@dataclass(frozen=True)
class Schema:
    """The columns of one split, which of them is the id, and what its content can have wrong.

    `content_faults` yields (column, problem) for a row whose columns and types are right.
    """

    columns: Sequence[Column]
    id_column: str = "id"
    content_faults: Callable[[Row], Iterable[tuple[str, str]]] = field(default=_no_content_faults)

    @property
    def media(self) -> list[str]:
        """Names of the columns that hold images."""
        return [column.name for column in self.columns if column.is_media]

    def missing(self, present: Iterable[str]) -> list[str]:
        """Names of required columns that are not among the present ones."""
        names = set(present)
        return [column.name for column in self.columns if column.required and column.name not in names]

    def faults(self, rows: Iterable[Row], source: str, *, skip_media: bool = False) -> list[Fault]:
        """Faults of schema, the first `MAX_FAULTS`; rows count from 1 as lines of a file do."""
        columns = [column for column in self.columns if not (skip_media and column.is_media)]
        faults: list[Fault] = []
        first_row_of: dict[str, int] = {}
        for number, row in enumerate(rows, start=1):
            for column in columns:
                if column.name not in row:
                    problem = "is missing" if column.required else ""
                else:
                    problem = column.problem(row[column.name])
                if problem:
                    faults.append(Fault(source, number, column.name, problem))
            identity = str(row.get(self.id_column))
            first = first_row_of.setdefault(identity, number)
            if first != number and row.get(self.id_column) is not None:
                faults.append(
                    Fault(source, number, self.id_column, f"repeats the id of row {first} ({identity})")
                )
            if len(faults) >= MAX_FAULTS:
                return faults[:MAX_FAULTS]
        return faults


@dataclass(frozen=True)
class Benchmark:
    """A benchmark's data: its hub data set (None: there is none), its splits, how to get them."""

    name: str
    title: str
    hub: str | None
    splits: Mapping[str, Schema]
    how_to_get: str


def benchmark(name: str) -> Benchmark:
    """The benchmark of that name.

    Raises:
        KeyError: there is none of that name.
    """
    if name not in BENCHMARKS:
        raise KeyError(f"no benchmark {name!r}; there are {', '.join(BENCHMARKS)}")
    module = importlib.import_module(f"{__name__}.{name}")
    found: Benchmark = module.BENCHMARK
    return found
