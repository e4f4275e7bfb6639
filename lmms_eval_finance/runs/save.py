"""Writing records as a run in the host's layout, so that everything which reads runs reads them too."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TextIO

from lmms_eval_finance.runs.read import Sample
from lmms_eval_finance.settings import SettingError


class SavedRun:
    """A run that is being written; a context manager.

    Args:
        folder: where the model's folder goes, like the host's ``--output_path``.
        model: names the run's folder.
        date: what the names of its files start with.

    Raises:
        SettingError: it exists already, or cannot be written.
    """

    def __init__(self, folder: Path, model: str, date: str) -> None:
        self.folder = folder / (re.sub(r"[^\w.-]+", "__", model).strip(".")[:200] or "model")
        self.date = date
        self._model = model
        self._files: dict[str, TextIO] = {}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            # "x": two runs of one date would mix their sample files
            self._results = (self.folder / f"{date}_results.json").open(
                "x", encoding="utf-8", errors="replace"
            )
        except FileExistsError:
            raise SettingError(
                f"{self.folder / f'{date}_results.json'}: exists already; choose another folder"
            ) from None
        except OSError as error:
            raise SettingError(f"{self.folder}: cannot be written ({error.strerror or error})") from error

    def add(self, task: str, sample: Sample, records: Iterable[Any]) -> None:
        """Write one line: the records in place of those of the sample.

        Raises:
            SettingError: it cannot be written.
        """
        listed = [record.to_json() for record in records]
        line = {"input": sample.prompt, sample.metric: listed[0] if len(listed) == 1 else {"items": listed}}
        try:
            if task not in self._files:
                path = self.folder / f"{self.date}_samples_{task}.jsonl"
                self._files[task] = path.open("w", encoding="utf-8", errors="replace")
            self._files[task].write(json.dumps(line, ensure_ascii=False) + "\n")
        except OSError as error:
            raise SettingError(f"{self.folder}: cannot be written ({error.strerror or error})") from error

    def finish(self, results: Mapping[str, Mapping[str, float]], about: Mapping[str, Any]) -> Path:
        """Write the results file, with `about` as the host's description of the run, and return it."""
        found = {
            **about,
            "results": {
                task: {f"{name},none": value for name, value in figures.items()}
                for task, figures in results.items()
            },
            "model_name": self._model,
            "date": self.date,
        }
        try:
            json.dump(found, self._results, ensure_ascii=False, indent=2)
        except OSError as error:
            raise SettingError(f"{self._results.name}: cannot be written ({error})") from error
        return Path(self._results.name)

    def __enter__(self) -> SavedRun:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        for file in (*self._files.values(), self._results):
            file.close()
            if kind is not None:  # half a run would pass for a whole one
                Path(file.name).unlink(missing_ok=True)
