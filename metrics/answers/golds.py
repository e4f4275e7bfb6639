"""Gold answers to closed questions, in the forms in which published data writes them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lmms_eval_finance.metrics.answers.mentions import find_mentions, read_list, read_text
from lmms_eval_finance.metrics.answers.options import Options, flattened, option_set, truth_value
from lmms_eval_finance.metrics.answers.text import lowered, prepare

__all__ = ["parse_gold_letters"]

_EDGES = " .,;:!。'\"()[]{}"
_LABELLED = re.compile(r"[(\[]?([A-Za-z])[)\]]?[.:)、] ?(?=\S)")


def parse_gold_letters(gold: str | Sequence[str], options: Options) -> frozenset[str] | None:
    """The option letters that a gold answer names.

    Unlike a reply, a gold is no prose: it consists of letters (`d`, `c.`, `A,C`, `AC`), of
    labelled options (`B. Floating`), of an option's text, or of a verdict (`√`, 对, Vrai).

    Args:
        gold: the gold as released; a list is read as its items joined.
        options: letter -> text, or a list of texts.

    Returns:
        The letters as the options' keys; None where the gold names no option or a letter
        that is none (the item's gold is then unusable).

    >>> options = {"A": "Fixed", "B": "Floating", "C": "Zero"}
    >>> sorted(parse_gold_letters("c.", options)), sorted(parse_gold_letters("AC", options))
    (['C'], ['A', 'C'])
    >>> sorted(parse_gold_letters("Floating", options)), parse_gold_letters("E", options)
    (['B'], None)
    """
    items = option_set(options)
    if isinstance(gold, str) and len(gold) == 1 and gold.isascii() and gold in items.keys:
        return frozenset({items.keys[gold]})
    text = prepare(gold if isinstance(gold, str) else ", ".join(map(str, gold or ())))
    low = lowered(text)
    bare = flattened(low).strip(_EDGES)
    if not bare:
        return None
    letters: frozenset[str] = frozenset()
    if own := read_text(text, items):
        letters = frozenset(own)
    elif listed := read_list(text, items):
        letters = listed.letters
    elif items.truth and (verdict := truth_value(bare)) is not None:
        letters = frozenset(items.truth[verdict])
    elif (
        (mentions := find_mentions(text, low, items))
        and mentions[0].start == 0
        and mentions[0].end >= len(text) - 1
    ):
        letters = mentions[0].letters
    elif label := _LABELLED.match(text):
        letters = frozenset(label[1].upper())
    if not letters or not letters <= items.labels:
        return None
    return frozenset(items.keys[letter] for letter in letters)
