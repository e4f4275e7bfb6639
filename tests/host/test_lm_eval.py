"""The text-only tasks in lm-eval: found, run, and scored as their lmms-eval twins."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.host

pytest.importorskip("lm_eval", reason="lm-eval is not installed")

BIN = Path(sys.executable).parent
DOC = Path(__file__).resolve().parents[2] / "docs" / "lm_eval.md"
TEMPLATE = (
    "{% for message in messages %}{{ message.role }}: {{ message.content }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant: {% endif %}"
)
TASKS = "mfe_text,famma_txt,cfmme_qa_table_html"


@pytest.fixture(scope="module")
def server():
    from openai_server import OpenAIServer

    def reply(body):
        """One of a few answers, decided by the last user's words alone: both hosts get the same."""
        parts = [message["content"] for message in body["messages"] if message["role"] == "user"][-1]
        text = parts if isinstance(parts, str) else "".join(part.get("text", "") for part in parts)
        text = " ".join(text.removesuffix("Answer:").split())
        choice = int(hashlib.sha256(text.encode()).hexdigest(), 16) % 4
        return ["5 %", '{"q1": {"answer": "B", "explanation": "x"}, "q2": "A"}', "Answer: A", "Oui"][choice]

    with OpenAIServer(reply) as running:
        yield running


@pytest.fixture(scope="module")
def lm_eval(tmp_path_factory, host_environment):
    """lm_eval(*arguments) -> its results, run in a fresh folder."""
    tasks = subprocess.check_output([BIN / "lmms-eval-finance", "path", "--lm-eval"], text=True).strip()

    def run(*arguments):
        folder = tmp_path_factory.mktemp("lm_eval")
        done = subprocess.run(
            [BIN / "lm_eval", "--include_path", tasks, *arguments, "--output_path", "out", "--log_samples"],
            cwd=folder,
            env=host_environment(OPENAI_API_KEY="none"),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        (results,) = folder.glob("out/**/results_*.json") if done.returncode == 0 else (None,)
        assert results is not None, done.stdout[-4000:]
        return json.loads(results.read_text(encoding="utf-8"))

    return run


def figures(results, task):
    return {
        key.partition(",")[0]: value
        for key, value in results["results"][task].items()
        if "," in key and "stderr" not in key
    }


def test_the_same_outputs_give_the_same_figures_in_both_hosts(lm_eval, run_host, server):
    theirs = lm_eval(
        *("--model", "local-chat-completions", "--apply_chat_template", "--tasks", TASKS),
        *(
            "--model_args",
            f"model=test,base_url={server.url}/chat/completions,num_concurrent=4,tokenizer_backend=None",
        ),
    )
    ours = run_host(
        *("--model", "openai", "--tasks", TASKS),
        *(
            "--model_args",
            f"model_version=test,base_url={server.url},api_key=none,num_concurrent=4,max_retries=1",
        ),
        env={"OPENAI_API_KEY": "none"},
    )
    for task in TASKS.split(","):
        assert figures(theirs, task) == pytest.approx(ours.figures(task)), task
        assert figures(theirs, task)


def test_the_prefix_begins_the_assistants_turn(server):
    last = [request.body["messages"][-1] for request in server.requests if "fund" in request.text]
    prefixed = [message for message in last if message["role"] == "assistant"]
    assert prefixed
    assert all(json.dumps(message["content"]).count("Answer:") == 1 for message in prefixed)


@pytest.fixture(scope="module")
def tiny_text_model(tmp_path_factory):
    """A random-weight GPT-2 of two layers with a tokenizer trained on the spot."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=["<eos>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet()
    )
    tokenizer.train_from_iterator(["Answer: 5 %", "fonds commun de placement"], trainer)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, eos_token="<eos>", pad_token="<eos>", chat_template=TEMPLATE
    )
    config = GPT2Config(
        vocab_size=len(fast), n_positions=4096, n_embd=32, n_layer=2, n_head=2, eos_token_id=0, bos_token_id=0
    )
    folder = tmp_path_factory.mktemp("tiny")
    GPT2LMHeadModel(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


def test_the_documented_commands_run_a_tiny_model_through_hf(tmp_path, tiny_text_model, host_environment):
    lines = [line[4:] for line in DOC.read_text(encoding="utf-8").splitlines() if line.startswith("    ")]
    assert lines.pop(0) == 'pip install "lmms-eval-finance[lm-eval]"'
    (tmp_path / "MODEL").symlink_to(tiny_text_model)
    script = "\n".join([*lines[:-1], f"{lines[-1]} --limit 3 --gen_kwargs max_gen_toks=8"])
    variables = {
        name: value for name, value in host_environment().items() if not name.startswith("LMMS_EVAL_")
    }
    variables["PATH"] = f"{BIN}:{variables['PATH']}"
    done = subprocess.run(
        ["bash", "-ec", script], cwd=tmp_path, env=variables, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-4000:]
    (found,) = tmp_path.glob("out/**/results_*.json")
    results = json.loads(found.read_text(encoding="utf-8"))
    assert figures(results, "mfe_text")["accuracy"] == 0
    assert "accuracy" in figures(results, "famma_txt")
    (samples,) = tmp_path.glob("out/**/samples_mfe_text_*.jsonl")
    asked = json.loads(samples.read_text(encoding="utf-8").splitlines()[0])["arguments"]["gen_args_0"][
        "arg_0"
    ]
    assert asked.startswith("user: ")
    assert asked.endswith("assistant: Answer:")
