"""What one value in a judge's reply means: a score, a flag, an evidence item, a metric."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import ValidationError

from touchstone.models import Evidence, Flag, Metrics
from touchstone.reply_syntax import Conflict, Number, Tree, Unsure, normal_key

SCORE_KEYS = (
    "score",
    "rating",
    "bewertung",
    "note",
    "wert",
    "punktzahl",
    "wertung",
    "value",
    "finalscore",
    "finalrating",
    "overallscore",
    "overallrating",
    "gesamtbewertung",
    "gesamtnote",
)
FLAG_KEYS = ("flag", "ampel", "farbe", "colour", "color", "verdict", "urteil")
RATIONALE_KEYS = (
    "rationale",
    "begruendung",
    "reason",
    "reasoning",
    "explanation",
    "erklaerung",
    "justification",
    "comment",
    "kommentar",
    "notes",
)
EVIDENCE_KEYS = ("evidence", "belege", "beleg", "evidenz", "items", "findings")
QUOTE_KEYS = ("quotes", "quote", "zitate", "zitat")
CATEGORY_KEYS = ("category", "kategorie")
METRIC_KEYS = ("metrics", "metriken")
SCALE_KEYS = ("scale", "skala", "max", "maximum", "maxscore", "scoremax", "of", "von", "outof")
NAME_KEYS = ("id", "dimension", "dimensionid", "dim", "name", "criterion", "kriterium", "key")
WRAPPER_KEYS = (
    "dimensions",
    "dimensionen",
    "scores",
    "dimscores",
    "dimensionscores",
    "ratings",
    "bewertungen",
    "reports",
    "report",
    "bericht",
    "results",
    "result",
    "ergebnis",
    "ergebnisse",
    "evaluation",
    "evaluations",
    "assessment",
    "judgement",
    "judgment",
    "judgements",
    "verdicts",
    "verdict",
    "urteile",
    "urteil",
    "answer",
    "response",
    "output",
    "bewertung",
)
"""Keys by meaning, as ``normal_key`` gives them; the first of each is the one we ask for."""

_ITEM_KEYS: dict[str, tuple[str, ...]] = {
    "prompt_id": ("promptid", "prompt", "answerid", "antwort", "id"),
    "kind": ("kind", "type", "art"),
    "quote": QUOTE_KEYS,
    "observation": ("observation", "beobachtung", *RATIONALE_KEYS),
    "polarity": ("polarity", "polaritaet"),
    "severity": ("severity", "schwere"),
    "absent_terms": ("absentterms", "fehlt"),
    "fix": ("fix", "verbesserung"),
}
_KINDS: dict[str, Literal["quote", "paraphrase", "absence"]] = {
    "quote": "quote",
    "zitat": "quote",
    "paraphrase": "paraphrase",
    "absence": "absence",
    "fehlt": "absence",
}
_POLARITIES: dict[str, Literal["strength", "defect", "neutral"]] = {
    "strength": "strength",
    "staerke": "strength",
    "positive": "strength",
    "positiv": "strength",
    "defect": "defect",
    "weakness": "defect",
    "schwaeche": "defect",
    "mangel": "defect",
    "negative": "defect",
    "negativ": "defect",
}
_SEVERITIES: dict[str, Literal["minor", "major", "fatal"]] = {
    "minor": "minor",
    "major": "major",
    "fatal": "fatal",
}
_FLAGS: dict[str, Flag] = {
    "green": "green",
    "gruen": "green",
    "yellow": "yellow",
    "gelb": "yellow",
    "red": "red",
    "rot": "red",
}
_LIGHTS = str.maketrans({"🟢": " green ", "🟡": " yellow ", "🔴": " red "})

Said = Literal["value", "null", "wrong", "nothing"]
"""What a judge said: a usable value, an honest null, something that must not become a value, or
nothing at all (a placeholder such as ``<score>`` or ``1-5``)."""


@dataclass(frozen=True)
class Reading:
    """A value as it is understood; ``reason`` says why there is no score or flag."""

    said: Said
    score: int | None = None
    flag: Flag | None = None
    reason: str | None = None


GAVE_NULL = Reading("null", reason="the judge gave null")


def shown(value: str) -> str:
    """Return a value out of a reply in quotes, on one line and short enough for a reason."""
    line = " ".join(value.split()).encode("utf-8", "replace").decode("utf-8")
    printable = "".join(char if char.isprintable() else "�" for char in line[:60])
    return f'"{printable if len(printable) <= 40 else printable[:39] + "…"}"'


def members(node: Mapping[str, Tree], keys: Sequence[str]) -> Iterator[tuple[str, Tree]]:
    """Yield the members of an object whose key has one of these meanings, in order of ``keys``."""
    found = [(normal_key(key), value) for key, value in node.items()]
    for wanted in keys:
        yield from ((key, value) for key, value in found if key == wanted)


def text_of(value: Tree) -> str:
    """Return the text of a value; a list of strings as lines, and "" where there is none."""
    if isinstance(value, str):
        return value
    if isinstance(value, Unsure):
        return value.text
    if isinstance(value, list):
        return "\n".join(filter(None, (text_of(item) for item in value)))
    return ""


def texts_of(value: Tree) -> tuple[str, ...]:
    """Return the texts of a list, of an object's quotes or of one text, without empty ones."""
    items = value if isinstance(value, list) else [value]
    texts = (first_text(i, QUOTE_KEYS) if isinstance(i, dict) else text_of(i) for i in items)
    return tuple(text for text in texts if text.strip())


