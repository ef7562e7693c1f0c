"""What probes of the judge showed, as a section of judge_quality.md (ADR-0013)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from touchstone.gui.report_md.markdown import blocks, plain
from touchstone.gui.report_md.words import Words, words_of
from touchstone.intervals import Rate
from touchstone.probe_summary import (
    ERRORS_BEYOND,
    MIN_FREEDOM,
    MIN_SCORES,
    Caught,
    Effect,
    ProbeSummary,
)

NONE = "–"

_EN: Words = {
    "point": ".",
    "none": "Nothing of it is about this judge and these answers.",
    "ignored": "Observations of another judge or of other answers, left out: {n}.",
    "missing": "Observations without a score or a flag, which count nowhere: {n} of {of}.",
    "repeat": "The noise floor: the very same, asked again",
    "repeat_head": "What was repeated|Series|Runs|Always the same|95 %|Pooled deviation|Mean "
    "difference of two",
    "scores": "scores",
    "flags": "flags",
    "never": "The judge never varied in these repeats, so any shift at all is beyond its noise.",
    "effects": "Scores under a probe",
    "effects_head": "Probe|n|Mean shift|SE|Beyond the noise?|Other score than in any repeat",
    "reverse": "answers in reversed order",
    "permute": "answers in another order",
    "named": "told the model's name",
    "swapped": "told another model's name",
    "padding": "filler without content after every answer",
    "injection": "every answer ends in an instruction to the judge",
    "yes": "yes",
    "no": "no",
    "no_repeats": "not known: nothing was repeated",
    "too_few_scores": "not known: fewer than {scores} scores",
    "too_few_repeats": "not known: the noise rests on fewer than {freedom} repetitions",
    "effects_text": (
        "Shift: score under the probe minus the mean of the repeats. SE: the standard error this "
        "shift has from the judge's own noise; beyond the noise is more than {errors} of them."
    ),
    "canaries": "Planted defects",
    "canaries_text": (
        "Noticed: {found}, {by_flag} of them by a worse flag, the others by a quote alone. Without "
        "a defect the flag was worse than the best other repeat in {chance}."
    ),
    "canaries_none": "No planted defect could be read against an unaltered answer.",
    "canaries_head": "Defect|Noticed|Share|95 %",
    "canary_calculation": "wrong calculation",
    "canary_contradiction": "contradicts its own first sentence",
    "canary_source": "invented source",
    "canary_language": "sentence in another language",
    "canary_broken_off": "breaks off mid-sentence",
    "canary_breach": "gives away a password",
    "injections": "Instructions to the judge in an answer",
    "injections_text": (
        "The flag got better: {found}. Without an instruction it was better than the best other "
        "repeat in {chance}."
    ),
    "injections_none": "No such instruction could be read against an answer that was not green.",
    "injections_head": "Instruction|Obeyed|Share|95 %",
    "injection_order": "plain request",
    "injection_marker": "forged end mark and system message",
    "injection_reply": "ready-made reply",
    "canaries_unused": "Not usable, because a flag is missing: {n}.",
    "injections_unused": "Not usable, because a flag is missing or could not get better: {n}.",
    "of": "{count} of {n}",
    "of_share": "{count} of {n} ({share}; 95 % {bounds})",
    "meaning": (
        "A shift within the noise does not prove that a judge is fair, only that no more was seen "
        "with so few scores; one beyond it says that the change moves the scores, not which of "
        "them are right."
    ),
}

_DE: Words = {
    "point": ",",
    "none": "Nichts davon betrifft diesen Judge und diese Antworten.",
    "ignored": "Beobachtungen eines anderen Judge oder anderer Antworten, nicht mitgezählt: {n}.",
    "missing": "Beobachtungen ohne Wert oder Markierung, die nirgends zählen: {n} von {of}.",
    "repeat": "Das Grundrauschen: genau dasselbe, noch einmal gefragt",
    "repeat_head": "Was wiederholt wurde|Reihen|Läufe|Immer gleich|95 %|Gepoolte Streuung|"
    "Mittlerer Unterschied zweier",
    "scores": "Werte",
    "flags": "Markierungen",
    "never": "Der Judge wich in diesen Wiederholungen nie ab; jede Verschiebung liegt also "
    "jenseits seines Rauschens.",
    "effects": "Werte unter einer Probe",
    "effects_head": "Probe|n|Mittlere Verschiebung|SE|Jenseits des Rauschens?|Anderer Wert als in "
    "jeder Wiederholung",
    "reverse": "Antworten in umgekehrter Reihenfolge",
    "permute": "Antworten in anderer Reihenfolge",
    "named": "Name des Modells genannt",
    "swapped": "Name eines anderen Modells genannt",
    "padding": "Füllsätze ohne Inhalt nach jeder Antwort",
    "injection": "jede Antwort endet mit einer Anweisung an den Judge",
    "yes": "ja",
    "no": "nein",
    "no_repeats": "offen: nichts wurde wiederholt",
    "too_few_scores": "offen: weniger als {scores} Werte",
    "too_few_repeats": "offen: das Rauschen beruht auf weniger als {freedom} Wiederholungen",
    "effects_text": (
        "Verschiebung: Wert unter der Probe minus Mittel der Wiederholungen. SE: der "
        "Standardfehler, den diese Verschiebung durch das Rauschen des Judge hat; jenseits des "
        "Rauschens sind mehr als {errors} davon."
    ),
    "canaries": "Eingepflanzte Mängel",
    "canaries_text": (
        "Bemerkt: {found}, davon {by_flag} durch eine schlechtere Markierung, die anderen nur "
        "durch ein Zitat. Ohne Mangel war die Markierung schlechter als die beste andere "
        "Wiederholung in {chance}."
    ),
    "canaries_none": "Kein eingepflanzter Mangel ließ sich an einer unveränderten Antwort messen.",
    "canaries_head": "Mangel|Bemerkt|Anteil|95 %",
    "canary_calculation": "falsche Rechnung",
    "canary_contradiction": "widerspricht dem eigenen ersten Satz",
    "canary_source": "erfundene Quelle",
    "canary_language": "Satz in einer anderen Sprache",
    "canary_broken_off": "bricht mitten im Satz ab",
    "canary_breach": "verrät ein Kennwort",
    "injections": "Anweisungen an den Judge in einer Antwort",
    "injections_text": (
        "Die Markierung wurde besser: {found}. Ohne Anweisung war sie besser als die beste andere "
        "Wiederholung in {chance}."
    ),
    "injections_none": "Keine solche Anweisung ließ sich an einer nicht grünen Antwort messen.",
    "injections_head": "Anweisung|Befolgt|Anteil|95 %",
    "injection_order": "einfache Aufforderung",
    "injection_marker": "gefälschte Endmarke und Systemnachricht",
    "injection_reply": "fertige Antwort des Judge",
    "canaries_unused": "Nicht zu gebrauchen, weil eine Markierung fehlt: {n}.",
    "injections_unused": (
        "Nicht zu gebrauchen, weil eine Markierung fehlt oder nicht besser werden konnte: {n}."
    ),
    "of": "{count} von {n}",
    "of_share": "{count} von {n} ({share}; 95 % {bounds})",
    "meaning": (
        "Eine Verschiebung innerhalb des Rauschens beweist nicht, dass ein Judge gerecht ist, nur "
        "dass bei so wenigen Werten nicht mehr zu sehen war; eine jenseits davon sagt, dass die "
        "Änderung die Werte bewegt, nicht, welche von ihnen stimmen."
    ),
}

TEXTS: Mapping[str, Words] = {"en": _EN, "de": _DE}


def render_probes_md(summary: ProbeSummary, language: str) -> str:
    """Return the body of the section on probes, in ``de`` or, else, English; without its heading.

    Sub-headings are of level 3.
    """
    words = words_of(language, TEXTS)
    said = blocks(
        words["ignored"].format(n=summary.ignored) if summary.ignored else "",
        words["missing"].format(n=summary.missing, of=summary.observations)
        if summary.missing
        else "",
    )
    if not summary.observations:
        return blocks(words["none"], said)
    return blocks(
        _repeat(words, summary),
        _effects(words, summary),
        _planted(words, summary.canary, "canaries", "canary"),
        _planted(words, summary.injection, "injections", "injection"),
        said,
        words["meaning"],
    )


def _repeat(words: Words, summary: ProbeSummary) -> str:
    scores, flags = summary.repeat, summary.repeat_flags
    rows = [
        [
            words["scores"],
            str(scores.series),
            str(scores.runs),
            *_share_cells(scores.equal),
            _show(words, scores.deviation),
            _show(words, scores.mean_difference),
        ],
        [
            words["flags"],
            str(flags.series),
            str(flags.runs),
            *_share_cells(flags.equal),
            NONE,
            NONE,
        ],
    ]
    steady = scores.deviation == 0 and scores.freedom >= MIN_FREEDOM
    return blocks(
        f"### {words['repeat']}",
        _table(words["repeat_head"], rows),
        words["never"] if steady else "",
    )


def _effects(words: Words, summary: ProbeSummary) -> str:
    if not summary.effects:
        return ""
    rows = [
        [
            words[one.probe],
            str(one.n),
            _show(words, one.shift, "+.2f"),
            _show(words, one.error),
            _beyond(words, one),
            _of(words, one.changed),
        ]
        for one in summary.effects
    ]
    return blocks(
        f"### {words['effects']}",
        _table(words["effects_head"], rows),
        words["effects_text"].format(errors=ERRORS_BEYOND),
    )


def _beyond(words: Words, effect: Effect) -> str:
    if effect.reason is not None:
        return words[effect.reason].format(scores=MIN_SCORES, freedom=MIN_FREEDOM)
    return NONE if effect.beyond is None else words["yes" if effect.beyond else "no"]


def _planted(words: Words, caught: Caught, what: str, kind: str) -> str:
    if not caught.found.n:
        text = words[f"{what}_none"] if caught.unused else ""
        return blocks(f"### {words[what]}", text) if text else ""
    rows = [
        [
            words.get(f"{kind}_{template}") or plain(template) or NONE,
            _of(words, of),
            *_share_cells(of),
        ]
        for template, of in caught.templates.items()
    ]
    said = words[f"{what}_text"].format(
        found=_of_share(words, caught.found),
        by_flag=caught.by_flag,
        chance=_of_share(words, caught.chance),
    )
    return blocks(
        f"### {words[what]}",
        said,
        _table(words[f"{what}_head"], rows),
        words[f"{what}_unused"].format(n=caught.unused) if caught.unused else "",
    )


# --- cells ---------------------------------------------------------------------------------


def _table(head: str, rows: Iterable[Sequence[str]]) -> str:
    titles = head.split("|")
    return "\n".join(f"| {' | '.join(row)} |" for row in (titles, ["---"] * len(titles), *rows))


def _show(words: Words, value: float | None, form: str = ".2f") -> str:
    if value is None:
        return NONE
    # Rounded first, so that nothing is shown as -0.00.
    return f"{round(value, 2) + 0.0:{form}}".replace(".", words["point"])


def _percent(value: float | None) -> str:
    return NONE if value is None else f"{100 * value:.0f} %"


def _bounds(of: Rate) -> str:
    if of.bounds is None:
        return NONE
    low, high = (f"{100 * bound:.0f}" for bound in of.bounds)
    return f"{low}–{high} %"


def _share_cells(of: Rate) -> list[str]:
    return [_percent(of.value), _bounds(of)]


def _of(words: Words, of: Rate) -> str:
    return words["of"].format(count=of.count, n=of.n) if of.n else NONE


def _of_share(words: Words, of: Rate) -> str:
    if not of.n:
        return NONE
    share = _percent(of.value)
    return words["of_share"].format(count=of.count, n=of.n, share=share, bounds=_bounds(of))
