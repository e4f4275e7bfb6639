"""The import direction of the package, and what an import may cost."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "lmms_eval_finance"

# Each part may import the parts listed (and itself); `settings` is open to all but metrics.
ALLOWED = {
    "metrics": set(),
    "settings": set(),
    "data": {"metrics"},
    "prompts": {"metrics"},
    "judging": {"metrics", "prompts"},
    "rag": {"metrics"},
    "tasks": {"metrics", "data", "prompts", "judging", "rag"},
    "models": {"metrics", "data"},
    "lm_eval": {"metrics", "data", "prompts", "judging", "tasks"},
    "plugin": {"models", "tasks"},
    "runs": {"metrics", "data", "prompts", "judging", "tasks"},
    "report": {"metrics", "data", "prompts", "judging", "tasks", "runs"},
    "export": {"data", "metrics", "tasks"},
    "commands": {
        "metrics",
        "data",
        "prompts",
        "judging",
        "tasks",
        "models",
        "runs",
        "report",
        "rag",
        "plugin",
        "lm_eval",
        "export",
    },
    "cli": set(),
}


def sources():
    for path in sorted(ROOT.rglob("*.py")):
        place = path.relative_to(ROOT).parts
        if place[0] in ("metrics", "tasks"):
            yield place[0], path
        elif place[0] == PACKAGE and place[1] not in ("__init__.py",):
            yield place[1].removesuffix(".py"), path


def imported_parts(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                # metrics/numbers/x.py may say `from ..normalise import`: that stays within its part.
                inside = len(path.relative_to(ROOT).parts) - 1 - (path.relative_to(ROOT).parts[0] == PACKAGE)
                assert node.level <= inside, f"{path}: a relative import leaves its part"
                continue
            module = node.module or ""
            names = [f"{module}.{alias.name}" for alias in node.names] if module == PACKAGE else [module]
        else:
            continue
        for name in names:
            top, _, rest = name.partition(".")
            assert top not in ("metrics", "tasks"), f"{path}: {name} bypasses the package"
            if top == PACKAGE and rest:
                yield rest.split(".")[0]


@pytest.mark.parametrize("part", ALLOWED)
def test_a_part_imports_only_what_stands_below_it(part):
    allowed = ALLOWED[part] | {part, "__version__"} | ({"settings"} if part != "metrics" else set())
    for owner, path in sources():
        if owner == part:
            assert set(imported_parts(path)) <= allowed, path


def test_every_part_is_named_here():
    assert {owner for owner, _ in sources()} <= set(ALLOWED)


def test_only_the_plugin_imports_the_host():
    """Other parts see the host through YAML alone (models/ subclass its wrappers)."""
    for owner, path in sources():
        if owner not in ("plugin", "models"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            modules = {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
            modules |= {
                alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names
            }
            assert not {name for name in modules if name.split(".")[0] in ("lmms_eval", "lm_eval")}, path


def test_metrics_work_without_the_host_and_without_heavy_libraries():
    code = (
        "import sys, importlib, pkgutil, lmms_eval_finance.metrics as m\n"
        "for found in pkgutil.walk_packages(m.__path__, m.__name__ + '.'): importlib.import_module(found.name)\n"
        "heavy = {'torch', 'transformers', 'datasets', 'lmms_eval', 'pandas', 'matplotlib'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
