"""Host wrappers made fit for the tasks here: batches of one task, options unharmed, no images taken as none."""

from __future__ import annotations

import io
from types import SimpleNamespace

import datasets
import pytest
from lmms_eval.api.instance import Instance
from PIL import Image

from lmms_eval_finance.models.wrapper import _in_step, accept_no_images, adapted


class Chat:
    """A wrapper that makes batches, like most: it takes task and hook from the first request of each."""

    is_simple = False
    batch_size_per_gpu = 4

    def __init__(self):
        self.task_dict = {name: {"test": [f"{name}{number}" for number in range(9)]} for name in "abc"}
        self.calls = []

    def generate_until(self, requests):
        self.calls.append("".join(request.task_name for request in requests))
        outputs = []
        for start in range(0, len(requests), self.batch_size_per_gpu):
            batch = requests[start : start + self.batch_size_per_gpu]
            _, hook, options, _, task, split = batch[0].arguments
            options["num_beams"] = 1
            outputs += [hook(self.task_dict[task][split][request.arguments[3]]) for request in batch]
        return outputs

    def generate_until_multi_round(self, requests):
        return [["its own rounds"] for _ in requests]


def request(task, number, kind="generate_until"):
    return Instance(
        kind,
        ("text", lambda doc: f"seen by {task}: {doc}", {"temperature": 0}, number, task, "test"),
        0,
        {"task": task, "doc_id": number, "repeats": 1},
    )


ASKED = [("a", 0), ("b", 0), ("a", 1), ("a", 2), ("b", 1), ("a", 3), ("a", 4)]


def test_a_batch_holds_one_task():
    asked = [request(*one) for one in ASKED]
    wrapper = adapted(Chat, ours={"a", "b"})()
    assert wrapper.generate_until(asked) == [f"seen by {task}: {task}{number}" for task, number in ASKED]
    assert wrapper.calls == ["aaaaa", "bb"]
    assert Chat().generate_until([request(*one) for one in ASKED]) != wrapper.generate_until(asked)


def test_options_stay_as_they_were():
    asked = [request(*one) for one in ASKED]
    adapted(Chat, ours={"a", "b"})().generate_until(asked)
    assert [one.arguments[2] for one in asked] == [{"temperature": 0}] * len(asked)


def test_tasks_of_others_stay_in_one_call_and_are_not_copied():
    asked = [request("c", 0), request("c", 1), request("a", 0)]
    wrapper = adapted(Chat, ours={"a", "b"})()
    wrapper.generate_until(asked)
    assert wrapper.calls == ["cc", "a"]
    assert asked[0].arguments[2] == {"temperature": 0, "num_beams": 1}


@pytest.mark.parametrize("attributes", [{"batch_size_per_gpu": 1}, {"client": object()}])
def test_wrappers_that_take_each_request_for_itself_get_them_all_at_once(attributes):
    wrapper = adapted(type("Each", (Chat,), attributes), ours={"a", "b"})()
    wrapper.generate_until([request(*one) for one in ASKED])
    assert len(wrapper.calls) == 1


def damaged_rows():
    """Three rows, the image of the second none."""
    file = io.BytesIO()
    Image.new("L", (64, 64)).save(file, "PNG")
    images = [file.getvalue(), b"no image", file.getvalue()]
    rows = {"id": ["x", "y", "z"], "image": [{"bytes": image, "path": None} for image in images]}
    return datasets.Dataset.from_dict(rows).cast_column("image", datasets.Image())


@pytest.mark.parametrize("kind", ["generate_until", "generate_until_multi_round"])
def test_a_damaged_image_ends_the_run_with_the_id_of_its_row(kind):
    wrapper = adapted(type("Each", (Chat,), {"batch_size_per_gpu": 1}), ours={"a"})()
    wrapper.task_dict = {"a": {"test": damaged_rows()}}
    with pytest.raises(SystemExit, match="lmms-eval-finance: a, id y: the row cannot be read"):
        getattr(wrapper, kind)([request("a", number, kind) for number in range(3)])


