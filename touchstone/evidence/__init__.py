"""Checks what a judge rests on: the ids it names, the words it quotes, the terms it misses. Pure.

A citation is a prompt id that a rationale names; a quote is looked up in the raw text of the
answer it is said to come from, and its offsets are code points of that text.
"""

from touchstone.evidence.check import (
    CLASSES,
    FOUND,
    QUOTE_CLASSES,
    EvidenceChecker,
    EvidenceClass,
    Finding,
    ProseFinding,
)
from touchstone.evidence.citations import (
    Mention,
    PromptIds,
    find_dangling_mentions,
    find_mentions,
)
from touchstone.evidence.levelling import level_text
from touchstone.evidence.matching import Place, QuoteClass, locate_quote, stands_in
from touchstone.evidence.prose_quotes import ProseQuote, find_prose_quotes

__all__ = [
    "CLASSES",
    "FOUND",
    "QUOTE_CLASSES",
    "EvidenceChecker",
    "EvidenceClass",
    "Finding",
    "Mention",
    "Place",
    "PromptIds",
    "ProseFinding",
    "ProseQuote",
    "QuoteClass",
    "find_dangling_mentions",
    "find_mentions",
    "find_prose_quotes",
    "level_text",
    "locate_quote",
    "stands_in",
]
