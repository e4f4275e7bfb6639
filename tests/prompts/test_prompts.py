from __future__ import annotations

import pytest

from lmms_eval_finance import prompts
from lmms_eval_finance.cli import main
from lmms_eval_finance.settings import SettingError


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("LMMS_EVAL_FINANCE_PROMPTS", str(tmp_path))
    return tmp_path


def test_every_packaged_template_stands_in_for_itself(tmp_path):
    prompts.export(tmp_path)
    assert prompts.check(tmp_path) == []
    assert {path.stem for path in tmp_path.iterdir()} == set(prompts.names())


def test_export_leaves_edited_files_alone(tmp_path):
    prompts.export(tmp_path)
    (tmp_path / "finmme.txt").write_text("mine {question}")
    assert prompts.export(tmp_path) == []
    assert (tmp_path / "finmme.txt").read_text() == "mine {question}"


def test_a_file_of_the_folder_replaces_the_packaged_template(folder):
    packaged = prompts._packaged("finmme")
    (folder / "finmme.txt").write_text("{instruction} {question} {answer_form} {options}", encoding="utf-8")
    template = prompts.load("finmme")
    assert template.hash != packaged.hash
    assert template.render(instruction="I", question="Q", answer_form="F", options="") == "I Q F"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{question} {instruction} {answer_form} {oops}", "unknown placeholder {oops}"),
        ("{question} {instruction}", "{answer_form} is missing"),
    ],
)
def test_a_template_that_does_not_fit_is_one_clear_error(folder, text, message):
    (folder / "finmme.txt").write_text(text, encoding="utf-8")
    with pytest.raises(SettingError, match=r"finmme\.txt") as caught:
        prompts.load("finmme")
    assert message in str(caught.value)
    assert any(message in problem for problem in prompts.check(folder))


def test_a_folder_that_is_not_there(monkeypatch, tmp_path):
    monkeypatch.setenv("LMMS_EVAL_FINANCE_PROMPTS", str(tmp_path / "absent"))
    with pytest.raises(SettingError, match="no such folder"):
        prompts.load("finmme")


def test_bytes_that_are_not_utf8(folder):
    (folder / "finmme.txt").write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in prompts.check(folder)[0]


def test_values_are_never_read_as_template_text():
    template = prompts.Template("t", "[[{a}]]|{b}")
    assert template.render(a="{b} ]] [[ {a}", b="{a}") == "{b} ]] [[ {a}|{a}"


def test_command(tmp_path, capsys):
    assert main(["prompts", "export", str(tmp_path)]) == 0
    (tmp_path / "stray.txt").write_text("x")
    assert main(["prompts", "check", str(tmp_path)]) == 1
    assert "stray.txt" in capsys.readouterr().out
    assert main(["prompts", "list"]) == 0
    assert "finmme" in capsys.readouterr().out