@pytest.mark.parametrize("kind", ["generate_until", "generate_until_multi_round"])
def test_an_interrupted_run_ends_without_a_traceback(kind):
    def interrupted(self, requests):
        raise KeyboardInterrupt

    wrapper = adapted(type("Slow", (Chat,), {"generate_until": interrupted}), ours={"a"})()
    wrapper.task_dict = {"a": {"test": damaged_rows()}}
    with pytest.raises(SystemExit) as ended:
        getattr(wrapper, kind)([request("a", 0, kind)])
    assert ended.value.code == 130


def test_other_errors_stay_as_they_are():
    wrapper = adapted(Chat, ours={"a"})()
    with pytest.raises(IndexError):
        wrapper.generate_until([request("a", 99)])


def test_rounds_of_other_tasks_stay_the_wrappers_own():
    wrapper = adapted(Chat, ours={"a"})()
    assert wrapper.generate_until_multi_round([request("c", 0, "generate_until_multi_round")]) == [
        ["its own rounds"]
    ]


def test_the_class_keeps_its_name():
    found = adapted(Chat, ours=())
    assert (found.__name__, found.__module__, found.__doc__) == (
        Chat.__name__,
        Chat.__module__,
        Chat.__doc__,
    )


class ProcessorMixin:
    """Stands for that of transformers, whose name is what counts."""

    def __call__(self, images=None, text=None):
        return images, text


class Processor(ProcessorMixin):
    pass


@pytest.mark.parametrize(
    ("given", "passed"), [([], None), ((), None), (None, None), (["picture"], ["picture"])]
)
def test_an_empty_list_of_images_is_none(given, passed):
    processor = Processor()
    accept_no_images(processor)
    assert processor(images=given, text="t") == (passed, "t")
    assert processor(given, "t") == (passed, "t")
    assert isinstance(processor, Processor)
    assert type(processor).__name__ == "Processor"


def test_what_is_no_processor_is_left_alone():
    for other in (None, 3, lambda: 1):
        kind = type(other)
        accept_no_images(other)
        assert type(other) is kind


class TestLlavaWithoutMessages:
    """It answers a request without an image with the inputs of the one before."""

    def wrapper(self):
        simple = type(
            "Simple", (Chat,), {"is_simple": True, "__module__": "lmms_eval.models.simple.llava_hf"}
        )
        simple.generate_until = lambda self, requests: ["said"] * len(requests)
        return adapted(simple, ours={"a"})()

    def simple(self, task, pictures):
        arguments = ("text", {"temperature": 0}, lambda doc: pictures, 0, task, "test")
        return Instance("generate_until", arguments, 0, {"task": task, "doc_id": 0, "repeats": 1})

    @pytest.mark.parametrize("pictures", [[], None])
    def test_it_is_refused_with_what_to_do(self, pictures):
        with pytest.raises(SystemExit, match="leave --force_simple out"):
            self.wrapper().generate_until([self.simple("a", ["picture"]), self.simple("a", pictures)])

    def test_requests_with_images_pass(self):
        assert self.wrapper().generate_until([self.simple("a", ["picture"])]) == ["said"]
        assert self.wrapper().generate_until([self.simple("b", [])]) == ["said"]


@pytest.mark.parametrize(
    ("attributes", "in_step"),
    [
        ({}, False),
        ({"_world_size": 4}, False),
        ({"_world_size": 4, "data_parallel_size": 4}, True),
        ({"_world_size": 1, "tensor_parallel_size": 4}, False),
        ({"_world_size": 2, "tensor_parallel_size": "2"}, True),
        (
            {"_world_size": 2, "accelerator": SimpleNamespace(distributed_type="DistributedType.FSDP")},
            True,
        ),
        (
            {"_world_size": 2, "accelerator": SimpleNamespace(distributed_type="DistributedType.MULTI_GPU")},
            False,
        ),
    ],
)
def test_processes_that_share_a_model_work_in_step(attributes, in_step):
    assert _in_step(SimpleNamespace(**attributes)) is in_step
