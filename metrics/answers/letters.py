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
from lmms_eval_finance.metrics.answers.mentions import Mention, find_mentions, read_list
from lmms_eval_finance.metrics.answers.options import Options, OptionSet, flattened, option_set
from lmms_eval_finance.metrics.answers.quantifiers import read_ordinal, read_quantifier
from lmms_eval_finance.metrics.answers.strength import Cue, Strength
from lmms_eval_finance.metrics.answers.text import STATED, STATED_END, lowered, prepare
from lmms_eval_finance.metrics.answers.truth import read_truth

__all__ = ["extract_letters"]

Letters = frozenset[str]


def extract_letters(text: str, options: Options, multiple: bool = False) -> frozenset[str] | None:
    """The option letters that a reply settles on."""
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
    if len(reply) < 400 and (letter := _exact_text(reply, items)):
        return frozenset(letter)
    if len(reply) < 60:
        label = _LABEL.match(reply)
        if (listed := read_list(reply[label.end() :] if label else reply, items)) and not listed.alternatives:
            return listed.letters
    low = lowered(reply)
    claims = _claims(reply, low, find_mentions(reply, low, items), multiple)
    firm = [claim for claim in claims if claim.cue.strength >= Strength.SUPPORTED]
    if firm:
        return _settled(firm, claims, low)
    if items.truth and (letter := read_truth(low, items.truth)):
        return frozenset(letter)
    rejected = _letters_of(claim for claim in claims if claim.rejected)
    if (everything := read_quantifier(low, items, multiple, rejected)) is not None:
        return everything
    return _only_one_named(claims, rejected, multiple) or read_ordinal(low, items)


_LABEL = re.compile(
    r"(?:the |my |la |les |le )?(?:final |correct |bonnes? )?(?:answers?|choices?|options?|reponses?|réponses?|答案)(?: finale?)? ?[:=] ?",
    re.IGNORECASE,
)


def _exact_text(reply: str, items: OptionSet) -> str | None:
    """The option whose text, with or without its letter, is the whole reply."""
    text = flattened(lowered(reply)).strip(_EDGES)
    for letter, own in items.texts.items():
        if len(own) > 1 and text.endswith(own):
            before = text[: -len(own)]
            if not before or ((label := _OWN_LABEL.fullmatch(before)) and label[1] == letter.lower()):
                return letter
    return None


_EDGES = " .,;:!。'\"()[]{}\x02\x03"
_OWN_LABEL = re.compile(r"([a-z])[)\]]? ?[.:、-]? ?\(?")


def _letters_of(claims: Iterable[_Claim]) -> Letters:
    return frozenset(letter for claim in claims for letter in claim.letters)


# ---- claims ------------------------------------------------------------------------

_SENTENCE_END = re.compile(r"[.!?\n。]")


def _claims(reply: str, low: str, mentions: list[Mention], multiple: bool) -> list[_Claim]:
    claims: list[_Claim] = []
    limits = [*(mention.start for mention in mentions[1:]), len(low)]
    for mention, limit in zip(mentions, limits, strict=False):
        previous = claims[-1] if claims else None
        gap = low[previous.mention.end : mention.start] if previous else ""
        rejected_before = previous is not None and previous.rejected and not _SENTENCE_END.search(gap)
        cue = _cue(low, mention, limit, rejected_before)
        if (
            multiple
            and previous
            and cue.strength is Strength.PASSING
            and _goes_on(previous, mention, gap, low)
        ):
            cue = cue._replace(strength=previous.cue.strength, adds=True)
        if not (mention.needs_cue and cue.strength in (Strength.PASSING, Strength.TENTATIVE)):
            claims.append(_Claim(mention, cue))
    return claims


