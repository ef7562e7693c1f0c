"""Where in a reply a score or a flag is claimed, and what several claims come to together."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from touchstone.models import Dimension, Evidence
from touchstone.reply_json import CUT_OFF, FoundObject, Reply
from touchstone.reply_syntax import Conflict, Number, Tree, normal_key
from touchstone.reply_values import (
    CATEGORY_KEYS,
    EVIDENCE_KEYS,
    FLAG_KEYS,
    NAME_KEYS,
    QUOTE_KEYS,
    RATIONALE_KEYS,
    SCORE_KEYS,
    WRAPPER_KEYS,
    Reading,
    first_text,
    foreign_scale,
    members,
    read_evidence,
    read_flag,
    read_flag_text,
    read_score,
    read_score_text,
    shown,
    text_of,
    texts_of,
)

Parse = Literal["strict", "repaired", "tolerant", "missing"]
"""How a result was found. ``strict``: the reply is the JSON that was asked for and nothing else.
``repaired``: its syntax was broken. ``tolerant``: it was written another way. ``missing``: none."""


@dataclass(frozen=True)
class Claim:
    """One place in a reply that says something about ``subject``, and the words beside it."""

    reading: Reading
    subject: str = ""
    rationale: str = ""
    evidence: tuple[Evidence, ...] = ()
    quotes: tuple[str, ...] = ()
    category: str | None = None
    parse: Parse = "tolerant"

    def merged(self, other: Claim) -> Claim | None:
        """Return what both claim together, or None where they differ.

        A claim that leaves something out doesn't differ from one that says it.
        """
        mine, theirs = self.reading, other.reading
        reasons_differ = mine.said == "wrong" and mine.reason != theirs.reason
        if reasons_differ or (mine.said, mine.score, mine.flag) != (
            theirs.said,
            theirs.score,
            theirs.flag,
        ):
            return None
        for name in ("rationale", "evidence", "quotes", "category"):
            said = {getattr(self, name), getattr(other, name)} - {"", (), None}
            if len(said) > 1:
                return None
        return replace(
            self,
            rationale=self.rationale or other.rationale,
            evidence=self.evidence or other.evidence,
            quotes=self.quotes or other.quotes,
            category=self.category or other.category,
        )


def settle(claims: Sequence[Claim]) -> Claim:
    """Return what one or more claims say; two that differ are ambiguous and give no value.

    Placeholders differ from nothing: an echoed template beside an answer is no second answer.
    """
    said = [claim for claim in claims if claim.reading.said != "nothing"] or claims
    settled = said[0]
    for other in said[1:]:
        merged = settled.merged(other)
        if merged is None:
            values = sorted(str(v) for v in {c.reading.score or c.reading.flag for c in said} if v)
            what = "two different objects"
            if len(values) > 1:
                what = f"different values, {' and '.join(values)}"
            return Claim(Reading("wrong", reason=f"ambiguous: {what}"), settled.subject)
        settled = merged
    return settled


def why_nothing(reply: Reply, what: str, unknown: Sequence[str] = ()) -> str:
    """Return why a reply that claims nothing has no score, flag or evidence."""
    if reply.problem is not None:
        return reply.problem
    if reply.cut_off:
        return CUT_OFF
    if unknown:
        return f"no {what} found ({', '.join(dict.fromkeys(unknown))})"
    return next(iter(reply.unreadable), f"no {what} found")


class DimensionNames:
    """Which dimension a key means: its id, its name in any language, or both together."""

    def __init__(self, dimensions: Sequence[Dimension]) -> None:
        self.ids = [dimension.id for dimension in dimensions]
        self._by_key: dict[str, set[str]] = {}
        for dimension in dimensions:
            name = dimension.name
            names = [name] if isinstance(name, str) else list(name.values())
            own = normal_key(dimension.id)
            for key in {own, *(k for n in map(normal_key, names) for k in (n, own + n, n + own))}:
                self._by_key.setdefault(key, set()).add(dimension.id)
        self._by_key.pop("", None)

    def resolve(self, key: str) -> str | None:
        """Return the id of the dimension a key means, or None: never a guess between two."""
        if key in self.ids:
            return key
        meant = self._by_key.get(normal_key(key), set())
        return next(iter(meant)) if len(meant) == 1 else None

    def is_ambiguous(self, key: str) -> bool:
        """Say whether a key means two dimensions."""
        return len(self._by_key.get(normal_key(key), ())) > 1


# --- scores in objects ---------------------------------------------------------------------


@dataclass
class ScoreWalk:
    """Collects what the objects of a reply say about dimensions.

    ``asked`` is what a score without a name is about, ``unknown`` says which scores stand under a
    name that is no dimension.
    """

    names: DimensionNames
    prompt_ids: Collection[str]
    asked: str | None
    unknown: list[str] = field(default_factory=list)

    def claims(self, found: FoundObject) -> Iterator[Claim]:
        """Yield every claim of one object."""
        as_asked = found.whole and isinstance(found.value, dict)
        if isinstance(found.value, dict):
            keys = set(found.value)
            as_asked &= "score" in keys if self.asked is not None else keys <= set(self.names.ids)
        subject = self.names.resolve(found.label) or self.asked
        for claim in self._walk(found.value, subject, None):
            if found.repaired:
                yield replace(claim, parse="repaired")
            else:
                yield claim if as_asked else replace(claim, parse="tolerant")

    def _walk(self, node: Tree, subject: str | None, scale: str | None) -> Iterator[Claim]:
        if isinstance(node, Conflict | list):
            for item in node.values if isinstance(node, Conflict) else node:
                if isinstance(item, Conflict | list | dict):
                    yield from self._walk(item, subject, scale)
        elif isinstance(node, dict):
            subject = self._named(node, subject)
            scale = foreign_scale(node) or scale
            others = {self._meant(key, node) for key in node} - {None, subject}
            yield from self._own_claims(node, None if others else subject, scale)
            for key, value in node.items():
                meant = self._meant(key, node)
                if meant is not None:
                    yield from self._about(meant, value, scale)
                elif normal_key(key) in {*WRAPPER_KEYS, *SCORE_KEYS}:
                    yield from self._walk(value, subject, scale)
                else:
                    self._note_unknown(key, value)

    def _meant(self, key: str, node: Mapping[str, Tree]) -> str | None:
        """Return the dimension a key means; a dimension may be called as our own fields are."""
        if "score" in node and key in {"evidence", "rationale", "score"}:
            return None
        return self.names.resolve(key)

    def _own_claims(
        self, node: Mapping[str, Tree], subject: str | None, scale: str | None
    ) -> Iterator[Claim]:
        """Yield the claims of the score keys of an object; further ones count as values only."""
        if subject is None:
            return
        first = True
        for _, value in members(node, SCORE_KEYS):
            if _holds_objects(value):
                continue
            reading = read_score(value)
            if first or reading.said == "value":
                yield self._claim(subject, node, reading, scale)
            first = False

    def _about(self, subject: str, value: Tree, scale: str | None) -> Iterator[Claim]:
        """Yield the claims of what stands under a dimension's name."""
        if isinstance(value, Conflict):
            for item in value.values:
                yield from self._about(subject, item, scale)
        elif isinstance(value, dict):
            claims = list(self._walk(value, subject, scale))
            if not any(claim.subject == subject for claim in claims):
                reading = Reading("nothing", reason="no score found")
                claims.append(self._claim(subject, value, reading, scale))
            yield from claims
        elif _holds_objects(value):
            yield from self._walk(value, subject, scale)
        else:
            yield self._claim(subject, {}, read_score(value), scale)

    def _claim(
        self, subject: str, node: Mapping[str, Tree], reading: Reading, scale: str | None
    ) -> Claim:
        if reading.said == "value" and scale is not None:
            reading = Reading("wrong", reason=f"another scale {shown(scale)}")
        for key, value in members(node, (*RATIONALE_KEYS, *EVIDENCE_KEYS)):
            if isinstance(value, Conflict):
                reason = f"ambiguous: {key} is given twice with different values"
                return Claim(Reading("wrong", reason=reason), subject)
        items = next((value for _, value in members(node, EVIDENCE_KEYS)), None)
        evidence, dropped = read_evidence(items, self.prompt_ids)
        exact = (
            set(node) == {"evidence", "rationale", "score"}
            and isinstance(node["score"], Number | None)
            and isinstance(node["rationale"], str)
            and isinstance(items, list)
            and not dropped
        )
        return Claim(
            reading,
            subject,
            rationale=first_text(node, RATIONALE_KEYS),
            evidence=evidence,
            parse="strict" if exact else "tolerant",
        )

    def _named(self, node: Mapping[str, Tree], subject: str | None) -> str | None:
        """Return the dimension an object says it is about, else the one it stands under."""
        names = list(filter(None, (text_of(value) for _, value in members(node, NAME_KEYS))))
        if not names or not any(True for _ in members(node, SCORE_KEYS)):
            return subject
        meant = {self.names.resolve(name) for name in names} - {None}
        if len(meant) == 1 and subject in {*meant, self.asked, None}:
            return meant.pop()
        self._note(names[0])
        return None

    def _note_unknown(self, key: str, value: Tree) -> None:
        scored = isinstance(value, dict) and any(True for _ in members(value, SCORE_KEYS))
        if scored or (isinstance(value, Number) and read_score(value).said == "value"):
            self._note(key)

    def _note(self, name: str) -> None:
        what = "two dimensions are called" if self.names.is_ambiguous(name) else "unknown dimension"
        if len(self.unknown) < 3:
            self.unknown.append(f"{what} {shown(name)}")


