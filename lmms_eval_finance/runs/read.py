"""Reading the host's output back: runs, their sample files and the records in them.

The host writes ``<output_path>/<model>/<date>_results.json`` and, with ``--log_samples``,
``<date>_samples_<task>.jsonl``. A sample line holds what process_results returned; our
tasks return, under their primary metric, a record (`Record.to_json()`) or a list of
records (several scored items of one document). Files of other tasks in the same run hold
none and are passed over.
"""

from __future__ import annotations

import functools
import json
import os
import re
import sys
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lmms_eval_finance.metrics.records import Record
from lmms_eval_finance.settings import SettingError

LONGEST_LINE = 64 * 2**20
_SAMPLES = re.compile(r"(?P<date>.+?)_samples_(?P<task>.+)\.jsonl")
_RESULTS = re.compile(r"(?P<date>.+)_results\.json")
# `score` is absent from records that are not scored; `details` tells whole records from brief ones
_RECORD_KEYS = frozenset({"id", "outcome", "details"})


@dataclass(frozen=True)
class Sample:
    """One line of a sample file that holds records of ours.

    Attributes:
        records: of its scored items, one or several.
        prompt: the text that the model was asked; for dialogues that of the first turn.
        metric: the metric under which the records stand.
    """

    records: list[Record]
    prompt: str
    metric: str


