from __future__ import annotations

import pytest

from lmms_eval_finance.tasks import yaml_names


@pytest.mark.parametrize(
    ("setting", "value", "message"),
    [
        ("DATA", "/nowhere", "no such folder"),
        ("PROMPTS", "/nowhere", "no such folder"),
        ("JUDGES", "/nowhere.toml", "/nowhere.toml"),
        ("ERRATA", "perhaps", "neither yes nor no"),
        ("IDS", "@/nowhere", "cannot be read"),
        ("REQUIRE_JUDGE", "1", "no judge is"),
    ],
)
def test_a_wrong_setting_stops_when_the_host_reads_the_task(monkeypatch, setting, value, message):
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", "sample")
    monkeypatch.setenv(f"LMMS_EVAL_FINANCE_{setting}", value)
    with pytest.raises(SystemExit, match=message) as caught:
        _ = yaml_names.path__finmme__train
    assert str(caught.value).startswith("lmms-eval-finance: ")
