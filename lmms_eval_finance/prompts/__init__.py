"""Prompt templates: one text file each, loaded by name and hashed into the signature.

A template is plain text with ``{placeholders}``; any other brace is literal, so
JSON examples need no escaping. ``[[ ... ]]`` marks an optional block, kept only
when every placeholder in it has a non-blank value.

A folder named by ``LMMS_EVAL_FINANCE_PROMPTS`` replaces any template by a file of
the same name, for instance with the wording of a benchmark's authors.
"""

from __future__ import annotations

import functools
import hashlib
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from lmms_eval_finance import settings

TEMPLATES = Path(__file__).parent / "templates"
_PLACEHOLDER = re.compile(r"\{([a-z][a-z0-9_]*)\}")
_BLOCK = re.compile(r"\[\[(.*?)\]\]", re.DOTALL)


@dataclass(frozen=True)
class Template:
    """A prompt template.

    >>> template = Template("demo", "[[Unit: {unit}\\n]]Question: {question}")
    >>> template.render(question="How {much}?", unit="")
    'Question: How {much}?'
    >>> template.render(question="How much?", unit="EUR")
    'Unit: EUR\\nQuestion: How much?'
    """

    name: str
    text: str

    @property
    def placeholders(self) -> frozenset[str]:
        """Names of all placeholders, inside and outside optional blocks."""
        return frozenset(_PLACEHOLDER.findall(self.text))

    @property
    def required(self) -> frozenset[str]:
        """Names of the placeholders outside optional blocks."""
        return frozenset(_PLACEHOLDER.findall(_BLOCK.sub("", self.text)))

    @property
    def hash(self) -> str:
        """The first eight hexadecimal digits of the text's SHA-256."""
        return hashlib.sha256(self.text.encode("utf-8")).hexdigest()[:8]

    def render(self, **values: str) -> str:
        """Fill the placeholders in one pass: values are never read as template text.

        Raises:
            KeyError: a placeholder of the template has no value.
        """
        filled: list[str] = []
        for parts, optional in self._pieces:
            if not optional or all(values[name].strip() for name in parts[1::2]):
                filled += [values[part] if index % 2 else part for index, part in enumerate(parts)]
        return "".join(filled).strip()

    @functools.cached_property
    def _pieces(self) -> list[tuple[list[str], bool]]:
        """The text's pieces, each as literal text and names by turns; every other one is an optional block."""
        return [
            (_PLACEHOLDER.split(piece), index % 2 == 1) for index, piece in enumerate(_BLOCK.split(self.text))
        ]


def names() -> list[str]:
    """Names of all packaged templates, sorted."""
    return sorted(path.stem for path in TEMPLATES.glob("*.txt"))


def load(name: str) -> Template:
    """The template of that name: the user's if the prompts folder holds one, else the packaged one.

    Raises:
        KeyError: no packaged template has the name.
        SettingError: the user's file cannot stand in for the packaged template.
    """
    return _load(name, settings.value("PROMPTS"))


@functools.lru_cache(maxsize=256)
def _load(name: str, folder: str | None) -> Template:
    packaged = _packaged(name)
    if folder is None:
        return packaged
    if not Path(folder).is_dir():
        raise settings.SettingError(f"LMMS_EVAL_FINANCE_PROMPTS={folder}: no such folder")
    path = Path(folder) / f"{name}.txt"
    if not path.exists():
        return packaged
    template = _read(path)
    problem = _problem(template, packaged)
    if problem:
        raise settings.SettingError(f"{path}: {problem}")
    return template


def export(folder: Path) -> list[Path]:
    """Copy every packaged template into the folder; existing files are left alone and not returned."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name in names():
        target = folder / f"{name}.txt"
        if not target.exists():
            shutil.copyfile(TEMPLATES / target.name, target)
            written.append(target)
    return written


def check(folder: Path) -> list[str]:
    """What keeps files of the folder from standing in for packaged templates, a line each."""
    if not folder.is_dir():
        return [f"{folder}: no such folder"]
    problems = []
    for path in sorted(folder.iterdir()):
        if path.suffix != ".txt" or path.stem not in names():
            problems.append(f"{path}: no template has this name (see `lmms-eval-finance prompts list`)")
            continue
        try:
            problem = _problem(_read(path), _packaged(path.stem))
        except settings.SettingError as error:
            problems.append(str(error))
            continue
        if problem:
            problems.append(f"{path}: {problem}")
    return problems


def _packaged(name: str) -> Template:
    path = TEMPLATES / f"{name}.txt"
    if not path.is_file():
        raise KeyError(f"no prompt template {name!r}; there are {', '.join(names())}")
    return _read(path)


def _read(path: Path) -> Template:
    try:
        return Template(path.stem, path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise settings.SettingError(f"{path}: cannot be read as UTF-8 text ({error})") from error


def _problem(template: Template, packaged: Template) -> str:
    """Why the template cannot stand in for the packaged one; empty when it can."""
    known = "known here: " + ", ".join(f"{{{name}}}" for name in sorted(packaged.placeholders))
    unknown = template.placeholders - packaged.placeholders
    if unknown:
        return f"unknown placeholder {', '.join(f'{{{name}}}' for name in sorted(unknown))} ({known})"
    missing = packaged.required - template.placeholders
    if missing:
        return f"placeholder {', '.join(f'{{{name}}}' for name in sorted(missing))} is missing"
    return ""