def first_text(node: Mapping[str, Tree], keys: Sequence[str]) -> str:
    """Return the first text an object has under one of these keys, or ""."""
    return next(filter(None, (text_of(value) for _, value in members(node, keys))), "")


# --- scores --------------------------------------------------------------------------------

_SCORE = r"([1-5])(?:\.0+)?"
_OF = r"(?:/|von|out of|of)"
_UNIT = r"(?:\s*(?:punkte|punkten|points|stars|sterne|sternen))?"
_SCORE_TEXT = re.compile(
    rf"(?:\[\[\s*{_SCORE}\s*\]\]|{_SCORE}(?:\s*{_OF}\s*5(?:\.0+)?{_UNIT})?)", re.IGNORECASE
)
_RANGE = re.compile(
    r"[\[(]*\s*\d[\d.,]*\s*(?:-|–|—|\.\.+|…|\||to|bis|or|oder|and|und)\s*\d", re.IGNORECASE
)
_WHOLE_SCALE = re.compile(r"[\[(<]*\s*[01]\s*(?:-|–|—|\.\.+|…|to|bis)\s*5\s*[\])>]*", re.IGNORECASE)
_OTHER_SCALE = re.compile(rf"\d[\d.,]*\s*{_OF}\s*(\d+)", re.IGNORECASE)


def read_score(value: Tree) -> Reading:
    """Read a score of 1 to 5 out of a JSON value; nothing is rounded, averaged or guessed."""
    if value is None:
        return GAVE_NULL
    if isinstance(value, bool):
        return Reading("wrong", reason=f"not a number: {str(value).lower()}")
    if isinstance(value, Number):
        return read_score_text(value.literal)
    if isinstance(value, str):
        return read_score_text(value)
    if isinstance(value, Unsure):
        reading = read_score_text(value.raw)
        if reading.said != "value":
            return reading
        return Reading("wrong", reason=f"unclear where the number ends: {shown(value.raw)}")
    if isinstance(value, Conflict):
        return Reading("wrong", reason="ambiguous: the score is given twice with different values")
    return Reading("wrong", reason="not a single number")


def read_score_text(text: str) -> Reading:
    """Read a score of 1 to 5 out of a text that must hold nothing else.

    Taken: ``4``, ``4.0``, ``4/5``, ``4 von 5``, ``4 out of 5 points``, ``[[4]]``, each also in
    bold. ASCII digits only.
    """
    bare = re.sub(r"\*\*|__|`", "", text).strip()
    match = _SCORE_TEXT.fullmatch(bare)
    if match is not None:
        return Reading("value", score=int(match[1] or match[2]))
    return _no_score(bare)


