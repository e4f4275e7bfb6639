"""Every task through the host's transformers wrappers: what the model is given, token by token and pixel by pixel.

The models are tiny and have random weights, so their answers mean nothing; the requests are
the real ones. What a task's hooks make of a row is taken from the hooks (they have tests of
their own): here it has to reach the model whole, in order and with its own images.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from asked import TASKS, messages_of
from PIL import Image

import lmms_eval_finance.data
from lmms_eval_finance.tasks import delivery
from lmms_eval_finance.tasks.mfe import utils

pytestmark = pytest.mark.host
pytest.importorskip("decord", reason="the host's wrappers import decord, which has no wheel for this system")

LIMIT = 4
IMAGE = "\0"
TOLERANCE = 8.0
"""Of 255, for an image that was made smaller by other means, and packed as JPEG, before it was compared."""

SAMPLE = Path(lmms_eval_finance.data.__file__).parent / "sample"


@dataclass(eq=False)
class Given:
    """One request: its text with a mark in place of each image, and the images."""

    text: str
    images: list[Any]


@dataclass(frozen=True)
class Form:
    """A way of running the models: the host's arguments, what it sends, how an image stands in the prompt."""

    model: str
    arguments: tuple[str, ...] = ()
    messages: bool = True
    system: str = ""
    image: str = r"<\|vision_start\|>(?:<\|image_pad\|>)+<\|vision_end\|>"


QWEN_ARGUMENTS = "pretrained={},device_map=cpu,min_pixels=3136,max_pixels=50176"
FORMS = {
    "qwen2_5_vl": Form("qwen2_5_vl", ("--batch_size", "2")),
    "qwen2_5_vl-simple": Form(
        "qwen2_5_vl",
        ("--force_simple", "--batch_size", "3"),
        messages=False,
        system="You are a helpful assistant.",
    ),
    "llava_hf": Form("llava_hf", image=r"(?:<image>){16}"),
}


@pytest.fixture(scope="module", params=FORMS)
def form(request):
    return FORMS[request.param]


@pytest.fixture(scope="module")
def run(form, run_host, tiny_models, settings_of_all_tasks):
    arguments = QWEN_ARGUMENTS if form.model == "qwen2_5_vl" else "pretrained={},device_map=cpu"
    return run_host(
        *("--model", form.model, "--model_args", arguments.format(tiny_models[form.model])),
        *("--device", "cpu", "--tasks", ",".join(TASKS), "--limit", str(LIMIT)),
        *("--gen_kwargs", "max_new_tokens=4", *form.arguments),
        command=(sys.executable, str(Path(__file__).parent / "recording_host.py"), "calls"),
        # On a busy machine two threads wait for each other longer than they work.
        env={**settings_of_all_tasks, "OMP_NUM_THREADS": "1"},
    )


@pytest.fixture(scope="module")
def given(form, run, tiny_models):
    """What the model was given, request by request in the order of the run."""
    from transformers import AutoProcessor

    processor = AutoProcessor.from_pretrained(tiny_models[form.model])
    found = []
    for file in sorted((run.folder / "calls").glob("*.npz")):
        call = np.load(file)
        images = pixels(call, processor.image_processor)
        for tokens, mask in zip(call["input_ids"], call["attention_mask"], strict=True):
            text = processor.tokenizer.decode(
                tokens[mask == 1].astype(int), clean_up_tokenization_spaces=False
            )
            text = re.sub(form.image, IMAGE, text)
            count = text.count(IMAGE)
            found.append(Given(text, images[:count]))
            images = images[count:]
        assert not images
    return found


