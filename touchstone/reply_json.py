"""What a model's reply says beside its thinking: the JSON objects in it, and the text around them.

Objects are found before anybody validates them. What is too deep, too long or too many is not
read, and said to be.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from touchstone.reply_syntax import QUOTE, Tree, read_json, repair_json

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
        json.loads(text, parse_int=str)
    except (ValueError, RecursionError):
        return False
    return True


# --- finding -------------------------------------------------------------------------------

_STRUCTURE = re.compile(r"\\.|[{}\[\]\"]", re.DOTALL)
_KEY_START = rf"(?:{QUOTE}|//|/\*|#|[^\W\d][\w .–-]{{0,60}}:)"
_LABEL = re.compile(rf"(?P<words>[^\"'“”„‘’{{}}\[\],:\n]{{0,60}})(?P<quote>{QUOTE}?)\s*:\Z")
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
        before = self.text[max(0, start - 80) : start].rstrip(" \t\r\n*_`\\")
        if not before.endswith(":"):
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
                return read_json(source, strict=strict), not strict
            except (ValueError, RecursionError):
                continue
        self.budget -= len(source)
        if self.budget < 0 or source.count("(") > MAX_PARENTHESES:
            self._give_up("an object is broken and too long to repair", source)
            return None
        try:
            value = repair_json(source, ended=ended, telling=self.telling)
        # What json_repair raises on hostile input is not documented; whatever it is means "no".
        except Exception:
            self._give_up("an object can't be read as JSON", source)
            return None
        return value, True

    def _give_up(self, reason: str, source: str) -> None:
        """Note why an object can't be read, and whether it may be an answer."""
        self.unreadable.append(reason)
        names = "|".join(map(re.escape, sorted(self.telling)))
        key = rf"(?<!\w)(?:{names}){QUOTE}?\s{{0,8}}[:=]"
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
