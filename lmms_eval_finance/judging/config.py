"""judges.toml: which language models judge, where they are reached and what they may cost.

::

    concurrency = 8                       # requests in flight for each judge; default 8
    cache = "judge-cache.sqlite"          # beside this file; default: the user's cache folder

    [budget]                              # for one invocation; default: none
    calls = 5000
    tokens = 2_000_000

    [[judge]]                             # one table for each judge; several are a panel
    name = "llama"                        # default: the model
    model = "Llama-3.3-70B-Instruct"
    base_url = "http://localhost:8000/v1" # of any OpenAI-compatible server
    key_env = "OPENAI_API_KEY"            # the NAME of the variable with the key; leave out for none
    prompt = "mfe"                        # a preset; default: the preset of each item's benchmark
    parameters = {temperature = 0, max_tokens = 512}   # sent as they stand; default: these with 1024
    timeout = 60                          # seconds for one request
    retries = 5                           # after the first try, for 429, 5xx, timeouts, lost connections
    concurrency = 4
    price = {input = 0.6, output = 0.8}   # for a million tokens, in any currency

The key itself never stands in the file, in a signature, a cache, a result or a message.
"""

from __future__ import annotations

import difflib
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from lmms_eval_finance import settings
from lmms_eval_finance.settings import SettingError

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

PARAMETERS: Mapping[str, Any] = {"temperature": 0, "max_tokens": 1024}
_OURS = frozenset({"model", "messages", "stream", "n"})
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_KEY_LIKE = re.compile(
    r"key|token|.*(api[_-]?key|secret|passw|authorization|credential|(access|auth|bearer)[_-]?token).*",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Price:
    """Cost of a million tokens in the user's currency."""

    input: float
    output: float


@dataclass(frozen=True)
class Judge:
    """One language model that judges; the attributes are the keys of its table in judges.toml.

    `key` is the secret itself ("" for none): it is left out of the representation and of comparisons.
    """

    name: str
    model: str
    base_url: str
    prompt: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=lambda: dict(PARAMETERS))
    timeout: float = 60.0
    retries: int = 5
    concurrency: int = 8
    price: Price | None = None
    key: str = field(default="", repr=False, compare=False)

    @property
    def completion_limit(self) -> int:
        """The most tokens one reply can have, as far as the parameters say."""
        limit = self.parameters.get("max_completion_tokens", self.parameters.get("max_tokens"))
        return limit if isinstance(limit, int) else int(PARAMETERS["max_tokens"])


@dataclass(frozen=True)
class Limits:
    """The budget of one invocation; None means no limit."""

    calls: int | None = None
    tokens: int | None = None


@dataclass(frozen=True)
class JudgesConfig:
    """A whole judges.toml."""

    path: Path
    judges: tuple[Judge, ...]
    cache: Path
    limits: Limits = Limits()


def configured() -> JudgesConfig | None:
    """The file that ``LMMS_EVAL_FINANCE_JUDGES`` names; None when it is unset.

    Raises:
        SettingError: the file cannot be used, or a judge is required and none is set.
    """
    path = settings.value("JUDGES")
    if path is not None:
        return load_judges(Path(path).expanduser())
    if settings.flag("REQUIRE_JUDGE"):
        raise SettingError(
            "LMMS_EVAL_FINANCE_REQUIRE_JUDGE is set but no judge is: set LMMS_EVAL_FINANCE_JUDGES=judges.toml"
        )
    return None


