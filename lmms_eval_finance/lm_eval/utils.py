"""The hooks of the text-only tasks under the names their YAML uses: no logic of its own.

lm-eval reads functions from a file beside the YAML. Prompts, data, scorers and the lists
of metrics are those of the lmms-eval tasks.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import lmms_eval_finance.tasks
from lmms_eval_finance.tasks import delivery, yaml_names
from lmms_eval_finance.tasks.cfmme import utils as cfmme
from lmms_eval_finance.tasks.famma import utils as famma
from lmms_eval_finance.tasks.mfe import utils as mfe

# lm-eval begins the assistant's turn with `gen_prefix`, which signatures have to say.
delivery.note(messages=True, prefill=True)

_HOOKS = {"famma": famma, "mfe": mfe, "cfmme": cfmme}


def __getattr__(name: str) -> Any:
    """``BENCHMARK__HOOK__VARIANT`` is a hook, ``metrics__FILE`` a list of metrics, other names are data sources."""
    what, _, rest = name.partition("__")
    if what == "metrics":
        return _metric_list(rest)
    if what in _HOOKS:
        return getattr(_HOOKS[what], rest)
    return getattr(yaml_names, name)


def _metric_list(name: str) -> list[dict[str, Any]]:
    """The `metric_list` of a task file of the lmms-eval tasks, ``FOLDER__FILE``."""
    import importlib

    import yaml

    class Loader(yaml.SafeLoader):
        """Follows dotted function names, as the host does."""

    def function(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> Any:
        module, _, attribute = str(loader.construct_scalar(node)).rpartition(".")
        # Only aggregations are wanted; a data source must not be looked for on the way.
        if module.endswith("yaml_names"):
            return None
        return getattr(importlib.import_module(module), attribute)

    Loader.add_constructor("!function", function)
    folder, _, file = name.partition("__")
    tasks = Path(str(lmms_eval_finance.tasks.__file__)).parent
    config = yaml.load((tasks / folder / f"{file}.yaml").read_text(encoding="utf-8"), Loader)
    metrics: list[dict[str, Any]] = config["metric_list"]
    return metrics
