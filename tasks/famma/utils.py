"""FAMMA (arXiv 2410.04526): the hooks that the YAML files name.

They are called ``<hook>__<variant>``, for instance ``process_results__release_basic_txt``;
`VARIANTS` says which split a variant asks and how.
"""

from __future__ import annotations

from typing import Any

from lmms_eval_finance.data.schemas import famma as schema
from lmms_eval_finance.metrics.signature import Signature
from lmms_eval_finance.tasks import common
from lmms_eval_finance.tasks.common import Doc
from lmms_eval_finance.tasks.famma import rows as famma_rows
from lmms_eval_finance.tasks.famma.retrieval import RetrievalVariant
from lmms_eval_finance.tasks.famma.rows import questions_of
from lmms_eval_finance.tasks.famma.steps import StepsVariant
from lmms_eval_finance.tasks.famma.submission import write_submission
from lmms_eval_finance.tasks.famma.variant import Variant

process_docs = famma_rows.contexts
process_singles = famma_rows.singles

VARIANTS: dict[str, Variant] = {
    **{split: Variant(split) for split in schema.BENCHMARK.splits},
    "single": Variant("release_basic", ask="question"),
    "dynamic_cot": StepsVariant("release_basic", ask="steps"),
    "dynamic_cot_txt": StepsVariant("release_basic_txt", ask="steps"),
    "rag": RetrievalVariant("release_basic"),
    "rag_txt": RetrievalVariant("release_basic_txt"),
}


def __getattr__(name: str) -> Any:
    hook, _, variant = name.partition("__")
    if variant not in VARIANTS or hook.startswith("_"):
        raise AttributeError(name)
    return getattr(VARIANTS[variant], hook)


def doc_to_target(doc: Doc) -> str:
    """The golds as released, in order; masked ones stay masked."""
    return "\n".join(question["answers"] for question in questions_of(doc))


# -- the host's aggregations -------------------------------------------------------------------------


def accuracy(items: list[Any], args: Any = None) -> float | None:
    """The mean score over sub-questions; where no item has a gold, the answers go into a submission file.

    `args` is the host's command line.
    """
    records = common.records_of(items)
    if records and not any(record.gold for record in records):
        task = dict(Signature.parse(records[0].signature).fields).get("task", "famma")
        write_submission(records, task, getattr(args, "output_path", None))
        return None
    return common.accuracy(items)


standard_error = common.standard_error
mean = common.mean
total = common.total
