"""Vision-language models with random weights, built on the spot: nothing is downloaded.

As a program it writes one to a folder, for benchmarks::

    python tests/random_models.py qwen2_5_vl FOLDER --size 3b --dtype bfloat16

What they say is noise. Everything around the weights is real: architecture, processor,
chat template, a byte-level tokenizer (trained on the few texts below, so any text goes
through it unchanged).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

TEXTS = (
    "Question: what was the revenue of the fund in 2023? Answer: 12.5 %",
    "Question : quel est le rendement du fonds sur un an ? Réponse : 3,4 %",
    "问题：该公司的营业收入是多少？答案：人民币一百二十万元",
)
TINY_VOCABULARY = 400
SPREAD = 0.3
"""Standard deviation of tiny models' weights: with the usual 0.02 they say the same to everything."""

# The special tokens are Qwen's; LLaVA's image token is its own.
END, START, STOP = "<|endoftext|>", "<|im_start|>", "<|im_end|>"
IMAGE, VIDEO, BEFORE, AFTER = "<|image_pad|>", "<|video_pad|>", "<|vision_start|>", "<|vision_end|>"
LLAVA_IMAGE = "<image>"

TEMPLATE = (
    "{%% for message in messages %%}<|im_start|>{{ message.role }}\n"
    "{%% if message.content is string %%}{{ message.content }}{%% else %%}"
    "{%% for part in message.content %%}"
    "{%% if part.type == 'text' %%}{{ part.text }}{%% elif part.type == 'image' %%}%s{%% endif %%}"
    "{%% endfor %%}{%% endif %%}<|im_end|>\n{%% endfor %%}"
    "{%% if add_generation_prompt %%}<|im_start|>assistant\n{%% endif %%}"
)

QWEN_SIZES: dict[str, dict[str, dict[str, Any]]] = {
    "tiny": {
        "text": {
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "vocab_size": TINY_VOCABULARY,
            "initializer_range": SPREAD,
            # Tied weights that were never trained repeat the last token for ever.
            "tie_word_embeddings": False,
            "rope": [1, 1, 2],
        },
        "vision": {
            "depth": 2,
            "hidden_size": 32,
            "intermediate_size": 64,
            "num_heads": 4,
            "initializer_range": SPREAD,
            "fullatt": [1],
        },
    },
    # The measures of Qwen2.5-VL-3B-Instruct.
    "3b": {
        "text": {
            "hidden_size": 2048,
            "intermediate_size": 11008,
            "num_hidden_layers": 36,
            "num_attention_heads": 16,
            "num_key_value_heads": 2,
            "vocab_size": 151936,
            "tie_word_embeddings": True,
            "rope": [16, 24, 24],
        },
        "vision": {
            "depth": 32,
            "hidden_size": 1280,
            "intermediate_size": 3420,
            "num_heads": 16,
            "fullatt": [7, 15, 23, 31],
        },
    },
}