@dataclass(frozen=True)
class Run:
    """One evaluation of one model: the files of one date in one folder.

    Attributes:
        folder: where its files lie; its name is the model's.
        date: what the names of its files start with.
        samples: the sample file of each task, by task name, sorted.
    """

    folder: Path
    date: str
    samples: Mapping[str, Path]

    @property
    def results(self) -> Path:
        """The host's results file."""
        return self.folder / f"{self.date}_results.json"

    @functools.cached_property
    def about(self) -> Mapping[str, Any]:
        """What the host says about the run in its results file; empty where there is none.

        Raises:
            SettingError: the file cannot be read.
        """
        path = own_file(self.results)
        try:
            found = json.loads(path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            raise SettingError(f"{self.results}: cannot be read ({error})") from error
        if not isinstance(found, dict):
            raise SettingError(f"{self.results}: is no results file of the host")
        return found

    @property
    def model(self) -> str:
        """The model's name in one printable line: the host's, else that of its wrapper, else the folder's."""
        config = self.about.get("config")
        wrapper = config.get("model") if isinstance(config, dict) else None
        named = (_one_line(str(name)) for name in (self.about.get("model_name"), wrapper) if name)
        return next(filter(None, named), self.folder.name)

    def companion(self, kind: str) -> Path:
        """A file of ours beside the run's: ``<date>_<kind>.jsonl`` (verdicts, review, decisions).

        Raises:
            SettingError: something else stands there.
        """
        return own_file(self.folder / f"{self.date}_{kind}.jsonl")

    def records(self, skipped: list[str] | None = None) -> Iterator[tuple[str, Record]]:
        """Task and record of every scored item, in the order of the files; nothing is held in memory.

        Args:
            skipped: where given, lines that cannot be read are described here and passed over.

        Raises:
            SettingError: a line cannot be read, naming file and line.
        """
        for task, path in self.samples.items():
            for record in read_records(path, skipped):
                yield task, record


def open_run(path: Path) -> Run:
    """Find the run that a path means: a results or sample file, a model's folder, or an output folder.

    Raises:
        SettingError: there is none, there are several to choose from, or it has no sample files.
    """
    found = _found(path)
    if len(found) > 1:
        names = "\n  ".join(str(folder / f"{date}_results.json") for folder, date in found)
        raise SettingError(f"{path}: holds {len(found)} runs; name one of\n  {names}")
    return _run(*found[0])


def open_runs(path: Path) -> list[Run]:
    """All runs that a path means, in order of folder and date; runs without sample files are passed over.

    Raises:
        SettingError: there is none with sample files.
    """
    found = _found(path)
    runs = [Run(folder, date, samples) for folder, date in found if (samples := _samples(folder, date))]
    return runs or [_run(*found[0])]


def _found(path: Path) -> list[tuple[Path, str]]:
    if not path.exists():
        raise SettingError(f"{path}: no such file or folder")
    if path.is_file():
        named = _SAMPLES.fullmatch(path.name) or _RESULTS.fullmatch(path.name)
        if named is None:
            raise SettingError(f"{path}: is no ..._results.json or ..._samples_TASK.jsonl of the host")
        return [(path.parent, named["date"])]
    found = _runs_in(path) or [
        run for folder in sorted(path.iterdir()) if folder.is_dir() for run in _runs_in(folder)
    ]
    if not found:
        raise SettingError(
            f"{path}: holds no ..._results.json and no ..._samples_TASK.jsonl: name the folder given to --output_path"
        )
    return found


def _runs_in(folder: Path) -> list[tuple[Path, str]]:
    names = [entry.name for entry in folder.iterdir() if entry.is_file()]
    matches = [_SAMPLES.fullmatch(name) or _RESULTS.fullmatch(name) for name in names]
    return [(folder, date) for date in sorted({match["date"] for match in matches if match})]


def _run(folder: Path, date: str) -> Run:
    samples = _samples(folder, date)
    if not samples:
        raise SettingError(f"{folder}: the run {date} has no sample files: run lmms-eval with --log_samples")
    return Run(folder, date, samples)


def _samples(folder: Path, date: str) -> dict[str, Path]:
    matches = {entry: _SAMPLES.fullmatch(entry.name) for entry in sorted(folder.iterdir())}
    return {
        match["task"]: own_file(entry) for entry, match in matches.items() if match and match["date"] == date
    }


def _one_line(text: str) -> str:
    """The text without line ends, controls, signs that turn the direction of writing, and lone surrogates.

    >>> _one_line(" a\\nb "), len(_one_line("x" * 3000))
    ('a b', 120)
    """
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= 120 else f"{line[:60]}…{line[-59:]}"


def own_file(path: Path) -> Path:
    """The path, where it is a file that lies in its folder, or nothing yet.

    Raises:
        SettingError: it is a folder, a device, or a link that leads out of the folder or nowhere.
    """
    inside = os.path.dirname(os.path.realpath(path)) == os.path.realpath(path.parent)
    if os.path.lexists(path) and not (inside and path.is_file()):
        raise SettingError(
            f"{path}: is no file of this folder, or a link out of it: put the file itself there"
        )
    return path


def read_records(path: Path, skipped: list[str] | None = None) -> Iterator[Record]:
    """The records of one sample file; none where its lines are not of our tasks.

    Args:
        path: a ``..._samples_TASK.jsonl``.
        skipped: where given, lines that cannot be read are described here and passed over.

    Raises:
        SettingError: a line cannot be read or an item stands twice, naming file and line.
    """
    for sample in read_samples(path, skipped):
        yield from sample.records


def read_samples(path: Path, skipped: list[str] | None = None) -> Iterator[Sample]:
    """The lines of one sample file that hold records, like `read_records`."""
    seen: set[str] = set()
    for number, line in enumerate(read_lines(path), 1):
        try:
            sample = parse_sample(line)
            if sample is None:
                continue
            for record in sample.records:
                if record.id in seen:
                    raise ValueError(f"the item {record.id!r} stands twice")
                seen.add(record.id)
        except (ValueError, RecursionError) as error:
            problem = f"{path}:{number}: {error}"
            if skipped is None:
                raise SettingError(f"{problem} (--skip-broken leaves such lines out)") from None
            skipped.append(problem)
        else:
            yield sample


def read_lines(path: Path) -> Iterator[bytes]:
    """The lines of a file; of one that is longer than `LONGEST_LINE`, its beginning and one byte too many.

    Raises:
        SettingError: the file cannot be read.
    """
    try:
        with path.open("rb") as file:
            while line := file.readline(LONGEST_LINE + 1):
                if len(line) > LONGEST_LINE:
                    while (rest := file.readline(LONGEST_LINE)) and not rest.endswith(b"\n"):
                        pass
                yield line
    except OSError as error:
        raise SettingError(f"{path}: cannot be read ({error.strerror or error})") from error


def parse_sample(line: bytes) -> Sample | None:
    """Read one line; None where it is blank or holds no record of ours.

    Raises:
        ValueError: it is no JSON object or too long, or what it holds is no record.
        RecursionError: it is nested too deeply.
    """
    if len(line) > LONGEST_LINE:
        raise ValueError(f"the line is longer than {LONGEST_LINE:,} bytes")
    if not line.strip():
        return None
    try:
        sample = json.loads(line)
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 text: {error}") from None
    except ValueError as error:
        raise ValueError(f"not JSON: {error}") from None
    if not isinstance(sample, dict):
        raise ValueError("not a JSON object")
    prompt = sample.get("input")
    for metric, value in sample.items():
        if records := records_in(value):
            return Sample(records, prompt if isinstance(prompt, str) else "", metric)
    return None


def records_in(value: Any) -> list[Record]:
    """The whole records that a metric's value holds, as tasks return it; empty for anything else.

    Raises:
        ValueError: what looks like a record is none.
    """
    # Several scored items of one doc stand under "items".
    found = [value] if _is_record(value) else value.get("items") if isinstance(value, dict) else value
    if not (isinstance(found, list) and found and all(_is_record(entry) for entry in found)):
        return []
    for entry in found:
        if wrong := _of_wrong_kind(entry):
            raise ValueError(f"not a record: {' and '.join(wrong)} of the wrong kind")
    return [Record.from_json(entry) for entry in found]


def _of_wrong_kind(entry: Mapping[str, Any]) -> list[str]:
    """The keys of a record whose values are of another kind than records have."""
    wrong = [
        name
        for name in ("id", "cluster", "reason", "signature")
        if name in entry and not isinstance(entry[name], str)
    ]
    if entry.get("score") is not None and not _are_numbers([entry["score"]]):
        wrong.append("score")
    labels, parts = entry.get("labels", _NOTHING), entry.get("parts", _NOTHING)
    if not isinstance(labels, dict) or not {str}.issuperset(map(type, labels.values())):
        wrong.append("labels")
    if not isinstance(parts, dict) or not _are_numbers(parts.values()):
        wrong.append("parts")
    if not isinstance(entry["details"], dict):
        wrong.append("details")
    return wrong


_NOTHING: Mapping[str, Any] = {}
_NUMBERS = frozenset({int, float})  # by type, for bool is an int too
_LARGEST = sys.float_info.max


def _are_numbers(values: Collection[Any]) -> bool:
    return _NUMBERS.issuperset(map(type, values)) and all(-_LARGEST <= value <= _LARGEST for value in values)


def _is_record(value: Any) -> bool:
    return isinstance(value, dict) and value.keys() >= _RECORD_KEYS
