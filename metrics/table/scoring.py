"""TEDS of a pair of tables and of many."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, TypeAlias, TypeVar

from joblib import Parallel, delayed

from lmms_eval_finance.metrics.outcomes import Outcome
from lmms_eval_finance.metrics.table import port, reading
from lmms_eval_finance.metrics.table.apted_engine import apted_distance
from lmms_eval_finance.metrics.table.distance import tree_edit_distance
from lmms_eval_finance.metrics.table.elements import MAX_CHARACTERS, TagCodes
from lmms_eval_finance.metrics.table.trees import Table, TedsLimit

Variant: TypeAlias = Literal["default", "pubtabnet"]
Engine: TypeAlias = Literal["zhang-shasha", "apted"]

VERSIONS: Mapping[Variant, str] = {"default": "1", "pubtabnet": "1"}
"""Version of each variant's definition, for signatures; it changes whenever a value can."""
TIME_LIMIT = 30.0
"""Seconds of one pair, unless told otherwise; a pair of the largest tables takes about two."""

_READERS: Mapping[Variant, Callable[..., Table | None]] = {
    "default": reading.read_table,
    "pubtabnet": port.read_table,
}
_ENGINES: Mapping[Engine, Callable[..., float]] = {
    "zhang-shasha": tree_edit_distance,
    "apted": apted_distance,
}


def teds(
    gold_html: str,
    pred_html: str,
    *,
    structure_only: bool = False,
    variant: Variant = "default",
    engine: Engine = "zhang-shasha",
    time_limit: float = TIME_LIMIT,
) -> float:
    """Tree-edit-distance-based similarity of two tables (Zhong et al. 2020, arXiv:1911.10683).

    ``1 - TED / max(nodes of either)``: both tables become trees of table, sections, rows and
    cells. Inserting or deleting a node costs 1; renaming costs 1 when tag, colspan or rowspan
    differ, else, for cells, the Levenshtein distance of their tokens (characters and inline
    tags) over the greater length. Nodes are all elements below the table, inline ones included.

    Args:
        gold_html: the text with the gold table or, where it spans pages, tables.
        pred_html: what the model wrote; a text without a table scores 0.
        structure_only: leave cell content out (S-TEDS).
        variant: `default` reads what a reader would take for the table (`reading.read_table`) and
            stays within [0, 1]; `pubtabnet` gives the values of the common port, faults included
            (`port.read_table`), and can be negative.
        engine: `apted` computes the distance by that package instead.
        time_limit: seconds after which to give up.

    Raises:
        TedsLimit: a cap or the time limit is passed, or (default variant) the gold holds no table.
        ValueError: unknown variant or engine.

    >>> gold = "<table><tr><td>Cash</td><td>1,200</td></tr></table>"
    >>> teds(gold, "```html\\n<table><tr><th>Cash</th><td>1,300</td></tr></table>\\n```")
    0.9333333333333333
    >>> teds(gold, "| Cash | 1,200 |\\n| Bank | 300 |")
    0.4285714285714286
    """
    deadline = time.monotonic() + time_limit
    read = _choose(_READERS, "variant", variant)
    distance = _choose(_ENGINES, "engine", engine)
    codes = TagCodes()
    try:
        gold = _read(read, gold_html, codes, structure_only)
        if gold is None and variant == "default":
            raise TedsLimit("no table in the gold text")
    except TedsLimit as limit:
        raise TedsLimit(f"gold: {limit}", Outcome.GOLD_UNUSABLE) from limit
    pred = _read(read, pred_html, codes, structure_only)
    if gold is None or pred is None:
        return 0.0
    # The engines err by 1e-13: rounded, neither engine nor order of arguments shows.
    cost = round(distance(gold.root, pred.root, deadline=deadline), 12)
    similarity = 1.0 - cost / max(gold.size, pred.size, 1)
    return similarity if variant == "pubtabnet" else min(max(similarity, 0.0), 1.0)


def teds_batch(
    pairs: Iterable[tuple[str, str]],
    *,
    structure_only: bool = False,
    variant: Variant = "default",
    engine: Engine = "zhang-shasha",
    time_limit: float = TIME_LIMIT,
    n_jobs: int = 1,
) -> list[float | Outcome]:
    """`teds` of many pairs (gold, prediction), in order; where it gives no score, the outcome.

    Args:
        pairs: texts of gold and prediction.
        structure_only: see `teds`.
        variant: see `teds`.
        engine: see `teds`.
        time_limit: seconds for each pair.
        n_jobs: processes to share the work; -1 takes one for each core.

    Raises:
        ValueError: unknown variant or engine.

    >>> gold = "<table><tr><td>1</td></tr></table>"
    >>> teds_batch([(gold, gold), (gold, "no table"), ("?", gold)])
    [1.0, 0.0, <Outcome.GOLD_UNUSABLE: 'gold_unusable'>]
    """
    _choose(_READERS, "variant", variant)
    _choose(_ENGINES, "engine", engine)
    options = {
        "structure_only": structure_only,
        "variant": variant,
        "engine": engine,
        "time_limit": time_limit,
    }
    if n_jobs == 1:
        return [_result(gold, pred, options) for gold, pred in pairs]
    results = Parallel(n_jobs=n_jobs)(delayed(_result)(gold, pred, options) for gold, pred in pairs)
    return list(results)


def _result(gold: str, pred: str, options: Mapping[str, Any]) -> float | Outcome:
    try:
        return teds(gold, pred, **options)
    except TedsLimit as limit:
        return limit.outcome


def _read(
    read: Callable[..., Table | None], text: str, codes: TagCodes, structure_only: bool
) -> Table | None:
    if len(text) > MAX_CHARACTERS:
        raise TedsLimit(f"a text of more than {MAX_CHARACTERS:,} characters")
    return read(text, codes, structure_only=structure_only)


_Choice = TypeVar("_Choice")


def _choose(choices: Mapping[Any, _Choice], what: str, name: str) -> _Choice:
    if name not in choices:
        raise ValueError(f"unknown {what} {name!r}: use {' or '.join(map(repr, choices))}")
    return choices[name]
