"""Data folders that appear whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from lmms_eval_finance.data.sources import DataError

MANIFEST = "manifest.json"
"""The file by which an imported folder is known."""


def check_replaceable(destination: Path) -> None:
    """Refuse to replace anything but an earlier import.

    Raises:
        DataError: something else is there.
    """
    if destination.is_symlink() or (destination.exists() and not destination.is_dir()):
        raise DataError(f"{destination}: is not a folder; choose another place to write to")
    if destination.is_dir() and any(destination.iterdir()) and not (destination / MANIFEST).is_file():
        raise DataError(
            f"{destination}: holds other files (no {MANIFEST} of an earlier import); choose another folder"
        )


@contextlib.contextmanager
def staged(destination: Path) -> Iterator[Path]:
    """A scratch folder beside the destination that takes its place when the body went well.

    Raises:
        DataError: the place cannot be written to.
    """
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        scratch = Path(
            tempfile.mkdtemp(prefix=f".{destination.name}.", suffix=".partial", dir=destination.parent)
        )
    except OSError as error:
        raise DataError(f"{destination}: cannot be written ({error})") from error
    try:
        new, old = scratch / "new", scratch / "old"
        new.mkdir()
        yield new
        try:
            if destination.exists():
                os.replace(destination, old)
            os.replace(new, destination)
        except BaseException:
            if old.exists() and not destination.exists():
                os.replace(old, destination)
            raise
    except OSError as error:
        raise DataError(f"{destination}: cannot be written ({error})") from error
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
