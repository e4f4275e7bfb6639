"""Scores from saved outputs: as the run left them with later verdicts and decisions, or scored again as a whole.

`rescored` changes only what judges or a person decided since. `scored_again` also puts every
response through its task's scoring anew: under other settings (errata, coordinates), or by newer
code. Where nothing changed it gives the run's own records.
"""

from __future__ import annotations

import gc
import itertools
import multiprocessing
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lmms_eval_finance import settings
from lmms_eval_finance.data import errata
from lmms_eval_finance.judging.items import JUDGEABLE, resolve
from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.metrics.signature import Signature
from lmms_eval_finance.runs.journal import Item
from lmms_eval_finance.runs.judge import Verdict, load_verdicts
from lmms_eval_finance.runs.read import Run, Sample, parse_sample, read_lines, read_samples
from lmms_eval_finance.runs.review import load_decisions
from lmms_eval_finance.settings import SettingError
from lmms_eval_finance.tasks import registry

_CHUNK = 250
_LARGE = 4 * 2**20
"""Files from this size on are worth the start of several processes."""


def rescored(run: Run, skipped: list[str] | None = None) -> Iterator[tuple[str, Record]]:
    """Task and record of every item, with the run's verdicts file and decisions applied.

    Raises:
        SettingError: a line of one of the files cannot be read.
    """
    verdicts = load_verdicts(run)
    decisions = load_decisions(run)
    for task, record in run.records(skipped):
        yield task, rescored_record(record, verdicts.get((task, record.id)), decisions.get((task, record.id)))


def rescored_samples(
    run: Run, task: str, skipped: list[str] | None = None
) -> Iterator[tuple[str, list[Record]]]:
    """Prompt and records of each line of one task, like `rescored`."""
    verdicts = load_verdicts(run)
    decisions = load_decisions(run)
    for sample in read_samples(run.samples[task], skipped):
        yield (
            sample.prompt,
            [
                rescored_record(record, verdicts.get((task, record.id)), decisions.get((task, record.id)))
                for record in sample.records
            ],
        )


def rescored_record(record: Record, verdict: Verdict | None, decision: str | None) -> Record:
    """The record under these votes and this decision; the same object where there are neither.

    Records that no judge may change (`JUDGEABLE`) change by a person's decision alone.
    """
    record = _with_votes(record, verdict)
    if decision is None and (verdict is None or record.outcome not in JUDGEABLE):
        return record
    details = record.details
    outcome, score, reason = resolve(_object(details.get("rule")), _objects(details.get("votes")), decision)
    return replace(record, outcome=outcome, score=score, reason=reason)


def _with_votes(record: Record, verdict: Verdict | None) -> Record:
    """The record with the votes of a verdicts file in place of its own, nothing decided yet."""
    if verdict is None or record.outcome not in JUDGEABLE:
        return record
    signature = Signature.parse(record.signature)
    if verdict.judges:
        signature = signature.with_fields(judge=verdict.judges)
    details: dict[str, Any] = {**record.details, "votes": list(verdict.votes)}
    return replace(record, signature=str(signature), details=details)


# -- scoring again ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Again:
    """A line of a sample file scored again.

    Attributes:
        task: the task's name.
        sample: the line as the run left it.
        records: its records as they are now, in the same order.
    """

    task: str
    sample: Sample
    records: list[Record]


def scored_again(run: Run, skipped: list[str] | None = None) -> Iterator[Again]:
    """Every line of the run scored again, with its verdicts file and decisions.

    ``LMMS_EVAL_FINANCE_ERRATA`` decides about the golds; unset, each item keeps the gold that the run
    used. Votes and decisions that were given on another gold do not count. A record that does not
    hold what its task needs, or whose task this package does not know, is left as `rescored` has it.

    Raises:
        SettingError: a line of one of the files cannot be read, an item stands twice, or a setting is wrong.
    """
    verdicts, decisions = load_verdicts(run), load_decisions(run)
    for task, path in run.samples.items():
        seen: set[str] = set()
        for number, result in enumerate(_scored_lines(path, task, verdicts, decisions), 1):
            if isinstance(result, Again):
                twice = next((record.id for record in result.records if record.id in seen), None)
                if twice is None:
                    seen.update(record.id for record in result.records)
                    yield result
                    continue
                result = f"the item {twice!r} stands twice"
            if result is not None:
                problem = f"{path}:{number}: {result}"
                if skipped is None:
                    raise SettingError(f"{problem} (--skip-broken leaves such lines out)")
                skipped.append(problem)


Results = Iterator["Again | str | None"]


def _scored_lines(
    path: Path, task: str, verdicts: Mapping[Item, Verdict], decisions: Mapping[Item, str]
) -> Results:
    """For each line what came of it: the line scored again, what is wrong with it, or None for no record."""
    line_of = _Lines(task, corrections_in_use(task), verdicts, decisions)
    workers = len(os.sched_getaffinity(0)) if sys.platform == "linux" else 1
    if workers == 1 or path.stat().st_size < _LARGE:
        yield from map(line_of, read_lines(path))
        return
    chunks = _chunks(read_lines(path))
    fork = multiprocessing.get_context("fork")
    with ProcessPoolExecutor(min(workers, 8), fork, initializer=gc.disable) as pool:
        waiting = [pool.submit(line_of.all, chunk) for chunk in itertools.islice(chunks, 4 * workers)]
        while waiting:
            yield from waiting.pop(0).result()
            waiting += [pool.submit(line_of.all, chunk) for chunk in itertools.islice(chunks, 1)]


@contextmanager
def without_collections() -> Iterator[None]:
    """Within the block, no cyclic garbage collection: over and over it would scan all records, which hold no cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _chunks(lines: Iterator[bytes]) -> Iterator[list[bytes]]:
    while chunk := list(itertools.islice(lines, _CHUNK)):
        yield chunk


def corrections_in_use(task: str) -> errata.Errata | None:
    """The errata that the settings ask for; None where they say nothing or the task is not ours."""
    found = registry.find(task)
    if found is None or settings.value("ERRATA") is None:
        return None
    return errata.load(found.benchmark)


@dataclass(frozen=True)
class _Lines:
    task: str
    corrections: errata.Errata | None
    verdicts: Mapping[Item, Verdict]
    decisions: Mapping[Item, str]

    def all(self, lines: Sequence[bytes]) -> list[Again | str | None]:
        return list(map(self, lines))

    def __call__(self, line: bytes) -> Again | str | None:
        try:
            sample = parse_sample(line)
        except (ValueError, RecursionError) as error:
            return str(error)
        if sample is None:
            return None
        saved = [_with_votes(record, self.verdicts.get((self.task, record.id))) for record in sample.records]
        found = registry.find(self.task)
        try:
            records = found.rescore(saved, self.corrections) if found else saved
        except SettingError:
            raise
        except Exception as error:  # whatever a damaged record makes fail, it is one line of the file
            return f"its records cannot be scored again ({type(error).__name__}: {error})"
        decided = list(map(self._decided, saved, records))
        # What did not change comes back from another process as the same object, sent once.
        return Again(self.task, sample, sample.records if decided == sample.records else decided)

    def _decided(self, saved: Record, record: Record) -> Record:
        """The record with a person's decision, where that was on this gold."""
        item = (self.task, record.id)
        if record is saved:
            return rescored_record(record, self.verdicts.get(item), self.decisions.get(item))
        return rescored_record(record, None, self.decisions.get(item) if record.gold == saved.gold else None)


def _object(value: Any) -> Mapping[str, Any] | None:
    return value if isinstance(value, dict) else None


def _objects(value: Any) -> Sequence[Mapping[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
