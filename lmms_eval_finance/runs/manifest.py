"""A run's manifest: what it is made of and what is needed to repeat it, and the check of its files.

``<date>_manifest.json`` beside the run. Secrets that stand in model arguments are left out.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import platform
import re
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from lmms_eval_finance import prompts
from lmms_eval_finance.data import errata
from lmms_eval_finance.data.schemas import BENCHMARKS
from lmms_eval_finance.metrics.signature import Signature
from lmms_eval_finance.runs.journal import write_text
from lmms_eval_finance.runs.read import Run, own_file
from lmms_eval_finance.settings import SettingError

VERSION = 1
COMPANIONS = ("verdicts", "review", "decisions", "errors", "error_decisions")
_PACKAGES = (
    *("lmms-eval-finance", "lmms_eval", "lm_eval", "torch", "transformers", "vllm", "openai"),
    *("numpy", "datasets", "pillow", "scikit-learn", "rapidfuzz", "lxml", "mini-racer"),
)
_SECRET = re.compile(r"key|token|secret|password|passwd|auth|credential", re.IGNORECASE)
_MODEL_ARGUMENT = re.compile(r"(?P<name>[\w.-]+)=(?P<value>(?:\{[^}]*\}|\[[^\]]*\]|[^,])*)")
# Flag of the host -> the value that need not be said.
_FLAGS: Mapping[str, Any] = {
    "model": None,
    "model_args": "",
    "tasks": None,
    "num_fewshot": None,
    "batch_size": 1,
    "max_batch_size": None,
    "device": None,
    "limit": None,
    "offset": 0,
    "gen_kwargs": "",
    "system_instruction": None,
    "apply_chat_template": False,
    "fewshot_as_multiturn": False,
    "force_simple": False,
    "reasoning_tags": '[["<think>", "</think>"], ["<analysis>", "</analysis>"]]',
    "seed": [0, 1234, 1234, 1234],
}


def of_run(run: Run) -> dict[str, Any]:
    """The manifest of a run, as plain JSON.

    Raises:
        SettingError: one of its files cannot be read.
    """
    tasks = {task: found for task in run.samples if (found := _task(run, task))}
    about = run.about
    config = about.get("config") if isinstance(about.get("config"), dict) else {}
    assert isinstance(config, dict)
    return {
        "manifest": VERSION,
        "model": run.model,
        "date": run.date,
        "files": {path.name: _file(path) for path in _files(run)},
        "tasks": tasks,
        "generation": {
            name: _without_secrets(name, config[name])
            for name in (
                "model",
                "model_args",
                "model_backend",
                "gen_kwargs",
                "batch_size",
                "limit",
                "device",
            )
            if config.get(name) not in (None, "")
        },
        "seeds": {name: config[name] for name in config if name.endswith("_seed")},
        "host": {
            name: about[name]
            for name in ("lmms_eval_version", "git_hash", "chat_template_sha")
            if about.get(name)
        },
        "repeat": {"settings": _settings(tasks), "command": _command(config)},
        "written_with": _software(),
    }


def to_text(manifest: Mapping[str, Any]) -> str:
    """The manifest as it stands in its file."""
    return json.dumps(manifest, ensure_ascii=False, indent=2) + "\n"


def write(run: Run) -> Path:
    """Write the manifest beside the run and return its file.

    Raises:
        SettingError: a file cannot be read or written.
    """
    path = _path(run)
    write_text(path, to_text(of_run(run)))
    return path


def verify(run: Run) -> list[str]:
    """What differs between the run's files and its manifest; empty if nothing does.

    Raises:
        SettingError: there is no manifest, or it cannot be read.
    """
    path = _path(run)
    try:
        manifest = json.loads(path.read_bytes())
        files = {str(name): entry for name, entry in manifest["files"].items()}
        stated = {name: (str(entry["sha256"]), int(entry["bytes"])) for name, entry in files.items()}
    except FileNotFoundError:
        raise SettingError(
            f"{path}: there is no manifest; `lmms-eval-finance manifest {run.results}` writes one"
        ) from None
    except (OSError, ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise SettingError(f"{path}: cannot be read as a manifest ({error})") from error
    present = {file.name: file for file in _files(run)}
    problems = []
    for name, (digest, size) in stated.items():
        if Path(name).name != name or name in ("", ".", ".."):
            problems.append(f"{name!r}: is no name of a file in the run's folder")
        elif name not in present:
            problems.append(f"{name}: is missing")
        elif _file(present[name]) != {"sha256": digest, "bytes": size}:
            problems.append(f"{name}: was changed")
    problems += [f"{name}: is not in the manifest" for name in present if name not in stated]
    return problems


def _path(run: Run) -> Path:
    return own_file(run.folder / f"{run.date}_manifest.json")


def _files(run: Run) -> Iterator[Path]:
    """The run's own files and its companions, those that exist."""
    for path in (run.results, *run.samples.values(), *map(run.companion, COMPANIONS)):
        if path.is_file():
            yield path


