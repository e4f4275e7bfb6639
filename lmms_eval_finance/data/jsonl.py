"""Reading JSONL files, with errors that name the line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from lmms_eval_finance import settings


class DataError(settings.SettingError):
    """Data that cannot be reached or have faults of schema, with what to do about it."""


def read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    """The objects of a JSONL file; blank lines are passed over.

    Raises:
        DataError: a line is not a JSON object; the message names the line.
    """
    with path.open(encoding="utf-8-sig") as lines:
        try:
            for number, line in enumerate(lines, start=1):
                if not line.strip():
                    continue
                try:
                    row = json.loads(line)
                except json.JSONDecodeError as error:
                    raise DataError(f"{path}, line {number}: not JSON ({error})") from error
                if not isinstance(row, dict):
                    raise DataError(f"{path}, line {number}: not a JSON object")
                yield row
        except UnicodeDecodeError as error:
            raise DataError(f"{path}: not UTF-8 text ({error})") from error
