"""Reads the answers and votes that were released with Multimodal Finance Eval.

Two layouts are read:

- one JSONL file for each model, ``<model with / as __>.jsonl``, with objects
  ``{"task", "row", "id", "prediction", "votes": {judge: bool}}``;
- the repository's own ``results/<task>:<model with / as __>[:<judge>].csv``; a judge's file has
  the columns id, prediction and evaluation (True or False), rows in the order of the data file.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lmms_eval_finance.data.sources import read_jsonl
from lmms_eval_finance.settings import SettingError

TASKS = (
    "NER",
    "tables",
    "tables_yn_tf",
    "charts",
    "special_cases",
    "calculs_conversation_gold",
    "calculs_conversation",
)
"""The released task names."""


@dataclass(frozen=True)
class Answer:
    """One released answer: the id it is filed under, the model's text, and the judges' votes."""

    id: str
    prediction: str
    votes: Mapping[str, bool] = field(default_factory=dict)

    @property
    def right(self) -> bool | None:
        """Whether more than half of the judges say so; None where none voted.

        >>> Answer("1", "Oui", {"a": True, "b": True, "c": False}).right
        True
        """
        return 2 * sum(self.votes.values()) > len(self.votes) if self.votes else None


Answers = dict[str, list[Answer]]
"""Released task -> answers in file order."""


def read_answers(folder: Path) -> dict[str, Answers]:
    """All models' answers in a folder of either layout: hub id -> task -> answers.

    Tasks that the benchmark does not have are passed over.

    Raises:
        SettingError: there are none, or a file is not what its layout says; the message names it.
    """
    if not folder.is_dir():
        raise SettingError(f"{folder}: no such folder")
    results = folder / "results" if (folder / "results").is_dir() else folder
    tables = sorted(path for path in results.glob("*.csv") if _csv_name(path))
    lists = sorted(folder.glob("*.jsonl"))
    models = _from_csv(tables) if tables else {_model(path.stem): _from_jsonl(path) for path in lists}
    models = {
        model: {task: found for task, found in tasks.items() if found} for model, tasks in models.items()
    }
    models = {model: tasks for model, tasks in models.items() if tasks}
    if not models:
        raise SettingError(
            f"{folder}: no released answers (looked for MODEL.jsonl and results/TASK:MODEL[:JUDGE].csv)"
        )
    return models


def _model(stem: str) -> str:
    return stem.replace("__", "/", 1)


# -- JSONL ------------------------------------------------------------------------------------------


def _from_jsonl(path: Path) -> Answers:
    rows: dict[str, dict[int, Answer]] = {}
    for number, entry in enumerate(read_jsonl(path), start=1):
        task, row, votes = entry.get("task"), entry.get("row"), entry.get("votes", {})
        if task not in TASKS:
            continue
        if isinstance(row, bool) or not isinstance(row, int):
            raise SettingError(f"{path}, entry {number}: `row` is {row!r}, not a whole number")
        if not isinstance(votes, dict) or not all(isinstance(vote, bool) for vote in votes.values()):
            raise SettingError(f"{path}, entry {number}: `votes` is not an object of true and false")
        placed = rows.setdefault(task, {})
        if row in placed:
            raise SettingError(f"{path}, entry {number}: a second answer for row {row} of {task}")
        prediction = entry.get("prediction")
        placed[row] = Answer(str(entry.get("id")), "" if prediction is None else str(prediction), votes)
    for task, placed in rows.items():
        if sorted(placed) != list(range(len(placed))):
            raise SettingError(f"{path}: the rows of {task} do not run from 0 to {len(placed) - 1}")
    return {task: [answer for _, answer in sorted(placed.items())] for task, placed in rows.items()}


# -- the repository's CSV ---------------------------------------------------------------------------


def _csv_name(path: Path) -> tuple[str, str, str] | None:
    """(task, model, judge) of a results file; the judge is empty for the answers themselves."""
    task, *rest = path.name.removesuffix(".csv").split(":")
    if task not in TASKS or not 1 <= len(rest) <= 2:
        return None
    return task, _model(rest[0]), rest[1] if len(rest) == 2 else ""


def _from_csv(paths: Sequence[Path]) -> dict[str, Answers]:
    models: dict[str, Answers] = {}
    for path in paths:
        name = _csv_name(path)
        assert name is not None
        task, model, judge = name
        read = list(_csv_answers(path, judge))
        before = models.setdefault(model, {}).setdefault(task, read)
        if [answer.id for answer in before] != [answer.id for answer in read]:
            raise SettingError(f"{path}: its ids differ from those of the other files of {task} and {model}")
        models[model][task] = [
            Answer(one.id, one.prediction, {**one.votes, **other.votes})
            for one, other in zip(before, read, strict=True)
        ]
    return models


def _csv_answers(path: Path, judge: str) -> Iterator[Answer]:
    csv.field_size_limit(2**31 - 1)  # a context may be longer than the module's default
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.DictReader(file)
            for name in ("id", "prediction", *(["evaluation"] if judge else [])):
                if name not in (rows.fieldnames or ()):
                    raise SettingError(f"{path}: the column {name!r} is missing")
            for number, row in enumerate(rows, start=1):
                votes = {}
                if judge and (vote := (row["evaluation"] or "").strip().casefold()):
                    if vote not in ("true", "false"):
                        raise SettingError(
                            f"{path}, row {number}: evaluation is {vote!r}, neither True nor False"
                        )
                    votes[judge] = vote == "true"
                yield Answer((row["id"] or "").strip().removesuffix(".0"), row["prediction"] or "", votes)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise SettingError(f"{path}: not readable as CSV ({error})") from error
