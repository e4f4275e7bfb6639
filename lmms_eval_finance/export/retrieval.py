"""Stands for `tasks.famma.retrieval` in an exported task: tasks with retrieval are not exported (`LEFT_OUT`)."""

from __future__ import annotations

from lmms_eval_finance.tasks.famma.variant import Variant as RetrievalVariant

__all__ = ["RetrievalVariant"]