def build_qwen2_5_vl(folder: Path, size: str = "tiny", dtype: str = "float32", device: str = "cpu") -> Path:
    """Write a Qwen2.5-VL of that size to the folder, unless one is there; return the folder."""
    if (folder / "config.json").is_file():
        return folder
    import torch
    from transformers import (
        Qwen2_5_VLConfig,
        Qwen2_5_VLForConditionalGeneration,
        Qwen2_5_VLProcessor,
        Qwen2VLImageProcessor,
        Qwen2VLVideoProcessor,
    )

    text, vision = QWEN_SIZES[size]["text"], QWEN_SIZES[size]["vision"]
    tokenizer = _tokenizer([START, STOP, IMAGE, VIDEO, BEFORE, AFTER], BEFORE + IMAGE + AFTER)
    token = tokenizer.convert_tokens_to_ids
    head = text["hidden_size"] // text["num_attention_heads"]
    assert sum(text["rope"]) * 2 == head
    config = Qwen2_5_VLConfig(
        text_config={
            **{name: value for name, value in text.items() if name != "rope"},
            "max_position_embeddings": 32768,
            "rope_scaling": {"type": "mrope", "mrope_section": text["rope"]},
            "bos_token_id": token(END),
            "eos_token_id": token(STOP),
            "pad_token_id": token(END),
        },
        vision_config={
            **{name: value for name, value in vision.items() if name != "fullatt"},
            "out_hidden_size": text["hidden_size"],
            "fullatt_block_indexes": vision["fullatt"],
            "patch_size": 14,
            "spatial_merge_size": 2,
            "temporal_patch_size": 2,
            "window_size": 112,
        },
        image_token_id=token(IMAGE),
        video_token_id=token(VIDEO),
        vision_start_token_id=token(BEFORE),
        vision_end_token_id=token(AFTER),
    )
    processor = Qwen2_5_VLProcessor(
        image_processor=Qwen2VLImageProcessor(),
        tokenizer=tokenizer,
        video_processor=Qwen2VLVideoProcessor(),
        chat_template=tokenizer.chat_template,
    )
    torch.manual_seed(0)
    with torch.device(device):
        model = Qwen2_5_VLForConditionalGeneration._from_config(config, dtype=getattr(torch, dtype))
    return _save(folder, model, processor, token(STOP))


def build_llava(folder: Path) -> Path:
    """Write a tiny LLaVA, which sees every image at 56 x 56 pixels; return the folder."""
    if (folder / "config.json").is_file():
        return folder
    import torch
    from transformers import (
        CLIPImageProcessor,
        CLIPVisionConfig,
        LlamaConfig,
        LlavaConfig,
        LlavaForConditionalGeneration,
        LlavaProcessor,
    )

    tokenizer = _tokenizer([START, STOP, LLAVA_IMAGE], LLAVA_IMAGE)
    token = tokenizer.convert_tokens_to_ids
    config = LlavaConfig(
        text_config=LlamaConfig(
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
            vocab_size=TINY_VOCABULARY,
            max_position_embeddings=32768,
            initializer_range=SPREAD,
            bos_token_id=token(END),
            eos_token_id=token(STOP),
            pad_token_id=token(END),
        ),
        vision_config=CLIPVisionConfig(
            hidden_size=32,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            image_size=56,
            patch_size=14,
            initializer_range=SPREAD,
        ),
        image_token_index=token(LLAVA_IMAGE),
        image_seq_length=16,
        vision_feature_layer=-1,
        vision_feature_select_strategy="default",
    )
    processor = LlavaProcessor(
        image_processor=CLIPImageProcessor(size={"height": 56, "width": 56}, do_center_crop=False),
        tokenizer=tokenizer,
        patch_size=14,
        num_additional_image_tokens=1,
        vision_feature_select_strategy="default",
        chat_template=tokenizer.chat_template,
    )
    torch.manual_seed(0)
    return _save(folder, LlavaForConditionalGeneration(config), processor, token(STOP))


def _tokenizer(special: list[str], image: str) -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    bytes_only = Tokenizer(models.BPE())
    bytes_only.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytes_only.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=TINY_VOCABULARY,
        special_tokens=[END, *special],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    bytes_only.train_from_iterator(TEXTS, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=bytes_only,
        eos_token=STOP,
        pad_token=END,
        extra_special_tokens=special,
        clean_up_tokenization_spaces=False,
        chat_template=TEMPLATE % image,
    )


def _save(folder: Path, model: Any, processor: Any, end: int) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    model.generation_config.eos_token_id = end
    processor.save_pretrained(folder)
    model.save_pretrained(folder)
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description="Write a model with random weights to a folder.")
    parser.add_argument("kind", choices=["qwen2_5_vl", "llava"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--size", choices=sorted(QWEN_SIZES), default="tiny")
    parser.add_argument("--dtype", choices=["float32", "bfloat16"], default="float32")
    parser.add_argument("--device", default="cpu", help="where the weights are drawn")
    args = parser.parse_args()
    if args.kind == "llava":
        build_llava(args.folder)
    else:
        build_qwen2_5_vl(args.folder, args.size, args.dtype, args.device)


if __name__ == "__main__":
    main()
