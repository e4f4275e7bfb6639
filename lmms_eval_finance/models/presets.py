"""Sampling parameters by model, as CFMME's authors ran them (table 8).

Ready for the host's ``--gen_kwargs``, which overrides those of the tasks.
"""

from __future__ import annotations

import difflib
import functools
import json
import re
from collections.abc import Mapping
from pathlib import Path

from lmms_eval_finance import data
from lmms_eval_finance.settings import SettingError

PUBLISHED = Path(data.__file__).parent / "published" / "cfmme.json"


@functools.lru_cache(maxsize=1)
def presets() -> Mapping[str, Mapping[str, float]]:
    """Preset name -> temperature, top_p and presence_penalty.

    >>> presets()["qwen3-vl-8b-instruct"]
    {'temperature': 0.7, 'top_p': 0.8, 'presence_penalty': 1.5}
    """
    models = json.loads(PUBLISHED.read_text(encoding="utf-8"))["models"]
    return {preset_name(model["name"]): model["generation"] for model in models}


def preset_name(model: str) -> str:
    """A model's name as one lower-case word.

    >>> preset_name("GLM-4.5V (thinking)")
    'glm-4.5v-thinking'
    """
    return re.sub(r"[^a-z0-9.]+", "-", model.lower()).strip("-")


def generation_kwargs(name: str) -> str:
    """The value for ``--gen_kwargs``; sampling is switched on, since tasks decode greedily.

    Raises:
        SettingError: there is no such preset; the message names the nearest ones.

    >>> generation_kwargs("glm-4.5v-thinking")
    'do_sample=True,temperature=1.0,top_p=0.0001,presence_penalty=0.0'
    """
    known = presets()
    found = known.get(preset_name(name))
    if found is None:
        near = difflib.get_close_matches(preset_name(name), known, n=3, cutoff=0.4) or sorted(known)
        raise SettingError(f"no preset {name!r}; did you mean {' or '.join(near)}?")
    return ",".join(["do_sample=True", *(f"{key}={value}" for key, value in found.items())])