def _cue(low: str, mention: Mention, limit: int, rejected_before: bool) -> Cue:
    """How the reply treats one mention."""
    start, end = mention.start, mention.end
    framed = low.rfind(STATED, max(0, start - 320), start + 1)
    if framed >= 0 and low.find(STATED_END, framed, start + 1) < 0:
        return Cue(Strength.FRAMED, concludes=True, explicit=True)
    before, opens, first = read_before(low, start, rejected_before)
    if before.strength is Strength.REJECTED:
        return before
    after = read_after(low, end)
    if opens and not mention.by_text and after.strength is Strength.PASSING and _starts_line(low, start):
        after = Cue(line_verdict(low, start, end, limit))
    if before.soft and after.strength < Strength.SUPPORTED and not ends_clause(low, end):
        before = before._replace(strength=Strength.PASSING)
    if after.strength is Strength.REJECTED:  # 'the answer is B, is wrong' may still mean B
        return Cue(Strength.TENTATIVE) if before.explicit else after
    if after.strength is Strength.TENTATIVE and not before.explicit:
        return after
    if before.strength is Strength.TENTATIVE and after.strength < Strength.SUPPORTED:
        return before
    strength = max(before.strength, after.strength)
    if strength < Strength.CHOSEN and opens:
        strength = max(strength, _by_position(low, mention, first))
    if after.strength is Strength.SUPPORTED and before.concludes:
        strength = Strength.CHOSEN
    if strength is before.strength and not after.adds:
        return before
    return Cue(strength, before.adds or after.adds, before.concludes, before.explicit)


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


_CONJOINED = re.compile(r"[^.!?;\n]*(?:,| )(?:and|et) (?:option |also )?[(\"']?")


def _goes_on(previous: _Claim, mention: Mention, gap: str, low: str) -> bool:
    """In a list with reasons ('A because ..., and C because ...') the next item counts like the one before."""
    if previous.cue.strength < Strength.SUPPORTED or mention.needs_cue:
        return False
    if _CONJOINED.fullmatch(gap):
        return ends_clause(low, mention.end)
    return (
        gap.count("\n") == 1
        and _starts_line(low, mention.start)
        and _starts_line(low, previous.mention.start)
        and low[mention.end : mention.end + 1] in tuple(".:)- ")
    )


# ---- weighing ----------------------------------------------------------------------

_CORRECTION = re.compile(
    r"(?<![a-z])(?:wait|no,|no wait|actually|scratch that|on second thought|on reflection|correction|i made an? (?:mistake|error)"
    r"|i was wrong|let me (?:re|correct|double|try again)|sorry|oops|my mistake|i misread|hold on|i mean|i meant"
    r"|re-?(?:check|evaluat|examin|consider|calculat)\w*|en fait|attend(?:s|ez)|non,|je me (?:corrige|suis trompee?)"
    r"|rectification|pardon|apres reflexion|finalement|a la reflexion|erreur de ma part)"
    r"|不对|等等|等一下|更正|修正|纠正|搞错|弄错|算错|看错|重新|再想|抱歉|其实"
)


def _settled(firm: list[_Claim], claims: list[_Claim], low: str) -> Letters | None:
    """The claims that stand at the end: after a correction, of the firmest kind, the last of them."""
    firm = _after_correction(firm, claims, low)
    if not firm:
        return None
    highest = max(claim.cue.strength for claim in firm)
    standing: list[_Claim] = []
    for claim in firm:
        if claim.cue.strength < highest and not (claim.cue.adds and standing):
            continue
        together = claim.cue.adds or highest is Strength.SUPPORTED
        if standing and not together and not _restated_at_once(standing[-1], claim, low):
            standing.clear()
        standing.append(claim)
    if any(claim.mention.alternatives for claim in standing):
        return None
    return _letters_of(standing)


def _restated_at_once(before: _Claim, claim: _Claim, low: str) -> bool:
    """Two answers in a row with nothing between to say which one holds: both are stated."""
    if claim.letters <= before.letters or (claim.cue.concludes and not before.cue.concludes):
        return False
    gap = low[before.mention.end : claim.mention.start]
    return len(gap) < 60 and is_filler(gap) and not _CORRECTION.search(gap)


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
