"""Table 2 of Multimodal Finance Eval from its released answers and votes, as printed and corrected.

As printed (arXiv 2602.10384): the majority of three judges; column `table` over the first 120 of
the 368 items, since the released results were joined by id with the reworded file; dialogues
scored in file order although they were generated in the order of their damaged ids, so that 20
of 65 answers meet another question; the average over seven columns, the seventh being the
reworded items, 0 where they are missing.

Corrected: all 368 table items; the answers of a dialogue put back to their questions and read by
their letter, like those of the gold-context run; and, a second time, on the corrected golds of
``data/errata/mfe.jsonl``, where the rule judge decides anew about the corrected items only and
the votes stand where it leaves one undecided.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from lmms_eval_finance.data import errata
from lmms_eval_finance.data.importers.mfe_rows import PARTS, Row, read_release
from lmms_eval_finance.data.schemas.mfe import SCHEMA, options
from lmms_eval_finance.data.sources import read_jsonl
from lmms_eval_finance.judging import rules
from lmms_eval_finance.metrics.answers import extract_letters
from lmms_eval_finance.runs.released_mfe_answers import Answer, Answers, read_answers
from lmms_eval_finance.settings import SettingError

JOINED = 120
"""So many table items the printed column counts."""

PRINTED = {
    "text": "NER",
    "table": "tables",
    "chart": "charts",
    "conversation_gold": "calculs_conversation_gold",
    "conversation": "calculs_conversation",
    "special_case": "special_cases",
}
"""Columns of table 2 in their order -> released task."""
REWORDED = "table_yn_tf"
"""The seventh column of the average."""

_SPLITS = {
    "NER": "text",
    "tables": "table",
    "tables_yn_tf": "table_yn_tf",
    "charts": "chart",
    "special_cases": "special_case",
    "calculs_conversation_gold": "conversation",
    "calculs_conversation": "conversation",
}


@dataclass(frozen=True)
class Rate:
    """How many answers of how many are right.

    >>> Rate(51, 65).percent
    78.46153846153847
    """

    right: int
    n: int

    @property
    def percent(self) -> float:
        """The share in per cent; n is never 0."""
        return 100 * self.right / self.n

    @classmethod
    def of(cls, right: Iterable[bool | None]) -> Rate | None:
        """The rate of some decisions, those not taken (None) left out; None if nothing is left.

        >>> Rate.of([True, None, False]), Rate.of([None])
        (Rate(right=1, n=2), None)
        """
        taken = [decision for decision in right if decision is not None]
        return cls(sum(taken), len(taken)) if taken else None


Rates = Mapping[str, "Rate | None"]


@dataclass(frozen=True)
class ModelFigures:
    """One model's figures; a column is None where its answers were not released.

    Attributes:
        model, name: hub id, and the name in the paper (the hub id where the paper has none).
        printed: the row of table 2, in per cent; empty for a model that the paper does not have.
        released: the six columns by the printed rules, and the seventh, `table_yn_tf`.
        corrected: all tables, dialogues realigned and read by letter, released golds.
        amended: as `corrected`, on the corrected golds.
        changed: corrected items of which the answer's score changed: split -> (gained, lost).
        undecided: corrected items that the rules could not decide, left as they were voted.
    """

    model: str
    name: str
    printed: Mapping[str, float]
    released: Rates
    corrected: Rates
    amended: Rates
    changed: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    undecided: int = 0

    @property
    def average_as_printed(self) -> float | None:
        """The mean of the seven columns, a missing seventh counting 0; None if another is missing."""
        columns = [self.released[name] for name in PRINTED]
        seventh = self.released[REWORDED]
        if None in columns:
            return None
        return (sum(rate.percent for rate in columns if rate) + (seventh.percent if seventh else 0)) / 7


@dataclass(frozen=True)
class ReleasedTables:
    """The figures of all models found, and what to know about them.

    Attributes:
        models: in the order of table 2, then by name.
        corrections: the errata that were applied.
        errata_version: hash of their file.
        notes: what could not be computed and why.
    """

    models: Sequence[ModelFigures]
    corrections: Sequence[errata.Correction] = ()
    errata_version: str = ""
    notes: Sequence[str] = ()

    def to_json(self) -> dict[str, Any]:
        """Everything as plain JSON types, rates as {right, n, percent}."""
        return {
            "models": [
                {
                    "model": found.model,
                    "name": found.name,
                    "printed": dict(found.printed),
                    "average_as_printed": found.average_as_printed,
                    **{
                        name: {column: _rate_json(rate) for column, rate in rates.items()}
                        for name, rates in (
                            ("released", found.released),
                            ("corrected", found.corrected),
                            ("amended", found.amended),
                        )
                    },
                    **{
                        f"{kind}_{name}": mean(rates)
                        for kind, mean in (("macro", macro), ("weighted", weighted))
                        for name, rates in (("corrected", found.corrected), ("amended", found.amended))
                    },
                    "changed": {split: list(counts) for split, counts in found.changed.items()},
                    "undecided": found.undecided,
                }
                for found in self.models
            ],
            "errata_version": self.errata_version,
            "notes": list(self.notes),
        }


def _rate_json(rate: Rate | None) -> dict[str, Any] | None:
    return None if rate is None else {"right": rate.right, "n": rate.n, "percent": rate.percent}


def macro(rates: Rates) -> float | None:
    """The mean over the six tasks, in per cent; None if one is missing."""
    found = [rates.get(name) for name in PRINTED]
    return None if None in found else sum(rate.percent for rate in found if rate) / len(found)


def weighted(rates: Rates) -> float | None:
    """The mean over all items of the six tasks, in per cent; None if one is missing."""
    found = [rates.get(name) for name in PRINTED]
    if None in found:
        return None
    return 100 * sum(rate.right for rate in found if rate) / sum(rate.n for rate in found if rate)


@functools.lru_cache(maxsize=1)
def published() -> dict[str, Any]:
    """The figures that the paper prints, as packaged."""
    text = (files("lmms_eval_finance.data") / "published" / "mfe.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    return found


def released_tables(folder: Path, data_folder: Path | None = None) -> ReleasedTables:
    """Compute table 2 as printed and corrected for every model whose answers are in a folder.

    Args:
        folder: released answers and votes, in one of the layouts of `read_answers`.
        data_folder: the imported data (``DATA`` or ``DATA/mfe``) or a checkout of the release;
            without it, what needs golds (dialogues, errata) is left out.

    Raises:
        SettingError: nothing can be read there; the message says what to do.
    """
    models = read_answers(folder)
    names = {entry["hub"]: entry for entry in published()["models"]}
    order = {hub: place for place, hub in enumerate(names)}
    data = None if data_folder is None else _read_data(data_folder)
    corrections = errata.read(errata.FOLDER / "mfe.jsonl")
    notes: list[str] = []
    if data is None:
        notes.append("without the benchmark's data, dialogues are not realigned and errata not applied")
    found = []
    for model in sorted(models, key=lambda hub: (order.get(hub, len(order)), hub)):
        entry = names.get(model, {"name": model, "table2": {}})
        answers = {} if data is None else _of_this_data(models[model], data, model, notes)
        found.append(_figures(model, entry, models[model], answers, data or {}, corrections))
    return ReleasedTables(
        found,
        corrections=() if data is None else tuple(corrections.corrections.values()),
        errata_version="" if data is None else corrections.version,
        notes=notes,
    )


def _read_data(folder: Path) -> dict[str, list[Row]]:
    """Rows of all splits, from an imported folder or a checkout."""
    for imported in (folder, folder / "mfe"):
        if not (imported / "conversation.jsonl").is_file():
            continue
        data = {}
        for split in PARTS:
            path = imported / f"{split}.jsonl"
            if not path.is_file():
                raise SettingError(f"{path}: is missing; import the benchmark again")
            data[split] = list(read_jsonl(path))
            if faults := SCHEMA.faults(data[split], str(path), skip_media=True):
                raise SettingError(f"{faults[0]}; import the benchmark again")
        if not all(turn["element_as_released"] for turn in data["conversation"]):
            raise SettingError(f"{imported}: a turn has no element_as_released; import the benchmark again")
        return data
    if (folder / "dataset_json").is_dir():
        return read_release(folder)
    raise SettingError(
        f"{folder}: neither the imported data of Multimodal Finance Eval nor a checkout of its release; "
        "`lmms-eval-finance data import mfe FOLDER` makes the one from the other"
    )


def _of_this_data(
    answers: Answers, data: Mapping[str, Sequence[Row]], model: str, notes: list[str]
) -> Answers:
    """The tasks whose answers stand row by row beside the data; a note for each that does not."""
    fitting = {}
    for task, found in answers.items():
        if [answer.id for answer in found] == [row["id"] for row in data[_SPLITS[task]]]:
            fitting[task] = found
        else:
            notes.append(f"{model}: the answers of {task} are not those of the data's rows; left uncorrected")
    return fitting


def _votes(answers: Sequence[Answer]) -> Rate | None:
    return Rate.of(answer.right for answer in answers)


def _figures(
    model: str,
    entry: Mapping[str, Any],
    released: Answers,
    answers: Answers,
    data: Mapping[str, Sequence[Row]],
    corrections: errata.Errata,
) -> ModelFigures:
    """One model's figures: `released` as found, `answers` those that fit the data."""
    as_printed = {
        name: _votes(released.get(task, [])[: JOINED if name == "table" else None])
        for name, task in PRINTED.items()
    }
    judged = _Judged(corrections)
    corrected: dict[str, Rate | None] = {}
    amended: dict[str, Rate | None] = {}
    for name, task in {**PRINTED, REWORDED: "tables_yn_tf"}.items():
        split = _SPLITS[task]
        if split != "conversation":
            corrected[name] = _votes(released.get(task, []))
            amended[name] = judged.rate(split, data.get(split, []), answers.get(task, []))
            continue
        turns = data.get(split, [])
        found = answers.get(task, [])
        if name == "conversation" and found:
            found = realigned(turns, found)
        corrected[name] = _letters(turns, found, _released_gold)
        amended[name] = _letters(turns, found, judged.gold)
    return ModelFigures(
        model=model,
        name=entry["name"],
        printed=entry["table2"],
        released={**as_printed, REWORDED: _votes(released.get("tables_yn_tf", []))},
        corrected=corrected,
        amended=amended,
        changed=judged.changed,
        undecided=judged.undecided,
    )


