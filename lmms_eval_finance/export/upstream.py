"""A benchmark as a task folder of a host: task files, `utils.py`, the code they need, a README.

The folder needs neither this package nor its settings: the modules that its functions use
are copied into ``_finance/``, with relative imports.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from lmms_eval_finance import __version__
from lmms_eval_finance.data import sources
from lmms_eval_finance.data.schemas import benchmark as about_benchmark
from lmms_eval_finance.export import closure, readme, task_files
from lmms_eval_finance.export.hosts import HOSTS, Host
from lmms_eval_finance.export.sources import ROWS
from lmms_eval_finance.settings import SettingError

VENDORED = "_finance"
STAND_INS = {
    "lmms_eval_finance.data.sources": "lmms_eval_finance.export.sources",
    "lmms_eval_finance.tasks.wrapper": "lmms_eval_finance.export.wrapper",
    "lmms_eval_finance.tasks.famma.retrieval": "lmms_eval_finance.export.retrieval",
}
"""Modules that a task folder has another in place of; some are only there."""

_SOURCES, _WRAPPER, _ = STAND_INS


def export(benchmark: str, host: Host, root: Path, *, with_data: bool = False) -> Path:
    """Write one benchmark's task folder and return it.

    Args:
        benchmark: one that has tasks for the host.
        host: one of `HOSTS`.
        root: the folder to put the task folder into (`place`).
        with_data: whether to write the rows in use beside the tasks, where no hub has them.

    Raises:
        SettingError: the place is taken, or the rows cannot be found.
    """
    check(benchmark, host, root, with_data=with_data)
    files = tasks_for(benchmark, host)
    modules = modules_of(files, host)
    folder = root / benchmark
    needed = closure.closure(modules, STAND_INS)
    folder.mkdir(parents=True)
    try:
        for name, text in files.texts.items():
            (folder / name).write_text(text, encoding="utf-8")
        _vendor(needed, benchmark, folder / VENDORED)
        (folder / "utils.py").write_text(_utils(benchmark, files, modules), encoding="utf-8")
        text = readme.readme(benchmark, host, files.names, host.requirements(needed.packages))
        (folder / "README.md").write_text(text, encoding="utf-8")
        host.lay_out(folder)
        if with_data:
            _write_data(benchmark, folder, files)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def check(benchmark: str, host: Host, root: Path, *, with_data: bool) -> None:
    """See that `export` can be done, without writing anything.

    Raises:
        SettingError: as `export`.
    """
    folder = root / benchmark
    if folder.exists() or folder.is_symlink():
        raise SettingError(f"{folder}: is there already; remove it or choose another folder")
    for split in tasks_for(benchmark, host).local_splits if with_data else ():
        sources.locate(benchmark, split)


def tasks_for(benchmark: str, host: Host) -> task_files.TaskFiles:
    """The benchmark's task files for the host; none where it has no tasks there."""
    return (
        task_files.for_lm_eval(benchmark) if host is HOSTS["lm-eval"] else task_files.for_lmms_eval(benchmark)
    )


def modules_of(files: task_files.TaskFiles, host: Host) -> list[str]:
    """Dotted names of the modules that the `utils.py` of these files takes functions from."""
    named = {dotted.rpartition(".")[0] for dotted in files.functions.values()}
    named.add(_SOURCES)
    if host is HOSTS["lmms-eval"]:
        named.add(_WRAPPER)
    return sorted(named)


def place(destination: Path, host: Host) -> Path:
    """The folder of tasks in a checkout, or the destination itself if it holds at most exported tasks.

    Raises:
        SettingError: it is neither.
    """
    if (destination / host.tasks).is_dir():
        return destination / host.tasks
    if destination.is_dir() and all((entry / VENDORED).is_dir() for entry in destination.iterdir()):
        return destination
    if destination.exists() or destination.is_symlink():
        raise SettingError(
            f"{destination}: neither a checkout of {host.name} (it has no {host.tasks}) nor an empty folder"
        )
    return destination


