"""Checks a judge's evidence against the answers: which class each piece is of, and where it stands.

The order of the classes decides: a quote is of the first that fits it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from touchstone.evidence.absence import find_term
from touchstone.evidence.answer_index import (
    KEPT_ANSWERS,
    AnswerTexts,
    CheckedText,
    Kept,
    Pair,
    TextOf,
)
from touchstone.evidence.citations import PromptIds
from touchstone.evidence.levelling import Span
from touchstone.evidence.matching import (
    Passage,
    find_as_written,
    find_levelled,
    find_near,
    find_parts,
    find_words,
    is_short,
    is_too_long_for_near,
    needles_of,
)
from touchstone.evidence.prose_quotes import ProseQuote, find_prose_quotes
from touchstone.models import Evidence, Prompt, Suite, Text

EvidenceClass = Literal[
    "dangling",
    "too_short",
    "verbatim",
    "normalised",
    "in_parts",
    "near",
    "from_prompt",
    "misattributed",
    "cross_model",
    "unverifiable",
    "absence_passed",
    "absence_failed",
    "paraphrase",
]
CLASSES: tuple[EvidenceClass, ...] = get_args(EvidenceClass)
"""All classes: those of quotes in the order in which they are tried, then the others."""
QUOTE_CLASSES: tuple[EvidenceClass, ...] = CLASSES[:10]
"""What can become of a quote."""
FOUND: frozenset[EvidenceClass] = frozenset({"verbatim", "normalised", "in_parts"})
"""The classes of quotes whose words stand in the answer they are said to come from."""


@dataclass(frozen=True)
class Finding:
    """What became of one piece of evidence.

    ``spans`` are code points of the raw text of the cited answer, of the answer at ``place`` where
    there is one (the words stand in another than the cited answer), none where nothing was found.
    A quote in parts has a span for each part; a failed absence one for the first place of each of
    ``terms``. A quote that is too short has its span if it stands there. ``occurrences`` counts the
    places of a quote, of which the spans are the first. ``near_skipped``: quote or answer are too
    long for a near match to be looked for.
    """

    kind: EvidenceClass
    spans: tuple[Span, ...] = ()
    place: tuple[str, str, str] | None = None
    occurrences: int = 0
    terms: tuple[str, ...] = ()
    near_skipped: bool = False

    @property
    def is_found(self) -> bool:
        """True if the quoted words stand in the answer they are said to come from."""
        return self.kind in FOUND


@dataclass(frozen=True)
class ProseFinding:
    """What became of a quote in a rationale: ``prompt_id`` is the id it was checked against.

    Without a prompt id near it there is nothing to check it against, and no finding.
    """

    quote: ProseQuote
    prompt_id: str | None
    finding: Finding | None


@dataclass(eq=False)
class _Open:
    """A quote that doesn't stand where it is said to, still to be looked for elsewhere."""

    pair: Pair
    prompt_id: str
    needle: str
    near_skipped: bool
    place: tuple[str, str, str] | None = None
    passage: Passage | None = None

    @property
    def is_at_its_prompt(self) -> bool:
        """True if it was found in an answer to the prompt it is said to come from."""
        return self.place is not None and self.place[2] == self.prompt_id

    def is_about_another(self, prompt_id: str) -> bool:
        """Say whether it is said to come from another prompt's answer than this one's."""
        return prompt_id != self.prompt_id

    def finding(self) -> Finding:
        """Return what became of it in the end."""
        if self.place is None or self.passage is None:
            return Finding("unverifiable", near_skipped=self.near_skipped)
        kind: EvidenceClass = "misattributed" if self.place[:2] == self.pair else "cross_model"
        passage = self.passage
        return Finding(
            kind, passage.spans, self.place, passage.occurrences, near_skipped=self.near_skipped
        )


