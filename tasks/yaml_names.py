"""Names that task YAML refers to with ``!function`` and that are worked out when it is read.

``path__finmme__train`` is the `dataset_path` of that split, ``kwargs__finmme__train``
its `dataset_kwargs`, ``source__finmme__train`` where the rows come from, for the
task's metadata. So one YAML serves hub, folder and sample alike. ``rag_index`` is the index
that retrieval tasks search.

The host wraps whatever an import raises and hides the cause, so a setting or data
fault leaves here as SystemExit: one message, and an exit code other than 0.
"""

from __future__ import annotations

from typing import Any

from lmms_eval_finance import settings
from lmms_eval_finance.data import sources
from lmms_eval_finance.rag import index as indices
from lmms_eval_finance.tasks import run_settings


def __getattr__(name: str) -> Any:
    if name == "rag_index":
        return _rag_index()
    what, _, rest = name.partition("__")
    benchmark, _, split = rest.partition("__")
    if what not in ("path", "kwargs", "source") or not split:
        raise AttributeError(name)
    try:
        source = sources.locate(benchmark, split)
        run_settings.check(benchmark)
    except settings.SettingError as error:
        raise SystemExit(f"lmms-eval-finance: {error}") from error
    if what == "path":
        return source.path
    # A fresh dict each time: the host takes keys out of the one it is given.
    return (
        dict(source.kwargs) if what == "kwargs" else {**source.provenance(), **run_settings.what_is_asked()}
    )


def _rag_index() -> dict[str, Any]:
    try:
        index = indices.configured()
    except settings.SettingError as error:
        raise SystemExit(f"lmms-eval-finance: {error}") from error
    options = index.options
    return {
        "hash": index.hash,
        "passages": len(index.passages),
        "method": options.method,
        "size": options.size,
        "budget": options.budget,
    }
