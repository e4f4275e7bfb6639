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


def test_where_rows_come_from_tells_runs_with_other_requests_apart(monkeypatch, tmp_path):
    """The host's response cache takes it into its keys; an item's place and text alone may be another's."""
    monkeypatch.setenv("LMMS_EVAL_FINANCE_DATA", "sample")
    seen = [yaml_names.source__finmme__train]
    assert seen[0] == yaml_names.source__finmme__train
    monkeypatch.setenv("LMMS_EVAL_FINANCE_IDS", "5,9")
    seen.append(yaml_names.source__finmme__train)
    monkeypatch.setenv("LMMS_EVAL_FINANCE_IDS", "9, 5")
    assert yaml_names.source__finmme__train == seen[1]
    monkeypatch.setenv("LMMS_EVAL_FINANCE_IDS", "5,1")
    seen.append(yaml_names.source__finmme__train)
    (tmp_path / "famma_steps_final.txt").write_text("Say it now, in {language}: {keys}", encoding="utf-8")
    monkeypatch.setenv("LMMS_EVAL_FINANCE_PROMPTS", str(tmp_path))
    seen.append(yaml_names.source__finmme__train)
    assert len({str(sorted(found.items())) for found in seen}) == len(seen) == 4
    assert not [found for found in seen if str(tmp_path) in str(found)]
