"""A host wrapper made fit for the tasks here; what it does with other tasks stays as it is.

The host's model wrappers differ, and some lose or mix what they are given. Before a
request reaches one, what would go wrong on the way is put out of its reach.
"""

from __future__ import annotations

import contextlib
import traceback
from collections.abc import Collection, Hashable, Iterator, Sequence
from typing import Any

from loguru import logger

from lmms_eval_finance.models.dialogue import run_dialogues

_INTERRUPTED = 130  # the exit code that shells give a program which Ctrl-C has ended
REUSES_INPUTS = "lmms_eval.models.simple.llava_hf"
"""A request without an image leaves this wrapper with the inputs of the one before."""


def adapted(model: Any, *, ours: Collection[str]) -> Any:
    """The wrapper class, fit for the tasks named in `ours`."""
    messages = not getattr(model, "is_simple", True)

    class Adapted(model):  # type: ignore[misc]
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            for name in ("processor", "_processor", "_image_processor"):
                accept_no_images(vars(self).get(name))

        def generate_until(self, requests: list[Any]) -> list[Any]:
            mine = [request for request in requests if request.task_name in ours]
            if model.__module__ == REUSES_INPUTS:
                _refuse_without_images(mine, self.task_dict)
            groups: dict[Hashable, list[int]] = {}
            for place, request in enumerate(requests):
                apart = request.task_name in ours and _makes_batches(self)
                groups.setdefault(request.arguments[-2:] if apart else None, []).append(place)
            outputs: list[Any] = [None] * len(requests)
            for places in groups.values():
                group = [requests[place] for place in places]
                with _untouched(mine), _ending_in_one_message(mine, self.task_dict):
                    generated = super().generate_until(group)
                for place, output in zip(places, generated, strict=True):
                    outputs[place] = output
            return outputs

        def generate_until_multi_round(self, requests: list[Any]) -> list[Any]:
            if any(request.task_name not in ours for request in requests):
                return list(super().generate_until_multi_round(requests))
            with _ending_in_one_message(requests, self.task_dict):
                return run_dialogues(
                    requests,
                    messages=messages,
                    dataset=lambda task, split: self.task_dict[task][split],
                    generate=self.generate_until,
                    together=_largest if _in_step(self) else int,
                )

    # Result files name the class of the model; it stays the one the user asked for.
    for name in ("__name__", "__qualname__", "__module__", "__doc__"):
        setattr(Adapted, name, getattr(model, name))
    return Adapted


def accept_no_images(processor: Any) -> None:
    """Make a transformers processor take an empty list of images as none, as it once did.

    Some wrappers pass ``images=[]`` with a request that has none.
    """
    kind = type(processor)
    if not any(base.__name__ == "ProcessorMixin" for base in kind.__mro__):
        return

    def call(self: Any, images: Any = None, *args: Any, **kwargs: Any) -> Any:
        nothing = isinstance(images, (list, tuple)) and not images
        return kind.__call__(self, None if nothing else images, *args, **kwargs)

    # Saving writes the class's name; everything but the call stays the same class's.
    processor.__class__ = type(kind.__name__, (kind,), {"__call__": call, "__module__": kind.__module__})


def _makes_batches(wrapper: Any) -> bool:
    """Whether the wrapper itself joins requests: then many take task, split and hooks from the first of a batch.

    Those that hold a client (of an engine, of a server) take each request for itself.
    """
    return getattr(wrapper, "batch_size_per_gpu", 1) not in (1, "1") and not hasattr(wrapper, "client")


def _in_step(wrapper: Any) -> bool:
    """Whether its processes wait for each other at every request, as with one model over several of them."""
    parts = (getattr(wrapper, "tensor_parallel_size", 1), getattr(wrapper, "data_parallel_size", 1))
    sharded = "FSDP" in str(getattr(getattr(wrapper, "accelerator", None), "distributed_type", ""))
    return getattr(wrapper, "_world_size", 1) > 1 and (sharded or any(int(part) > 1 for part in parts))


def _largest(count: int) -> int:
    """The largest count of any process."""
    import torch.distributed

    counts = [0] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(counts, count)
    return max(counts)


@contextlib.contextmanager
def _untouched(requests: Sequence[Any]) -> Iterator[None]:
    """Leave the generation options of requests as they were.

    Some wrappers change them, and the host works out the keys of its response cache from
    them afterwards.
    """
    options = [part for request in requests for part in request.arguments if isinstance(part, dict)]
    before: list[dict[str, Any]] = []
    for part in options:
        # nearly always all are alike, and one copy stands for them
        before.append(before[-1] if before and before[-1] == part else dict(part))
    try:
        yield
    finally:
        for part, kept in zip(options, before, strict=True):
            if part != kept:
                part.clear()
                part.update(kept)


@contextlib.contextmanager
def _ending_in_one_message(requests: Sequence[Any], datasets: Any) -> Iterator[None]:
    """End the run with one message where it is interrupted, or a row's image is damaged.

    Rows are read while a wrapper generates; of an error there the host shows a traceback
    that names no row, and exits with 0.
    """
    try:
        yield
    except KeyboardInterrupt:
        logger.warning(
            "interrupted, no figures are written; with --use_cache and LMMS_CACHE_RUN_ID the same command "
            "takes up what was stored"
        )
        raise SystemExit(_INTERRUPTED) from None
    except Exception as error:
        frames = traceback.walk_tb(error.__traceback__)
        if any(str(frame.f_globals.get("__name__")).startswith("datasets.") for frame, _ in frames):
            for request in requests:
                _refuse_unreadable(datasets, *request.arguments[-3:])
        raise


def _refuse_unreadable(datasets: Any, doc_id: int, task: str, split: str) -> None:
    rows = datasets[task][split]
    try:
        rows[doc_id]
    except Exception as error:
        raise SystemExit(
            f"lmms-eval-finance: {task}, id {rows['id'][doc_id]}: the row cannot be read ({error}); mend its image, "
            "or leave the item out with LMMS_EVAL_FINANCE_IDS"
        ) from error


def _refuse_without_images(requests: list[Any], datasets: Any) -> None:
    for request in requests:
        _, _, doc_to_visual, doc_id, task, split = request.arguments
        if not doc_to_visual(datasets[task][split][doc_id]):
            raise SystemExit(
                f"lmms-eval-finance: {task} has requests without an image, which llava_hf --force_simple answers with "
                "the inputs of another request; leave --force_simple out"
            )
