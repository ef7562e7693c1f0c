"""What a model's reply says beside its thinking: the JSON objects in it, and the text around them.

Objects are found before anybody validates them, and their syntax is repaired without inventing a
value: a number keeps the characters it was written with, a repaired value counts only where it
stands alone behind its key, and a key that is given twice keeps both of its values.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import json_repair

MAX_DEPTH = 64
"""Objects nested deeper than this are not read."""

MAX_OBJECTS = 200
"""A reply of more objects is no judgement."""

MAX_REPAIR = 100_000
"""Characters of one reply that are given to the repair, which is hundreds of times slower."""

MAX_PARENTHESES = 1_000
"""Opening parentheses in one repaired object: each may cost the repair a full recursion."""

CUT_OFF = "cut off by the length limit"


@dataclass(frozen=True)
class Number:
    """A number with the characters it was written with: ``4``, ``4.0``, ``4e0``, ``NaN``."""

    literal: str


@dataclass(frozen=True)
class Conflict:
    """Different values that one object gives for the same key."""

    values: tuple[Tree, ...]


@dataclass(frozen=True)
class Unsure:
    """A value that only the repair could tell apart from its surroundings.

    ``text`` is what the repair made of it, ``raw`` what stands in the reply.
    """

    text: str
    raw: str


Tree: TypeAlias = "bool | str | Number | Unsure | Conflict | list[Tree] | dict[str, Tree] | None"
"""A JSON value as it was written."""


@dataclass(frozen=True)
class FoundObject:
    """A JSON object or a list of objects out of a reply.

    ``whole``: nothing else stands in the reply. ``label``: the words before it that end in a
    colon, or "". ``fragment``: it stood under a key of a broken object; its value is here under
    that key again, or under "". ``closed``: it may be incomplete where this is False; after a
    length limit only its closed inner objects are here.
    """

    value: Tree
    repaired: bool
    whole: bool
    label: str = ""
    fragment: bool = False
    closed: bool = True


@dataclass(frozen=True)
class Reply:
    """A reply taken apart.

    ``text`` is what is left without think blocks, ``prose`` what is left of it without
    ``objects``. ``unreadable`` says why an object could not be read, ``doubtful`` that one of
    those may be an answer too; ``problem`` why the reply can't hold an answer at all.
    """

    text: str = ""
    objects: tuple[FoundObject, ...] = ()
    prose: str = ""
    unreadable: tuple[str, ...] = ()
    doubtful: bool = False
    problem: str | None = None
    cut_off: bool = False
    from_reasoning: bool = False


def normal_key(key: str) -> str:
    """Return a key without case, punctuation and white space, umlauts spelt out.

    ``"Q1 – Vollständigkeit"`` gives ``"q1vollstaendigkeit"``.
    """
    folded = unicodedata.normalize("NFKC", key[:200]).casefold().translate(_UMLAUTS)
    return "".join(char for char in folded if char.isalnum())


_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


def open_reply(
    text: str,
    *,
    finish_reason: str | None = None,
    reasoning: str | None = None,
    telling: Collection[str] = (),
) -> Reply:
    """Take a reply apart; never raises, whatever the text.

    ``reasoning`` is read where ``text`` is empty. After finish reason ``length`` only objects
    that are closed in the raw text count. ``telling`` names the keys (as ``normal_key`` gives
    them) of an answer: an object in which the repair took one for a part of a string can't be
    read, and one that can't be read is doubtful if it has one.
    """
    cut_off = finish_reason == "length"
    from_reasoning = not text.strip() and bool(reasoning and reasoning.strip())
    source = (reasoning or "") if from_reasoning else text
    visible, left_open = visible_text(source.lstrip("\ufeff\0 \t\r\n"))
    if left_open:
        return Reply(problem="cut off inside a think block", cut_off=True)
    if cut_off and (from_reasoning or not visible.strip()):
        return Reply(problem=CUT_OFF, cut_off=True)
    if not visible.strip():
        return Reply(problem="empty reply")
    finder = _Finder(visible, cut_off, finish_reason == "stop", frozenset(telling))
    return finder.reply(from_reasoning)


# --- think blocks --------------------------------------------------------------------------

_THINK = re.compile(r"<(/?)(?:think|thinking|thought)>|\[(/?)think\]|◁(/?)think▷", re.IGNORECASE)


def visible_text(text: str) -> tuple[str, bool]:
    """Return the text outside think blocks, and whether a block was left open.

    An end tag alone ends a block that began before the reply. Tags inside a reply that is JSON
    from its first to its last character are quoted words, not tags.
    """
    kept: list[str] = []
    position = 0
    inside = False
    json_checks = 8
    if _is_json(text):
        return text, False
    for tag in _THINK.finditer(text):
        if "/" not in tag[0]:
            if not inside:
                kept.append(text[position : tag.start()])
            inside = True
            continue
        if not inside:
            kept.clear()
        inside = False
        position = tag.end()
        json_checks -= 1
        if json_checks > 0 and _is_json(text[position:]):
            break
    if inside:
        return "", True
    return "".join([*kept, text[position:]]), False


def _is_json(text: str) -> bool:
    if not text.lstrip().startswith("{"):
        return False
    try:
        json.loads(text, parse_int=Number)
    except (ValueError, RecursionError):
        return False
    return True


# --- finding -------------------------------------------------------------------------------

_STRUCTURE = re.compile(r"\\.|[{}\[\]\"]", re.DOTALL)
_QUOTE = "[\"'“”„‘’]"
_KEY_START = rf"(?:{_QUOTE}|//|/\*|#|[^\W\d][\w .–-]{{0,60}}:)"
_LABEL = re.compile(rf"(?P<words>[^\"'“”„‘’{{}}\[\],:\n]{{0,60}})(?P<quote>{_QUOTE}?)\s*:\Z")
_LOOKS_LIKE_JSON = re.compile(rf"(?:\[\s*)?\{{\s*{_KEY_START}")


@dataclass(frozen=True)
class _Region:
    """Where an object stands in the text.

    ``missing`` are the brackets that would close it behind ``closed_to``, the end of its last
    closed inner object; empty where it is closed itself.
    """

    start: int
    end: int
    depth: int
    closed_to: int
    missing: str = ""
    closed: bool = True


def _regions(text: str) -> Iterator[_Region]:
    """Yield the outermost objects and lists of objects in one pass over the text."""
    stack: list[str] = []
    start = depth = closed_to = closed_levels = 0
    in_string = False
    for token in _STRUCTURE.finditer(text):
        char = token[0][-1]
        if in_string and token[0] != '"':
            continue
        if char == '"':
            in_string = bool(stack) and not in_string
        elif char in "{[":
            if not stack:
                start = token.end() - 1
                if not _LOOKS_LIKE_JSON.match(text, start):
                    continue
                depth, closed_to, closed_levels = 0, start, 0
            stack.append(char)
            depth = max(depth, len(stack))
        elif char in "}]" and _closes(stack, char):
            closed_to, closed_levels = token.end(), len(stack)
            if not stack:
                yield _Region(start, token.end(), depth, closed_to)
    if stack:
        levels = reversed(stack[:closed_levels])
        missing = "".join("}" if opening == "{" else "]" for opening in levels)
        yield _Region(start, len(text), depth, closed_to, missing, closed=False)


def _closes(stack: list[str], char: str) -> bool:
    """Take the bracket that ``char`` closes off the stack; a brace closes lists left open."""
    opening = "{" if char == "}" else "["
    if not stack or (stack[-1] != opening and (opening == "[" or "{" not in stack[-MAX_DEPTH:])):
        return False
    while stack.pop() != opening:
        pass
    return True


@dataclass
class _Finder:
    """Reads the objects of one text, within the limits above."""

    text: str
    cut_off: bool
    ended: bool
    telling: frozenset[str]
    budget: int = MAX_REPAIR
    unreadable: list[str] = field(default_factory=list)
    doubtful: bool = False

    def reply(self, from_reasoning: bool) -> Reply:
        """Return the text taken apart."""
        objects: list[FoundObject] = []
        prose: list[str] = []
        position = 0
        for number, region in enumerate(_regions(self.text)):
            if number == MAX_OBJECTS:
                return Reply(self.text, problem=f"more than {MAX_OBJECTS} objects in one reply")
            prose.append(self.text[position : region.start])
            position = region.end
            found = self._object(region)
            if found is not None:
                objects.append(self._with_label(found, region.start))
        prose.append(self.text[position:])
        return Reply(
            text=self.text,
            objects=tuple(objects),
            prose="\n".join(prose),
            unreadable=tuple(self.unreadable),
            doubtful=self.doubtful,
            cut_off=self.cut_off,
            from_reasoning=from_reasoning,
        )

    def _with_label(self, found: FoundObject, start: int) -> FoundObject:
        before = self.text[max(0, start - 80) : start].rstrip(" \t\r\n*_`")
        if not before.endswith((":", "\\")):
            return found
        label = _LABEL.search(before)
        if label is not None and label["words"].strip() and not label["quote"]:
            return replace(found, label=label["words"].strip())
        key = label["words"].strip() if label is not None else ""
        return replace(found, value={key: found.value}, fragment=True)

    def _object(self, region: _Region) -> FoundObject | None:
        source = self.text[region.start : region.end]
        if region.depth > MAX_DEPTH:
            self._give_up("an object is nested too deeply", source)
            return None
        if not region.closed:
            if self.cut_off:
                return self._closed_part(region)
            source = source.rstrip().removesuffix("```")
        read = self._read(source, ended=self.ended)
        if read is None:
            return None
        value, repaired = read
        whole = source.strip() == self.text.strip()
        return FoundObject(value, repaired, whole, closed=region.closed or self.ended)

    def _closed_part(self, region: _Region) -> FoundObject | None:
        """Return the closed inner objects of an object that the length limit cut off."""
        if not region.missing:
            return None
        read = self._read(self.text[region.start : region.closed_to] + region.missing, ended=False)
        if read is None:
            return None
        value, repaired = read
        node = value
        for _ in region.missing:
            node = _drop_scalars(node)
        return FoundObject(value, repaired, whole=False, closed=False)

    def _read(self, source: str, *, ended: bool) -> tuple[Tree, bool] | None:
        """Return the value and whether its syntax was repaired, or None and note why."""
        for strict in (True, False):
            try:
                return _load(source, strict=strict), not strict
            except (ValueError, RecursionError):
                continue
        self.budget -= len(source)
        if self.budget < 0 or source.count("(") > MAX_PARENTHESES:
            self._give_up("an object is broken and too long to repair", source)
            return None
        try:
            value = _Repair(source, ended, self.telling).value()
        # What json_repair raises on hostile input is not documented; whatever it is means "no".
        except Exception:
            self._give_up("an object can't be read as JSON", source)
            return None
        return value, True

    def _give_up(self, reason: str, source: str) -> None:
        """Note why an object can't be read, and whether it may be an answer."""
        self.unreadable.append(reason)
        names = "|".join(map(re.escape, sorted(self.telling)))
        key = rf"(?<!\w)(?:{names}){_QUOTE}?\s{{0,8}}:"
        if names and re.search(key, source, re.IGNORECASE):
            self.doubtful = True


