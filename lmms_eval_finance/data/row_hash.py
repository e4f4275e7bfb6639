"""The hash of a set of rows: the same wherever the rows come from and whatever file holds them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from lmms_eval_finance.data.schemas import Column, Row, Schema


def row_hash(rows: Iterable[Row], schema: Schema) -> str:
    """SHA-256 over the rows in canonical JSON, in their order; its first 12 hexadecimal digits.

    Images, empty values and columns outside the schema do not count.

    >>> schema = Schema([Column("id", "integer"), Column("unit", "text")])
    >>> row_hash([{"id": 1}], schema) == row_hash([{"id": "1", "unit": None, "more": "x"}], schema)
    True
    """
    columns = sorted(
        (column for column in schema.columns if not column.is_media), key=lambda column: column.name
    )
    digest = hashlib.sha256()
    for row in rows:
        values = [
            [column.name, canonical(row[column.name], column)]
            for column in columns
            if row.get(column.name) is not None
        ]
        digest.update(json.dumps(values, ensure_ascii=False).encode("utf-8", "surrogatepass"))
        digest.update(b"\n")
    return digest.hexdigest()[:12]


def canonical(value: Any, column: Column) -> str:
    """A value as text, alike whether a file made numbers whole, fractional or text, nested values objects or text."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str) or not column.is_nested:
        return str(value)
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