def _holds_objects(value: Tree) -> bool:
    if isinstance(value, list):
        return any(isinstance(item, dict | list) for item in value)
    return isinstance(value, dict)


# --- flags in objects ----------------------------------------------------------------------


def flag_claims(found: FoundObject) -> Iterator[Claim]:
    """Yield every claim of one object about the flag of the answer."""
    for node in flag_nodes(found.value):
        first = True
        for _, value in members(node, FLAG_KEYS):
            reading = read_flag(value)
            if _holds_objects(value) or not (first or reading.said == "value"):
                continue
            first = False
            exact = found.whole and node is found.value and _is_exact_verdict(node)
            parse: Parse = "strict" if exact else "tolerant"
            yield Claim(
                reading,
                rationale=first_text(node, RATIONALE_KEYS),
                quotes=texts_of(next((v for _, v in members(node, QUOTE_KEYS)), None)),
                category=first_text(node, CATEGORY_KEYS) or None,
                parse="repaired" if found.repaired else parse,
            )


def flag_nodes(node: Tree) -> Iterator[dict[str, Tree]]:
    """Yield the objects that may hold the flag: the outermost, and those in known wrappers."""
    if isinstance(node, Conflict | list):
        for item in node.values if isinstance(node, Conflict) else node:
            if isinstance(item, Conflict | list | dict):
                yield from flag_nodes(item)
    elif isinstance(node, dict):
        yield node
        for _, value in members(node, WRAPPER_KEYS):
            if isinstance(value, Conflict | list | dict):
                yield from flag_nodes(value)


