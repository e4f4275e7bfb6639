"""CFMME's studies of how the picture matters: turned pages (table 6), tables as text (table 5), bad pictures.

Each compares the same questions asked in two ways, so the difference is taken item by item and
its interval by the bootstrap over images.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from lmms_eval_finance import data
from lmms_eval_finance.data.alterations import DISTURBANCES
from lmms_eval_finance.metrics.intervals import Interval, mean_interval
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.metrics.signature import Signature
from lmms_eval_finance.report.table import Cell, Table
from lmms_eval_finance.settings import SettingError

BASE = "cfmme_qa"
STUDIES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "CFMME table 6: orientation": {turn: f"{BASE}_rot{turn}" for turn in ("90", "180", "270")},
        "CFMME table 5: tables as HTML": {"HTML": f"{BASE}_table_html"},
        "CFMME robustness": {kind: f"{BASE}_robust_{kind}" for kind in DISTURBANCES},
    }
)
"""Title -> picture -> the task that is compared with `BASE`."""
_COLUMNS = ("model", "picture", "items", "as released", "accuracy", "change", "from", "to")
_NOTE = (
    "Accuracy in per cent over the items scored in both tasks; change in points with its 95% interval "
    "(bootstrap over images, difference taken item by item)."
)


@dataclass(frozen=True)
class Change:
    """What an alteration does to accuracy, over the items that both tasks scored.

    Attributes:
        items: number of items.
        before, after: accuracy of the base task and of the altered one, in [0, 1].
        difference: after - before with its interval.
    """

    items: int
    before: float
    after: float
    difference: Interval


def change(base: Sequence[Record], altered: Sequence[Record]) -> Change | None:
    """Compare two tasks item by item; None where no item is scored in both.

    Raises:
        SettingError: the two were scored under different conditions, beside the picture.
    """
    before = {record.id: record for record in base if record.score is not None}
    after = {record.id: record for record in altered if record.score is not None}
    shared = sorted(before.keys() & after.keys())
    for identity in shared:
        _check_comparable(before[identity], after[identity])
    differences = [(after[i].score or 0.0) - (before[i].score or 0.0) for i in shared]
    found = mean_interval(differences, [before[i].cluster for i in shared])
    if found is None:
        return None
    return Change(
        items=len(shared),
        before=sum(before[i].score or 0.0 for i in shared) / len(shared),
        after=sum(after[i].score or 0.0 for i in shared) / len(shared),
        difference=found,
    )


def _check_comparable(first: Record, second: Record) -> None:
    differing = Signature.parse(first.signature).differences(Signature.parse(second.signature))
    others = {name: values for name, values in differing.items() if name != "image"}
    if others:
        listed = "; ".join(
            f"{name}: {one or 'none'} and {two or 'none'}" for name, (one, two) in others.items()
        )
        raise SettingError(f"item {first.id}: {BASE} and its variant do not compare ({listed})")


def studies(tasks: Mapping[str, Mapping[str, Sequence[Record]]]) -> list[Table]:
    """A table for each study that the records allow, published figures below one's own.

    Args:
        tasks: task -> model -> records; tasks of one model may come from different runs.

    Raises:
        SettingError: a task and its variant were scored under different conditions.
    """
    tables = []
    for title, pictures in STUDIES.items():
        rows = list(_rows(pictures, tasks))
        if rows:
            tables.append(Table(title, _COLUMNS, [*rows, *_published(title)], note=_NOTE))
    return tables


def _rows(
    pictures: Mapping[str, str], tasks: Mapping[str, Mapping[str, Sequence[Record]]]
) -> Iterator[list[Cell]]:
    for model, base in tasks.get(BASE, {}).items():
        for picture, task in pictures.items():
            found = change(base, tasks.get(task, {}).get(model, ()))
            if found is not None:
                one = found.difference
                bounds = [None if bound is None else 100 * bound for bound in (one.low, one.high)]
                figures = [100 * found.before, 100 * found.after, 100 * one.estimate]
                yield [model, picture, str(found.items), *figures, *bounds]


def _published(title: str) -> Iterator[list[Cell]]:
    path = Path(data.__file__).parent / "published" / "cfmme.json"
    models: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["models"]
    for model in models:
        if "table 6" in title and "table6" in model:
            figures, items = dict(model["table6"]), "790"
            before = figures.pop("0")
        elif "table 5" in title and "table5" in model:
            before, figures = model["table5"]["table_image"], {"HTML": model["table5"]["table_html"]}
            items = "132"
        else:
            continue
        for picture, after in figures.items():
            yield [f"{model['name']} (published)", picture, items, before, after, after - before, None, None]
