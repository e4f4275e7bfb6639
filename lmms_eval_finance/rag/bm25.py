"""BM25 over search terms, by bm25s (MIT), with its index kept on disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lmms_eval_finance.rag.words import terms

if TYPE_CHECKING:
    import numpy as np


def save(place: Path, texts: Sequence[str]) -> None:
    """Index the texts and keep the index in a folder."""
    import bm25s

    index = bm25s.BM25(method="lucene")
    index.index([terms(text) for text in texts], show_progress=False)
    index.save(place, show_progress=False)


class Bm25:
    """A kept index."""

    def __init__(self, place: Path) -> None:
        import bm25s

        self._index = bm25s.BM25.load(place, show_progress=False)

    def scores(self, query: str) -> np.ndarray[Any, Any]:
        """One score for each text; 0 where no term occurs."""
        import numpy as np

        known = self._index.get_tokens_ids(terms(query))
        if not known:
            return np.zeros(self._index.scores["num_docs"])
        scores: np.ndarray[Any, Any] = self._index.get_scores(known)
        return scores
