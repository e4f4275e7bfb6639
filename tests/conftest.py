"""Fixtures shared by all tests."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

# A deadline for each example is a timed assertion, which a busy machine fails.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")

ROOT = Path(__file__).resolve().parents[1]


def _helper(name: str) -> Any:
    """Make tests/<name>.py importable by that name (import mode importlib puts no folder on the path)."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, ROOT / "tests" / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    return sys.modules[name]


_server = _helper("openai_server")
_helper("random_models")
_helper("asked")


@pytest.fixture
def openai_server() -> Iterator[Any]:
    """A running `openai_server.OpenAIServer`: see tests/openai_server.py."""
    with _server.OpenAIServer() as server:
        yield server


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder with the real benchmark data and handed cases, beside the checkout."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("the folder `shared` with the real benchmark data is not beside the checkout")
    return folder


@pytest.fixture(scope="session")
def host_environment():
    """host_environment(**extra) -> the environment of a run on the packaged sample, offline, on the CPU."""

    def environment(**extra: str) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith("LMMS_EVAL_FINANCE_")}
        return {
            **kept,
            "HF_HUB_OFFLINE": "1",
            "LMMS_EVAL_FINANCE_DATA": "sample",
            "CUDA_VISIBLE_DEVICES": "",
            "TOKENIZERS_PARALLELISM": "false",
            **extra,
        }

    return environment
