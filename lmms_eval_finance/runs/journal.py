"""Small JSONL files of ours beside a run, and how they are written so that a crash costs nothing.

verdicts   ``<date>_verdicts.jsonl``: the votes of language judges, one line an item
review     ``<date>_review.jsonl``: items that a person should look at
decisions  ``<date>_decisions.jsonl``: what the person decided, appended one by one; the last counts
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lmms_eval_finance.settings import SettingError

Item = tuple[str, str]
"""A task's name and a record's id."""


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Replace the file as a whole: readers see the old or the new one, never a part.

    Raises:
        SettingError: it cannot be written.
    """
    write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def write_text(path: Path, text: str) -> None:
    """Replace a file as `write_lines` does.

    Raises:
        SettingError: it cannot be written.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("w", encoding="utf-8", errors="replace") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise SettingError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        part.unlink(missing_ok=True)


def append_line(path: Path, row: Mapping[str, Any]) -> None:
    """Add one line and have it on disk when this returns.

    Raises:
        OSError: it cannot be written.
    """
    with path.open("ab+") as file:
        torn = file.tell() > 0 and file.seek(-1, os.SEEK_END) >= 0 and file.read(1) != b"\n"
        file.write(b"\n" * torn + json.dumps(row).encode("ascii") + b"\n")
        file.flush()
        os.fsync(file.fileno())


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The file's objects; none if there is no file. A torn line, left by a killed writer, is passed over.

    Raises:
        SettingError: a line is no JSON object with `task` and `id`, naming file and line.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        raise SettingError(f"{path}: cannot be read ({error.strerror or error})") from error
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if not isinstance(row, dict) or not all(
                isinstance(row.get(name), str) for name in ("task", "id")
            ):
                raise ValueError("no object with task and id")
        except (ValueError, RecursionError) as error:
            if _torn(line):
                continue
            raise SettingError(
                f"{path}:{number}: cannot be read ({error}): mend or remove the line"
            ) from None
        yield row


def _torn(line: bytes) -> bool:
    """Whether the line is the start of one that `append_line` or `write_lines` wrote."""
    opening = b'{"task": '
    return line[: len(opening)] == opening[: len(line)] and not line.endswith(b"}")


def item_of(row: Mapping[str, Any]) -> Item:
    """Task and id of a row."""
    return row["task"], row["id"]