def _drop_scalars(node: Tree) -> Tree:
    """Keep only the containers of a container, and return the last of them."""
    if isinstance(node, dict):
        for key in [key for key, value in node.items() if not isinstance(value, dict | list)]:
            del node[key]
        return next(reversed(node.values()), None)
    if isinstance(node, list):
        node[:] = [value for value in node if isinstance(value, dict | list)]
        return node[-1] if node else None
    return None


def _load(source: str, *, strict: bool) -> Tree:
    value: Tree = json.loads(
        source,
        strict=strict,
        object_pairs_hook=_object,
        parse_int=Number,
        parse_float=Number,
        parse_constant=Number,
    )
    return value


def _object(pairs: Iterable[tuple[str, Tree]]) -> dict[str, Tree]:
    """Return an object in which a key that is given twice with different values keeps them."""
    given: dict[str, list[Tree]] = {}
    for key, value in pairs:
        values = given.setdefault(key, [])
        if len(values) < 8 and value not in values:
            values.append(value)
    return {
        key: values[0] if len(values) == 1 else Conflict(tuple(values))
        for key, values in given.items()
    }


# --- repair --------------------------------------------------------------------------------

_MARKABLE = re.compile(
    rf"(?P<key>(?<=[\w.)\]])(?={_QUOTE}?\s{{0,8}}:))"
    r"|(?P<value>(?<!\w)(?:[0-9]+(?:\.[0-9]+)?|[Nn]ull|NULL|[Nn]one)(?!\w|\.[0-9]))"
)
_KEY = rf"(?:{_QUOTE}[^\"“”:{{}}\[\]\n]{{1,60}}{_QUOTE}|(?<=[\s,;])[^\W\d][\w-]{{0,60}})\s*:"
_END = r"[}\]]|//|/\*|#"
_BETWEEN = re.compile(rf"{_QUOTE}?\s*:\s*{_QUOTE}?\s*")
_FOLLOWS = re.compile(rf"\s*{_QUOTE}?\s*(?:{_END}|{_KEY}|[,;]\s*(?:{_END}|{_KEY}|,|\.\.|…))")
_STARTS_WITH_FIGURE = re.compile(r"\W{0,8}\d")