def _is_exact_verdict(node: Mapping[str, Tree]) -> bool:
    quotes = node.get("quotes")
    return (
        {"quotes", "rationale", "flag"} <= set(node)
        and isinstance(node["rationale"], str)
        and isinstance(node["flag"], str | None)
        and isinstance(quotes, list)
        and all(isinstance(quote, str) for quote in quotes)
    )


# --- bare lines ----------------------------------------------------------------------------

_LONGEST_LINE = 200
_DECORATION = re.compile(r"#{1,6}\s+|(?:[-*•]|\d{1,2}[.)])\s+(?=.*[:=])")
_SCALE = re.compile(r"(?P<label>.*?)\s*\((?P<scale>[^()]*\d[^()]*)\)")


@dataclass(frozen=True)
class _Line:
    """A line outside the objects, without Markdown: what stands before its last colon, and after.

    ``at_end``: it is the first or the last line. ``alone``: there is no other.
    """

    label: str
    value: str
    at_end: bool
    alone: bool


def _lines(reply: Reply) -> Iterator[_Line]:
    """Yield the different lines of a reply.

    There are none where they can't count: in a reply that was cut off, and in mere reasoning
    unless it is one line.
    """
    raw = [line for line in map(str.strip, reply.prose.split("\n")) if line]
    raw = [line for line in raw if not line.startswith("```")]
    if not raw or reply.cut_off or (reply.from_reasoning and len(raw) > 1):
        return
    for line in dict.fromkeys(raw):
        text = _undecorated(line)
        if text and len(text) <= _LONGEST_LINE:
            cut = max(text.rfind(":"), text.rfind("="))
            label, value = text[: max(cut, 0)].strip(), text[cut + 1 :].strip()
            value = re.sub(r"(?<=[\d\]])\.$", "", value)
            yield _Line(label, value, line in {raw[0], raw[-1]}, len(raw) == 1)


