"""CFMME's studies of how the picture matters: turned pages (table 6), tables as text (table 5), bad pictures.

Each compares the same questions asked in two ways, so the difference is taken item by item and
its interval by the bootstrap over images.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from lmms_eval_finance import data
from lmms_eval_finance.data.alterations import DISTURBANCES
from lmms_eval_finance.metrics.intervals import Interval, mean_interval
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.metrics.signature import Signature
from lmms_eval_finance.runs.read import Run
from lmms_eval_finance.settings import SettingError

BASE = "cfmme_qa"
STUDIES: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "Orientation (table 6)": {"90°": f"{BASE}_rot90", "180°": f"{BASE}_rot180", "270°": f"{BASE}_rot270"},
        "Tables as HTML (table 5)": {"HTML": f"{BASE}_table_html"},
        "Robustness": {kind: f"{BASE}_robust_{kind}" for kind in DISTURBANCES},
    }
)
"""Title -> column -> the task that is compared with `BASE`."""


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
        raise SettingError(f"item {first.id}: the two tasks do not compare ({listed})")


def studies(runs: Iterable[Run]) -> str:
    """The tables as Markdown: a line for each model of the runs, then the published ones.

    Runs in folders of the same name count as one model, so that tasks may be spread over runs.

    Raises:
        SettingError: no run holds `BASE` together with one of its variants.
    """
    models: dict[str, dict[str, list[Record]]] = {}
    for run in runs:
        for task, record in run.records():
            if task.startswith(BASE):
                models.setdefault(run.folder.name, {}).setdefault(task, []).append(record)
    parts = [text for title in STUDIES if (text := _table(title, models))]
    if not parts:
        raise SettingError(
            f"no model has {BASE} and one of its variants: run --tasks cfmme_orientation, cfmme_robustness or "
            f"{BASE},{BASE}_table_html with --log_samples"
        )
    return "\n".join(parts)


def _table(title: str, models: Mapping[str, Mapping[str, Sequence[Record]]]) -> str:
    columns = STUDIES[title]
    rows = []
    for model, tasks in models.items():
        changes = [change(tasks.get(BASE, ()), tasks.get(task, ())) for task in columns.values()]
        present = [one for one in changes if one is not None]
        if present:
            cells = ["" if one is None else _cell(one) for one in changes]
            rows.append([model, str(present[0].items), f"{100 * present[0].before:.2f}", *cells])
    if not rows:
        return ""
    head = ["model", "items", "as released", *columns]
    lines = [head, ["---"] * len(head), *rows, *_published(title)]
    intro = "Accuracy in per cent; in brackets the change in points with its 95% interval."
    return f"## {title}\n\n{intro}\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _cell(one: Change) -> str:
    difference = one.difference
    bounds = (
        ""
        if difference.low is None
        else f"; {100 * difference.low:+.2f} to {100 * (difference.high or 0):+.2f}"
    )
    return f"{100 * one.after:.2f} ({100 * difference.estimate:+.2f}{bounds})"


def _published(title: str) -> list[list[str]]:
    path = Path(data.__file__).parent / "published" / "cfmme.json"
    rows = []
    for model in json.loads(path.read_text(encoding="utf-8"))["models"]:
        if title.startswith("Orientation") and "table6" in model:
            figures, items = model["table6"], "790"
            before, after = figures["0"], [figures[turn] for turn in ("90", "180", "270")]
        elif title.startswith("Tables") and "table5" in model:
            figures, items = model["table5"], "132"
            before, after = figures["table_image"], [figures["table_html"]]
        else:
            continue
        cells = [f"{value:.2f} ({value - before:+.2f})" for value in after]
        rows.append([f"{model['name']} (published)", items, f"{before:.2f}", *cells])
    return rows