def realigned(turns: Sequence[Row], answers: Sequence[Answer]) -> list[Answer]:
    """The answers of the dialogue run in the order of the turns.

    The released script generated dialogue after dialogue in the order of the ids as numbers
    (4.09999999999999 before 4.1) and wrote the answers down in that order.
    """
    generated = sorted(range(len(turns)), key=lambda place: float(turns[place]["element_as_released"]))
    placed = dict(zip(generated, answers, strict=True))
    return [placed[place] for place in range(len(turns))]


Gold = Callable[[Row], str]


def _released_gold(row: Row) -> str:
    return str(row["answer"])


def _letters(turns: Sequence[Row], answers: Sequence[Answer], gold: Gold) -> Rate | None:
    return Rate.of(_names(answer, gold(turn), turn) for turn, answer in zip(turns, answers, strict=False))


def _names(answer: Answer, gold: str, turn: Row) -> bool:
    """Whether the answer names exactly the gold option."""
    return extract_letters(answer.prediction, dict(options(turn["question"]))) == frozenset({gold.strip()})


class _Judged:
    """Decisions on corrected golds: the rules for corrected items, the votes for all others."""

    def __init__(self, corrections: errata.Errata) -> None:
        self.corrections = corrections
        self.changed: dict[str, tuple[int, int]] = {}
        self.undecided = 0

    def gold(self, row: Row) -> str:
        return self.corrections.gold(row["task"], row["id"], row["answer"])

    def rate(self, split: str, rows: Sequence[Row], answers: Sequence[Answer]) -> Rate | None:
        """The rate on the corrected golds; what it changes is noted down."""
        before = [answer.right for answer in answers]
        after = [self._right(row, answer) for row, answer in zip(rows, answers, strict=False)]
        if after:
            pairs = list(zip(before, after, strict=True))
            self.changed[split] = (pairs.count((False, True)), pairs.count((True, False)))
        return Rate.of(after)

    def _right(self, row: Row, answer: Answer) -> bool | None:
        gold = self.gold(row)
        if gold == row["answer"]:
            return answer.right
        verdict = rules.judge(
            row["question"], gold, answer.prediction, language="fr", question_type=row["question_type"]
        ).verdict
        if verdict == "undecided":
            self.undecided += 1
            return answer.right
        return verdict == "correct"
