"""Models built for tests and benchmarks are what they are said to be."""

from __future__ import annotations

from pathlib import Path

import pytest
import random_models
from hypothesis import given
from hypothesis import strategies as st


@given(st.text())
def test_any_text_goes_through_the_tokenizer_unchanged(text):
    tokenizer = random_models._tokenizer([random_models.IMAGE], random_models.IMAGE)
    # A lone surrogate is no text.
    text = text.encode("utf-8", "ignore").decode("utf-8")
    assert tokenizer.decode(tokenizer(text).input_ids, clean_up_tokenization_spaces=False) == text


def test_the_large_one_has_the_measures_of_qwen2_5_vl_3b(monkeypatch, tmp_path):
    """Without its weights, which need eight gigabytes."""
    made = []
    monkeypatch.setattr(random_models, "_save", lambda folder, model, processor, end: made.append(model))
    random_models.build_qwen2_5_vl(Path(tmp_path), "3b", "bfloat16", "meta")
    (model,) = made
    assert sum(part.numel() for part in model.parameters()) == pytest.approx(3.755e9, rel=1e-3)
    assert {str(part.dtype) for part in model.parameters()} == {"torch.bfloat16"}