def _vendor(needed: closure.Closure, benchmark: str, root: Path) -> None:
    """Copy modules, and the files that they read: prompts, errata, the script that measures formulas."""
    root.mkdir()
    title = about_benchmark(benchmark).title
    (root / "__init__.py").write_text(
        f'"""Scoring of {title}, from lmms-eval-finance {__version__} (Apache-2.0)."""\n\n'
        f'__version__ = "{__version__}"\n',
        encoding="utf-8",
    )
    for module, path in needed.files.items():
        is_package = closure.is_package(module)
        target = root.joinpath(*module.split(".")[1:])
        target = target / "__init__.py" if is_package else target.with_suffix(".py")
        target.parent.mkdir(parents=True, exist_ok=True)
        text = closure.relative(path.read_text(encoding="utf-8"), module, is_package=is_package)
        target.write_text(text, encoding="utf-8")
        if is_package:
            for file in _files_beside(path.parent, benchmark):
                copy = target.parent / file.relative_to(path.parent)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, copy)


def _files_beside(package: Path, benchmark: str) -> list[Path]:
    """What the modules of a package read: scripts beside them, the benchmark's templates and errata."""
    templates = [
        path
        for path in (package / "templates").glob("*.txt")
        if benchmark in path.stem.split("_") and path.stem not in task_files.LEFT_OUT
    ]
    errata = [path for path in (package / "errata").glob("*.jsonl") if path.stem == benchmark]
    return sorted([*package.glob("*.js"), *templates, *errata])


def _utils(benchmark: str, files: task_files.TaskFiles, modules: Sequence[str]) -> str:
    """The module whose functions the task files name."""
    title = about_benchmark(benchmark).title
    aliases = {module: "_" + "_".join(module.split(".")[2:]) for module in modules}
    lines = [
        f'"""{title}: the functions that the task files name; the code behind them is in `{VENDORED}`."""',
        "",
        "import importlib",
        "import importlib.util",
        "import sys",
        "from pathlib import Path",
        "",
        "",
        "def _package() -> str:",
        f'    """The name of the package in `{VENDORED}`, loaded once; the host loads this file by its path."""',
        f'    name = "{benchmark}_finance"',
        "    if name not in sys.modules:",
        f'        folder = Path(__file__).parent / "{VENDORED}"',
        '        spec = importlib.util.spec_from_file_location(name, folder / "__init__.py", '
        "submodule_search_locations=[str(folder)])",
        "        sys.modules[name] = importlib.util.module_from_spec(spec)",
        "        spec.loader.exec_module(sys.modules[name])",
        "    return name",
        "",
        "",
        "_name = _package()",
        *(
            f'{alias} = importlib.import_module(f"{{_name}}.{module.partition(".")[2]}")'
            for module, alias in aliases.items()
        ),
    ]
    if files.begins_turn:
        lines += [
            "",
            "# The host begins the assistant's turn (`gen_prefix`), which signatures say.",
            'importlib.import_module(f"{_name}.tasks.delivery").note(messages=True, prefill=True)',
        ]
    lines.append("")
    for name, dotted in sorted(files.functions.items()):
        module, _, function = dotted.rpartition(".")
        found = f"{aliases[module]}.{function}"
        if name in files.preparing:
            if _WRAPPER in aliases:
                rounds = ", rounds=True" if files.preparing[name] else ""
                found = f"{aliases[_WRAPPER]}.suited({found}{rounds})"
            found = f'{aliases[_SOURCES]}.checked("{benchmark}", {found})'
        lines.append(f"{name} = {found}")
    if files.local_splits:
        lines += [
            "",
            "",
            "def __getattr__(name: str) -> str:",
            '    """`data__SPLIT` is the path of the rows of a split, beside this file."""',
            '    what, _, split = name.partition("__")',
            '    if what != "data":',
            "        raise AttributeError(name)",
            "    return _sources.data_file(Path(__file__).parent, split)",
        ]
    return "\n".join(lines) + "\n"


def _write_data(benchmark: str, folder: Path, files: task_files.TaskFiles) -> None:
    """Write the rows of every split that the tasks load from beside them, pictures included."""
    import datasets

    datasets.disable_progress_bars()
    for split in sorted(files.local_splits):
        target = folder / ROWS.format(split=split)
        target.parent.mkdir(exist_ok=True)
        sources.locate(benchmark, split).load().to_parquet(target)
