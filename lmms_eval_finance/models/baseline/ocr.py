"""Text of an image: PP-OCR models inside the package rapidocr, run by onnxruntime on the CPU."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lmms_eval_finance.settings import SettingError

if TYPE_CHECKING:
    from numpy.typing import NDArray

SHARP = 2.0
"""Small pictures are enlarged by at most this much: letters of 8 pixels are found, but read badly."""
WIDE = 1280
"""Pictures are not enlarged beyond this longer side, in pixels."""
LONGEST = 2000
"""Pictures are to be no longer than that on either side, in pixels."""
MOST_FRAGMENTS = 1500


@dataclass(frozen=True)
class Fragment:
    """A stretch of text on one line of an image.

    Attributes:
        text: as recognised.
        left, top, right, bottom: its upright box in pixels of the image.
    """

    text: str
    left: float
    top: float
    right: float
    bottom: float

    @property
    def height(self) -> float:
        """In pixels."""
        return self.bottom - self.top

    @property
    def width(self) -> float:
        """In pixels."""
        return self.right - self.left

    @property
    def middle(self) -> tuple[float, float]:
        """The centre of the box: x, y."""
        return (self.left + self.right) / 2, (self.top + self.bottom) / 2


def require() -> None:
    """See that what the extra brings is there.

    Raises:
        SettingError: a package of the extra is missing.
    """
    try:
        import cv2  # noqa: F401
        import onnxruntime  # noqa: F401
        import rapidocr  # noqa: F401
    except ImportError as error:
        raise SettingError(
            f"the model finance_baseline needs the extra baseline ({error.name} is missing): "
            "pip install 'lmms-eval-finance[baseline]'"
        ) from error


def version() -> str:
    """The version of the recogniser: results of another one are not reused."""
    from importlib.metadata import version as installed

    return installed("rapidocr")


@functools.lru_cache(maxsize=2)
def _engine(*, detect: bool) -> Any:
    require()
    import onnxruntime
    import rapidocr

    onnxruntime.disable_telemetry_events()  # nothing here talks to anybody
    models = Path(rapidocr.__file__).parent / "models"
    return rapidocr.RapidOCR(
        params={
            "Global.log_level": "critical",
            "Global.use_det": detect,
            "Global.use_cls": False,
            "Global.max_side_len": LONGEST,
            # One thread a picture: pictures are read side by side, and the text never hangs on the number of cores.
            "EngineConfig.onnxruntime.intra_op_num_threads": 1,
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
            # Named files are never looked up on the network.
            "Det.model_path": str(models / "PP-OCRv6_det_small.onnx"),
            "Rec.model_path": str(models / "PP-OCRv6_rec_small.onnx"),
            # One text at a time: less padding, and no text hangs on its neighbours.
            "Rec.rec_batch_num": 1,
            # The size is chosen here, not by the detector.
            "Det.limit_type": "max",
            "Det.limit_side_len": LONGEST,
        }
    )


def recognise(image: NDArray[np.uint8]) -> list[Fragment]:
    """The text fragments of an image (height x width x RGB, at most `LONGEST`), from top to bottom."""
    import cv2

    height, width = image.shape[:2]
    scale = min(SHARP, max(1.0, WIDE / max(height, width)))
    resized = image
    if scale > 1.0:
        size = (round(width * scale), round(height * scale))
        resized = np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_CUBIC), dtype=np.uint8)
    found = _engine(detect=True)(np.ascontiguousarray(resized[:, :, ::-1]))
    if found.boxes is None or not found.txts:
        return []
    fragments = [
        Fragment(
            text.strip(),
            *(
                float(edge) / scale
                for edge in (box[:, 0].min(), box[:, 1].min(), box[:, 0].max(), box[:, 1].max())
            ),
        )
        for box, text in zip(found.boxes, found.txts, strict=True)
        if text.strip()
    ]
    return sorted(fragments, key=lambda one: (one.top, one.left, one.text))[:MOST_FRAGMENTS]


def read_strip(strip: NDArray[np.uint8]) -> tuple[str, float]:
    """The text of a picture that is known to be one line, and how sure it is (0 to 1)."""
    found = _engine(detect=False)(np.ascontiguousarray(strip[:, :, ::-1]))
    if not found.txts:
        return "", 0.0
    return str(found.txts[0]).strip(), float(found.scores[0])