class _Repair:
    """One object whose syntax is repaired by json_repair, with every value traced to the source.

    The repair is generous: ``{"score": 4 or 5}`` becomes 4, ``4_0`` becomes 40, and of a key
    given twice the last one wins. So each number and ``null`` is replaced by a unique integer
    before, and each key gets a unique ending; afterwards they lead back to where they stood.
    """

    def __init__(self, source: str, ended: bool, telling: frozenset[str]) -> None:
        self.source = source
        self.ended = ended
        self.telling = telling
        self.spans: list[tuple[int, int]] = []
        self.prefix = _absent_number(source)
        self.marker = re.compile(rf"(k?){self.prefix}([0-9]{{6}})")

    def value(self) -> Tree:
        """Return the repaired value; raises whatever the repair raises."""
        marked = _MARKABLE.sub(self._mark, self.source)
        return self._restore(json_repair.loads(marked, skip_json_loads=True, strict=True), None)

    def _mark(self, match: re.Match[str]) -> str:
        self.spans.append(match.span())
        kind = "k" if match.lastgroup == "key" else ""
        return f"{kind}{self.prefix}{len(self.spans) - 1:06d}"

    def _restore(self, value: object, key_end: int | None) -> Tree:
        """Return a value with its original text; ``key_end`` is where its key ended, if it has one."""
        if isinstance(value, dict):
            return _object(
                (self._text(key), self._restore(item, self._end(key)))
                for key, item in value.items()
            )
        if isinstance(value, list):
            return [self._restore(item, None) for item in value]
        if isinstance(value, str):
            return self._string(value, key_end)
        if isinstance(value, bool):
            return value
        marker = self.marker.fullmatch(str(value))
        if marker is None:
            text = self._text(str(value))
            return Unsure(text, text)
        start, end = self.spans[int(marker[2])]
        literal = self.source[start:end]
        if not self._stands_alone(start, end, key_end):
            return Unsure(literal, self._snippet(start))
        return Number(literal) if literal[0].isdigit() else None

    def _string(self, value: str, key_end: int | None) -> Tree:
        """Return a string; one that may be a number must stand alone behind its key."""
        markers = list(self.marker.finditer(value))
        text = self._text(value)
        if any(marker[1] and self._tells(self.spans[int(marker[2])][1]) for marker in markers):
            raise ValueError("a key ended up inside a string")
        if not markers or len(text) > 40 or not _STARTS_WITH_FIGURE.match(text):
            return text
        first = self.spans[int(markers[0][2])][0]
        start = first - text.find(self.source[first])
        end = start + len(text)
        if self.source[start:end] == text and self._stands_alone(start, end, key_end):
            return text
        return Unsure(text, self._snippet(first))

    def _end(self, marked_key: str) -> int | None:
        ends = [self.spans[int(m[2])][1] for m in self.marker.finditer(marked_key) if m[1]]
        return ends[-1] if ends else None

    def _text(self, marked: str) -> str:
        return self.marker.sub(self._original, marked)

    def _original(self, marker: re.Match[str]) -> str:
        start, end = self.spans[int(marker[2])]
        return self.source[start:end]

    def _tells(self, end: int) -> bool:
        """Say whether the key that ends here, in quotes, is one that must not be lost."""
        key = re.search(rf"{_QUOTE}([\w .–-]{{1,60}})\Z", self.source[max(0, end - 62) : end])
        return key is not None and normal_key(key[1]) in self.telling

    def _stands_alone(self, start: int, end: int, key_end: int | None) -> bool:
        """Say whether nothing stands between the key and the value, nor behind it."""
        if key_end is None or not _BETWEEN.fullmatch(self.source, key_end, start):
            return False
        if not self.source[end:].strip(" \t\r\n\"'”’,;"):
            return self.ended
        return _FOLLOWS.match(self.source, end) is not None

    def _snippet(self, start: int) -> str:
        return re.split(r"[,}\n]", self.source[start : start + 40], maxsplit=1)[0].strip()


def _absent_number(text: str) -> str:
    """Return ten digits that don't occur in the text; the same for the same text."""
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
    while True:
        number = f"9{int(digest.hexdigest(), 16) % 10**9:09d}"
        if number not in text:
            return number
        digest.update(b"again")
