"""The host's response cache made good for runs that are killed: replies are kept as the run goes on.

The host stores replies when all requests of a run are answered, and takes the error
texts of its API wrappers for replies.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection
from typing import Any

from lmms_eval_finance.metrics.replies import infrastructure_error

SLICE = 256
"""Requests; the host's own measure, ``LMMS_CACHE_CHECKPOINT_INTERVAL``, goes before."""


def in_slices(execute: Callable[..., list[Any]], *, ours: Collection[str]) -> Callable[..., list[Any]]:
    """The cache's `execute` that asks the tasks named in `ours` by and by and stores each slice at once."""

    @functools.wraps(execute)
    def sliced(cache: Any, lm: Any, reqtype: str, requests: list[Any]) -> list[Any]:
        if not all(request.task_name in ours for request in requests):
            return execute(cache, lm, reqtype, requests)
        _keep_failures_out(cache)
        step = getattr(cache, "_checkpoint_interval", SLICE)
        slices = [requests[start : start + step] for start in range(0, len(requests), step)]
        return [response for part in slices for response in execute(cache, lm, reqtype, part)]

    return sliced


def _keep_failures_out(cache: Any) -> None:
    kind = type(cache)
    cache._is_valid_response = lambda response, reqtype: (
        kind._is_valid_response(response, reqtype) and not _failed(response)
    )

    def lookup(key: str) -> Any:
        # The log that the cache is restored from has every reply.
        found = kind._lookup(cache, key)
        return None if _failed(found) else found

    cache._lookup = lookup


def _failed(response: Any) -> bool:
    rounds = response if isinstance(response, list) else [response]
    return any(infrastructure_error(str(getattr(one, "text", one))) for one in rounds)
