"""What a module needs: the modules of this package that it imports, however deep, and the other packages."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import lmms_eval_finance.metrics
import lmms_eval_finance.tasks

ROOT = "lmms_eval_finance"
_FOLDERS = {
    # An editable install maps these two to folders elsewhere.
    "metrics": Path(str(lmms_eval_finance.metrics.__file__)).parent,
    "tasks": Path(str(lmms_eval_finance.tasks.__file__)).parent,
}


@dataclass(frozen=True)
class Closure:
    """Modules of this package, by name, with the files that hold them, and the packages they import."""

    files: Mapping[str, Path]
    packages: frozenset[str]


def closure(modules: Iterable[str], stand_ins: Mapping[str, str]) -> Closure:
    """The modules and all that they import.

    Args:
        modules: dotted names within this package.
        stand_ins: module -> the module whose file takes its place.
    """
    files: dict[str, Path] = {}
    packages: set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name in files or name == ROOT:
            continue
        path = file_of(stand_ins.get(name, name))
        assert path is not None, f"{name}: no such module"
        files[name] = path
        waiting.append(name.rpartition(".")[0])
        for found in imports(name, path):
            if found.split(".")[0] != ROOT:
                packages.add(found.split(".")[0])
                continue
            while file_of(found) is None:  # a name within a module
                found = found.rpartition(".")[0]
            waiting.append(found)
    return Closure(files, frozenset(packages) - sys.stdlib_module_names)


def file_of(module: str) -> Path | None:
    """The file of a module of this package; None where there is none of that name.

    >>> file_of("lmms_eval_finance.tasks.mfe.utils").name, file_of("lmms_eval_finance.nothing")
    ('utils.py', None)
    """
    first, *rest = module.split(".")[1:] or [""]
    base = _FOLDERS.get(first, Path(__file__).parents[1] / first).joinpath(*rest)
    for path in (base / "__init__.py", base.with_suffix(".py")):
        if path.is_file():
            return path
    return None


def is_package(module: str) -> bool:
    """Whether a module of this package is a package itself."""
    path = file_of(module)
    return path is not None and path.name == "__init__.py"


def imports(module: str, path: Path) -> Iterator[str]:
    """Dotted names that a file imports; for ``from a import b`` both ``a`` and ``a.b``."""
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            yield source
            yield from (f"{source}.{alias.name}" for alias in node.names)


def relative(text: str, module: str, *, is_package: bool) -> str:
    """A module's text with its imports from this package made relative, whatever the package is called.

    >>> relative("from lmms_eval_finance.metrics import answers", "lmms_eval_finance.tasks.mfe.utils", is_package=False)
    'from ...metrics import answers'
    """
    dots = "." * (module.count(".") + is_package)
    lines = text.splitlines(keepends=True)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            assert not any(alias.name.split(".")[0] == ROOT for alias in node.names), (
                f"{module}: import {ROOT}"
            )
        if isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] == ROOT:
            line = lines[node.lineno - 1]
            lines[node.lineno - 1] = re.sub(rf"\bfrom {ROOT}\b\.?", f"from {dots}", line, count=1)
    return "".join(lines)