def _no_score(bare: str) -> Reading:
    quoted = shown(bare)
    scale = _OTHER_SCALE.match(bare)
    number = bare.strip("[] ")
    said: Said = "wrong"
    if not bare or "<" in bare or "..." in bare or "1|2|3" in bare.replace(" ", ""):
        said, reason = "nothing", f"no score found, only a placeholder {quoted}"
    elif _WHOLE_SCALE.fullmatch(bare):
        said, reason = "nothing", f"range {quoted}"
    elif re.fullmatch(r"[+-]?[0-9]+[.,][0-9]*[1-9][0-9]*", number):
        reason = f"fractional score {quoted}"
    elif re.fullmatch(r"-?(?:0|[6-9]|[1-9][0-9]+)(?:\.0+)?|-[1-5]", number):
        reason = f"out of range {number}" if len(number) < 20 else f"out of range {quoted}"
    elif scale is not None:
        reason = f"another scale {quoted}" if scale[1] != "5" else f"not 1 to 5 of 5: {quoted}"
    elif _RANGE.match(bare):
        reason = f"range {quoted}"
    elif re.match(r"[\[(~+-]*\s*\d", bare):
        reason = f"not a plain number from 1 to 5: {quoted}"
    else:
        said, reason = "nothing", f"not a number: {quoted}"
    return Reading(said, reason=reason)


def foreign_scale(node: Mapping[str, Tree]) -> str | None:
    """Return the scale an object names, where it isn't 1 to 5."""
    for _, value in members(node, SCALE_KEYS):
        numbers = re.findall(r"\d+(?:\.\d+)?", " ".join(_leaves(value)))
        if numbers and (float(numbers[-1][:20]) != 5 or numbers[0] not in {"1", "5", "5.0"}):
            return " ".join(_leaves(value))
    return None


_SCALE_WORDS = re.compile(
    r"\b(?:scale|skala|range|bereich)\b\D{0,20}\b([01]\s*(?:-|–|—|to|bis)\s*\d+)"
    r"|\b([01]\s*(?:-|–|—|to|bis)\s*\d+)[ -]*(?:scale|skala)"
    r"|\b(\d+)(?:er-skala|[ -]point scale|[ -]punkte-skala)",
    re.IGNORECASE,
)


def foreign_scale_in(prose: str) -> str | None:
    """Return the words that name a scale which isn't 1 to 5, or None."""
    for match in _SCALE_WORDS.finditer(prose):
        numbers = re.findall(r"\d+", next(filter(None, match.groups())))
        if numbers not in (["1", "5"], ["5"]):
            return match[0]
    return None


def _leaves(value: Tree) -> list[str]:
    if isinstance(value, Number):
        return [value.literal]
    if isinstance(value, dict):
        return [leaf for item in value.values() for leaf in _leaves(item)]
    if isinstance(value, list):
        return [leaf for item in value for leaf in _leaves(item)]
    return [text_of(value)]


# --- flags ---------------------------------------------------------------------------------


def read_flag(value: Tree) -> Reading:
    """Read a flag out of a JSON value."""
    if value is None:
        return GAVE_NULL
    if isinstance(value, str):
        return read_flag_text(value)
    if isinstance(value, Unsure):
        return Reading("wrong", reason=f"not a flag: {shown(value.raw)}")
    if isinstance(value, Conflict):
        return Reading("wrong", reason="ambiguous: the flag is given twice with different values")
    literal = value.literal if isinstance(value, Number) else type(value).__name__
    return Reading("wrong", reason=f"not a flag: {shown(literal)}")


def read_flag_text(text: str) -> Reading:
    """Read a flag out of a text that must hold nothing else: a colour word, a light, or both.

    A sentence without any colour says nothing about the flag; one with a colour is not a flag.
    """
    if len(text) > 200:
        return Reading("nothing", reason=f"not a flag: {shown(text)}")
    words = [normal_key(word) for word in text.translate(_LIGHTS).split()]
    named = {_FLAGS.get(word) for word in words if word}
    if len(named) == 1 and (flag := named.pop()) is not None and "?" not in text:
        return Reading("value", flag=flag)
    colours = {_FLAGS.get(normal_key(word)) for word in re.findall(r"\w+", text)} - {None}
    if not text.strip() or "<" in text or "..." in text or len(colours) == 3:
        return Reading("nothing", reason=f"no flag found, only a placeholder {shown(text)}")
    is_sentence = len(words) > 1 and not colours
    return Reading("nothing" if is_sentence else "wrong", reason=f"not a flag: {shown(text)}")


# --- evidence ------------------------------------------------------------------------------


