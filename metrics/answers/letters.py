"""From a model's reply to the option letters that it settles on.

The reply is normalised, its reasoning cut out, and what it frames as its answer marked
(`text`). Every mention of an option is found, by letter or by text (`mentions`), and the
words before and after it say how firmly the reply commits itself (`before`, `after`).
This module weighs the claims: a correction withdraws what stands before it, the firmest
kind of claim counts, and of these the last one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from lmms_eval_finance.metrics.answers.after import ends_clause, line_verdict, read_after, stands_last
from lmms_eval_finance.metrics.answers.before import is_filler, read_before
from lmms_eval_finance.metrics.answers.mentions import (
    Mention,
    find_mentions,
    mentions_elsewhere,
    read_list,
    read_text,
)
from lmms_eval_finance.metrics.answers.options import Options, OptionSet, option_set
from lmms_eval_finance.metrics.answers.quantifiers import read_ordinal, read_quantifier
from lmms_eval_finance.metrics.answers.strength import Cue, Strength
from lmms_eval_finance.metrics.answers.text import STATED, STATED_END, lowered, prepare
from lmms_eval_finance.metrics.answers.truth import read_truth

__all__ = ["extract_letters"]

Letters = frozenset[str]


def extract_letters(text: str, options: Options, multiple: bool = False) -> frozenset[str] | None:
    """The option letters that a reply settles on, as a careful person would read it.

    English, French and Chinese replies are read, in any mix. What counts, from firm to weak:

    1. a reply that is nothing but letters, or an option's text;
    2. what the reply frames as its answer: a box, an answer tag, the answer field of JSON;
    3. what it says is the answer ('the answer is C', 'je choisis C', 故选C), or a last
       sentence that is just the letter;
    4. what it supports ('C is correct', marks in a list of all options), or opens with;
    5. true or false where the options are just these; 'all', 'none', 'all but B';
    6. the one option that is named and not ruled out, else 'the third option'.

    Of several statements the last one counts; a correction ('wait, ...') withdraws those
    before it. Reasoning blocks are not read, nor is thinking that was never closed.
    Options that are ruled out, asked about, or passing thoughts are no answers. Of a reply
    longer than 20,000 characters the two ends are read.

    Args:
        text: the reply; anything but text is unreadable.
        options: letter -> text, or a list of texts (with or without their own letters).
        multiple: whether several letters may be right. If not, a reply that settles on two
            is unreadable.

    Returns:
        The letters, as the keys of `options`. With `multiple` the empty set says that the
        reply calls none of the options right. None: the reply is unreadable, which includes
        a letter outside the options and undecided alternatives ('A or B').

    >>> options = {"A": "Net margin", "B": "Dividend yield", "C": "Debt ratio"}
    >>> extract_letters("A looks tempting, but the **debt ratio** is what lenders watch.", options)
    frozenset({'C'})
    >>> extract_letters("The answer is B. Wait, that is the payout. So (C).", options)
    frozenset({'C'})
    >>> sorted(extract_letters("A、C 正确，B 错误", options, multiple=True))
    ['A', 'C']
    >>> extract_letters("Either A or B.", options) is None
    True
    """
    if not isinstance(text, str):
        return None
    items = option_set(options)
    letters = _read(prepare(text), items, multiple)
    if letters is None or not letters <= items.labels or (not multiple and len(letters) != 1):
        return None
    return frozenset(items.keys[letter] for letter in letters)


class _Claim(NamedTuple):
    mention: Mention
    cue: Cue

    @property
    def letters(self) -> Letters:
        return self.mention.letters

    @property
    def rejected(self) -> bool:
        return self.cue.strength is Strength.REJECTED


def _read(reply: str, items: OptionSet, multiple: bool) -> Letters | None:
    if not reply:
        return None
    if len(reply) < items.longest + 16 and (letter := read_text(reply, items)):
        return frozenset(letter)
    low = lowered(reply)
    if (plain := _plain_answer(reply, low, items)) is not None:
        return plain
    if len(reply) < 60:
        label = _LABEL.match(reply)
        if (listed := read_list(reply[label.end() :] if label else reply, items)) and not listed.alternatives:
            return listed.letters
    if (next_question := _NEXT_QUESTION.search(low)) and next_question.start():
        # a model that runs on, asking and answering what nobody asked
        first = _read(reply[: next_question.start()].strip(), items, multiple)
        if first is not None:
            return first
    claims = _Reading(low, find_mentions(reply, low, items), multiple).claims()
    firm = [claim for claim in claims if claim.cue.strength >= Strength.SUPPORTED]
    if firm:
        return _settled(firm, claims, low)
    if items.truth and (verdict := read_truth(low, items.truth)):
        return frozenset(verdict)
    rejected = _letters_of(claim for claim in claims if claim.rejected)
    if (everything := read_quantifier(low, items, multiple, rejected)) is not None:
        return everything
    return _only_one_named(claims, rejected, multiple) or read_ordinal(low, items)


def _plain_answer(reply: str, low: str, items: OptionSet) -> Letters | None:
    """What a last line like 'Answer: A, C' says where no option is mentioned elsewhere; None for other replies.

    All that follows in this module would come to the same; many replies are like that.
    """
    line = low.rfind("\n") + 1
    answer = _PLAIN_ANSWER.fullmatch(reply, line)
    if answer is None or STATED in low or _NEXT_QUESTION.search(low):
        return None
    letters = frozenset(answer[1]) - _BETWEEN_LETTERS
    if not letters <= items.labels or mentions_elsewhere(reply, low, line, items):
        return None
    return letters


_PLAIN_ANSWER = re.compile(r"(?:[Ff]inal )?[Aa]nswer: ?([A-Z](?:, ?[A-Z]){0,25})\.?")
_BETWEEN_LETTERS = frozenset(", ")
_NEXT_QUESTION = re.compile(r"\n(?:#{1,4} ?)?(?:question|problem|exercice|题目|问题)(?: ?\d{1,3})? ?[:.]")
_LABEL = re.compile(
    r"(?:the |my |la |les |le )?(?:final |correct |bonnes? )?(?:answers?|choices?|options?|reponses?|réponses?|答案)(?: finale?)? ?[:=] ?",
    re.IGNORECASE,
)


def _letters_of(claims: Iterable[_Claim]) -> Letters:
    return frozenset(letter for claim in claims for letter in claim.letters)


# ---- claims ------------------------------------------------------------------------

_SENTENCE_END = re.compile(r"[.!?\n。]")
# Two answers this close, in characters, may be one statement; what stands further before a firm answer is superseded.
_NEAR = 60


class _Reading:
    """The mentions of one reply, judged on demand: a late answer makes most of the early ones irrelevant."""

    def __init__(self, low: str, mentions: list[Mention], multiple: bool) -> None:
        self.low = low
        self.mentions = mentions
        self.multiple = multiple
        self.cues: dict[int, Cue] = {}

    def claims(self) -> list[_Claim]:
        """The claims that can matter, in order: all, or those from the last firm answer on."""
        claims: list[_Claim] = []
        start_of_answer = -1
        framed = STATED in self.low
        for index in reversed(range(len(self.mentions))):
            mention = self.mentions[index]
            if mention.end < start_of_answer - _NEAR:
                break
            cue = self.cue(index)
            if not (mention.needs_cue and cue.strength in (Strength.PASSING, Strength.TENTATIVE)):
                claims.append(_Claim(mention, cue))
            if cue.strength is Strength.CHOSEN and not cue.adds and not framed:
                start_of_answer = mention.start
        claims.reverse()
        return claims

    def cue(self, index: int) -> Cue:
        """How the reply treats one mention."""
        if index not in self.cues:
            self.cues[index] = self._cue(index)
        return self.cues[index]

    def _cue(self, index: int) -> Cue:
        low, mention = self.low, self.mentions[index]
        start, end = mention.start, mention.end
        if _is_framed(low, start):
            return Cue(Strength.FRAMED, concludes=True, explicit=True)
        before, opens, first, turns = read_before(low, start)
        if turns and self._previous_is_rejected(index):  # 'not B but C'
            before = Cue(Strength.CHOSEN, concludes=True)
        if before.strength is Strength.REJECTED:
            return before
        after = read_after(low, end)
        if before.explicit and before.strength is Strength.CHOSEN and after.strength is Strength.PASSING:
            return before
        if opens and not mention.by_text and after.strength is Strength.PASSING and _starts_line(low, start):
            limit = self.mentions[index + 1].start if index + 1 < len(self.mentions) else len(low)
            after = Cue(line_verdict(low, start, end, limit))
        cue = _combined(before, after, low, end)
        if opens and cue.strength in (Strength.PASSING, Strength.SUPPORTED):
            position = _by_position(low, mention, first)
            cue = cue._replace(strength=position) if position > cue.strength else cue
        if self.multiple and cue.strength is Strength.PASSING and index and self._goes_on(index):
            return cue._replace(strength=self.cue(index - 1).strength, adds=True)
        return cue

    def _previous_is_rejected(self, index: int) -> bool:
        if not index or _SENTENCE_END.search(
            self.low, self.mentions[index - 1].end, self.mentions[index].start
        ):
            return False
        return self.cue(index - 1).strength is Strength.REJECTED

    def _goes_on(self, index: int) -> bool:
        """In a list with reasons ('A because ..., and C because ...') the next item counts like the one before."""
        low, last, mention = self.low, self.mentions[index - 1], self.mentions[index]
        if mention.needs_cue or mention.start - last.end > _LONGEST_REASON:
            return False
        gap = low[last.end : mention.start]
        if _CONJOINED.fullmatch(gap):
            goes_on = ends_clause(low, mention.end)
        else:
            goes_on = (
                gap.count("\n") == 1
                and low[mention.end : mention.end + 1] in _AFTER_LABEL
                and _starts_line(low, mention.start)
                and _starts_line(low, last.start)
            )
        return goes_on and self.cue(index - 1).strength >= Strength.SUPPORTED


_CONJOINED = re.compile(r"[^.!?;\n]*(?:,| )(?:and|et) (?:option |also )?[(\"']?")
_LONGEST_REASON = 400
_AFTER_LABEL = frozenset(".:)- ")


def _combined(before: Cue, after: Cue, low: str, end: int) -> Cue:
    """One cue out of what stands before and after a mention; neither rules it out before."""
    if before.soft and after.strength < Strength.SUPPORTED and not ends_clause(low, end):
        before = before._replace(strength=Strength.PASSING)
    if after.strength is Strength.REJECTED:  # 'the answer is B, is wrong' may still mean B
        return Cue(Strength.TENTATIVE) if before.explicit else after
    if after.strength is Strength.TENTATIVE and not before.explicit:
        return after
    if before.strength is Strength.TENTATIVE and after.strength < Strength.SUPPORTED:
        return before
    strength = max(before.strength, after.strength)
    if after.strength is Strength.SUPPORTED and before.concludes:
        strength = Strength.CHOSEN
    if strength is before.strength and not after.adds:
        return before
    return Cue(strength, before.adds or after.adds, before.concludes, before.explicit)


def _is_framed(low: str, start: int) -> bool:
    opened = low.rfind(STATED, max(0, start - 320), start + 1)
    return opened >= 0 and low.find(STATED_END, opened, start + 1) < 0


_LINE_HEAD = re.compile(
    r"[\s*\-(\[\]x✓✗\d.\"']*(?:(?:option|choice|statement|answer|l'option|proposition|选项) ?)?[(\[\"']*"
)
_LINE_OVER = re.compile(r"[ )\]}\"'.,;:!*_。\x03|]*(?:\n|\Z)")


def _starts_line(low: str, start: int) -> bool:
    line = low.rfind("\n", 0, start) + 1
    return start - line < 24 and bool(_LINE_HEAD.fullmatch(low, line, start))


def _by_position(low: str, mention: Mention, first: bool) -> Strength:
    """A sentence that is just the mention: chosen at the end, supported at the head or on its own line."""
    if stands_last(low, mention.end):
        return Strength.CHOSEN
    if first and ends_clause(low, mention.end):
        return Strength.SUPPORTED
    if _LINE_OVER.match(low, mention.end) and _starts_line(low, mention.start):
        return Strength.SUPPORTED
    return Strength.PASSING


# ---- weighing ----------------------------------------------------------------------

_CORRECTION = re.compile(
    r"(?<![a-z])(?:wait|(?<![:=-] )no,|no wait|actually|scratch that|on second thought|on reflection|correction|i made an? (?:mistake|error)"
    r"|i was wrong|let me (?:re|correct|double|try again)|sorry|oops|my mistake|i misread|hold on|i mean|i meant"
    r"|re-?(?:check|evaluat|examin|consider|calculat)\w*|en fait|attend(?:s|ez)|(?<![:=-] )non,|je me (?:corrige|suis trompee?)"
    r"|rectification|pardon|apres reflexion|finalement|a la reflexion|erreur de ma part)"
    r"|不对|等等|等一下|更正|修正|纠正|搞错|弄错|算错|看错|重新|再想|抱歉|其实"
)


def _settled(firm: list[_Claim], claims: list[_Claim], low: str) -> Letters | None:
    """The claims that stand at the end: after a correction, of the firmest kind, the last of them."""
    if len(claims) > 1:
        firm = _after_correction(firm, claims, low)
    standing = firm if len(firm) < 2 else _last_of_the_firmest(firm, low)
    if not standing or any(claim.mention.alternatives for claim in standing):
        return None
    return standing[0].letters if len(standing) == 1 else _letters_of(standing)


def _last_of_the_firmest(firm: list[_Claim], low: str) -> list[_Claim]:
    """The last claim of the firmest kind, with what it adds to or repeats; all of them where none is chosen."""
    highest = max(claim.cue.strength for claim in firm)
    standing: list[_Claim] = []
    for claim in firm:
        if claim.cue.strength < highest and not (claim.cue.adds and standing):
            continue
        together = claim.cue.adds or highest is Strength.SUPPORTED
        if standing and not together and not _restated_at_once(standing[-1], claim, low):
            standing.clear()
        standing.append(claim)
    return standing


def _restated_at_once(before: _Claim, claim: _Claim, low: str) -> bool:
    """Two answers in a row with nothing between to say which one holds: both are stated."""
    if claim.letters <= before.letters or (claim.cue.concludes and not before.cue.concludes):
        return False
    gap = low[before.mention.end : claim.mention.start]
    return len(gap) <= _NEAR and is_filler(gap) and not _CORRECTION.search(gap)


def _after_correction(firm: list[_Claim], claims: list[_Claim], low: str) -> list[_Claim]:
    """Without the claims that a later 'wait, ...' replaces or withdraws."""
    if len({claim.letters for claim in claims}) < 2 and not any(claim.rejected for claim in claims):
        return firm  # no other answer stands in the reply
    corrections = [
        m.start() for m in _CORRECTION.finditer(low, firm[0].mention.end, claims[-1].mention.start)
    ]
    for at in reversed(corrections):
        if after := [claim for claim in firm if claim.mention.start > at]:
            return after
        withdrawn = _letters_of(claim for claim in claims if claim.mention.start > at and claim.rejected)
        firm = [claim for claim in firm if not claim.letters <= withdrawn]
    return firm


def _only_one_named(claims: list[_Claim], rejected: Letters, multiple: bool) -> Letters | None:
    """No claim is made, yet a single answer is named and not ruled out."""
    named = [claim for claim in claims if not claim.rejected]
    by_letter = [claim for claim in named if not claim.mention.by_text]
    by_text = [claim for claim in named if claim.mention.by_text]
    for group in (named, by_letter, by_text):
        if not group or any(claim.mention.alternatives for claim in group):
            continue
        answers = {claim.letters - rejected for claim in group}
        if len(answers) == 1:
            return answers.pop() or None
    return None