class _PromptTexts:
    """What the model or the judge was shown for a prompt."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = [CheckedText(text) for text in texts]
        self.size = 1 + sum(text.size for text in self.texts)


class EvidenceChecker:
    """Checks evidence against the answers of one bundle.

    ``text_of`` gives the raw text of a (model, variant)'s answer to a prompt id, "" if it failed,
    None where there is none. ``pairs`` are the bundle's (model, variant)s in its order: where the
    words of a quote stand in several other answers, the first counts.

    A quote that is found nowhere is looked for in every answer of the bundle, model by model: give
    ``check_all`` all evidence at once, then each model is read through twice at most. Quotes of
    signs alone are not looked for in other answers.
    """

    def __init__(
        self,
        suite: Suite,
        text_of: TextOf,
        pairs: Sequence[Pair],
    ) -> None:
        self._prompts = {prompt.id: prompt for prompt in suite.prompts}
        ids = list(self._prompts)
        self._answers = AnswerTexts(ids, text_of)
        self._shown: Kept[str, _PromptTexts] = Kept(KEPT_ANSWERS)
        self._pairs = list(dict.fromkeys(pairs))
        self.prompt_ids = PromptIds(ids, [dimension.id for dimension in suite.dimensions])

    def check(self, pair: Pair, item: Evidence) -> Finding:
        """Return what becomes of one piece of evidence about a (model, variant)."""
        return self.check_all([(pair, item)])[0]

    def check_quote(self, pair: Pair, prompt_id: str, quote: str) -> Finding:
        """Return what becomes of words said to stand in the answer to a prompt."""
        return self.check(pair, Evidence(prompt_id=prompt_id, quote=quote))

    def check_all(self, items: Iterable[tuple[Pair, Evidence]]) -> list[Finding]:
        """Return what becomes of each piece of evidence, in the order given."""
        return self._settle([self._check_there(pair, item) for pair, item in items])

    def check_prose(self, pair: Pair, rationale: str) -> list[ProseFinding]:
        """Return what becomes of each quote in one rationale (see ``check_all_prose``)."""
        return self.check_all_prose([(pair, rationale)])[0]

    def check_all_prose(self, rationales: Iterable[tuple[Pair, str]]) -> list[list[ProseFinding]]:
        """Return what becomes of each quote in each rationale, in the order given.

        A quote is checked against the ids near it, likeliest first, until it is found; if it
        stands at none of them, the likeliest counts. The comma or full stop that English puts
        before the closing mark isn't the answer's.
        """
        said = [
            [
                self._said_where(pair, quote)
                for quote in find_prose_quotes(rationale, self.prompt_ids.mentions(rationale))
            ]
            for pair, rationale in rationales
        ]
        settled = iter(self._settle([one for ones in said for _, _, one in ones if one]))
        return [
            [ProseFinding(quote, at, next(settled) if one else None) for quote, at, one in ones]
            for ones in said
        ]

    def _said_where(
        self, pair: Pair, quote: ProseQuote
    ) -> tuple[ProseQuote, str | None, Finding | _Open | None]:
        """Return at which id a quote of a rationale is to be taken, and what was found there."""
        tried = [(at, self._check_form(pair, at, quote.text)) for at in quote.prompt_ids]
        if not tried:
            return quote, None, None
        return quote, *min(tried, key=lambda one: _how_far(one[1]))

    def _check_form(self, pair: Pair, at: str, words: str) -> Finding | _Open:
        """Check words as they are written, and without the stop at their end."""
        as_written = self._check_there(pair, Evidence(prompt_id=at, quote=words))
        bare = words.rstrip(".,;:!?… ")
        if not bare or bare == words or _how_far(as_written) == 0:
            return as_written
        without_stop = self._check_there(pair, Evidence(prompt_id=at, quote=bare))
        return min(without_stop, as_written, key=_how_far)

    # --- in the cited answer ---

    def _check_there(self, pair: Pair, item: Evidence) -> Finding | _Open:
        answer = self._answers.answer(pair, item.prompt_id)
        if answer is None:
            return Finding("dangling")
        if item.kind == "absence":
            return _check_absence(item.absent_terms, answer)
        if item.kind == "paraphrase" or not item.quote.strip():
            return Finding("paraphrase")
        return self._check_words(pair, item.prompt_id, item.quote.strip(), answer)

    def _check_words(
        self, pair: Pair, prompt_id: str, quote: str, answer: CheckedText
    ) -> Finding | _Open:
        needles = needles_of(quote)
        if is_short(quote) and not _is_all_of(needles[0], answer):
            found = find_words(quote, needles, answer.levelled, whole_words=True)
            found = found or find_words(quote, needles, answer.levelled)
            return Finding("too_short", *((found.spans, None, found.occurrences) if found else ()))
        found = _find_there(quote, needles, answer)
        if found is not None:
            return Finding(found.kind, found.spans, None, found.occurrences)
        bare = needles[-1]
        near = find_near(bare, answer.levelled)
        if near is not None:
            return Finding("near", (near,), None, 1)
        skipped = is_too_long_for_near(bare, answer.levelled)
        if any(_find_there(quote, needles, text) for text in self._prompt_texts(prompt_id)):
            return Finding("from_prompt", near_skipped=skipped)
        return _Open(pair, prompt_id, bare, skipped)

    def _prompt_texts(self, prompt_id: str) -> Sequence[CheckedText]:
        """Return the texts of a prompt, those of earlier turns included."""

        def read() -> _PromptTexts:
            return _PromptTexts(_shown_for(prompt_id, self._prompts))

        return self._shown.get(prompt_id, read).texts

    # --- in other answers ---

    def _settle(self, checked: Sequence[Finding | _Open]) -> list[Finding]:
        """Look for what is still open in other answers, and return what became of everything."""
        self._look_elsewhere([one for one in checked if isinstance(one, _Open)])
        return [one.finding() if isinstance(one, _Open) else one for one in checked]

    def _look_elsewhere(self, quotes: Sequence[_Open]) -> None:
        """Find where quotes stand: in the model's other answers, to this prompt, in any."""
        left = [quote for quote in quotes if quote.needle]
        for pair in dict.fromkeys(quote.pair for quote in left):
            self._look_among(pair, [quote for quote in left if quote.pair == pair])
        left = [quote for quote in left if quote.place is None]
        for pair in self._pairs:
            self._look_among(pair, [q for q in left if q.pair != pair and not q.is_at_its_prompt])

    def _look_among(self, pair: Pair, quotes: Sequence[_Open]) -> None:
        for quote in quotes:
            candidates = self._answers.words_of(pair).candidates(quote.needle)
            for prompt_id in sorted(candidates, key=quote.is_about_another):
                is_cited = (pair, prompt_id) == (quote.pair, quote.prompt_id)
                if is_cited or (quote.place and prompt_id != quote.prompt_id):
                    continue
                answer = self._answers.answer(pair, prompt_id)
                passage = find_levelled(quote.needle, answer.levelled) if answer else None
                if passage is not None:
                    quote.passage, quote.place = passage, (*pair, prompt_id)
                    break


