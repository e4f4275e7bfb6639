"""The environment variables that set this package up, read in one place.

The host's command line takes no options from plugins, so every setting is an
environment variable. Each reader checks its value and raises `SettingError`
with the remedy, before any model is loaded.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

PREFIX = "LMMS_EVAL_FINANCE_"
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"", "0", "false", "no", "off"})


class SettingError(ValueError):
    """A setting (environment variable or file) that cannot be used, with what to do about it."""


def value(name: str) -> str | None:
    """The variable ``LMMS_EVAL_FINANCE_<name>``, stripped; None when unset or blank.

    >>> os.environ["LMMS_EVAL_FINANCE_DOCTEST"] = " sample "
    >>> value("DOCTEST")
    'sample'
    >>> value("UNSET_DOCTEST") is None
    True
    """
    text = os.environ.get(PREFIX + name, "").strip()
    return text or None


def flag(name: str) -> bool:
    """The variable read as yes or no; anything else raises `SettingError`.

    >>> os.environ["LMMS_EVAL_FINANCE_DOCTEST"] = "1"
    >>> flag("DOCTEST")
    True
    """
    text = (value(name) or "").lower()
    if text in _TRUE:
        return True
    if text in _FALSE:
        return False
    raise SettingError(f"{PREFIX}{name}={text!r} is neither yes nor no: use 1 or 0")


@contextmanager
def unset(name: str) -> Iterator[None]:
    """Within the block, the variable ``LMMS_EVAL_FINANCE_<name>`` is not set.

    >>> os.environ["LMMS_EVAL_FINANCE_DOCTEST"] = "1"
    >>> with unset("DOCTEST"):
    ...     print(value("DOCTEST"))
    None
    >>> value("DOCTEST")
    '1'
    """
    kept = os.environ.pop(PREFIX + name, None)
    try:
        yield
    finally:
        if kept is not None:
            os.environ[PREFIX + name] = kept
