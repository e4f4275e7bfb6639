"""Word lists and quantities that several readers share."""

from __future__ import annotations

import re

__all__ = ["ALL_OF_THEM", "NONE_OF_THEM", "words"]


def words(text: str) -> frozenset[str]:
    """The words of a text, for look-up.

    >>> sorted(words("is are"))
    ['are', 'is']
    """
    return frozenset(text.split())


_THINGS = r"(?:options?|choices?|answers?|statements?|propositions?|affirmations?|reponses?|items?)"
_COUNT = r"(?:two|three|four|five|six|seven|[2-7]|deux|trois|quatre|cinq|six)"
ALL_OF_THEM = re.compile(
    rf"(?<![a-z])(?:everything|all(?: of)?(?: (?:the|these|them|above|listed|given|{_COUNT}|{_THINGS}))*"
    rf"|every (?:one of )?(?:the )?{_THINGS}|each (?:one )?of (?:the|these) {_THINGS}"
    rf"|tou(?:te)?s(?: (?:les|ces|ci-dessus|precedentes|{_COUNT}|{_THINGS}))*)(?![a-z])"
    r"|(?:以上|上述|所有|全部|每个|这?[二三四五六]个?)?(?:选项|说法|表述|项|陈述)?(?:全部|全都|都|均|皆|全)(?:选|是|正确|对|成立|符合)"
    r"|全选|全部(?=[。,!]|\Z)"
)
NONE_OF_THEM = re.compile(
    rf"(?<![a-z])(?:none(?: of)?(?: (?:the|these|them|above|listed|{_COUNT}|{_THINGS}))*|no {_THINGS}"
    rf"|not (?:a single )?one(?: of (?:the|these) {_THINGS})?|neither(?: of them)?"
    rf"|aucune?(?: (?:de|d'|des|ces|les|ci-dessus|precedentes|{_COUNT}|{_THINGS}))*)(?![a-z])"
    r"|(?:以上|上述|所有)?(?:选项|说法|表述|项)?(?:都|均|皆)(?:不(?:选|是|正确|对|成立|符合)|错)|没有(?:一[个项])?(?:正确|选项)|一[个项]都(?:不|没)"
)
