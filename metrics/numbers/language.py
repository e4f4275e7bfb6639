"""Names of languages."""

from __future__ import annotations

from functools import lru_cache

_NAMES = {"english": "en", "french": "fr", "français": "fr", "chinese": "zh", "中文": "zh"}


@lru_cache(maxsize=64)
def language_code(language: str | None) -> str:
    """The two-letter code of a language given by code, tag or name; `en` when not given.

    >>> [language_code(name) for name in ("French", "zh-CN", "chinese", None, "de")]
    ['fr', 'zh', 'zh', 'en', 'de']
    """
    name = (language or "en").strip().lower()
    return _NAMES.get(name, name[:2])