def _file(path: Path) -> dict[str, Any]:
    digest = hashlib.sha256()
    size = 0
    try:
        with path.open("rb") as file:
            while block := file.read(2**20):
                digest.update(block)
                size += len(block)
    except OSError as error:
        raise SettingError(f"{path}: cannot be read ({error.strerror or error})") from error
    return {"sha256": digest.hexdigest(), "bytes": size}


def _task(run: Run, task: str) -> dict[str, Any]:
    """What is known of one task; empty where it holds no records of ours."""
    signatures: Counter[str] = Counter()
    ids = []
    for name, record in Run(run.folder, run.date, {task: run.samples[task]}).records([]):
        assert name == task
        signatures[record.signature] += 1
        ids.append(record.id)
    if not ids:
        return {}
    configs = run.about.get("configs")
    config = configs.get(task) if isinstance(configs, dict) else None
    config = config if isinstance(config, dict) else {}
    metadata = config.get("metadata")
    found: dict[str, Any] = {
        "items": len(ids),
        "ids_sha256": hashlib.sha256("\n".join(sorted(ids)).encode("utf-8", "replace")).hexdigest(),
        "signatures": dict(signatures.most_common()),
    }
    source = metadata.get("source") if isinstance(metadata, dict) else None
    if isinstance(source, dict):
        found["data"] = source
        if isinstance(source.get("rows"), int) and len(ids) < source["rows"]:
            found["ids"] = ids
    if config.get("generation_kwargs"):
        found["generation"] = config["generation_kwargs"]
    return found


# -- how to repeat it ---------------------------------------------------------------------------------


def _settings(tasks: Mapping[str, Mapping[str, Any]]) -> dict[str, str]:
    """The environment variables that the run needs, as far as its signatures tell."""
    found: dict[str, dict[str, None]] = {}
    for about in tasks.values():
        for signature in about["signatures"]:
            for name, value in _of_signature(dict(Signature.parse(signature).fields), about.get("data", {})):
                found.setdefault(name, {})[value] = None
    return {f"LMMS_EVAL_FINANCE_{name}": " or ".join(values) for name, values in sorted(found.items())}


def _of_signature(fields: Mapping[str, str], source: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    if source.get("kind") == "hub":
        yield "DATA", f"hub@{source.get('revision', '')}"
    elif source.get("kind") == "sample":
        yield "DATA", "sample"
    else:
        yield "DATA", f"a folder with {fields.get('data', 'the data')}"
    benchmark = next((name for name in BENCHMARKS if fields.get("data", "").startswith(f"{name}/")), None)
    version = fields.get("errata", "no")
    if version not in ("no", ""):
        packaged = errata.FOLDER / f"{benchmark}.jsonl"
        same = packaged.is_file() and errata.read(packaged).version == version
        yield "ERRATA", "1" if same else f"a file of version {version}"
    judge = fields.get("judge", "")
    if judge and not judge.startswith("rules-"):
        yield "JUDGES", f"a file that gives {judge}"
    if "coordinates" in fields:
        yield "COORDINATES", fields["coordinates"]
    known = {f"{name}@{prompts.load(name).hash}" for name in prompts.names()}
    other = [
        prompt for prompt in fields.get("prompt", "").split("+") if "@" in prompt and prompt not in known
    ]
    if other:
        yield "PROMPTS", f"a folder with {', '.join(other)}"


def _command(config: Mapping[str, Any]) -> str:
    """The host's command, as far as its results file tells; empty where it does not."""
    given = config.get("resolved_cli_args")
    if not isinstance(given, dict):
        return ""
    words = ["lmms-eval"]
    for flag, default in _FLAGS.items():
        value = given.get(flag)
        if value is None or value == default or value is False:
            continue
        words += (
            [f"--{flag}"] if value is True else [f"--{flag}", _as_argument(_without_secrets(flag, value))]
        )
    return shlex.join([*words, "--output_path", "out", "--log_samples"])


def _as_argument(value: Any) -> str:
    """A value as the host's command line takes it: lists by commas, options as NAME=VALUE."""
    if isinstance(value, dict):
        return ",".join(f"{name}={member}" for name, member in value.items())
    return ",".join(map(str, value)) if isinstance(value, list) else str(value)


def _without_secrets(name: str, value: Any) -> Any:
    """Model arguments without the values of those that look like secrets.

    >>> _without_secrets("model_args", "model=a,api_key=sk-1,base_url=http://h")
    'model=a,api_key=(left out),base_url=http://h'
    """
    if isinstance(value, dict):
        return {
            key: "(left out)" if _SECRET.search(str(key)) else _without_secrets(str(key), member)
            for key, member in value.items()
        }
    if not isinstance(value, str):
        return value
    return _MODEL_ARGUMENT.sub(
        lambda found: f"{found['name']}=(left out)" if _SECRET.search(found["name"]) else found[0], value
    )


def _software() -> dict[str, str]:
    """Versions on the machine that writes the manifest."""
    found = {"python": platform.python_version(), "platform": platform.system()}
    for name in _PACKAGES:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found
