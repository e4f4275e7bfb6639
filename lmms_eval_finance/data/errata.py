"""Errata overlays: reviewed corrections of released gold answers, one JSONL file per benchmark.

Each line holds `benchmark`, `task`, `id`, `released` (the gold as released),
`corrected`, `evidence` (a short quotation) and `date`. Scores are on the released
gold unless ``LMMS_EVAL_FINANCE_ERRATA`` is 1 (the packaged file) or names a file.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lmms_eval_finance import settings
from lmms_eval_finance.data.jsonl import read_jsonl

FOLDER = Path(__file__).parent / "errata"
KEYS = ("benchmark", "task", "id", "released", "corrected", "evidence", "date")


@dataclass(frozen=True)
class Correction:
    """One corrected gold with the evidence for it."""

    benchmark: str
    task: str
    id: str
    released: str
    corrected: str
    evidence: str
    date: str


@dataclass(frozen=True)
class Errata:
    """The corrections of one benchmark and their version (hash of the file; empty: none are used)."""

    version: str = ""
    corrections: Mapping[tuple[str, str], Correction] = field(default_factory=dict)

    def gold(self, task: str, identity: str, released: str) -> str:
        """The corrected gold, or the released one where there is no correction of exactly this gold.

        >>> fix = Correction("mfe", "chart", "127", "0.05", "5%", "5,00 %", "2026-11-29")
        >>> errata = Errata("v", {("chart", "127"): fix})
        >>> errata.gold("chart", "127", "0.05"), errata.gold("chart", "127", "5 %"), errata.gold("chart", "1", "x")
        ('5%', '5 %', 'x')
        """
        found = self.corrections.get((task, identity))
        return found.corrected if found and found.released == released else released


def read(path: Path) -> Errata:
    """Read an errata file.

    Raises:
        SettingError: it is not there, or a line is not a correction; the message names the line.
    """
    if not path.is_file():
        raise settings.SettingError(f"{path}: there is no such errata file")
    corrections = {}
    for number, row in enumerate(read_jsonl(path), start=1):
        missing = [key for key in KEYS if not isinstance(row.get(key), str)]
        if missing:
            raise settings.SettingError(f"{path}, entry {number}: {', '.join(missing)} missing or not text")
        correction = Correction(**{key: row[key] for key in KEYS})
        place = (correction.task, correction.id)
        if place in corrections:
            raise settings.SettingError(f"{path}, entry {number}: a second correction of {'/'.join(place)}")
        corrections[place] = correction
    return Errata(hashlib.sha256(path.read_bytes()).hexdigest()[:8], corrections)


def load(benchmark: str) -> Errata:
    """The corrections in use for a benchmark as the setting says; none when it is off.

    Raises:
        SettingError: the setting names a file that cannot be used.
    """
    setting = settings.value("ERRATA")
    if setting is not None and setting.endswith(".jsonl"):
        chosen = _read(Path(setting).expanduser())
        return Errata(
            chosen.version,
            {place: fix for place, fix in chosen.corrections.items() if fix.benchmark == benchmark},
        )
    if setting is None or not settings.flag("ERRATA"):
        return _NONE
    packaged = FOLDER / f"{benchmark}.jsonl"
    return _read(packaged) if packaged.is_file() else _NONE


_NONE = Errata()
_read = functools.lru_cache(maxsize=16)(read)
