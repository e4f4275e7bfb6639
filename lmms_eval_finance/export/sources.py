"""Stands for `data.sources` in an exported task: the host loads the rows, which are checked on their way to the task."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_eval_finance import settings
from lmms_eval_finance.data.row_hash import row_hash
from lmms_eval_finance.data.schemas import Fault, benchmark
from lmms_eval_finance.tasks import run_settings

if TYPE_CHECKING:
    import datasets

ROWS = "data/{split}.parquet"
"""The rows of a split, beside the task files."""
_MOST_LISTED = 20


@dataclass(frozen=True)
class Source:
    """The rows of one split."""

    benchmark: str
    split: str
    rows_hash: str

    @property
    def fingerprint(self) -> str:
        """The part of a signature that names the data: the same rows compare, wherever they come from."""
        return f"{self.benchmark}/{self.split}@{self.rows_hash}"


_found: dict[tuple[str, str], tuple[datasets.Dataset, Source]] = {}


def locate(name: str, split: str) -> Source:
    """The rows of a benchmark's split that the host has loaded."""
    return _found[name, split][1]


def data_file(folder: Path, split: str) -> str:
    """Where the rows of a split are, for tasks that no hub has data for.

    Raises:
        SystemExit: they are not there (the host would try again for seconds and not name the file).
    """
    path = folder / ROWS.format(split=split)
    if not path.is_file():
        raise SystemExit(
            f"lmms-eval-finance: {path}: there are no rows. `lmms-eval-finance export upstream DEST --with-data` "
            "writes them; or let `dataset_path` in the task's YAML name a data set on the hub"
        )
    return str(path)


def checked(name: str, process_docs: Callable[[datasets.Dataset], Any]) -> Callable[[datasets.Dataset], Any]:
    """A hook on the rows of a benchmark that looks at settings and rows first.

    The hook ends the run by SystemExit, before anything is generated, where a setting is wrong
    or the rows do not fit the schema: the host retries, then hides, other errors.
    """

    @functools.wraps(process_docs)
    def prepared(rows: datasets.Dataset) -> Any:
        try:
            _check_settings(name)
            _note(name, rows)
        except settings.SettingError as error:
            raise SystemExit(f"lmms-eval-finance: {error}") from error
        return process_docs(rows)

    return prepared


def __getattr__(name: str) -> Any:
    """``asked``, for the metadata of a task: what settings decide on the requests (`run_settings.what_is_asked`)."""
    if name != "asked":
        raise AttributeError(name)
    try:
        return run_settings.what_is_asked()
    except settings.SettingError as error:
        raise SystemExit(f"lmms-eval-finance: {error}") from error


def _check_settings(name: str) -> None:
    if settings.value("DATA"):
        raise settings.SettingError(
            "LMMS_EVAL_FINANCE_DATA is set, which these tasks do not look at: they ask the rows that "
            "`dataset_path` in their YAML names; unset it"
        )
    run_settings.check(name)


def _note(name: str, rows: datasets.Dataset) -> None:
    """Validate and hash the rows, no image read; again only if the host has loaded others."""
    split = str(rows.split)
    if (name, split) in _found and _found[name, split][0] is rows:
        return
    about = benchmark(name)
    if split not in about.splits:
        raise settings.SettingError(
            f"{about.title}: the host has loaded a split {split!r}, and these tasks know {', '.join(about.splits)}: "
            "the data have to name their splits so"
        )
    schema = about.splits[split]
    place = f"{about.title}, {split}"
    faults = [Fault(place, None, column, "is missing") for column in schema.missing(rows.column_names)]
    if not faults:
        texts = rows.remove_columns(
            [column for column in schema.media if column in rows.column_names]
        ).to_list()
        faults = schema.faults(texts, place, skip_media=True)
    if faults:
        listed = "\n  ".join(map(str, faults[:_MOST_LISTED]))
        raise settings.SettingError(f"the rows do not fit the schema; the first faults:\n  {listed}")
    if not texts:
        raise settings.SettingError(f"{place}: there are no rows")
    _found[name, split] = rows, Source(name, split, row_hash(texts, schema))
