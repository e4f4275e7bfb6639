"""The commands of docs/running.md against the installed host: options, models and their arguments."""

from __future__ import annotations

import argparse
import ast
import importlib.util
import re
import shlex
from pathlib import Path

import pytest

from lmms_eval_finance import plugin

pytestmark = pytest.mark.host

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "running.md").read_text(encoding="utf-8")
# Handed on to the engine, which is not installed here.
ENGINE = {"max_model_len", "limit_mm_per_prompt"}


def commands():
    blocks = re.findall(r"(?:^    .*\n)+", TEXT, re.MULTILINE)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    return [line.strip() for line in lines if "--model" in line]


def words(command):
    """The host's own words of a command."""
    found = shlex.split(re.sub(r'"\$\(.*?\)"', "temperature=1", command))
    while "=" in found[0] and not found[0].startswith("-"):
        found.pop(0)
    assert found[0] == "lmms-eval" or found[:2] == ["accelerate", "launch"], command
    return found[1:] if found[0] == "lmms-eval" else found[found.index("lmms_eval") + 1 :]


@pytest.fixture(scope="module")
def parser():
    """The parser of the host, which it makes and uses in one function."""
    import lmms_eval.__main__ as host

    kept = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(argparse.ArgumentParser, "parse_args", lambda self: kept.append(self))
        host.parse_eval_args()
    return kept[0]


def test_there_are_commands():
    assert len(commands()) > 10


@pytest.mark.parametrize("command", commands())
def test_options_are_the_hosts(parser, command):
    args = parser.parse_args(words(command))
    known = plugin.index()
    assert all(task in known for task in args.tasks.split(","))


def parameters(module, name):
    """Parameters of a class's constructor and of those of its bases in the host, read without importing it."""
    spec = importlib.util.find_spec(module)
    assert spec is not None, module
    tree = ast.parse(Path(spec.origin).read_text(encoding="utf-8"))
    imported = {
        alias.asname or alias.name: (node.module, alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("lmms_eval.models")
        for alias in node.names
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef) and node.name == name:
            own = {
                argument.arg
                for function in node.body
                if isinstance(function, ast.FunctionDef) and function.name == "__init__"
                for argument in [*function.args.args, *function.args.kwonlyargs]
            }
            bases = [
                imported[base.id] for base in node.bases if isinstance(base, ast.Name) and base.id in imported
            ]
            return own.union(*(parameters(*base) for base in bases))
    raise AssertionError(f"{module} has no class {name}")


@pytest.mark.parametrize("command", commands())
def test_arguments_are_the_models(command):
    from lmms_eval.models import get_model_manifest
    from lmms_eval.utils import simple_parse_args_string

    asked = words(command)
    model = asked[asked.index("--model") + 1]
    if model.endswith("_prefill"):
        model = model.removesuffix("_prefill")
    path = get_model_manifest(model).chat_class_path
    known = parameters(*path.rsplit(".", 1))
    given = set(simple_parse_args_string(asked[asked.index("--model_args") + 1]))
    assert given <= known | (ENGINE if model == "vllm" else set())
