"""The host's command line, with what every `generate` call of a transformers model is given on file.

``python recording_host.py FOLDER --model ...`` writes FOLDER/00000.npz and so on, one per
call: token ids and, where the call has images, their pixel values.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from transformers import GenerationMixin


def main() -> None:
    folder = Path(sys.argv.pop(1))
    folder.mkdir(parents=True)
    numbers = itertools.count()
    original = GenerationMixin.generate

    def generate(self: Any, **kwargs: Any) -> Any:
        tensors = {name: value for name, value in kwargs.items() if isinstance(value, torch.Tensor)}
        # bfloat16 is unknown to numpy; integers up to the size of a vocabulary are exact in float32
        arrays = {name: value.to(torch.float32).numpy() for name, value in tensors.items()}
        np.savez(folder / f"{next(numbers):05}.npz", **arrays)
        return original(self, **kwargs)

    GenerationMixin.generate = generate
    from lmms_eval.__main__ import cli_evaluate

    sys.argv[0] = "lmms-eval"
    cli_evaluate()


if __name__ == "__main__":
    main()
