"""The baseline as the host's model ``finance_baseline``, for messages and, with ``--force_simple``, for texts."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from loguru import logger

from lmms_eval_finance.models.baseline import ocr
from lmms_eval_finance.models.baseline.request import Request, read, read_text
from lmms_eval_finance.models.dialogue import run_dialogues
from lmms_eval_finance.settings import SettingError

AT_ONCE = 16
"""Requests whose images are held in memory at a time."""

if TYPE_CHECKING:
    FinanceBaseline: Any
    FinanceBaselineSimple: Any


def answer(request: Request) -> str:
    """The model's answer; a request that it cannot handle gets an empty one, and a line in the log."""
    from lmms_eval_finance.models.baseline.model import respond

    try:
        return respond(request)
    except Exception:  # one odd request must not end a run
        logger.exception("finance_baseline could not answer a request")
        return ""


def answer_all(requests: Iterator[Request], total: int, *, show_progress: bool) -> Iterator[str]:
    """The answers in order; images are read side by side on the cores this process has."""
    from tqdm import tqdm

    workers = max(1, (os.cpu_count() or 1) // max(1, int(os.environ.get("LOCAL_WORLD_SIZE") or 1)))
    with (
        ThreadPoolExecutor(workers) as pool,
        tqdm(total=total, disable=not show_progress, desc="Model Responding") as bar,
    ):
        for chunk in _chunks(requests):
            for text in pool.map(answer, chunk):
                bar.update(1)
                yield text


def _chunks(requests: Iterator[Request]) -> Iterator[list[Request]]:
    chunk: list[Request] = []
    for request in requests:
        chunk.append(request)
        if len(chunk) == AT_ONCE:
            yield chunk
            chunk = []
    if chunk:
        yield chunk


def __getattr__(name: str) -> Any:
    """Make the classes when the host asks for one: the host is slow to import."""
    if name not in ("FinanceBaseline", "FinanceBaselineSimple"):
        raise AttributeError(name)
    import torch
    from lmms_eval.api.model import lmms

    simple = name == "FinanceBaselineSimple"

    class Baseline(lmms):  # type: ignore[misc]
        is_simple = simple

        def __init__(
            self, batch_size: Any = 1, max_batch_size: Any = None, device: Any = None, **unknown: Any
        ) -> None:
            super().__init__()
            if unknown:
                raise SystemExit(
                    f"lmms-eval-finance: finance_baseline takes no model_args; remove {', '.join(sorted(unknown))}"
                )
            try:
                ocr.require()
            except SettingError as error:  # a traceback, and an exit code of 0, is what the host makes of it
                raise SystemExit(f"lmms-eval-finance: {error}") from error
            self.device = torch.device("cpu")

        def generate_until(self, requests: Sequence[Any]) -> list[str]:
            read_one = _read_simple if simple else _read_chat
            wanted = (read_one(request.args, self.task_dict) for request in requests)
            texts = list(answer_all(wanted, len(requests), show_progress=self.rank == 0))
            for request, text in zip(requests, texts, strict=True):
                options = request.args[1] if simple else request.args[2]
                self.cache_hook.add_partial("generate_until", (request.args[0], options), text)
            return texts

        def generate_until_multi_round(self, requests: Sequence[Any]) -> list[list[str]]:
            return run_dialogues(
                requests,
                messages=not simple,
                dataset=lambda task, split: self.task_dict[task][split],
                generate=self.generate_until,
            )

        def loglikelihood(self, requests: Sequence[Any]) -> list[tuple[float, bool]]:
            raise NotImplementedError("finance_baseline generates answers only, no likelihoods")

    Baseline.__name__ = Baseline.__qualname__ = name
    Baseline.__module__ = __name__
    Baseline.__doc__ = "Answers from what it reads in the request: see `lmms_eval_finance.models.baseline`."
    globals()[name] = Baseline
    return Baseline


def _read_chat(arguments: Sequence[Any], docs: Any) -> Request:
    _, doc_to_messages, _, doc_id, task, split = arguments
    return read(doc_to_messages(docs[task][split][doc_id]))


def _read_simple(arguments: Sequence[Any], docs: Any) -> Request:
    text, _, doc_to_visual, doc_id, task, split = arguments
    images = doc_to_visual(docs[task][split][doc_id]) or []
    return read_text(text, images if isinstance(images, (list, tuple)) else [images])