def pixels(call, image_processor):
    """The images behind a call's pixel values, as arrays of 0 to 255."""
    if "pixel_values" not in call:
        return []
    values = call["pixel_values"]
    if "image_grid_thw" not in call:
        flat = [image.transpose(1, 2, 0) for image in values]
    else:
        flat = []
        for _, rows, columns in call["image_grid_thw"].astype(int):
            patches, values = np.split(values, [rows * columns])
            # rows and columns of 2 x 2 blocks, the block, colour, two equal frames, the patch
            folded = patches.reshape(rows // 2, columns // 2, 2, 2, 3, 2, 14, 14)[:, :, :, :, :, 0]
            flat.append(folded.transpose(0, 2, 5, 1, 3, 6, 4).reshape(rows * 14, columns * 14, 3))
        assert not len(values)
    return [
        (image * image_processor.image_std + np.array(image_processor.image_mean)) * 255 for image in flat
    ]


@pytest.fixture(scope="module")
def expected(form, run, settings_of_all_tasks):
    """What each task's hooks ask for, given what the model said in the rounds before: (task, doc, Given)."""
    system = [{"role": "system", "content": [{"type": "text", "text": form.system}]}] if form.system else []
    with pytest.MonkeyPatch.context() as patch:
        for name, value in settings_of_all_tasks.items():
            patch.setenv(name, value)
        patch.setattr(delivery, "current", delivery.Delivery(messages=form.messages))
        return [
            (task, line["doc_id"], rendered([*system, *asked]))
            for task in TASKS
            for line in run.samples(task)
            for asked in messages_of(task, line, model=form.model, chat=form.messages)
        ]


def rendered(messages):
    """Messages in the template of the tiny models."""
    text, images = "", []
    for message in messages:
        text += f"<|im_start|>{message['role']}\n"
        for part in message["content"]:
            text += part["text"] if part["type"] == "text" else IMAGE
            images += [part["url"]] if part["type"] == "image" else []
        text += "<|im_end|>\n"
    return Given(text + "<|im_start|>assistant\n", images)


def difference(seen, image):
    """Mean difference of two images at the size that the model saw, in units of 0 to 255."""
    size = (seen.shape[1], seen.shape[0])
    return float(np.abs(seen - np.asarray(image.resize(size, Image.Resampling.BICUBIC), dtype=float)).mean())


def paired(given, expected):
    """(task, doc, what was seen, what was to be seen); of requests with one text, those with the likest images."""
    pool = {}
    for seen in given:
        pool.setdefault(seen.text, []).append(seen)
    for task, doc_id, asked in expected:
        same = pool[asked.text]
        best = min(same, key=lambda seen: sum(map(difference, seen.images, asked.images)))
        same.remove(best)
        yield task, doc_id, best, asked


def test_every_task_leaves_a_record_of_every_item(run):
    for task in TASKS:
        samples = run.samples(task)
        assert 1 <= len(samples) <= LIMIT
        for line in samples:
            parts = [
                part
                for value in line.values()
                if isinstance(value, dict)
                for part in value.get("items", [value])
            ]
            assert any(isinstance(part, dict) and "signature" in part for part in parts), task
    assert "Traceback" not in run.output


def test_every_request_arrives_word_for_word_with_images_in_their_places(given, expected):
    assert Counter(seen.text for seen in given) == Counter(asked.text for _, _, asked in expected)


def test_every_image_arrives(given, expected):
    pairs = list(paired(given, expected))
    assert any(len(asked.images) > 1 for _, _, _, asked in pairs)
    for task, doc_id, seen, asked in pairs:
        assert len(seen.images) == len(asked.images)
        for array, image in zip(seen.images, asked.images, strict=True):
            assert difference(array, image) < TOLERANCE, (task, doc_id)


def test_an_image_is_its_own_and_not_another_of_the_task(given, expected):
    compared = 0
    for task, group in itertools.groupby(paired(given, expected), key=lambda pair: pair[0]):
        pairs = [pair for pair in group if pair[3].images]
        for (_, doc_id, seen, asked), (_, other, _, others) in itertools.permutations(pairs, 2):
            array, image, wrong = seen.images[0], asked.images[0], others.images[0]
            if doc_id != other and image.tobytes() != wrong.tobytes():
                compared += 1
                assert difference(array, image) < difference(array, wrong), (task, doc_id, other)
    assert compared > 200


@pytest.mark.parametrize("task", ["mfe_conversation", "mfe_conversation_gold"])
def test_a_dialogue_keeps_its_turns_in_order(form, run, given, task):
    rows = [json.loads(line) for line in (SAMPLE / "mfe/conversation.jsonl").read_text("utf-8").splitlines()]
    if task == "mfe_conversation":
        (line,) = run.samples(task)
        said = line["filtered_resps"]
        assert len(said) == len(rows) == 5
        assert len(set(said)) > 1, "a model that says the same to everything shows nothing"
    else:
        rows = rows[:LIMIT]
        said = [row["answer"] for row in rows]
    last = next(
        seen.text
        for seen in given
        if seen.text.rstrip().count(rows[-1]["question"])
        and f"{utils.CUE} {utils.answer_of(said[0])}" in seen.text
    )
    place = 0
    for row, answer in zip(rows, said, strict=True):
        place = last.index(row["question"], place)
        if row is not rows[-1]:
            place = last.index(f"{utils.CUE} {utils.answer_of(answer)}", place)
            assert ("<|im_end|>" in last[place:].splitlines()[0]) is form.messages


def test_the_signature_says_how_the_history_went(form, run):
    suffix = "" if form.messages else "-as-text"
    for task, history in (("mfe_conversation", "own"), ("mfe_conversation_gold", "gold")):
        record = run.samples(task)[0]["accuracy"]
        signature = record.get("items", [record])[0]["signature"]
        assert f"history:{history}{suffix}|prefill:cue" in signature
    assert ("stands in it as text" in run.output) is not form.messages