def _is_all_of(needle: str, answer: CheckedText) -> bool:
    return needle != "" and needle == answer.levelled.text.strip()


def _find_there(quote: str, needles: Sequence[str], text: CheckedText) -> Passage | None:
    """Return where a quote stands in a text; letter for letter goes without levelling it."""
    return (
        find_as_written(quote, text.raw)
        or find_words(quote, needles, text.levelled)
        or find_parts(quote, text.levelled)
    )


def _how_far(checked: Finding | _Open) -> int:
    """Return 0 for a quote that is found, 1 for one that stands there somehow, 3 for nowhere."""
    if isinstance(checked, _Open):
        return 3
    if checked.spans:
        return 0 if checked.is_found else 1
    return 2 if checked.kind == "from_prompt" else 3


def _shown_for(prompt_id: str, prompts: Mapping[str, Prompt]) -> Iterator[str]:
    """Yield what belongs to a prompt and to those it follows."""
    seen: set[str] = set()
    waiting: str | None = prompt_id
    while waiting is not None and waiting not in seen:
        seen.add(waiting)
        prompt = prompts.get(waiting)
        if prompt is None:
            return
        yield from (turn.content for turn in prompt.turns())
        for text in (prompt.title, prompt.system, prompt.expectation, prompt.forbidden):
            yield from _all_languages(text)
        waiting = prompt.follows


def _all_languages(text: Text | None) -> Iterable[str]:
    if text is None:
        return ()
    return (text,) if isinstance(text, str) else text.values()


def _check_absence(terms: Sequence[str], answer: CheckedText) -> Finding:
    """Look up what is said to be missing; without terms there is nothing to look up."""
    wanted = [term for term in terms if term.strip()]
    if not wanted:
        return Finding("paraphrase")
    there = [(term, span) for term in wanted if (span := find_term(term, answer.levelled))]
    if not there:
        return Finding("absence_passed")
    spans = tuple(span for _, span in there)
    return Finding("absence_failed", spans, terms=tuple(term for term, _ in there))
