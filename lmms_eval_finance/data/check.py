"""Checks a benchmark's data before any model is loaded: faults of schema, faults of content."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from lmms_eval_finance.data import sources
from lmms_eval_finance.data.schemas import Fault, benchmark


@dataclass(frozen=True)
class SplitReport:
    """What was found in one split: where it is, or why it cannot be used, and odd content."""

    split: str
    source: sources.Source | None
    problem: str = ""
    content: list[Fault] = field(default_factory=list)


def check(name: str, splits: list[str] | None = None) -> Iterator[SplitReport]:
    """Check the splits of a benchmark one by one as the settings find them.

    Raises:
        KeyError: there is no such benchmark or split.
    """
    about = benchmark(name)
    for split in splits or list(about.splits):
        try:
            source = sources.locate(name, split)
        except sources.DataError as error:
            yield SplitReport(split, None, str(error))
            continue
        schema = about.splits[split]
        rows = source.load()
        rows = rows.remove_columns([column for column in schema.media if column in rows.column_names])
        empty = {column.name: None for column in schema.columns}
        label = f"{about.title}/{split}"
        content = [
            Fault(label, number, column, f"{problem} (id {row[schema.id_column]})")
            for number, row in enumerate(rows, start=1)
            for column, problem in schema.content_faults({**empty, **row})
        ]
        yield SplitReport(split, source, content=content)
