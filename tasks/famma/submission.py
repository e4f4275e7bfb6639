"""Splits without golds: the answers go into a file that their keeper can score."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from loguru import logger

from lmms_eval_finance.metrics.records import Record


def write_submission(records: Sequence[Record], task: str, output: str | None) -> Path | None:
    """Write the answers of a run without golds and say so in the log.

    The file is one JSON object: question id -> {"answer", "explanation"}; an answer that could
    not be read is null.

    Args:
        records: of all sub-questions.
        task: names the file.
        output: the host's output path; None where the run keeps no files.

    Returns:
        The file, None where none could be written.
    """
    if output is None:
        logger.warning(
            f"{task}: the data have no golds; --output_path FOLDER keeps the answers as a submission"
        )
        return None
    answers = {
        record.id: {"answer": record.prediction, "explanation": record.details.get("explanation", "")}
        for record in records
    }
    now = datetime.now().strftime("%Y%m%d_%H%M%S")
    path = Path(output) / f"{now}_submission_{task}.json"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(answers, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        logger.error(f"{task}: the submission {path} cannot be written ({error})")
        return None
    logger.warning(f"{task}: the data have no golds, nothing is scored; {len(answers)} answers are in {path}")
    return path