def load_judges(path: Path) -> JudgesConfig:
    """Read and check a judges.toml (see the module's text for its keys).

    Raises:
        SettingError: the first fault, naming file and key and saying what to do.
    """
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingError(
            f"{path}: no such file (`lmms-eval-finance judge --example mfe` prints one to start from)"
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(f"{path}: cannot be read as UTF-8 text ({error})") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingError(f"{path}: not valid TOML: {error}") from error

    top = _Table(path, "", data)
    top.known("judge", "concurrency", "cache", "budget")
    concurrency = top.number("concurrency", 8, least=1, most=1024, whole=True)
    budget = top.table("budget")
    budget.known("calls", "tokens")
    limits = Limits(
        *(
            int(budget.number(name, 0, least=1, whole=True)) if name in budget.data else None
            for name in ("calls", "tokens")
        )
    )
    tables = data.get("judge")
    if not isinstance(tables, list) or not tables or not all(isinstance(table, dict) for table in tables):
        raise SettingError(f"{path}: at least one [[judge]] table is needed (with double brackets)")
    judges = tuple(
        _judge(_Table(path, f"judge {number}", table), int(concurrency))
        for number, table in enumerate(tables, 1)
    )
    names = [judge.name for judge in judges]
    for name in names:
        if names.count(name) > 1:
            raise SettingError(f"{path}: name: two judges are called {name!r}: give each its own name")
    cache = top.text("cache", "")
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lmms-eval-finance"
    return JudgesConfig(
        path,
        judges,
        path.parent / Path(cache).expanduser() if cache else folder / "judge-cache.sqlite",
        limits,
    )


def _judge(table: _Table, concurrency: int) -> Judge:
    table.known(
        *("name", "model", "base_url", "key_env", "prompt", "parameters"),
        *("timeout", "retries", "concurrency", "price"),
    )
    model = table.text("model")
    parameters = dict(table.table("parameters").data) if "parameters" in table.data else dict(PARAMETERS)
    for name in parameters:
        if name in _OURS:
            raise table.fault(f"parameters.{name}", "is set by this program: leave it out")
    for name in _names(parameters):
        if _KEY_LIKE.fullmatch(name):
            raise table.fault(f"parameters: {name}", "would stand in signatures in clear: use key_env")
    try:
        json.dumps(parameters, allow_nan=False)
    except (TypeError, ValueError):
        raise table.fault("parameters", "hold a value that JSON lacks (a date, nan or inf)") from None
    price = None
    if "price" in table.data:
        prices = table.table("price")
        prices.known("input", "output")
        price = Price(*(prices.number(name, least=0) for name in ("input", "output")))
    return Judge(
        name=table.text("name", model),
        model=model,
        base_url=_base_url(table),
        prompt=table.text("prompt", "") or None,
        parameters=parameters,
        timeout=table.number("timeout", 60, least=0.001, most=86_400),
        retries=int(table.number("retries", 5, least=0, most=100, whole=True)),
        concurrency=int(table.number("concurrency", concurrency, least=1, most=1024, whole=True)),
        price=price,
        key=_key(table),
    )


def _names(value: Any) -> Iterator[str]:
    """Names of all keys, at any depth."""
    if isinstance(value, dict):
        yield from value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _names(inner)


def _base_url(table: _Table) -> str:
    text = table.text("base_url")
    try:
        url = urlsplit(text)
        port_is_number = url.port is None or url.port > 0
    except ValueError:
        url, port_is_number = urlsplit(""), False
    # the text is not repeated in these messages: it may hold a password
    if (
        url.scheme not in ("http", "https")
        or not url.hostname
        or not port_is_number
        or re.search(r"\s", text)
    ):
        raise table.fault("base_url", "is no address: write it as http://host:port/v1")
    if url.username or url.password or url.query or url.fragment:
        raise table.fault(
            "base_url", "may hold no user, password or query: name the key's variable in key_env"
        )
    return text.rstrip("/").removesuffix("/chat/completions")


def _key(table: _Table) -> str:
    name = table.text("key_env", "")
    if not name:
        return ""
    # what is no variable's name may be a pasted key, so it is not repeated
    if not _VARIABLE.fullmatch(name):
        raise table.fault("key_env", "is the NAME of an environment variable, not the key itself")
    key = os.environ.get(name, "").strip()
    if not key:
        shown = name if re.fullmatch(r"[A-Z][A-Z0-9_]{0,60}", name) else "it names"
        raise table.fault("key_env", f"the environment variable {shown} is not set: export it first")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise table.fault("key_env", "the variable's value is no key: it holds blanks or odd characters")
    return key


class _Table:
    """A TOML table whose readers raise errors that name the file and the key."""

    def __init__(self, path: Path, where: str, data: Mapping[str, Any]) -> None:
        self.path = path
        self.where = where
        self.data = data

    def fault(self, key: str, problem: str) -> SettingError:
        place = f"{self.where}: {key}" if self.where else key
        return SettingError(f"{self.path}: {place}: {problem}")

    def known(self, *names: str) -> None:
        for key in self.data:
            if key in names:
                continue
            if _KEY_LIKE.fullmatch(key):
                raise self.fault(key, "no key stands in this file: name its environment variable in key_env")
            close = difflib.get_close_matches(key, names, 1)
            hint = f"did you mean {close[0]}?" if close else f"known here: {', '.join(names)}"
            raise self.fault(key, f"is not a known key ({hint})")

    def text(self, key: str, default: str | None = None) -> str:
        found = self.data.get(key, default)
        if found is None:
            raise self.fault(key, "is missing")
        if not isinstance(found, str) or (not found.strip() and key in self.data):
            raise self.fault(key, "must be a text in quotes, not empty")
        return found.strip()

    def number(
        self,
        key: str,
        default: float | None = None,
        *,
        least: float,
        most: float = float("inf"),
        whole: bool = False,
    ) -> float:
        found = self.data.get(key, default)
        if found is None:
            raise self.fault(key, "is missing")
        kind = int if whole else (int, float)
        if isinstance(found, bool) or not isinstance(found, kind) or not least <= found <= most:
            upper = "" if most == float("inf") else f" and at most {most:g}"
            raise self.fault(key, f"must be a {'whole ' * whole}number, at least {least:g}{upper}")
        return float(found)

    def table(self, key: str) -> _Table:
        found = self.data.get(key, {})
        if not isinstance(found, dict):
            raise self.fault(key, "must be a table, as in {temperature = 0}")
        return _Table(self.path, f"{self.where}: {key}" if self.where else key, found)