def read_evidence(value: Tree, prompt_ids: Collection[str]) -> tuple[tuple[Evidence, ...], int]:
    """Return the evidence items of a list, and how many items named no prompt.

    An item whose prompt_id is unknown is kept as it is: it is shown as a citation that leads
    nowhere. An unknown kind is a quote where there are quoted words, else a paraphrase.
    """
    items = value if isinstance(value, list) else [value]
    known = _by_normal_key(prompt_ids)
    read = [_evidence(item, prompt_ids, known) for item in items if item is not None]
    evidence = tuple(item for item in read if item is not None)
    return evidence, len(read) - len(evidence)


def _by_normal_key(prompt_ids: Collection[str]) -> dict[str, str]:
    """Return the prompt ids by their normal key, without those that share one."""
    found: dict[str, list[str]] = {}
    for prompt_id in prompt_ids:
        found.setdefault(normal_key(prompt_id), []).append(prompt_id)
    return {key: same[0] for key, same in found.items() if len(same) == 1}


def is_evidence_item(node: Mapping[str, Tree]) -> bool:
    """Say whether an object is one evidence item."""
    said = {key for key in _ITEM_KEYS if next(members(node, _ITEM_KEYS[key]), None)}
    return "prompt_id" in said and bool(said & {"quote", "observation", "kind", "absent_terms"})


def _evidence(item: Tree, prompt_ids: Collection[str], known: Mapping[str, str]) -> Evidence | None:
    if not isinstance(item, dict):
        return None
    prompt_id = _prompt_id(item, prompt_ids, known)
    if not prompt_id:
        return None
    said = {key: first_text(item, names) for key, names in _ITEM_KEYS.items()}
    quote = said["quote"]
    kind = _KINDS.get(normal_key(said["kind"]), "quote")
    if kind == "quote" and not quote.strip():
        kind = "paraphrase"
    polarity = _POLARITIES.get(normal_key(said["polarity"]), "neutral")
    severity = _SEVERITIES.get(normal_key(said["severity"]))
    return Evidence(
        prompt_id=prompt_id,
        kind=kind,
        quote=quote,
        absent_terms=tuple(filter(None, said["absent_terms"].split("\n"))),
        observation=said["observation"],
        polarity=polarity,
        severity=severity if polarity == "defect" else None,
        fix=said["fix"] or None,
    )


def _prompt_id(
    item: Mapping[str, Tree], prompt_ids: Collection[str], known: Mapping[str, str]
) -> str | None:
    for _, value in members(item, _ITEM_KEYS["prompt_id"]):
        if isinstance(value, Number):
            return value.literal if value.literal in prompt_ids else None
        written = text_of(value) if isinstance(value, str | Unsure) else ""
        if written in prompt_ids:
            return written
        bare = written.strip(" \t\r\n[](){}\"'`*")
        return bare if bare in prompt_ids else known.get(normal_key(bare), bare) or None
    return None


# --- metrics -------------------------------------------------------------------------------

_METRICS: dict[str, tuple[str, ...]] = {
    "intent_accuracy": ("intentaccuracy",),
    "faithfulness": ("faithfulness",),
    "relevance": ("relevance",),
    "coherence": ("coherence",),
    "safety": ("safety",),
    "composite": ("composite", "compositescore"),
}


def read_metrics(node: Mapping[str, Tree]) -> tuple[dict[str, int | float | str], list[str]]:
    """Return the metrics an object holds, and why others were dropped.

    Keys are the field names of ``models.Metrics``, each value is valid for its field.
    """
    metrics: dict[str, int | float | str] = {}
    reasons: list[str] = []
    for name, keys in _METRICS.items():
        for _, value in members(node, keys):
            plain = _plain(name, value)
            if plain is not None and _is_valid(name, plain):
                metrics[name] = plain
            elif value is not None:
                reasons.append(f"{name} is not usable: {shown(' '.join(_leaves(value)))}")
            break
    return metrics, reasons


def _plain(name: str, value: Tree) -> int | float | str | None:
    if name == "safety":
        return text_of(value).strip().lower() or None
    if name not in {"intent_accuracy", "composite"}:
        return read_score(value).score
    text = value.literal if isinstance(value, Number) else value if isinstance(value, str) else ""
    match = re.fullmatch(r"\s*([0-9]{1,3}(?:\.[0-9]{1,6})?)\s*(?:%|/\s*100)?\s*", text)
    if match is None:
        return None
    return float(match[1]) if "." in match[1] else int(match[1])


def _is_valid(name: str, value: Any) -> bool:
    try:
        Metrics.model_validate({name: value})
    except ValidationError:
        return False
    return True
