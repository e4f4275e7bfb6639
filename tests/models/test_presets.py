from __future__ import annotations

import json

import pytest

from lmms_eval_finance.cli import main
from lmms_eval_finance.models.presets import generation_kwargs, presets


def test_every_row_of_table_8_is_a_preset(shared_dir):
    table = json.loads((shared_dir / "published/cfmme.json").read_text(encoding="utf-8"))[
        "table8_generation_parameters"
    ]
    assert len(presets()) == len(table) == 17
    for row in table:
        text = generation_kwargs(row["model"])
        parts = dict(pair.split("=") for pair in text.split(","))
        assert parts.pop("do_sample") == "True"
        assert {name: float(value) for name, value in parts.items()} == {
            name: row[name] for name in ("temperature", "top_p", "presence_penalty")
        }


def test_the_host_reads_it_as_meant():
    from lmms_eval.utils import simple_parse_args_string

    assert simple_parse_args_string(generation_kwargs("glm-4.5v-thinking")) == {
        "do_sample": True,
        "temperature": 1.0,
        "top_p": 0.0001,
        "presence_penalty": 0.0,
    }


def test_the_command_prints_nothing_but_the_value(capsys):
    assert main(["preset", "InternVL3.5-8B (thinking)"]) == 0
    assert capsys.readouterr().out == "do_sample=True,temperature=0.6,top_p=0.95,presence_penalty=1.5\n"
    assert main(["preset"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 17


@pytest.mark.parametrize(
    ("wrong", "near"), [("glm-4.5v", "glm-4.5v-thinking"), ("qwen3-8b", "qwen3-vl-8b"), ("", "gpt-4o")]
)
def test_an_unknown_name_is_one_error_that_names_others(capsys, wrong, near):
    assert main(["preset", wrong]) == 2
    error = capsys.readouterr().err
    assert near in error
    assert error.count("\n") == 1
