"""Makes this package known to lmms-eval: the only file that touches the host's internals.

The host calls `register` when it loads its models (entry-point group
``lmms_eval.models``) and takes the model manifests it returns. On that occasion

- the host's task index learns of the tasks here, behind its own and those of
  ``--include_path``: their names keep precedence;
- the model class that the host picks is looked at, so that tasks know what it takes, and
  made fit for them by `models.wrapper`;
- the host's response cache keeps the replies to the tasks here while a run goes on
  (`models.caching`), so that a killed run is not lost.

Tested with lmms-eval 0.7.3.
"""

from __future__ import annotations

import functools
import warnings
from pathlib import Path
from typing import Any

TESTED = ((0, 7, 3), (0, 7, 3))
"""First and last host version this file was tested with."""

TASKS = Path(__file__).parent / "tasks"
if not TASKS.is_dir():  # an editable install maps the package's tasks to the top-level folder
    TASKS = Path(__file__).parents[1] / "tasks"


def register() -> list[Any]:
    """Hook the tasks into the host and return the manifests of this package's models.

    Never raises: an entry point that does would take every later one down with it.
    """
    try:
        _warn_if_untested()
        _add_tasks()
        return _manifests()
    except Exception as error:  # whatever goes wrong here must not break the host
        warnings.warn(
            f"lmms-eval-finance could not hook into this lmms-eval ({error!r}); its tasks remain "
            f"reachable with --include_path {TASKS}",
            stacklevel=1,
        )
        return []


def index() -> dict[str, dict[str, Any]]:
    """The task index of this package in the host's form: name -> type, yaml_path, tasks of a tag.

    The host's own reader does the same with a pure-Python parser that runs every
    included file; a start-up should not wait for that.
    """
    import yaml

    class Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
        """Reads names only: what ``!function`` refers to is not imported."""

    Loader.add_constructor("!function", lambda loader, node: None)
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(TASKS.rglob("*.yaml")):
        config = yaml.load(path.read_bytes(), Loader)
        task = config.get("task")
        if isinstance(task, list):
            found[config["group"]] = {"type": "group", "task": -1, "yaml_path": str(path)}
        elif isinstance(task, str):
            found[task] = {"type": "task", "yaml_path": str(path)}
            tags = config.get("tag", [])
            for tag in [tags] if isinstance(tags, str) else tags:
                entry = found.setdefault(tag, {"type": "tag", "task": [], "yaml_path": -1})
                if entry["type"] == "tag":
                    entry["task"].append(task)
    return found


def _add_tasks() -> None:
    from lmms_eval.tasks import TaskManager

    original = TaskManager.initialize_tasks
    if getattr(original, "knows_finance", False):
        return

    @functools.wraps(original)
    def initialize_tasks(self: Any, *args: Any, **kwargs: Any) -> dict[str, Any]:
        theirs = original(self, *args, **kwargs)
        # Not from `register`: the host calls that while its module of models is still being read.
        for look in (_look_at_models, _look_at_cache):
            try:
                look()
            except Exception as error:  # most tasks run with the host's own
                warnings.warn(f"lmms-eval-finance: {look.__name__} failed ({error!r})", stacklevel=1)
        try:
            return {**index(), **theirs}
        except Exception as error:  # a broken file here must not hide the host's tasks
            warnings.warn(f"lmms-eval-finance: its tasks cannot be listed ({error!r})", stacklevel=1)
            return dict(theirs)

    initialize_tasks.knows_finance = True  # type: ignore[attr-defined]
    TaskManager.initialize_tasks = initialize_tasks


def _look_at_models() -> None:
    import lmms_eval.models as host

    original = host.get_model
    if getattr(original, "knows_finance", False):
        return

    @functools.wraps(original)
    def get_model(model_name: str, force_simple: bool = False) -> Any:
        chosen = original(model_name, force_simple)
        try:
            return _adapted(chosen)
        except Exception as error:  # the host's own class will do for most tasks
            warnings.warn(
                f"lmms-eval-finance: {model_name} stays as the host has it, dialogues may fail ({error!r})",
                stacklevel=1,
            )
            return chosen

    get_model.knows_finance = True  # type: ignore[attr-defined]
    host.get_model = get_model


def _adapted(model: Any) -> Any:
    from lmms_eval_finance.models.wrapper import adapted
    from lmms_eval_finance.tasks import delivery

    delivery.note(
        messages=not getattr(model, "is_simple", True),
        prefill=bool(getattr(model, "continues_assistant", False)),
    )
    return adapted(model, ours=frozenset(index()))


def _look_at_cache() -> None:
    from lmms_eval.caching.response_cache import ResponseCache

    from lmms_eval_finance.models.caching import in_slices

    # What `in_slices` relies on; where a host has it no more, its cache stays as it is.
    _ = ResponseCache._lookup, ResponseCache._is_valid_response
    if not getattr(ResponseCache.execute, "knows_finance", False):
        ResponseCache.execute = in_slices(ResponseCache.execute, ours=frozenset(index()))
        ResponseCache.execute.knows_finance = True


def _manifests() -> list[Any]:
    from lmms_eval.models.registry_v2 import ModelManifest

    prefill = "lmms_eval_finance.models.prefill"
    baseline = "lmms_eval_finance.models.baseline.host"
    return [
        ModelManifest(
            "finance_baseline",
            simple_class_path=f"{baseline}.FinanceBaselineSimple",
            chat_class_path=f"{baseline}.FinanceBaseline",
        ),
        ModelManifest("openai_prefill", chat_class_path=f"{prefill}.OpenAIPrefill"),
        ModelManifest("vllm_prefill", chat_class_path=f"{prefill}.VLLMPrefill"),
    ]


def host_version() -> str:
    """The installed lmms-eval version.

    Raises:
        PackageNotFoundError: it is not installed.
    """
    from importlib.metadata import version

    return version("lmms_eval")


def untested(version: str) -> bool:
    """Whether a host version lies outside the tested range.

    >>> untested("0.7.3"), untested("0.6.9"), untested("0.8.0.dev1")
    (False, True, True)
    """
    from packaging.version import Version

    first, last = TESTED
    return not first <= Version(version).release <= last


def _warn_if_untested() -> None:
    version = host_version()
    if untested(version):
        first, last = (".".join(map(str, bound)) for bound in TESTED)
        warnings.warn(
            f"lmms-eval-finance was tested with lmms-eval {first} to {last}, not with {version}: "
            f"check results with `lmms-eval-finance doctor`",
            stacklevel=1,
        )


def routes() -> dict[str, str]:
    """How the host finds the tasks: route -> empty if it works, else what is wrong.

    Loads the host as its own commands do, which takes seconds.
    """
    import lmms_eval.models  # the host reads its entry points here  # noqa: F401
    from lmms_eval.tasks import TaskManager

    ours = index()
    if not getattr(TaskManager.initialize_tasks, "knows_finance", False):
        plain = (
            "the host did not call this package's entry point; another package's entry point in the group "
            f"lmms_eval.models fails before it. Until that is mended: --include_path {TASKS}"
        )
    else:
        known = TaskManager("ERROR").task_index
        shadowed = sorted(name for name in ours if known[name]["yaml_path"] != ours[name]["yaml_path"])
        plain = f"names the host already uses for other tasks: {', '.join(shadowed)}" if shadowed else ""
    return {"lmms-eval --tasks NAME": plain, f"lmms-eval tasks list --include-path {TASKS}": ""}
