"""Runs the real host in a fresh folder, as a user would."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

BIN = Path(sys.executable).parent
BOOK = """# Bonds

Macaulay duration is the average time of a bond's payments, weighted by their present values.

# Les fonds

Les frais d'entrée sont prélevés avant l'investissement. 债券的久期是加权平均期限。
"""


@dataclass
class Run:
    """One finished run: what it printed, its results file and its sample files, read back."""

    folder: Path
    code: int
    output: str

    @property
    def results(self) -> dict:
        """The results file; the host exits 0 when an evaluation failed, so its absence is the failure."""
        found = sorted(self.folder.glob("out/**/*_results.json"))
        assert found, self.output[-6000:]
        return json.loads(found[-1].read_text(encoding="utf-8"))

    def figures(self, task: str) -> dict:
        """Metric -> value of one task, without standard errors."""
        return {
            key.partition(",")[0]: value
            for key, value in self.results["results"][task].items()
            if "," in key and "_stderr" not in key
        }

    def samples(self, task: str) -> list[dict]:
        """The lines of the task's sample file."""
        found = sorted(self.folder.glob(f"out/**/*_samples_{task}.jsonl"))
        assert found, self.output[-6000:]
        return [json.loads(line) for line in found[-1].read_text(encoding="utf-8").splitlines()]


@pytest.fixture(scope="session")
def run_host(tmp_path_factory, host_environment):
    """run_host(*arguments, command=..., env=...) -> Run."""

    def run(
        *arguments: str, command: tuple[str, ...] = (str(BIN / "lmms-eval"),), env=None, save=True
    ) -> Run:
        folder = tmp_path_factory.mktemp("run")
        saving = ("--output_path", "out", "--log_samples") if save else ()
        done = subprocess.run(
            [*command, *arguments, *saving],
            cwd=folder,
            env=host_environment(**(env or {})),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )
        return Run(folder, done.returncode, re.sub(r"\x1b\[[0-9;]*m", "", done.stdout))

    return run


@pytest.fixture(scope="session")
def host_bin() -> Path:
    """The folder with the installed commands."""
    return BIN


@pytest.fixture(scope="session")
def tiny_models(tmp_path_factory) -> dict[str, Path]:
    """Model name of the host -> a folder with such a model, tiny and with random weights."""
    from random_models import build_llava, build_qwen2_5_vl

    folder = tmp_path_factory.mktemp("models")
    return {
        "qwen2_5_vl": build_qwen2_5_vl(folder / "qwen2_5_vl"),
        "llava_hf": build_llava(folder / "llava_hf"),
    }


@pytest.fixture(scope="session")
def settings_of_all_tasks(tmp_path_factory) -> dict[str, str]:
    """Settings with which every task runs: those that look things up have a small book to do so."""
    from lmms_eval_finance.cli import main

    folder = tmp_path_factory.mktemp("books")
    (folder / "book.md").write_text(BOOK, encoding="utf-8")
    assert main(["rag", "index", str(folder)]) == 0
    return {"LMMS_EVAL_FINANCE_DATA": "sample", "LMMS_EVAL_FINANCE_RAG": str(folder)}
