"""The two hosts that tasks can be exported for: where tasks go, how code has to look, what is installed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from lmms_eval_finance.settings import SettingError

REQUIREMENTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "apted": ("apted>=1.0.3",),
        "babel": ("babel>=2.14",),
        "datasets": ("datasets>=2.19",),
        "faster_coco_eval": ("faster-coco-eval>=1.6",),
        "httpx": ("httpx>=0.27",),
        "joblib": ("joblib>=1.3",),
        "loguru": ("loguru",),
        "lxml": ("lxml>=6",),
        "numpy": ("numpy>=1.26.4",),
        "PIL": ("pillow>=10.1",),
        "py_mini_racer": ("mini-racer>=0.14,<0.15", "django-static-mathjax>=3.2.2,<4"),
        "rapidfuzz": ("rapidfuzz>=3.6",),
        "scipy": ("scipy>=1.11",),
        "sklearn": ("scikit-learn>=1.3",),
        "tenacity": ("tenacity>=8.3",),
        "tomli": ("tomli>=2; python_version < '3.11'",),
    }
)
"""What to install for an imported package."""

OPTIONAL = frozenset({"opencc", "pypdfium2"})
"""Packages that exported tasks import only for what is not exported, or where they happen to be installed."""


@dataclass(frozen=True)
class Host:
    """A host.

    Attributes:
        name: as on the command line here.
        tasks: folder of the tasks in a checkout.
        command: what runs a task.
        brings: packages that the host itself requires.
    """

    name: str
    tasks: str
    command: str
    brings: frozenset[str]

    def requirements(self, packages: Iterable[str]) -> list[str]:
        """What has to be installed beside the host for these imported packages."""
        wanted = sorted(set(packages) - self.brings - OPTIONAL, key=str.lower)
        return [requirement for package in wanted for requirement in REQUIREMENTS[package]]

    def lay_out(self, folder: Path) -> None:
        """Bring the folder's code into the form that the host's own checks want, by ruff.

        Raises:
            SettingError: something is left that ruff does not mend; its report is the message.
        """
        settings = Path(__file__).with_name(f"{self.name}.toml")
        # Imports are wrapped at 88 columns, where isort, which one host runs besides, wraps them.
        self._ruff("check", "--quiet", "--select", "I", "--fix", "--line-length", "88", settings, folder)
        self._ruff("format", "--quiet", settings, folder)
        self._ruff("check", "--quiet", "--fix", "--exit-zero", settings, folder)
        # What is left are false alarms of its security rules, such as a variable named token.
        self._ruff("check", "--quiet", "--add-noqa", settings, folder)
        self._ruff("format", "--quiet", settings, folder)
        self._ruff("check", "--quiet", settings, folder)

    def _ruff(self, *arguments: str | Path) -> None:
        *options, settings, folder = arguments
        command = [sys.executable, "-m", "ruff", *map(str, options), "--no-cache", "--config", str(settings)]
        done = subprocess.run([*command, str(folder)], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SettingError(f"{folder}: ruff is not content\n{done.stdout}{done.stderr}")


HOSTS: Mapping[str, Host] = MappingProxyType(
    {
        "lmms-eval": Host(
            "lmms-eval",
            "lmms_eval/tasks",
            "lmms-eval",
            frozenset({"PIL", "datasets", "httpx", "loguru", "numpy", "sklearn", "tenacity"}),
        ),
        "lm-eval": Host("lm-eval", "lm_eval/tasks", "lm_eval", frozenset({"datasets", "numpy", "sklearn"})),
    }
)
