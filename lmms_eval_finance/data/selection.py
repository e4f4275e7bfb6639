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


def restrict(rows: datasets.Dataset, ids: Sequence[str], task: str) -> datasets.Dataset:
    """The rows whose id (one per row, in order) is wanted; all of them when the setting is unset.

    Only indices change: no image is read.

    Raises:
        SystemExit: the setting is wrong or no row is left (the host retries, then hides, other errors).
    """
    try:
        wanted = wanted_ids()
    except settings.SettingError as error:
        raise SystemExit(f"lmms-eval-finance: {error}") from error
    if wanted is None:
        return rows
    kept = [index for index, identity in enumerate(ids) if identity in wanted]
    if not kept:
        some = ", ".join(list(ids)[:5])
        raise SystemExit(
            f"lmms-eval-finance: LMMS_EVAL_FINANCE_IDS lists no id of {task} (its ids look like {some})"
        )
    return rows.select(kept)
