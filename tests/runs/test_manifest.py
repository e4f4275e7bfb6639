"""Manifests: what they hold, that secrets stay out, and that every change of a file is found."""

from __future__ import annotations

import hashlib
import json

import pytest

from lmms_eval_finance.cli import main
from lmms_eval_finance.runs import manifest
from lmms_eval_finance.runs.read import open_run
from lmms_eval_finance.runs.review import add_decision
from lmms_eval_finance.settings import SettingError

ABOUT = {
    "config": {
        "model": "openai",
        "model_args": "model_version=gpt-x,api_key=sk-secret,base_url=http://host,max_pixels=100",
        "gen_kwargs": "temperature=0.5",
        "random_seed": 0,
        "torch_seed": 1234,
        "resolved_cli_args": {
            "model": "openai",
            "model_args": {"model_version": "gpt-x", "api_key": "sk-secret"},
            "tasks": "mfe_text",
            "limit": 8,
            "batch_size": 1,
            "gen_kwargs": "temperature=0.5; rm -rf /",
            "apply_chat_template": True,
            "seed": [1, 2, 3, 4],
        },
    },
    "configs": {
        "mfe_text": {
            "generation_kwargs": {"max_new_tokens": 64},
            "metadata": {"source": {"kind": "hub", "revision": "abc123", "rows": 501}},
        }
    },
    "git_hash": "f00",
}


@pytest.fixture
def run(varied, save_run):
    return save_run({"mfe_text": varied("mfe_text")}, about=ABOUT)


def test_it_says_what_the_run_is_made_of(run):
    found = manifest.of_run(run)
    assert found["model"] == "model"
    results = run.results.read_bytes()
    assert found["files"][run.results.name] == {
        "sha256": hashlib.sha256(results).hexdigest(),
        "bytes": len(results),
    }
    task = found["tasks"]["mfe_text"]
    assert task["items"] == 8
    assert list(task["signatures"].values()) == [8]
    assert task["generation"] == {"max_new_tokens": 64}
    # a part of the rows: which ones
    assert len(task["ids"]) == 8
    assert found["seeds"] == {"random_seed": 0, "torch_seed": 1234}
    assert found["host"]["git_hash"] == "f00"
    assert "numpy" in found["written_with"]


def test_it_says_how_to_repeat_it(run):
    repeat = manifest.of_run(run)["repeat"]
    assert repeat["settings"] == {"LMMS_EVAL_FINANCE_DATA": "hub@abc123"}
    assert repeat["command"] == (
        "lmms-eval --model openai --model_args 'model_version=gpt-x,api_key=(left out)' "
        "--tasks mfe_text --limit 8 --gen_kwargs 'temperature=0.5; rm -rf /' --apply_chat_template --seed 1,2,3,4 "
        "--output_path out --log_samples"
    )


def test_secrets_stay_out(run):
    assert "sk-secret" not in manifest.to_text(manifest.of_run(run))


def test_settings_follow_from_signatures(varied, save_run, monkeypatch, tmp_path):
    monkeypatch.setenv("LMMS_EVAL_FINANCE_ERRATA", "1")
    run = save_run({"mfe_text": varied("mfe_text"), "cfmme_seal_detection": varied("cfmme_seal_detection")})
    settings = manifest.of_run(run)["repeat"]["settings"]
    assert settings["LMMS_EVAL_FINANCE_ERRATA"] == "1"
    assert settings["LMMS_EVAL_FINANCE_COORDINATES"] == "absolute"
    assert settings["LMMS_EVAL_FINANCE_DATA"].startswith("a folder with ")


def test_every_change_is_found(run):
    manifest.write(run)
    assert manifest.verify(run) == []
    sample = run.samples["mfe_text"]
    text = sample.read_text(encoding="utf-8")
    sample.write_text(text.replace("mfe", "mef", 1), encoding="utf-8")
    assert manifest.verify(run) == [f"{sample.name}: was changed"]
    sample.write_text(text, encoding="utf-8")
    assert manifest.verify(run) == []
    add_decision(run, ("mfe_text", "1"), "correct")
    assert manifest.verify(run) == [f"{run.companion('decisions').name}: is not in the manifest"]
    run.companion("decisions").unlink()
    extra = sample.with_name(sample.name.replace("mfe_text", "mfe_chart"))
    extra.write_text(text, encoding="utf-8")
    assert manifest.verify(open_run(run.results)) == [f"{extra.name}: is not in the manifest"]
    extra.unlink()
    run.results.unlink()
    assert manifest.verify(run) == [f"{run.results.name}: is missing"]


@pytest.mark.parametrize("name", ["../secret", "/etc/passwd", "..", "", "a/b"])
def test_names_cannot_leave_the_folder(run, name):
    path = manifest.write(run)
    found = json.loads(path.read_text(encoding="utf-8"))
    found["files"][name] = {"sha256": "0", "bytes": 0}
    path.write_text(json.dumps(found), encoding="utf-8")
    assert manifest.verify(run) == [f"{name!r}: is no name of a file in the run's folder"]


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"files": 1}', '{"files": {"a": 1}}', '{"files": {"a": {}}}', "[" * 9999]
)
def test_manifests_that_are_none(run, text):
    (run.folder / f"{run.date}_manifest.json").write_text(text, encoding="utf-8")
    with pytest.raises(SettingError, match="cannot be read as a manifest"):
        manifest.verify(run)


def test_the_commands(run, capsys):
    assert main(["verify", str(run.folder)]) == 2
    assert "there is no manifest" in capsys.readouterr().err
    assert main(["manifest", str(run.folder)]) == 0
    assert "_manifest.json" in capsys.readouterr().out
    assert main(["verify", str(run.folder)]) == 0
    run.results.write_text("{}", encoding="utf-8")
    assert main(["verify", str(run.folder)]) == 1
    assert "was changed" in capsys.readouterr().out
    assert main(["manifest", str(run.folder), "--print"]) == 0
    assert json.loads(capsys.readouterr().out)["manifest"] == 1


def test_the_rest_of_the_package_passes_over_manifests(run):
    manifest.write(run)
    assert open_run(run.folder).date == run.date
