"""Search by meaning: cosine of embeddings of a local sentence-transformers model (Apache-2.0)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_eval_finance.settings import SettingError

if TYPE_CHECKING:
    import numpy as np


def save(place: Path, texts: Sequence[str], model: Path) -> None:
    """Embed the texts and keep the embeddings in a file.

    Raises:
        SettingError: the model cannot be loaded.
    """
    import numpy as np

    np.save(place, _embedded(_model(model), list(texts)))


class Dense:
    """Kept embeddings and the model that made them."""

    def __init__(self, place: Path, model: Path) -> None:
        import numpy as np

        self._embeddings = np.load(place)
        self._model = _model(model)

    def scores(self, query: str) -> np.ndarray[Any, Any]:
        """The cosine of the query with each text."""
        found: np.ndarray[Any, Any] = self._embeddings @ _embedded(self._model, [query])[0]
        return found


def _model(folder: Path) -> Any:
    try:
        from sentence_transformers import SentenceTransformer
    except ImportError as error:
        raise SettingError(
            'dense retrieval needs sentence-transformers: pip install "lmms-eval-finance[rag-dense]"'
        ) from error
    if not folder.is_dir():
        raise SettingError(f"{folder}: no such folder with a sentence-transformers model")
    try:
        return SentenceTransformer(str(folder), local_files_only=True)
    except Exception as error:  # many libraries take part; whatever fails, the model cannot be used
        raise SettingError(f"{folder}: no sentence-transformers model ({error})") from error


def _embedded(model: Any, texts: list[str]) -> np.ndarray[Any, Any]:
    found: np.ndarray[Any, Any] = model.encode(
        texts, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
    )
    return found.astype("float32")