def _undecorated(line: str) -> str:
    if len(line) > _LONGEST_LINE:
        return line
    line = re.sub(r"\*\*|__|(?<!`)`(?!`)", "", line).strip()
    line = _DECORATION.sub("", line, count=1) if _DECORATION.match(line) else line
    emphasis = re.fullmatch(r"([*_])(.+)\1", line)
    return emphasis[2] if emphasis else line


def score_lines(
    reply: Reply, names: DimensionNames, asked: str | None, *, beside_objects: bool
) -> Iterator[Claim]:
    """Yield what whole lines say: a score with a label, or alone if one dimension was asked for.

    ``beside_objects``: only a plain score with a label counts, as a second voice.
    """
    for line in _lines(reply):
        reading = read_score_text(line.value)
        is_score = reading.said == "value"
        if line.label:
            subject, scale = _labelled(line.label, names, asked)
            if scale is not None:
                reading = Reading("wrong", reason=f"another scale {shown(scale)}")
            counts = is_score or (not beside_objects and len(line.value) <= 40)
        else:
            subject = asked
            listed = re.match(r"\[\[\d", line.value) is not None
            counts = not beside_objects and (is_score or listed or line.alone)
        if subject is not None and counts:
            yield Claim(reading, subject)


def _labelled(
    label: str, names: DimensionNames, asked: str | None
) -> tuple[str | None, str | None]:
    """Return the dimension a label is about, and the scale it names where that isn't 1 to 5."""
    subject = names.resolve(label)
    scale = None
    with_scale = _SCALE.fullmatch(label) if subject is None else None
    if with_scale is not None:
        label = with_scale["label"]
        subject = names.resolve(label)
        if re.findall(r"\d+", with_scale["scale"]) != ["1", "5"]:
            scale = with_scale["scale"]
    if subject is None and normal_key(label) in SCORE_KEYS:
        subject = asked
    return subject, scale


def flag_lines(reply: Reply, *, beside_objects: bool) -> Iterator[Claim]:
    """Yield what whole lines say: a flag with a label, else one alone as the first or last line.

    A colour on a line of its own further in may be a quotation: it gives no flag, but it does
    contradict. ``beside_objects``: only a plain flag with a label counts, as a second voice.
    """
    labelled: list[Claim] = []
    bare: list[Claim] = []
    at_end = False
    for line in _lines(reply):
        claim = Claim(read_flag_text(line.value))
        is_flag = claim.reading.said == "value"
        if line.label and normal_key(line.label) in FLAG_KEYS and (is_flag or not beside_objects):
            labelled.append(claim)
        elif not line.label and (is_flag or line.alone):
            bare.append(claim)
            at_end |= line.at_end
    yield from labelled
    if at_end and not labelled and not beside_objects:
        yield from bare
