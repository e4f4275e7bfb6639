"""``LMMS_EVAL_FINANCE_IDS``: restrict any task to listed items."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lmms_eval_finance import settings

if TYPE_CHECKING:
    import datasets


def wanted_ids() -> frozenset[str] | None:
    """The listed ids: comma-separated, or ``@FILE`` with one a line; None when the setting is unset.

    Raises:
        SettingError: the file cannot be read, or nothing is listed.
    """
    setting = settings.value("IDS")
    if setting is None:
        return None
    if setting.startswith("@"):
        try:
            entries = Path(setting[1:]).expanduser().read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise settings.SettingError(
                f"LMMS_EVAL_FINANCE_IDS={setting}: cannot be read ({error})"
            ) from error
    else:
        entries = setting.split(",")
    ids = frozenset(entry.strip() for entry in entries if entry.strip())
    if not ids:
        raise settings.SettingError(f"LMMS_EVAL_FINANCE_IDS={setting}: lists no id")
    return ids


def wanted_groups(ids: Sequence[str], members: Sequence[Sequence[str]], task: str) -> list[int]:
    """Numbers of the docs to keep: those whose own id or a member's is wanted; all when the setting is unset.

    Args:
        ids: each doc's id.
        members: the ids of what each doc holds (sub-questions, turns); a doc is kept whole.
        task: names the task in the message.

    Raises:
        SystemExit: the setting is wrong or nothing is left (the host retries, then hides, other errors).
    """
    try:
        wanted = wanted_ids()
    except settings.SettingError as error:
        raise SystemExit(f"lmms-eval-finance: {error}") from error
    numbers = range(len(ids))
    if wanted is None:
        return list(numbers)
    kept = [number for number in numbers if ids[number] in wanted or not wanted.isdisjoint(members[number])]
    if not kept:
        some = ", ".join(list(ids)[:5])
        raise SystemExit(
            f"lmms-eval-finance: LMMS_EVAL_FINANCE_IDS lists no id of {task} (its ids look like {some})"
        )
    return kept


def restrict(rows: datasets.Dataset, ids: Sequence[str], task: str) -> datasets.Dataset:
    """The rows whose id (one per row, in order) is wanted; all of them when the setting is unset.

    Only indices change: no image is read.

    Raises:
        SystemExit: as `wanted_groups`.
    """
    kept = wanted_groups(ids, [()] * len(ids), task)
    return rows if len(kept) == len(rows) else rows.select(kept)
